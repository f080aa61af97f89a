"""Graphs of many shapes, with what a mere sort gives away: `python benchmarks/standard_graphs.py [run] [--jobs N]`.

`run` fits the methods to tables of four worlds on seven kinds of graphs, all columns scaled to variance 1. Rows go to
benchmarks/results/standard_graphs.csv as they come, and what is there is not run again. Without `run`, only
docs/standard-graphs.md is made from the rows. Table t has the seed 160000 + t whatever the graph and the world; choices in
HOST were made on seeds below 1000.

Four controls use no model of causes at all: a random order, sorts by rising and by falling R^2 given all other columns, and
a sort by the variances that the columns had before they were scaled. They find edges as VarSort does.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import zlib
from pathlib import Path

import numpy as np

from heterodag.core.sortability import explained_shares
from heterodag.metrics import r2_sortability, varsortability
from heterodag.simulation import simulate
from packages import rival, standardised
from rows import RESULTS, append_results, read
from worlds import FIELDS as MEASURED
from worlds import KEY as WORLD_KEY
from worlds import WORLDS as ALL_WORLDS
from worlds import host, outcome

#: Columns -> tables per graph and world.
FIRST_SEED, ROWS, TABLES = 160_000, 1000, {10: 10, 20: 2}
SIZES = tuple(TABLES)
KEY = ("graph", "world", "d", "seed", "method")
FIELDS = (*KEY, "varsortability", "r2_sortability", *(name for name in MEASURED if name not in WORLD_KEY))
#: Kind of graph -> edges per variable, about; "dense" has half of all pairs.
GRAPHS = {"ER": 2, "SF": 2, "small-world": 2, "bipartite": 2, "hubs": 1, "chain": 1, "dense": 1}
#: Normal and not, spread that moves and does not.
WORLDS = ("straight/constant/normal", "straight/constant/mixed", "straight/straight/normal", "curved/curved/mixed")
STORE = RESULTS / "standard_graphs.csv"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "standard-graphs.md"


def paper(X):
    """Fit the paper's HOST, with its cheaper edge test."""
    from heterodag import HOST

    model = HOST.paper(selection="gam").fit(X)
    return model.adjacency_, model.order_


def sorted_by(scores):
    """Return a method that orders by scores of the columns and then finds edges as VarSort does."""

    def fit(X):
        rank = np.argsort(np.argsort(scores(X), kind="stable"))
        return rival("VarSort")(X * (1.0 + rank))

    return fit


def luck(X):
    """Return random scores that every run of a table repeats."""
    return np.random.default_rng(zlib.crc32(np.round(X, 6).tobytes())).random(X.shape[1])


#: From a standardised table to (graph, order); the last control is given the table as it was.
METHODS = {
    "HOST": host(),
    "HOST.paper (gam)": paper,
    "VarSort": rival("VarSort"),
    "EqVar": rival("EqVar"),
    "NPVar": rival("NPVar"),
    "CAM": rival("CAM"),
    "R2-sort": sorted_by(explained_shares),
    "R2-sort (falling)": sorted_by(lambda X: -explained_shares(X)),
    "random order": sorted_by(luck),
    "VarSort, raw units": rival("VarSort"),
}
CONTROLS = ("R2-sort", "R2-sort (falling)", "random order", "VarSort, raw units")


def cell(graph, world, d, seed, method, limit):
    data = simulate(ROWS, d, graph, GRAPHS[graph], random_state=seed, **ALL_WORLDS[world])
    X = data.X if method == "VarSort, raw units" else standardised(data.X)
    row = dict.fromkeys(FIELDS, "") | dict(zip(KEY, (graph, world, d, seed, method), strict=True))
    row |= {"varsortability": f"{varsortability(data.X, data.adjacency):.4f}"}
    row |= {"r2_sortability": f"{r2_sortability(data.X, data.adjacency):.4f}"}
    return [row | outcome(METHODS[method], X, data.adjacency, limit)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=["run"], help="fit; without it the page is written")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS), metavar="NAME")
    parser.add_argument("--sizes", nargs="+", type=int, choices=SIZES, default=list(SIZES), metavar="COLUMNS")
    parser.add_argument("--tables", type=int, help="tables per graph and world, if not the number on the page")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--limit", type=int, default=120, help="seconds of processor time that one fit may take")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--store", type=Path, default=STORE)
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args()
    if options.part == "run":
        done = {tuple(row[key] for key in KEY) for row in read(options.store)}
        # Tables outermost: whenever the work stops, all graphs, worlds and methods have seen about as many.
        cells = [
            (graph, world, d, options.first_seed + t, method)
            for d in options.sizes for t in range(options.tables or TABLES[d])
            for graph in GRAPHS for world in WORLDS for method in options.methods
        ]  # fmt: skip
        missing = [(*key, options.limit) for key in cells if tuple(map(str, key)) not in done]
        append_results(options.store, FIELDS, cell, missing, options.jobs, every=100)
    else:
        from standard_graphs_page import page

        options.out.write_text(page(read(options.store)), encoding="utf-8")
        print(f"wrote {options.out.name}")


if __name__ == "__main__":
    main()
