"""How much a mere sort gives away, in the tables of other benchmarks: `python benchmarks/sortability.py`.

Makes the tables again (nothing is fitted) and stores varsortability, before columns are scaled, and R2-sortability of each
in benchmarks/results/sortability.csv. The pages on worlds and on the paper's evaluation show the means.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np

from heterodag.experiments.catalogue import EXPERIMENTS
from heterodag.experiments.data import load_data
from heterodag.metrics import r2_sortability, varsortability
from heterodag.simulation import simulate
from rows import RESULTS, append_results, read
from worlds import WORLDS, tables

STORE = RESULTS / "sortability.csv"
FIELDS = ("benchmark", "data", "table", "varsortability", "r2_sortability")
#: The paper's experiments whose tables are looked at, and their names in the rows.
OF_PAPER = {"non-polynomial": "linear, 500 rows, 10 columns", "nonlinear": "nonlinear, 5000 rows, 10 columns",
            "dense": "linear and dense, 5000 rows, 10 columns"}  # fmt: skip


def row(benchmark, data, table, X, truth):
    found = {"varsortability": f"{varsortability(X, truth):.4f}", "r2_sortability": f"{r2_sortability(X, truth):.4f}"}
    return [{"benchmark": benchmark, "data": data, "table": table} | found]


def of_world(world, graph, n, d, seed):
    kind, degree = graph.split("-")
    data = simulate(n, d, kind, int(degree), random_state=seed, **WORLDS[world])
    return row("worlds", world, seed, data.X, data.adjacency)


def of_paper(name, data):
    return row("reproduction", OF_PAPER[name], data.name, *load_data(data))


def mean_of(rows, benchmark):
    """Return data -> means of varsortability and R2-sortability, and the number of tables."""
    out = {}
    for one in rows:
        if one["benchmark"] == benchmark:
            out.setdefault(one["data"], []).append((float(one["varsortability"]), float(one["r2_sortability"])))
    return {data: (*np.mean(values, axis=0), len(values)) for data, values in out.items()}


def lines(benchmark):
    """Return the lines of a table of means."""
    out = ["| data | tables | varsortability | R2-sortability |", "|---|---:|---:|---:|"]
    for data, (variance, explained, count) in mean_of(read(STORE), benchmark).items():
        out.append(f"| {data} | {count} | {variance:.2f} | {explained:.2f} |")
    return out


def main():
    STORE.unlink(missing_ok=True)
    append_results(STORE, FIELDS, of_world, [(world, *table) for world in WORLDS for table in tables("main")], 1, 100)
    sets = [
        (name, data) for name in OF_PAPER for data in {cell.data: None for cell in EXPERIMENTS[name].cells("full")}
    ]
    append_results(STORE, FIELDS, of_paper, sets, 1, 100)


if __name__ == "__main__":
    main()
