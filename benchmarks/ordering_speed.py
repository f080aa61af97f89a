"""What ordering costs, in Shapiro-Wilk evaluations: `python benchmarks/ordering_speed.py [--out docs/speed.md]`.

The paper's order (`refine=False`) and the refined one.

Every cell orders one simulated table per graph type, one thread, and divides the time by that of the d(d+1)/2 calls of
`scipy.stats.shapiro` at the same n that Algorithm 2 cannot do without, measured in the same run just before and just
after (the machine may be noisy: the median over the graph types is reported).
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import shapiro

from heterodag import causal_order, simulate
from rows import FORMER

GRAPHS = (("ER", 1), ("ER", 2), ("SF", 1), ("SF", 2))
#: Rows, columns, and the cost that the refined order should stay below.
CELLS = ((500, 10, 15), (5000, 10, 20), (50_000, 10, 20), (500, 50, 10))


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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="tables per graph type")
    parser.add_argument("--out", type=Path, help="Markdown file to write")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = [
        "| n | d | paper's order, cost (median) | worst | refined, cost (median) | worst | aim | seconds (median) |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for n, d, aim in CELLS:
        seeds = range(7000, 7000 + (args.seeds if n * d < 100_000 else 1))
        plain, worst_plain, _ = cell(n, d, seeds, False)
        median, worst, seconds = cell(n, d, seeds, True)
        lines.append(
            f"| {n} | {d} | {plain:.1f} | {worst_plain:.1f} | {median:.1f} | {worst:.1f} | {aim} | {seconds:.3f} |"
        )
        print(lines[-1], flush=True)
    if args.out:
        head = (
            "# Cost of ordering\n\nMade by `python benchmarks/ordering_speed.py --out docs/speed.md`. Cost is the time of "
            "`causal_order`\ndivided by the time of the d(d+1)/2 calls of `scipy.stats.shapiro` at the same n, one thread, "
            "paper's linear simulation.\n\n"
        )
        args.out.write_text(head + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
