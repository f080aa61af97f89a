"""Read text, Parquet and Excel files into a frame of numbers, or say in one sentence what is wrong.

The details of text files are in `heterodag.io.textfiles`, those of Excel files in `heterodag.io.excel`. This module
has the checks that all kinds of file share.
"""

from __future__ import annotations

import difflib
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from heterodag.errors import DataError, DataWarning, MissingExtraError, ParameterError, check_choice, warn
from heterodag.io.cells import DECIMAL_COMMA, check_cells, check_numeric, not_numeric, to_number
from heterodag.io.excel import read_excel
from heterodag.io.inputs import MISSING
from heterodag.io.kinds import EXCEL, PARQUET, TEXT, kind_of
from heterodag.io.sources import Source, open_source
from heterodag.io.textfiles import is_number, read_text

if TYPE_CHECKING:
    import pandas as pd


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
    comment: str | None = None,
    na_values: Sequence[str] = (),
    sheet: str | None = None,
    strict: bool = True,
) -> pd.DataFrame:
    r"""Read a table of numbers from a file.

    Parameters
    ----------
    path : str or Path
        A Parquet file (``.parquet``, ``.pq``) or an Excel file (``.xlsx``); anything else is delimited text, unpacked if
        the name ends in ``.gz``, ``.bz2`` or ``.xz``. ``-`` is standard input.
    delimiter : str, optional
        One character, or ``comma``, ``tab``, ``semicolon``, ``pipe`` or ``space``; by default detected.
    decimal : {".", ","}
        The decimal mark of a text file.
    encoding : str, optional
        The encoding of a text file; by default UTF-8, or what its byte order mark says.
    header : bool, optional
        Whether the first line of a text or Excel file holds the names. ``False`` names the columns ``x0``, ``x1``,
        ...; the default expects names and refuses a first line of numbers.
    index_column : str, optional
        A column of row names: it becomes the index and takes no part in the analysis.
    columns : sequence of str, optional
        The columns to keep, in this order.
    drop : sequence of str, optional
        Columns to leave out.
    missing : {"refuse", "drop"}
        What to do with rows that have empty cells: raise an error that counts them, or leave them out with a warning.
    conditions : str, optional
        A column, of text or numbers, that says which condition a row belongs to: it becomes the index, and replaces
        `index_column` there.
    comment : str, optional
        Lines of a text file that begin with it are left out.
    na_values : sequence of str
        Texts or numbers that stand for an empty cell, besides NA, NaN, null and the like.
    sheet : str, optional
        Name or number (1 is the first) of the sheet of an Excel file; by default the first.
    strict : bool
        False lets missing values and text through, for a check that reports them; `missing` is then not used.

    Returns
    -------
    pandas.DataFrame
        Columns of float64 or int64, without missing or infinite values if `strict`.

    Raises
    ------
    DataError
        If the file or one of its columns cannot be used; the message names it and says what to do.

    Examples
    --------
    >>> from pathlib import Path
    >>> from heterodag.io.tables import read_table
    >>> _ = Path("cells.csv").write_text("cell;raf;mek\nA;1,5;2\nB;2,5;3\n", encoding="utf-8")
    >>> read_table("cells.csv", decimal=",", index_column="cell")
          raf  mek
    cell
    A     1.5    2
    B     2.5    3
    """
    check_choice("missing", missing, MISSING)
    source = open_source(path)
    kind = kind_of(source)
    if sheet is not None and kind != EXCEL:
        raise ParameterError("sheet", f"be given for Excel files only, and '{source}' is not one", sheet)
    if kind == TEXT:
        frame = read_text(
            source, delimiter=delimiter, decimal=decimal, encoding=encoding, header=header, comment=comment,
            na_values=na_values,
        )  # fmt: skip
    else:
        frame = _read_parquet(source) if kind == PARQUET else read_excel(source, header=header, sheet=sheet)
        frame = _without(frame, na_values)
    frame = _select(frame, source, index_column, columns, drop, conditions)
    check_named(list(frame.columns), source)
    return _numbers(frame, source, missing) if strict else _with_text(frame, source)


def _read_parquet(source: Source) -> pd.DataFrame:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("Reading Parquet files", "parquet") from None
    import pandas as pd

    where = source.path if source.is_plain else io.BytesIO(source.read())
    try:
        frame = pd.read_parquet(where, engine="pyarrow")
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise DataError(f"File '{source}' is not a readable Parquet file ({reason}).") from None
    frame.columns = pd.Index([str(name) for name in frame.columns])
    if frame.empty:
        raise DataError(f"File '{source}' holds no rows of data; at least one is needed.")
    return frame


def _without(frame: pd.DataFrame, na_values: Sequence[str]) -> pd.DataFrame:
    """Return the frame with these texts, and the numbers they stand for, replaced by empty cells."""
    if not na_values:
        return frame
    numbers = [float(text) for text in na_values if is_number(text)]
    return frame.mask(frame.isin([*na_values, *numbers]))


def _select(
    frame: pd.DataFrame,
    source: Source,
    index_column: str | None,
    columns: Sequence[str] | None,
    drop: Sequence[str] | None,
    conditions: str | None = None,
) -> pd.DataFrame:
    unnamed = "Unnamed: 0"
    if index_column is not None:
        index_column = index_column or unnamed
        _check_known(frame, source, [index_column], "--index-column")
        frame = frame.set_index(index_column)
    if conditions is not None:
        _check_known(frame, source, [conditions], "--conditions")
        frame = frame.set_index(conditions)
    if drop:
        drop = [name or unnamed for name in drop]
        _check_known(frame, source, drop, "--drop")
        frame = frame.drop(columns=drop)
    if columns:
        _check_known(frame, source, columns, "--columns")
        if len(set(columns)) < len(columns):
            repeated = next(name for name in columns if list(columns).count(name) > 1)
            raise DataError(f"--columns names '{repeated}' more than once; name every column once.")
        frame = frame[list(columns)]
    if frame.shape[1] == 0:
        raise DataError(f"No column of '{source}' is left; drop fewer columns.")
    return frame


def _check_known(frame: pd.DataFrame, source: Source, wanted: Sequence[str], option: str) -> None:
    known = list(frame.columns)
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"its columns are {_listed(known)}."
            raise DataError(f"{option}: '{source}' has no column '{name}'; {hint}")


def check_named(names: Sequence[str], source: Source) -> None:
    """Raise `DataError` if a column has no name: probably row names, or a delimiter too many."""
    for name in names:
        if re.fullmatch(r"Unnamed: \d+", name):
            position = int(name.split()[1]) + 1
            likely = "probably row names" if position == 1 else "perhaps a delimiter too many, or merged cells"
            option = "--index-column" if position == 1 else "--drop"
            raise DataError(
                f"Column {position} of '{source}' has no name ({likely}); pass {option} '{name}' to set it "
                "aside, or name it in the header."
            )


def _numbers(frame: pd.DataFrame, source: Source, missing_rows: str) -> pd.DataFrame:
    import pandas as pd

    converted = {name: to_number(frame[name]) for name in frame.columns}
    check_numeric(frame, converted, source)
    missing = {name: int(column.isna().sum()) for name, column in converted.items()}
    result = pd.DataFrame(converted, index=frame.index)
    if missing_rows == "drop":
        result = _drop_rows(result, source)
        converted = {name: result[name] for name in result.columns}
    else:
        check_cells(source, {name: count for name, count in missing.items() if count}, "empty")
    infinite = {name: int(np.isinf(column).sum()) for name, column in converted.items()}
    check_cells(source, {name: count for name, count in infinite.items() if count}, "infinite")
    return result


def _with_text(frame: pd.DataFrame, source: Source) -> pd.DataFrame:
    """Return numbers where cells hold numbers, and everything else as it was read."""
    import pandas as pd

    converted = {name: to_number(frame[name]) for name in frame.columns}
    text = not_numeric(frame, converted)
    if text and all(DECIMAL_COMMA.fullmatch(cell) for cell, _ in text.values()):
        check_numeric(frame, converted, source)  # these are numbers, read with the wrong decimal mark
    mixed = {name: converted[name].astype(object).where(converted[name].notna(), frame[name]) for name in text}
    return pd.DataFrame(converted | mixed, index=frame.index)


def _drop_rows(frame: pd.DataFrame, source: Source) -> pd.DataFrame:
    kept = frame.dropna()
    lost = len(frame) - len(kept)
    if lost and not len(kept):
        raise DataError(f"Every row of '{source}' has an empty cell; leave columns out with --drop.")
    if lost:
        warn(
            f"{lost} of {len(frame)} rows of '{source}' have empty cells and were left out.",
            DataWarning,
            stacklevel=4,
        )
    return kept


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(str(name) for name in names[:12])
    return shown if len(names) <= 12 else f"{shown}, ... ({len(names)} in all)"
