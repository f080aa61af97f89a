"""Mechanisms in plain words."""

import pytest

from heterodag.report.mechanisms import describe_mechanism, mechanism_row

LINES = {
    "variable": "y",
    "parents": "a, b",
    "form": "natural",
    "curves": "",
    "spread": "moving",
    "noise": "normal",
    "rows": 12345,
}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "mean and spread, straight lines (natural form), normal noise"),
        (
            {"spread": "constant", "form": "location-scale", "curves": "a, b", "noise": "flexible"},
            "mean only, curves (location-scale form), flexible noise",
        ),
        ({"curves": "b"}, "mean and spread, curved in b, otherwise straight lines (natural form), normal noise"),
        ({"parents": "", "spread": "constant"}, "no causes, normal noise"),
        ({"parents": "", "spread": "constant", "noise": "flexible"}, "no causes, flexible noise"),
    ],
)
def test_words(changes, words):
    assert describe_mechanism(LINES | changes) == words


def test_a_row_of_the_table():
    assert mechanism_row(LINES) == {
        "variable": "y",
        "parents": "a, b",
        "words": "mean and spread, straight lines (natural form), normal noise",
        "rows": "12,345",
    }
