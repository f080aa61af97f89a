"""What ordering costs, in Shapiro-Wilk evaluations: `python benchmarks/ordering_speed.py [run]`.

The paper's order (`refine=False`) and the refined one. `run` measures and stores benchmarks/results/ordering_speed.csv;
without it, only docs/speed.md is made from these rows.

Every cell orders one simulated table per graph type, one thread, and divides the time by that of the d(d+1)/2 calls of
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
from pages import DOCS, prose, rows_in
from pages import FORMER as FORMER_DEFAULT
from rows import FORMER, RESULTS, read

GRAPHS = (("ER", 1), ("ER", 2), ("SF", 1), ("SF", 2))
#: Rows, columns, and the cost that the refined order should stay below.
CELLS = ((500, 10, 15), (5000, 10, 20), (50_000, 10, 20), (500, 50, 10))


STORE, PAGE = RESULTS / "ordering_speed.csv", DOCS / "speed.md"
FIELDS = ("n", "d", "paper_cost", "paper_worst", "cost", "worst", "aim", "seconds")
HEAD = """# Cost of ordering

How long does it take to find the causal order? For {n:,} rows and {d} columns it takes about {seconds:.1f} seconds
on one core. That is {cost:.0f} times the time of the normality tests alone, which the paper's algorithm cannot do
without. We aimed at a cost below the number in the column "aim"; the median cost is above the aim in {above} of
{settings} settings.

{former}

- *Cost*: time of `causal_order` divided by the time of d(d+1)/2 calls of `scipy.stats.shapiro` on the same number
  of rows, one thread. The tables come from the paper's linear simulation. Median and worst over the tables.
- *Paper's order*: `refine=False`. *Refined*: the order that HOST goes on with. *Seconds*: of the refined order.

Written by `python benchmarks/ordering_speed.py` from {file}; the same command with `run` measures again. Times
depend on the machine, the cost less so."""


def floor_seconds(X):
    start = time.perf_counter()
    for call in range(X.shape[1] * (X.shape[1] + 1) // 2):
        shapiro(X[:, call % X.shape[1]])
    return time.perf_counter() - start


def cell(n, d, seeds, refine):
    ratios, seconds = [], []
    for graph, degree in GRAPHS:
        for seed in seeds:
            X = simulate(n, d, graph, degree, random_state=seed, version="code").X
            before = floor_seconds(X)
            start = time.perf_counter()
            causal_order(X, refine=refine, **FORMER)
            took = time.perf_counter() - start
            ratios.append(2 * took / (before + floor_seconds(X)))
            seconds.append(took)
    return float(np.median(ratios)), float(np.max(ratios)), float(np.median(seconds))


def run(seeds_per_graph):
    rows = []
    for n, d, aim in CELLS:
        seeds = range(7000, 7000 + (seeds_per_graph if n * d < 100_000 else 1))
        plain, worst_plain, _ = cell(n, d, seeds, False)
        median, worst, seconds = cell(n, d, seeds, True)
        costs = (f"{cost:.1f}" for cost in (plain, worst_plain, median, worst))
        rows.append((n, d, *costs, aim, f"{seconds:.3f}"))
        print(*rows[-1], flush=True)
    with STORE.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([FIELDS, *rows])


def page(rows):
    largest = max(rows, key=lambda r: int(r["n"]))
    head = prose(
        HEAD, n=int(largest["n"]), d=largest["d"], seconds=float(largest["seconds"]), cost=float(largest["cost"]),
        above=sum(float(r["cost"]) > float(r["aim"]) for r in rows), settings=len(rows), former=FORMER_DEFAULT,
        file=rows_in(STORE.name),
    )  # fmt: skip
    lines = [
        head,
        "",
        "| n | d | paper's order, cost (median) | worst | refined, cost (median) | worst | aim | seconds (median) |",
        "|---|---|---|---|---|---|---|---|",
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
