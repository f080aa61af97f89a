"""One mechanism `x = mu(parents) + sigma(parents) * noise`: a conditional Gaussian in the units of the table.

Everything is computed from `Conditionals.predictors`, so any parametrisation of the conditional model will do. The
log precision is held within the range it had on the training rows: beyond, the exponential would let spreads explode
(or vanish) on values that no data speak about. The predictor of the mean is not held; splines end in straight lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from heterodag.core.gaussian import Array, Mask, location_scale_terms, mean_and_scale, natural_terms
from heterodag.core.table import Table
from heterodag.errors import ParameterError
from heterodag.models.conditional import ConditionalModel, Conditionals
from heterodag.models.spline import curve_penalties, only_its_curves, summed_curves

#: Parametrisations that a mechanism can have: the predictors are linear in the coefficients.
MECHANISMS = ("linear", "spline")


@dataclass(frozen=True, eq=False)
class Mechanism:
    """The mechanism of one variable.

    Attributes
    ----------
    target, parents : columns of the causal model.
    conditional : fitted to a table of the parents (columns 0 to k - 1) and the target (column k).
    location, scale : (k + 1,) the standardisation of that table.
    extremes : (2, k) the training rows of the parents with the smallest and the largest log precision.
    covariance : (size, size) of the estimated coefficients.
    """

    target: int
    parents: tuple[int, ...]
    conditional: Conditionals
    location: Array
    scale: Array
    extremes: Array
    covariance: Array

    @property
    def theta(self) -> Array:
        """The coefficients, one flat vector in standardised units."""
        return self.conditional.theta[:, 0]

    def with_theta(self, theta: Array) -> Mechanism:
        """Return the same mechanism with other coefficients."""
        return replace(self, conditional=replace(self.conditional, theta=theta[:, None]))

    def log_precision(self, parents: Array) -> Array:
        """Return the log precision of the standardised target for every row, not held within its range."""
        s: Array = self._predictors(parents)[1][0]
        return s

    def moments(self, parents: Array) -> tuple[Array, Array]:
        """Return mean and standard deviation of the target for every row (n, k) of its parents."""
        A, s, m = self._predictors(parents)
        low, high = self.log_precision(self.extremes)
        mu, sigma = mean_and_scale(self.conditional.form, A, np.clip(s, min(low, high), max(low, high)), m)
        return self.location[-1] + self.scale[-1] * mu[0], self.scale[-1] * sigma[0]

    def value(self, parents: Array, noise: Array) -> Array:
        """Return the target for rows of its parents and its noise."""
        mu, sigma = self.moments(parents)
        return mu + sigma * noise

    def noise(self, parents: Array, values: Array) -> Array:
        """Return the noise behind observed values: the inverse of `value`."""
        mu, sigma = self.moments(parents)
        return (values - mu) / sigma

    def _predictors(self, parents: Array) -> tuple[Array, Array, Array | float]:
        return self._quick.predictors(self._table(parents), slice(None))

    @cached_property
    def _quick(self) -> Conditionals:
        return summed_curves(self.conditional)

    def _table(self, parents: Array, values: Array | None = None) -> Table:
        filled = np.full(len(parents), self.location[-1]) if values is None else values
        return Table.with_scaling(np.column_stack([parents, filled]), self.location, self.scale)


def fit_mechanism(X: Array, target: int, parents: Sequence[int], model: ConditionalModel) -> Mechanism:
    """Fit the conditional model of a column given its parents."""
    if model.parametrization not in MECHANISMS:
        raise ParameterError("parametrization", "be 'linear' or 'spline' in a causal model", model.parametrization)
    columns = [*parents, target]
    table = Table.standardize(X[:, columns])
    k = len(parents)
    fitted = model.fit(table, range(k), [k], thorough=True)
    assert isinstance(fitted, Conditionals)
    fitted = only_its_curves(fitted)
    s = fitted.predictors(table, slice(None))[1][0]
    extremes = X[np.ix_([int(s.argmin()), int(s.argmax())], list(parents))]
    covariance = coefficient_covariance(fitted, table, penalty_weights(fitted, model.ridge))
    return Mechanism(target, tuple(parents), fitted, table.location, table.scale, extremes, covariance)


def penalty_weights(fitted: Conditionals, ridge: float) -> Array:
    """Return the quadratic penalty of every coefficient of a fit, on the scale of sums over rows."""
    curves = curve_penalties(fitted)
    return np.where(curves > 0.0, curves, ridge)


def coefficient_covariance(fitted: Conditionals, table: Table, penalty: Array) -> Array:
    """Return the sandwich estimate of the covariance of the coefficients of one target.

    `inv(H) G inv(H)` with the penalised information H and the sum G of outer products of the rows' gradients: right
    also where the Gaussian is only an approximation. The penalties of curves are added to G as well: seen as priors,
    they tell how far smoothing has biased the curves (Nychka 1988; Marra and Wood 2012). Both predictors are linear in
    the coefficients, so their derivatives are the predictors of unit vectors. Slopes that are exactly zero take no part
    in the model: they stay.
    """
    size = len(fitted.theta)
    units = replace(
        fitted, theta=np.eye(size), targets=fitted.targets * size,
        objective=np.zeros(size), converged=np.ones(size, dtype=bool),
    )  # fmt: skip
    dA, ds, dm = units.predictors(table, slice(None))
    A, s, m = fitted.predictors(table, slice(None))
    y, expected = table.take(fitted.targets), np.zeros((1, 1))
    natural = fitted.form == "natural"
    terms = natural_terms(y, A, s, np.asarray(m), expected) if natural else location_scale_terms(y, A, s, expected)
    gradient = dA * terms.first[0] + ds * terms.first[1]
    AA, As, ss = terms.second
    cross = (dA * As) @ ds.T
    information = (dA * AA) @ dA.T + cross + cross.T + (ds * ss) @ ds.T
    if terms.m is not None and terms.mm is not None:
        moved = np.broadcast_to(np.asarray(dm), dA.shape)
        gradient = gradient - moved * terms.m
        mixed = (dA + ds * terms.first[2]) @ moved.T
        information = information + mixed + mixed.T + (moved * terms.mm) @ moved.T
    used = np.flatnonzero(_used(fitted.theta[:, 0], natural))
    inverse = np.linalg.pinv(information[np.ix_(used, used)] + np.diag(penalty[used]), hermitian=True)
    covariance = np.zeros((size, size))
    spread = gradient[used] @ gradient[used].T + np.diag(curve_penalties(fitted)[used])
    covariance[np.ix_(used, used)] = inverse @ spread @ inverse
    return covariance


def _used(theta: Array, natural: bool) -> Mask:
    """Return which coefficients can move: intercepts, location, and slopes other than zero."""
    width = (len(theta) - natural) // 2
    used = theta != 0.0
    used[[0, width]] = True
    used[2 * width :] = True
    return np.asarray(used)
