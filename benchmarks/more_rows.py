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
from pages import FORMER as FORMER_DEFAULT
from pages import prose, rows_in
from rows import FORMER, RESULTS, append_results, read

ROWS, ALL, D, FIRST_SEED = (5_000, 20_000, 60_000, 200_000), 200_000, 20, 30_000
PATH = RESULTS / "more_rows.csv"
FIELDS = ("seed", "n", "edges", "order", "shd", "seconds")
HEAD = """# More rows, fewer errors

Do errors vanish as rows are added? Tables of 20 columns and 40 true edges were cut to their first n rows. From
{first:,} to {last:,} rows, the mean {shd} falls from {shd_first:.1f} to {shd_last:.1f}, and the mean
{order_divergence} from {order_first:.1f} to {order_last:.1f}.

{former} The tables come from the paper's linear simulation (ER-2), which this model fits.

Means over {tables} tables; "worst" is the largest number of a single table. Written by `python
benchmarks/more_rows.py --out docs/more-rows.md` from {file}; the same command with `run` makes the rows. Seeds
start at {seed}; nothing was chosen on them."""


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
    ends = [[r for r in rows if int(r["n"]) == n] for n in (ROWS[0], ROWS[-1])]
    shd, order = ([np.mean([float(r[key]) for r in some]) for some in ends] for key in ("shd", "order"))
    head = prose(
        HEAD, first=ROWS[0], last=ROWS[-1], shd_first=shd[0], shd_last=shd[1], order_first=order[0],
        order_last=order[1], former=FORMER_DEFAULT, tables=len(ends[0]), file=rows_in(PATH.name), seed=FIRST_SEED,
    )  # fmt: skip
    lines = [head, "", "| rows | tables | order divergence | worst | SHD | worst | processor seconds |"]
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
