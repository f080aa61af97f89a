"""Do stored rows come out again? `python benchmarks/again.py [NAME ...] [--cells N] [--reference DIR]`.

Draws a few cells of every file of rows, runs them with the code as it is, and compares everything but times with what is
stored. The outcome goes to benchmarks/results/again.csv, a line per file, and from there to docs/results/made-by.md. Rows of
the authors' data sets need --reference, the folder that holds them.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import datetime
import importlib
import json
import logging
import re
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rows import AGAIN, RESULTS, commit, read, write

COLUMNS = ("file", "commit", "date", "cells", "same", "differing")
#: What may differ: times, memory, and which version it was.
LEFT_OUT = re.compile(r"second|processor|before|peak|worker|version$|heterodag")
#: Folder of the authors' data sets.
REFERENCE = Path()
Row = dict[str, Any]


@dataclass(frozen=True)
class Stored:
    """A file of rows, the columns that name a cell, and how a cell is run again; `taken` says which rows can be."""

    name: str
    key: tuple[str, ...]
    run: Callable[[Row], list[Row]]
    taken: Callable[[Row], bool] = lambda row: True

    @property
    def path(self) -> Path:
        """The file."""
        return RESULTS / (self.name if "." in self.name else f"{self.name}.csv")

    def rows(self) -> list[Row]:
        """Return the rows whose cells can be run again, values as text."""
        if self.path.suffix == ".csv":
            found = read(self.path)
        else:
            lines = self.path.read_text(encoding="utf-8").splitlines()
            found = [{name: text_of(value) for name, value in json.loads(line).items()} for line in lines]
        return [row for row in found if self.taken(row)]


def call(module: str, function: str = "cell", *more: Any) -> Callable[[Row], list[Row]]:
    """Return a function of a key that calls a benchmark's own with its values, then with `more`."""

    def run(key: Row) -> list[Row]:
        found = getattr(importlib.import_module(module), function)(*key.values(), *more)
        return [found] if isinstance(found, dict) else found

    return run


def with_world(module: str, function: str = "run_cell") -> Callable[[Row], list[Row]]:
    """Do the same for benchmarks whose worlds are tuples (mean, spread, noise)."""

    def run(key: Row) -> list[Row]:
        mean, *rest = key["world"].split("/")
        spread, noise = [None, *rest][-2:]
        return call(module, function)({**key, "world": (mean, spread, noise)})

    return run


def calibration(key: Row) -> list[Row]:
    module = importlib.import_module("calibration")
    return module.run_cell(key["scenario"], key["n"], key["run"], {key["test"]: module.available()[key["test"]]})


def ablation(key: Row) -> list[Row]:
    return importlib.import_module("ablations").cell(key["variant"], key["n"], 4 if key["n"] == 500 else 1)


def defect(kind: str, function: str) -> Callable[[Row], list[Row]]:
    def run(key: Row) -> list[Row]:
        module = importlib.import_module("table_checks")
        number = [one.name for one in getattr(module, kind)].index(key["name"])
        return getattr(module, function)(number, key["strength"], key["seed"])

    return run


def of_set(module: str, function: str) -> Callable[[Row], list[Row]]:
    """Return a function that runs a cell on a data set of the authors, which its first argument names."""

    def run(key: Row) -> list[Row]:
        home = importlib.import_module(module)
        name, *rest = key.values()
        path = REFERENCE / "sets" / f"{name}.npz"
        if module == "authors_sets":
            return home.cell(path, home.figures_of_authors(REFERENCE)[name])
        return getattr(home, function)(path, *rest)

    return run


def parametrization(part: str) -> Callable[[Row], list[Row]]:
    def run(key: Row) -> list[Row]:
        module = importlib.import_module("parametrizations")
        return [key | row for row in module.PARTS[part][1](*key.values())]

    return run


def reproduced(key: Row) -> list[Row]:
    """Run a cell of the paper's evaluation in this process."""
    from heterodag.experiments.catalogue import EXPERIMENTS
    from heterodag.experiments.run_cell import CellTask, run_cell

    cells = {cell.name: cell for experiment in EXPERIMENTS.values() for cell in experiment.cells("full")}
    cell = cells[key["cell"]]
    row = cell.settings() | {"status": "done", "message": ""}
    run_cell(CellTask(cell), lambda columns, step: row.update(columns))
    return [row]


def text_of(value: Any) -> str:
    return "" if value is None else str(value)


PARAMETRIZED = ("mechanism", "version", "n", "graph", "degree", "seed", "method")
#: DirectLiNGAM needs an environment of its own. In tables scaled to variance 1, rounding errors decide the order of VarSort
#: and the first column of EqVar's.
NOT_HERE = ("DirectLiNGAM", "VarSort", "EqVar")
FILES = (
    Stored("worlds", ("world", "graph", "n", "d", "seed", "method"), call("worlds", "cell", 600),
           lambda row: row["method"] not in NOT_HERE and row["error"] == ""),
    Stored("standard_graphs", ("graph", "world", "d", "seed", "method"), call("standard_graphs", "cell", 600),
           lambda row: row["method"] not in NOT_HERE and row["error"] == ""),
    Stored("paper_worlds", ("mechanism", "n", "generator", "graph", "seed", "method"), call("paper_worlds")),
    Stored("directions", ("world", "n", "seed"), with_world("directions")),
    Stored("directions_limit", ("world", "n", "seed"), with_world("directions")),
    Stored("confidence", ("world", "n", "seed", "resamples"), with_world("confidence")),
    Stored("pairs", ("kind", "seed"), call("pairs")),
    Stored("pairs_sizes", ("kind", "seed", "rows"), call("pairs", "sized_cell")),
    Stored("pairs_methods", ("kind", "seed", "method"), call("pairs_methods"),
           lambda row: row["method"] in ("HOST.paper", "CAM")),
    Stored("pairs_ablations", ("left out", "kind"), call("pairs", "ablated_cell")),
    Stored("sachs", ("scale", "method", "subsample"), call("sachs", "run_cell")),
    Stored("strengths", ("kind", "n", "seed"), call("strengths")),
    Stored("calibration", ("test", "scenario", "n", "run"), calibration),
    Stored("experiments_linear", ("degree", "seed", "method"), call("experiments", "run_linear", None),
           lambda row: row["method"].startswith("HOST")),
    Stored("experiments_wrong", ("world", "seed", "rows"), call("experiments", "run_wrong")),
    Stored("experiments_unknown", ("world", "shift", "seed"), call("experiments", "run_unknown")),
    Stored("experiments_sachs", ("reading", "subsample"), call("experiments", "run_sachs")),
    Stored("graph_checks", ("world", "n", "seed"), with_world("graph_checks")),
    Stored("table_checks", ("name", "strength", "seed"), defect("DEFECTS", "run_defect"),
           lambda row: row["kind"] == "defect"),
    Stored("table_checks_harm", ("name", "strength", "seed"), defect("HARMS", "run_harm")),
    Stored("trial", ("seed",), call("trial")),
    Stored("columns", ("settings", "d", "seed"), call("columns"), lambda row: row["d"] == "100"),
    Stored("ablations", ("variant", "n"), ablation, lambda row: not row["variant"].startswith("Sachs")),
    Stored("knowledge", ("seed",), call("knowledge", "run")),
    Stored("interventions_effects", ("seed", "model"), call("interventions", "effect_row")),
    Stored("interventions_counterfactuals", ("seed", "n"), call("interventions", "counterfactual_row")),
    Stored("authors_sets", ("set",), of_set("authors_sets", "cell")),
    Stored("oracle_order", ("set", "test"), of_set("oracle_order", "run_cell"),
           lambda row: not row["test"].startswith("authors")),
    Stored("reproduction/rows.jsonl", ("cell",), reproduced,
           lambda row: row["status"] == "done" and row["method"] not in ("GOLEM", "GraN-DAG")
           and int(row["n"]) <= 5000 and int(row["d"]) <= 20),
    Stored("parametrizations_order", PARAMETRIZED, parametrization("order")),
    Stored("parametrizations_edges", PARAMETRIZED, parametrization("edges")),
    Stored("parametrizations_heldout", PARAMETRIZED, parametrization("heldout")),
)  # fmt: skip


def typed(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def alike(one: str, other: str) -> bool:
    """Say whether two values are the same, numbers to six digits."""
    if one == other:
        return True
    try:
        return bool(np.isclose(float(one), float(other), rtol=1e-6, atol=1e-12, equal_nan=True))
    except ValueError:
        return False


def differing(before: list[Row], after: list[Row]) -> set[str]:
    """Return the columns in which rows of a cell differ, in their order; all of them where their number does."""
    names = [name for name in before[0] if not LEFT_OUT.search(name)]
    if len(before) != len(after):
        return set(names)
    return {
        name for old, new in zip(before, after, strict=True) for name in names
        if not alike(old[name], text_of(new.get(name)))
    }  # fmt: skip


def drawn(stored: Stored, count: int) -> list[list[Row]]:
    """Return the rows of cells that are drawn at random, the same ones whenever this is asked."""
    cells: dict[tuple[str, ...], list[Row]] = {}
    for row in stored.rows():
        cells.setdefault(tuple(row[name] for name in stored.key), []).append(row)
    rng = np.random.default_rng(zlib.crc32(stored.name.encode()))
    keys = sorted(cells)
    return [cells[keys[at]] for at in rng.permutation(len(keys))[:count]]


def again(stored: Stored, count: int) -> Row:
    """Run a few cells of a file again, and return what came out."""
    cells, different = drawn(stored, count), []
    for rows in cells:
        key = {name: typed(rows[0][name]) for name in stored.key}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = differing(rows, stored.run(key))
        different.append(found)
        if found:
            print(f"  {stored.name}: {key} differs in {', '.join(sorted(found))}", flush=True)
    columns = "; ".join(sorted(set().union(*different)))
    return {
        "file": stored.path.relative_to(RESULTS).as_posix(), "commit": commit(), "cells": len(cells),
        "date": datetime.date.today().isoformat(),
        "same": sum(not found for found in different), "differing": columns,
    }  # fmt: skip


def store(line: Row) -> None:
    lines = {old["file"]: old for old in read(AGAIN)} | {line["file"]: line}
    write(AGAIN, COLUMNS, [lines[name] for name in sorted(lines)])


def main() -> None:
    global REFERENCE
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="files of rows; all of them by default")
    parser.add_argument("--cells", type=int, default=8)
    parser.add_argument("--reference", type=Path, help="folder of the authors' data sets")
    options = parser.parse_args()
    unknown = set(options.names) - {stored.name for stored in FILES}
    if unknown:
        parser.error(f"no such rows: {', '.join(sorted(unknown))}; there are {', '.join(s.name for s in FILES)}")
    logging.disable(logging.INFO)
    for stored in FILES:
        of_authors = "set" in stored.key
        if not stored.path.exists() or (options.names and stored.name not in options.names):
            continue
        if of_authors and options.reference is None:
            print(f"{stored.name}: not run, it needs --reference")
            continue
        REFERENCE = options.reference or REFERENCE
        line = again(stored, options.cells)
        store(line)
        print(f"{stored.name}: {line['same']} of {line['cells']} cells are the same", flush=True)


if __name__ == "__main__":
    main()
