"""Find the files of a table on disk, given as a path, a folder, a pattern such as ``data/*.parquet``, or a list."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heterodag.errors import DataError

_PARQUET = (".parquet", ".pq")


def is_path(source: Any) -> bool:
    """Tell whether `source` is a path or a list of paths."""
    if isinstance(source, list | tuple):
        return bool(source) and all(isinstance(one, str | os.PathLike) for one in source)
    return isinstance(source, str | os.PathLike)


def is_many(path: str | Path) -> bool:
    """Tell whether a path stands for several files: a folder or a pattern."""
    return os.path.isdir(path) or is_pattern(path)


def is_pattern(path: str | Path) -> bool:
    """Tell whether a path is a pattern; a file whose name holds a ``*`` or ``[`` is a file."""
    return glob.has_magic(os.fspath(path)) and not os.path.exists(path)


def files_of(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    """Return the files; those of a folder or pattern are sorted by name, with numbers in names sorted by value."""
    if isinstance(source, list | tuple):
        return [file for one in source for file in files_of(one)]
    path = os.fspath(source)  # type: ignore[arg-type]
    if os.path.isdir(path):
        return _files_in(path)
    if not is_pattern(path):
        return [path]
    found = [file for file in glob.glob(path, recursive=True) if os.path.isfile(file)]
    if not found:
        raise DataError(f"No file matches '{path}'; check the pattern and the folder it starts from.")
    return sorted(found, key=_by_number)


def _files_in(folder: str) -> list[str]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: _by_number(entry.name))
    except OSError as error:
        raise DataError(f"Folder '{folder}' cannot be opened ({error.strerror}); check its permissions.") from None
    found = [entry.path for entry in entries if entry.name.lower().endswith(_PARQUET) and entry.is_file()]
    if found:
        return found
    if any(entry.is_dir() for entry in entries):
        remedy = f"give a pattern, such as '{os.path.join(folder, '**', '*.parquet')}' for those in folders below"
    else:
        remedy = f"give a folder that does, or a pattern such as '{os.path.join(folder, '*.csv')}' for other files"
    raise DataError(f"Folder '{folder}' holds no Parquet files; {remedy}.")


def _by_number(name: str) -> list[tuple[int, str]]:
    """Return a key by which part.2 comes before part.10."""
    return [(int(piece), "") if piece.isdigit() else (-1, piece) for piece in re.split(r"([0-9]+)", name)]
