"""Choose which columns of a table are used, and how many of its rows are read at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heterodag.core.parts import part_rows
from heterodag.errors import DataError, ParameterError
from heterodag.io.inputs import column_index


@dataclass(frozen=True)
class Choice:
    """What the user chose: columns to use, columns to leave out, rows per part."""

    columns: Sequence[str] | None = None
    drop: Sequence[str] | None = None
    rows_per_part: int | None = None

    def of(self, names: Sequence[str], source: str) -> list[str]:
        """Return the names that are used, in their order, or raise an error that says what is wrong."""
        left_out = {column_index("drop", name, names) for name in self.drop or ()}
        kept = [name for j, name in enumerate(names) if j not in left_out]
        if self.columns:
            chosen = [names[column_index("columns", name, names)] for name in self.columns]
            if len(set(chosen)) < len(chosen):
                repeated = next(name for name in chosen if chosen.count(name) > 1)
                raise ParameterError(
                    "columns", "name every column once", list(self.columns), f"It repeats '{repeated}'."
                )
            kept = [name for name in chosen if name in kept]
        if not kept:
            raise DataError(f"No column of {source} is left; drop fewer columns.")
        return kept

    def rows(self, columns: int) -> int:
        """Return how many rows a part may have."""
        return self.rows_per_part or part_rows(columns)
