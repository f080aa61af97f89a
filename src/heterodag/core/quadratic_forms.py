"""Tail probabilities of weighted sums of squared standard normals, the null distribution of penalised tests."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr
from scipy.stats import chi2

from heterodag.core.gaussian import Array

#: Weights below this share of the largest are left out.
_NEGLIGIBLE = 1e-8


def weighted_chi2_sf(value: float, weights: Array) -> float:
    """Return the probability that `sum(weights * z^2)` exceeds `value`, z standard normal.

    Notes
    -----
    Kuonen's (1999) saddlepoint approximation: its relative error stays small far out in the tail. With equal weights
    the distribution is a scaled chi-square and the result is exact.
    """
    w = np.sort(weights[weights > _NEGLIGIBLE * max(float(weights.max(initial=0.0)), 1e-300)])
    if not len(w) or value <= 0.0:
        return 1.0
    if w[-1] - w[0] < 1e-6 * w[-1]:
        return float(chi2.sf(value / w[-1], len(w)))
    w, q = w / w[-1], value / w[-1]
    if abs(q / w.sum() - 1.0) < 1e-3:  # the formula is 0/0 at the mean: avoid it
        return 0.5 * (weighted_chi2_sf(0.998 * w.sum(), w) + weighted_chi2_sf(1.002 * w.sum(), w))
    t = brentq(lambda t: float((w / (1.0 - 2.0 * t * w)).sum()) - q, -0.5 * len(w) / q, 0.5 - 0.25 / q, xtol=1e-14)
    cumulant = -0.5 * float(np.log1p(-2.0 * t * w).sum())
    r = np.sign(t) * np.sqrt(max(2.0 * (t * q - cumulant), 0.0))
    v = t * np.sqrt(2.0 * float((w**2 / (1.0 - 2.0 * t * w) ** 2).sum()))
    return float(np.exp(log_ndtr(-(r + np.log(v / r) / r))))
