"""Which experiment first: the least certain edges with the largest effects."""

import math

import numpy as np
import pytest

from heterodag.io.exports import GraphResult
from heterodag.report.which_experiment import DOUBTFUL_BELOW, Proposal, proposal_words, rank_experiments
from heterodag.resampling import BootstrapResult

EDGES = [(0, 1), (0, 2), (1, 2), (2, 3)]


class Result(GraphResult):
    """A result that knows strengths: per edge (nats for the direction, mean effect, spread effect)."""

    def about(self, cause, effect):
        nats, mean, spread = self.settings[(cause, effect)]
        known = {"direction_nats": nats, "mean_effect": mean, "spread_effect": spread}
        return {key: value for key, value in known.items() if value is not None}


def result(*facts):
    adjacency = np.zeros((4, 4), dtype=np.int8)
    for edge in EDGES:
        adjacency[edge] = 1
    return Result(("a", "b", "c", "d"), adjacency, settings=dict(zip(EDGES, facts, strict=True)))


def ranked(*facts, **options):
    return [(p.cause, p.effect) for p in rank_experiments(result(*facts), **options)]


def test_doubt_times_size():
    assert ranked((1.0, 0.5, 1.0), (1.0, -0.9, 1.0), (8.0, 0.9, 1.0), (0.0, 0.1, 1.0)) == [
        (0, 2),
        (0, 1),
        (1, 2),
        (2, 3),
    ]


def test_a_moved_spread_counts_as_much_as_a_moved_mean():
    assert ranked((1.0, 0.5, 1.0), (1.0, 0.0, 0.5), (1.0, 0.0, 1.2), (1.0, 0.1, 1.0)) == [
        (0, 2),
        (0, 1),
        (1, 2),
        (2, 3),
    ]
    (best, *_) = rank_experiments(result(*[(1.0, 0.0, 0.5)] * 4))
    assert best.size == pytest.approx(math.log(2))


def test_what_is_certain_or_given_is_not_proposed():
    assert ranked(
        (DOUBTFUL_BELOW, 9.0, 1.0), (math.inf, 9.0, 1.0), (DOUBTFUL_BELOW - 0.1, 0.1, 1.0), (300.0, 1.0, 1.0)
    ) == [(1, 2)]
    assert ranked(*[(math.nan, 1.0, 1.0)] * 4) == []


def test_without_strengths_doubt_decides():
    assert ranked((5.0, None, None), (1.0, None, None), (3.0, None, None), (4.0, None, None), limit=2) == [
        (0, 2),
        (1, 2),
    ]


def test_resamples_stand_in_for_unknown_nats():
    graph = result(*[(math.nan, 1.0, None)] * 4)
    turned = graph.adjacency.copy()
    turned[0, 1], turned[1, 0] = 0, 1
    confidence = BootstrapResult(list(graph.names), np.stack([graph.adjacency] * 3 + [turned]), None)
    (only,) = rank_experiments(graph, confidence)
    assert (only.cause, only.effect, only.doubt) == (0, 1, 0.5)
    assert "changes between resamples" in proposal_words(graph, [only])[0]["why"]


def test_the_sentence_says_what_to_set_and_what_to_expect():
    graph = result((2.0, -0.5, 1.1), (1.0, 0.1, 2.0), (10.0, 0.4, 1.0), (0.0, 0.0, 1.0))
    told = {(row["cause"], row["effect"]): row for row in proposal_words(graph, rank_experiments(graph))}
    assert told["a", "b"]["do"] == (
        "Set a to several values, in random order, and measure b. If the arrow is right, the mean of b falls by 0.50 "
        "standard deviations per standard deviation of a; if it points the other way, b does not follow."
    )
    assert "the spread of c changes by a factor of 2.00 per standard deviation of a" in told["a", "c"]["do"]
    assert told["a", "c"]["why"] == "The direction is open: 1.0 nats speak for it, and 9 are needed."
    assert told["a", "c"]["also"] == "The same experiment bears on a → b."
    assert told["b", "c"]["why"] == "Only 10.0 nats speak for the direction."
    assert (told["b", "c"]["arrow"], told["a", "b"]["arrow"], told["b", "c"]["also"]) == ("→", "—", "")
    assert "d changes with it" in told["c", "d"]["do"]


def test_value_is_size_times_doubt():
    assert Proposal(0, 1, 1.0, size=2.0, doubt=0.25).value == 0.5
