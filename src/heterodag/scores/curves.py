"""Curves: additive splines in both predictors; `A` and `s` are sums of smooth functions, one per parent.

Every parent enters a model with its straight line, as in the linear parametrisation. Its curves join if a score test
says that they raise the likelihood. They have one smoothness penalty in `A` and one in `s`, whose strengths are
chosen by approximate marginal likelihood (`core.smoothing`); curves that end up almost flat leave again. Most pairs
need no curves, so most models stay as small, as stable and as fast as linear ones.

The loss of a model is its penalised loss plus half of ln n for every effective coefficient of its curves; lines are
covered by the price per parent. New parents are screened by the scores of their lines and of their curves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from heterodag.core.design import Design
from heterodag.core.gaussian import Array, Form, Index, row_derivatives
from heterodag.core.layout import Coefficients
from heterodag.core.score_test import efficient_scores
from heterodag.core.smoothing import PenaltyBlock, minimize_smoothly
from heterodag.core.solver import Solution, information
from heterodag.core.splines import SplineBasis
from heterodag.core.table import Table
from heterodag.core.wald import wald_gains
from heterodag.scores.drop_one import DropOne
from heterodag.scores.fit import Effort, Fit, Key, LinearFit
from heterodag.scores.lines import LineFitter
from heterodag.scores.ridge import ridge_strength
from heterodag.scores.spline_design import (
    SplineDesign,
    basis_columns,
    curve_penalties,
    ready_design,
    spline_basis,
    spline_of,
)

#: Curves join if their score exceeds chance by this many standard deviations, and leave if fewer effective
#: coefficients than this remain.
JOIN, LEAVE = 4.0, 1.0
#: Number of smoothest curves that join at a time. Rougher ones join with them if their own scores are this large
#: (chi-square of one degree of freedom), or later, if the fit with the first ones asks for more.
_JOINING, _LARGE = 5, 25.0
#: A curve is left out of the next fits if its penalty leaves less than this share of it.
_LEAST_SHARE = 0.1
#: How often new curves are sought; each time those that join are fitted together.
_SWEEPS = 2
#: Initial strength of curves, in units in which a coefficient of 1 is large.
_FIRST_STRENGTH = 0.1
#: A fit ends when its next step predicts a smaller gain in mean log-likelihood than the first number, and would
#: change every strength by less than the second, a factor.
_UNTIL = {Effort.ROUND: (1e-4, 3.0), Effort.SEARCH: (1e-6, 1.5), Effort.FINAL: (1e-6, 1.5)}
_MAX_ITERATIONS = 400
#: With more rows than this, new curves are first fitted on a sample of this size, to this tolerance.
_COARSE_ROWS, _COARSE_TOLERANCE = 10_000, 1e-4
#: Standard deviations above chance from which a curve's score counts, and nats per further standard deviation.
_CHANCE, _NATS_PER_DEVIATION = 2.0, 2.0
#: Models that are sent to a worker together; the bases of a table are computed once for all of them.
_TOGETHER = 4


@dataclass(frozen=True)
class CurveFitter:
    """Fits splines; has the fitter interface that `LocalScores` uses."""

    form: Form
    comparable = True
    estimates = True

    def batches(self, table: Table, keys: Iterable[Key]) -> Iterator[list[Key]]:
        """Cut models into small batches."""
        listed = list(keys)
        return (listed[start : start + _TOGETHER] for start in range(0, len(listed), _TOGETHER))

    gain_batches = batches

    def fit(self, table: Table, keys: Sequence[Key], starts: Sequence[Fit | None], effort: Effort) -> list[Fit]:
        """Fit models, each from its start if it has one."""
        return [_Model(self.form, table, key, effort).run(start) for key, start in zip(keys, starts, strict=True)]

    def gains(self, table: Table, fits: Sequence[Fit]) -> Array:
        """Return (models, d) what lines and curves of every column promise, not adjusted for the columns in use."""
        return np.array([_gains_of(table, fit) for fit in fits])

    def residuals(self, table: Table, fits: Sequence[Fit]) -> Array:
        """Return the standardised residuals (models, n)."""
        return np.array([fit.residuals(table) for fit in fits])

    def without(self, table: Table, key: Key, tested: Sequence[int]) -> DropOne:
        """Test, one at a time, the parents numbered `tested` of a model."""
        from heterodag.scores.drop_one_curves import drop_curves

        return drop_curves(self.form, table, key, tested)


class _Model:
    """A model under construction: its coefficients in `s`, in the layout of the full design, and its strengths.

    A parent without curves has infinite strengths and width 1.
    """

    def __init__(self, form: Form, table: Table, key: Key, effort: Effort) -> None:
        self.form, self.table, self.effort, (self.target, self.parents) = form, table, effort, key
        k = len(self.parents)
        self.full = spline_basis(table, self.parents)
        self.b = np.zeros(self.full.width)
        self.strengths, self.widths = np.full((2, k), np.inf), np.ones(k, dtype=np.intp)
        self.dropped = np.zeros(k, dtype=bool)

    def run(self, start: Fit | None) -> LinearFit:
        self._take_over(start)
        if (self.widths > 1).any():
            self._solve()
        else:
            self._solve_lines(start)
        for _ in range(_SWEEPS):
            if not self.parents or not self._add_curves():
                break
        if self.effort > Effort.ROUND and self.dropped.any():  # the others have not been refitted without what left
            self._solve() if (self.widths > 1).any() else self._solve_lines(None)
        return self._result()

    def _take_over(self, start: Fit | None) -> None:
        """Start with the curves of a model whose parents are among these."""
        if not isinstance(start, LinearFit) or not isinstance(start.basis, SplineBasis) or start.strengths is None:
            return
        theta = start.theta[start.shape.spread]
        self.b[0] = theta[0]
        for number, (parent, block) in enumerate(zip(start.parents, start.basis.blocks, strict=True)):
            k = self.parents.index(parent)
            width = min(block.stop - block.start, self.full.widths[k])
            first = self.full.blocks[k].start
            self.b[first : first + width] = theta[block][:width]
            self.widths[k], self.strengths[:, k] = width, start.strengths[:, number]

    def _solve_lines(self, start: Fit | None) -> None:
        key, lines = (self.target, self.parents), LineFitter(self.form)
        if isinstance(start, LinearFit):
            start = line_part(start)
        fit = lines.fit(self.table, [key], [start], self.effort)[0]
        assert isinstance(fit, LinearFit)
        rows = np.array([0, *(b.start for b in self.full.blocks)], dtype=np.intp)
        self._keep(rows, fit.theta, fit.loss / self.table.shape[0], fit.converged)

    def _keep(self, rows: Index, theta: Array, objective: float, converged: bool) -> None:
        """Store a solution whose design has some rows of the full one."""
        shape = Coefficients(self.form, self.full.width)
        self.theta = np.zeros(shape.size)
        self.theta[shape.embed(rows)] = theta
        self.b = self.theta[shape.spread]
        self.objective, self.converged = objective, converged

    def _solve(self, coarse_first: bool = False) -> None:
        """Fit the model with its curves and choose their strengths; drop curves that end up almost flat."""
        part = SplineDesign.make(self.form, self.table, self.parents, self.target, self.widths.tolist())
        start, ridge = self.b[part.rows][:, None], part.line_ridge(ridge_strength(self.table.shape[0]))
        strengths = np.array([self.strengths[side, k] for k in part.curves for side in (0, 1)])
        if coarse_first and part.design.n_rows > _COARSE_ROWS:
            start, strengths = _coarse_start(part, start, ridge, strengths)
        tolerance, shortest = _UNTIL[self.effort]
        found, strengths, edf = minimize_smoothly(
            part.design, part.shape, start, ridge, part.penalties(), strengths, tolerance, _MAX_ITERATIONS, shortest
        )
        self._keep(part.rows, found.theta[:, 0], float(found.objective[0]), bool(found.converged[0]))
        for number, k in enumerate(part.curves):
            own = slice(2 * number, 2 * number + 2)
            if edf[own].max() >= LEAVE:
                self.strengths[:, k] = strengths[own]
                self._trim(k, _alive(found, part.penalties()[own], strengths[own], part.design.n_rows))
            else:
                self.strengths[:, k], self.dropped[k] = np.inf, True
                self._trim(k, 0)

    def _trim(self, k: int, curves: int) -> None:
        """Keep only the first curves of a parent: the penalty leaves nothing of the rest."""
        block, shape = self.full.blocks[k], Coefficients(self.form, self.full.width)
        self.theta[shape.of_rows(slice(block.start + 1 + curves, block.stop))] = 0.0
        self.b, self.widths[k] = self.theta[shape.spread], 1 + curves

    def _add_curves(self) -> bool:
        """Fit the curves that the score test asks for; return whether there were any."""
        wanted = self._wanted_widths()
        new = (wanted > self.widths) & ~self.dropped
        if not new.any():
            return False
        self.strengths[:, new & (self.widths == 1)] = _FIRST_STRENGTH
        self.widths[new] = wanted[new]
        self._solve(coarse_first=True)
        return True

    def _wanted_widths(self) -> Index:
        """Return how many basis columns (k,) of each parent the scores ask for; 0 if they ask for none."""
        ready = ready_design(self.table, self.parents, self.full.widths)
        design = Design(self.table, self.parents, (self.target,), self.full, wide=True, ready=ready)
        shape = Coefficients(self.form, self.full.width)
        u, v = efficient_scores(design, shape, self.theta[:, None], self._used())
        out = np.zeros(len(self.parents), dtype=np.intp)
        for k, b in enumerate(self.full.blocks):
            curves = slice(b.start + 1, b.stop)
            if b.stop - b.start > 1:
                wanted = _wanted_curves(u[:, curves], v[:, curves], self.full.roughness[curves], self.widths[k] - 1)
                out[k] = wanted + 1 if wanted else 0
        return out

    def _used(self) -> Index:
        """Return the rows of the full design that are in use."""
        own = zip(self.full.blocks, self.widths, strict=True)
        return np.concatenate([[0], *(np.arange(b.start, b.start + width) for b, width in own)]).astype(np.intp)

    def _result(self) -> LinearFit:
        rows, n = self._used(), self.table.shape[0]
        widths = tuple(self.widths.tolist())
        columns = tuple(own.leading(width) for own, width in zip(self.full.columns, widths, strict=True))
        theta = self.theta[Coefficients(self.form, self.full.width).embed(rows)]
        fit = LinearFit(
            self.form, self.target, self.parents, n * self.objective, self.converged, np.zeros(len(widths)),
            self.effort, theta, SplineBasis(columns, widths), self.strengths,
        )  # fmt: skip
        return _priced(fit, self.table)


def line_part(fit: LinearFit) -> LinearFit:
    """Return a model without its curves, as a start for a model without curves."""
    if not isinstance(fit.basis, SplineBasis):
        return fit
    rows = np.array([0, *(b.start for b in fit.basis.blocks)], dtype=np.intp)
    return LinearFit(
        fit.form, fit.target, fit.parents, fit.loss, fit.converged, fit.contributions, Effort.ROUND,
        fit.theta[fit.shape.embed(rows)],
    )  # fmt: skip


def _alive(found: Solution, pair: Sequence[PenaltyBlock], strengths: Array, n: int) -> int:
    """Return how many curves of a parent, smoothest first, its penalties in `A` and `s` do not remove."""
    diagonal = found.information[0].diagonal()
    shares = [1.0 - s * b.weights / (n * diagonal[b.index]) for b, s in zip(pair, strengths, strict=True)]
    alive = np.flatnonzero(np.maximum(*shares) > _LEAST_SHARE)
    return int(alive[-1]) + 1 if len(alive) else 1


def _wanted_curves(u: Array, v: Array, roughness: Array, used: int) -> int:
    """Return how many curves of one parent the scores u (2, curves) with variances v ask for.

    The statistic is the slope of the marginal likelihood at infinite strength of the columns not yet in use,
    `sum(u^2 / roughness)` minus its expectation. Fast waves have almost no weight in it; they join by the plain sum.
    """
    v, weights = np.maximum(v, 1e-300), 1.0 / roughness
    unused = np.arange(len(roughness)) >= used
    ratio = np.where(unused, u**2 / v, 0.0)
    excess = np.where(unused, (u**2 - v) * weights, 0.0).sum(axis=1)
    spread = np.sqrt(np.where(unused, 2.0 * (v * weights) ** 2, 0.0).sum(axis=1))
    flat = (ratio - unused).sum(axis=1)
    joins = (excess > JOIN * np.maximum(spread, 1e-300)) | (flat > JOIN * np.sqrt(2.0 * unused.sum()))
    if not joins.any():
        return 0
    large = np.flatnonzero((ratio > _LARGE).any(axis=0))
    reach = int(large[-1]) + 2 if len(large) else 0
    return min(max(reach, used + _JOINING), len(roughness))


def _coarse_start(part: SplineDesign, start: Array, ridge: Array, strengths: Array) -> tuple[Array, Array]:
    """Return coefficients and strengths found on a sample of the rows."""
    found, moved, _ = minimize_smoothly(
        part.design.sample(_COARSE_ROWS), part.shape, start, ridge * (part.design.n_rows / _COARSE_ROWS),
        part.penalties(), strengths, _COARSE_TOLERANCE, _MAX_ITERATIONS,
    )  # fmt: skip
    return found.theta[part.shape.spread], moved


def _priced(fit: LinearFit, table: Table) -> LinearFit:
    """Return a model with the price of its curves added to its loss, and with its parents' contributions."""
    assert isinstance(fit.basis, SplineBasis)
    n, shape = table.shape[0], fit.shape
    part = SplineDesign.make(fit.form, table, fit.parents, fit.target, fit.basis.widths)
    plain = information(part.design, part.shape, fit.theta[:, None], np.full((shape.size, 1), 1e-12))[0]
    penalised = plain + np.diag(curve_penalties(fit) / n + 1e-10)
    curves = [shape.of_rows(rows) for rows in part.curves.values()]
    used = np.linalg.solve(penalised, plain).diagonal()
    spent = used[np.concatenate([np.empty(0, np.intp), *curves])].sum()
    edf = np.array(
        [[used[b.start + 1 + at : b.stop + at].sum() for b in fit.basis.blocks] for at in (0, shape.width)]
    )
    spread = [np.arange(shape.width + 1, 2 * shape.width)] if fit.parents else []
    moved = n * float(wald_gains(penalised[None], fit.theta[None], spread).sum())
    groups = [shape.of_rows(block) for block in fit.basis.blocks]
    contributions = n * wald_gains(penalised[None], fit.theta[None], groups)[0]
    price = 0.5 * float(np.log(n) * spent)
    return replace(fit, loss=fit.loss + price, contributions=contributions, edf=edf, spread_gain=moved)


def _gains_of(table: Table, fit: Fit) -> Array:
    every = slice(None)
    rows = row_derivatives(fit.form, table.take([fit.target], every), *fit.predictors(table, every))
    first, second = np.concatenate([rows.A, rows.s]), np.concatenate([rows.AA, rows.ss])
    columns = range(table.shape[1])
    return np.array(
        [_promise(first, second, basis_columns(table, j), spline_of(table, j).roughness) for j in columns]
    )


def _promise(first: Array, second: Array, basis: Array, roughness: Array) -> float:
    """Return the gain (nats) that the scores of a column's line and curves promise, in both predictors."""
    u, square = first @ basis.T, basis * basis
    v = np.minimum(first**2 @ square.T, second @ square.T)
    total = float(np.sum(0.5 * u[:, 0] ** 2 / np.maximum(v[:, 0], 1e-300)))
    if basis.shape[0] > 1:
        weights = 1.0 / roughness[1:]
        spread = np.sqrt(2.0 * v[:, 1:] ** 2 @ weights**2)
        deviations = ((u[:, 1:] ** 2 - v[:, 1:]) @ weights) / np.maximum(spread, 1e-300)
        total += float(np.sum(_NATS_PER_DEVIATION * np.maximum(deviations - _CHANCE, 0.0)))
    return total
