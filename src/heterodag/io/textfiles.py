"""Read delimited text files: comments, delimiter, header and field counts, each problem reported in one sentence.

`pandas` parses the numbers. What it would silently repair (short rows, repeated names, a first column taken
for an index) is looked for here and reported instead: a shifted column is a wrong graph without any warning.
"""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import dropwhile, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from heterodag.errors import DataError, ParameterError
from heterodag.io.encodings import encoding_of, undecodable
from heterodag.io.sources import Source, open_source

if TYPE_CHECKING:
    import pandas as pd

DELIMITERS = {"comma": ",", "tab": "\t", "\\t": "\t", "semicolon": ";", "pipe": "|", "space": " "}
_SNIFFED = ",\t;|"
_SAMPLE_LINES = 20
#: Marks that comment lines begin with; names rarely do.
_COMMENT_MARKS = ("#", "%", "//")
_SHOWN = {"\t": "tab", " ": "' '", ";": "';'", ",": "','", "|": "'|'"}


@dataclass(frozen=True)
class TextFormat:
    """How the characters of one file are to be read.

    Parameters
    ----------
    source : Source
        Where the bytes come from.
    encoding : str
        Python's name of the encoding.
    delimiter : str
        One character; a blank stands for any run of white space.
    decimal : str
        The decimal mark, ``"."`` or ``","``.
    comment : str or None
        Lines that begin with it are left out.
    """

    source: Source
    encoding: str
    delimiter: str
    decimal: str
    comment: str | None = None

    def open(self) -> IO[str]:
        """Open the characters of the file."""
        return _open_text(self.source, self.encoding, self.comment)


def read_text(
    source: Source,
    *,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    na_values: Sequence[str] = (),
) -> pd.DataFrame:
    """Read a delimited text file into a frame whose cells are not yet checked.

    Parameters
    ----------
    source : Source
        Where the bytes come from.
    delimiter : str, optional
        One character or one of the names in `DELIMITERS`; by default detected from the first lines.
    decimal : {".", ","}
        The decimal mark.
    encoding : str, optional
        By default UTF-8, or what the byte order mark says.
    header : bool, optional
        Whether the first line holds the names; by default yes, and an error if it holds only numbers.
    comment : str, optional
        Lines that begin with it are left out.
    na_values : sequence of str
        Texts that stand for an empty cell, besides those that pandas knows (NA, NaN, null and the like).

    Returns
    -------
    pandas.DataFrame
        Unique string names; unnamed columns are called ``Unnamed: k`` as pandas does.
    """
    fmt, names = text_format(
        source, delimiter=delimiter, decimal=decimal, encoding=encoding, header=header, comment=comment
    )
    with readable(source, fmt.encoding):
        return _parse(fmt, names, na_values, has_header=header is not False)


def text_format(
    source: Source,
    *,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
) -> tuple[TextFormat, list[str]]:
    """Find out how to read a text file, and its names, from its first lines; `read_text` explains the arguments."""
    if decimal not in (".", ","):
        raise ParameterError("decimal", "be '.' or ','", decimal)
    if comment is not None and not comment.strip():
        raise ParameterError("comment", "be the character that comment lines begin with, such as '#'", comment)
    encoding = encoding_of(source, encoding)
    with readable(source, encoding):
        lines = _sample(source, encoding, comment)
        if comment is None:
            _check_comments(source, lines, decimal)
        fmt = TextFormat(source, encoding, _delimiter(delimiter, lines, decimal), decimal, comment)
        names = _names(fmt, lines, header)
        _check_first_row(fmt, lines, names, header)
        return fmt, names


def read_rows(path: Path) -> list[list[str]]:
    """Return all cells of a small text file as they are written, with delimiter and encoding detected."""
    source = open_source(path)
    encoding = encoding_of(source, None)
    with readable(source, encoding):
        delimiter = sniff_delimiter(_sample(source, encoding))
        with _open_text(source, encoding) as file:
            return list(split_rows(file, delimiter))


def _open_text(source: Source, encoding: str, comment: str | None = None) -> IO[str]:
    """Open a file as text; lines that begin with `comment` become blank, so that line numbers stay the same."""
    file = io.TextIOWrapper(source.open(), encoding=encoding, newline="")
    return file if comment is None else cast(IO[str], _WithoutComments(file, comment))


class _WithoutComments(io.TextIOBase):
    """A text file with its comment lines made blank, read line by line because it may be too long for memory."""

    def __init__(self, file: io.TextIOWrapper, comment: str) -> None:
        self._file, self._comment, self._rest = file, comment, ""

    def readable(self) -> bool:
        return True

    def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
        line = self._file.readline()
        return "\n" if line.lstrip().startswith(self._comment) else line

    def read(self, size: int | None = -1) -> str:
        enough = math.inf if size is None or size < 0 else size
        lines, length = [self._rest], len(self._rest)
        while length < enough and (line := self.readline()):
            lines.append(line)
            length += len(line)
        text, end = "".join(lines), length if enough == math.inf else int(enough)
        self._rest = text[end:]
        return text[:end]

    def close(self) -> None:
        self._file.close()
        super().close()


@contextmanager
def readable(source: Source, encoding: str) -> Iterator[None]:
    """Turn decoding and unpacking failures, wherever they surface, into one sentence about the file."""
    with source.unpacking():
        try:
            yield
        except UnicodeError:
            raise DataError(undecodable(source, encoding)) from None
        except csv.Error as error:
            raise DataError(f"File '{source}' cannot be split into cells ({error}); check its quotes.") from None


def _sample(source: Source, encoding: str, comment: str | None = None) -> list[str]:
    with _open_text(source, encoding, comment) as file:
        lines = list(islice((line for line in file if line.strip()), _SAMPLE_LINES))
    if not lines:
        what = "is empty" if comment is None else "holds nothing but comments"
        raise DataError(f"File '{source}' {what}; give a table with a header row and rows of numbers.")
    return lines


def _check_comments(source: Source, lines: list[str], decimal: str) -> None:
    """Refuse comment lines at the top: they begin with a mark and differ from the lines below in their cell count."""
    mark = next((mark for mark in _COMMENT_MARKS if lines[0].startswith(mark)), None)
    if mark is None:
        return
    table = list(dropwhile(lambda line: line.startswith(mark), lines))
    if table:
        delimiter = sniff_delimiter(table, decimal)
        first, below = (len(next(split_rows([line], delimiter), [])) for line in (lines[0], table[0]))
        if first == below:  # the names themselves may begin with such a mark
            return
    raise DataError(
        f"File '{source}' begins with a comment ({_short(lines[0])}); pass --comment '{mark}' to leave out lines that begin "
        f"with {mark}."
    )


def _delimiter(given: str | None, lines: list[str], decimal: str) -> str:
    if given is None:
        return sniff_delimiter(lines, decimal)
    delimiter = DELIMITERS.get(given, given)
    if len(delimiter) != 1 or delimiter in '\r\n\0"':
        raise ParameterError("delimiter", "be one character or one of " + ", ".join(DELIMITERS), given)
    return delimiter


def sniff_delimiter(lines: list[str], decimal: str = ".") -> str:
    """Return the delimiter that gives the lines the most equal widths, then the most numbers.

    Parameters
    ----------
    lines : list of str
        The first lines of the file, without blank ones.
    decimal : str
        The decimal mark. It is taken for the delimiter only if nothing else can be (numbers are then in quotes).
    """

    def quality(delimiter: str) -> tuple[bool, float, float, int]:
        rows = list(split_rows(lines, delimiter))
        width = len(rows[0]) if rows else 0
        if width < 2:
            return (False, 0.0, 0.0, 0)
        cells = [cell for row in rows for cell in row]
        numbers = sum(is_number(cell, "." if delimiter == "," else ",") for cell in cells)
        even = sum(len(row) == width for row in rows) / len(rows)
        return (delimiter != decimal, even, numbers / len(cells), width)

    return max(_SNIFFED, key=quality)


def split_rows(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """Yield the cells of every line that is not blank, without quotes."""
    return (cells for _, cells in numbered_rows(lines, delimiter))


def numbered_rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the line that a row ends on, and its cells."""
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    for cells in reader:
        if delimiter == " ":  # runs of blanks: what a trailing run leaves behind is not a field
            cells = [cell.strip() for cell in cells if cell.strip()]
        if cells:
            yield reader.line_num, cells


def is_number(cell: str, decimal: str = ".") -> bool:
    """Return whether a cell reads as a number."""
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
    if header is None and all(is_number(cell, fmt.decimal) for cell in cells):
        raise DataError(
            f"File '{fmt.source}' has no header row (its first line is {_short(lines[0])}); pass --no-header, "
            "or --header if these numbers are the names."
        )
    repeated = [name for name, times in Counter(filter(None, cells)).items() if times > 1]
    if repeated:
        raise DataError(
            f"Column name '{repeated[0]}' appears more than once in the header of '{fmt.source}'; rename one."
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
                f"File '{fmt.source}' has a single column {_short(cells[0])} when split at "
                f"{_SHOWN.get(fmt.delimiter, repr(fmt.delimiter))}; pass --delimiter {_SHOWN[mark]}."
            )


def _check_first_row(fmt: TextFormat, lines: list[str], names: list[str], header: bool | None) -> None:
    widths = [len(row) for row in split_rows(lines, fmt.delimiter)]
    body = widths if header is False else widths[1:]
    if not body:
        raise DataError(f"File '{fmt.source}' has a header row but no rows of data; at least one is needed.")
    if len(body) > 1 and len(names) == 1 < min(body) == max(body):
        raise DataError(
            f"The first line of '{fmt.source}' ({_short(lines[0])}) has 1 field where the lines below have {body[0]}; "
            "delete the lines above the names."
        )
    if len(body) > 1 and set(body) == {len(names) + 1}:
        raise DataError(
            f"Every row of '{fmt.source}' has {body[0]} fields but the header has {len(names)}, as if R wrote "
            "row names; give the first column a name in the header, then pass it with --index-column."
        )
    if body[0] > len(names):
        raise DataError(_ragged(fmt, len(names)) or "")


def _parse(fmt: TextFormat, names: list[str], na_values: Sequence[str], *, has_header: bool) -> pd.DataFrame:
    import pandas as pd

    try:
        with fmt.open() as file:
            frame = parse_rows(file, fmt, names, na_values, has_header=has_header)
    except pd.errors.ParserError as error:
        text = str(error).removeprefix("Error tokenizing data. C error: ").rstrip(".")
        raise DataError(
            _ragged(fmt, len(names)) or f"File '{fmt.source}' cannot be split into rows: {text}."
        ) from None
    # pandas fills short rows up with empty cells; only then can the last column have any.
    if frame.iloc[:, -1].isna().any() and (message := _ragged(fmt, len(names))):
        raise DataError(message)
    return frame


def parse_rows(
    file: IO[str], fmt: TextFormat, names: list[str], na_values: Sequence[str], *, has_header: bool
) -> pd.DataFrame:
    """Parse rows of text with pandas."""
    import pandas as pd

    frame: pd.DataFrame = pd.read_csv(
        file,
        sep=r"\s+" if fmt.delimiter == " " else fmt.delimiter,
        decimal=fmt.decimal,
        header=0 if has_header else None,
        names=names,
        skipinitialspace=True,
        na_values=list(na_values) or None,
        low_memory=False,  # in chunks, one text cell would leave a column half numbers, half text
        **_exact_numbers(pd.__version__),
    )
    return frame


def _exact_numbers(pandas_version: str) -> dict[str, Any]:
    """Return the option that makes pandas read every digit; from 3.1 on it is the default, and passing it warns."""
    major, minor = (int(part) for part in pandas_version.split(".")[:2])
    return {} if (major, minor) >= (3, 1) else {"float_precision": "round_trip"}


def _ragged(fmt: TextFormat, expected: int) -> str | None:
    """Describe the first row whose number of fields differs from the header's, if there is one."""
    before = 0
    with fmt.open() as file:
        for line, cells in numbered_rows(file, fmt.delimiter):
            if len(cells) != expected:
                return wrong_width(fmt, cells, expected, before, line)
            before = line
    return None


def wrong_width(fmt: TextFormat, cells: list[str], expected: int, before: int, line: int) -> str:
    """Say what is wrong with the row that ends on `line`; the row before it ends on line `before`."""
    if any("\n" in cell or "\r" in cell for cell in cells):
        return f"A quote that opens on line {before + 1} of '{fmt.source}' does not close; fix that line."
    fields = "1 field" if len(cells) == 1 else f"{len(cells)} fields"
    return f"Line {line} of '{fmt.source}' has {fields} where {expected} are expected; fix that line."


def _short(text: str, width: int = 40) -> str:
    text = text.strip()
    return f"'{text if len(text) <= width else text[: width - 3] + '...'}'"
