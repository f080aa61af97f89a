"""Read one sheet of an Excel file (.xlsx) into a frame whose cells are not yet checked, or say what is wrong.

The reader is as strict as that for text files: the first row that is not empty holds the names, empty rows are left
out, and nothing is silently repaired.
"""

from __future__ import annotations

import io
from collections import Counter
from typing import TYPE_CHECKING, Any

from heterodag.errors import DataError, MissingExtraError, ParameterError
from heterodag.io.sources import Source

if TYPE_CHECKING:
    import pandas as pd

#: Texts that mean an empty cell, as in text files; the first is what Excel shows where a value is not available.
_EMPTY_TEXTS = {"#N/A", "N/A", "NA", "NaN", "nan", "n/a", "null", "NULL", "None", "<NA>"}
Row = tuple[Any, ...]


def read_excel(source: Source, *, header: bool | None = None, sheet: str | None = None) -> pd.DataFrame:
    """Read one sheet of an Excel file.

    Parameters
    ----------
    source : Source
        Where the bytes come from.
    header : bool, optional
        Whether the first row holds the names; by default yes, and an error if it holds only numbers.
    sheet : str, optional
        Name or number (1 is the first) of the sheet; by default the first.

    Returns
    -------
    pandas.DataFrame
        Unique string names; unnamed columns are called ``Unnamed: k``. Formulas have the results that the file stores.
    """
    import pandas as pd

    content = source.read()
    title, cells = _cells(source, content, sheet)
    _check_formulas(source, content, title, cells)
    rows = _trimmed([row for row in cells if any(cell is not None for cell in row)])
    if not rows:
        raise DataError(f"Sheet '{title}' of '{source}' is empty; choose another with --sheet.")
    names = _names(source, title, rows[0], header)
    body = rows if header is False else rows[1:]
    if not body:
        raise DataError(
            f"Sheet '{title}' of '{source}' has a header row but no rows of data; at least one is needed."
        )
    values = [tuple(None if cell in _EMPTY_TEXTS else cell for cell in row) for row in body]
    return pd.DataFrame(values, columns=names, dtype=object).infer_objects()


def _cells(source: Source, content: bytes, sheet: str | None, *, formulas: bool = False) -> tuple[str, list[Row]]:
    """Return the title of a sheet and all its rows, with the results of formulas or with the formulas themselves."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError("Reading Excel files", "excel") from None
    try:
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=not formulas)
        titles = [found.title for found in book.worksheets]
        title = _title(titles, sheet)
        return title, [tuple(map(_cell, row)) for row in book[title].iter_rows(values_only=True)]
    except ParameterError:
        raise
    except Exception as error:  # openpyxl raises errors of many kinds on damaged files
        reason = " ".join(str(error).split()).rstrip(".")[:120] or type(error).__name__
        raise DataError(
            f"File '{source}' is not a readable Excel file ({reason}); save it again as .xlsx or CSV."
        ) from None


def _check_formulas(source: Source, content: bytes, title: str, cells: list[Row]) -> None:
    """Refuse formulas without stored results, as programs other than spreadsheets write them."""
    if all(cell is not None for row in cells for cell in row):
        return
    _, written = _cells(source, content, title, formulas=True)
    for number, (row, formulas) in enumerate(zip(cells, written, strict=False), start=1):
        for column, (cell, formula) in enumerate(zip(row, formulas, strict=False)):
            if cell is None and str(formula).startswith("="):
                raise DataError(
                    f"Sheet '{title}' of '{source}' has a formula without a result (row {number}, column {column + 1}); "
                    "open the file in a spreadsheet program and save it there."
                )


def _title(titles: list[str], sheet: str | None) -> str:
    if not titles:
        raise ValueError("it has no sheet with cells")
    if sheet is None:
        return titles[0]
    if sheet in titles:
        return sheet
    if sheet.isdecimal() and 1 <= int(sheet) <= len(titles):
        return titles[int(sheet) - 1]
    shown = ", ".join(f"'{title}'" for title in titles[:12]) + (", ..." if len(titles) > 12 else "")
    raise ParameterError("sheet", f"be one of {shown}, or a number from 1 to {len(titles)}", sheet)


def _cell(value: Any) -> Any:
    """Return a cell, or None if it is empty or holds only blanks."""
    return value if not isinstance(value, str) else value.strip() or None


def _trimmed(rows: list[Row]) -> list[Row]:
    used = [k for row in rows for k, cell in enumerate(row) if cell is not None]
    if not used:
        return []
    first, last = min(used), max(used)
    return [(row + (None,) * (last + 1 - len(row)))[first : last + 1] for row in rows]


def _names(source: Source, title: str, first: Row, header: bool | None) -> list[str]:
    if header is False:
        return [f"x{k}" for k in range(len(first))]
    numbers = [isinstance(cell, int | float) for cell in first if cell is not None]
    if header is None and len(numbers) == len(first) and all(numbers):
        raise DataError(
            f"Sheet '{title}' of '{source}' has no header row (its first row holds only numbers); pass --no-header, or "
            "--header if these numbers are the names."
        )
    if len(numbers) <= min(len(first) // 2, len(first) - 2):  # a single column without a name holds row names
        raise DataError(
            f"The first row of sheet '{title}' of '{source}' names {len(numbers)} of {len(first)} columns; it must name "
            "every column: delete titles above the names, and unmerge merged cells."
        )
    names = [f"Unnamed: {k}" if cell is None else str(cell) for k, cell in enumerate(first)]
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise DataError(
            f"Column name '{repeated[0]}' appears more than once in the header of '{source}'; rename one."
        )
    return names
