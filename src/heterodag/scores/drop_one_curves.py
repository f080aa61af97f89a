"""The likelihood-ratio test of a parent with splines: the model of a variable with and without it.

First all parents are fitted together, with the curves and the strengths that the data ask for (`scores.curves`).
Then each tested parent gets two fits: one in which it has its line, free, and all its curves under a *fixed* penalty
(a strength chosen from the data for the tested parent itself would spoil the level), and one in which its
coefficients are zero. The others keep their strengths, lowered to the same fixed penalty if they are larger, and
their smoother curves even if these had not joined: if a nuisance parent is smoothed too much, whatever is correlated
with it explains the rest, and that is a false alarm.

With penalty S and information I of the tested coefficients (all others accounted for), twice the log-likelihood ratio
is, under the null hypothesis, a weighted sum of squared standard normals with weights `1 - (1 - nu)^2`, where nu are
the eigenvalues of `(I + S)^-1 I`: 1 for free coefficients, less for penalised ones. First, the ratio is multiplied by
the share of rows left after subtracting the effective number of fitted coefficients, as in an F test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve

from heterodag.core.design import Design
from heterodag.core.gaussian import Array, Form, Index, Mask
from heterodag.core.quadratic_forms import weighted_chi2_sf
from heterodag.core.solver import Solution, information, minimize
from heterodag.core.splines import SplineBasis
from heterodag.core.table import Table
from heterodag.scores.curves import CurveFitter
from heterodag.scores.drop_one import DropOne, held_rows, hypotheses, limited_ratio
from heterodag.scores.fit import Effort, Key, LinearFit
from heterodag.scores.ridge import ridge_strength
from heterodag.scores.spline_design import SplineDesign

#: The fixed penalty: for this curve, counted from the smoothest, penalty and information are equal; smoother ones are
#: penalised less, rougher ones more. Parents without curves get at most the second number of basis columns.
_EVENLY_PENALISED, _LEAST_WIDTH = 4, 7
#: Nuisance parents get fewer basis columns if there are fewer rows per column than this.
_ROWS_PER_COLUMN = 10
_TOLERANCE = 1e-8


def drop_curves(form: Form, table: Table, key: Key, tested: Sequence[int]) -> DropOne:
    """Test, one at a time, the parents numbered `tested` of a model with curves."""
    target, parents = key
    together = CurveFitter(form).fit(table, [key], [None], Effort.FINAL)[0]
    assert isinstance(together, LinearFit)
    names, converged = hypotheses(form), together.converged
    pvalues = np.empty((len(names), len(tested)))
    for number, k in enumerate(tested):
        pvalues[:, number], fine = _prepare(together, table, k).run(names)
        converged &= fine
    return DropOne(target, [parents[k] for k in tested], dict(zip(names, pvalues, strict=True)), converged)


def _prepare(together: LinearFit, table: Table, k: int) -> _Nested:
    """Give parent k all its curves under the fixed penalty, and the others at least a few."""
    assert isinstance(together.basis, SplineBasis)
    assert together.strengths is not None
    n = table.shape[0]
    few = int(np.clip(n // (_ROWS_PER_COLUMN * 2 * len(together.parents)), 1, _LEAST_WIDTH))
    widths = np.maximum(np.asarray(together.basis.widths), few)
    widths[k] = np.iinfo(np.intp).max
    part = SplineDesign.make(together.form, table, together.parents, together.target, widths.tolist())
    start, ridge = _spread_start(together, part), part.line_ridge(ridge_strength(n))
    inform = _information(part, start).diagonal()
    owners = [(j, side) for j in part.curves for side in (0, 1)]
    for (j, side), block in zip(owners, part.penalties(), strict=True):
        even = float(inform[block.index].mean()) / block.weights[min(_EVENLY_PENALISED, len(block.weights)) - 1]
        chosen = np.inf if j == k else together.strengths[side, j] / n
        ridge[block.index, 0] += min(even, chosen) * block.weights
    return _Nested(part, start, ridge, part.basis.blocks[k])


def _spread_start(fit: LinearFit, part: SplineDesign) -> Array:
    """Return the coefficients of the log precision (p, 1) in a design with more curves."""
    assert isinstance(fit.basis, SplineBasis)
    b, out = fit.theta[fit.shape.spread], np.zeros((part.shape.width, 1))
    out[0] = b[0]
    for own, wide in zip(fit.basis.blocks, part.basis.blocks, strict=True):
        out[wide.start : wide.start + own.stop - own.start, 0] = b[own]
    return out


def _information(part: SplineDesign, b: Array) -> Array:
    """Return the expected information per row, with a negligible ridge."""
    theta, whisper = np.zeros((part.shape.size, 1)), np.full((part.shape.size, 1), 1e-12)
    theta[part.shape.spread] = b
    return np.asarray(information(part.design, part.shape, theta, whisper)[0])


@dataclass(frozen=True)
class _Nested:
    """The fits of a variable with and without one parent, whose design rows are `own`."""

    part: SplineDesign
    start: Array
    ridge: Array
    own: slice

    def run(self, names: tuple[str, ...]) -> tuple[Array, bool]:
        """Return the p-values of the hypotheses, and whether all fits converged."""
        shape = self.part.shape
        held = [np.array(held_rows(shape, self.own, name), dtype=np.intp) for name in names]
        full, reduced = self._fits(held)
        plain = _information(self.part, full.theta[shape.spread])
        n, penalised = self.part.design.n_rows, plain + np.diag(self.ridge[:, 0] + 1e-10)
        spent = float(np.trace(solve(penalised, plain, assume_a="pos")))
        ratio = limited_ratio(self.part.design, shape, full.theta, reduced.theta) * max(1.0 - spent / n, 0.0)
        weights = [null_weights(plain, self.ridge[:, 0], own) for own in held]
        pvalues = [weighted_chi2_sf(float(x), w) for x, w in zip(ratio, weights, strict=True)]
        return np.array(pvalues), bool(full.converged.all() and reduced.converged.all())

    def _fits(self, held: list[Index]) -> tuple[Solution, Solution]:
        free = np.ones((self.part.shape.size, len(held)), dtype=bool)
        for column, coefficients in enumerate(held):
            free[coefficients, column] = False
        full = self._full(self.start)
        reduced = self._reduced(full, free)
        best = int(reduced.objective.argmin())
        if reduced.objective[best] < full.objective[0]:
            # The full fit was at a local optimum: continue from the restricted one, which is a special case of it.
            full = self._full(reduced.theta[self.part.shape.spread][:, [best]])
            reduced = self._reduced(full, free)
        return full, reduced

    def _full(self, start: Array) -> Solution:
        return minimize(self.part.design, self.part.shape, start, self.ridge, tolerance=_TOLERANCE)

    def _reduced(self, full: Solution, free: Mask) -> Solution:
        design, shape = self.part.design, self.part.shape
        targets = tuple(design.targets) * free.shape[1]
        batch = Design(design.table, design.predecessors, targets, design.basis, wide=True, ready=design.ready)
        start = np.where(free[shape.spread], full.theta[shape.spread], 0.0)
        return minimize(batch, shape, start, self.ridge, free, tolerance=_TOLERANCE)


def null_weights(information: Array, ridge: Array, own: Index) -> Array:
    """Return the weights of the ratio's null distribution for the coefficients `own` (see the module docstring)."""
    rest = np.setdiff1d(np.arange(len(ridge)), own)
    inner = information[np.ix_(rest, rest)] + np.diag(ridge[rest] + 1e-10)
    cross = information[np.ix_(rest, own)]
    adjusted = information[np.ix_(own, own)] - cross.T @ solve(inner, cross, assume_a="pos")
    nu = np.linalg.eigvals(np.linalg.solve(adjusted + np.diag(ridge[own] + 1e-12), adjusted)).real
    weights: Array = 1.0 - (1.0 - np.clip(nu, 0.0, 1.0)) ** 2
    return weights
