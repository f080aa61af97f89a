"""The programs behind the pages on evidence, on made-up rows whose answers are known."""

import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
if not BENCHMARKS.exists():
    pytest.skip("needs a clone", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))

import confidence  # noqa: E402
import not_best  # noqa: E402
import standard_graphs as graphs  # noqa: E402
import standard_graphs_page as graphs_page  # noqa: E402


def tables(errors, edges=10):
    return {(str(seed),): (float(error), float(edges)) for seed, error in enumerate(errors)}


def test_a_loss_is_beyond_chance_and_the_rest_is_not():
    clear = not_best.compared(
        "worlds", "a", "errors", {"HOST": tables([5, 6, 5, 6]), "CAM": tables([1, 2, 1, 2])}, "HOST"
    )
    assert (clear.better, clear.is_loss) == ("CAM", True)
    assert (clear.own, clear.other, clear.difference, clear.error) == pytest.approx((0.55, 0.15, 0.4, 0.0))
    noisy = not_best.compared("worlds", "a", "errors", {"HOST": tables([9, 0, 5]), "CAM": tables([0, 9, 4])}, "HOST")
    assert noisy.difference > 0
    assert not noisy.is_loss
    won = not_best.compared("worlds", "a", "errors", {"HOST": tables([0, 0]), "CAM": tables([1, 1])}, "HOST")
    assert not won.is_loss
    assert not_best.compared("worlds", "a", "errors", {"HOST": tables([0, 0])}, "HOST") is None


def test_the_standard_error_is_that_of_a_ratio():
    """Edges of equal number: the standard error of a mean, divided by the edges of a table."""
    own, other = np.array([4.0, 7, 3, 8, 6]), np.array([1.0, 2, 3, 1, 2])
    found = not_best.compared("w", "a", "errors", {"HOST": tables(own, 20), "PC": tables(other, 20)}, "HOST")
    gaps = own - other
    assert found.error == pytest.approx(gaps.std(ddof=1) / np.sqrt(5) / 20)


def test_a_loss_without_a_reason_says_so():
    known = not_best.Setting("sachs", "Sachs, raw values", "errors", "former default", 2, 1, 1, 0.1)
    assert not_best.reason(known) != not_best.UNKNOWN
    assert not_best.reason(not_best.Setting("new", "a", "errors", "CAM", 2, 1, 1, 0.1)) == not_best.UNKNOWN


def test_reliability_by_hand():
    values, true = np.array([0.0, 0.1, 0.2, 0.9, 1.0]), np.array([0, 0, 1, 1, 1.0])
    found = confidence.reliability(values, true, (0.05, 0.25, 0.5, 1.0))
    assert found == [
        (0.0, 0.0, 1),
        (pytest.approx(0.15), 0.5, 2),
        (pytest.approx(0.95), 1.0, 2),
    ]


def row_of_confidence(frequency, pvalue, true, world="curved/curved/normal"):
    return {
        "world": world, "n": "300", "seed": "1", "resamples": "20", "cause": "0", "effect": "1", "frequency": str(frequency),
        "adjacent": str(frequency), "pvalue": str(pvalue), "learned": "1", "true": str(true), "joined": str(true),
    }  # fmt: skip


def test_levels_count_unlinked_pairs_that_were_tested():
    rows = [row_of_confidence(0, p, 0) for p in (0.0005, 0.02, 0.3, 0.9)]
    rows += [row_of_confidence(1, 1e-9, 1), row_of_confidence(0, "", 0)]
    assert confidence.null_shares(rows) == {0.05: (0.5, 4), 0.01: (0.25, 4), 0.001: (0.25, 4)}


def test_words_follow_numbers():
    assert "rough probability" in confidence.in_words(97, 40)
    assert "promise more" in confidence.in_words(97, 3)
    assert "no proof" in confidence.in_words(70, 40)


def test_controls_order_by_what_they_are_named_for():
    rng = np.random.default_rng(0)
    causes = rng.standard_normal((400, 2))
    X = np.column_stack([causes, causes.sum(axis=1) + 0.3 * rng.standard_normal(400)])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    _, order = graphs.METHODS["R2-sort"](X)
    assert int(order[-1]) == 2
    orders = {tuple(graphs.METHODS["random order"](X + 0.01 * shift)[1]) for shift in range(12)}
    assert len(orders) > 2
    assert tuple(graphs.METHODS["random order"](X)[1]) == tuple(graphs.METHODS["random order"](X)[1])


def row_of_graphs(method, shd, seed, error="", left_open=0):
    empty = dict.fromkeys(graphs.FIELDS, "")
    key = {"graph": "ER", "world": graphs.WORLDS[0], "d": "10", "seed": str(seed), "method": method}
    told = {"varsortability": "0.8", "r2_sortability": "0.6", "edges": "10", "error": error}
    measured = {"shd": str(shd), "shd_strict": str(shd + left_open)}
    return empty | key | told | ({} if error else measured | {"order_divergence": "1", "seconds": "1"})


def test_controls_are_not_the_best_method_and_unfinished_ones_are_not_compared():
    rows = [row_of_graphs("HOST", 2, s) for s in (1, 2)] + [row_of_graphs("random order", 0, s) for s in (1, 2)]
    rows += [row_of_graphs("NPVar", 5, 1), row_of_graphs("NPVar", 5, 2)]
    rows += [row_of_graphs("CAM", 1, 1), row_of_graphs("CAM", 1, 2, error="limit")]
    assert graphs_page.gaps(rows) == [(10, "ER", graphs.WORLDS[0], 0.2, "NPVar", 0.5)]
    line = list(graphs_page.table(rows, 10, graphs_page.per_edge("shd")))[2]
    assert line.endswith("| 0.80 | 0.60 | 0.20 | 0.50 | 0.10 (1) | **0.00** |")
    assert "random order in 1" in graphs_page.control_sentence(rows)
    assert "in 1 of 1 settings" in graphs_page.verdict(rows)
    assert graphs_page.verdict(rows).endswith("count as wrong, it is in 1, too.")


def test_open_edges_count_against_the_default_in_the_second_half_of_the_verdict():
    rows = [row_of_graphs("HOST", 2, 1, left_open=7), row_of_graphs("NPVar", 5, 1), row_of_graphs("R2-sort", 6, 1)]
    said = graphs_page.verdict(rows)
    assert "in 1 of 1 settings" in said
    assert said.endswith(f"it is in 0: all but ER, {graphs.WORLDS[0]}, 10 columns.")
    assert "R2-sort in 0" in graphs_page.control_sentence(rows)
    assert "R2-sort in 1" in graphs_page.control_sentence([*rows[:1], row_of_graphs("NPVar", 6, 1), rows[2]])
