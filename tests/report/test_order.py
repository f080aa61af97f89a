"""The order that was kept: how sure each pair in it is."""

import math

import numpy as np
import pytest

from heterodag.io.exports import GraphResult
from heterodag.report.order import by_normality, order_chain, order_sentences, pair_rows, what_decides

LINES = {"variable": "y", "parents": "a, b", "curves": "", "spread": "constant", "noise": "normal"}


def result(**changes):
    """A chain a -> b -> c beside d, in the order a, d, b, c."""
    adjacency = np.zeros((4, 4), dtype=np.int8)
    adjacency[0, 1] = adjacency[1, 2] = 1
    nats = np.full((4, 4), np.nan)
    nats[0, 1], nats[1, 2] = 4.0, 30.0
    known = {"order": (0, 3, 1, 2), "direction_nats": nats, "open": nats < 9}
    return GraphResult(("a", "b", "c", "d"), adjacency, **(known | changes))


def test_neighbours_say_what_stands_between_them():
    assert [(link["name"], link["kind"], link["nats"]) for link in order_chain(result())] == [
        ("a", "free", ""), ("d", "free", ""), ("b", "sure", "30.0"), ("c", "", ""),
    ]  # fmt: skip
    kinds = [link["kind"] for link in order_chain(result(order=(3, 0, 1, 2)))]
    assert kinds == ["free", "open", "sure", ""]
    given = np.where(result().adjacency, np.inf, np.nan)
    assert [link["kind"] for link in order_chain(result(order=(0, 1, 2, 3), direction_nats=given, open=None))] == [
        "given", "given", "free", "",
    ]  # fmt: skip
    unknown = result(order=(0, 1, 2, 3), direction_nats=None, open=None)
    assert [link["kind"] for link in order_chain(unknown)] == ["edge", "edge", "free", ""]
    assert order_chain(result(order=None)) == []


def test_pairs_are_counted():
    assert order_sentences(result()) == [
        "Of 6 pairs of variables, 2 are joined by an edge and 1 only by a longer path; the other 3 could come in "
        "either order.",
        "That includes 2 of the 3 pairs of neighbours below.",
    ]
    assert order_sentences(GraphResult(("a",), np.zeros((1, 1)), order=(0,))) == []
    pair = GraphResult(("a", "b"), np.eye(2, k=1), order=(0, 1))
    assert order_sentences(pair) == ["Of 1 pair of variables, 1 is joined by an edge and 0 only by a longer path."]


def test_every_joined_pair_has_a_row_in_the_kept_order():
    mechanisms = [{"variable": "c", "parents": "b", "curves": "b", "spread": "moving", "noise": "normal"}]
    rows = pair_rows(result(mechanisms=mechanisms))
    assert [(row["earlier"], row["later"], row["nats"]) for row in rows] == [
        ("a", "b", "4.0 open"),
        ("b", "c", "30.0"),
    ]
    assert rows[1]["decides"] == "a spread that moves with the causes, a curve"
    assert pair_rows(result(direction_nats=None)) == []


@pytest.mark.parametrize(
    ("facts", "changes", "experiments", "said"),
    [
        ({"direction_nats": math.inf}, {}, False, "prior knowledge"),
        ({"direction_nats": 3.0, "open": 1.0}, {}, False, "too little"),
        ({"direction_nats": 30.0, "interventional_nats": 20.0}, {}, True, "interventions"),
        ({"direction_nats": 30.0, "interventional_nats": 2.0}, {"spread": "moving"}, True, "a spread that moves"),
        ({"direction_nats": 30.0}, {"curves": "a"}, False, "a curve"),
        ({"direction_nats": 30.0}, {"curves": "ab"}, False, "the other edges"),
        ({"direction_nats": 30.0}, {"noise": "flexible"}, False, "noise that is not bell-shaped"),
    ],
)
def test_what_decides(facts, changes, experiments, said):
    assert what_decides(facts, "a", LINES | changes, experiments).startswith(said)


def test_rounds_made_the_order_only_if_nothing_improved_it():
    class Fitted:
        pass

    model = Fitted()
    assert by_normality(model, result(), [0, 3, 1, 2])
    assert not by_normality(model, result(), [0, 1, 2, 3])
    assert not by_normality(model, result(), [])
    model.refinement_ = "of the same order"
    assert not by_normality(model, result(), [0, 3, 1, 2])
