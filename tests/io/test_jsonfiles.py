"""JSON files that are no good, from every door: one sentence that names the file, never a traceback."""

import json

import numpy as np
import pandas as pd
import pytest

from heterodag import (
    HOST,
    HeterodagError,
    HeteroscedasticSCM,
    Interventions,
    ParameterError,
    PriorKnowledge,
    bootstrap,
)
from heterodag.io.graphfiles import read_graph
from heterodag.io.jsonfiles import MAX_DEPTH, read_json

GRAPH = {
    "format": "heterodag-graph", "format_version": 1, "names": ["a", "b"], "order": ["a", "b"],
    "edges": [{"cause": "a", "effect": "b", "pvalue": 0.1, "nats": 2.0}], "pvalues": [[None, 0.1], [None, None]],
}  # fmt: skip
READERS = {
    "graph": read_graph,
    "knowledge": PriorKnowledge.from_json,
    "targets": lambda path: Interventions.from_json(["a"], path),
    "model": HeteroscedasticSCM.load,
}
HOSTILE = {
    "very deep": "[" * 100_000 + "]" * 100_000,
    "deep": '{"roots": ' + "[" * 500 + "]" * 500 + "}",
    "deep objects": '{"a":' * 200 + "1" + "}" * 200,
    "too large": '{"format_version": 1e999}',
    "too long": "9" * 5_000,
    "long": '{"roots": [' + "9" * 310 + "]}",
    "a number": "1",
    "nothing": "",
    "null": "null",
    "two keys": '{"a": 1, "a": 2}',
    "not text": b"\xff\xfe\x00",
}


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_give_one_sentence(tmp_path, reader, case):
    with pytest.raises(HeterodagError) as caught:
        READERS[reader](write(tmp_path / "x.json", HOSTILE[case]))
    message = str(caught.value)
    assert "x.json" in message
    assert "\n" not in message
    assert len(message) < 400


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("names", "ab"), ("names", {"a": 1}), ("names", ["a", "b", "a"]), ("names", [["a"], "b"]), ("order", ["a"]),
        ("order", 5), ("order", [["a"], "b"]), ("edges", [1]), ("edges", None), ("edges", [{"cause": ["a"], "effect": "b"}]),
        ("edges", [{"cause": "a"}]), ("edges", [{"cause": "a", "effect": "b", "nats": [1]}]), ("pvalues", [[1]]),
        ("pvalues", [1]), ("pvalues", [["x", 1], [1, 1]]), ("format_version", [1]),
    ],
)  # fmt: skip
def test_graphs_of_another_shape_give_one_sentence(tmp_path, key, value):
    with pytest.raises(HeterodagError, match=r"x\.json"):
        read_graph(write(tmp_path / "x.json", json.dumps({**GRAPH, key: value})))


def test_the_graph_itself_is_good(tmp_path):
    found = read_graph(write(tmp_path / "x.json", json.dumps(GRAPH)))
    assert found.adjacency.loc["a", "b"] == 1
    assert found.certainty["nats"].loc["a", "b"] == 2.0


def test_depth_is_counted(tmp_path):
    for depth, good in ((MAX_DEPTH, True), (MAX_DEPTH + 1, False)):
        path = write(tmp_path / "x.json", "[" * depth + "]" * depth)
        if good:
            assert read_json(path, "File", "no.")
        else:
            with pytest.raises(HeterodagError, match=f"more than {MAX_DEPTH} levels deep"):
                read_json(path, "File", "no.")


def test_lines_of_a_store_that_are_no_resample_are_computed_again(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((60, 2)), columns=["a", "b"])
    model, store = HOST(parametrization="linear", noise="gaussian"), tmp_path / "store.jsonl"
    first = bootstrap(model, frame, 3, random_state=0, store=store)
    header, *lines = store.read_text(encoding="utf-8").splitlines()
    wrong = [
        '{"resample": 1e999, "order": [0, 1], "edges": []}', '{"resample": 0, "order": [0, 0], "edges": []}',
        '{"resample": 1, "order": [0, 1], "edges": [[0, 7]]}', '{"resample": 2, "order": [0, 1], "edges": [[0]]}',
        '{"resample": [0], "edges": {}}', "[" * 100_000,
    ]  # fmt: skip
    store.write_text("\n".join([header, *wrong, ""]), encoding="utf-8")
    again = bootstrap(model, frame, 3, random_state=0, store=store)
    np.testing.assert_array_equal(again.adjacencies, first.adjacencies)
    assert len(store.read_text(encoding="utf-8").splitlines()) == 1 + len(wrong) + len(lines)


@pytest.mark.parametrize("change", [{"entropy": "x"}, {"entropy": None}, {"spawn_key": 3}, {"spawn_key": [1e999]}])
def test_a_store_with_a_foreign_header_is_refused(tmp_path, change):
    header = {"format": "heterodag-bootstrap", "format_version": 1, "entropy": "1", "spawn_key": []} | change
    path = write(tmp_path / "store.jsonl", json.dumps(header) + "\n")
    with pytest.raises(HeterodagError, match="is not a store of"):
        bootstrap(
            HOST(),
            pd.DataFrame(np.eye(8)[:, :2], columns=["a", "b"]) + np.arange(16).reshape(8, 2) ** 2,
            2,
            store=path,
        )


def test_messages_shorten_what_was_given():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    for value in (list(range(10_000)), deep, 10**5_000):
        assert len(str(ParameterError("x", "be small", value))) < 300
