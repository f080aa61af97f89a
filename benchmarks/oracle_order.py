"""The edge step alone: `python benchmarks/oracle_order.py --reference DIR`.

Every edge test recovers the graph of each of the authors' data sets from a true order, at the paper's alpha of
0.001; the figures of the authors' own LCIT and GAM selection stand beside. DIR holds `sets/*.npz` (X and A)
and `oracle_order_pruning.csv`. Rows go to a CSV file as they come, and what is there is not run again (delete
the rows of a test that has changed). The Markdown page is made from that file alone: without --reference only
the page is written.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import csv
import importlib.util
import re
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from heterodag import metrics, recover_dag
from heterodag.core.graph import topological_order
from pages import details, made_with, prose, rows_in
from rows import FORMER, RESULTS, append_results, read

ALPHA = 0.001
FIELDS = (
    "set",
    "graph",
    "n",
    "d",
    "mechanism",
    "seed",
    "test",
    "edges",
    "shd",
    "extra",
    "missing",
    "seconds",
    "error",
)
AUTHORS = {"authors' LCIT": "shd_lcit", "authors' GAM": "shd_gam"}
NAME = re.compile(r"(ER|SF)(\d+)_n(\d+)_d(\d+)_(lin|nonlin)_s(\d+)")
HEAD = """# The edge tests with a true order

Suppose the order of the variables is known. Which test then finds the right edges? Every test got the same true
order of the authors' data sets, so all errors come from the edge step. The test of `HOST()` (*likelihood*) has the
fewest errors, alone or with another, in {linear} of {linear_all} settings on linear data and in {nonlinear} of
{nonlinear_all} on nonlinear data. Told that effects are straight lines in the natural form (*likelihood, told lines*),
it is best in {told_linear} and {told_nonlinear} of them. The authors' LCIT and GAM selection make more errors than
`likelihood` in all settings for which their figures exist.

{version}

- Figures are means of the {shd} at alpha 0.001: wrong edges plus missing ones. With a true order none can be
  reversed. The number of data sets is in brackets; the best of our tests is **bold**.
- The true order: causes first, the smallest column first among those available.
- The authors' figures come from their own LCIT and GAM selection with a true order, which need not be the same
  one.
- `likelihood-full` has straight lines too, in the natural form where no other is named; it ran up to d = 20.
- `kci` ran at n = 500 and d = 10 and 20 only, since its time grows with the cube of n. A dash, or no line: the test
  has not run on all sets of the column, and **bold** is the best of the others.

Written by `python benchmarks/oracle_order.py` from {file}; with `--reference DIR`, a folder of the authors' data
sets (seeds 0 to 4 of their generator), the same command makes the rows. Choices in HOST were made on other tables. Runs
that failed with an error: {failed} of {runs}."""


@dataclass(frozen=True)
class Entry:
    """Arguments of `recover_dag`, the largest table the test is given, and the package it needs."""

    options: dict[str, Any] = field(default_factory=dict)
    largest_n: int = 10**9
    largest_d: int = 10**9
    package: str = "numpy"


TESTS = {
    "likelihood": Entry(),
    "likelihood, told lines": Entry(FORMER),
    "likelihood-full": Entry(FORMER | {"selection": "likelihood-full"}, largest_d=20),
    "likelihood-full location-scale": Entry(
        FORMER | {"selection": "likelihood-full", "form": "location-scale"}, largest_d=20
    ),
    "gam": Entry({"selection": "gam"}),
    "gam-classical": Entry({"selection": "gam-classical"}),
    "partial-correlation": Entry({"selection": "partial-correlation"}),
    "rank-correlation": Entry({"selection": "rank-correlation"}),
    "gcm": Entry({"selection": "gcm"}),
    "lcit": Entry({"selection": "lcit"}, package="torch"),
    "fisherz": Entry({"selection": "fisherz"}, package="causallearn"),
    "kci": Entry({"selection": "kci"}, largest_n=500, largest_d=20, package="causallearn"),
}


# --- runs ---------------------------------------------------------------------------------------------------


def about(name: str) -> dict[str, Any]:
    """Return what the name of a data set says."""
    match = NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"'{name}' is no name of a data set, such as ER1_n500_d10_lin_s0.")
    graph, degree, n, d, mechanism, seed = match.groups()
    kind = "linear" if mechanism == "lin" else "nonlinear"
    return {
        "set": name, "graph": f"{graph}-{degree}", "n": int(n), "d": int(d), "mechanism": kind, "seed": int(seed),
    }  # fmt: skip


def run_cell(path: Path, test: str) -> list[dict[str, Any]]:
    """Return the row of one test on one data set; a test that fails is a row too."""
    stored = np.load(path)
    X, truth = stored["X"], stored["A"].astype(np.int8)
    row = about(path.stem) | {"test": test, "edges": int(truth.sum()), "error": ""}
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            options = TESTS[test].options
            found = recover_dag(
                X, topological_order(truth), alpha=ALPHA, random_state=row["seed"], **options
            ).adjacency
        row |= {"shd": metrics.shd(found, truth), "extra": int(np.sum(found > truth))}
        row["missing"] = int(np.sum(found < truth))
    except Exception as error:
        row["error"] = f"{type(error).__name__}: {error}"[:200]
    return [row | {"seconds": f"{time.perf_counter() - start:.3f}"}]


def missing(folder: Path, tests: list[str], done: set[tuple[str, str]]) -> Iterator[tuple[Path, str]]:
    """Yield the runs that are not stored yet, narrow tables first."""
    paths = sorted((folder / "sets").glob("*.npz"))
    for d in sorted({about(path.stem)["d"] for path in paths}):
        for test in tests:
            entry = TESTS[test]
            for path in paths:
                size = about(path.stem)
                small = size["n"] <= entry.largest_n and d <= entry.largest_d
                if size["d"] == d and small and (path.stem, test) not in done:
                    yield path, test


def authors_rows(folder: Path, done: set[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    with open(folder / "oracle_order_pruning.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            mechanism = "lin" if row["linear"] == "1" else "nonlin"
            name = f"{row['dag_type']}{row['k']}_n{row['n']}_d{row['d']}_{mechanism}_s{row['seed']}"
            for test, column in AUTHORS.items():
                if row[column] and (name, test) not in done:
                    yield about(name) | {"test": test, "edges": row["n_edges"], "shd": row[column]}


# --- the page -----------------------------------------------------------------------------------------------


def table(rows: list[dict[str, str]], settings: list[str], key: Any) -> Iterator[str]:
    """Yield a table of mean SHD, one row per test, one column per setting."""
    columns = [[row for row in rows if key(row) == setting] for setting in settings]
    heads = [f"{name} ({len({row['set'] for row in own})})" for name, own in zip(settings, columns, strict=True)]
    yield "| test | " + " | ".join(heads) + " |"
    yield "|---|" + "---|" * len(settings)
    means = [[mean_shd(own, test) for own in columns] for test in TESTS]
    best = [min((m for m in column if m is not None), default=None) for column in zip(*means, strict=True)]
    for test, values in zip(TESTS, means, strict=True):
        if any(value is not None for value in values):
            cells = [shown(value, value == least) for value, least in zip(values, best, strict=True)]
            yield f"| {test} | " + " | ".join(cells) + " |"
    for test in AUTHORS:
        values = [mean_shd(own, test) for own in columns]
        if any(value is not None for value in values):
            yield f"| {test} | " + " | ".join(shown(value, False) for value in values) + " |"
    edges = [{row["set"]: float(row["edges"]) for row in own} for own in columns]
    yield "| *true edges* | " + " | ".join(f"{np.mean(list(own.values())):.1f}" for own in edges) + " |"


def mean_shd(rows: list[dict[str, str]], test: str) -> float | None:
    """Return the mean over all sets of the setting; None unless the test ran on every one of them."""
    found = {row["set"]: float(row["shd"]) for row in rows if row["test"] == test and row["shd"]}
    return float(np.mean(list(found.values()))) if len(found) == len({row["set"] for row in rows}) else None


def shown(value: float | None, best: bool) -> str:
    text = "–" if value is None else f"{value:.1f}"
    return f"**{text}**" if best and value is not None else text


def compared(rows: list[dict[str, str]], author: str) -> Iterator[str]:
    """Yield the section of the sets for which the authors' test has a figure, the other one left out."""
    names = {row["set"] for row in rows if row["test"] == author}
    other = set(AUTHORS) - {author}
    own = [row for row in rows if row["set"] in names and row["test"] not in other]

    def key(row: dict[str, str]) -> str:
        return f"{row['graph']}, n = {row['n']}"

    settings = sorted({key(row) for row in own}, key=lambda name: (int(name.split()[-1]), name))
    yield from table(own, settings, key)


def setting_of(row: dict[str, str]) -> tuple[int, str, int]:
    return int(row["d"]), row["mechanism"], int(row["n"])


def title_of(setting: tuple[int, str, int]) -> str:
    d, mechanism, n = setting
    return f"{mechanism}, d = {d}, n = {n}"


def all_sets(rows: list[dict[str, str]]) -> Iterator[str]:
    """Yield our tests on all sets of the first setting, those of the others collapsed, and what kind the errors are."""
    own = [row for row in rows if row["test"] in TESTS]
    settings = sorted({setting_of(row) for row in own})
    for count, setting in enumerate(settings):
        mine = [row for row in own if setting_of(row) == setting]
        lines = list(table(mine, sorted({row["graph"] for row in mine}), lambda row: row["graph"]))
        if count == 0:
            yield from ["", f"## All sets, {title_of(setting)}", "", *lines]
            yield from ["", "## False edges and missed edges", ""]
            yield from ["Means per table, d = 10, all graphs together.", ""]
            yield from error_kinds([row for row in own if row["d"] == "10"])
            yield from ["", "## Other sizes", ""]
        else:
            yield from [*details(f"All sets, {title_of(setting)}", lines), ""]


def won(rows: list[dict[str, str]], mechanism: str, test: str = "likelihood") -> tuple[int, int]:
    """Return in how many settings a test has the lowest mean of all tests, and how many settings there are."""
    own = [row for row in rows if row["test"] in TESTS and row["mechanism"] == mechanism]
    settings = {(setting_of(row), row["graph"]) for row in own}
    best = 0
    for setting in settings:
        mine = [row for row in own if (setting_of(row), row["graph"]) == setting]
        means = {name: mean for name in TESTS if (mean := mean_shd(mine, name)) is not None}
        best += means.get(test) == min(means.values())
    return best, len(settings)


def error_kinds(rows: list[dict[str, str]]) -> Iterator[str]:
    groups = sorted({(row["mechanism"], int(row["n"])) for row in rows})
    yield "| test | " + " | ".join(f"{mechanism}, n = {n}" for mechanism, n in groups) + " |"
    yield "|---|" + "---|" * len(groups)
    for test in TESTS:
        cells = []
        for group in groups:
            own = [r for r in rows if r["test"] == test and (r["mechanism"], int(r["n"])) == group and r["shd"]]
            kinds = [np.mean([float(row[kind]) for row in own]) for kind in ("extra", "missing")] if own else None
            cells.append("–" if kinds is None else f"{kinds[0]:.1f} false, {kinds[1]:.1f} missed")
        if any(cell != "–" for cell in cells):
            yield f"| {test} | " + " | ".join(cells) + " |"


def page(rows: list[dict[str, str]]) -> str:
    linear, nonlinear = (won(rows, mechanism) for mechanism in ("linear", "nonlinear"))
    told = [won(rows, mechanism, "likelihood, told lines")[0] for mechanism in ("linear", "nonlinear")]
    head = prose(
        HEAD, linear=linear[0], linear_all=linear[1], nonlinear=nonlinear[0], nonlinear_all=nonlinear[1],
        told_linear=told[0], told_nonlinear=told[1], version=made_with("oracle_order.csv"),
        file=rows_in("oracle_order.csv"), failed=sum(bool(row["error"]) for row in rows),
        runs=sum(row["test"] in TESTS for row in rows),
    )  # fmt: skip
    lines = [head, *all_sets(rows), "## Beside the authors' figures, linear, d = 10", ""]
    for author in AUTHORS:
        lines += [*details(f"Beside the {author}", compared(rows, author)), ""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Every edge test on the authors' data sets with a true order.")
    parser.add_argument("--reference", type=Path, help="folder with sets/ and oracle_order_pruning.csv")
    parser.add_argument(
        "--tests", nargs="+", choices=list(TESTS), metavar="NAME", help="default: all that can run here"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS.parents[1] / "docs" / "oracle-order.md")
    parser.add_argument("--results", type=Path, default=RESULTS / "oracle_order.csv")
    options = parser.parse_args()
    if options.reference is not None:
        if not (options.reference / "oracle_order_pruning.csv").exists():
            parser.error(f"--reference: {options.reference} does not hold oracle_order_pruning.csv and sets/")
        tests = [t for t in options.tests or TESTS if importlib.util.find_spec(TESTS[t].package) is not None]
        done = {(row["set"], row["test"]) for row in read(options.results)}
        authors = [([row],) for row in authors_rows(options.reference, done)]
        append_results(options.results, FIELDS, list, authors, 1, every=10**9)
        append_results(options.results, FIELDS, run_cell, missing(options.reference, tests, done), options.jobs)
    options.out.write_text(page(read(options.results)), encoding="utf-8")
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
