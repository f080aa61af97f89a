"""Stores of results: text files with one JSON object per line; each result is appended as soon as it is finished.

Stores are text files, not databases: rows can be committed to a repository, read in a diff, merged by joining files,
and opened with any tool. SQLite would need an export for that, and special care on network drives. A line is written
under a lock and is on the disk when `append_object` returns. A process killed while writing leaves at most an
incomplete line at the end of the file: readers count it, and the next writer removes it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, BinaryIO

from heterodag.errors import HeterodagError

try:
    import fcntl
except ImportError:  # Windows: no lock, so one writer at a time
    fcntl = None  # type: ignore[assignment]


def read_objects(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Return the objects of a store in the order of its lines, and the number of lines that are not objects."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        raise HeterodagError(f"Store '{path}' cannot be read; choose another file.") from None
    found = [_object(line) for line in lines if line]
    objects = [content for content in found if content is not None]
    return objects, len(found) - len(objects)


def append_object(path: Path, content: dict[str, Any]) -> None:
    """Append a line to a store and make sure it is on the disk; create the store if it does not exist."""
    line = (json.dumps(content, ensure_ascii=False) + "\n").encode()
    try:
        with path.open("ab+") as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)  # processes may share a store; closing the file unlocks it
            _mend_end(file)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise HeterodagError(f"Store '{path}' cannot be written ({error.strerror}); choose another file.") from None


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _mend_end(file: BinaryIO) -> None:
    """End the last line with a newline, or remove it if a killed writer left it incomplete."""
    end = file.seek(0, os.SEEK_END)
    if end == 0 or (file.seek(end - 1), file.read(1))[1] == b"\n":
        return
    file.seek(0)
    content = file.read()
    keep = content.rfind(b"\n") + 1
    if _object(content[keep:]) is None:
        file.truncate(keep)
    else:
        file.write(b"\n")
