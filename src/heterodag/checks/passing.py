"""Collect gaps, infinite, constant and extreme values and copies in one pass over a table that is not in memory.

Everything kept is small, whatever the number of rows, and exact, with one exception: in very long tables, copies are
looked for only among rows whose key falls into a fixed share of all keys. Copies have equal keys, so both or none are
kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from heterodag.checks.outliers import Tail
from heterodag.checks.repeats import row_keys
from heterodag.core.gaussian import Array, Index, Mask

#: How many values are kept at either end of a column; a tail has at most 1,000 (`outliers`).
_ENDS = 500
#: How many keys of rows are kept at most.
_KEYS = 1_000_000

#: How many positions of rows with infinite values are kept at most.
_KEPT = 100_000


@dataclass
class Passed:
    """Counts and extremes of the rows seen so far; rows with a missing or infinite value count for those only.

    Attributes
    ----------
    n, complete : rows, and rows without missing or infinite values.
    lost : rows with a missing value.
    missing : (d,) missing values.
    infinite : (d,) columns with infinite values; `endless` are the first rows with such values.
    ends, at : (2, d, k) the lowest and the highest values of complete rows (negated), and their positions.
    """

    d: int
    n: int = 0
    complete: int = 0
    lost: int = 0
    missing: Index = field(init=False)
    infinite: Mask = field(init=False)
    endless: list[int] = field(default_factory=list)
    ends: Array = field(init=False)
    at: Index = field(init=False)
    _keys: NDArray[np.uint64] = field(init=False, repr=False)
    _key_rows: Index = field(init=False, repr=False)
    _halved: int = 0

    def __post_init__(self) -> None:
        self.missing, self.infinite = np.zeros(self.d, dtype=np.intp), np.zeros(self.d, dtype=bool)
        self.ends, self.at = np.empty((2, self.d, 0)), np.empty((2, self.d, 0), dtype=np.intp)
        self._keys, self._key_rows = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.intp)

    def add(self, X: Array) -> None:
        """Add the rows that follow those seen so far."""
        start, rows = self.n, np.arange(self.n, self.n + len(X))
        self.n += len(X)
        with np.errstate(all="ignore"):
            whole = bool(np.isfinite(X.sum()))
        if not whole:
            X, rows = self._gaps(X, rows, start)
        if len(X):
            self.complete += len(X)
            self._extremes(X, rows)
            self._copies(X, rows)

    def join(self, later: Passed) -> None:
        """Add what was seen of the rows that follow."""
        start, before = self.n, self.complete
        self.n, self.complete, self.lost = self.n + later.n, before + later.complete, self.lost + later.lost
        self.missing, self.infinite = self.missing + later.missing, self.infinite | later.infinite
        self.endless += [start + row for row in later.endless][: _KEPT - len(self.endless)]
        ends = np.concatenate([self.ends, later.ends], axis=2)
        at = np.concatenate([self.at, start + later.at], axis=2)
        kept = np.argsort(ends, axis=2, kind="stable")[:, :, : min(_ENDS, self.complete)]
        self.ends, self.at = np.take_along_axis(ends, kept, axis=2), np.take_along_axis(at, kept, axis=2)
        self._halved = max(self._halved, later._halved)
        self._keep(
            np.concatenate([self._keys, later._keys]), np.concatenate([self._key_rows, start + later._key_rows])
        )

    def _gaps(self, X: Array, rows: Index, start: int) -> tuple[Array, Index]:
        empty, finite = np.isnan(X), np.isfinite(X)
        endless = ~finite & ~empty
        self.lost += int(empty.any(axis=1).sum())
        self.missing += empty.sum(axis=0)
        self.infinite |= endless.any(axis=0)
        found = start + np.flatnonzero(endless.any(axis=1))
        self.endless += found[: _KEPT - len(self.endless)].tolist()
        kept = finite.all(axis=1)
        return X[kept], rows[kept]

    def _extremes(self, X: Array, rows: Index) -> None:
        k, full = min(_ENDS, self.complete), self.ends.shape[2] == _ENDS
        ends, at = np.empty((2, self.d, k)), np.empty((2, self.d, k), dtype=np.intp)
        for j in range(self.d):
            for side, x in enumerate((X[:, j], -X[:, j])):
                # Sorting all values of a part would take most of the time of a pass.
                last = self.ends[side, j, -1] if full else np.partition(x, k - 1)[k - 1] if len(x) > k else np.inf
                near = np.flatnonzero(x < last if full else x <= last)
                values = np.concatenate([self.ends[side, j], x[near]])
                order = np.argsort(values, kind="stable")[:k]
                ends[side, j], at[side, j] = values[order], np.concatenate([self.at[side, j], rows[near]])[order]
        self.ends, self.at = ends, at

    def _copies(self, X: Array, rows: Index) -> None:
        keys = row_keys(X)
        kept = self._share(keys)
        self._keep(np.concatenate([self._keys, keys[kept]]), np.concatenate([self._key_rows, rows[kept]]))

    def _keep(self, keys: NDArray[np.uint64], rows: Index) -> None:
        """Keep the keys of a share of the rows, and halve the share whenever there are too many."""
        kept = self._share(keys)
        while kept.sum() > _KEYS:
            self._halved += 1
            kept = self._share(keys)
        self._keys, self._key_rows = keys[kept], rows[kept]

    def _share(self, keys: NDArray[np.uint64]) -> Mask:
        return (
            np.asarray(keys >> np.uint64(64 - self._halved) == 0) if self._halved else np.ones(len(keys), dtype=bool)
        )

    def copies(self) -> tuple[Index, int]:
        """Return positions of rows that repeat an earlier one, and k if only one row in k was examined."""
        order = np.argsort(self._keys, kind="stable")
        again = (
            np.r_[False, self._keys[order][1:] == self._keys[order][:-1]] if len(order) else np.zeros(0, dtype=bool)
        )
        return np.sort(self._key_rows[order[again]]), 2**self._halved

    def only(self, columns: Sequence[int]) -> Passed:
        """Return the same for some columns only."""
        other = copy(self)
        other.d, other.missing, other.infinite = len(columns), self.missing[columns], self.infinite[columns]
        other.ends, other.at = self.ends[:, columns], self.at[:, columns]
        return other

    def constant(self) -> Mask:
        """Return which columns never vary."""
        return (
            np.asarray(self.ends[0, :, 0] == -self.ends[1, :, 0]) if self.complete else np.zeros(self.d, dtype=bool)
        )

    def value_range(self, j: int) -> tuple[float, float]:
        """Return the lowest and the highest value of a column."""
        return float(self.ends[0, j, 0]), -float(self.ends[1, j, 0])

    def count(self, j: int, value: float) -> int | None:
        """Return how many rows hold a value, or None if not all of them are among the values kept."""
        for side, of in enumerate((value, -value)):
            ends = self.ends[side, j]
            if ends[-1] > of or len(ends) == self.complete:
                return int(np.sum(ends == of))
        return None

    def tail(self, j: int, median: float, scale: float, odd: Array) -> tuple[Tail, Array] | None:
        """Return the tail of a column, as far as it is certain from the values kept, and the values themselves."""
        low, high = self.ends[0, j], -self.ends[1, j]
        values, at = np.concatenate([low, high]), self.at[:, j].ravel()
        if self.complete <= 2 * _ENDS:  # the ends overlap
            at, first = np.unique(at, return_index=True)
            values = values[first]
            sure = 0.0
        else:
            sure = max(abs(low[-1] - median), abs(high[-1] - median)) / scale
        distance = np.abs(values - median) / scale
        kept = (distance >= sure) & ~np.isin(values, odd)
        values, at, distance = values[kept], at[kept], distance[kept]
        order = np.lexsort((at, -distance))
        if len(order) < 3:
            return None
        return Tail(at[order[:-1]], distance[order]), values[order]
