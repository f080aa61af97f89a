"""Location-scale models with lines or smooth curves: batches of `core.location_scale` for variables and their parents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from heterodag.core.gaussian import LOCATION_SCALE, NATURAL, Array, Form
from heterodag.core.location_scale import CLOSED, FIRST_STRENGTH, SmoothProblem, SmoothSolution, fit_smoothly
from heterodag.core.natural_curves import fit_natural_curves
from heterodag.core.splines import ColumnSpline, SplineBasis
from heterodag.core.table import Table
from heterodag.core.wald import wald_gains
from heterodag.scores.fit import Effort, Fit, Key, LinearFit
from heterodag.scores.ridge import ridge_strength
from heterodag.scores.spline_design import basis_columns, spline_of

#: Basis columns per parent, its line included: at most this many, fewer with few rows.
MOST_COLUMNS, _PER_ROOT = 8, 1.2
#: The same where waves are fast.
MOST_WIDE_COLUMNS, _WIDE_PER_ROOT = 16, 1.6
#: Accuracy in nats, and steps, by effort.
_ACCURACY = {Effort.ROUND: 0.3, Effort.SEARCH: 0.1, Effort.FINAL: 0.01}
_STEPS = {Effort.ROUND: 25, Effort.SEARCH: 40, Effort.FINAL: 100}
#: Curves are fitted when their scores, after lines, exceed chance by this many standard deviations.
ASKED = 3.0
#: A new parent's curves count from this many standard deviations above chance, so many nats for each.
_CHANCE, _NATS_PER_DEVIATION = 2.0, 2.0
#: Curves with fewer effective coefficients than this in either predictor are lines.
_FLAT = 0.2
#: Strength with which a curve that was flat in a smaller model starts in a larger one.
_FLAT_STRENGTH = 30.0


def basis_width(n: int) -> int:
    """Return the number of basis columns of a parent in a table of n rows, its line included."""
    return int(np.clip(round(_PER_ROOT * n ** (1 / 3)), 3, MOST_COLUMNS))


def wide_width(n: int) -> int:
    """Return the number of basis columns where waves are fast."""
    return int(np.clip(round(_WIDE_PER_ROOT * n ** (1 / 3)), 3, MOST_WIDE_COLUMNS))


def smooth_basis(table: Table, column: int, width: int | None = None) -> tuple[ColumnSpline, Array]:
    """Return the basis of one column and its values at the rows of the table."""
    width = basis_width(table.shape[0]) if width is None else width
    return spline_of(table, column, width), basis_columns(table, column, width)


@dataclass(frozen=True)
class Fitted:
    """Fitted models with their residuals and log precisions (models, n)."""

    fits: list[LinearFit]
    residuals: Array
    log_precision: Array


@dataclass(frozen=True)
class Batch:
    """Models with the same number of parents, their designs, and what their starts know."""

    table: Table
    keys: Sequence[Key]
    width: int
    problem: SmoothProblem
    b: Array
    strengths: Array

    @classmethod
    def of(
        cls, table: Table, keys: Sequence[Key], starts: Sequence[Fit | None], width: int | None = None
    ) -> Batch:
        """Make the designs of several models, with `width` basis columns per parent."""
        n, k = table.shape[0], len(keys[0][1])
        width = basis_width(n) if width is None else width
        p = 1 + k * width
        Z, roughness = np.zeros((len(keys), p, n)), np.zeros((len(keys), p))
        Z[:, 0] = 1.0
        b, strengths = np.zeros((len(keys), p)), np.full((len(keys), 2, k), FIRST_STRENGTH)
        for i, (key, start) in enumerate(zip(keys, starts, strict=True)):
            for place, parent in enumerate(key[1]):
                spline, columns = smooth_basis(table, parent, width)
                own = slice(1 + place * width, 1 + place * width + len(columns))
                Z[i, own], roughness[i, own] = columns, spline.roughness
            if isinstance(start, LinearFit):
                _take_over(start, key, table, width, b[i], strengths[i])
        ridge = np.zeros((len(keys), 2, p))
        ridge[:, :, 1::width] = ridge_strength(n)
        problem = SmoothProblem(Z, table.take([j for j, _ in keys]), ridge, roughness, k)
        return cls(table, keys, width, problem, b, strengths)

    def lines(self, effort: Effort) -> Fitted:
        """Fit straight lines in mean and spread."""
        problem, some = self.problem, np.r_[0, 1 : self.b.shape[1] : self.width]
        straight = SmoothProblem(
            problem.Z[:, some], problem.Y, problem.ridge[:, :, some], problem.roughness[:, some], problem.parents
        )
        return self._fit(straight, self.b[:, some], np.full_like(self.strengths, np.inf), effort, self.keys)

    def curves(self, effort: Effort, of: Sequence[int], closed: tuple[int, int] | None = None) -> Fitted:
        """Fit curves in mean and spread for some of the models.

        `closed`, if given, is a predictor (0 for the mean, 1 for the spread) and the place of a parent without part in it.
        """
        problem = self.problem if len(of) == len(self.keys) else self.problem.take(np.asarray(of, dtype=np.intp))
        strengths = self.strengths[of]
        if closed is not None:
            (side, place), ridge = closed, problem.ridge.copy()
            ridge[:, side, 1 + place * self.width : 1 + (place + 1) * self.width] = CLOSED
            problem, strengths[:, side, place] = replace(problem, ridge=ridge), np.inf
        return self._fit(problem, self.b[of], strengths, effort, [self.keys[i] for i in of])

    def natural_curves(self, effort: Effort) -> Fitted:
        """Fit curves in the natural form, from none."""
        ridge = self.problem.ridge.copy()
        ridge[:, 0, 0] = ridge_strength(self.table.shape[0])  # this intercept competes with the location
        problem, b = replace(self.problem, ridge=ridge), np.zeros_like(self.b)
        return self._fit(problem, b, np.full_like(self.strengths, FIRST_STRENGTH), effort, self.keys, NATURAL)

    def bent(self, lines: Fitted) -> list[int]:
        """Return which models' residuals, after lines, ask for curves (score test)."""
        problem = self.problem
        if self.width < 2:
            return []
        h, e = np.exp(0.5 * lines.log_precision), lines.residuals
        excess = np.full(len(self.keys), -np.inf)
        square = problem.Z**2
        for first, second in ((h * e, h * h), (0.5 * (e * e - 1.0), np.full_like(e, 0.5))):
            u = np.matmul(problem.Z, first[:, :, None])[:, :, 0]
            # What is seen in rows far off the line is too large a variance, and would hide the curves.
            v = np.matmul(square, np.stack([first**2, second], axis=2)).min(axis=2)
            for place in range(problem.parents):
                own = slice(2 + place * self.width, 1 + (place + 1) * self.width)
                excess = np.maximum(excess, _deviations(u[:, own], v[:, own], problem.roughness[:, own]))
        return np.flatnonzero(excess > ASKED).tolist()

    def _fit(
        self,
        problem: SmoothProblem,
        b: Array,
        strengths: Array,
        effort: Effort,
        keys: Sequence[Key],
        form: Form = LOCATION_SCALE,
    ) -> Fitted:
        if not len(keys):
            return Fitted([], np.empty((0, problem.Y.shape[1])), np.empty((0, problem.Y.shape[1])))
        fit = fit_smoothly if form is LOCATION_SCALE else fit_natural_curves
        found = fit(problem, b, strengths, _ACCURACY[effort], _STEPS[effort])
        width = (b.shape[1] - 1) // max(problem.parents, 1)
        groups = [1 + k * width + np.arange(width) for k in range(problem.parents)]
        gains = [np.zeros((len(keys), 0))] * 2 if not groups else [
            wald_gains(found.mean, found.a, groups), wald_gains(found.spread, found.b, groups)
        ]  # fmt: skip
        fits = [
            self._result(form, key, i, found, width, (gains[0][i], gains[1][i]), effort) for i, key in enumerate(keys)
        ]
        return Fitted(fits, found.residuals, np.matmul(found.b[:, None, :], problem.Z)[:, 0])

    def _result(
        self,
        form: Form,
        key: Key,
        i: int,
        found: SmoothSolution,
        width: int,
        gains: tuple[Array, Array],
        effort: Effort,
    ) -> LinearFit:
        target, parents = key
        splines = [spline_of(self.table, j, self.width) for j in parents]
        curved = found.edf[i].max(axis=0) > _FLAT if width > 1 else np.zeros(len(parents), bool)
        widths = [min(spline.width, width) if bent else 1 for spline, bent in zip(splines, curved, strict=True)]
        rows = np.concatenate([[0], *(1 + k * width + np.arange(w) for k, w in enumerate(widths))]).astype(np.intp)
        columns = tuple(spline.leading(w) for spline, w in zip(splines, widths, strict=True))
        price = 0.5 * float(np.log(self.table.shape[0]) * found.edf[i].sum())
        return LinearFit(
            form, target, parents, float(found.loss[i]) + price, bool(found.converged[i]), gains[0] + gains[1],
            effort, np.concatenate([found.a[i, rows], found.b[i, rows], found.a[i, found.b.shape[1] :]]),
            SplineBasis(columns, tuple(widths)),
            np.where(curved, found.strengths[i], np.inf), edf=np.where(curved, found.edf[i], 0.0),
            spread_gain=float(gains[1].sum()),
        )  # fmt: skip


def _take_over(start: LinearFit, key: Key, table: Table, width: int, b: Array, strengths: Array) -> None:
    """Fill in what a model of some of the parents knows: its log precision, and its strengths in location-scale form.

    Curves of another table's basis are not taken over: their columns are not these.
    """
    own = start.theta[start.shape.spread]
    blocks = (
        start.basis.blocks if isinstance(start.basis, SplineBasis) else [slice(k + 1, k + 2) for k in range(len(own))]
    )
    b[0] = own[0]
    for number, parent in enumerate(start.parents):
        if parent not in key[1]:
            continue
        block, place = blocks[number], key[1].index(parent)
        first = 1 + place * width
        b[first] = own[block.start]
        if not isinstance(start.basis, SplineBasis) or start.strengths is None or start.form is not LOCATION_SCALE:
            continue
        known = start.strengths[:, number]
        strengths[:, place] = np.where(np.isfinite(known), known, _FLAT_STRENGTH)
        if np.array_equal(start.basis.columns[number].roughness, spline_of(table, parent, width).roughness):
            b[first : first + block.stop - block.start] = own[block]


def _deviations(u: Array, v: Array, roughness: Array) -> Array:
    """Return by how many standard deviations the scores u of curves exceed chance, smooth ones weighing most.

    `sum(u^2 / roughness)` minus its expectation is the slope of the marginal likelihood at infinite strength. The plain sum
    sees fast waves.
    """
    v = np.maximum(v, 1e-300)
    weights = np.where(roughness > 0.0, 1.0 / np.maximum(roughness, 1e-300), 0.0)
    smooth = ((u**2 - v) * weights).sum(axis=-1) / np.sqrt(2.0 * ((v * weights) ** 2).sum(axis=-1) + 1e-300)
    there = weights > 0.0
    plain = (np.where(there, u**2 / v, 0.0).sum(axis=-1) - there.sum(axis=-1)) / np.sqrt(
        2.0 * there.sum(axis=-1) + 1e-9
    )
    return np.asarray(np.maximum(smooth, plain))


def promises(table: Table, first: Array, second: Array, curves: bool) -> Array:
    """Return (models, d) the gain (nats) that the scores of every column's line and curves promise.

    `first` and `second` (2 models, n) hold derivatives of the rows' losses by the mean and by the spread, in turn. Variances
    of scores are the smaller of what is seen in the rows and what is expected.
    """
    models, d = len(first) // 2, table.shape[1]
    out, square = np.empty((models, d)), first**2
    for j in range(d):
        spline, columns = smooth_basis(table, j)
        basis = columns if curves else columns[:1]
        u, squares = first @ basis.T, (basis * basis).T
        v = np.minimum(square @ squares, second @ squares)
        total = 0.5 * u[:, 0] ** 2 / np.maximum(v[:, 0], 1e-300)
        if len(basis) > 1:
            over = _deviations(u[:, 1:], v[:, 1:], spline.roughness[1:]) - _CHANCE
            total += _NATS_PER_DEVIATION * np.maximum(over, 0.0)
        out[:, j] = total.reshape(models, 2).sum(axis=1)
    return out
