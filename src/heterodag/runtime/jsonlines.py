"""Stores of results: text files with one JSON object per line, to which each result is added when it is finished.

Text and not a database: rows are committed to repositories, read in a diff, merged by joining files, and opened by any
tool; SQLite would need an export beside it for that, and its own care on network drives. What is needed is small: a line
is written under a lock and is on the disk when `append_object` returns. A process killed in the middle leaves at most the
beginning of a line at the end of the file: readers count it, and the next writer takes it away.
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
    """Return the objects of a store in the order of its lines, and the number of lines that hold none."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        raise HeterodagError(f"Store '{path}' cannot be read; choose another file.") from None
    found = [_object(line) for line in lines if line]
    objects = [content for content in found if content is not None]
    return objects, len(found) - len(objects)


def append_object(path: Path, content: dict[str, Any]) -> None:
    """Add a line to a store, which is made if there is none; it is on the disk when this returns."""
    line = (json.dumps(content, ensure_ascii=False) + "\n").encode()
    try:
        with path.open("ab+") as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)  # two processes may share a store; closing the file gives it free
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
    """End the last line, or take it away if a killed writer left only its beginning."""
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
