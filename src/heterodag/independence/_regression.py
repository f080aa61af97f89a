"""Least squares on growing sets of columns: one factorisation serves every target of an order.

The predecessors of a later target contain those of an earlier one. With D = QR, the first p columns of D have
the factors Q[:, :p] and R[:p, :p], and the inverse of R[:p, :p] is the leading block of the inverse of R. So
the regressions of all targets cost about as much as the largest one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import qr, solve_triangular

from heterodag.core.table import location_and_scale
from heterodag.independence.contract import Array

#: Singular values below this share of the largest count as zero.
RANK_TOLERANCE = 1e-7
#: A combination of coefficients is determined when the row space holds all but this share of its square.
ESTIMABLE = 1e-10


@dataclass(frozen=True)
class Regression:
    """Least squares of any target on fixed columns D.

    Attributes
    ----------
    basis : ndarray of shape (n, r)
        Orthonormal; spans the columns of D.
    inverse : ndarray of shape (n, p)
        Transposed pseudo-inverse of D: the coefficients of a target y are `inverse.T @ y`.
    rows : ndarray of shape (p, r), or None
        Orthonormal; spans the rows of D. None when D has full rank.
    """

    basis: Array
    inverse: Array
    rows: Array | None = None

    @property
    def rank(self) -> int:
        """Rank of D."""
        return int(self.basis.shape[1])

    def residuals(self, y: Array) -> Array:
        """Return what is left of y after projection onto the columns of D."""
        return np.asarray(y - self.basis @ (self.basis.T @ y))

    def leverages(self) -> Array:
        """Return the diagonal of the projection onto the columns of D."""
        return np.asarray(np.einsum("ij,ij->i", self.basis, self.basis))

    def determined(self) -> npt.NDArray[np.bool_]:
        """Return which coefficients D determines: those of columns that do not depend on the others."""
        if self.rows is None:
            return np.ones(self.inverse.shape[1], dtype=bool)
        return np.asarray(np.einsum("ij,ij->i", self.rows, self.rows) > 1 - ESTIMABLE)

    def estimators(self, block: slice) -> Array:
        """Return columns F such that `F.T @ y` are the coefficients of the block that D determines.

        Notes
        -----
        When some columns of D depend on others, only the combinations of coefficients inside the row space of
        D have a unique value. For a block that the other columns reproduce there are none: F then has no columns.
        """
        if self.rows is None:
            return self.inverse[:, block]
        inside = self.rows[block] @ self.rows[block].T
        shares, directions = np.linalg.eigh(inside)
        return np.asarray(self.inverse[:, block] @ directions[:, shares > 1 - ESTIMABLE])


def standardized(X: Array) -> Array:
    """Return the columns with mean 0 and standard deviation 1; a constant column becomes 0."""
    location, scale = location_and_scale(X)
    constant = scale <= 1e-14 * np.abs(location)
    return np.asarray((X - location) / np.where(constant, np.inf, scale))


def regression(D: Array) -> Regression:
    """Return the regression on the columns of D, which may depend on each other or outnumber the rows."""
    U, values, Vt = np.linalg.svd(D, full_matrices=False)
    rank = int(np.sum(values > RANK_TOLERANCE * values[0])) if values.size and values[0] > 0 else 0
    U, values, Vt = U[:, :rank], values[:rank], Vt[:rank]
    return Regression(U, (U / values) @ Vt, None if rank == D.shape[1] else Vt.T)


def linear_in(columns: Array, Z: Array) -> tuple[npt.NDArray[np.bool_], int]:
    """Return which of the standardised columns are linear functions of Z up to rounding, and the rank of Z."""
    fit = regression(Z)
    left = fit.residuals(columns)
    return np.asarray(np.mean(left**2, axis=0) < ESTIMABLE), fit.rank


def nested(D: Array, sizes: Iterable[int]) -> Iterator[Regression]:
    """Yield the regression on the first p columns of D for every p of the increasing `sizes`.

    Parameters
    ----------
    D : ndarray of shape (n, p)
        Columns of about the same length (the rank is judged by singular values).
    sizes : iterable of int
        Numbers of leading columns, increasing.

    Yields
    ------
    Regression
        Its arrays are overwritten when the next one is requested.
    """
    Q, R = qr(D, mode="economic")
    inverse_R = _inverse_of_sound_part(R)
    inverse, done = np.zeros((D.shape[0], len(inverse_R)), order="F"), 0
    for p in sizes:
        if p > len(inverse_R):
            yield regression(D[:, :p])
            continue
        inverse[:, :p] += Q[:, done:p] @ inverse_R[:p, done:p].T
        done = p
        yield Regression(Q[:, :p], inverse[:, :p])


def _inverse_of_sound_part(R: Array) -> Array:
    """Invert the largest leading block of a triangular R whose condition number is within the tolerance."""
    small = np.abs(np.diag(R)) <= RANK_TOLERANCE * np.linalg.norm(R[:, 0]) if R.size else np.zeros(0, bool)
    size = int(np.argmax(small)) if small.any() else len(small)
    inverse = solve_triangular(R[:size, :size], np.eye(size)) if size else np.zeros((0, 0))
    # Frobenius norms of leading blocks are running sums over columns, because R is zero below the diagonal.
    condition = np.sqrt(np.cumsum(np.sum(R[:size, :size] ** 2, axis=0)) * np.cumsum(np.sum(inverse**2, axis=0)))
    sound = int(np.sum(condition < 1 / RANK_TOLERANCE))
    return np.asarray(inverse[:sound, :sound])
