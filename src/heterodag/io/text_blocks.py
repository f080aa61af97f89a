"""Convert long text files to Parquet block by block, with checks as strict as those of `textfiles`.

The fields of every row are counted before pandas gets its block, so no row can be cut short, filled up or shifted.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from heterodag.errors import DataError
from heterodag.io.cells import check_numeric, to_number
from heterodag.io.parquet_parts import pyarrow
from heterodag.io.sources import Source
from heterodag.io.textfiles import TextFormat, numbered_rows, parse_rows, readable, wrong_width

if TYPE_CHECKING:
    import pandas as pd

#: Cells per block: about 20 MB of text.
BLOCK_CELLS = 1_000_000


@dataclass(frozen=True)
class TextTable:
    """A text file whose first lines were examined: how to read it, its names, and whether it has a header."""

    fmt: TextFormat
    names: list[str]
    has_header: bool
    na_values: Sequence[str] = ()

    @property
    def source(self) -> Source:
        """Where the bytes come from."""
        return self.fmt.source


def convert(table: TextTable, columns: Sequence[str], path: Path) -> None:
    """Write some columns of a text file to a Parquet file, one row group per block."""
    pa = pyarrow()
    from pyarrow.parquet import ParquetWriter

    schema = pa.schema([(name, pa.float64()) for name in columns])
    with ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for block in blocks(table, columns):
            writer.write_table(pa.Table.from_pandas(block.astype("float64"), schema=schema, preserve_index=False))


def blocks(table: TextTable, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Yield some columns as numbers, block by block; raise `DataError` at the first cell that is not a number."""
    first, words = 0, dict[str, bool]()
    for text in _blocks_of_text(table, max(1, BLOCK_CELLS // len(table.names))):
        with io.StringIO(text, newline="") as file:
            frame = parse_rows(file, table.fmt, table.names, table.na_values, has_header=False)[list(columns)]
        converted = {name: to_number(frame[name]) for name in columns}
        check_numeric(frame, converted, table.source, first)
        for name in columns:
            _check_words(table.source, frame[name], words, first)
        first += len(frame)
        yield frame.assign(**converted)
    if not first:
        raise DataError(f"File '{table.source}' holds no rows of data; at least one is needed.")


def _check_words(source: Source, column: pd.Series, words: dict[str, bool], first: int) -> None:
    """Refuse a column with True and False in one block and numbers in another, as the reader of whole files does."""
    held = column.dropna()
    if held.empty:
        return
    name, own = str(column.name), isinstance(held.iloc[0], bool | np.bool_)
    if words.setdefault(name, own) != own:
        raise DataError(
            f"Column '{name}' of '{source}' holds True and False in some rows and numbers in others (from data row "
            f"{first + 1} on); write it in one way."
        )


def _blocks_of_text(table: TextTable, rows: int) -> Iterator[str]:
    """Yield the text of `rows` rows at a time; check that every row has as many fields as there are names."""
    fmt, expected, before = table.fmt, len(table.names), 0
    with readable(table.source, fmt.encoding), fmt.open() as file:
        lines: list[str] = []
        held = 0
        found = numbered_rows(_remembered(file, lines), fmt.delimiter)
        if table.has_header:
            before, _ = next(found)
            lines.clear()
        for line, cells in found:
            if len(cells) != expected:
                raise DataError(wrong_width(fmt, cells, expected, before, line))
            before, held = line, held + 1
            if held == rows:
                yield "".join(lines)
                lines.clear()
                held = 0
        if held:
            yield "".join(lines)


def _remembered(lines: Iterable[str], into: list[str]) -> Iterator[str]:
    for line in lines:
        into.append(line)
        yield line
