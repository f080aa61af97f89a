"""Folders of pairs in the format of the Tuebingen collection of cause-effect pairs.

`pair0001.txt` holds two or more columns of numbers, separated by blanks or tabs. `pairmeta.txt` has one line per pair: its
number, first and last column of the cause, first and last column of the effect, and the weight. Columns count from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.errors import DataError, ParameterError
from heterodag.pairs.decision import BACKWARDS, FORWARDS

META = "pairmeta.txt"
_PAIR = re.compile(r"pair(\d+)\.txt")
_FIELDS = "pair, cause first, cause last, effect first, effect last, weight"


@dataclass(frozen=True, eq=False)
class Pair:
    """Two columns of a file, and what is known about them.

    Parameters
    ----------
    name : str
        The file without its ending, such as "pair0001".
    x, y : ndarray of shape (n,)
        The columns, in the order of the file.
    truth : str, optional
        "->" if `x` is the cause, "<-" if `y` is, None if it is not known.
    weight : float, default=1.0
        How much the pair counts: collections give less weight to pairs that resemble each other.

    Examples
    --------
    >>> import numpy as np
    >>> from heterodag.pairs import Pair
    >>> Pair("pair0001", np.array([1.0, 2.0]), np.array([2.0, 3.0]), truth="->").weight
    1.0
    """

    name: str
    x: Array
    y: Array
    truth: str | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a truth that no answer can agree with."""
        if self.truth not in (None, FORWARDS, BACKWARDS):
            raise ParameterError("truth", f"be '{FORWARDS}', '{BACKWARDS}' or None", self.truth)


@dataclass(frozen=True, eq=False)
class PairFolder:
    """The pairs of a folder.

    Attributes
    ----------
    pairs : list of Pair
        In the order of their numbers.
    skipped : list of str
        One sentence for each pair that was left out.

    Examples
    --------
    >>> from heterodag.pairs import PairFolder
    >>> PairFolder(pairs=[]).skipped
    []
    """

    pairs: list[Pair]
    skipped: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Pair]:
        """Go through the pairs."""
        return iter(self.pairs)


@dataclass(frozen=True)
class _Line:
    """A line of `pairmeta.txt`; columns count from 1."""

    cause: tuple[int, int]
    effect: tuple[int, int]
    weight: float

    @property
    def is_plain(self) -> bool:
        """Whether cause and effect are one column each."""
        return self.cause[0] == self.cause[1] and self.effect[0] == self.effect[1]


def read_pairs(folder: str | Path) -> PairFolder:
    r"""Read a folder of pairs in the Tuebingen format.

    Parameters
    ----------
    folder : str or Path
        A folder with files pair0001.txt, pair0002.txt, ..., and pairmeta.txt, which says what is cause and what is
        effect. Without pairmeta.txt, the first two columns of every file are the pair, and the truth is not known.

    Returns
    -------
    PairFolder
        The pairs, and a sentence for each one left out, because its cause or effect has several columns or because
        pairmeta.txt does not name its file.

    Raises
    ------
    DataError
        If the folder has no pairs, or a file cannot be read; the message names the file and the line.

    Examples
    --------
    >>> from pathlib import Path
    >>> from heterodag.pairs import read_pairs
    >>> folder = Path("pairs")
    >>> folder.mkdir()
    >>> _ = (folder / "pair0001.txt").write_text("1.0 2.0\n3.0 5.5\n")
    >>> _ = (folder / "pairmeta.txt").write_text("1 2 2 1 1 0.5\n")
    >>> pair = read_pairs(folder).pairs[0]
    >>> pair.truth, pair.weight
    ('<-', 0.5)
    """
    folder = Path(folder)
    if not folder.is_dir():
        what = f"'{folder}' is a file" if folder.exists() else f"There is no folder '{folder}'"
        raise DataError(f"{what}; give the folder that holds pair0001.txt and {META}.")
    files: dict[int, Path] = {}
    for path in sorted(folder.iterdir()):
        if found := _PAIR.fullmatch(path.name):
            same = files.setdefault(int(found[1]), path)
            if same is not path:
                raise DataError(f"{same.name} and {path.name} have the same number: delete or rename one of them.")
    if not files:
        raise DataError(f"'{folder}' holds no pairs: files named pair0001.txt, pair0002.txt, ... are expected.")
    lines = _read_meta(folder / META) if (folder / META).exists() else None
    absent = sorted(set(lines or ()) - set(files))
    if absent:
        raise DataError(
            f"{META} names pair {absent[0]}, but its file is not in '{folder}': add it, or delete the line."
        )
    out = PairFolder([])
    for number in sorted(files):
        _add(
            out, files[number], _Line((1, 1), (2, 2), 1.0) if lines is None else lines.get(number), lines is not None
        )
    return out


def _add(out: PairFolder, path: Path, line: _Line | None, known: bool) -> None:
    """Add the pair of a file, or a sentence that says why it is left out."""
    if line is None:
        out.skipped.append(f"{path.name} is not in {META} and was left out.")
    elif not line.is_plain:
        out.skipped.append(f"{path.name} was left out: its cause or effect has several columns.")
    else:
        table, last = _read_table(path), max(line.cause[0], line.effect[0])
        if last > table.shape[1]:
            raise DataError(f"{path.name} has {table.shape[1]} column(s), but column {last} is asked for.")
        first, second = sorted((line.cause[0], line.effect[0]))
        truth = None if not known else FORWARDS if line.cause[0] == first else BACKWARDS
        out.pairs.append(Pair(path.stem, table[:, first - 1], table[:, second - 1], truth, line.weight))


def _read_meta(path: Path) -> dict[int, _Line]:
    lines: dict[int, _Line] = {}
    for at, values in _numbers(path):
        columns = values[:5]
        if len(values) != 6 or any(not v.is_integer() or v < 1 for v in columns) or not 0 <= values[5] < np.inf:
            raise DataError(
                f"{path.name}, line {at}: six numbers are expected ({_FIELDS}); number and columns are whole numbers from 1 "
                "on, a weight is not negative."
            )
        number, first, last, low, high = (int(v) for v in columns)
        if last < first or high < low or (first <= high and low <= last):
            raise DataError(f"{path.name}, line {at}: cause and effect must be different columns, first before last.")
        if number in lines:
            raise DataError(f"{path.name}, line {at}: pair {number} is there twice; delete one of the lines.")
        lines[number] = _Line((first, last), (low, high), values[5])
    return lines


def _read_table(path: Path) -> Array:
    rows = list(_numbers(path))
    if not rows:
        raise DataError(f"{path.name} is empty: columns of numbers are expected.")
    width = len(rows[0][1])
    for at, values in rows:
        if len(values) != width:
            raise DataError(f"{path.name}, line {at}: {len(values)} numbers, where the first line has {width}.")
    return np.array([values for _, values in rows])


def _numbers(path: Path) -> list[tuple[int, list[float]]]:
    """Return the numbers of each line that is not empty, with its place in the file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path.name} cannot be read as text: save it as plain text in UTF-8.") from None
    except OSError as error:
        raise DataError(f"{path.name} cannot be read ({error.strerror}).") from None
    out = []
    for at, line in enumerate(text.splitlines(), start=1):
        cells = line.split()
        try:
            values = [float(cell) for cell in cells]
        except ValueError:
            raise DataError(
                f"{path.name}, line {at}: '{line.strip()[:40]}' is not a line of numbers: separate numbers by blanks or "
                "tabs, without a header, and write nan for a missing value."
            ) from None
        if cells:
            out.append((at, values))
    return out
