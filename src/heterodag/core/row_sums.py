"""Sums over rows for one model: what Newton steps and score tests need from a block of rows.

The loss is that of `core.gaussian`, plus the bound on straying rows of `core.solver.free_swing`. The sums of blocks
add up to those of the whole table, so a table can be read block by block, in any process.
"""

from __future__ import annotations

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


def row_terms(form: Form, theta: Array, Z: Array, y: Array, limit: float) -> RowTerms:
    """Return the terms of every row of a block: design `Z` (p, rows), target `y` (rows,)."""
    p = len(Z)
    A, s, m = theta[:p] @ Z, theta[p : 2 * p] @ Z, theta[2 * p :].sum()
    mean = form.mean_terms(y, s)
    e = form.standardized(mean, y, A, m)
    first, second = np.empty((1 + form.locations, len(y))), np.empty((2, len(y)))
    form.spread_terms(mean, e, A, True, first, second)
    swing = s - theta[p]
    excess = swing - np.clip(swing, -limit, limit)
    loss = 0.5 * float(e @ e - s.sum() + excess @ excess)
    precision = mean.precision
    by_m, by_mm = (0.0, 0.0) if precision is None else (-float(mean.h @ e), float(precision.sum()))
    return RowTerms(
        loss, e, -e * mean.root, first[0], mean.root**2, second[0], second[1], by_m, first[-1], by_mm, excess
    )


def gradient_of(form: Form, rows: RowTerms, Z: Array) -> Array:
    """Return the gradient (size,) of the loss."""
    p, held = len(Z), Z @ rows.excess
    held[0] = 0.0  # the swing is measured from the average log precision
    out = np.empty(2 * p + form.locations)
    out[:p], out[p : 2 * p], out[2 * p :] = Z @ rows.by_A, Z @ rows.by_s + held, rows.by_m
    return out


def step_sums(form: Form, theta: Array, Z: Array, y: Array, limit: float) -> tuple[float, Array, Array]:
    """Return loss, gradient (size,) and observed second derivatives (size, size) at `theta`, summed over the rows."""
    p, rows = len(Z), row_terms(form, theta, Z, y, limit)
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
    return rows.loss, gradient_of(form, rows, Z), second
