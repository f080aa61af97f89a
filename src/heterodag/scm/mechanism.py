"""One mechanism `x = mu(parents) + sigma(parents) * noise`, in the units of the table.

Everything is computed from the predictors of a `scores.fit.LinearFit`, lines or curves, in either form, and from its
noise: standard normal, or a density fitted to its residuals (`scm.noise`). The log precision is kept within the range
it had on the training rows: beyond it, the exponential would make spreads explode (or vanish) where there are no
data. The predictor of the mean is not bounded; splines end in straight lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from heterodag.core.densities import Density
from heterodag.core.design import Basis, Design, linear_basis
from heterodag.core.gaussian import Array, row_derivatives
from heterodag.core.splines import SplineBasis
from heterodag.core.table import Table, row_slices
from heterodag.errors import ParameterError
from heterodag.scm.noise import central_interval, log_density, mean_and_sd, to_normal
from heterodag.scores.competition import CompetingFitter
from heterodag.scores.fit import Effort, LinearFit
from heterodag.scores.local import LocalScores
from heterodag.scores.make import ScoreSettings
from heterodag.scores.ridge import ridge_strength
from heterodag.scores.spline_design import curve_penalties

#: The covariance of the coefficients is estimated from at most this many evenly spaced rows: that is precise enough
#: for intervals, and using all rows of a long table would take a third of the time of the fit.
COVARIANCE_ROWS = 20_000
#: Parametrisations that a mechanism can have: the predictors are linear in the coefficients.
MECHANISMS = ("auto", "linear", "spline")


@dataclass(frozen=True, eq=False)
class Mechanism:
    """The mechanism of one variable.

    Attributes
    ----------
    target, parents : columns of the causal model.
    fit : the model, fitted to a table of the parents (columns 0 to k - 1) and the target (column k).
    location, scale : (k + 1,) the standardisation of that table.
    extremes : (2, k) the training rows of the parents with the smallest and the largest log precision.
    covariance : (size, size) covariance of the estimated coefficients.
    """

    target: int
    parents: tuple[int, ...]
    fit: LinearFit
    location: Array
    scale: Array
    extremes: Array
    covariance: Array

    @property
    def theta(self) -> Array:
        """The coefficients as one flat vector, in standardised units."""
        return self.fit.theta

    @property
    def density(self) -> Density | None:
        """The density of the noise; None if it is standard normal."""
        return self.fit.noise

    def with_theta(self, theta: Array) -> Mechanism:
        """Return the same mechanism with other coefficients."""
        return replace(self, fit=replace(self.fit, theta=theta))

    def log_precision(self, parents: Array) -> Array:
        """Return the log precision of the standardised target for every row, not limited to its training range."""
        s: Array = self._predictors(parents)[1][0]
        return s

    def predict(self, parents: Array) -> tuple[Array, Array]:
        """Return mu and sigma for every row (n, k) of the parents; the target is `mu + sigma * noise`."""
        A, s, m = self._predictors(parents)
        mu, sigma = self.fit.form.mean_and_scale(A, np.clip(s, *self.log_precision_range()), m)
        return self.location[-1] + self.scale[-1] * mu[0], self.scale[-1] * sigma[0]

    def moments(self, parents: Array) -> tuple[Array, Array]:
        """Return mean and standard deviation of the target for every row of its parents."""
        return mean_and_sd(self.density, *self.predict(parents))

    def value(self, parents: Array, noise: Array) -> Array:
        """Return the values of the target, given rows of its parents and its noise."""
        mu, sigma = self.predict(parents)
        return mu + sigma * noise

    def noise(self, parents: Array, values: Array) -> Array:
        """Return the noise behind observed values: the inverse of `value`."""
        mu, sigma = self.predict(parents)
        return (values - mu) / sigma

    def latents(self, parents: Array, values: Array) -> Array:
        """Return the noise behind observed values, transformed to be standard normal if the density is right."""
        return to_normal(self.density, self.noise(parents, values))

    def log_density(self, parents: Array, values: Array) -> Array:
        """Return the logarithm of the density of observed values, given their parents."""
        mu, sigma = self.predict(parents)
        return log_density(self.density, (values - mu) / sigma) - np.log(sigma)

    def interval(self, parents: Array, level: float) -> tuple[Array, Array]:
        """Return the ends of the central interval of the target for every row of its parents."""
        (mu, sigma), (low, high) = self.predict(parents), central_interval(self.density, level)
        return mu + sigma * low, mu + sigma * high

    def regressors(self, parents: Array) -> Array:
        """Return the design (coefficients of a predictor, rows) that multiplies the coefficients."""
        return Design(self._table(parents), self.fit.parents, (self.fit.target,), self.fit.basis).regressors(
            slice(None)
        )

    def log_precision_range(self) -> tuple[float, float]:
        """Return the smallest and the largest log precision on the training rows."""
        low, high = self.log_precision(self.extremes).tolist()
        return min(low, high), max(low, high)

    def _predictors(self, parents: Array) -> tuple[Array, Array, Array | float]:
        return self._quick.predictors(self._table(parents), slice(None))

    @cached_property
    def _quick(self) -> LinearFit:
        return summed_curves(self.fit)

    def _table(self, parents: Array, values: Array | None = None) -> Table:
        filled = np.full(len(parents), self.location[-1]) if values is None else values
        return Table.with_scaling(np.column_stack([parents, filled]), self.location, self.scale)


def fit_mechanism(X: Array, target: int, parents: Sequence[int], settings: ScoreSettings) -> Mechanism:
    """Fit the conditional model of a column given its parents; if mechanisms compete, return the best.

    Unlike in a search over graphs, curves in natural form always compete: there are few models to fit.
    """
    if settings.parametrization not in MECHANISMS:
        raise ParameterError(
            "parametrization", "be 'auto', 'linear' or 'spline' in a causal model", settings.parametrization
        )
    k, fitter = len(parents), settings.fitter(np.random.SeedSequence(0))
    if isinstance(fitter, CompetingFitter):
        fitter = replace(fitter, natural_curves=True)
    table = Table.standardize(X[:, [*parents, target]])
    fit = LocalScores(table, fitter).fits([(k, tuple(range(k)))], Effort.FINAL)[0]
    assert isinstance(fit, LinearFit)
    return replace(mechanism_of(fit, table), target=target, parents=tuple(parents))


def mechanism_of(fit: LinearFit, table: Table, rows: int | None = None) -> Mechanism:
    """Return the mechanism of a model that was fitted to a table, in the units of the table.

    `rows`, if given, is the number of rows that the model was fitted to, of which the table is a sample.
    """
    parents, columns = list(fit.parents), [*fit.parents, fit.target]
    n = table.shape[0]
    s = np.concatenate([fit.predictors(table, rows)[1][0] for rows in row_slices(n, 2 * fit.shape.width)])
    own = replace(fit, target=len(parents), parents=tuple(range(len(parents))))
    extremes = table.X[np.ix_([int(s.argmin()), int(s.argmax())], parents)]
    covariance = coefficient_covariance(fit, table, rows)
    return Mechanism(
        fit.target, fit.parents, own, table.location[columns], table.scale[columns], extremes, covariance
    )


def first_parents(mechanism: Mechanism, kept: int) -> Mechanism:
    """Return the mechanism with the first `kept` parents, the others fixed at 0.

    The others are context columns of conditions: at 0 the mechanism is that of the reference condition.
    """
    k, fit = len(mechanism.parents), mechanism.fit
    if kept == k:
        return mechanism
    zeros = np.zeros((1, k))
    at_zero = mechanism.regressors(zeros)[:, 0]
    blocks = fit.basis.blocks if isinstance(fit.basis, SplineBasis) else [slice(j + 1, j + 2) for j in range(k)]
    stop = blocks[kept].start
    width, size, own = fit.shape.width, fit.shape.size, np.arange(stop)
    rows = np.concatenate([own, width + own, np.arange(2 * width, size)])
    fold = np.eye(size)[rows]
    fold[0, stop:width] = fold[stop, width + stop : 2 * width] = at_zero[stop:]
    basis: Basis = linear_basis
    if isinstance(fit.basis, SplineBasis):
        basis = SplineBasis(fit.basis.columns[:kept], fit.basis.widths[:kept])
    smaller = replace(
        fit, target=kept, parents=tuple(range(kept)), theta=fold @ fit.theta, basis=basis,
        contributions=fit.contributions[:kept],
        strengths=None if fit.strengths is None else fit.strengths[:, :kept],
        edf=None if fit.edf is None else fit.edf[:, :kept],
    )  # fmt: skip
    columns = [*range(kept), k]
    return Mechanism(
        mechanism.target, mechanism.parents[:kept], smaller, mechanism.location[columns], mechanism.scale[columns],
        mechanism.extremes[:, :kept], fold @ mechanism.covariance @ fold.T,
    )  # fmt: skip


def summed_curves(fit: LinearFit) -> LinearFit:
    """Return a model with one curve per parent and predictor: the sum of its curves.

    The predictors are the same, from a tenth of the basis columns: use it to evaluate a model many times.
    """
    basis = fit.basis
    if not isinstance(basis, SplineBasis):
        return fit
    a, b, location = np.split(fit.theta, [basis.width, 2 * basis.width])
    columns, sides = [], (a[:1].tolist(), b[:1].tolist())
    for column, block in zip(basis.columns, basis.blocks, strict=True):
        columns.append(column.combined(np.column_stack([a[block][1:], b[block][1:]])))
        for side, (theta, own) in enumerate(zip((a, b), sides, strict=True)):
            own.append(theta[block.start])
            own.extend(float(k == side) for k in range(columns[-1].width - 1))
    summed = SplineBasis(tuple(columns), tuple(c.width for c in columns))
    return replace(fit, theta=np.concatenate([*sides, location]), basis=summed, strengths=None)


def penalty_weights(fit: LinearFit, n: int) -> Array:
    """Return the quadratic penalty of every coefficient of a fit to n rows, on the scale of sums over rows."""
    curves = curve_penalties(fit)
    return np.where(curves > 0.0, curves, ridge_strength(n))


def coefficient_covariance(fit: LinearFit, table: Table, rows: int | None = None) -> Array:
    """Return the sandwich estimate of the coefficients' covariance, for a fit to a table or to `rows` rows like it.

    `inv(H) G inv(H)` with the penalised information H and the sum G of outer products of the rows' gradients. The
    coefficients maximise a Gaussian likelihood whatever the noise, and the estimate is right whatever the noise: H
    depends only on its mean and variance, and G accounts for its skewness and tails. The penalties of curves are
    added to G too: seen as priors, they say how far smoothing has biased the curves (Nychka 1988; Marra and Wood
    2012). Slopes that are exactly zero are not part of the model: their variance is zero.
    """
    size, n = fit.shape.size, table.shape[0]
    total_rows = n if rows is None else rows
    step = -(-n // COVARIANCE_ROWS)
    information, outer = np.zeros((size, size)), np.zeros((size, size))
    for block in row_slices(n, 8 * size // step):
        some = slice(block.start + -block.start % step, block.stop, step)
        for total, part in zip((information, outer), _row_sums(fit, table, some), strict=True):
            total += part * (total_rows / len(range(0, n, step)))
    width = fit.shape.width
    used = fit.theta != 0.0
    used[[0, width]] = used[2 * width :] = True
    kept = np.flatnonzero(used)
    penalised = information[np.ix_(kept, kept)] + np.diag(penalty_weights(fit, total_rows)[kept])
    inverse = np.linalg.pinv(penalised, hermitian=True)
    covariance = np.zeros(information.shape)
    spread = outer[np.ix_(kept, kept)] + np.diag(curve_penalties(fit)[kept])
    covariance[np.ix_(kept, kept)] = inverse @ spread @ inverse
    return covariance


def _row_sums(fit: LinearFit, table: Table, some: slice) -> tuple[Array, Array]:
    """Return the expected information of some rows and the outer products of their gradients."""
    Z = Design(table, fit.parents, (fit.target,), fit.basis).regressors(some)
    rows = row_derivatives(fit.form, table.take([fit.target], some), *fit.predictors(table, some))
    mixed = (Z * rows.As) @ Z.T
    information = np.block([[(Z * rows.AA) @ Z.T, mixed], [mixed, (Z * rows.ss) @ Z.T]])
    gradient = np.concatenate([Z * rows.A, Z * rows.s])
    if rows.m is not None and rows.sm is not None and rows.mm is not None:
        border = np.concatenate([Z.sum(axis=1), (Z * rows.sm).sum(axis=1)])[:, None]
        information = np.block([[information, border], [border.T, rows.mm.sum(keepdims=True)]])
        gradient = np.concatenate([gradient, rows.m])
    return information, gradient @ gradient.T
