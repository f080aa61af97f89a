"""Adjust the p-values of all tested edges for multiple testing; Holm's method is here because SciPy lacks it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import false_discovery_control

from heterodag.errors import ParameterError, check_choice
from heterodag.independence.contract import Array

METHODS = ("none", "holm", "bh")


def adjust(pvalues: Any, method: str) -> Array:
    """Return adjusted p-values: comparing them with alpha controls the error rate of the whole table.

    Parameters
    ----------
    pvalues : array-like of any shape, usually (d, d)
        p-values; NaN where no test was made.
    method : {"none", "holm", "bh"}
        "holm": the chance of any false edge is at most alpha (Holm 1979), whatever the dependence of the
        tests. "bh": the expected share of false edges among those found is at most alpha (Benjamini and
        Hochberg 1995), for tests that are independent or positively dependent.

    Returns
    -------
    ndarray of the same shape
        Adjusted p-values, NaN where the input is NaN; a copy.

    Notes
    -----
    The paper does not correct; its alpha of 0.001 applies to each test alone.
    """
    check_choice("method", method, METHODS)
    adjusted = np.array(pvalues, dtype=np.float64)
    tested = ~np.isnan(adjusted)
    p = adjusted[tested]
    if np.any((p < 0) | (p > 1)):
        raise ParameterError("pvalues", "lie in [0, 1] or be NaN", float(p[(p < 0) | (p > 1)][0]))
    if p.size and method != "none":
        adjusted[tested] = _holm(p) if method == "holm" else false_discovery_control(p)
    return adjusted


def _holm(p: Array) -> Array:
    """Step down: multiply the k-th smallest of m by m - k + 1, and let no later one be smaller."""
    rising = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[rising] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[rising] = np.minimum(steps, 1.0)
    return adjusted
