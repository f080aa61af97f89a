"""Store the rows of an experiment on disk: one JSON object per line, added as cells finish, to continue a run from.

Every row says in its column `heterodag` which version of heterodag made it. A user's benchmark counts only rows of
the running version: the others stay in the file, and their cells are run again. The reproduction of the paper counts
rows of all versions, because they take hours to compute, and says which versions made them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from heterodag.errors import HeterodagError
from heterodag.experiments.cells import Cell
from heterodag.experiments.run_cell import Row
from heterodag.runtime.jsonlines import append_object, read_objects

FILE = "rows.jsonl"
#: If a cell has several rows, the one whose status comes later in this list counts.
STATUSES = ("error", "timeout", "done")


class RowStore:
    """Rows by the names of their cells.

    Parameters
    ----------
    folder : path
        Where `rows.jsonl` is, or will be.
    version : str, optional
        Only rows made by this version of heterodag count; None takes all.

    Attributes
    ----------
    broken : int
        Number of lines that held no row when the store was opened, as a killed process leaves them. Their cells count
        as missing.
    """

    def __init__(self, folder: str | Path, version: str | None = None) -> None:
        self.path = Path(folder) / FILE
        self.broken = 0
        self._rows: dict[str, Row] = {}
        self._outdated: dict[str, Row] = {}
        if self.path.exists():
            self._load(version)

    def _load(self, version: str | None) -> None:
        objects, self.broken = read_objects(self.path)
        for row in objects:
            if not isinstance(row.get("cell"), str) or row.get("status") not in STATUSES:
                self.broken += 1
            elif version is None or row.get("heterodag") == version:
                self._keep(row)
            else:
                self._outdated[row["cell"]] = row

    def outdated(self, cells: Iterable[Cell]) -> list[Row]:
        """Return the rows of these cells for which only another version has a row."""
        names = {cell.name for cell in cells}
        return [row for name, row in self._outdated.items() if name in names and name not in self._rows]

    def _keep(self, row: Row) -> None:
        """Keep one row per cell: the one that got furthest, and the newest if there are several."""
        old = self._rows.get(row["cell"])
        if old is None or STATUSES.index(row["status"]) >= STATUSES.index(old["status"]):
            self._rows[row["cell"]] = row

    def prepare(self) -> None:
        """Create the folder."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            said = f"Folder '{self.path.parent}' cannot be made ({error.strerror}); choose another."
            raise HeterodagError(said) from None

    def add(self, row: Row) -> None:
        """Write a row; it is on the disk when this returns."""
        append_object(self.path, row)
        self._keep(row)

    def missing(self, cells: Iterable[Cell], max_seconds: float | None = None, retry: bool = False) -> list[Cell]:
        """Return the cells still to be run, each once.

        A cell that was stopped by a time limit is missing if the limit is longer now; with `retry`, so is every cell
        that ended with an error or at a time limit.
        """
        wanted = {cell.name: cell for cell in cells}
        return [cell for name, cell in wanted.items() if not self._finished(self._rows.get(name), max_seconds, retry)]

    @staticmethod
    def _finished(row: Row | None, max_seconds: float | None, retry: bool) -> bool:
        if row is None or row["status"] == "done":
            return row is not None
        longer = row["status"] == "timeout" and (max_seconds or math.inf) > (row.get("max_seconds") or math.inf)
        return not retry and not longer

    def rows(self, cells: Iterable[Cell] | None = None) -> list[Row]:
        """Return all rows, or the stored rows of the given cells, in the order of the cells."""
        if cells is None:
            return list(self._rows.values())
        return [self._rows[name] for name in {cell.name: None for cell in cells} if name in self._rows]
