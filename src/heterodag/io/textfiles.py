"""Delimited text files: encoding, delimiter, header and field counts, each problem told in one sentence.

`pandas` parses the numbers. What it would repair in silence (short rows, repeated names, a first column taken
for an index) is looked for here and reported instead: a shifted column is a wrong graph without any warning.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from heterodag.errors import DataError, ParameterError

if TYPE_CHECKING:
    import pandas as pd

DELIMITERS = {"comma": ",", "tab": "\t", "\\t": "\t", "semicolon": ";", "pipe": "|", "space": " "}
_SNIFFED = ",\t;|"
_SAMPLE_LINES = 20
_SHOWN = {"\t": "tab", " ": "' '", ";": "';'", ",": "','", "|": "'|'"}


@dataclass(frozen=True)
class TextFormat:
    """How the characters of one file are to be read.

    Parameters
    ----------
    path : Path
        The file; a name that ends in ``.gz`` is unpacked on the way.
    encoding : str
        Python's name of the encoding.
    delimiter : str
        One character; a blank stands for any run of white space.
    decimal : str
        The decimal mark, ``"."`` or ``","``.
    """

    path: Path
    encoding: str
    delimiter: str
    decimal: str


def read_text(
    path: Path,
    *,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str | None = None,
    header: bool | None = None,
) -> pd.DataFrame:
    """Read a delimited text file into a frame whose cells are not yet checked.

    Parameters
    ----------
    path : Path
        An existing file.
    delimiter : str, optional
        One character or one of the names in `DELIMITERS`; by default found out from the first lines.
    decimal : {".", ","}
        The decimal mark.
    encoding : str, optional
        By default UTF-8, or what the byte order mark says.
    header : bool, optional
        Whether the first line holds the names; by default yes, and an error if it holds only numbers.

    Returns
    -------
    pandas.DataFrame
        Unique string names; unnamed columns are called ``Unnamed: k`` as pandas does.
    """
    if decimal not in (".", ","):
        raise ParameterError("decimal", "be '.' or ','", decimal)
    encoding = _encoding(path, encoding)
    with _readable(path, encoding):
        lines = _sample(path, encoding)
        fmt = TextFormat(path, encoding, _delimiter(delimiter, lines, decimal), decimal)
        names = _names(fmt, lines, header)
        _check_first_row(fmt, lines, names, header)
        return _parse(fmt, names, has_header=header is not False)


def read_rows(path: Path) -> list[list[str]]:
    """Return all cells of a small text file as they are written, delimiter and encoding found out."""
    encoding = _encoding(path, None)
    with _readable(path, encoding):
        delimiter = sniff_delimiter(_sample(path, encoding))
        with _open_text(path, encoding) as file:
            return list(split_rows(file, delimiter))


def _encoding(path: Path, encoding: str | None) -> str:
    if encoding is None:
        with _open_bytes(path) as file, _unpackable(path):
            start = file.read(4096)
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        if b"\0" in start:
            raise DataError(
                f"File '{path}' holds NUL bytes, so it is not a text table in UTF-8; "
                "save it as CSV, or pass its encoding with --encoding (for example utf-16-le)."
            )
        return "utf-8-sig"
    try:
        known = codecs.lookup(encoding).name
    except LookupError:
        raise ParameterError("encoding", "be an encoding that Python knows, such as 'latin-1'", encoding) from None
    # utf-8-sig reads plain UTF-8 as well, and keeps a byte order mark out of the first column's name.
    return "utf-8-sig" if known == "utf-8" else known


def _open_bytes(path: Path) -> gzip.GzipFile | io.BufferedReader:
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")


def _open_text(path: Path, encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(_open_bytes(path), encoding=encoding, newline="")


@contextmanager
def _unpackable(path: Path) -> Iterator[None]:
    try:
        yield
    except (gzip.BadGzipFile, EOFError) as error:
        raise DataError(f"File '{path}' cannot be unpacked ({error}); it is damaged or not a gzip file.") from None


@contextmanager
def _readable(path: Path, encoding: str) -> Iterator[None]:
    """Turn decoding and unpacking failures, wherever they surface, into one sentence about the file."""
    with _unpackable(path):
        try:
            yield
        except UnicodeError:
            raise DataError(_undecodable(path, encoding)) from None
        except csv.Error as error:
            raise DataError(f"File '{path}' cannot be split into cells ({error}); check its quotes.") from None


def _undecodable(path: Path, encoding: str) -> str:
    shown = "UTF-8" if encoding == "utf-8-sig" else encoding
    with _open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError as error:
                byte = f"byte 0x{line[error.start]:02x} on line {number}"
                return f"File '{path}' is not {shown} text ({byte}); pass --encoding, for example latin-1."
            except UnicodeError:
                break
    return f"File '{path}' is not {shown} text; pass its encoding with --encoding."


def _sample(path: Path, encoding: str) -> list[str]:
    with _open_text(path, encoding) as file:
        lines = list(islice((line for line in file if line.strip()), _SAMPLE_LINES))
    if not lines:
        raise DataError(f"File '{path}' is empty; give a table with a header row and rows of numbers.")
    return lines


def _delimiter(given: str | None, lines: list[str], decimal: str) -> str:
    if given is None:
        return sniff_delimiter(lines, decimal)
    delimiter = DELIMITERS.get(given, given)
    if len(delimiter) != 1:
        raise ParameterError("delimiter", "be one character or one of " + ", ".join(DELIMITERS), given)
    return delimiter


def sniff_delimiter(lines: list[str], decimal: str = ".") -> str:
    """Return the delimiter that gives the lines the most equal widths, then the most numbers.

    Parameters
    ----------
    lines : list of str
        The first lines of the file, without blank ones.
    decimal : str
        The decimal mark, the delimiter only if nothing else is (numbers are then in quotes).
    """

    def quality(delimiter: str) -> tuple[bool, float, float, int]:
        rows = list(split_rows(lines, delimiter))
        width = len(rows[0]) if rows else 0
        if width < 2:
            return (False, 0.0, 0.0, 0)
        cells = [cell for row in rows for cell in row]
        numbers = sum(_is_number(cell, "." if delimiter == "," else ",") for cell in cells)
        even = sum(len(row) == width for row in rows) / len(rows)
        return (delimiter != decimal, even, numbers / len(cells), width)

    return max(_SNIFFED, key=quality)


def split_rows(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """Yield the cells of every line that is not blank, quotes undone."""
    return (cells for _, cells in _numbered_rows(lines, delimiter))


def _numbered_rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    for cells in reader:
        if delimiter == " ":  # runs of blanks: what a trailing run leaves behind is not a field
            cells = [cell.strip() for cell in cells if cell.strip()]
        if cells:
            yield reader.line_num, cells


def _is_number(cell: str, decimal: str = ".") -> bool:
    try:
        float(cell.strip().replace(decimal, "."))
    except ValueError:
        return False
    return True


def _names(fmt: TextFormat, lines: list[str], header: bool | None) -> list[str]:
    cells = [cell.strip() for cell in next(split_rows(lines, fmt.delimiter))]
    _check_split(fmt, lines, cells)
    if header is False:
        return [f"x{k}" for k in range(len(cells))]
    if header is None and all(_is_number(cell, fmt.decimal) for cell in cells):
        raise DataError(
            f"File '{fmt.path}' has no header row (its first line is {_short(lines[0])}); pass --no-header, "
            "or --header if these numbers are the names."
        )
    repeated = [name for name, times in Counter(filter(None, cells)).items() if times > 1]
    if repeated:
        raise DataError(
            f"Column name '{repeated[0]}' stands more than once in the header of '{fmt.path}'; rename one."
        )
    return [cell or f"Unnamed: {k}" for k, cell in enumerate(cells)]


def _check_split(fmt: TextFormat, lines: list[str], cells: list[str]) -> None:
    """Refuse a single column that another delimiter would split evenly."""
    if len(cells) > 1:
        return
    for mark in _SNIFFED + " ":
        if mark in (fmt.delimiter, fmt.decimal):
            continue
        widths = {len(row) for row in split_rows([line.replace('"', "") for line in lines], mark)}
        if mark in cells[0] and len(widths) == 1 and widths != {1}:
            raise DataError(
                f"File '{fmt.path}' has a single column {_short(cells[0])} when split at "
                f"{_SHOWN.get(fmt.delimiter, repr(fmt.delimiter))}; pass --delimiter {_SHOWN[mark]}."
            )


def _check_first_row(fmt: TextFormat, lines: list[str], names: list[str], header: bool | None) -> None:
    widths = [len(row) for row in split_rows(lines, fmt.delimiter)]
    body = widths if header is False else widths[1:]
    if not body:
        raise DataError(f"File '{fmt.path}' has a header row but no rows of data; at least one is needed.")
    if len(body) > 1 and set(body) == {len(names) + 1}:
        raise DataError(
            f"Every row of '{fmt.path}' has {body[0]} fields but the header has {len(names)}, as if R wrote "
            "row names; give the first column a name in the header, then pass it with --index-column."
        )
    if body[0] > len(names):
        raise DataError(_ragged(fmt, len(names)) or "")


def _parse(fmt: TextFormat, names: list[str], *, has_header: bool) -> pd.DataFrame:
    import pandas as pd

    try:
        with _open_text(fmt.path, fmt.encoding) as file:
            frame = pd.read_csv(
                file,
                sep=r"\s+" if fmt.delimiter == " " else fmt.delimiter,
                decimal=fmt.decimal,
                header=0 if has_header else None,
                names=names,
                skipinitialspace=True,
                low_memory=False,  # in chunks, one text cell would leave a column half numbers, half text
            )
    except pd.errors.ParserError as error:
        text = str(error).removeprefix("Error tokenizing data. C error: ").rstrip(".")
        raise DataError(_ragged(fmt, len(names)) or f"File '{fmt.path}' cannot be split into rows: {text}.") from None
    # pandas fills short rows up with empty cells; only then can the last column have any.
    if frame.iloc[:, -1].isna().any() and (message := _ragged(fmt, len(names))):
        raise DataError(message)
    return frame


def _ragged(fmt: TextFormat, expected: int) -> str | None:
    """Describe the first row whose number of fields differs from the header's, if there is one."""
    with _open_text(fmt.path, fmt.encoding) as file:
        for line, cells in _numbered_rows(file, fmt.delimiter):
            if len(cells) != expected:
                fields = "1 field" if len(cells) == 1 else f"{len(cells)} fields"
                return f"Line {line} of '{fmt.path}' has {fields} where {expected} are expected; mend that line."
    return None


def _short(text: str, width: int = 40) -> str:
    text = text.strip()
    return f"'{text if len(text) <= width else text[: width - 3] + '...'}'"
