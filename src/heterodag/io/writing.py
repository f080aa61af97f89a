"""Write all files or none: a failure half-way leaves the folder as it was before."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from heterodag.errors import HeterodagError


def check_folder(out_dir: str | Path) -> None:
    """Raise `HeterodagError` if `out_dir` could not be written to; call it before long work.

    Parameters
    ----------
    out_dir : str or Path
        A folder, which need not exist yet.
    """
    out_dir = Path(out_dir)
    found = out_dir
    while not os.path.lexists(found) and found != found.parent:
        found = found.parent
    if not found.is_dir():
        raise _unwritable(out_dir, f"'{found}' is not a folder")
    if not os.access(found, os.W_OK | os.X_OK):
        raise _unwritable(out_dir, f"no permission to write in '{found}'")


def write_all(files: Mapping[str, str | bytes], out_dir: str | Path) -> list[Path]:
    """Write all files into a folder, or none: on any failure the folder is as it was before.

    Parameters
    ----------
    files : mapping of str to str or bytes
        File names and contents; text is written as UTF-8.
    out_dir : str or Path
        The folder, created if necessary; other files in it are left alone.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    HeterodagError
        If the folder cannot be made or written to; the message says why.
    """
    out_dir = Path(out_dir)
    check_folder(out_dir)
    for name in files:
        if (out_dir / name).is_dir():
            raise _unwritable(out_dir, f"'{name}' in it is a folder")
    made = [folder for folder in (out_dir, *out_dir.parents) if not folder.exists()]
    try:
        out_dir.mkdir(parents=True, exist_ok=True)
        # Inside the folder, so that every move stays on one file system and is atomic.
        with tempfile.TemporaryDirectory(prefix=".heterodag-", dir=out_dir) as stage:
            _stage_and_swap(files, out_dir, Path(stage))
    except BaseException as error:
        for folder in made:
            _remove_if_empty(folder)
        if isinstance(error, OSError):
            raise _unwritable(out_dir, error.strerror or str(error)) from error
        raise
    return [out_dir / name for name in files]


def _stage_and_swap(files: Mapping[str, str | bytes], out_dir: Path, stage: Path) -> None:
    new, old = stage / "new", stage / "old"
    new.mkdir()
    old.mkdir()
    for name, content in files.items():
        (new / name).write_bytes(content.encode() if isinstance(content, str) else content)
        if (out_dir / name).exists():
            shutil.copy2(out_dir / name, old / name)
    done = []
    try:
        for name in files:
            done.append(name)
            os.replace(new / name, out_dir / name)
    except BaseException:
        for name in done:
            _restore(old / name, out_dir / name, was_moved=not (new / name).exists())
        raise


def _restore(saved: Path, target: Path, *, was_moved: bool) -> None:
    if was_moved and saved.exists():
        os.replace(saved, target)
    elif was_moved:
        target.unlink(missing_ok=True)


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return


def _unwritable(out_dir: Path, reason: str) -> HeterodagError:
    return HeterodagError(f"Cannot write into '{out_dir}': {reason}; choose another place with --out.")
