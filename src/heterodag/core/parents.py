"""Regressions in which every target has its own parents: the sparse counterpart of `design`.

The designs of a batch form one three-dimensional array, so the solver handles hundreds of small regressions at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from heterodag.core.design import Block, product_places
from heterodag.core.gaussian import Array, Index
from heterodag.core.table import CACHE_BYTES, Table, row_slices


@dataclass(frozen=True)
class ParentBlock(Block):
    """A block whose arrays `Z` (targets, p, rows) and `products` have a first axis for the targets."""

    def of(self, which: Index) -> ParentBlock:
        """Return the block of some targets."""
        assert self.products is not None
        return ParentBlock(self.Z[which], self.products[which], self.Y[which])

    def sums(self, weights: Array) -> Array:
        """Return the sums over rows of weights (kinds, targets, rows) times each column of the target's design."""
        return _per_target(self.Z, weights)

    def weigh(self, weights: Array) -> Array:
        """Return the sums over rows of weights times each product of columns of the target's design."""
        assert self.products is not None
        return _per_target(self.products, weights)


def _per_target(columns: Array, weights: Array) -> Array:
    """Return (kinds, targets, columns): for every target, its columns times its weights."""
    summed: Array = np.matmul(columns, weights.transpose(1, 2, 0)).transpose(2, 0, 1)
    return summed


@dataclass
class ParentDesign:
    """Targets, each with its own parents; both may repeat.

    Targets with fewer parents than others get columns of zeros at the end, whose coefficients stay zero.
    """

    table: Table
    parents: Sequence[Sequence[int]]
    targets: Sequence[int]
    _kept: list[tuple[slice, ParentBlock]] = field(default_factory=list)

    def __post_init__(self) -> None:
        most = max((len(some) for some in self.parents), default=0)
        self._columns = np.zeros((len(self.targets), most), dtype=np.intp)
        self._absent = np.ones(self._columns.shape, dtype=bool)
        for i, some in enumerate(self.parents):
            self._columns[i, : len(some)], self._absent[i, : len(some)] = some, False
        self._served = np.arange(len(self.targets))
        self.width = most + 1
        self._left, self._right, self.symmetric = product_places(self.width)
        self.n_products = len(self._left)

    @property
    def n_rows(self) -> int:
        """Number of observations."""
        return self.table.shape[0]

    def blocks(self, active: Index | None = None) -> Iterator[ParentBlock]:
        """Iterate over the observations, with only the targets numbered `active` (all by default)."""
        which = np.arange(len(self.targets)) if active is None else active
        if self._kept:
            self._serve_only(which)
            yield from (block for _, block in self._kept)
            return
        floats = len(which) * (self.width + self.n_products)
        kept, keep = [], self.n_rows * floats * 8 <= CACHE_BYTES
        for rows in row_slices(self.n_rows, floats + 12 * len(which)):
            block = self._block(rows, which)
            if keep:
                kept.append((rows, block))
            yield block
        self._kept, self._served = kept, which

    def _block(self, rows: slice, which: Index) -> ParentBlock:
        Z = self.regressors(rows, which)
        columns = np.asarray(self.targets, dtype=np.intp)[which]
        return ParentBlock(Z, Z[:, self._left] * Z[:, self._right], self.table.take(columns, rows))

    def _serve_only(self, which: Index) -> None:
        """Shrink the cache to some targets (a solver finishes them one by one); rebuild it if others are needed."""
        if len(which) == len(self._served) and (which == self._served).all():
            return
        where = np.searchsorted(self._served, which)
        if (where < len(self._served)).all() and (self._served[where] == which).all():
            self._kept = [(rows, block.of(where)) for rows, block in self._kept]
        else:
            self._kept = [(rows, self._block(rows, which)) for rows, _ in self._kept]
        self._served = which

    def regressors(self, rows: slice, which: Index | slice = slice(None)) -> Array:
        """Return the designs (targets, p, rows) of some targets on some observations."""
        columns = self._columns[which]
        taken = self.table.take(columns.ravel(), rows)
        Z = np.empty((len(columns), self.width, taken.shape[1]))
        Z[:, 0], Z[:, 1:] = 1.0, taken.reshape(*columns.shape, taken.shape[1])
        Z[:, 1:][self._absent[which]] = 0.0
        return Z
