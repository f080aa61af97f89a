"""Do errors fall as rows grow? `python benchmarks/more_rows.py [run] [--jobs 2] [--out docs/more-rows.md]`.

`HOST()` on the first 5,000, 20,000, 60,000 and 200,000 rows of tables of the paper's linear simulation, d = 20,
ER-2. Rows go to benchmarks/results/more_rows.csv as they come, and what is there is not run again. Seeds start at 30000;
nothing was chosen on them.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

from heterodag import HOST, metrics, simulate
from rows import FORMER, RESULTS, append_results, read

ROWS, ALL, D, FIRST_SEED = (5_000, 20_000, 60_000, 200_000), 200_000, 20, 30_000
PATH = RESULTS / "more_rows.csv"
FIELDS = ("seed", "n", "edges", "order", "shd", "seconds")
HEAD = """# More rows, fewer errors

HOST here means the former default, `HOST(parametrization="linear", form="natural", noise="gaussian")`.

Made by `python benchmarks/more_rows.py --out docs/more-rows.md` from benchmarks/results/more_rows.csv, which the same
command with `run` makes. `HOST()` on the first n rows of tables of 200,000 rows (paper's linear simulation, ER-2,
20 columns, 40 edges). Order divergence: edges that go against the order. SHD: structural Hamming distance.
Means over the seeds."""


def cell(seed):
    data = simulate(ALL, D, "ER", 2, random_state=seed)
    out = []
    for n in ROWS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = time.process_time()
            model = HOST(**FORMER).fit(data.X[:n])
        out.append({
            "seed": seed, "n": n, "edges": int(data.adjacency.sum()),
            "order": metrics.order_divergence(model.order_, data.adjacency),
            "shd": metrics.shd(model.adjacency_, data.adjacency), "seconds": round(time.process_time() - before, 2),
        })  # fmt: skip
    return out


def page():
    rows = read(PATH)
    lines = [HEAD, "", "| rows | tables | order divergence | worst | SHD | worst | processor seconds |"]
    lines.append("|---|---|---|---|---|---|---|")
    for n in ROWS:
        some = [r for r in rows if int(r["n"]) == n]
        order, shd, seconds = ([float(r[key]) for r in some] for key in ("order", "shd", "seconds"))
        lines.append(
            f"| {n} | {len(some)} | {np.mean(order):.2f} | {max(order):.0f} | {np.mean(shd):.2f} | {max(shd):.0f} "
            f"| {np.mean(seconds):.1f} |"
        )
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=["run", []])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out")
    args = parser.parse_args()
    if args.parts:
        done = {r["seed"] for r in read(PATH)}
        cells = [(s,) for s in range(FIRST_SEED, FIRST_SEED + args.seeds) if str(s) not in done]
        append_results(PATH, FIELDS, cell, cells, args.jobs, every=1)
    if args.out:
        Path(args.out).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
