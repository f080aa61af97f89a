"""Rows of results on disk, shared by the benchmarks: read them, and append new ones as they come."""

from __future__ import annotations

import csv
import datetime
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

#: The default of HOST before mechanisms competed: the model of the paper's linear simulation.
FORMER = {"parametrization": "linear", "form": "natural", "noise": "gaussian"}

RESULTS = Path(__file__).resolve().parent / "results"
#: Which commit of the code made which rows: a line per file and commit. The page is made by `made_by.py`.
MADE_BY, COLUMNS = RESULTS / "made_by.csv", ("file", "version", "commit", "date")
#: Whether rows come out again; written by `again.py`.
AGAIN = RESULTS / "again.csv"


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file, none if it is not there yet."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def append_results(
    path: Path,
    fields: Sequence[str],
    run: Callable[..., list[dict[str, Any]]],
    cells: Iterable[tuple[Any, ...]],
    jobs: int,
    every: int = 50,
) -> None:
    """Call `run(*cell)` for every cell and append its rows at once: a run that is stopped loses nothing."""
    cells = list(cells)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fields)
        if new:
            writer.writeheader()
        work = Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(run)(*cell) for cell in cells)
        for count, rows in enumerate(work, start=1):
            writer.writerows(rows)
            file.flush()
            if count % every == 0 or count == len(cells):
                print(f"{count} of {len(cells)} done", flush=True)
    if cells:
        note_commit(path)


def note_commit(path: Path) -> None:
    """Add the commit that the code is at to those that made the rows of a file, unless the package has not changed since.

    With a new commit, what `again.py` found of the file does not count any more.
    """
    if RESULTS not in path.resolve().parents:
        return
    from heterodag import __version__

    name, lines = path.resolve().relative_to(RESULTS).as_posix(), read(MADE_BY)
    version = f"after {__version__}"  # a commit between releases
    new = dict(zip(COLUMNS, (name, version, commit(), datetime.date.today().isoformat()), strict=True))
    if any(line["file"] == name and same_package(line["commit"], new["commit"]) for line in lines):
        return
    write(MADE_BY, COLUMNS, sorted([*lines, new], key=lambda line: (line["file"], line["date"])))
    checked = read(AGAIN)
    if any(line["file"] == name for line in checked):  # it says nothing of the rows that are new
        write(AGAIN, list(checked[0]), [line for line in checked if line["file"] != name])


def write(path: Path, fields: Sequence[str], rows: Iterable[dict[str, Any]]) -> None:
    """Write a CSV file anew."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fields)
        writer.writeheader()
        writer.writerows(rows)


def same_package(one: str, other: str) -> bool:
    """Say whether the package was the same at two commits; one with changes on top is like itself only."""
    if one == other or "+" in one + other:
        return one == other
    try:
        asked = ["git", "diff", "--quiet", one, other, "--", "src"]
        found = subprocess.run(asked, cwd=RESULTS.parents[1], check=False, capture_output=True)
    except OSError:
        return False
    return found.returncode == 0


def commit() -> str:
    """Return the commit of the code, with a plus if the package has changed since; "unknown" outside of a clone."""
    asked = (["git", "rev-parse", "--short=7", "HEAD"], ["git", "status", "--porcelain", "--", "src"])
    try:
        head, changed = (
            subprocess.run(one, cwd=RESULTS.parents[1], check=True, capture_output=True, text=True).stdout.strip()
            for one in asked
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head}+" if changed else head
