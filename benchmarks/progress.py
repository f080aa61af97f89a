"""Is the time left true? `python benchmarks/progress.py [run] [--out docs/results/progress.md]`.

Records the share of progress that `HOST()` reports against the processor time used so far, one process, on simulated tables
of several sizes. From a share of 10 % on, the time left is guessed as the bar does, and compared with the time that
was left in truth. Rows go to benchmarks/results/progress.csv as they come. Shares were chosen on seeds below 1000.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from heterodag import HOST, simulate
from heterodag.estimators import host
from heterodag.runtime.progress import seconds_left
from pages import made_with, prose, rows_in
from rows import RESULTS, append_results, read

SIZES = (
    (500, 10),
    (5_000, 10),
    (50_000, 10),
    (500, 50),
    (5_000, 50),
    (50_000, 50),
    (500, 200),
    (5_000, 200),
    (200_000, 20),
    (1_000_000, 20),
    (3_000_000, 20),
)
PATH, FIRST_SEED = RESULTS / "progress.csv", 150_000
FIELDS = ("n", "d", "seed", "reports", "seconds", "within_two", "worst")
GRID = np.linspace(0.0, 1.0, 501)[1:-1]
HEAD = """# Is the time left true?

On a terminal the progress bar of `HOST(verbose=1)` and of `heterodag fit` shows the time left. Depending on the size of the
table, the guess is within a factor two of the truth at {low:.0f} to {high:.0f} % of the moments: take it as an order of
magnitude.

{now} Here the guess was compared with the truth at 500 evenly spaced moments of each run, from the moment on at which
the bar says 10 %: the share of these moments at which the guess was within a factor two of the time that was left, and
the median factor by which it was wrong. Written by `python benchmarks/progress.py --out docs/results/progress.md` from
{file}; seeds start at {seed}."""


def trace(n, d, seed):
    """Return the moments of the reports (processor seconds) and what they said, the end included."""
    data = simulate(n, d, degree=1, mechanism="straight", spread="straight", random_state=seed)
    said, start = [], time.process_time()

    @contextmanager
    def recorder(label, enabled):
        yield lambda share: said.append((time.process_time() - start, share))

    host.progress_bar = recorder
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        HOST().fit(data.X)
    return np.array(said).T


def judged(moments, shares):
    """Return the share of moments, from 10 % on, at which the time left was right within a factor two; the median factor."""
    end, factors = moments[-1], []
    for moment in GRID * end:
        at = np.searchsorted(moments, moment, side="right") - 1
        if at >= 0 and shares[at] >= 0.1:
            guess, truth = seconds_left(moment, min(shares[at], 0.999)), end - moment
            factors.append(max(guess / truth, truth / guess))
    return float(np.mean(np.array(factors) <= 2.0)), float(np.median(factors))


def cell(n, d, seed):
    moments, shares = trace(n, d, seed)
    within, factor = judged(moments, shares)
    row = {"n": n, "d": d, "seed": seed, "reports": len(shares), "seconds": round(float(moments[-1]), 2)}
    return [row | {"within_two": round(within, 3), "worst": round(factor, 2)}]


def of_size(rows, n, d):
    return [row for row in rows if (int(row["n"]), int(row["d"])) == (n, d)]


def mean_of(rows, key):
    return float(np.mean([float(row[key]) for row in rows]))


def page(rows):
    shares = [100 * mean_of(some, "within_two") for size in SIZES if (some := of_size(rows, *size))]
    lines = [
        prose(
            HEAD,
            low=min(shares),
            high=max(shares),
            now=made_with(PATH.name).replace("(results/", "("),
            file=rows_in(PATH.name).replace("../", "../../"),
            seed=FIRST_SEED,
        ),
        "",
    ]
    lines += ["| rows | columns | tables | processor seconds | within a factor two | median factor |"]
    lines.append("|---|---|---|---|---|---|")
    for n, d in SIZES:
        if some := of_size(rows, n, d):
            seconds, within, worst = (mean_of(some, key) for key in ("seconds", "within_two", "worst"))
            lines.append(f"| {n} | {d} | {len(some)} | {seconds:.1f} | {100 * within:.0f} % | {worst:.2f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=["run", "show", []])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=FIRST_SEED)
    parser.add_argument("--most", type=int, default=10**9, help="run tables of at most this many cells")
    parser.add_argument("--out")
    args = parser.parse_args()
    cells = [
        (*s, seed) for seed in range(args.first, args.first + args.seeds) for s in SIZES if s[0] * s[1] <= args.most
    ]
    if "show" in args.parts:
        for one in cells:
            moments, shares = trace(*one)
            said = " ".join(f"{m / moments[-1]:.2f}:{s:.2f}" for m, s in zip(moments, shares, strict=True))
            print(one, judged(moments, shares), said, flush=True)
    if "run" in args.parts:
        done = {(int(r["n"]), int(r["d"]), int(r["seed"])) for r in read(PATH)}
        append_results(PATH, FIELDS, cell, [c for c in cells if c not in done], 1, every=1)
    if args.out:
        Path(args.out).write_text(page(read(PATH)), encoding="utf-8")


if __name__ == "__main__":
    main()
