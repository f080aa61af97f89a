"""How sure a direction is, in words."""

import numpy as np
import pytest

from heterodag.viz.directions import UNKNOWN, Directions, describe_nats

NATS = np.array([[np.nan, 12.34], [np.inf, 0.04]])
OPEN = np.array([[True, False], [False, True]])
CASES = {
    (0, 0): ("open", "direction open"),
    (0, 1): ("12.3", "direction 12.3 nats"),
    (1, 0): ("given", "direction given"),
    (1, 1): ("0.0 open", "direction open (0.0 nats)"),
}


@pytest.mark.parametrize("edge", CASES)
def test_words_of_an_edge(edge):
    directions = Directions(NATS, OPEN)
    assert (directions.cell(edge), directions.phrase(edge)) == CASES[edge]
    assert directions.is_open(edge) == OPEN[edge]


def test_nothing_known_says_nothing():
    assert not UNKNOWN.known
    assert not UNKNOWN.is_open((0, 1))
    assert (UNKNOWN.cell((0, 1)), UNKNOWN.phrase((0, 1))) == ("", "")
    assert UNKNOWN.summary(3) == []
    assert UNKNOWN.n_open == 0


def test_half_of_it_known():
    assert Directions(open=OPEN).cell((0, 0)) == "open"
    assert Directions(open=OPEN).cell((0, 1)) == ""
    assert Directions(nats=NATS).phrase((0, 1)) == "direction 12.3 nats"
    assert Directions(nats=NATS).summary(3) == []
    assert Directions(nats=NATS).known
    assert Directions(open=OPEN).known


def test_summary_counts():
    assert Directions(open=OPEN).summary(1700) == [
        "2 of 1,700 arrows are open: the data hardly tell their direction."
    ]
    one = Directions(open=OPEN & [True, False])
    assert one.summary(17) == ["1 of 17 arrows is open: the data hardly tell its direction."]
    assert one.summary(1) == ["1 of 1 arrow is open: the data hardly tell its direction."]
    assert Directions(open=np.zeros((2, 2), dtype=bool)).summary(4) == ["No arrow is open."]
    assert Directions(open=np.zeros((2, 2), dtype=bool)).summary(0) == []


def test_nats_have_one_decimal():
    found = [describe_nats(value) for value in (1234.56, 0.25, -0.01, np.inf, np.nan)]
    assert found == ["1,234.6", "0.2", "0.0", "given", ""]
