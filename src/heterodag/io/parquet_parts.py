"""Parquet files as parts of a table: row groups, or slices of large ones, read when they are needed."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.errors import DataError, MissingExtraError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

#: Rows that are decoded at a time, and bytes that are buffered per column meanwhile.
_BATCH, _BUFFER = 65_536, 2**16


@dataclass(frozen=True)
class ParquetPart:
    """Consecutive rows of a Parquet file: some whole row groups, or a slice of one.

    Attributes
    ----------
    path, place : the file as it is opened (absolute path), and as messages call it: "file 'a.parquet'".
    columns : names of the columns to read.
    groups : numbers of the row groups.
    start, rows : number of rows to skip in these groups, and number of rows to read.
    first : position of the first row in the file.
    absent : numbers that stand for a missing value.
    tells_groups : whether the label names row groups; those of a converted file mean nothing to its owner.
    """

    path: str
    place: str
    columns: tuple[str, ...]
    groups: tuple[int, ...]
    start: int
    rows: int
    first: int
    absent: tuple[float, ...] = ()
    tells_groups: bool = True

    @property
    def label(self) -> str:
        """Which rows of which file."""
        rows = f"rows {self.first} to {self.first + self.rows - 1}"
        if not self.tells_groups:
            return f"{self.place}, {rows}"
        several = f"row groups {self.groups[0]} to {self.groups[-1]}"
        return f"{self.place}, {several if len(self.groups) > 1 else f'row group {self.groups[0]}'} ({rows})"

    def row_place(self, position: int) -> str:
        """Return where a row of the part is, as a message names it; the first row of the part is 0."""
        place = f"row {self.first + position} of {self.place}"
        if not self.tells_groups:
            return place
        from pyarrow.parquet import read_metadata

        found, ends = read_metadata(self.path), 0
        for group in self.groups:
            ends += found.row_group(group).num_rows
            if self.start + position < ends:
                break
        return f"{place}, row group {group}"

    def read(self) -> Array:
        """Return the numbers (rows, d); missing values are NaN."""
        with _readable(self):
            X = _OPEN.read(self)
        if self.absent:
            X[np.isin(X, self.absent)] = np.nan
        return X


class _Changed(Exception):
    """A file is no longer what it was when it was opened."""


@contextmanager
def _readable(part: ParquetPart) -> Iterator[None]:
    """Turn whatever prevents a part from being read into one sentence about its file."""
    arrow = pyarrow()
    try:
        yield
    except (_Changed, KeyError) as error:
        _OPEN.close()
        raise DataError(
            f"{part.place.capitalize()} has changed since the table was opened ({error}): open it again."
        ) from None
    except (arrow.ArrowException, OSError, ValueError) as error:
        _OPEN.close()
        raise DataError(
            f"{part.place.capitalize()} could be opened but not be read ({_reason(error)}): check that it is still there "
            "and complete."
        ) from None


class _OpenFile(threading.local):
    """The file that was read last, kept open: the next slice of a row group continues where the last one ended."""

    key: Any = None
    file: Any = None
    batches: Iterator[pa.RecordBatch] = iter(())
    rest: pa.RecordBatch | None = None
    at: int = 0

    def read(self, part: ParquetPart) -> Array:
        info = os.stat(part.path)
        key = (part.path, part.groups, part.columns, info.st_mtime_ns, info.st_size)
        if key != self.key or part.start < self.at:
            self._open(part, key)
        out, filled = np.empty((part.rows, len(part.columns)), order="F"), 0  # columns are written one by one
        while filled < part.rows:
            batch = self._next()
            skip = min(max(part.start - self.at, 0), batch.num_rows)
            use = min(batch.num_rows - skip, part.rows - filled)
            for j, name in enumerate(part.columns):
                out[filled : filled + use, j] = _floats(batch.column(name).slice(skip, use))
            filled, self.at = filled + use, self.at + skip + use
            self.rest = batch.slice(skip + use)
        return out

    def _open(self, part: ParquetPart, key: Any) -> None:
        from pyarrow.parquet import ParquetFile

        self.close()
        self.file = ParquetFile(part.path, pre_buffer=False, buffer_size=_BUFFER)
        if part.groups[-1] >= self.file.num_row_groups:
            raise _Changed("it has fewer row groups")
        options = {"row_groups": list(part.groups), "columns": list(part.columns), "use_threads": False}
        self.batches = self.file.iter_batches(batch_size=max(1, min(_BATCH, part.rows)), **options)
        self.key, self.at, self.rest = key, 0, None

    def _next(self) -> pa.RecordBatch:
        if self.rest is not None and self.rest.num_rows:
            return self.rest
        batch = next(self.batches, None)
        if batch is None:
            raise _Changed("it has fewer rows")
        return batch

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
        self.key, self.file, self.batches, self.rest, self.at = None, None, iter(()), None, 0


_OPEN = _OpenFile()


def close_files() -> None:
    """Close the file that was read last."""
    _OPEN.close()


def _floats(column: pa.Array) -> Array:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_float16(column.type):  # early versions of pyarrow cannot cast these
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)


@dataclass(frozen=True)
class ParquetFile:
    """What the footer of a Parquet file says.

    Attributes
    ----------
    path, name : the file as it is opened (absolute path), and as messages call it.
    columns : names, without the columns in which pandas stores its index.
    text : the type of every column that holds no numbers.
    groups : rows of each row group.
    """

    path: str
    name: str
    columns: tuple[str, ...]
    text: dict[str, str]
    groups: tuple[int, ...]

    def example(self, column: str) -> Any:
        """Return the first cell of a column; None if it cannot be read."""
        with self._file() as file:
            batch = next(file.iter_batches(batch_size=1, columns=[column], use_threads=False), None)
        return None if batch is None or not batch.num_rows else batch.column(column)[0].as_py()

    @contextmanager
    def _file(self) -> Iterator[pq.ParquetFile]:
        with opened_file(self.path, self.name) as file:
            yield file

    def parts(self, columns: Sequence[str], rows: int, **told: Any) -> Iterator[ParquetPart]:
        """Cut the file: small row groups are joined, large ones cut into equal slices, none above `rows` rows."""
        place, start = told.pop("place", f"file '{self.name}'"), 0
        for groups in _joined(self.groups, rows):
            total = sum(self.groups[g] for g in groups)
            cuts = np.linspace(0, total, -(-total // rows) + 1).astype(int).tolist()
            for low, high in pairwise(cuts):
                yield ParquetPart(
                    self.path, place, tuple(columns), groups, low, high - low, start + low, **told
                )  # fmt: skip
            start += total


def _joined(sizes: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Yield consecutive row groups that together have at most `most` rows; empty groups are left out."""
    groups: list[int] = []
    total = 0
    for g, size in enumerate(sizes):
        if groups and total + size > most:
            yield tuple(groups)
            groups, total = [], 0
        if size:
            groups.append(g)
            total += size
    if groups:
        yield tuple(groups)


def look_at_file(path: str, name: str) -> ParquetFile:
    """Read the footer of a Parquet file, or raise `DataError`."""
    with opened_file(path, name) as file:
        schema, metadata = file.schema_arrow, file.metadata
        index = {name for name in (schema.pandas_metadata or {}).get("index_columns", []) if isinstance(name, str)}
        columns = tuple(column for column in schema.names if column not in index)
        groups = tuple(metadata.row_group(g).num_rows for g in range(metadata.num_row_groups))
    repeated = next((column for column in columns if columns.count(column) > 1), None)
    if repeated is not None:
        raise DataError(f"Column name '{repeated}' appears more than once in '{name}'; rename one.")
    types = {column: schema.field(column).type for column in columns}
    text = {column: str(type_) for column, type_ in types.items() if not _is_numeric(type_)}
    return ParquetFile(os.path.abspath(path), name, columns, text, groups)


@contextmanager
def opened_file(path: str, name: str) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file, or raise `DataError`."""
    arrow = pyarrow()
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER) as file:
            yield file
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise DataError(f"File '{name}' is not a readable Parquet file ({_reason(error)}).") from None


def pyarrow() -> Any:
    """Return the package that reads Parquet files, or raise `MissingExtraError`."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("Reading Parquet files", "parquet") from None
    return pyarrow


def _is_numeric(type_: pa.DataType) -> bool:
    from pyarrow import types

    own = type_.value_type if types.is_dictionary(type_) else type_
    kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(is_kind(own) for is_kind in kinds)


def _reason(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
