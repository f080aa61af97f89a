"""How strong an edge is: how far its cause moves the mean of the effect, and by what factor the spread.

Both are average slopes: those of the straight lines that come closest, over the rows of the table, to the mean and to
the logarithm of the spread as functions of the cause, with the other parents at their medians. If the model has a
straight line, its slope is the result. A curve that goes up and down again may have an average slope of 0, so the
range is given too: how far mean and spread move while the cause goes through its central 95 %.

The plain average of the derivative was tried and rejected: in skewed columns most rows lie where a curve is steep,
and one standard deviation, which the tail makes long, goes far beyond them.

Intervals come from the delta method with the sandwich covariance of the coefficients (`scm.mechanism`). They take
graph and curves as given; because both are chosen from the same rows, the intervals are somewhat too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from heterodag.core.gaussian import Array
from heterodag.io.exports import STRENGTHS
from heterodag.scm.mechanism import Mechanism

if TYPE_CHECKING:
    import pandas as pd

#: Level of the intervals.
LEVEL = 0.95
#: Medians and quantiles of the parents are computed from at most this many evenly spaced rows.
RANGE_ROWS = 20_000
#: The line is fitted to at most this many evenly spaced rows: it hardly changes with more.
MAX_ROWS = 1000
#: The range of a curve is taken between these quantiles of the cause, on this many points.
_CENTRAL, _POINTS = (0.025, 0.975), 33


def edge_strengths(mechanism: Mechanism, parents: Array) -> dict[str, Array]:
    """Return the strengths of every edge into a variable, by name: all of `STRENGTHS` except the share.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism of the variable.
    parents : (n, k) array
        The rows of its parents, in the units of the table.
    """
    parents = parents[:: -(-len(parents) // RANGE_ROWS)]
    found = [_slopes(mechanism, parents, k) | _ranges(mechanism, parents, k) for k in range(parents.shape[1])]
    return {name: np.array([one[name] for one in found]) for name in STRENGTHS if name != "share"}


def strength_table(names: Sequence[str], mechanisms: Sequence[Mechanism], X: Array) -> pd.DataFrame:
    """Return one row per edge of a causal model: cause, effect and the strengths, except the share, over a table."""
    import pandas as pd

    numbers: dict[str, list[float]] = {name: [] for name in STRENGTHS if name != "share"}
    edges = [(names[j], names[mechanism.target]) for mechanism in mechanisms for j in mechanism.parents]
    for mechanism in mechanisms:
        for name, values in edge_strengths(mechanism, X[:, list(mechanism.parents)]).items():
            numbers[name].extend(values)
    ends = {"cause": [cause for cause, _ in edges], "effect": [effect for _, effect in edges]}
    return pd.DataFrame(ends | numbers)


def _slopes(mechanism: Mechanism, parents: Array, k: int) -> dict[str, float]:
    """Return the average slopes of mean and log spread along one parent, in standard deviations, with intervals."""
    x = parents[:: max(1, -(-len(parents) // MAX_ROWS)), k]
    centred = x - x.mean()
    # A slope is a weighted sum of the curve's values, so its gradient is the same sum of their gradients.
    weights = mechanism.scale[k] * centred / max(float(centred @ centred), 1e-300)
    slopes, gradients = _weighted(mechanism, _along(parents, k, x), weights)
    errors = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", gradients, mechanism.covariance, gradients), 0.0))
    half = ndtri(0.5 + LEVEL / 2.0) * errors
    lower, upper = slopes - half, slopes + half
    return {
        "mean_effect": slopes[0], "mean_effect_lower": lower[0], "mean_effect_upper": upper[0],
        "mean_change": slopes[0] * mechanism.scale[-1],
        "spread_effect": np.exp(slopes[1]), "spread_effect_lower": np.exp(lower[1]),
        "spread_effect_upper": np.exp(upper[1]),
    }  # fmt: skip


def _along(parents: Array, k: int, values: Array) -> Array:
    """Return rows of the parents in which one takes the values and the others are at their medians."""
    rows = np.tile(np.median(parents, axis=0), (len(values), 1))
    rows[:, k] = values
    return rows


def _weighted(mechanism: Mechanism, rows: Array, weights: Array) -> tuple[Array, Array]:
    """Return weighted sums over rows of standardised mean and log spread, and their gradients by the coefficients."""
    fit, Z = mechanism.fit, mechanism.regressors(rows)
    A, s, m = fit.shape.predictors(fit.theta[:, None], Z)
    s = np.clip(s, *mechanism.log_precision_range())
    mu = fit.form.mean_and_scale(A, s, m)[0]
    # The difference in A is exact, because the mean is linear in A; the derivative by s is a central difference.
    by_A = fit.form.mean_and_scale(A + 1.0, s, m)[0] - mu
    near = 1e-5
    by_s = (fit.form.mean_and_scale(A, s + near, m)[0] - fit.form.mean_and_scale(A, s - near, m)[0]) / (2.0 * near)
    width = fit.shape.width
    gradients = np.zeros((2, fit.shape.size))
    gradients[0, :width], gradients[0, width : 2 * width] = Z @ (weights * by_A[0]), Z @ (weights * by_s[0])
    gradients[1, width : 2 * width] = -0.5 * (Z @ weights)
    return np.array([weights @ mu[0], -0.5 * (weights @ s[0])]), gradients


def _ranges(mechanism: Mechanism, parents: Array, k: int) -> dict[str, float]:
    """Return how far mean and spread move along the central range of one parent, with the others at their medians."""
    low, high = np.quantile(parents[:, k], _CENTRAL).tolist()
    mu, sigma = mechanism.predict(_along(parents, k, np.linspace(low, high, _POINTS)))
    return {"mean_range": float(np.ptp(mu)) / mechanism.scale[-1], "spread_range": float(sigma.max() / sigma.min())}
