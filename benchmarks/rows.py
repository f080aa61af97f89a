"""Rows of results on disk, shared by the benchmarks: read them, and append new ones as they come."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

#: The default of HOST before mechanisms competed: what the rows of the pages that say so were made with.
FORMER = {"parametrization": "linear", "form": "natural", "noise": "gaussian"}

RESULTS = Path(__file__).resolve().parent / "results"


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
