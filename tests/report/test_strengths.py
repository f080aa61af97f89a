"""Strength and evidence of an edge in words."""

import math

import numpy as np
import pytest

from heterodag.io.exports import GraphResult
from heterodag.report.strengths import evidence_sentences, strength_cells, strength_sentences
from heterodag.report.words import bare_p, count, describe_p, listed, plain

FACTS = {
    "mean_effect": 0.8, "mean_effect_lower": 0.7, "mean_effect_upper": 0.9, "mean_change": 2.1, "mean_range": 3.0,
    "spread_effect": 1.4, "spread_effect_lower": 1.3, "spread_effect_upper": 1.5, "spread_range": 4.0, "share": 0.456,
}  # fmt: skip


def words(changes=None, keys=None):
    facts = {key: value for key, value in (FACTS | (changes or {})).items() if keys is None or key in keys}
    return [text.replace("\u00a0", " ") for text in strength_sentences(facts, "dose", "value")]


def test_all_is_said():
    assert words() == [
        "Per standard deviation of dose, the mean of value rises by 0.80 standard deviations (2.10 in its own units; 95 % "
        "interval 0.70 to 0.90), and its spread grows by a factor of 1.40 (1.30 to 1.50).",
        "Along the central 95 % of dose, the mean covers 3.00 standard deviations and the largest spread is 4.00 times the "
        "smallest.",
        "46 % of what all its causes tell about value is lost without it.",
    ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"mean_effect": -0.8, "mean_effect_lower": -0.9, "mean_effect_upper": -0.7}, "falls by 0.80"),
        ({"mean_effect": -0.8, "mean_effect_lower": -0.9, "mean_effect_upper": -0.7}, "interval 0.70 to 0.90"),
        ({"mean_effect": -0.1, "mean_effect_lower": -0.3, "mean_effect_upper": 0.1}, "interval -0.30 to 0.10"),
        ({"spread_effect": 0.5, "spread_effect_lower": 0.4}, "its spread shrinks to 0.50 times what it was (0.40 to"),
        ({"spread_effect": 1.001}, "its spread stays the same (factor 1.30 to 1.50)"),
    ],
)
def test_signs_and_intervals(changes, said):
    assert said in words(changes)[0]


def test_what_is_not_known_is_not_said():
    assert words(keys=()) == []
    assert words(keys=("mean_effect",)) == [
        "Per standard deviation of dose, the mean of value rises by 0.80 standard deviations."
    ]
    assert strength_cells({}) == {}
    assert strength_cells({"mean_effect": 0.5})["mean_effect"] == {"text": "+0.50", "interval": "", "value": 0.5}
    assert strength_cells({"spread_effect": 1e9})["spread_effect"]["text"] == "1.0e+09"


@pytest.mark.parametrize(
    ("nats", "is_open", "said"),
    [
        (33.3, False, "Evidence for its direction: 33.3 nats."),
        (0.4, True, "Evidence for its direction: 0.4 nats; it is open."),
        (math.inf, False, "Its direction is given by prior knowledge."),
    ],
)
def test_evidence(nats, is_open, said):
    matrix = np.array([[0, 1], [0, 0]])
    result = GraphResult(
        ("a", "b"),
        matrix,
        nats=matrix * 700.0,
        direction_nats=np.where(matrix, nats, np.nan),
        open=(matrix == 1) & is_open,
    )
    assert evidence_sentences(result, 0, 1, 0.0) == ["Evidence for the edge: p < 1e-300 (700.0 nats).", said]
    assert evidence_sentences(GraphResult(("a", "b"), matrix), 0, 1, 0.02) == ["Evidence for the edge: p = 0.02."]


def test_small_pieces():
    assert [describe_p(p) for p in (0.0, math.nan, 0.0123)] == ["p < 1e-300", "not tested", "p = 0.012"]
    assert [bare_p(p) for p in (0.0, math.nan, 0.0123)] == ["< 1e-300", "not tested", "0.012"]
    assert [plain(x) for x in (0.0, 1.234, 12.34, 1234.5, 0.0123, 1.2e7, -3e-9)] == [
        "0", "1.23", "12.3", "1,234", "0.012", "1.2e+07", "-3.0e-09",
    ]  # fmt: skip
    assert [count(1, "edge"), count(1200, "row")] == ["1 edge", "1,200 rows"]
    assert listed(list("abcd"), 2) == "a, b and 2 more"
