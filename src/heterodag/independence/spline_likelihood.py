"""The likelihood-ratio test of an edge with splines: the target's model with and without one predecessor.

First all predecessors are fitted together, with the curves and the strengths that the data ask for (`models.spline`).
Then, for each tested predecessor, two fits: one in which it has its line, free, and all its curves under a *fixed*
penalty (a strength chosen from the data for the tested predecessor itself would spoil the level), and one in which its
coefficients are zero. The others keep their strengths, lowered to the same fixed penalty where they are larger, and
their smoother curves even if these had not joined: what is left of a nuisance that was smoothed too much is made up
for by whatever is correlated with it, and that is a false alarm.

With penalty S and information I of the tested coefficients (all others accounted for), twice the log-likelihood ratio
is, under the null hypothesis, a weighted sum of squared standard normals with weights `1 - (1 - nu)^2`, nu the
eigenvalues of `(I + S)^-1 I`: 1 for free coefficients, less for penalised ones. Before, the ratio is multiplied by the
share of rows that the fitted coefficients leave over (their effective number counts), as in an F test.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve

from heterodag.core.design import Design
from heterodag.core.gaussian import Array, Index, Mask
from heterodag.core.quadratic_forms import weighted_chi2_sf
from heterodag.core.solver import Solution, derivatives, minimize, row_losses
from heterodag.core.starts import profiled_start
from heterodag.core.table import Table
from heterodag.models.conditional import ConditionalModel, Conditionals
from heterodag.models.spline import SplineDesign, fit_splines

#: The fixed penalty: this curve, counted from the smoothest, is penalised as much as the data inform about it;
#: smoother ones less, rougher ones more. Predecessors without curves of their own get a few more than that.
_EVEN, _WIDTH = 4, 7
#: Rows per basis column, below which nuisances get fewer.
_ROWS_PER_COLUMN = 10
_TOLERANCE = 1e-8


def spline_drop_one_tests(
    model: ConditionalModel,
    table: Table,
    predecessors: list[int],
    target: int,
    tested: list[int],
    parts: tuple[str, ...],
    row_limit: float,
) -> tuple[dict[str, Array], bool]:
    """Return the p-values of dropping, one at a time, the predecessors numbered `tested`; and convergence.

    `model` gives the form and the ridge of the lines. `parts` are "both", and with it possibly "mean" and "variance": the
    predictors the predecessor is dropped from. No row contributes more than `row_limit` to a statistic.
    """
    together = fit_splines(model, table, predecessors, [target], thorough=True)
    pvalues, converged = np.empty((len(parts), len(tested))), bool(together.converged.all())
    for number, k in enumerate(tested):
        pvalues[:, number], fine = _prepare(together, table, k, model.ridge).run(parts, row_limit)
        converged &= fine
    return dict(zip(parts, pvalues, strict=True)), converged


def _prepare(together: Conditionals, table: Table, k: int, line_ridge: float) -> _DropOne:
    """Give predecessor k all its curves under the fixed penalty, and the others at least a few."""
    strengths, n = np.asarray(together.strengths)[:, :, 0], table.shape[0]
    few = int(np.clip(n // (_ROWS_PER_COLUMN * 2 * len(together.predecessors)), 1, _WIDTH))
    widths = np.maximum(np.asarray(together.widths)[:, 0], few)
    widths[k] = np.iinfo(np.intp).max
    part = SplineDesign.make(together.form, table, together.predecessors, together.targets[0], widths.tolist())
    start, ridge = together.theta[part.coefficients], part.line_ridge(line_ridge)
    inform = _information(part.design, part, start).diagonal()
    owners = [(j, side) for j in part.curves for side in (0, 1)]
    for (j, side), block in zip(owners, part.penalties(), strict=True):
        even = float(inform[block.index].mean()) / block.weights[min(_EVEN, len(block.weights)) - 1]
        chosen = np.inf if j == k else strengths[side, j] / n
        ridge[block.index, 0] += min(even, chosen) * block.weights
    own = part.basis.blocks[k]
    return _DropOne(part, start, ridge, np.arange(own.start, own.stop))


def _information(design: Design, part: SplineDesign, theta: Array) -> Array:
    """Return the expected information per row of one target, without any ridge."""
    none, first = np.zeros((part.shape.size, 1)), np.zeros(1, np.intp)
    _, _, information = derivatives(design, part.shape, theta, none, np.zeros(1), first)
    return np.asarray(information[0])


@dataclass(frozen=True)
class _DropOne:
    """The fits of a target with and without one predecessor, whose design rows are `own`."""

    part: SplineDesign
    start: Array
    ridge: Array
    own: Index

    def run(self, parts: tuple[str, ...], row_limit: float) -> tuple[Array, bool]:
        """Return the p-values of the parts, and whether all fits converged."""
        held = [self._held(name) for name in parts]
        full, reduced = self._fits(held)
        information = _information(self.part.design, self.part, full.theta)
        n, penalised = self.part.design.n_rows, information + np.diag(self.ridge[:, 0] + 1e-10)
        spent = float(np.trace(solve(penalised, information, assume_a="pos")))
        ratio = self._limited_ratio(full.theta, reduced.theta, row_limit) * max(1.0 - spent / n, 0.0)
        weights = [null_weights(information, self.ridge[:, 0], own) for own in held]
        pvalues = [weighted_chi2_sf(float(x), w) for x, w in zip(ratio, weights, strict=True)]
        return np.array(pvalues), bool(full.converged.all() and reduced.converged.all())

    def _held(self, name: str) -> Index:
        """Return the coefficients that are zero if the predecessor has no effect on that part."""
        on_mean, on_variance = self.own, self.own + self.part.shape.width
        own = {"both": np.concatenate([on_mean, on_variance]), "mean": on_mean, "variance": on_variance}
        return own[name]

    def _fits(self, held: list[Index]) -> tuple[Solution, Solution]:
        free = np.ones((self.part.shape.size, len(held)), dtype=bool)
        for column, coefficients in enumerate(held):
            free[coefficients, column] = False
        full = self._full(self.start)
        reduced = self._reduced(full, free)
        best = int(reduced.objective.argmin())
        if reduced.objective[best] < full.objective[0]:
            # The full fit sat in a local optimum: continue from the restricted one, which it contains.
            full = self._full(reduced.theta[:, [best]])
            reduced = self._reduced(full, free)
        return full, reduced

    def _full(self, start: Array) -> Solution:
        return minimize(self.part.design, self.part.shape, start, self.ridge, tolerance=_TOLERANCE)

    def _reduced(self, full: Solution, free: Mask) -> Solution:
        design, shape = self.part.design, self.part.shape
        targets = tuple(design.targets) * free.shape[1]
        batch = Design(design.table, design.predecessors, targets, design.basis, wide=True, made=design.made)
        b = slice(shape.width, 2 * shape.width)
        start = profiled_start(batch, shape, np.where(free[b], full.theta[b], 0.0), free)
        return minimize(batch, shape, start, self.ridge, free, tolerance=_TOLERANCE)

    def _limited_ratio(self, full: Array, reduced: Array, row_limit: float) -> Array:
        total, shape = np.zeros(reduced.shape[1]), self.part.shape
        for block in self.part.design.blocks():
            gain = 2.0 * (row_losses(shape, reduced, block) - row_losses(shape, full, block))
            total += np.minimum(gain, row_limit).sum(axis=1)
        return total


def null_weights(information: Array, ridge: Array, own: Index) -> Array:
    """Return the weights of the null distribution of the ratio for the coefficients `own` (see the module)."""
    rest = np.setdiff1d(np.arange(len(ridge)), own)
    inner = information[np.ix_(rest, rest)] + np.diag(ridge[rest] + 1e-10)
    cross = information[np.ix_(rest, own)]
    adjusted = information[np.ix_(own, own)] - cross.T @ solve(inner, cross, assume_a="pos")
    nu = np.linalg.eigvals(np.linalg.solve(adjusted + np.diag(ridge[own] + 1e-12), adjusted)).real
    weights: Array = 1.0 - (1.0 - np.clip(nu, 0.0, 1.0)) ** 2
    return weights
