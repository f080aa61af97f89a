"""Tables in parts: consecutive rows, read when they are needed, from memory, from disk, or on a worker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from heterodag.core.gaussian import Array

#: The numbers of a part take at most about this many bytes.
PART_BYTES = 2**24


def part_rows(d: int) -> int:
    """Return how many rows of d columns a part has at most."""
    return max(1, PART_BYTES // (8 * d))


class Part(Protocol):
    """Some consecutive rows of a table. A part on disk holds only where its rows are, so it can go to workers."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def label(self) -> str:
        """Where the rows are, as messages to the user put it: "file 'a.parquet', row group 3"."""

    def read(self) -> Array:
        """Return the numbers (rows, d); missing values are NaN."""


@dataclass(frozen=True, eq=False)
class ArrayPart:
    """Rows `X` of an array, from position `first` on. It holds no other rows: a worker that gets it gets only these."""

    X: Array
    first: int = 0

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.X)

    @property
    def label(self) -> str:
        """Which rows of the table."""
        return f"rows {self.first} to {self.first + self.rows - 1}"

    @property
    def held_bytes(self) -> int:
        """Size of the rows in memory."""
        return self.X.nbytes

    def read(self) -> Array:
        """Return the numbers (rows, d)."""
        return self.X


@dataclass(frozen=True, eq=False)
class SomeRows:
    """Rows `start` to `stop` of a part."""

    part: Part
    start: int
    stop: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.stop - self.start

    @property
    def label(self) -> str:
        """Where the part is."""
        return self.part.label

    @property
    def held_bytes(self) -> int:
        """Size of the part in memory; 0 if it is on disk."""
        return getattr(self.part, "held_bytes", 0)

    def read(self) -> Array:
        """Return the numbers (rows, d)."""
        return self.part.read()[self.start : self.stop]


def stretches(parts: Sequence[Part], length: int, every: int) -> list[SomeRows]:
    """Return the first `length` of every `every` rows of a table in parts, however it is cut."""
    found, first = list[SomeRows](), 0
    for part in parts:
        for begin in range(first - first % every, first + part.rows, every):
            start, stop = max(begin, first), min(begin + length, first + part.rows)
            if start < stop:
                found.append(SomeRows(part, start - first, stop - first))
        first += part.rows
    return found


def array_parts(X: Array, rows: int) -> Iterator[ArrayPart]:
    """Cut an array into parts of at most that many rows."""
    for start in range(0, len(X), rows):
        yield ArrayPart(X[start : start + rows], start)
