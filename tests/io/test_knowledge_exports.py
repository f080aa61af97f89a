"""Prior knowledge in the files of a result: readable again, by name; required edges say that they are."""

import csv
import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from heterodag import HOST, PriorKnowledge
from heterodag.cli.commands import print_graph
from heterodag.cli.terminal import Screen
from heterodag.estimators import VarSort
from heterodag.io.exports import edges_csv, graph_dot, graph_json, graph_result
from heterodag.io.graphfiles import read_graph
from heterodag.report import render_report
from heterodag.report.settings import knowledge_words

FAST = {"parametrization": "linear", "form": "location-scale", "noise": "gaussian"}
KNOWN = PriorKnowledge(required=[("a", 2)], forbidden=[(1, "c")], tiers=[["a"], ["b", "c"]])
BY_NAME = {"required": [["a", "c"]], "forbidden": [["b", "c"]], "tiers": [["a"], ["b", "c"]]}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    first = rng.standard_normal(150)
    second = 2 * first + np.exp(0.5 * first) * rng.standard_normal(150)
    return pd.DataFrame({"a": first, "b": second, "c": rng.standard_normal(150)})


@pytest.fixture(scope="module")
def model(frame):
    return HOST(**FAST, prior_knowledge=KNOWN).fit(frame)


@pytest.mark.parametrize(
    "known", [KNOWN, BY_NAME, {"required": {("a", "c")}, "forbidden": [(1, np.int64(2))], "tiers": [[0], (1, 2)]}]
)
def test_knowledge_is_written_as_it_can_be_read_again(frame, known, tmp_path):
    model = HOST(**FAST, prior_knowledge=known).fit(frame)
    stored = json.loads(graph_json(graph_result(model)))["settings"]["prior_knowledge"]
    assert stored == BY_NAME
    path = tmp_path / "known.json"
    path.write_text(json.dumps(stored), encoding="utf-8")
    again = HOST(**FAST, prior_knowledge=PriorKnowledge.from_json(path)).fit(frame)
    np.testing.assert_array_equal(again.adjacency_, model.adjacency_)


def test_no_knowledge_stays_null(frame):
    model = HOST(**FAST).fit(frame)
    assert json.loads(graph_json(graph_result(model)))["settings"]["prior_knowledge"] is None
    assert "required" not in model.edges()
    assert "required" not in edges_csv(graph_result(model))


def test_edges_say_which_are_required(model):
    edges = model.edges().set_index(["cause", "effect"])
    assert edges["required"].to_dict() == {("a", "b"): False, ("a", "c"): True}
    assert np.isnan(edges.loc[("a", "c"), "pvalue"])
    assert model.to_networkx().edges["a", "c"]["required"]


def test_files_say_which_are_required(model, tmp_path):
    result = graph_result(model)
    rows = {(row["cause"], row["effect"]): row for row in csv.DictReader(io.StringIO(edges_csv(result)))}
    assert (rows["a", "c"]["pvalue"], rows["a", "c"]["required"]) == ("", "true")
    assert rows["a", "b"]["required"] == "false"
    assert 'n0 -> n2 [tooltip="required"' in graph_dot(result)
    path = tmp_path / "graph.json"
    path.write_text(graph_json(result), encoding="utf-8")
    required = read_graph(path).certainty["required"]
    assert required.loc["a", "c"]
    assert required.to_numpy().sum() == 1


def test_people_read_which_are_required(model, frame, capsys):
    print_graph(Screen(), graph_result(model))
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("a       c")]
    assert line.split()[2] == "required"
    page = render_report(model, frame)
    rows = [re.sub(r"<[^>]+>", " ", row).split() for row in re.findall(r"<tr.*?</tr>", page, flags=re.DOTALL)]
    assert ["a", "c", "required"] in [row[:3] for row in rows]
    assert "it was not tested" in page
    assert "<td>required: a → c; forbidden: b → c; tiers: a before b, c</td>" in page


def test_rivals_say_it_too_and_forget_it(frame):
    model = VarSort(prior_knowledge={"required": [("a", "c")]}).fit(frame)
    assert model.edges().set_index(["cause", "effect"])["required"]["a", "c"]
    assert not hasattr(model.set_params(prior_knowledge=None).fit(frame), "required_")


def test_knowledge_in_words():
    assert knowledge_words({"roots": ["a", "b"], "leaves": ["c"]}) == "roots: a, b; leaves: c"
    assert knowledge_words({}) == "nothing"
