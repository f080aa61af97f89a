"""Turn cells of a table into numbers; if a cell is not a number, say what it probably is and what to do."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from heterodag.errors import DataError
from heterodag.io.sources import Source

if TYPE_CHECKING:
    import pandas as pd

DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
#: Numbers with a mark between thousands, which may be any white space; some look like numbers with a decimal comma.
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:[,.'\s]\d{3})+(?:[.,]\d+)?")
_HUGE = re.compile(r"[+-]?\d{309,}")
_LISTED = 5


def to_number(column: pd.Series) -> pd.Series:
    """Return the column as int64 or float64, with a missing value where a cell is not a number."""
    import pandas as pd
    from pandas.api import types

    if types.is_complex_dtype(column) or types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column):
        return pd.Series(np.nan, index=column.index)
    if types.is_bool_dtype(column) and not column.isna().any():
        return column.astype("int64")
    try:
        numbers = pd.to_numeric(column, errors="coerce")
    except OverflowError:  # Python's whole numbers have no largest value, floats do
        numbers = pd.to_numeric(column.map(_within_floats), errors="coerce")
    if (lost := numbers.isna() & column.notna()).any():  # old versions of pandas do not read 309 digits as a number
        numbers = numbers.where(~lost, column[lost].map(_huge))
    whole = types.is_signed_integer_dtype(numbers) and not numbers.isna().any()
    return numbers.astype("int64" if whole else "float64")


def _within_floats(cell: object) -> object:
    if isinstance(cell, int) and abs(cell) > sys.float_info.max:
        return math.inf if cell > 0 else -math.inf
    return cell


def _huge(cell: object) -> float:
    return float(cell) if isinstance(cell, str) and _HUGE.fullmatch(cell.strip()) else math.nan


def not_numeric(frame: pd.DataFrame, converted: dict[str, pd.Series]) -> dict[str, tuple[str, int]]:
    """Return, for every column with cells that are not numbers, the first such cell and the position of its row."""
    wrong = {name: _no_number(frame[name], column) for name, column in converted.items()}
    rows = {name: int(cells.argmax()) for name, cells in wrong.items() if cells.any()}
    return {name: (str(frame[name].iloc[row]).strip(), row) for name, row in rows.items()}


def _no_number(cells: pd.Series, numbers: pd.Series) -> npt.NDArray[np.bool_]:
    return np.asarray((numbers.isna() & cells.notna()).to_numpy(), dtype=np.bool_)


def check_numeric(frame: pd.DataFrame, converted: dict[str, pd.Series], source: Source, first: int = 0) -> None:
    """Raise `DataError` if a cell is not a number, with the columns, an example of each, and what to do.

    `first` is the position of the frame's first row in the file.
    """
    found = not_numeric(frame, converted)
    if not found:
        return
    examples = {name: cell for name, (cell, _) in found.items()}
    rows = {name: row for name, (_, row) in found.items()}
    wrong = [_no_number(frame[name], column) for name, column in converted.items()]
    only_first = not first and len(rows) == len(wrong) > 1 and all(cells.sum() == 1 and cells[0] for cells in wrong)
    if only_first and not re.search(r"\d", "".join(examples.values())):
        shown = joined([f"'{cell}'" for cell in examples.values()])
        raise DataError(f"The first row below the names of '{source}' holds {shown}, perhaps units; delete that row.")
    shown = joined([f"'{name}' ('{cell}' in data row {first + rows[name] + 1})" for name, cell in examples.items()])
    subject = f"Column {shown} of '{source}' is" if len(rows) == 1 else f"Columns {shown} of '{source}' are"
    raise DataError(f"{subject} {_kind_of_text(examples)}.")


def _kind_of_text(examples: dict[str, str]) -> str:
    """Return what the cells probably are, and what to do, as the end of "The column is ..."."""
    them = "it" if len(examples) == 1 else "them"
    commas = all(DECIMAL_COMMA.fullmatch(cell) for cell in examples.values())
    if all(_THOUSANDS.fullmatch(cell) for cell in examples.values()):
        if commas:
            return (
                "written with a comma; pass --decimal , if it is a decimal comma, or take it out if it stands between "
                "thousands"
            )
        return "written with thousands separators; remove them"
    if commas:
        return f"written with a decimal comma; pass --decimal , to read {them}"
    drop = ",".join(examples) if len(examples) <= _LISTED else "NAME,NAME"
    return f"not numeric; turn {them} into numbers, or leave {them} out with --drop '{drop}'"


def check_cells(source: Source, counts: dict[str, int], kind: str) -> None:
    """Raise `DataError` if there are cells of a kind, "empty" or "infinite", that cannot be used."""
    if not counts:
        return
    shown = joined([f"'{name}' ({count})" for name, count in counts.items()])
    subject = f"Column {shown} of '{source}' has" if len(counts) == 1 else f"Columns {shown} of '{source}' have"
    note = "their number in brackets" + ("; a number beyond 1.8e308 counts as infinite" if kind == "infinite" else "")
    raise DataError(
        f"{subject} {kind} cells ({note}); fill them, remove those rows"
        f"{' with --missing drop' if kind == 'empty' else ''}, or leave the columns out with --drop."
    )


def joined(parts: Sequence[str]) -> str:
    """Return parts as "a, b and c"; if there are many, only the first ones."""
    shown = list(parts[:_LISTED])
    if len(parts) > _LISTED:
        shown.append(f"{len(parts) - _LISTED} more")
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]
