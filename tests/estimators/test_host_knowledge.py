"""Prior knowledge inside HOST, `causal_order`, `recover_dag` and the command line: obeyed, or refused before work."""

import json
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from typer.testing import CliRunner

from heterodag import HOST, ParameterError, PriorKnowledge, causal_order, metrics, recover_dag, simulate
from heterodag.cli.app import app
from heterodag.core.graph import respects_order, topological_order

#: The quickest models: these tests are about knowledge.
LINES = {"parametrization": "linear", "form": "natural", "noise": "gaussian"}


def random_knowledge(rng, adjacency):
    """Draw knowledge that the graph obeys, of every kind."""
    d, order = len(adjacency), topological_order(adjacency)
    some = lambda items, share: [item for item in items if rng.random() < share]  # noqa: E731
    absent = (adjacency == 0) & ~np.eye(d, dtype=bool)
    cut = int(rng.integers(1, d))
    return PriorKnowledge(
        required=some(map(tuple, np.argwhere(adjacency).tolist()), 0.3),
        forbidden=some(map(tuple, np.argwhere(absent).tolist()), 0.2),
        tiers=[some(order[:cut].tolist(), 0.5), some(order[cut:].tolist(), 0.5)] if rng.random() < 0.5 else [],
        roots=some(np.flatnonzero(adjacency.sum(axis=0) == 0).tolist(), 0.3),
        leaves=some(np.flatnonzero(adjacency.sum(axis=1) == 0).tolist(), 0.3),
    )


def test_no_output_ever_violates_the_knowledge():
    """Without the knowledge most of these fits break it, which shows that the check can fail.

    `python benchmarks/knowledge.py` does the same for 200 graphs.
    """
    broken = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        data = simulate(120, 5, graph=("ER", "SF")[seed % 2], degree=1, random_state=seed)
        known = random_knowledge(rng, data.adjacency)
        settings = {"tolerance": (0.0, 1e-4, 0.02)[seed % 3], "selection": "partial-correlation", "alpha": 0.2}
        settings |= LINES if seed % 4 < 2 else {}
        resolved = known.resolve(None, 5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = HOST(prior_knowledge=known, **settings).fit(data.X)
            free = HOST(**settings).fit(data.X)
        assert resolved.violations(model.adjacency_) == []
        assert resolved.respects_order(model.order_)
        assert respects_order(model.adjacency_, model.order_)
        assert np.all(np.isnan(model.pvalues_[resolved.required | resolved.forbidden]))
        broken += bool(resolved.violations(free.adjacency_))
    assert broken > 20


def test_required_edges_lower_the_order_divergence():
    """Half of the true edges required: summed over tables, divergence falls by at least about that half."""
    free = told = 0.0
    for seed in range(24):
        data = simulate(60, 8, graph="ER", degree=2, random_state=seed)
        edges = np.argwhere(data.adjacency)
        known = PriorKnowledge(required=[tuple(edge) for edge in edges[::2].tolist()])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            free += metrics.order_divergence(causal_order(data.X, **LINES).order, data.adjacency)
            told += metrics.order_divergence(
                causal_order(data.X, prior_knowledge=known, **LINES).order, data.adjacency
            )
    assert free >= 20
    assert told <= 0.7 * free


@pytest.fixture(scope="module")
def data():
    return simulate(300, 5, degree=1, random_state=4)


def test_without_effect_the_result_is_the_same(data):
    plain = HOST().fit(data.to_frame())
    empty = HOST(prior_knowledge=PriorKnowledge()).fit(data.to_frame())
    assert np.array_equal(plain.order_, empty.order_)
    assert np.array_equal(plain.pvalues_, empty.pvalues_, equal_nan=True)
    assert np.array_equal(plain.scores_, empty.scores_, equal_nan=True)


def test_tiers_hold_in_the_layers_too(data):
    known = PriorKnowledge(tiers=[["x3"], ["x1", "x2"], ["x0", "x4"]])
    # With so wide a tolerance everything that may come next is one layer.
    model = HOST(prior_knowledge=known, tolerance=1.0, refine=False).fit(data.to_frame())
    assert [sorted(layer) for layer in model.layers_] == [[3], [1, 2], [0, 4]]
    assert np.isnan(model.scores_[0]).tolist() == [True, True, True, False, True]
    assert np.isnan(causal_order(data.X, prior_knowledge=known, tolerance=1.0, refine=False).margins()).all()


def test_a_mapping_is_enough_and_sklearn_tools_work(data):
    model = HOST(prior_knowledge={"required": [("x4", "x0")]})
    again = pickle.loads(pickle.dumps(clone(model))).fit(data.to_frame())
    assert again.adjacency_[4, 0] == 1
    edges = again.edges()
    row = edges[(edges["cause"] == "x4") & (edges["effect"] == "x0")]
    assert row["pvalue"].isna().all()
    assert again.to_networkx().has_edge("x4", "x0")


@pytest.mark.parametrize("selection", ["likelihood", "gam", "partial-correlation", "gcm"])
def test_every_kind_of_edge_test_leaves_decided_pairs_alone(data, selection):
    known = {"required": [(0, 1)], "forbidden": [(0, 2)]}
    result = recover_dag(data.X, range(5), selection=selection, alpha=1.0, prior_knowledge=known)
    assert result.adjacency[0].tolist() == [0, 1, 0, 1, 1]
    assert np.isnan(result.pvalues[0, 1:3]).all()
    assert np.isfinite(result.pvalues[0, 3:]).all()


def test_contradictions_are_refused_before_any_work(data):
    def never(*_):
        raise AssertionError("work was done")

    known = {"required": [("x0", "x1"), ("x1", "x0")]}
    for call in (
        HOST(prior_knowledge=known, normality=never).fit,
        lambda X: causal_order(X, normality=never, prior_knowledge=known),
        lambda X: recover_dag(X, range(5), selection=never, prior_knowledge=known),
    ):
        with pytest.raises(ParameterError, match="x0 -> x1 -> x0"):
            call(data.to_frame())


def test_an_order_against_the_knowledge_is_refused(data):
    with pytest.raises(ParameterError, match="put 'x1' before 'x0'"):
        recover_dag(data.X, range(5), prior_knowledge={"required": [(1, 0)]})


def test_the_command_line_reads_it_from_a_file(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data.to_frame().to_csv("data.csv", index=False)
    (tmp_path / "known.json").write_text('{"required": [["x4", "x0"]], "roots": ["x4"]}', encoding="utf-8")
    done = CliRunner().invoke(app, ["fit", "data.csv", "--knowledge", "known.json"])
    assert done.exit_code == 0, done.output
    graph = json.loads((tmp_path / "heterodag-out" / "graph.json").read_text(encoding="utf-8"))
    known = next(edge for edge in graph["edges"] if (edge["cause"], edge["effect"]) == ("x4", "x0"))
    assert known["pvalue"] is None
    assert known["open"] is False
    assert graph["order"][0] == "x4"
    assert graph["settings"]["prior_knowledge"] == {"required": [["x4", "x0"]], "roots": ["x4"]}
    assert known["required"] is True


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"required": [["x4", "y"]]}', "`required` must name columns of the table; got 'y'"),
        ("{", "known.json"),
        ('{"required": [["x4", "x4"]]}', "x4 -> x4"),
    ],
)
def test_a_bad_file_is_one_sentence_and_nothing_is_written(data, tmp_path, monkeypatch, text, said):
    monkeypatch.chdir(tmp_path)
    data.to_frame().to_csv("data.csv", index=False)
    (tmp_path / "known.json").write_text(text, encoding="utf-8")
    done = CliRunner().invoke(app, ["fit", "data.csv", "--knowledge", "known.json"])
    assert done.exit_code == 2
    assert said in done.output
    assert "Traceback" not in done.output
    assert not (tmp_path / "heterodag-out").exists()
