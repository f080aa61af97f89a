"""Blocks of the regression that all targets of a round share: design `Z`, its column products, targets `Y`.

Every target of a round is regressed on the same `Z`, so the information of all of them is one matrix product:
the table of products of columns of `Z` (n x p(p+1)/2), transposed, times the targets' row weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import numpy as np

from heterodag.core.gaussian import Array, Index
from heterodag.core.table import CACHE_BYTES, Table, row_slices

#: Standardised predecessors (k, rows) -> design (p, rows) whose first row is 1.
Basis = Callable[[Array], Array]


def linear_basis(predecessors: Array) -> Array:
    """Return the predecessors under a row of ones: the paper's linear parametrisation."""
    Z = np.empty((predecessors.shape[0] + 1, predecessors.shape[1]))
    Z[0], Z[1:] = 1.0, predecessors
    return Z


@lru_cache(maxsize=64)
def product_places(width: int) -> tuple[Index, Index, Index]:
    """Return which two columns make each product, and the position of every pair's product in the list."""
    left, right = np.triu_indices(width)
    places = np.empty((width, width), dtype=np.intp)
    places[left, right] = places[right, left] = np.arange(len(left))
    for shared in (left, right, places):
        shared.setflags(write=False)
    return left, right, places


def combine(coefficients: Array, Z: Array) -> Array:
    """Return the linear predictors (targets, rows) of coefficients (p, targets).

    `Z` is the design (p, rows) that all targets share, or one design per target (targets, p, rows).
    """
    if Z.ndim == 2:
        return coefficients.T @ Z
    predictors: Array = np.matmul(coefficients.T[:, None, :], Z)[:, 0]
    return predictors


def _weighted_products(Z: Array, weights: Array) -> Array:
    """Return `Z diag(weights) Z'`; with weights >= 0 as a matrix times its own transpose, which is half the work."""
    if weights.min(initial=0.0) < 0.0:
        return (Z * weights) @ Z.T
    half = Z * np.sqrt(weights)
    return half @ half.T


@dataclass(frozen=True)
class Block:
    """Some observations (along the last axis) of the design, of its products (if kept), and of the targets."""

    Z: Array
    products: Array | None
    Y: Array

    def sums(self, weights: Array) -> Array:
        """Return the sums over rows of weights (kinds, targets, rows) times each column of the design."""
        return weights @ self.Z.T

    def weigh(self, weights: Array) -> Array:
        """Return the sums over rows of weights (kinds, targets, rows) times each product of columns."""
        if self.products is not None:
            return weights @ self.products.T
        p = len(self.Z)
        full = np.stack([_weighted_products(self.Z, w) for w in weights.reshape(-1, weights.shape[-1])])
        left, right, _ = product_places(p)
        return full.reshape(*weights.shape[:2], p, p)[:, :, left, right]

    def column_sums(self) -> Array:
        """Return the sums over rows of the columns of the design (per target if each has its own)."""
        total: Array = self.Z.sum(axis=-1)
        return total


class Regression(Protocol):
    """What the solver needs from a design: blocks of rows, and the positions of products of columns."""

    targets: Sequence[int]
    width: int
    n_products: int
    symmetric: Index

    @property
    def n_rows(self) -> int:
        """Number of observations."""

    def blocks(self, active: Index | None = None) -> Iterator[Block]:
        """Iterate over the observations of the targets numbered `active`."""


@dataclass
class Design:
    """A table, the columns that predict, and the columns that are predicted.

    `targets` may repeat a column, to fit the same target under different restrictions in one batch. A table of the
    products of columns pays when many targets share it; a `wide` design has none. `ready` is the design itself, if it
    has already been computed.
    """

    table: Table
    predecessors: Sequence[int]
    targets: Sequence[int]
    basis: Basis = linear_basis
    wide: bool = False
    ready: Array | None = None
    _kept: list[tuple[slice, Array, Array | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.width = self.regressors(slice(0, 1)).shape[0]
        self._left, self._right, self.symmetric = product_places(self.width)
        self.n_products = len(self._left)

    @property
    def n_rows(self) -> int:
        """Number of observations."""
        return self.table.shape[0]

    def blocks(self, active: Index | None = None) -> Iterator[Block]:
        """Iterate over the observations, with only the targets numbered `active` (all by default)."""
        columns = np.asarray(self.targets, dtype=np.intp)
        if active is not None:
            columns = columns[active]
        for rows, Z, products in self._regressor_blocks():
            yield Block(Z, products, self.table.take(columns, rows))

    def _regressor_blocks(self) -> Iterator[tuple[slice, Array, Array | None]]:
        if self._kept:
            yield from self._kept
            return
        floats, kept = self.width + (0 if self.wide else self.n_products), []
        keep = self.n_rows * floats * 8 <= CACHE_BYTES
        for rows in row_slices(self.n_rows, floats + 12 * len(self.targets)):
            Z = self.regressors(rows)
            piece = (rows, Z, None if self.wide else Z[self._left] * Z[self._right])
            if keep:
                kept.append(piece)
            yield piece
        self._kept = kept

    def regressors(self, rows: slice) -> Array:
        """Return the design on some observations, without its products."""
        if self.ready is not None:
            return self.ready[:, rows]
        return self.basis(self.table.take(self.predecessors, rows))

    def sample(self, rows: int) -> Design:
        """Return the same regression on a sample of the observations, chosen by `Table.sample`."""
        ready = self.ready
        if ready is not None and self.n_rows > rows:
            ready = ready[:, self.table.sample_rows(rows)]
        return Design(self.table.sample(rows), self.predecessors, self.targets, self.basis, self.wide, ready)
