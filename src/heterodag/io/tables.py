"""Tables in: CSV, TSV and Parquet files become a frame of numbers, or one sentence that says what is wrong.

The details of text files are in `heterodag.io.textfiles`; here are the checks that every kind of file shares.
"""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from heterodag.errors import DataError, DataWarning, MissingExtraError, check_choice
from heterodag.io.inputs import MISSING
from heterodag.io.textfiles import read_text

if TYPE_CHECKING:
    import pandas as pd

_PARQUET = {".parquet", ".pq"}
_FOREIGN = {
    ".xlsx",
    ".xls",
    ".ods",
    ".feather",
    ".h5",
    ".hdf5",
    ".rds",
    ".rdata",
    ".json",
    ".npy",
    ".npz",
    ".zip",
}
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
_LISTED = 5


def read_table(
    path: str | Path,
    *,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str | None = None,
    header: bool | None = None,
    index_column: str | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    missing: str = "refuse",
    conditions: str | None = None,
) -> pd.DataFrame:
    """Read a table of numbers from a file.

    Parameters
    ----------
    path : str or Path
        A Parquet file by its ending (``.parquet``, ``.pq``); anything else is delimited text, unpacked if the
        name ends in ``.gz``.
    delimiter : str, optional
        One character, or ``comma``, ``tab``, ``semicolon``, ``pipe`` or ``space``; by default found out.
    decimal : {".", ","}
        The decimal mark of a text file.
    encoding : str, optional
        Of a text file; by default UTF-8, or what its byte order mark says.
    header : bool, optional
        Whether the first line of a text file holds the names. ``False`` names them ``x0``, ``x1``, ...;
        the default expects names and refuses a first line of numbers.
    index_column : str, optional
        A column of row names: it becomes the index and takes no part in the analysis.
    columns : sequence of str, optional
        The columns to keep, in this order.
    drop : sequence of str, optional
        Columns to leave out.
    missing : {"refuse", "drop"}
        Rows with empty cells: an error that counts them, or left out with a warning that does.
    conditions : str, optional
        A column, of text or numbers, that says which condition a row belongs to: it becomes the index, and
        `index_column` is left out.

    Returns
    -------
    pandas.DataFrame
        Columns of float64 or int64, without missing or infinite values.

    Raises
    ------
    DataError
        If the file or one of its columns cannot be used; the message names it and says what to do.
    """
    path = Path(path)
    check_choice("missing", missing, MISSING)
    _check_file(path)
    if path.suffix.lower() in _PARQUET:
        frame = _read_parquet(path)
    else:
        frame = read_text(path, delimiter=delimiter, decimal=decimal, encoding=encoding, header=header)
    frame = _select(frame, path, index_column, columns, drop, conditions)
    _check_named(frame, path)
    return _numbers(frame, path, missing)


def _check_file(path: Path) -> None:
    try:
        info = path.stat()
        if path.is_file():  # opening a named pipe would wait for its writer
            path.open("rb").close()
    except (FileNotFoundError, NotADirectoryError):
        near = difflib.get_close_matches(path.name, _siblings(path), n=1)
        hint = f"did you mean '{path.with_name(near[0])}'?" if near else "check the name and the folder."
        raise DataError(f"There is no file '{path}'; {hint}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"File '{path}' cannot be opened ({reason}); check its name and permissions.") from None
    if path.is_dir():
        raise DataError(f"'{path}' is a folder; give the file with the table in it.")
    if not path.is_file():
        raise DataError(f"'{path}' is not a regular file; save the table to a file first.")
    if path.suffix.lower() in _FOREIGN:
        raise DataError(f"File '{path}' is of a kind that is not read ({path.suffix}); save it as CSV or Parquet.")
    if info.st_size == 0:
        raise DataError(f"File '{path}' is empty; give a table with a header row and rows of numbers.")


def _siblings(path: Path) -> list[str]:
    try:
        return [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return []


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("Reading Parquet files", "parquet") from None
    import pandas as pd

    try:
        frame = pd.read_parquet(path, engine="pyarrow")
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise DataError(f"File '{path}' is not a readable Parquet file ({reason}).") from None
    frame.columns = pd.Index([str(name) for name in frame.columns])
    if frame.empty:
        raise DataError(f"File '{path}' holds no rows of data; at least one is needed.")
    return frame


def _select(
    frame: pd.DataFrame,
    path: Path,
    index_column: str | None,
    columns: Sequence[str] | None,
    drop: Sequence[str] | None,
    conditions: str | None = None,
) -> pd.DataFrame:
    unnamed = "Unnamed: 0"
    if index_column is not None:
        index_column = index_column or unnamed
        _check_known(frame, path, [index_column], "--index-column")
        frame = frame.set_index(index_column)
    if conditions is not None:
        _check_known(frame, path, [conditions], "--conditions")
        frame = frame.set_index(conditions)
    if drop:
        drop = [name or unnamed for name in drop]
        _check_known(frame, path, drop, "--drop")
        frame = frame.drop(columns=drop)
    if columns:
        _check_known(frame, path, columns, "--columns")
        if len(set(columns)) < len(columns):
            repeated = next(name for name in columns if list(columns).count(name) > 1)
            raise DataError(f"--columns names '{repeated}' more than once; name every column once.")
        frame = frame[list(columns)]
    if frame.shape[1] == 0:
        raise DataError(f"No column of '{path}' is left; drop fewer columns.")
    return frame


def _check_known(frame: pd.DataFrame, path: Path, wanted: Sequence[str], option: str) -> None:
    known = list(frame.columns)
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"its columns are {_listed(known)}."
            raise DataError(f"{option}: '{path}' has no column '{name}'; {hint}")


def _check_named(frame: pd.DataFrame, path: Path) -> None:
    for name in frame.columns:
        if re.fullmatch(r"Unnamed: \d+", name):
            position = int(name.split()[1]) + 1
            likely = "probably row names" if position == 1 else "perhaps a delimiter too many on every line"
            option = "--index-column" if position == 1 else "--drop"
            raise DataError(
                f"Column {position} of '{path}' has no name ({likely}); pass {option} '{name}' to set it "
                "aside, or name it in the header."
            )


def _numbers(frame: pd.DataFrame, path: Path, missing_rows: str) -> pd.DataFrame:
    import pandas as pd

    converted = {name: _to_number(frame[name]) for name in frame.columns}
    _check_numeric(frame, converted, path)
    missing = {name: int(column.isna().sum()) for name, column in converted.items()}
    result = pd.DataFrame(converted, index=frame.index)
    if missing_rows == "drop":
        result = _drop_rows(result, path)
        converted = {name: result[name] for name in result.columns}
    else:
        _check_cells(path, {name: count for name, count in missing.items() if count}, "empty")
    infinite = {name: int(np.isinf(column).sum()) for name, column in converted.items()}
    _check_cells(path, {name: count for name, count in infinite.items() if count}, "infinite")
    return result


def _drop_rows(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    kept = frame.dropna()
    lost = len(frame) - len(kept)
    if lost and not len(kept):
        raise DataError(f"Every row of '{path}' has an empty cell; leave columns out with --drop.")
    if lost:
        warnings.warn(
            f"{lost} of {len(frame)} rows of '{path}' have empty cells and were left out.", DataWarning, stacklevel=4
        )
    return kept


def _to_number(column: pd.Series) -> pd.Series:
    """Return the column as int64 or float64, with a missing value where a cell is no number."""
    import pandas as pd
    from pandas.api import types

    if types.is_complex_dtype(column) or types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column):
        return pd.Series(np.nan, index=column.index)
    if types.is_bool_dtype(column) and not column.isna().any():
        return column.astype("int64")
    numbers = pd.to_numeric(column, errors="coerce")
    whole = types.is_signed_integer_dtype(numbers) and not numbers.isna().any()
    return numbers.astype("int64" if whole else "float64")


def _check_numeric(frame: pd.DataFrame, converted: dict[str, pd.Series], path: Path) -> None:
    examples = {}
    for name, column in converted.items():
        wrong = (column.isna() & frame[name].notna()).to_numpy()
        if wrong.any():
            row = int(wrong.argmax())
            examples[name] = (str(frame[name].iloc[row]), row + 1)
    if not examples:
        return
    shown = [f"'{name}' ('{cell}' in data row {row})" for name, (cell, row) in examples.items()]
    subject = f"Column {shown[0]} of '{path}' is" if len(shown) == 1 else f"Columns {_joined(shown)} of '{path}' are"
    them = "it" if len(shown) == 1 else "them"
    if all(_DECIMAL_COMMA.fullmatch(cell.strip()) for cell, _ in examples.values()):
        raise DataError(f"{subject} written with a decimal comma; pass --decimal , to read {them}.")
    drop = ",".join(examples) if len(examples) <= _LISTED else "NAME,NAME"
    raise DataError(f"{subject} not numeric; turn {them} into numbers, or leave {them} out with --drop '{drop}'.")


def _check_cells(path: Path, counts: dict[str, int], kind: str) -> None:
    if not counts:
        return
    shown = _joined([f"'{name}' ({count})" for name, count in counts.items()])
    subject = f"Column {shown} of '{path}' has" if len(counts) == 1 else f"Columns {shown} of '{path}' have"
    raise DataError(
        f"{subject} {kind} cells (their number in brackets); fill them, remove those rows"
        f"{' with --missing drop' if kind == 'empty' else ''}, or leave the columns out with --drop."
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(str(name) for name in names[:12])
    return shown if len(names) <= 12 else f"{shown}, ... ({len(names)} in all)"


def _joined(parts: Sequence[str]) -> str:
    shown = list(parts[:_LISTED])
    if len(parts) > _LISTED:
        shown.append(f"{len(parts) - _LISTED} more")
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]
