"""Are edges that come back in resamples true: `python benchmarks/bootstrap_calibration.py [--graphs 20]`.

For every simulated graph the bootstrap of HOST is run, and each ordered pair of columns becomes a row of
benchmarks/results/bootstrap_calibration.csv with its frequencies and the truth; graphs done before are kept. The page
is made from all rows.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np

from heterodag import HOST, BootstrapResult, bootstrap, metrics, simulate
from heterodag.core.graph import topological_order
from pages import FORMER as FORMER_DEFAULT
from pages import prose, rows_in
from rows import FORMER

ROOT = Path(__file__).resolve().parents[1]
GRAPHS = (("ER", 1), ("ER", 2), ("SF", 1), ("SF", 2))
FIRST_SEED, D, N = 10_000, 8, 500
BINS = ((0.0, 0.0), (0.0, 0.25), (0.25, 0.45), (0.45, 0.55), (0.55, 0.75), (0.75, 0.95), (0.95, 1.0))
FIELDS = ["seed", "graph", "resamples", "cause", "effect", "directed", "adjacent", "before", "true", "single"]


def plain_host() -> HOST:
    """Return the method that is resampled: fast, since it runs a thousand times."""
    return HOST(refine=False, selection="likelihood-full", **FORMER)


def run(seed, resamples, jobs):
    """Return one row per ordered pair of columns of one simulated table."""
    graph, degree = GRAPHS[seed % len(GRAPHS)]
    data = simulate(N, D, graph, degree, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        single = plain_host().fit(data.X)
        found = bootstrap(plain_host(), data.X, resamples, random_state=seed, n_jobs=jobs)
    return [
        dict(zip(FIELDS, [
            seed, f"{graph}-{degree}", found.n_resamples, i, j, f"{found.directed[i, j]:.6g}",
            f"{found.adjacent[i, j]:.6g}", f"{found.before[i, j]:.6g}", data.adjacency[i, j], single.adjacency_[i, j],
        ], strict=True))
        for i in range(D) for j in range(D) if i != j
    ]  # fmt: skip


def in_bin(values, low, high):
    """Return which values lie in (low, high], or are 0 for the first bin."""
    return values == 0 if high == 0 else (values > low) & (values <= high)


def share_lines(rows):
    directed, adjacent, before = (np.array([float(r[k]) for r in rows]) for k in ("directed", "adjacent", "before"))
    true = np.array([int(r["true"]) for r in rows])
    mate = {(r["seed"], r["cause"], r["effect"]): int(r["true"]) for r in rows}
    either = np.array([int(r["true"]) or mate[r["seed"], r["effect"], r["cause"]] for r in rows])
    yield "| frequency | edges i -> j | of these true | pairs adjacent | of these true |"
    yield "|---|---|---|---|---|"
    for low, high in BINS:
        here, there = in_bin(directed, low, high), in_bin(adjacent, low, high)
        label = "0" if high == 0 else f"above {low:g} to {high:g}"
        counted = [f"{here.sum()}", share(true[here]), f"{there.sum() // 2}", share(either[there], halves=True)]
        yield f"| {label} | " + " | ".join(counted) + " |"
    yield ""
    yield "The same for directions. Of two variables that are joined in truth, is the one that comes first in most"
    yield "resamples the cause? Every pair stands here twice, once each way."
    yield ""
    yield "| how often i comes before j | joined pairs (i, j) | i is the cause |"
    yield "|---|---|---|"
    linked = either == 1
    for low, high in ((0.0, 0.05), (0.05, 0.25), (0.25, 0.45), (0.45, 0.55), (0.55, 0.75), (0.75, 0.95), (0.95, 1.0)):
        here = linked & ((before > low) | ((low == 0) & (before == 0))) & (before <= high)
        yield f"| {'from' if low == 0 else 'above'} {low:g} to {high:g} | {here.sum()} | {share(true[here])} |"


def share(values, halves=False):
    """Return a share with its binomial standard error; every adjacent pair stands in two rows."""
    count = len(values) // 2 if halves else len(values)
    if not count:
        return "-"
    rate = float(np.mean(values))
    smooth = (rate * count + 1) / (count + 2)
    return f"{rate:.2f} ± {np.sqrt(smooth * (1 - smooth) / count):.2f}"


def consensus_lines(rows):
    yield "| graph | SHD of HOST on all rows | SHD of the consensus above 0.5 | wrong edges: HOST, consensus | graphs |"
    yield "|---|---|---|---|---|"
    seeds = dict.fromkeys(r["seed"] for r in rows)
    table = []
    for seed in seeds:
        some = [r for r in rows if r["seed"] == seed]
        directed, truth, single = (np.zeros((D, D)) for _ in range(3))
        for r in some:
            where = int(r["cause"]), int(r["effect"])
            directed[where], truth[where], single[where] = float(r["directed"]), int(r["true"]), int(r["single"])
        topological_order(truth)
        consensus = frequencies_consensus(directed, int(some[0]["resamples"]))
        distances = [metrics.shd(graph, truth) for graph in (single, consensus)]
        wrong = [int(np.sum((graph == 1) & (truth == 0))) for graph in (single, consensus)]
        table.append((some[0]["graph"], *distances, *wrong))
    for kind in [*sorted({row[0] for row in table}), "all"]:
        some = np.array([row[1:] for row in table if kind in (row[0], "all")], dtype=float)
        a, b, c, d = some.mean(axis=0)
        yield f"| {kind} | {a:.2f} | {b:.2f} | {c:.2f}, {d:.2f} | {len(some)} |"


def frequencies_consensus(directed, resamples):
    """Return the consensus of frequencies: as many made-up resamples have exactly these."""
    counts = np.rint(directed * resamples).astype(int)
    made = (np.arange(resamples)[:, None, None] < counts).astype(np.int8)
    return BootstrapResult([str(k) for k in range(D)], made, None).consensus(0.5).to_numpy()


HEAD = """# Calibration of the bootstrap

If an edge appears in 95 % of the resampled tables, is it true? Yes: of the edges with a frequency above 0.95,
{often:.0f} % are true; between 0.45 and 0.55 it is {half:.0f} %, and of those that appear in at most a quarter of
the resamples {rare:.0f} %. So the frequency can be read as a rough probability. The consensus graph has about as
many errors as a single fit ({shd} {consensus:.2f} against {single:.2f}), but fewer wrong edges.

{former} It was run without refinement, with the edge test `likelihood-full`.

The paper's linear simulation, {graphs} graphs (ER-1, ER-2, SF-1, SF-2), {d} columns, {n} rows, seeds from {seed};
{resamples} resamples each. Shares have binomial standard errors. Written by `python
benchmarks/bootstrap_calibration.py` from {file}."""


def page(rows):
    resamples = sorted({int(r["resamples"]) for r in rows})

    def true_share(low, high):
        return 100 * np.mean([int(r["true"]) for r in rows if low < float(r["directed"]) <= high])

    consensus = list(consensus_lines(rows))
    single, joint = (float(cell) for cell in consensus[-1].split("|")[2:4])
    head = prose(
        HEAD, often=true_share(0.95, 1), half=true_share(0.45, 0.55), rare=true_share(0, 0.25), single=single,
        consensus=joint, former=FORMER_DEFAULT, graphs=len({r["seed"] for r in rows}), d=D, n=N, seed=FIRST_SEED,
        resamples=", ".join(map(str, resamples)), file=rows_in("bootstrap_calibration.csv"),
    )  # fmt: skip
    lines = [head, "", "## Is an edge of a given frequency true?", "", *share_lines(rows), ""]
    lines += [
        "## The consensus graph",
        "",
        "Edges with a frequency above 0.5, against a single fit of all rows. Means.",
        "",
    ]
    return "\n".join([*lines, *consensus]) + "\n"


def read(path):
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--resamples", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "results" / "bootstrap_calibration.csv")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "bootstrap-calibration.md")
    args = parser.parse_args()
    done = {int(row["seed"]) for row in read(args.results)}
    new = not args.results.exists()
    with args.results.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if new:
            writer.writeheader()
        for seed in range(FIRST_SEED, FIRST_SEED + args.graphs):
            if seed not in done:
                writer.writerows(run(seed, args.resamples, args.jobs))
                file.flush()
                print(f"graph {seed}", flush=True)
    args.out.write_text(page(read(args.results)), encoding="utf-8")
    print(f"wrote {args.out.name}")


if __name__ == "__main__":
    main()
