"""Models with lines or smooth curves: batches for `core.location_scale`, from variables and their parents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from heterodag.core.gaussian import LOCATION_SCALE, NATURAL, Array, Form, Index, Mask
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
#: The same if waves are fast, or if a curve has more effective coefficients than this share of the columns above.
MOST_WIDE_COLUMNS, _WIDE_PER_ROOT, FULL = 24, 2.4, 0.9
#: Accuracy in nats, and steps, by effort.
_ACCURACY = {Effort.ROUND: 0.3, Effort.SEARCH: 0.1, Effort.FINAL: 0.01}
_STEPS = {Effort.ROUND: 25, Effort.SEARCH: 40, Effort.FINAL: 100}
#: Curves are fitted if their scores, after lines, exceed chance by this many standard deviations.
ASKED = 3.0
#: In a model that gets curves, parents get them if their own score exceeds chance by this many standard deviations.
JOIN = 1.0
#: The same for waves that are too fast for the narrow basis.
FAST = 5.0
#: Standard deviations above chance from which a new parent's curves count, and nats per further standard deviation.
_CHANCE, _NATS_PER_DEVIATION = 2.0, 2.0
#: With more columns than this, fewer nats per standard deviation: those of a single coefficient. Then a share of 6
#: exp(-7) of all pairs of unrelated columns promises more than 7 nats. With 2 nats per deviation the share is 38
#: exp(-7) (measured in a test), and every variable of a wide table would have dozens of parents to try.
WIDE, WIDE_NATS_PER_DEVIATION = 50, 0.7
#: Promised gains are computed for blocks of columns with at most this many numbers, which fit a processor's cache.
_BLOCK_FLOATS = 2**17
#: Curves with fewer effective coefficients than this in either predictor count as lines.
_FLAT = 0.2
#: Initial strength, in a larger model, of a curve that was flat in a smaller one.
_FLAT_STRENGTH = 30.0


def basis_width(n: int) -> int:
    """Return the number of basis columns of a parent in a table of n rows, its line included."""
    return int(np.clip(round(_PER_ROOT * n ** (1 / 3)), 3, MOST_COLUMNS))


def wide_width(n: int) -> int:
    """Return the number of basis columns if waves are fast."""
    return int(np.clip(round(_WIDE_PER_ROOT * n ** (1 / 3)), 3, MOST_WIDE_COLUMNS))


def smooth_basis(table: Table, column: int, width: int | None = None) -> tuple[ColumnSpline, Array]:
    """Return the basis of one column and its values at the rows of the table."""
    width = basis_width(table.shape[0]) if width is None else width
    return spline_of(table, column, width), basis_columns(table, column, width)


@dataclass(frozen=True)
class Fitted:
    """Fitted models with their residuals and, in location-scale form, log precisions (models, n)."""

    fits: list[LinearFit]
    residuals: Array
    log_precision: Array | None = None

    def derivatives(self) -> list[tuple[Array, Array]]:
        """Return first and second derivatives of the rows' losses by mean and log precision (location-scale form)."""
        assert self.log_precision is not None
        h, e = np.exp(0.5 * self.log_precision), self.residuals
        return [(h * e, h * h), (0.5 * (e * e - 1.0), np.full_like(e, 0.5))]

    def full(self, widths: Index) -> Mask:
        """Return (models, parents) whether a parent's curves use nearly all of their `widths` basis columns."""
        edf = np.array([np.zeros(widths.shape[1]) if fit.edf is None else fit.edf.max(axis=0) for fit in self.fits])
        return np.asarray((widths > 1) & (edf > FULL * (widths - 1)))


@dataclass(frozen=True)
class Batch:
    """Models with the same number of parents, their designs, and what is known from their starts.

    `first` and `widths` (models, parents) say where the basis columns of a parent begin, and how many there are.
    """

    table: Table
    keys: Sequence[Key]
    first: Index
    widths: Index
    problem: SmoothProblem
    b: Array
    strengths: Array

    @classmethod
    def of(
        cls, table: Table, keys: Sequence[Key], starts: Sequence[Fit | None], widths: Index | None = None
    ) -> Batch:
        """Make the designs of several models; `widths` are those of the narrow basis by default."""
        n, m, k = table.shape[0], len(keys), len(keys[0][1])
        widths = np.full((m, k), basis_width(n)) if widths is None else widths
        first = 1 + np.cumsum(widths, axis=1) - widths
        p = 1 + int(widths.sum(axis=1).max())
        Z, roughness, ridge = np.zeros((m, p, n)), np.zeros((m, k, p)), np.zeros((m, 2, p))
        Z[:, 0] = 1.0
        b, strengths = np.zeros((m, p)), np.full((m, 2, k), FIRST_STRENGTH)
        for i, (key, start) in enumerate(zip(keys, starts, strict=True)):
            for place, parent in enumerate(key[1]):
                width = int(widths[i, place])
                spline, columns = smooth_basis(table, parent, None if width == 1 else width)
                own = slice(first[i, place], first[i, place] + len(columns[:width]))
                Z[i, own], roughness[i, place, own] = columns[:width], spline.roughness[:width]
            ridge[i, :, first[i]] = ridge_strength(n)
            if isinstance(start, LinearFit):
                _take_over(start, key, table, (first[i], widths[i]), b[i], strengths[i])
        problem = SmoothProblem(Z, table.take([j for j, _ in keys]), ridge, roughness)
        return cls(table, keys, first, widths, problem, b, strengths)

    def take(self, some: Sequence[int]) -> Batch:
        """Return some of the models."""
        if len(some) == len(self.keys):
            return self
        at = np.asarray(some, dtype=np.intp)
        return Batch(
            self.table, [self.keys[i] for i in some], self.first[at], self.widths[at], self.problem.take(at),
            self.b[at], self.strengths[at],
        )  # fmt: skip

    def straight(self) -> Batch:
        """Return the models without curves."""
        problem, m, k = self.problem, *self.first.shape
        at = np.arange(m)[:, None], np.column_stack([np.zeros(m, np.intp), self.first])
        lines = SmoothProblem(
            problem.Z[at], problem.Y, problem.ridge.transpose(0, 2, 1)[at].transpose(0, 2, 1), np.zeros((m, k, k + 1))
        )
        first = np.tile(np.arange(1, k + 1), (m, 1))
        return Batch(self.table, self.keys, first, np.ones_like(first), lines, self.b[at], np.full((m, 2, k), np.inf))

    def lines(self, effort: Effort) -> Fitted:
        """Fit straight lines in mean and spread."""
        straight = self.straight()
        return straight._fit(straight.problem, straight.b, straight.strengths, effort)

    def curves(self, effort: Effort, closed: tuple[int, int] | None = None) -> Fitted:
        """Fit curves in mean and spread.

        `closed`, if given, is a predictor (0 for the mean, 1 for the spread) and the position of a parent that is
        left out of it.
        """
        problem, strengths = self.problem, self.strengths
        if closed is not None:
            (side, place), ridge, strengths = closed, problem.ridge.copy(), strengths.copy()
            for i, (first, width) in enumerate(zip(self.first[:, place], self.widths[:, place], strict=True)):
                ridge[i, side, first : first + width] = CLOSED
            problem, strengths[:, side, place] = replace(problem, ridge=ridge), np.inf
        return self._fit(problem, self.b, strengths, effort)

    def natural_curves(self, effort: Effort) -> Fitted:
        """Fit curves in the natural form, without a start."""
        ridge = self.problem.ridge.copy()
        ridge[:, 0, 0] = ridge_strength(self.table.shape[0])  # this intercept competes with the location
        problem, strengths = replace(self.problem, ridge=ridge), np.full_like(self.strengths, FIRST_STRENGTH)
        return self._fit(problem, np.zeros_like(self.b), strengths, effort, NATURAL)

    def bent(self, lines: Fitted) -> Array:
        """Return (models, parents) by how many standard deviations lines' residuals ask for curves (score test)."""
        problem = self.problem
        excess, square = np.full(self.widths.shape, -np.inf), problem.Z**2
        for first, second in lines.derivatives():
            u = np.matmul(problem.Z, first[:, :, None])[:, :, 0]
            # Rows far from the line make the observed variance too large, which would hide the curves.
            v = np.matmul(square, np.stack([first**2, second], axis=2)).min(axis=2)
            for place in range(self.widths.shape[1]):
                own = _deviations(u, v, problem.roughness[:, place])
                excess[:, place] = np.maximum(excess[:, place], own)
        return excess

    def _fit(
        self, problem: SmoothProblem, b: Array, strengths: Array, effort: Effort, form: Form = LOCATION_SCALE
    ) -> Fitted:
        fit = fit_smoothly if form is LOCATION_SCALE else fit_natural_curves
        found = fit(problem, b, strengths, _ACCURACY[effort], _STEPS[effort])
        gains = self._gains(found)
        fits = [self._result(form, i, found, gains[:, i], effort) for i in range(len(self.keys))]
        return Fitted(fits, found.residuals, np.matmul(found.b[:, None, :], problem.Z)[:, 0])

    def _gains(self, found: SmoothSolution) -> Array:
        """Return (2, models, parents) approximately what every parent contributes to mean and spread."""
        out = np.zeros((2, *self.widths.shape))
        for widths in np.unique(self.widths, axis=0):
            own = (self.widths == widths).all(axis=1)
            groups = [np.arange(width) + 1 + widths[:k].sum() for k, width in enumerate(widths)]
            if groups:
                out[0, own] = wald_gains(found.mean[own], found.a[own], groups)
                out[1, own] = wald_gains(found.spread[own], found.b[own], groups)
        return out

    def _result(self, form: Form, i: int, found: SmoothSolution, gains: Array, effort: Effort) -> LinearFit:
        (target, parents), most = self.keys[i], self.widths[i].tolist()
        splines = [smooth_basis(self.table, j, None if w == 1 else w)[0] for j, w in zip(parents, most, strict=True)]
        curved = found.edf[i].max(axis=0) > _FLAT
        widths = [min(own.width, w) if c else 1 for own, w, c in zip(splines, most, curved, strict=True)]
        blocks = [first + np.arange(width) for first, width in zip(self.first[i], widths, strict=True)]
        rows = np.concatenate([[0], *blocks]).astype(np.intp)
        columns = tuple(spline.leading(w) for spline, w in zip(splines, widths, strict=True))
        price = 0.5 * float(np.log(self.table.shape[0]) * found.edf[i].sum())
        return LinearFit(
            form, target, parents, float(found.loss[i]) + price, bool(found.converged[i]), gains.sum(axis=0),
            effort, np.concatenate([found.a[i, rows], found.b[i, rows], found.a[i, found.b.shape[1] :]]),
            SplineBasis(columns, tuple(widths)), np.where(curved, found.strengths[i], np.inf),
            edf=np.where(curved, found.edf[i], 0.0), spread_gain=float(gains[1].sum()),
        )  # fmt: skip


def _take_over(
    start: LinearFit, key: Key, table: Table, layout: tuple[Index, Index], b: Array, strengths: Array
) -> None:
    """Copy from a model of some of the parents: its log precision and, in location-scale form, its strengths.

    Curves of another basis are not copied: their columns are different.
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
        first, width = int(layout[0][place]), int(layout[1][place])
        b[first] = own[block.start]
        if not isinstance(start.basis, SplineBasis) or start.strengths is None or start.form is not LOCATION_SCALE:
            continue
        known = start.strengths[:, number]
        strengths[:, place] = np.where(np.isfinite(known), known, _FLAT_STRENGTH)
        if np.array_equal(start.basis.columns[number].roughness, spline_of(table, parent, width).roughness):
            b[first : first + block.stop - block.start] = own[block]


def fast_waves(table: Table, keys: Sequence[Key], rows: Sequence[Array]) -> Mask:
    """Return (models, parents) whether scores ask for waves of a parent that are too fast for the narrow basis.

    `rows` are, for the mean and for the spread, derivatives (models, n) of the rows' losses.
    """
    n, parents = table.shape[0], np.array([some for _, some in keys], dtype=np.intp)
    narrow, wide = basis_width(n), wide_width(n)
    asked = np.zeros(parents.shape, dtype=bool)
    for j in np.unique(parents):
        columns = smooth_basis(table, int(j), wide)[1][narrow:]
        if not len(columns):
            continue
        at, square = np.nonzero(parents == j), (columns * columns).T
        for first in rows:
            own = first[at[0]]
            # The observed variance is right whatever the noise; with the expected one, heavy tails would always ask.
            ratio = (own @ columns.T) ** 2 / np.maximum(own**2 @ square, 1e-300)
            asked[at] |= (ratio - 1.0).sum(axis=1) > FAST * np.sqrt(2.0 * len(columns))
    return asked


def _deviations(u: Array, v: Array, roughness: Array) -> Array:
    """Return by how many standard deviations the scores u of curves exceed chance; smooth curves weigh most.

    `sum(u^2 / roughness)` minus its expectation is the slope of the marginal likelihood at infinite strength. The
    plain sum sees fast waves.
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

    `first` and `second` (2 models, n) hold derivatives of the rows' losses, first by the mean, then by the spread.
    Variances of scores are the smaller of the observed and the expected ones.
    """
    models, (n, d) = len(first) // 2, table.shape
    out, square = np.empty((models, d)), first**2
    nats = _NATS_PER_DEVIATION if d <= WIDE else WIDE_NATS_PER_DEVIATION
    width = basis_width(n) if curves else 1
    at_once = max(1, _BLOCK_FLOATS // (width * n))
    for start in range(0, d, at_once):
        some = range(start, min(d, start + at_once))
        basis, roughness = _stacked(table, some, width)
        # One product per column, whatever the block, so that sums over rows are the same to the last bit.
        u, squares = np.matmul(first, basis), basis * basis
        v = np.minimum(np.matmul(square, squares), np.matmul(second, squares))
        total = 0.5 * u[:, :, 0] ** 2 / np.maximum(v[:, :, 0], 1e-300)
        if width > 1:
            over = _deviations(u[:, :, 1:], v[:, :, 1:], roughness[:, None, 1:]) - _CHANCE
            total += nats * np.maximum(over, 0.0)
        out[:, some] = total.reshape(len(some), models, 2).sum(axis=2).T
    return out


def _stacked(table: Table, columns: Sequence[int], width: int) -> tuple[Array, Array]:
    """Return basis columns (columns, n, width) and their roughness (columns, width), padded with zeros."""
    basis, roughness = np.zeros((len(columns), table.shape[0], width)), np.zeros((len(columns), width))
    for place, j in enumerate(columns):
        spline, own = smooth_basis(table, j)
        most = min(width, len(own))
        basis[place, :, :most], roughness[place, :most] = own[:most].T, spline.roughness[:most]
    return basis, roughness
