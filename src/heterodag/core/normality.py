"""Statistics of how normal a sample looks (step 5 of Algorithm 2); larger always means more normal.

The paper's choice is the Shapiro-Wilk `W` (appendix A): the squared correlation of the ordered sample with
Royston's (1995) approximate optimal weights. These depend only on `n` and are computed once here;
`scipy.stats.shapiro` computes them and a p-value for every sample, which takes 8 times as long for 100 samples of
1000 values. Statistics for which smaller is better are negated. `tolerance` is measured on the chosen statistic's own
scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy import stats
from scipy.special import log_ndtr, ndtri

from heterodag.core.gaussian import Array
from heterodag.errors import ParameterError, check_choice

#: A statistic: samples in the rows of an (m, n) array -> (m,) scores, larger = more normal.
Statistic = Callable[[Array], Array]

# Royston (1995), Applied Statistics 44, algorithm AS R94: corrections of the two outermost weights in 1/sqrt(n).
_OUTERMOST = (-2.706056, 4.434685, -2.071190, -0.147981, 0.221157, 0.0)
_SECOND = (-3.582633, 5.682633, -1.752461, -0.293762, 0.042981, 0.0)


@lru_cache(maxsize=16)
def _normal_scores(n: int) -> Array:
    """Return Blom's approximation to the expected order statistics of `n` standard normals."""
    scores: Array = ndtri((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    scores.setflags(write=False)
    return scores


@lru_cache(maxsize=16)
def shapiro_wilk_weights(n: int) -> Array:
    """Return the unit vector `a` of the paper's Eqn. for W, by Royston's approximation."""
    m = _normal_scores(n)
    if n == 3:
        weights = np.array([-math.sqrt(0.5), 0.0, math.sqrt(0.5)])
    else:
        total, u = float(m @ m), 1.0 / math.sqrt(n)
        outer = [m[-1] / math.sqrt(total) + np.polyval(_OUTERMOST, u)]
        if n > 5:
            outer.append(m[-2] / math.sqrt(total) + np.polyval(_SECOND, u))
        k = len(outer)
        rest = total - 2.0 * float(m[-k:] @ m[-k:])
        weights = m / math.sqrt(rest / (1.0 - 2.0 * float(np.dot(outer, outer))))
        weights[-k:], weights[:k] = outer[::-1], -np.array(outer)
    weights /= math.sqrt(float(weights @ weights))
    weights.setflags(write=False)
    return weights


def _squared_correlation(ordered: Array, weights: Array) -> Array:
    centred = ordered - ordered.mean(axis=1, keepdims=True)
    result: Array = (centred @ weights) ** 2 / np.einsum("ij,ij->i", centred, centred)
    return result


def shapiro_wilk(samples: Array) -> Array:
    """Return the Shapiro-Wilk W of each row, in (0, 1]."""
    return _squared_correlation(np.sort(samples, axis=1), shapiro_wilk_weights(samples.shape[1]))


def shapiro_francia(samples: Array) -> Array:
    """Return the Shapiro-Francia W' of each row: the squared correlation with the normal scores themselves."""
    m = _normal_scores(samples.shape[1])
    return _squared_correlation(np.sort(samples, axis=1), m / math.sqrt(float(m @ m)))


def anderson_darling(samples: Array) -> Array:
    """Return minus the Anderson-Darling A^2 of each row, with location and scale estimated."""
    n = samples.shape[1]
    centred = np.sort(samples - samples.mean(axis=1, keepdims=True), axis=1)
    z = centred / centred.std(axis=1, ddof=1, keepdims=True)
    odd = 2.0 * np.arange(1, n + 1) - 1.0
    result: Array = n + (log_ndtr(z) + log_ndtr(-z[:, ::-1])) @ odd / n
    return result


def jarque_bera(samples: Array) -> Array:
    """Return minus the Jarque-Bera statistic of each row."""
    return -np.asarray(stats.jarque_bera(samples, axis=1).statistic)


def dagostino_pearson(samples: Array) -> Array:
    """Return minus the D'Agostino-Pearson K^2 of each row (skewness and kurtosis, each transformed to normality)."""
    n = samples.shape[1]
    if n < 8:
        raise ParameterError("normality", "not be 'dagostino' for fewer than 8 rows", f"{n} rows")
    return -np.asarray(stats.normaltest(samples, axis=1).statistic)


STATISTICS: dict[str, Statistic] = {
    "shapiro": shapiro_wilk,
    "shapiro-francia": shapiro_francia,
    "anderson-darling": anderson_darling,
    "dagostino": dagostino_pearson,
    "jarque-bera": jarque_bera,
}


def get_statistic(normality: str | Callable[[Array], float]) -> Statistic:
    """Return the named statistic, or wrap a user's function of one sample; larger must mean more normal."""
    if not callable(normality):
        return STATISTICS[check_choice("normality", normality, STATISTICS)]
    user = normality

    def rowwise(samples: Array) -> Array:
        scores = np.array([_user_score(user, row) for row in samples], dtype=float)
        return scores

    return rowwise


def _user_score(user: Callable[[Array], float], sample: Array) -> float:
    found = user(sample.copy())
    try:
        score = np.asarray(found, dtype=float)
    except (TypeError, ValueError):
        score = np.empty(0)
    if score.size != 1 or not np.isfinite(score).all():
        raise ParameterError("normality", "return one finite number, larger for more normal samples", found)
    return float(score.reshape(()))
