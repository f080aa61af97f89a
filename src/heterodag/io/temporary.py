"""Folders for tables that are converted before they are read; removed with their table, also after a failure."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from heterodag.errors import DataError

_FULL = (errno.ENOSPC, errno.EDQUOT)


class TemporaryFolder:
    """A new temporary folder. Only the process that made it removes it: a copy in a worker does not."""

    def __init__(self) -> None:
        with self._room():
            self.path = tempfile.mkdtemp(prefix="heterodag-")
        self._owner = os.getpid()

    def remove(self) -> None:
        """Remove the folder and what is in it."""
        if os.getpid() == self._owner:
            shutil.rmtree(self.path, ignore_errors=True)

    @contextmanager
    def _room(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # libraries wrap the system's error in their own
            if getattr(error, "errno", None) not in _FULL and "No space left" not in str(error):
                raise
            where = os.path.dirname(getattr(self, "path", "")) or tempfile.gettempdir()
            raise DataError(
                f"Folder '{where}' is full, to which the table was being converted: set the environment variable TMPDIR to "
                "a folder with more room, or convert the table to Parquet yourself and open that."
            ) from None

    @contextmanager
    def filling(self) -> Iterator[str]:
        """Yield the path of the folder; remove the folder if the block fails, and say so if the disk is full."""
        try:
            with self._room():
                yield self.path
        except BaseException:
            self.remove()
            raise
