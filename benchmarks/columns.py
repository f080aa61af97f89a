"""How time and memory grow with the columns: `python benchmarks/columns.py [run] [--most 2000] [--out docs/columns.md]`.

Tables of 1,000 rows, ER-1, straight lines in mean and spread, by `HOST(conditioning="sparse", n_jobs=2)` and by the quick
settings of examples/many_columns.py. Every fit runs in a process of its own, whose peak memory is that of the fit. Rows go
to benchmarks/results/columns.csv as they come, and what is there is not run again. Seeds start at 150000; nothing was
chosen on them. `ablation` runs the rules for wide tables against those for narrow ones, on seeds below 1000.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from pages import made_with, prose, rows_in
from rows import RESULTS, append_results, read

N, WIDTHS, FIRST_SEED = 1_000, (100, 200, 400, 1_000, 2_000), 150_000
PATH, ABLATION = RESULTS / "columns.csv", RESULTS / "columns_ablation.csv"
PICTURE = "images/columns.svg"
FIELDS = ("settings", "d", "seed", "edges", "order", "shd", "seconds", "processor", "before", "peak", "worker")
RULES = ("as it is", "promises of narrow tables", "two starts", "one greedy edge at a time")
TUNING = {"straight": range(3), "curved": range(100, 102)}
SETTINGS = {
    "default": {},
    "quick": {"parametrization": "linear", "form": "location-scale", "noise": "gaussian"},
}
HEAD = """# Many columns

How long does a fit take, and how much memory, as columns are added? Tables of {n:,} rows with as many true edges as
columns were fitted by `HOST(conditioning="sparse", n_jobs=2)` ("default") and with straight lines and normal noise
("quick": `parametrization="linear", form="location-scale", noise="gaussian"`).

{now} Written by `python benchmarks/columns.py --out docs/columns.md` from {file}; the same command with `run` makes the
rows. Seeds start at {seed}; nothing was chosen on them. "Processor seconds" are those of all processes together; the
machine has two cores and was shared with other work, so the seconds on the clock are longer than they need to be.
"Memory" is the peak of the main process; each worker has its own. "SHD" and "order" are {shd} and {order_divergence}, per
true edge. With the level 0.001, d (d - 1) / 2000 edges are expected by chance: `correction="holm"` leaves these out."""
GROWTH = """Processor time grows like the number of columns to the power {default:.1f} (default, up to {default_most:,}
columns) and {quick:.1f} (quick, up to {quick_most:,}): a straight line through the logarithms. On a terminal, the progress
bar shows the time left; [how true that is](results/progress.md)."""
MEMORY = """## Memory

What a fit needs beyond the imports is, in bytes, about

- 16 n d for the table and its standardised copy (the copy is kept up to 48 MB only);
- 8 d^2 for each matrix of results, of which there are 13 to 15 (p-values, nats, evidence for directions, ten of
  strengths, and mean and spread told apart in location-scale form), for the gains of the models chosen, and for copies on
  the way: about 200 d^2 together;
- 64 MB for basis columns of splines, in every process, and 32 MB for gains that are being computed;
- with the default, about 0.5 MB per column for the models fitted so far (1.4 KB each, some 70 per column), their
  promises, and what workers send back.

Before the fit the process had {before:.0f} MB on average (Python, NumPy, pandas and the simulated table)."""
RULES_TEXT = """## Rules for wide tables

Beyond 50 columns three rules of the search change. What a column's curves promise counts 0.7 instead of 2 nats per
standard deviation (`scores/smooth.py`): with 2 nats, more parents look promising by chance. The search has
one start instead of two (`ordering/search.py`). The greedy graph gets an edge per 50 columns at a time
(`ordering/greedy.py`). Up to 50 columns nothing changes. Means over {tables} tables of 100 columns and 1,000 rows (seeds
below 1000, lines and curves), by `python benchmarks/columns.py ablation`, rows in {file}. The rules save time and make no
fewer errors:"""


def cell(settings, d, seed):
    """Run one fit in a process of its own."""
    command = [sys.executable, __file__, "one", "--cell", json.dumps([settings, d, seed])]
    return [json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)]


def one(settings, d, seed):
    """Fit one table; return the row."""
    from joblib.externals.loky import get_reusable_executor

    from heterodag import HOST, metrics, simulate

    data = simulate(N, d, degree=1, mechanism="straight", spread="straight", random_state=seed)
    before, start = peak(resource.RUSAGE_SELF), time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HOST(conditioning="sparse", n_jobs=2, **SETTINGS[settings]).fit(data.X)
    seconds = time.monotonic() - start
    get_reusable_executor().shutdown(wait=True)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "settings": settings, "d": d, "seed": seed, "edges": int(data.adjacency.sum()),
        "order": metrics.order_divergence(model.order_, data.adjacency),
        "shd": metrics.shd(model.adjacency_, data.adjacency), "seconds": round(seconds, 1),
        "processor": round(sum(u.ru_utime + u.ru_stime for u in used), 1),
        "before": before, "peak": peak(resource.RUSAGE_SELF), "worker": peak(resource.RUSAGE_CHILDREN),
    }  # fmt: skip


def peak(who):
    """Return the largest resident memory so far, in MB."""
    return round(resource.getrusage(who).ru_maxrss / 1024)


def ablated(rule, world, seed):
    """Fit one table of 100 columns with one of the rules for wide tables switched off."""
    from heterodag import HOST, metrics, simulate
    from heterodag.ordering import greedy, search
    from heterodag.scores import smooth

    changes = {
        "promises of narrow tables": (smooth, "WIDE", 10**9),
        "two starts": (search, "_TWO_STARTS", 10**9),
        "one greedy edge at a time": (greedy, "COLUMNS_PER_EDGE", 10**9),
    }
    if rule in changes:
        setattr(*changes[rule])
    spread = "straight" if world == "straight" else "curved"
    data = simulate(N, 100, degree=1, mechanism=world, spread=spread, random_state=seed)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HOST().fit(data.X)
    return {
        "rule": rule, "world": world, "seed": seed, "edges": int(data.adjacency.sum()),
        "order": metrics.order_divergence(model.order_, data.adjacency),
        "shd": metrics.shd(model.adjacency_, data.adjacency), "score": round(model.refinement_.score, 1),
        "processor": round(time.process_time() - start, 1),
    }  # fmt: skip


def ablation_cell(*cell):
    command = [sys.executable, __file__, "ablated", "--cell", json.dumps(cell)]
    return [json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)]


def exponent(rows, key):
    """Return the slope of a straight line through the logarithms of columns and of a measure, and its value at d = 1."""
    d, y = (np.log([float(r[k]) for r in rows]) for k in ("d", key))
    slope, level = np.polyfit(d, y, 1)
    return float(slope), float(np.exp(level))


def means(rows, settings):
    """Return one row per width: the means of the tables."""
    out = []
    for d in sorted({int(r["d"]) for r in rows if r["settings"] == settings}):
        some = [r for r in rows if r["settings"] == settings and int(r["d"]) == d]
        mean = {key: float(np.mean([float(r[key]) for r in some])) for key in FIELDS[3:]}
        out.append(mean | {"d": d, "tables": len(some)})
    return out


def page():
    rows, ablation = read(PATH), read(ABLATION)
    head = prose(HEAD, n=N, now=made_with(PATH.name, ABLATION.name), file=rows_in(PATH.name), seed=FIRST_SEED)
    lines = [head, "", f"![Time and memory against columns]({PICTURE})", ""]
    lines.append(
        "| settings | columns | tables | minutes | processor seconds | memory (MB) | worker (MB) | SHD | order |"
    )
    lines.append("|---|---|---|---|---|---|---|---|---|")
    for settings in SETTINGS:
        for r in means(rows, settings):
            lines.append(
                f"| {settings} | {r['d']} | {r['tables']} | {r['seconds'] / 60:.1f} | {r['processor']:.0f} "
                f"| {r['peak']:.0f} | {r['worker']:.0f} | {r['shd'] / r['edges']:.3f} "
                f"| {r['order'] / r['edges']:.3f} |"
            )
    slopes = {s: exponent(means(rows, s), "processor")[0] for s in SETTINGS}
    most = {f"{s}_most": max(r["d"] for r in means(rows, s)) for s in SETTINGS}
    lines += ["", prose(GROWTH, **slopes, **most)]
    lines += ["", prose(MEMORY, before=np.mean([float(r["before"]) for r in rows]))]
    if ablation:
        lines += ["", *ablation_lines(ablation)]
    return "\n".join(lines) + "\n"


def ablation_lines(rows):
    tables = len({(r["world"], r["seed"]) for r in rows})
    lines = [prose(RULES_TEXT, tables=tables, file=rows_in(ABLATION.name)), ""]
    lines += ["| rule | SHD | order divergence | score found (nats) | processor seconds |", "|---|---|---|---|---|"]
    for rule in RULES:
        some = [r for r in rows if r["rule"] == rule]
        shd, order, score, seconds = (
            np.mean([float(r[k]) for r in some]) for k in ("shd", "order", "score", "processor")
        )
        lines.append(f"| {rule} | {shd:.1f} | {order:.1f} | {score:.1f} | {seconds:.0f} |")
    return lines


def picture(path):
    """Draw time and memory against columns, with the straight lines through the logarithms."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    style = {"svg.fonttype": "none", "svg.hashsalt": "heterodag", "font.family": "sans-serif"}
    with plt.rc_context(style):
        figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
        for ax, key, label in zip(
            axes, ("processor", "peak"), ("processor seconds", "peak memory (MB)"), strict=True
        ):
            for settings, colour in zip(SETTINGS, ("#1f5fa8", "#c8641b"), strict=True):
                own = means(read(PATH), settings)
                slope, level = exponent(own, key)
                d = np.array([r["d"] for r in own])
                ax.loglog(d, [r[key] for r in own], "o", color=colour)
                ax.loglog(d, level * d**slope, color=colour, label=f"{settings}: columns to the power {slope:.1f}")
            ax.set(xlabel="columns", ylabel=label)
            ax.legend(frameon=False, fontsize=8)
        figure.savefig(path, metadata={"Date": None}, facecolor="white")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=["run", "one", "ablation", "ablated", []])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--most", type=int, default=WIDTHS[-1], help="run tables of at most this many columns")
    parser.add_argument("--settings", choices=SETTINGS, nargs="*", default=list(SETTINGS))
    parser.add_argument("--cell", help="settings, columns and seed of one fit, as JSON")
    parser.add_argument("--out")
    args = parser.parse_args()
    if "one" in args.parts:
        print(json.dumps(one(*json.loads(args.cell))))
    if "ablated" in args.parts:
        print(json.dumps(ablated(*json.loads(args.cell))))
    if "run" in args.parts:
        done = {(r["settings"], int(r["d"]), int(r["seed"])) for r in read(PATH)}
        seeds = range(FIRST_SEED, FIRST_SEED + args.seeds)
        cells = [(s, d, seed) for seed in seeds for d in WIDTHS if d <= args.most for s in reversed(args.settings)]
        append_results(PATH, FIELDS, cell, [c for c in cells if c not in done], 1, every=1)
    if "ablation" in args.parts:
        done = {(r["rule"], r["world"], int(r["seed"])) for r in read(ABLATION)}
        cells = [(rule, world, seed) for world, seeds in TUNING.items() for seed in seeds for rule in RULES]
        fields = ("rule", "world", "seed", "edges", "order", "shd", "score", "processor")
        append_results(ABLATION, fields, ablation_cell, [c for c in cells if c not in done], 1, every=1)
    if args.out:
        picture(Path(args.out).parent / PICTURE)
        Path(args.out).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
