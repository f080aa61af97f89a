"""Sums over rows for one model: what Newton steps and score tests need from a block of rows.

The loss is that of `core.gaussian`, plus the bound on straying rows of `core.solver.free_swing`. The sums of blocks
add up to those of the whole table, so a table can be read block by block, in any process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heterodag.core.gaussian import Array, Form


@dataclass(frozen=True)
class RowTerms:
    """What the rows of a block contribute: residuals, derivatives by `A` and `s`, and the bound on straying rows."""

    loss: float
    residuals: Array
    by_A: Array
    by_s: Array
    by_AA: Array
    by_As: Array
    by_ss: Array
    by_m: float
    by_sm: Array
    by_mm: float
    excess: Array


def row_terms(form: Form, A: Array, s: Array, m: float, centre: float, y: Array, limit: float) -> RowTerms:
    """Return the terms of every row of a block: predictors `A` and `s` (rows,), location `m`, target `y` (rows,).

    `centre` is the average log precision, from which the swing of `s` is measured.
    """
    mean = form.mean_terms(y, s)
    e = form.standardized(mean, y, A, np.asarray(m))
    first, second = np.empty((1 + form.locations, len(y))), np.empty((2, len(y)))
    form.spread_terms(mean, e, A, True, first, second)
    swing = s - centre
    excess = swing - np.clip(swing, -limit, limit)
    loss = 0.5 * float(e @ e - s.sum() + excess @ excess)
    precision = mean.precision
    by_m, by_mm = (0.0, 0.0) if precision is None else (-float(mean.h @ e), float(precision.sum()))
    return RowTerms(
        loss, e, -e * mean.root, first[0], mean.root**2, second[0], second[1], by_m, first[-1], by_mm, excess
    )


def gradient_of(form: Form, rows: RowTerms, pieces: Sequence[Array]) -> Array:
    """Return the gradient (size,) of the loss; the design is a row of ones and the given `pieces` of it."""
    weights = np.stack([rows.by_A, rows.by_s + rows.excess])
    # The swing is measured from the average log precision: the bound on it says nothing about the intercept.
    constant = np.array([[rows.by_A.sum()], [rows.by_s.sum()]])
    sides = np.concatenate([constant, *(weights @ piece.T for piece in pieces)], axis=1)
    return np.concatenate([*sides, np.full(form.locations, rows.by_m)])


def step_sums(form: Form, theta: Array, Z: Array, y: Array, limit: float) -> tuple[float, Array, Array]:
    """Return loss, gradient (size,) and observed second derivatives (size, size) at `theta`, summed over the rows."""
    p = len(Z)
    A, s = theta[: 2 * p].reshape(2, p) @ Z
    rows = row_terms(form, A, s, float(theta[2 * p :].sum()), float(theta[p]), y, limit)
    # One product of all three weighted designs is faster than three products.
    products = np.concatenate([Z * rows.by_AA, Z * rows.by_As, Z * rows.by_ss]) @ Z.T
    second = np.empty((2 * p + form.locations,) * 2)
    second[:p, :p], second[p : 2 * p, p : 2 * p] = products[:p], products[2 * p :]
    second[:p, p : 2 * p] = second[p : 2 * p, :p] = products[p : 2 * p]
    beyond = rows.excess != 0.0
    if beyond.any():
        second[p + 1 : 2 * p, p + 1 : 2 * p] += Z[1:, beyond] @ Z[1:, beyond].T
    if form.locations:
        second[2 * p, :p] = second[:p, 2 * p] = Z.sum(axis=1)
        second[2 * p, p : 2 * p] = second[p : 2 * p, 2 * p] = Z @ rows.by_sm
        second[2 * p, 2 * p] = rows.by_mm
    return rows.loss, gradient_of(form, rows, [Z[1:]]), second
