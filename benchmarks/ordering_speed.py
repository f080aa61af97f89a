"""What ordering costs, in Shapiro-Wilk evaluations: `python benchmarks/ordering_speed.py [run]`.

The order of `HOST.paper()` and that of `HOST()`. `run` measures and stores benchmarks/results/ordering_speed.csv;
without it, only docs/speed.md is made from these rows.

Every cell orders three simulated tables per graph type (one if they are large), one thread, and divides the time by
that of the d(d+1)/2 calls of
`scipy.stats.shapiro` at the same n that Algorithm 2 cannot do without, measured in the same run just before and just
after (the machine may be noisy: the median over the graph types is reported).
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import csv
import time
import warnings

import numpy as np
from scipy.stats import shapiro

from heterodag import causal_order, simulate
from pages import DOCS, made_with, prose, rows_in
from rows import FORMER, RESULTS, note_commit, read

GRAPHS = (("ER", 1), ("ER", 2), ("SF", 1), ("SF", 2))
#: Rows and columns.
CELLS = ((500, 10), (5000, 10), (50_000, 10), (500, 50))
#: Settings of `causal_order` whose orders are those of `HOST.paper()` and of `HOST()`.
ORDERS = {"paper": FORMER | {"refine": False, "conditioning": "full"}, "default": {}}

STORE, PAGE = RESULTS / "ordering_speed.csv", DOCS / "speed.md"
FIELDS = ("n", "d", *(f"{name}_{what}" for name in ORDERS for what in ("cost", "worst", "seconds")))
HEAD = """# Cost of ordering

How long does it take to find the causal order? For {n:,} rows and {d} columns the paper's order takes about
{paper_seconds:.2g} seconds on one core, and that of `HOST()` {seconds:.2g}. That is {paper_cost:.0f} and {cost:.0f} times
the time of the normality tests alone, which the paper's algorithm cannot do without. What the order of `HOST()` gains for
its time is on the page on [twelve kinds of data](worlds.md).

{version}

- *Cost*: processor time of `causal_order` divided by that of d(d+1)/2 calls of `scipy.stats.shapiro` on the same number
  of rows, one thread. The tables come from the paper's linear simulation, 12 per line, 4 where a table has 100,000 cells
  or more. Median and worst over the tables.
- Seeds from 7000; choices in the search were made on seeds below 1000.
- *Paper*: the order of `HOST.paper()`, given all placed variables, without refinement. *Default*: that of `HOST()`, whose
  mechanisms compete.

Written by `python benchmarks/ordering_speed.py` from {file}; the same command with `run` measures again. Times
depend on the machine, the cost less so. Other kinds of data can be faster or slower to order than these."""


def floor_seconds(X):
    start = time.process_time()
    for call in range(X.shape[1] * (X.shape[1] + 1) // 2):
        shapiro(X[:, call % X.shape[1]])
    return time.process_time() - start


def cell(n, d, seeds, settings):
    ratios, seconds = [], []
    for graph, degree in GRAPHS:
        for seed in seeds:
            X = simulate(n, d, graph, degree, random_state=seed, version="code").X
            before = floor_seconds(X)
            start = time.process_time()
            causal_order(X, **settings)
            took = time.process_time() - start
            ratios.append(2 * took / (before + floor_seconds(X)))
            seconds.append(took)
    return f"{np.median(ratios):.1f}", f"{np.max(ratios):.1f}", f"{np.median(seconds):.3f}"


def run(seeds_per_graph):
    rows = []
    for n, d in CELLS:
        seeds = range(7000, 7000 + (seeds_per_graph if n * d < 100_000 else 1))
        rows.append((n, d, *(value for settings in ORDERS.values() for value in cell(n, d, seeds, settings))))
        print(*rows[-1], flush=True)
    with STORE.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([FIELDS, *rows])
    note_commit(STORE)


def page(rows):
    largest = max(rows, key=lambda r: int(r["n"]))
    head = prose(
        HEAD, n=int(largest["n"]), d=largest["d"],
        paper_seconds=float(largest["paper_seconds"]), seconds=float(largest["default_seconds"]),
        paper_cost=float(largest["paper_cost"]), cost=float(largest["default_cost"]),
        version=made_with(STORE.name), file=rows_in(STORE.name),
    )  # fmt: skip
    lines = [
        head,
        "",
        "| n | d | paper: cost (median) | worst | seconds (median) | default: cost (median) | worst | seconds (median) |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
        *(f"| {' | '.join(r[field] for field in FIELDS)} |" for r in rows),
    ]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", nargs="?", choices=["run"])
    parser.add_argument("--seeds", type=int, default=3, help="tables per graph type")
    args = parser.parse_args()
    if args.command:
        warnings.simplefilter("ignore")
        run(args.seeds)
    PAGE.write_text(page(read(STORE)), encoding="utf-8")


if __name__ == "__main__":
    main()
