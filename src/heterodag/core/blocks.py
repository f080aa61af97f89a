"""A long table: parts, read in groups by one worker each, in blocks of rows that fit a processor's cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.core.parts import ArrayPart, Part, stretches
from heterodag.core.survey import Survey
from heterodag.core.table import Table

#: Rows per block: their designs and weights stay in a processor's cache.
_BLOCK_ROWS = 8192
#: Most groups of parts, whatever the number of workers: sums taken in another order differ in rounding.
_GROUPS = 64
#: Groups of rows of the sample.
_SAMPLE_GROUPS = 4
#: Tables with at least this many rows are asked in two steps: first one in `_ONE_IN` rows, in stretches of `_STRETCH`.
_VERY_LONG, _ONE_IN, _STRETCH = 5_000_000, 10, 100_000


@dataclass(frozen=True, eq=False)
class Blocks:
    """Some parts of a table of `n_rows` rows, and the table's location and scale."""

    parts: tuple[Part, ...]
    n_rows: int
    location: Array
    scale: Array

    @property
    def rows(self) -> int:
        """Number of rows in these parts."""
        return sum(part.rows for part in self.parts)

    @property
    def held_bytes(self) -> int:
        """Size of the rows that are in memory; those on disk do not count."""
        return sum(getattr(part, "held_bytes", 0) for part in self.parts)

    def tables(self) -> Iterator[Table]:
        """Read the parts and yield blocks of their rows, without rows that have missing values."""
        for part in self.parts:
            X = part.read()
            if not np.isfinite(X.sum()):  # a sum is quicker than a look at every number
                X = X[np.isfinite(X).all(axis=1)]
            for start in range(0, len(X), _BLOCK_ROWS):
                yield Table.with_scaling(X[start : start + _BLOCK_ROWS], self.location, self.scale)


@dataclass(frozen=True, eq=False)
class LongTable:
    """A table in parts, and what one pass over it found."""

    parts: tuple[Part, ...]
    survey: Survey

    @property
    def shape(self) -> tuple[int, int]:
        """Rows without missing values, and columns."""
        return self.survey.n_rows, len(self.survey.location)

    @cached_property
    def groups(self) -> list[Blocks]:
        """The parts in groups, each to be read by one worker; always the same objects, which workers get once."""
        cuts = np.array_split(np.arange(len(self.parts)), min(_GROUPS, len(self.parts)))
        return [self._blocks([self.parts[k] for k in some], self.survey.n_rows) for some in cuts]

    def fewer(self) -> LongTable | None:
        """Return a tenth of a very long table, in stretches from all of it; None if it is shorter or has gaps."""
        if self.survey.n_rows < _VERY_LONG or self.survey.dropped:
            return None
        parts = stretches(self.parts, _STRETCH, _ONE_IN * _STRETCH)
        return LongTable(tuple(parts), replace(self.survey, n_rows=sum(part.rows for part in parts)))

    @cached_property
    def in_memory(self) -> list[Blocks]:
        """The sample as if it were the table, in a few groups; always the same objects, which workers get once."""
        X = self.survey.sample
        return [self._blocks([ArrayPart(some)], len(X)) for some in np.array_split(X, _SAMPLE_GROUPS)]

    def _blocks(self, parts: Sequence[Part], n_rows: int) -> Blocks:
        return Blocks(tuple(parts), n_rows, self.survey.location, self.survey.scale)
