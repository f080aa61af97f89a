"""Score tests: how much a new parent would add to fitted models, for all targets and columns at once (no refitting).

At the fitted model of a target, a column `z` that would enter both predictors has the score `g = (z'gA, z'gs)`, the
sums of the row derivatives times `z`, and the efficient information `E = I_zz - I_zN I_NN^-1 I_Nz`, where `N` are the
coefficients already there. Half of `g' E^-1 g` estimates the gain in log-likelihood. All of this is matrix products
of row weights with the table: about n d^2 operations for all pairs of d variables.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heterodag.core.design import Block, Design
from heterodag.core.gaussian import Array, Form, Index, RowDerivatives, row_derivatives
from heterodag.core.layout import Coefficients
from heterodag.core.parents import ParentDesign
from heterodag.core.solver import information
from heterodag.core.table import Table

#: A column counts as a copy of the parents if they leave no more than this share of its information.
_COLLINEAR = 1e-6
_TINY = 1e-300
#: Rows on which it is estimated how much of a column the columns in use explain.
_SHARE_ROWS = 1000


def entry_gains(
    table: Table,
    form: Form,
    targets: Sequence[int],
    parents: Sequence[Sequence[int]],
    theta: Array,
    columns: Sequence[int],
    strength: float,
) -> Array:
    """Return (targets, columns): the estimated gain in log-likelihood if a column joined the target's parents.

    Parameters
    ----------
    table : Table
        Standardised data.
    form : the form of the models.
    targets, parents : the fitted models; all have the same number of parents.
    theta : (size, targets) fitted coefficients.
    columns : candidates; the caller ignores the entries of a target itself and of its parents.
    strength : float
        Ridge strength of the fits, in units of rows.
    """
    design = ParentDesign(table, parents, targets)
    shape = Coefficients(form, design.width)
    ridge = shape.ridge(strength / design.n_rows)
    nuisance = information(design, shape, theta, ridge)
    score, own, cross = _sums(design, shape, theta, columns)
    solved = np.linalg.solve(nuisance[:, None] * design.n_rows, cross)
    pairs = ((0, 0), (0, 1), (1, 1))
    AA, As, ss = (own[i] - np.einsum("knd,knd->kd", cross[:, a], solved[:, b]) for i, (a, b) in enumerate(pairs))
    clear = (_COLLINEAR * own[0] < AA) & (_COLLINEAR * own[2] < ss)
    AA, ss = AA + strength, ss + strength
    determinant = AA * ss - As * As
    clear &= determinant > 0.0
    with np.errstate(all="ignore"):
        gain = 0.5 * (ss * score[0] ** 2 - 2.0 * As * score[0] * score[1] + AA * score[1] ** 2) / determinant
    return np.where(clear & np.isfinite(gain), gain, 0.0)


def _sums(
    design: ParentDesign, shape: Coefficients, theta: Array, columns: Sequence[int]
) -> tuple[Array, Array, Array]:
    """Return the candidates' scores (2, k, d), information (3, k, d) and that with the nuisance (k, 2, size, d)."""
    k, d, p = theta.shape[1], len(columns), shape.width
    score, own = np.zeros((2, k, d)), np.zeros((3, k, d))
    cross, at = np.zeros((k, 2, shape.size, d)), 0
    for block in design.blocks():
        rows = slice(at, at + block.Y.shape[1])
        at = rows.stop
        T = design.table.take(columns, rows).T
        own_rows = _at(shape, theta, block)
        second = np.stack([own_rows.AA, own_rows.As, own_rows.ss])
        score += np.stack([own_rows.A, own_rows.s]) @ T
        own += second @ (T * T)
        weighted = (second[:, :, None] * block.Z).reshape(3 * k * p, -1) @ T
        AA, As, ss = weighted.reshape(3, k, p, d)
        cross[:, 0, :p] += AA
        cross[:, 0, p : 2 * p] += As
        cross[:, 1, p : 2 * p] += ss
        if own_rows.sm is not None:
            cross[:, 0, 2 * p] += T.sum(axis=0)
            cross[:, 1, 2 * p] += own_rows.sm @ T
    cross[:, 1, :p] = cross[:, 0, p : 2 * p]
    return score, own, cross


def _at(shape: Coefficients, theta: Array, block: Block) -> RowDerivatives:
    return row_derivatives(shape.form, block.Y, *shape.predictors(theta, block.Z))


def efficient_scores(design: Design, shape: Coefficients, theta: Array, used: Index) -> tuple[Array, Array]:
    """Return the scores (2, width) of all columns of one target's design in `A` and `s`, and their variances.

    The variances are those that remain after the columns in use, and the location, have been accounted for; what
    these explain is estimated on a sample of the rows. The variances start from the smaller of the observed and the
    expected squares: the observed ones are too large if a few rows fit badly, and the expected ones can be too large
    while the model is still wrong.
    """
    u, seen, expected = (np.zeros((2, design.width)) for _ in range(3))
    for block in design.blocks():
        rows, square = _at(shape, theta, block), block.Z**2
        first = np.concatenate([rows.A, rows.s])
        u += first @ block.Z.T
        seen += first**2 @ square.T
        expected += np.concatenate([rows.AA, rows.ss]) @ square.T
    sample = design.sample(_SHARE_ROWS)
    return u, np.minimum(seen, expected) * np.clip(1.0 - _explained(sample, shape, theta, used), _COLLINEAR, 1.0)


def _explained(design: Design, shape: Coefficients, theta: Array, used: Index) -> Array:
    """Return the share (2, width) of every column's information in `A` and `s` that the columns in use explain."""
    p, q, corner = design.width, len(used), 0.0
    size = 2 * q + shape.form.locations
    own, cross, nuisance = np.zeros((2, p)), np.zeros((2, size, p)), np.empty((size, size))
    for block in design.blocks():
        Z, rows = block.Z, _at(shape, theta, block)
        second = np.concatenate([rows.AA, rows.As, rows.ss])
        own += second[[0, 2]] @ (Z**2).T
        AA, As, ss = ((second[:, None] * Z[used]).reshape(3 * q, -1) @ Z.T).reshape(3, q, p)
        cross[0, : 2 * q] += np.concatenate([AA, As])
        cross[1, : 2 * q] += np.concatenate([As, ss])
        if rows.sm is not None and rows.mm is not None:
            cross[:, -1] += np.concatenate([np.ones((1, Z.shape[1])), rows.sm]) @ Z.T
            corner += float(rows.mm.sum())
    nuisance[:, :q], nuisance[:, q : 2 * q] = cross[0][:, used], cross[1][:, used]
    if size > 2 * q:
        nuisance[: 2 * q, -1], nuisance[-1, -1] = nuisance[-1, : 2 * q], corner
    scale = 1.0 / np.sqrt(np.maximum(nuisance.diagonal(), _TINY))
    scaled = cross * scale[:, None]
    solved = np.linalg.solve(nuisance * scale * scale[:, None] + _COLLINEAR * np.eye(size), scaled)
    explained: Array = np.einsum("asp,asp->ap", scaled, solved) / np.maximum(own, _TINY)
    return explained
