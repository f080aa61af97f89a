"""The generalised covariance measure: the covariance of the residuals of x and of y, each regressed on Z."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.special import erfc

from heterodag.core.splines import columns_per_block, smoothing_block
from heterodag.errors import DataError, ParameterError
from heterodag.independence._regression import linear_in, regression, standardized
from heterodag.independence.contract import Array
from heterodag.independence.pairwise import check_samples

#: (Z, y) -> fitted values of y.
Regressor: TypeAlias = Callable[[Array, Array], Array]

MOST_COLUMNS = 10
ROWS_PER_COLUMN = 2
#: Weight of the penalty on straight lines, relative to 1 for the smoothest curve: enough to handle collinear
#: columns.
LINE = 1e-6
PENALTIES = np.logspace(-4, 7, 56)
TREES = 200
LEAST_ROWS = 4
#: Residuals below this share of the standard deviation are rounding errors.
LEAST_RESIDUAL = 1e-8


def gcm(
    x: Array, y: Array, Z: Array, *, regressor: str | Regressor = "spline", random_state: int | None = 0
) -> float:
    """Test conditional independence by the covariance of residuals.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        The samples; the test is symmetric in them.
    Z : array-like of shape (n, k)
        The conditioning columns; k may be 0.
    regressor : {"spline", "linear", "forest"} or callable (Z, y) -> fitted values, default="spline"
        How x and y are regressed on Z. "spline": additive smoothing splines, the penalty by generalised
        cross-validation. "linear": least squares. "forest": out-of-bag predictions of scikit-learn's random
        forest.
    random_state : int or None, default=0
        Seed of the forest.

    Returns
    -------
    float
        The two-sided p-value.

    Notes
    -----
    Shah and Peters (2020), equation 2 there: with `R_i` the product of the residuals of row i,
    `T = sqrt(n) mean(R) / sd(R)` is standard normal under the null hypothesis when the regressions are good
    enough. The standard deviation is that of the products, so a variance that moves with Z does no harm. The
    test misses dependence that leaves the residuals uncorrelated, such as a cause of the variance alone. The
    p-value is 1 when nothing can be said: fewer than 4 rows; x or y is a constant, a linear function of Z, or
    another function of Z that the regression fits exactly. With n - 1 or more columns in Z a linear regression
    always fits exactly; for the others that depends on how much they smooth.
    """
    x, y, Z = check_samples(x, y, Z)
    pair, Z = standardized(np.column_stack([x, y])), standardized(Z)
    explained, rank = linear_in(pair, Z)
    if len(x) < LEAST_ROWS or (explained.any() and rank < len(x) - 1):
        return 1.0
    residuals = pair - (_fitted(Z, pair, regressor, random_state) if Z.shape[1] else 0.0)
    if np.sqrt(np.mean(residuals**2, axis=0)).min() < LEAST_RESIDUAL:
        return 1.0
    products = residuals[:, 0] * residuals[:, 1]
    spread = products.std()
    # Equal products come from two values only, or two rows: they have no spread by which to judge their mean.
    statistic = np.sqrt(len(x)) * products.mean() / spread if spread > LEAST_RESIDUAL**2 else 0.0
    return float(erfc(abs(statistic) / np.sqrt(2)))


def _fitted(Z: Array, pair: Array, regressor: str | Regressor, random_state: int | None) -> Array:
    """Return the fitted values of both columns of `pair`."""
    if callable(regressor):
        return np.column_stack([_checked(regressor(Z, column), len(Z)) for column in pair.T])
    if regressor == "linear":
        basis = regression(Z).basis
        return np.asarray(basis @ (basis.T @ pair))
    if regressor == "spline":
        return _smoothed(Z, pair)
    if regressor == "forest":
        return np.column_stack([_forest(Z, column, random_state) for column in pair.T])
    raise ParameterError("regressor", "be 'spline', 'linear', 'forest' or a callable (Z, y)", regressor)


def _checked(fitted: Array, n: int) -> Array:
    values = np.asarray(fitted, dtype=np.float64)
    if values.shape != (n,) or not np.isfinite(values).all():
        raise DataError(f"The regressor must return {n} finite fitted values; got an array of {values.shape}.")
    return values


def _smoothed(Z: Array, pair: Array) -> Array:
    """Fit additive smoothing splines; each of the pair gets one penalty for all columns of Z."""
    n, k = Z.shape
    width = columns_per_block(n, k, MOST_COLUMNS, ROWS_PER_COLUMN)
    blocks, roughness = zip(*(smoothing_block(column, width) for column in Z.T), strict=True)
    # Columns divided by the roots of their penalties turn the problem into a plain ridge.
    scaled = np.hstack(blocks) / np.sqrt(LINE + np.concatenate(roughness))
    U, sizes, _ = np.linalg.svd(scaled, full_matrices=False)
    return np.column_stack([_best_ridge(U, sizes**2, column) for column in pair.T])


def _best_ridge(U: Array, energies: Array, y: Array) -> Array:
    """Return the ridge fit with the smallest generalised cross-validation error (Craven and Wahba 1979)."""
    n, coordinates = len(y), U.T @ y
    kept = energies / (energies + PENALTIES[:, None])
    missed = y @ y - np.sum((2 * kept - kept**2) * coordinates**2, axis=1)
    slack = np.maximum(1 - (1 + kept.sum(axis=1)) / n, 1 / n)
    best = int(np.argmin(np.maximum(missed, 0.0) / slack**2))
    return np.asarray(U @ (kept[best] * coordinates))


def _forest(Z: Array, y: Array, random_state: int | None) -> Array:
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(TREES, min_samples_leaf=5, oob_score=True, random_state=random_state)
    return np.asarray(forest.fit(Z, y).oob_prediction_)
