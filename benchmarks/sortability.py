"""How much a mere sort gives away, in the tables of other benchmarks: `python benchmarks/sortability.py [--reference DIR]`.

Makes the tables again (nothing is fitted) and stores varsortability, before columns are scaled, and R2-sortability of
each in benchmarks/results/sortability.csv. What is there is not made again. The pages of these benchmarks show the
means. The authors' data sets need --reference, the folder that holds them.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
from pathlib import Path

import numpy as np

import authors_sets
import paper_worlds
from heterodag.experiments.catalogue import EXPERIMENTS
from heterodag.experiments.data import load_data
from heterodag.metrics import r2_sortability, varsortability
from heterodag.simulation import simulate
from packages import GRAPHS
from pages import SORTABILITY
from rows import append_results, read
from worlds import WORLDS, tables

KEY = ("benchmark", "data", "table")
FIELDS = (*KEY, "varsortability", "r2_sortability")
#: The paper's experiments whose tables are looked at: where their columns vary, and what their rows are called.
OF_PAPER = {"dimensionality": "linear", "nonlinear": "nonlinear", "dense": "linear and dense"}
#: Settings of `worlds.py` -> benchmark in the rows. The graphs do not depend on the number of rows.
OF_WORLDS = {"main": "worlds", "d30": "worlds, 30 columns"}


def simulated(graph, n, d, seed, **choices):
    kind, degree = graph.split("-")
    data = simulate(n, d, kind, int(degree), random_state=seed, **choices)
    return data.X, data.adjacency


def of_authors(path):
    stored = np.load(path)
    return stored["X"], stored["A"]


def tasks(reference):
    """Yield (key, function that returns table and graph, its arguments) of every table."""
    for setting, benchmark in OF_WORLDS.items():
        for graph, n, d, seed in tables(setting):
            for world in WORLDS:
                yield (benchmark, world, str(seed)), simulated, (graph, n, d, seed), WORLDS[world]
    for name, words in OF_PAPER.items():
        for data in dict.fromkeys(cell.data for cell in EXPERIMENTS[name].cells("full")):
            yield ("reproduction", f"{words}, {data.n} rows, {data.d} columns", data.name), load_data, (data,), {}
    for (mechanism, n), seeds in paper_worlds.SETTINGS.items():
        for generator in paper_worlds.GENERATORS:
            for graph in GRAPHS:
                for seed in range(paper_worlds.FIRST_SEED, paper_worlds.FIRST_SEED + seeds):
                    key = ("paper_worlds", f"{mechanism}, {n} rows, {generator}", f"{graph}-{seed}")
                    yield key, simulated, (graph, n, 10, seed), {"mechanism": mechanism, "version": generator}
    paths = (
        {path: authors_sets.about(path.stem) for path in sorted(reference.glob("sets/*.npz"))} if reference else {}
    )
    for path, told in sorted(paths.items(), key=lambda item: (item[1]["mechanism"], item[1]["d"], item[1]["n"])):
        data = f"{told['mechanism']}, {told['n']} rows, {told['d']} columns"
        yield ("authors_sets", data, path.stem), of_authors, (path,), {}


def cell(key, load, arguments, choices):
    X, truth = load(*arguments, **choices)
    found = {"varsortability": f"{varsortability(X, truth):.4f}", "r2_sortability": f"{r2_sortability(X, truth):.4f}"}
    return [dict(zip(KEY, key, strict=True)) | found]


def main():
    parser = argparse.ArgumentParser(
        description="How much a mere sort gives away, in the tables of other benchmarks."
    )
    parser.add_argument("--reference", type=Path, help="folder of the authors' data sets")
    options = parser.parse_args()
    done = {tuple(row[name] for name in KEY) for row in read(SORTABILITY)}
    append_results(
        SORTABILITY, FIELDS, cell, [task for task in tasks(options.reference) if task[0] not in done], 1, 100
    )


if __name__ == "__main__":
    main()
