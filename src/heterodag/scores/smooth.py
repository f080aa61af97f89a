"""Location-scale models with lines or smooth curves: batches of `core.location_scale` for variables and their parents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from heterodag.core.gaussian import LOCATION_SCALE, Array
from heterodag.core.location_scale import CLOSED, FIRST_STRENGTH, SmoothProblem, SmoothSolution, fit_smoothly
from heterodag.core.splines import ColumnSpline, SplineBasis, column_spline
from heterodag.core.table import Table
from heterodag.core.wald import wald_gains
from heterodag.scores.fit import Effort, Fit, Key, LinearFit
from heterodag.scores.ridge import ridge_strength

#: Basis columns per parent, its line included: at most this many, fewer with few rows.
MOST_COLUMNS, _PER_ROOT = 8, 1.2
#: Rows that decide on knots and curves, spread evenly over larger tables.
_ROWS_FOR_KNOTS = 20_000
#: Accuracy in nats, and steps, by effort.
_ACCURACY = {Effort.ROUND: 0.3, Effort.SEARCH: 0.1, Effort.FINAL: 0.01}
_STEPS = {Effort.ROUND: 25, Effort.SEARCH: 40, Effort.FINAL: 100}
#: Curves with fewer effective coefficients than this in either predictor are lines.
_FLAT = 0.2


def basis_width(n: int) -> int:
    """Return the number of basis columns of a parent in a table of n rows, its line included."""
    return int(np.clip(round(_PER_ROOT * n ** (1 / 3)), 3, MOST_COLUMNS))


def smooth_basis(table: Table, column: int) -> tuple[ColumnSpline, Array]:
    """Return the basis of one column and its values at the rows of the table, made once per table."""
    key = ("smooth basis", column)
    if key not in table.memo:
        n = table.shape[0]
        spline = column_spline(table.take([column], slice(None, None, max(1, n // _ROWS_FOR_KNOTS)))[0], basis_width(n))
        table.memo[key] = spline, spline(table.take([column])[0])
    found: tuple[ColumnSpline, Array] = table.memo[key]
    return found


@dataclass(frozen=True)
class Batch:
    """Models with the same number of parents, their designs, and what their starts know."""

    table: Table
    keys: Sequence[Key]
    problem: SmoothProblem
    b: Array
    strengths: Array

    @classmethod
    def of(cls, table: Table, keys: Sequence[Key], starts: Sequence[Fit | None]) -> Batch:
        """Make the designs of several models."""
        n, k = table.shape[0], len(keys[0][1])
        width = basis_width(n)
        p = 1 + k * width
        Z, roughness = np.zeros((len(keys), p, n)), np.zeros((len(keys), p))
        Z[:, 0] = 1.0
        b, strengths = np.zeros((len(keys), p)), np.full((len(keys), 2, k), FIRST_STRENGTH)
        for i, (key, start) in enumerate(zip(keys, starts, strict=True)):
            for place, parent in enumerate(key[1]):
                spline, columns = smooth_basis(table, parent)
                own = slice(1 + place * width, 1 + place * width + len(columns))
                Z[i, own], roughness[i, own] = columns, spline.roughness
            if isinstance(start, LinearFit):
                _take_over(start, key, table, width, b[i], strengths[i])
        ridge = np.zeros((len(keys), 2, p))
        ridge[:, :, 1::width] = ridge_strength(n)
        return cls(table, keys, SmoothProblem(Z, table.take([j for j, _ in keys]), ridge, roughness, k), b, strengths)

    @property
    def width(self) -> int:
        """Basis columns per parent."""
        return basis_width(self.table.shape[0])

    def curves(self, effort: Effort) -> list[LinearFit]:
        """Fit curves in mean and spread."""
        return self._fit(self.problem, self.b, self.strengths, effort)

    def constant_spread(self, effort: Effort) -> list[LinearFit]:
        """Fit curves in the mean, and a spread that no parent moves."""
        ridge = self.problem.ridge.copy()
        ridge[:, 1, 1:] = CLOSED
        strengths = self.strengths.copy()
        strengths[:, 1] = np.inf
        fits = self._fit(replace(self.problem, ridge=ridge), np.zeros_like(self.b), strengths, effort)
        # The price of a parent is that of two coefficients; one of them is not used.
        saved = 0.5 * float(np.log(self.table.shape[0])) * self.problem.parents
        return [replace(fit, loss=fit.loss - saved) for fit in fits]

    def lines(self, effort: Effort) -> list[LinearFit]:
        """Fit straight lines in mean and spread."""
        problem, some = self.problem, np.r_[0, 1 : self.b.shape[1] : self.width]
        straight = SmoothProblem(
            problem.Z[:, some], problem.Y, problem.ridge[:, :, some], problem.roughness[:, some], problem.parents
        )
        return self._fit(straight, self.b[:, some], np.full_like(self.strengths, np.inf), effort)

    def _fit(self, problem: SmoothProblem, b: Array, strengths: Array, effort: Effort) -> list[LinearFit]:
        found = fit_smoothly(problem, b, strengths, _ACCURACY[effort], _STEPS[effort])
        width = (b.shape[1] - 1) // max(problem.parents, 1)
        contributions = _contributions(found, problem.parents, width)
        price = 0.5 * float(np.log(self.table.shape[0]))
        return [
            self._result(i, found, width, contributions[i], price, effort) for i in range(len(self.keys))
        ]

    def _result(
        self, i: int, found: SmoothSolution, width: int, contributions: Array, price: float, effort: Effort
    ) -> LinearFit:
        target, parents = self.keys[i]
        splines = [smooth_basis(self.table, j)[0] for j in parents]
        curved = found.edf[i].max(axis=0) > _FLAT if width > 1 else np.zeros(len(parents), bool)
        widths = [min(spline.width, width) if bent else 1 for spline, bent in zip(splines, curved, strict=True)]
        rows = np.concatenate([[0], *(1 + k * width + np.arange(w) for k, w in enumerate(widths))]).astype(np.intp)
        columns = tuple(spline.leading(w) for spline, w in zip(splines, widths, strict=True))
        return LinearFit(
            LOCATION_SCALE, target, parents, float(found.loss[i] + price * found.edf[i].sum()), bool(found.converged[i]),
            contributions, effort, np.concatenate([found.a[i, rows], found.b[i, rows]]),
            SplineBasis(columns, tuple(widths)), np.where(curved, found.strengths[i], np.inf),
        )  # fmt: skip


def _take_over(start: LinearFit, key: Key, table: Table, width: int, b: Array, strengths: Array) -> None:
    """Fill in what a model of some of the parents knows: its log precision, and its strengths in location-scale form."""
    own = start.theta[start.shape.spread]
    b[0] = own[0]
    blocks = start.basis.blocks if isinstance(start.basis, SplineBasis) else [slice(k + 1, k + 2) for k in range(len(start.parents))]
    for number, (parent, block) in enumerate(zip(start.parents, blocks, strict=True)):
        if parent not in key[1]:
            continue
        place = key[1].index(parent)
        b[1 + place * width] = own[block.start]
        if start.strengths is not None and start.form is LOCATION_SCALE and isinstance(start.basis, SplineBasis):
            known = start.strengths[:, number]
            strengths[:, place] = np.where(np.isfinite(known), known, 30.0)
            if start.basis.columns[number] is smooth_basis(table, parent)[0]:
                b[1 + place * width : 1 + place * width + block.stop - block.start] = own[block]


def _contributions(found: SmoothSolution, parents: int, width: int) -> Array:
    """Return (m, parents) about how much loss each parent takes away."""
    groups = [1 + k * width + np.arange(width) for k in range(parents)]
    if not groups:
        return np.zeros((len(found.a), 0))
    return wald_gains(found.mean, found.a, groups) + wald_gains(found.spread, found.b, groups)
