"""The likelihood-ratio test of a parent: the model of a variable with and without it, with lines.

Twice the fall of the log-likelihood when the coefficients of a parent are fixed at zero is compared with a
chi-square: with two degrees of freedom for both predictors, with one for the mean or the spread alone. Unlike a test
of the mean, it sees causes that move only the spread, and it is not misled by a spread that moves with other causes.

Deviation from the textbook: no single row may contribute more than `ROW_LIMIT` to the statistic. Parents with very
heavy tails give single rows a leverage for which the chi-square does not hold: without the limit, true null
hypotheses are rejected too often. `python benchmarks/calibration.py` measures the level with the limit.

The restricted fits of one variable differ only in which coefficients are free, so all of them form one batch.
`drop_one_curves` holds the same test for splines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from heterodag.core.design import Block, Design
from heterodag.core.gaussian import Array, Form
from heterodag.core.layout import Coefficients
from heterodag.core.solver import Solution, minimize
from heterodag.core.starts import log_squares_start
from heterodag.core.table import Table
from heterodag.scores.fit import Key
from heterodag.scores.ridge import ridge_strength

#: Largest contribution of one row to the likelihood-ratio statistic.
ROW_LIMIT = 1.5
#: How often the full model is refitted if a restricted one fits better (the full fit ended in a local optimum).
_REPAIRS = 3


@dataclass(frozen=True)
class DropOne:
    """Tests of several parents of one variable.

    Attributes
    ----------
    target : column of the variable.
    tested : columns of the parents.
    pvalues : per hypothesis, an array with one entry per tested parent: "both" and, in location-scale form, "mean"
        and "variance" (the predictor that the parent is dropped from).
    converged : whether all fits converged.
    """

    target: int
    tested: list[int]
    pvalues: dict[str, Array]
    converged: bool


def hypotheses(form: Form) -> tuple[str, ...]:
    """Return what is tested for each parent; only a form without a location separates mean and spread."""
    return ("both",) if form.locations else ("both", "mean", "variance")


def held_rows(shape: Coefficients, rows: slice, hypothesis: str) -> list[int]:
    """Return the coefficients that are zero if these design rows do not affect that part of the distribution."""
    on_mean, on_spread = np.split(shape.of_rows(rows), 2)
    return {"both": [*on_mean, *on_spread], "mean": [*on_mean], "variance": [*on_spread]}[hypothesis]


def drop_lines(form: Form, table: Table, key: Key, tested: Sequence[int]) -> DropOne:
    """Test, one at a time, the parents numbered `tested` of a model of lines."""
    target, parents = key
    shape, names = Coefficients(form, len(parents) + 1), hypotheses(form)
    held = [held_rows(shape, slice(k + 1, k + 2), name) for name in names for k in tested]
    full, reduced = _nested_fits(shape, table, key, held)
    design = Design(table, parents, (target,))
    statistic = limited_ratio(design, shape, full.theta, reduced.theta)
    pvalues = chi2.sf(statistic, [len(coefficients) for coefficients in held]).reshape(len(names), len(tested))
    done = bool(full.converged.all() and reduced.converged.all())
    return DropOne(target, [parents[k] for k in tested], dict(zip(names, pvalues, strict=True)), done)


def _nested_fits(shape: Coefficients, table: Table, key: Key, held: list[list[int]]) -> tuple[Solution, Solution]:
    """Fit the full model and a restricted one per set of held coefficients; none of these fits better in the end."""
    target, parents = key
    ridge = shape.ridge(ridge_strength(table.shape[0]) / table.shape[0])
    free = np.ones((shape.size, len(held)), dtype=bool)
    for column, coefficients in enumerate(held):
        free[coefficients, column] = False
    one, many = Design(table, parents, (target,)), Design(table, parents, (target,) * len(held))
    two = Design(table, parents, (target,) * 2)
    found = minimize(two, shape, np.hstack([np.zeros((shape.width, 1)), log_squares_start(one)]), ridge, starts=2)
    full = found.take(np.array([found.objective.argmin()]))
    for _ in range(_REPAIRS):
        start = np.where(free[shape.spread], full.theta[shape.spread], 0.0)
        reduced = minimize(many, shape, start, ridge, free)
        best = int(reduced.objective.argmin())
        if reduced.objective[best] >= full.objective[0]:
            break
        # A restricted model cannot truly fit better: the full one was at a local optimum. Restart from the
        # restricted.
        full = minimize(one, shape, reduced.theta[shape.spread][:, [best]], ridge)
    return full, reduced


def limited_ratio(design: Design, shape: Coefficients, full: Array, reduced: Array) -> Array:
    """Return the likelihood-ratio statistics of restricted models, with the limit on what a row contributes."""
    total = np.zeros(reduced.shape[1])
    for block in design.blocks():
        gain = 2.0 * (_row_losses(shape, reduced, block) - _row_losses(shape, full, block))
        total += np.minimum(gain, ROW_LIMIT).sum(axis=1)
    return np.maximum(total, 0.0)


def _row_losses(shape: Coefficients, theta: Array, block: Block) -> Array:
    A, s, m = shape.predictors(theta, block.Z)
    e = shape.form.residuals(block.Y, A, s, m)
    return 0.5 * (e * e - s)
