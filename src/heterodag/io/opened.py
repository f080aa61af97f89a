"""Tables that are not in memory: rows are read part by part, when they are needed, and never all at once."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals.stable.v1 as nw
import numpy as np

from heterodag.core import survey
from heterodag.core.gaussian import Array, Index
from heterodag.core.parts import ArrayPart, Part, array_parts
from heterodag.errors import DataError, ParameterError, check_integer
from heterodag.io.choices import Choice
from heterodag.io.dask_parts import check_dask_columns, dask_parts, is_dask_frame
from heterodag.io.disk_parts import Opened, is_lazy_frame, open_files, open_lazy_frame
from heterodag.io.inputs import column_labels, column_name, own_labels, read_data
from heterodag.io.kinds import PARQUET, TEXT, kind_of
from heterodag.io.parquet_parts import ParquetPart, close_files, look_at_file
from heterodag.io.paths import is_many, is_path
from heterodag.io.sources import STANDARD_INPUT, open_source
from heterodag.io.temporary import TemporaryFolder

if TYPE_CHECKING:
    import pandas as pd

#: Parquet files of more rows, and text files of more bytes, are not read whole by the command line.
IN_MEMORY_ROWS, IN_MEMORY_BYTES = 200_000, 200_000_000


class OpenTable:
    """A table whose rows are read part by part; made by `open_table`.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    parts : sequence of Part
        The rows, in order; each part knows how many rows it has and where they are, and reads them.
    source : str
        What the table was opened from, for messages.
    folder : TemporaryFolder, optional
        Files that belong to the table: they are removed when it is closed or no longer used.
    text : mapping, optional
        Columns that were left out because they hold no numbers, with an example of each.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    parts : tuple of Part
        The rows.
    n_rows : int
        Number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from heterodag import open_table
    >>> with open_table(np.random.default_rng(0).standard_normal((1000, 3)), rows_per_part=300) as table:
    ...     print(table, [part.rows for part in table.parts])
    OpenTable of 1000 rows and 3 columns in 4 parts, from an array [300, 300, 300, 100]
    """

    def __init__(
        self,
        names: Sequence[str],
        parts: Sequence[Part],
        source: str,
        folder: TemporaryFolder | None = None,
        text: Mapping[str, Any] | None = None,
    ) -> None:
        self.names, self.parts, self.source, self.text = list(names), tuple(parts), source, dict(text or {})
        self.n_rows = sum(part.rows for part in self.parts)
        self._remove = None if folder is None else weakref.finalize(self, folder.remove)
        if not self.n_rows:
            self.close()
            raise DataError(f"There are no rows of data in {source}; at least one is needed.")

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, len(self.names)

    def sample(self, rows: int, random_state: Any = None) -> pd.DataFrame:
        """Return rows drawn evenly from the whole table.

        Parameters
        ----------
        rows : int
            How many. The table is cut into this many stretches of equal length, and one row of each is drawn.
        random_state : int, Generator or None
            The seed. The rows do not depend on how the table is cut into parts.

        Returns
        -------
        pandas.DataFrame
            The rows in their order; the index is their position in the table. All rows if the table has no more.

        Examples
        --------
        >>> import numpy as np
        >>> from heterodag import open_table
        >>> table = open_table(np.arange(20.0).reshape(10, 2))
        >>> table.sample(2, random_state=0)
             x0    x1
        4   8.0   9.0
        8  16.0  17.0
        """
        rows = check_integer("rows", rows, low=1)
        return self._frame(stratified_rows(self.n_rows, rows, random_state))

    def head(self, rows: int = 5) -> pd.DataFrame:
        """Return the first rows.

        Parameters
        ----------
        rows : int, default=5
            How many.

        Returns
        -------
        pandas.DataFrame
            The rows; all of them if the table has no more.
        """
        return self._frame(np.arange(min(check_integer("rows", rows, low=1), self.n_rows)))

    def take(self, positions: Index) -> Array:
        """Return rows by their positions in the table.

        Parameters
        ----------
        positions : (m,) whole numbers
            In increasing order; the first row of the table is 0.

        Returns
        -------
        (m, d) array
            The rows. Parts that hold none of them are not read.
        """
        found = np.empty((len(positions), len(self.names)))
        for start, part in self.placed_parts():
            low, high = np.searchsorted(positions, [start, start + part.rows])
            if low < high:
                found[low:high] = part.read()[positions[low:high] - start]
        return found

    def placed_parts(self) -> Iterator[tuple[int, Part]]:
        """Yield every part with the position of its first row.

        Yields
        ------
        tuple of int and Part
            In the order of the rows.
        """
        starts = accumulate((part.rows for part in self.parts), initial=0)
        yield from zip(starts, self.parts, strict=False)

    def close(self) -> None:
        """Remove the files that were made for this table; files of the user stay."""
        close_files()
        if self._remove is not None:
            self._remove()

    def _frame(self, positions: Index) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self.take(positions), columns=own_labels(self.names), index=positions)

    def __enter__(self) -> OpenTable:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """Leave the temporary files to the table that made them: a copy in another process removes nothing."""
        return self.__dict__ | {"_remove": None}

    def __repr__(self) -> str:
        n, d, k = self.n_rows, len(self.names), len(self.parts)
        size = f"{n} row{'' if n == 1 else 's'} and {d} column{'' if d == 1 else 's'}"
        return f"OpenTable of {size} in {k} part{'' if k == 1 else 's'}, from {self.source}"


def open_table(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    rows_per_part: int | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    na_values: Sequence[str] = (),
    strict: bool = True,
) -> OpenTable:
    r"""Open a table without reading it into memory.

    Parameters
    ----------
    source : path, list of paths, polars LazyFrame, Dask DataFrame, array or data frame
        A Parquet file, a pattern such as ``"measurements/*.parquet"``, a folder of Parquet files, or a list of these; text
        files (CSV, TSV, also packed) and lazy frames are converted to Parquet in a temporary folder, which is removed when
        the table is closed or no longer used. Partitions of a Dask DataFrame are computed when they are read.
    columns : sequence of str, optional
        The columns to use, in this order.
    drop : sequence of str, optional
        Columns to leave out.
    rows_per_part : int, optional
        At most this many rows are read at a time; by default as many as take 16 MB. Partitions of a Dask DataFrame
        are not cut.
    delimiter, decimal, encoding, header, comment : optional
        How text files are to be read; see `heterodag.io.tables.read_table`.
    na_values : sequence of str
        Texts in text files, or numbers in other files, that stand for a missing value.
    strict : bool, default=True
        False leaves out columns of Parquet files that hold no numbers, and lists them in `text`; this is for checks.

    Returns
    -------
    OpenTable
        It has `names`, `n_rows`, `parts`, `sample` and `head`. `HOST.fit` and `check_table` take it.

    Raises
    ------
    DataError
        If a file cannot be read, files do not belong together, or a column holds no numbers. Missing and infinite values
        are found when the rows are read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from heterodag import open_table
    >>> _ = Path("long.csv").write_text("time,dose,level\n" + "1,2.5,3\n" * 50_000, encoding="utf-8")
    >>> with open_table("long.csv", drop=["time"]) as table:
    ...     print(table)
    OpenTable of 50000 rows and 2 columns in 1 part, from 'long.csv'
    """
    if rows_per_part is not None:
        rows_per_part = check_integer("rows_per_part", rows_per_part, low=1)
    if isinstance(source, OpenTable):
        if columns or drop or rows_per_part:
            raise ParameterError("source", "not be open already if columns or rows are chosen", source)
        return source
    choice = Choice(columns, drop, rows_per_part)
    if is_path(source):
        text = {
            "delimiter": delimiter,
            "decimal": decimal,
            "encoding": encoding,
            "header": header,
            "comment": comment,
        }
        return _table(open_files(source, choice, text, na_values, strict))
    if na_values:
        raise ParameterError("na_values", "be given for files only", na_values)
    native = nw.to_native(source, strict=False)
    if is_lazy_frame(native):
        return _table(open_lazy_frame(native, choice))
    return _from_dask(native, choice) if is_dask_frame(native) else _from_memory(source, choice)


def as_open_table(X: Any) -> OpenTable | None:
    """Open a table that is not in memory; return None for one that is.

    Tables not in memory are open tables, polars LazyFrames and Dask DataFrames.
    """
    native = nw.to_native(X, strict=False)
    if isinstance(X, OpenTable) or is_lazy_frame(native) or is_dask_frame(native):
        return open_table(X)
    return None


def needs_opening(path: str | Path) -> bool:
    """Tell whether a path stands for several files, or for one that should not be read into memory whole."""
    if str(path) == STANDARD_INPUT:
        return False
    if is_many(path):
        return True
    source = open_source(path)
    kind = kind_of(source)
    if kind == TEXT:
        return os.path.getsize(path) > IN_MEMORY_BYTES
    if kind != PARQUET or not source.is_plain:
        return False
    return sum(look_at_file(str(path), str(source)).groups) > IN_MEMORY_ROWS


def row_place(part: Part, position: int) -> str:
    """Return where a row of a part is, as a message names it; the first row of the part is 0."""
    if isinstance(part, ParquetPart):
        return part.row_place(position)
    if isinstance(part, ArrayPart):
        return f"row {part.first + position}"
    return f"row {position} of {part.label}"


def stratified_rows(n: int, rows: int, random_state: Any = None) -> Index:
    """Return one random position from each of `rows` equal stretches of n rows; all positions if n is not larger."""
    try:
        rng = np.random.default_rng(random_state)
    except (TypeError, ValueError):
        rule = "be None, a non-negative whole number or a NumPy generator"
        raise ParameterError("random_state", rule, random_state) from None
    return survey.stratified_rows(n, rows, rng)


def _table(opened: Opened) -> OpenTable:
    return OpenTable(opened.names, opened.parts, opened.source, opened.folder, opened.text)


def _from_dask(frame: Any, choice: Choice) -> OpenTable:
    labels = {column_name(label): label for label in frame.columns}
    if len(labels) < len(frame.columns):
        raise DataError("Two columns of the Dask DataFrame have one name: give every column its own.")
    names = choice.of(list(labels), "the Dask DataFrame")
    chosen = [labels[name] for name in names]
    check_dask_columns(frame, chosen)
    return OpenTable(names, dask_parts(frame, chosen), "a Dask DataFrame")


def _from_memory(X: Any, choice: Choice) -> OpenTable:
    array, own = read_data(X)
    labels = column_labels(array.shape[1], own)
    names = choice.of(labels, "the table")
    chosen = array if names == labels else array[:, [labels.index(name) for name in names]]
    parts = tuple(array_parts(np.ascontiguousarray(chosen), choice.rows(len(names))))
    return OpenTable(names, parts, "an array" if own is None else "a data frame")
