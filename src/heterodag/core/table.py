"""A standardised view of the data, served in blocks of rows so that large tables are never copied whole.

Standardising (mean 0, standard deviation 1 per column) changes no result (the model class is closed under shift
and scale, see `gaussian`); it makes the tiny ridge and the solver's tolerances mean the same for every column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import numpy as np

from heterodag.core.gaussian import Array, Index

#: Arrays up to this size are kept between passes; larger ones are recomputed block by block.
CACHE_BYTES = 48 * 2**20
#: Aim for blocks whose temporaries fit a processor's cache.
BLOCK_BYTES = 2**22
#: A sample keeps rows that are this many standard deviations out in some column, up to this share of the sample.
FAR_OUT, _FAR_SHARE = 10.0, 0.25

#: What a worker has computed for the last tables that were sent to it: every job brings its table again.
_TRAVELLED: dict[str, tuple[Array | None, dict[Any, Any]]] = {}
_MOST_TRAVELLED = 4


def location_and_scale(X: Array) -> tuple[Array, Array]:
    """Return mean and standard deviation per column, safe for values as large as 1e300 or as small as 1e-300."""
    location, scale = np.empty(X.shape[1]), np.empty(X.shape[1])
    for j in range(X.shape[1]):
        unit = float(np.max(np.abs(X[:, j]))) or 1.0
        column = X[:, j] / unit
        mean = float(column.mean())
        column -= mean
        location[j], scale[j] = mean * unit, float(np.sqrt(column @ column / len(column))) * unit
    return location, scale


@dataclass(frozen=True)
class Table:
    """Columns of `X`, standardised when they are taken; `cached` is the whole standardised table, transposed.

    `memo` keeps what should be computed only once per table, such as the knots of its columns.
    """

    X: Array
    location: Array
    scale: Array
    cached: Array | None
    memo: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    token: str = field(default_factory=lambda: uuid4().hex, init=False, repr=False, compare=False)

    @classmethod
    def standardize(cls, X: Array) -> Table:
        """Wrap `X`; a standardised copy is kept only when it is small."""
        location, scale = location_and_scale(X)
        return cls.with_scaling(X, location, scale)

    @classmethod
    def with_scaling(cls, X: Array, location: Array, scale: Array) -> Table:
        """Wrap `X` with a location and scale found elsewhere (new rows for a fitted model)."""
        return cls(X, location, scale, _standardized(X, location, scale))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.X.shape[0], self.X.shape[1]

    @property
    def held_bytes(self) -> int:
        """Size of the rows in memory."""
        return self.X.nbytes

    def take(self, columns: Sequence[int] | Index, rows: slice = slice(None)) -> Array:
        """Return standardised columns, one per row of the result."""
        index = np.asarray(columns, dtype=np.intp)
        if self.cached is not None:
            return self.cached[index, rows]
        raw = self.X[rows][:, index].T
        return (raw - self.location[index, None]) / self.scale[index, None]

    def sample(self, rows: int) -> Table:
        """Return a sample of that many rows, scaled as the whole table; the table itself if it has no more."""
        if self.shape[0] <= rows:
            return self
        return Table.with_scaling(self.X[self.sample_rows(rows)], self.location, self.scale)

    def sample_rows(self, rows: int) -> Index:
        """Return the rows of a sample of that size; computed once per table.

        The rows are evenly spread, except that those farthest out (beyond `FAR_OUT` standard deviations in some
        column) are taken first, up to a share of the sample: in heavy-tailed tables a few such rows hold most of the
        information about an effect, and an even sample would lose them.
        """
        key = ("sample rows", rows)
        if key not in self.memo:
            far = self._farthest(int(_FAR_SHARE * rows))
            rest = np.delete(np.arange(self.shape[0]), far)
            even = rest[np.arange(rows - len(far)) * len(rest) // (rows - len(far))]
            self.memo[key] = np.sort(np.concatenate([far, even]))
        found: Index = self.memo[key]
        return found

    def _farthest(self, most: int) -> Index:
        """Return the rows farthest out in some column, at most that many."""
        reach = np.empty(self.shape[0])
        for rows in row_slices(len(reach), 3 * self.shape[1]):
            reach[rows] = np.abs(self.take(range(self.shape[1]), rows)).max(axis=0)
        far = np.flatnonzero(reach > FAR_OUT)
        return far[np.argsort(-reach[far], kind="stable")[:most]]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be recomputed: a table sent to a worker should be no larger than its numbers."""
        return self.__dict__ | {"cached": None, "memo": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Standardise again if the table is small; a worker that knows this table reuses what it has computed."""
        self.__dict__.update(state)
        if self.token not in _TRAVELLED:
            _TRAVELLED[self.token] = _standardized(self.X, self.location, self.scale), {}
            while len(_TRAVELLED) > _MOST_TRAVELLED:
                del _TRAVELLED[next(iter(_TRAVELLED))]
        self.__dict__["cached"], self.__dict__["memo"] = _TRAVELLED[self.token]


def _standardized(X: Array, location: Array, scale: Array) -> Array | None:
    """Return the standardised table, transposed, if it is small enough to keep."""
    if X.size * 8 > CACHE_BYTES:
        return None
    return np.ascontiguousarray(((X - location) / scale).T)


def row_slices(n: int, floats_per_row: int) -> Iterator[slice]:
    """Cut `n` rows into blocks of about `BLOCK_BYTES` when a row needs `floats_per_row` temporaries."""
    step = max(256, BLOCK_BYTES // (8 * max(1, floats_per_row)))
    for start in range(0, n, step):
        yield slice(start, min(n, start + step))
