"""Corrections for many tests: by hand, as procedures, and in their order."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.errors import ParameterError
from heterodag.independence.correction import adjust

NAN = np.nan


def test_by_hand():
    table = [[NAN, 0.01, 0.04], [NAN, NAN, 0.03], [NAN, 0.005, NAN]]
    np.testing.assert_allclose(adjust(table, "none"), table)
    np.testing.assert_allclose(adjust(table, "holm"), [[NAN, 0.03, 0.06], [NAN, NAN, 0.06], [NAN, 0.02, NAN]])
    np.testing.assert_allclose(adjust(table, "bh"), [[NAN, 0.02, 0.04], [NAN, NAN, 0.04], [NAN, 0.02, NAN]])


def test_benjamini_hochberg_is_the_step_up_procedure():
    rng = np.random.default_rng(0)
    for size in (1, 2, 17, 300):
        p = rng.random(size) ** 3
        p[: size // 3] = p[0]
        small = np.flatnonzero(np.sort(p) <= 0.05 * np.arange(1, size + 1) / size)
        limit = np.sort(p)[small[-1]] if small.size else -1.0
        np.testing.assert_array_equal(adjust(p, "bh") <= 0.05, p <= limit)


def test_holm_is_the_textbooks_step_down_procedure():
    rng = np.random.default_rng(1)
    for _ in range(50):
        p, alpha = rng.random(12) ** 4, 0.05
        rejected = np.zeros(12, dtype=bool)
        for step, index in enumerate(np.argsort(p)):
            if p[index] > alpha / (12 - step):
                break
            rejected[index] = True
        np.testing.assert_array_equal(adjust(p, "holm") <= alpha, rejected)


def test_order_and_bounds():
    p = np.random.default_rng(2).random((6, 6))
    for method in ("holm", "bh"):
        adjusted = adjust(p, method)
        assert (adjusted >= p).all()
        assert adjusted.max() <= 1
        assert (np.diff(adjusted.ravel()[np.argsort(p.ravel())]) >= 0).all()
    assert (adjust(p, "holm") >= adjust(p, "bh")).all()


@pytest.mark.parametrize("method", ["none", "holm", "bh"])
def test_nothing_tested_and_one_test(method):
    assert np.isnan(adjust(np.full((3, 3), NAN), method)).all()
    assert adjust([0.2], method) == pytest.approx([0.2])


def test_the_input_is_left_alone():
    p = np.array([0.01, 0.02])
    adjust(p, "holm")[0] = 9
    assert p.tolist() == [0.01, 0.02]


def test_bad_input():
    with pytest.raises(ParameterError, match="`method` must be one of 'none', 'holm', 'bh'; got 'bonferroni'"):
        adjust([0.1], "bonferroni")
    with pytest.raises(ParameterError, match=r"`pvalues` must lie in \[0, 1\] or be NaN; got 1.5"):
        adjust([0.1, 1.5], "bh")
