"""Stores of results: text files with one JSON object a line, to which finished work is added as it comes.

A line is written whole, with a lock, and is on the disk before the next one is begun. What a killed process leaves is at
most the beginning of a line at the end of the file; readers see it and count it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from heterodag.errors import HeterodagError

try:
    import fcntl
except ImportError:  # Windows: no lock, and whole lines all the same
    fcntl = None  # type: ignore[assignment]


def read_objects(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Return the objects of a store in the order of its lines, and the number of lines that hold none."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        raise HeterodagError(f"Store '{path}' cannot be read; choose another file.") from None
    objects, broken = [], 0
    for line in filter(None, lines):
        try:
            content = json.loads(line)
        except ValueError:
            content = None
        if isinstance(content, dict):
            objects.append(content)
        else:
            broken += 1
    return objects, broken


def append_object(path: Path, content: dict[str, Any]) -> None:
    """Add a line to a store, which is made if there is none; it is on the disk when this returns."""
    line = (json.dumps(content, ensure_ascii=False) + "\n").encode()
    try:
        with path.open("ab+") as file, _locked(file):
            end = file.seek(0, os.SEEK_END)
            if end:
                file.seek(end - 1)
                if file.read(1) != b"\n":  # the torn end of a line whose writer was killed
                    line = b"\n" + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise HeterodagError(f"Store '{path}' cannot be written ({error.strerror}); choose another file.") from None


def drop_torn_end(path: Path) -> bool:
    """Take away the beginning of a line that a killed process left at the end of a store; return whether there was one."""
    try:
        with path.open("rb+") as file, _locked(file):
            content = file.read()
            keep = content.rfind(b"\n") + 1
            torn = content[keep:]
            if not torn or _is_object(torn):
                return False
            file.truncate(keep)
            return True
    except OSError as error:
        raise HeterodagError(f"Store '{path}' cannot be written ({error.strerror}); choose another file.") from None


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


@contextmanager
def _locked(file: Any) -> Iterator[None]:
    """Hold the file alone: two processes may share a store."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if fcntl is not None:
            file.flush()
            fcntl.flock(file, fcntl.LOCK_UN)
