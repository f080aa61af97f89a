"""Where the bytes of a table come from: a file, packed or not, or standard input."""

from __future__ import annotations

import difflib
import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, cast

from heterodag.errors import DataError

STANDARD_INPUT = "-"
#: How packed files end and begin, and the modules of the standard library that unpack them.
_ENDINGS = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}
_BEGINNINGS = {b"\x1f\x8b": "gzip", b"BZh91AY&SY": "bz2", b"\xfd7zXZ\0": "lzma"}


@dataclass(frozen=True)
class Source:
    """A readable table: a file by its path, or standard input by its content.

    Attributes
    ----------
    name : str
        For messages.
    path : Path
        The file; its ending helps to tell what it holds.
    content : bytes or None
        What standard input held; None for a file.
    """

    name: str
    path: Path
    content: bytes | None = None

    def __str__(self) -> str:
        return self.name

    @property
    def suffix(self) -> str:
        """The ending that tells the kind of table, in lower case; ``.gz`` and the like are taken off first."""
        path = self.path.with_suffix("") if self.path.suffix.lower() in _ENDINGS else self.path
        return path.suffix.lower()

    def open(self) -> IO[bytes]:
        """Open the bytes of the table, unpacked."""
        packing = self._packing()
        return self._raw() if packing is None else cast(IO[bytes], import_module(packing).open(self._raw(), "rb"))

    @property
    def is_plain(self) -> bool:
        """Whether it is a file that other libraries can open by its path: neither packed nor standard input."""
        return self.content is None and self._packing() is None

    def read(self) -> bytes:
        """Return all bytes of the table, unpacked."""
        with self.unpacking(), self.open() as file:
            return file.read()

    def start(self, size: int = 4096) -> bytes:
        """Return the first bytes of the table, unpacked."""
        with self.unpacking(), self.open() as file:
            return file.read(size)

    @contextmanager
    def unpacking(self) -> Iterator[None]:
        """Turn failures of unpacking, wherever they surface, into one sentence."""
        try:
            yield
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            if self._packing() is None:
                raise DataError(f"File '{self}' cannot be read ({error}); check it.") from None
            raise DataError(
                f"File '{self}' cannot be unpacked ({error}); it is damaged or not of the kind that its ending says."
            ) from None

    def _raw(self) -> IO[bytes]:
        return self.path.open("rb") if self.content is None else io.BytesIO(self.content)

    def _packing(self) -> str | None:
        """Return how the bytes are packed, judged by the ending or else by the first bytes."""
        if self.path.suffix.lower() in _ENDINGS:
            return _ENDINGS[self.path.suffix.lower()]
        with self._raw() as file:
            begin = file.read(16)
        return next((kind for mark, kind in _BEGINNINGS.items() if begin.startswith(mark)), None)


def open_source(path: str | Path) -> Source:
    """Return a file that can be read and is not empty, or standard input for ``-``; otherwise raise `DataError`."""
    if str(path) == STANDARD_INPUT:
        content = b"" if sys.stdin is None else sys.stdin.buffer.read()  # None if it was closed
        if not content:
            raise DataError("Standard input is empty; pipe a table with a header row and rows of numbers into it.")
        return Source("standard input", Path(""), content)
    path = Path(path)
    _check_file(path)
    return Source(str(path), path)


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
        raise DataError(f"'{path}' is not a regular file; save the table to a file, or pipe it in and give - for it.")
    if info.st_size == 0:
        raise DataError(f"File '{path}' is empty; give a table with a header row and rows of numbers.")


def _siblings(path: Path) -> list[str]:
    try:
        return [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return []
