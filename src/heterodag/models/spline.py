"""Additive splines in both predictors: `A` and `s` are sums of smooth functions, one per predecessor.

Every predecessor is part of a fit with its straight line, as in the linear parametrisation. Its curves join when a
score test says that the likelihood wants them, in `A` and `s` with a smoothness penalty each whose strengths are chosen
by approximate marginal likelihood (`core.smoothing`); curves that end up almost flat leave again. Most pairs need no
curves, so most fits stay as small, as stable and as fast as linear ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from heterodag.core.design import Design
from heterodag.core.gaussian import Array, Index, Mask
from heterodag.core.score_test import efficient_scores
from heterodag.core.smoothing import PenaltyBlock, minimize_smoothly
from heterodag.core.solver import Coefficients, Solution, objective
from heterodag.core.splines import ColumnSpline, SplineBasis, column_spline
from heterodag.core.table import CACHE_BYTES, Table
from heterodag.models.fitted import Conditionals

if TYPE_CHECKING:
    from heterodag.models.conditional import ConditionalModel

#: Basis columns per predecessor, its line included: a multiple of the cube root of the rows, between these. Fewer
#: than 20 miss the faster waves of the paper's simulation (seeds below 1000); the penalty keeps the rest smooth.
FEWEST_COLUMNS, MOST_COLUMNS, _PER_ROOT = 4, 20, 1.6
#: Rows that decide on knots and curves, spread evenly over larger tables.
_ROWS_FOR_KNOTS = 20_000
#: Curves join when their score exceeds what chance gives by this many standard deviations, and leave when fewer
#: effective coefficients than this remain.
JOIN, LEAVE = 4.0, 1.0
#: Smoothest curves that join at a time; rougher ones join with them as far as their own scores are this large
#: (chi-square of one degree of freedom), or later, when the fit with the first ones asks for more.
_JOINING, _LARGE = 5, 25.0
#: A curve of which the penalty leaves less than this share is left out of the next fits.
_DEAD = 0.1
#: Times that new curves are looked for; each time those that join are fitted together.
_SWEEPS = 2
#: Strength that curves start with, in units in which a coefficient of 1 is large.
_FIRST_STRENGTH = 0.1
#: Predicted gain in mean log-likelihood and factor of strengths at which a fit ends (W sees nothing smaller), or ends well.
_QUICK, _THOROUGH, _MAX_ITERATIONS = (1e-4, 3.0), (1e-6, 1.5), 400
#: With more rows than this, new curves are first fitted on a coarse sample.
_COARSE_ROWS, _COARSE_TOLERANCE = 10_000, 1e-4


def basis_width(n: int) -> int:
    """Return the number of basis columns of a predecessor in a table of n rows, its line included."""
    return int(np.clip(round(_PER_ROOT * n ** (1 / 3)), FEWEST_COLUMNS, MOST_COLUMNS))


def spline_of(table: Table, column: int) -> ColumnSpline:
    """Return the spline basis of one standardised column: call it with values, (rows,) -> (k, rows), line first.

    Its `roughness` (k,) holds the relative penalty of every basis column. The basis is found once per table.
    """
    key = ("spline", column)
    if key not in table.memo:
        n = table.shape[0]
        x = table.take([column], slice(None, None, max(1, n // _ROWS_FOR_KNOTS)))[0]
        table.memo[key] = column_spline(x, basis_width(n))
    found: ColumnSpline = table.memo[key]
    return found


def spline_basis(table: Table, predecessors: Sequence[int], widths: Sequence[int] | None = None) -> SplineBasis:
    """Return the design of several predecessors, each with all its basis columns or the first `widths`."""
    columns = tuple(spline_of(table, j) for j in predecessors)
    most = [column.width for column in columns]
    return SplineBasis(columns, tuple(most if widths is None else map(min, most, widths)))


def basis_columns(table: Table, column: int) -> Array:
    """Return the spline basis of one standardised column at its own rows, (k, rows); made once per table."""
    key = ("spline columns", column)
    if key not in table.memo:
        table.memo[key] = spline_of(table, column)(table.take([column])[0])
    made: Array = table.memo[key]
    return made


def made_design(table: Table, predecessors: Sequence[int], widths: Sequence[int]) -> Array | None:
    """Return the design of `spline_basis` from basis columns that are kept with the table; None if it is large."""
    n = table.shape[0]
    if table.cached is None or n * table.shape[1] * basis_width(n) * 8 > CACHE_BYTES:
        return None
    Z = np.ones((1 + sum(widths), n))
    end = 1
    for j, width in zip(predecessors, widths, strict=True):
        Z[end : end + width] = basis_columns(table, j)[:width]
        end += width
    return Z


@dataclass(frozen=True)
class SplineDesign:
    """The part of the full spline design that one target uses: all lines, and the curves that have joined.

    Attributes
    ----------
    design : rows `rows` of the full design, for this target alone.
    shape : layout of its coefficients.
    basis : of the design.
    coefficients : where these sit among the coefficients of the full design.
    curves : per predecessor with curves, its position and its design rows (curves only).
    """

    design: Design
    shape: Coefficients
    basis: SplineBasis
    coefficients: Index
    curves: dict[int, Index]

    @classmethod
    def make(
        cls, form: str, table: Table, predecessors: Sequence[int], target: int, widths: Sequence[int]
    ) -> SplineDesign:
        """Return the design of a target with the first `widths` basis columns of each predecessor."""
        full, basis = spline_basis(table, predecessors), spline_basis(table, predecessors, widths)
        kept = [np.arange(b.start, b.start + w) for b, w in zip(full.blocks, basis.widths, strict=True)]
        rows = np.concatenate([[0], *kept]).astype(np.intp)
        made = made_design(table, predecessors, basis.widths)
        design = Design(table, tuple(predecessors), (target,), basis, wide=True, made=made)
        curves = {k: np.arange(b.start + 1, b.stop) for k, b in enumerate(basis.blocks) if b.stop - b.start > 1}
        coefficients = Coefficients(form, full.width).embed(rows)
        return cls(design, Coefficients(form, design.width), basis, coefficients, curves)

    def line_ridge(self, strength: float) -> Array:
        """Return the ridge (size, 1) of the lines; curves have none."""
        ridge = self.shape.ridge(strength / self.design.n_rows)
        for rows in self.curves.values():
            ridge[rows] = ridge[self.shape.width + rows] = 0.0
        return ridge

    def penalties(self) -> list[PenaltyBlock]:
        """Return the penalties of the curves: for each predecessor that of `A`, then that of `s`."""
        p, weights = self.shape.width, self.basis.roughness
        return [PenaltyBlock(rows + part * p, weights[rows]) for rows in self.curves.values() for part in (0, 1)]


def fit_splines(
    lines: ConditionalModel,
    table: Table,
    predecessors: Sequence[int],
    targets: Sequence[int],
    previous: Conditionals | None = None,
    thorough: bool = False,
) -> Conditionals:
    """Fit every target given the same predecessors.

    Parameters
    ----------
    lines : ConditionalModel
        The linear model: its form, and its ridge for the lines.
    table : Table
        Standardised data.
    predecessors, targets : sequences of column indices
        What predicts, what is predicted.
    previous : Conditionals, optional
        Fits of these targets (and others) given the first of these predecessors, to start from.
    thorough : bool
        Start from several points, as in `ConditionalModel.fit`.
    """
    fits = _Fits(lines, table, tuple(predecessors), tuple(targets), _THOROUGH if thorough else _QUICK)
    if previous is not None:
        fits.take_over(previous)
    straight = [i for i in range(len(targets)) if not (fits.widths[:, i] > 1).any()]
    fits.solve_lines(straight, thorough and previous is None)
    for i in sorted(set(range(len(targets))) - set(straight)):
        fits.solve_curves(i)
    pending = list(range(len(targets)))
    for _ in range(_SWEEPS):
        pending = fits.add_curves(pending)
    if thorough:
        fits.settle()
    return fits.result()


@dataclass
class _Fits:
    """Fits under way: coefficients in the layout of the full design, strengths infinite where there are no curves."""

    lines: ConditionalModel
    table: Table
    predecessors: tuple[int, ...]
    targets: tuple[int, ...]
    until: tuple[float, float]
    theta: Array = field(init=False)
    strengths: Array = field(init=False)
    objective: Array = field(init=False)
    converged: Mask = field(init=False)

    def __post_init__(self) -> None:
        m, self.form = len(self.targets), self.lines.form
        self.basis = spline_basis(self.table, self.predecessors)
        self.shape = Coefficients(self.form, self.basis.width)
        self.theta, self.strengths = np.zeros((self.shape.size, m)), np.full((2, len(self.predecessors), m), np.inf)
        self.widths = np.ones((len(self.predecessors), m), dtype=np.intp)
        self.objective, self.converged = np.zeros(m), np.ones(m, bool)
        self.left = np.zeros((len(self.predecessors), m), bool)

    def take_over(self, previous: Conditionals) -> None:
        kept = [previous.targets.index(t) for t in self.targets]
        width = (len(previous.theta) - (self.form == "natural")) // 2
        self.theta[self.shape.embed(np.arange(width))] = previous.theta[:, kept]
        if previous.strengths is not None and previous.widths is not None:
            self.strengths[:, : len(previous.predecessors)] = previous.strengths[:, :, kept]
            self.widths[: len(previous.predecessors)] = previous.widths[:, kept]

    def solve_lines(self, which: list[int], thorough: bool) -> None:
        """Fit targets without curves, all at once."""
        if not which:
            return
        own = self.shape.embed(np.array([0, *(b.start for b in self.basis.blocks)], dtype=np.intp))
        there = np.ix_(own, np.array(which))
        targets = [self.targets[i] for i in which]
        found = self.lines.fit_lines(self.table, self.predecessors, targets, self.theta[there], thorough=thorough)
        self.theta[there] = found.theta
        self.objective[which], self.converged[which] = found.objective, found.converged

    def solve_curves(self, i: int, coarse_first: bool = False) -> None:
        """Fit one target with its curves and choose their strengths; drop curves that end up almost flat."""
        widths = self.widths[:, i].tolist()
        part = SplineDesign.make(self.form, self.table, self.predecessors, self.targets[i], widths)
        start, ridge = self.theta[part.coefficients, i][:, None], part.line_ridge(self.lines.ridge)
        strengths = np.array([[self.strengths[side, k, i]] for k in part.curves for side in (0, 1)])
        if coarse_first and part.design.n_rows > _COARSE_ROWS:
            start, strengths = _coarse_start(part, start, ridge, strengths)
        found, strengths, edf = minimize_smoothly(
            part.design, part.shape, start, ridge, part.penalties(), strengths, self.until[0], _MAX_ITERATIONS, self.until[1]
        )  # fmt: skip
        self.theta[part.coefficients, i] = found.theta[:, 0]
        self.objective[i], self.converged[i] = found.objective[0], found.converged[0]
        for number, k in enumerate(part.curves):
            own = slice(2 * number, 2 * number + 2)
            if edf[own].max() >= LEAVE:
                self.strengths[:, k, i] = strengths[own, 0]
                self._trim(i, k, _alive(found, part.penalties()[own], strengths[own, 0], part.design.n_rows))
            else:
                self._drop(i, k)

    def _trim(self, i: int, k: int, curves: int) -> None:
        """Keep the first curves of a predecessor: the penalty leaves nothing of the rest."""
        block = self.basis.blocks[k]
        rest = self.shape.of_block(slice(block.start + 1 + curves, block.stop))
        self.theta[rest, i], self.widths[k, i] = 0.0, 1 + curves

    def settle(self) -> None:
        """Fit the targets again whose last curves to leave were not yet made up for by the others."""
        for i in np.flatnonzero(self.left.any(axis=0)).tolist():
            if (self.widths[:, i] > 1).any():
                self.solve_curves(i)
            else:
                self.solve_lines([i], thorough=False)

    def _drop(self, i: int, k: int) -> None:
        block = self.basis.blocks[k]
        curves = self.shape.of_block(slice(block.start + 1, block.stop))
        self.theta[curves, i], self.strengths[:, k, i], self.widths[k, i], self.left[k, i] = 0.0, np.inf, 1, True

    def add_curves(self, which: list[int]) -> list[int]:
        """Fit the curves that the score test asks for; return the targets that got some."""
        if not which or not self.predecessors:
            return []
        wanted = np.maximum(self._wanted_widths(which), self.widths[:, which])
        changed = []
        for position, i in enumerate(which):
            new = (wanted[:, position] > self.widths[:, i]) & ~self.left[:, i]
            if new.any():
                self.strengths[:, new & (self.widths[:, i] == 1), i] = _FIRST_STRENGTH
                self.widths[new, i] = wanted[new, position]
                self.solve_curves(i, coarse_first=True)
                changed.append(i)
        return changed

    def _wanted_widths(self, which: list[int]) -> Index:
        """Return how many basis columns of each predecessor the scores ask for, (k, m); 0 if they ask for nothing.

        The statistic is the slope of the marginal likelihood at infinite strength of the columns not in use yet,
        `sum(u^2 / roughness)` minus its expectation; fast waves have no weight in it and join by the plain sum. The
        variances of the scores `u` are the smaller of those seen in the rows and those expected: where a few rows fit
        badly the former are too large, where the model is still wrong the latter can be.
        """
        u, v = self._scores(which)
        out = np.zeros((len(self.predecessors), len(which)), dtype=np.intp)
        for k, b in enumerate(self.basis.blocks):
            curves = slice(b.start + 1, b.stop)
            if b.stop - b.start > 1:
                used = self.widths[k, which] - 1
                wanted = _wanted_curves(u[:, :, curves], v[:, :, curves], self.basis.roughness[curves], used)
                out[k] = np.where(wanted > 0, wanted + 1, 0)
        return out

    def _scores(self, which: list[int]) -> tuple[Array, Array]:
        """Return the scores of all basis columns in `A` and `s` and their efficient variances, (2, m, width)."""
        made, pairs = made_design(self.table, self.predecessors, self.basis.widths), []
        for i in which:
            design = Design(self.table, self.predecessors, (self.targets[i],), self.basis, wide=True, made=made)
            pairs.append(efficient_scores(design, self.shape, self.theta[:, [i]], self._used(i)))
        return np.stack([u for u, _ in pairs], axis=1), np.stack([v for _, v in pairs], axis=1)

    def _used(self, i: int) -> Index:
        """Return the columns of the full design that a target uses."""
        own = zip(self.basis.blocks, self.widths[:, i], strict=True)
        return np.concatenate([[0], *(np.arange(b.start, b.start + width) for b, width in own)]).astype(np.intp)

    def result(self) -> Conditionals:
        return Conditionals(
            self.form, self.predecessors, self.targets, self.theta, self.objective, self.converged,
            self.basis, self.strengths, self.widths,
        )  # fmt: skip


def _alive(found: Solution, pair: Sequence[PenaltyBlock], strengths: Array, n: int) -> int:
    """Return how many curves of a predecessor, smoothest first, its penalties in `A` and `s` leave alive."""
    diagonal = found.information[0].diagonal()
    shares = [1.0 - s * b.weights / (n * diagonal[b.index]) for b, s in zip(pair, strengths, strict=True)]
    alive = np.flatnonzero(np.maximum(*shares) > _DEAD)
    return int(alive[-1]) + 1 if len(alive) else 1


def _wanted_curves(u: Array, v: Array, roughness: Array, used: Index) -> Index:
    """Return how many curves of one predecessor the scores u (2, m, curves) of variances v ask for, (m,)."""
    v, weights = np.maximum(v, 1e-300), 1.0 / roughness
    unused = np.arange(len(roughness)) >= used[:, None]
    ratio = np.where(unused, u**2 / v, 0.0)
    excess = np.where(unused, (u**2 - v) * weights, 0.0).sum(axis=2)
    spread = np.sqrt(np.where(unused, 2.0 * (v * weights) ** 2, 0.0).sum(axis=2))
    flat = (ratio - unused).sum(axis=2)
    joins = (excess > JOIN * np.maximum(spread, 1e-300)) | (flat > JOIN * np.sqrt(2.0 * unused.sum(axis=1)))
    large = np.asarray((ratio > _LARGE).any(axis=0))
    reach = np.where(large.any(axis=1), large.shape[1] - np.argmax(large[:, ::-1], axis=1) + 1, 0)
    wanted = np.minimum(np.maximum(reach, used + _JOINING), len(roughness))
    return np.asarray(np.where(joins.any(axis=0), wanted, 0), dtype=np.intp)


def only_its_curves(fitted: Conditionals) -> Conditionals:
    """Return the fit of a single target in a design without the curves it does not have: the same predictors."""
    basis, used = fitted.basis, fitted.widths
    if not isinstance(basis, SplineBasis) or used is None:
        return fitted
    widths = tuple(used[:, 0].tolist())
    kept = [np.arange(b.start, b.start + width) for b, width in zip(basis.blocks, widths, strict=True)]
    rows = np.concatenate([[0], *kept]).astype(np.intp)
    columns = tuple(own.leading(width) for own, width in zip(basis.columns, widths, strict=True))
    theta = fitted.theta[Coefficients(fitted.form, basis.width).embed(rows)]
    return replace(fitted, theta=theta, basis=SplineBasis(columns, widths))


def summed_curves(fitted: Conditionals) -> Conditionals:
    """Return the fit of a single target with one curve per predecessor and predictor, its sum of curves.

    The same predictors, from a tenth of the basis columns: what evaluates a fit many times wants this one.
    """
    basis = fitted.basis
    if not isinstance(basis, SplineBasis):
        return fitted
    a, b, location = np.split(fitted.theta[:, 0], [basis.width, 2 * basis.width])
    columns, sides = [], (a[:1].tolist(), b[:1].tolist())
    for column, block in zip(basis.columns, basis.blocks, strict=True):
        columns.append(column.combined(np.column_stack([a[block][1:], b[block][1:]])))
        for side, (theta, own) in enumerate(zip((a, b), sides, strict=True)):
            own.append(theta[block.start])
            own.extend(float(k == side) for k in range(columns[-1].width - 1))
    flat = np.concatenate([*sides, location])[:, None]
    return replace(
        fitted, theta=flat, basis=SplineBasis(tuple(columns), tuple(c.width for c in columns)), strengths=None
    )


def curve_penalties(fitted: Conditionals) -> Array:
    """Return the smoothness penalty of every coefficient of a single target, on the scale of sums over rows.

    Strength times roughness for curves; 0 for lines, intercepts and the location, and in linear fits.
    """
    out = np.zeros(len(fitted.theta))
    basis, strengths = fitted.basis, fitted.strengths
    if isinstance(basis, SplineBasis) and strengths is not None:
        for k, block in enumerate(basis.blocks):
            rows = np.arange(block.start + 1, block.stop)
            for side, strength in enumerate(strengths[:, k, 0]):
                if np.isfinite(strength):
                    out[rows + side * basis.width] = strength * basis.roughness[rows]
    return out


def _coarse_start(part: SplineDesign, start: Array, ridge: Array, strengths: Array) -> tuple[Array, Array]:
    """Return coefficients and strengths found on a sample of the rows, if they suit all of them."""
    step = part.design.n_rows // _COARSE_ROWS + 1
    found, moved, _ = minimize_smoothly(
        part.design.thin(step), part.shape, start, ridge * step, part.penalties(), strengths, _COARSE_TOLERANCE,
        _MAX_ITERATIONS,
    )  # fmt: skip
    before, after = (objective(part.design, part.shape, theta, ridge) for theta in (start, found.theta))
    return (found.theta, moved) if after[0] < before[0] else (start, strengths)
