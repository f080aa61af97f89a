"""What refinement gains: `python benchmarks/refinement.py [small] [wide] [nonlinear] [scale] [large] [--out FILE]`.

Rows go to benchmarks/results/refinement_*.csv as they come, and what is there is not run again. `small`: HOST() on the
paper's simulation, d = 10, against its order before refinement and the sort by marginal W. `wide`: d = 50, beside the order
divergence of the authors' script. `nonlinear`: splines on the paper's nonlinear simulation, n = 5000. `scale`: seconds
against d at n = 1000. `large`: a million rows, with the peak of memory.
Constants were chosen on seeds below 1000; the seeds here start at 60000.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import resource
import time
import warnings
from pathlib import Path

import numpy as np

from heterodag import HOST, causal_order, metrics, recover_dag, simulate
from heterodag.core.normality import shapiro_wilk
from rows import FORMER, RESULTS, append_results, read

GRAPHS = ("ER-1", "ER-2", "SF-1", "SF-2")
FIRST_SEED = 60_000
#: Order divergence of the authors' script at n = 500, d = 50 (mean of its runs).
AUTHORS = {"ER-1": 9.3, "ER-2": 29.7, "SF-1": 20.0, "SF-2": 39.3}
FIELDS = (
    "generator",
    "graph",
    "n",
    "d",
    "seed",
    "edges",
    "marginal",
    "start",
    "order",
    "shd",
    "oracle_shd",
    "seconds",
)
TIMES = ("graph", "n", "d", "seed", "workers", "refine", "seconds", "megabytes", "start", "order", "edges")
HEAD = """# What refinement gains

HOST here means the former default, `HOST(parametrization="linear", form="natural", noise="gaussian")`.

Made by `python benchmarks/refinement.py --out docs/refinement.md` from the rows in benchmarks/results, which the same
command with `small wide nonlinear scale large` makes. Generator `text` follows the paper's words, `code` the authors'
published code (see `simulate`). Order divergence (OD): edges that go against the order. SHD: structural Hamming distance
per true edge, with `HOST()` as it comes, and with the true order given (`recover_dag`). Constants were chosen on seeds
below 1000; the seeds here start at 60000. The seconds
beside accuracy are processor time on busy cores; those under Time were taken with both cores free."""


def accuracy_cell(generator, graph, n, d, seed):
    kind, degree = graph.split("-")
    data = simulate(n, d, kind, int(degree), random_state=seed, version=generator)
    truth = data.adjacency
    marginal = np.argsort(-shapiro_wilk(np.ascontiguousarray(data.X.T)), kind="stable")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = time.process_time()
        model = HOST(**FORMER).fit(data.X)
        seconds = time.process_time() - before
        oracle = recover_dag(data.X, data.order, **FORMER).adjacency
    start = [j for layer in model.refinement_.start for j in layer]
    return [{
        "generator": generator, "graph": graph, "n": n, "d": d, "seed": seed, "edges": int(truth.sum()),
        "marginal": metrics.order_divergence(marginal, truth), "start": metrics.order_divergence(start, truth),
        "order": metrics.order_divergence(model.order_, truth), "shd": metrics.shd(model.adjacency_, truth),
        "oracle_shd": metrics.shd(oracle, truth), "seconds": round(seconds, 3),
    }]  # fmt: skip


def nonlinear_cell(generator, graph, n, d, seed):
    kind, degree = graph.split("-")
    data = simulate(n, d, kind, int(degree), "nonlinear", random_state=seed, version=generator)
    truth = data.adjacency
    marginal = np.argsort(-shapiro_wilk(np.ascontiguousarray(data.X.T)), kind="stable")
    before = time.process_time()
    found = causal_order(data.X, **(FORMER | {"parametrization": "spline"}))
    seconds = time.process_time() - before
    start = [j for layer in found.start for j in layer]
    return [{
        "generator": generator, "graph": graph, "n": n, "d": d, "seed": seed, "edges": int(truth.sum()),
        "marginal": metrics.order_divergence(marginal, truth), "start": metrics.order_divergence(start, truth),
        "order": metrics.order_divergence(found.order, truth), "seconds": round(seconds, 3),
    }]  # fmt: skip


def time_cell(graph, n, d, seed, workers, refine):
    kind, degree = graph.split("-")
    data = simulate(n, d, kind, int(degree), random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = time.perf_counter()
        if refine:
            order = HOST(n_jobs=workers, **FORMER).fit(data.X).order_
        else:
            order = causal_order(data.X, refine=refine, n_jobs=workers, **FORMER).order
        seconds = time.perf_counter() - before
    return [{
        "graph": graph, "n": n, "d": d, "seed": seed, "workers": workers, "refine": int(refine),
        "seconds": round(seconds, 2), "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "start": "", "order": metrics.order_divergence(order, data.adjacency), "edges": int(data.adjacency.sum()),
    }]  # fmt: skip


def new_cells(path, cells, keys):
    done = {tuple(row[key] for key in keys) for row in read(path)}
    return [cell for cell in cells if tuple(str(int(v) if isinstance(v, bool) else v) for v in cell) not in done]


def run_accuracy(name, cells, jobs, cell=accuracy_cell):
    path = RESULTS / f"refinement_{name}.csv"
    keys = ("generator", "graph", "n", "d", "seed")
    append_results(path, FIELDS, cell, new_cells(path, cells, keys), jobs, every=10)


def run_times(name, cells):
    path = RESULTS / f"refinement_{name}.csv"
    keys = ("graph", "n", "d", "seed", "workers", "refine")
    append_results(path, TIMES, time_cell, new_cells(path, cells, keys), 1, every=1)


def small(args):
    seeds = range(FIRST_SEED, FIRST_SEED + args.seeds)
    for n in (500, 5000):
        cells = [(v, g, n, 10, s) for s in seeds for v in ("text", "code") for g in GRAPHS]
        run_accuracy("small", cells, args.jobs)


def wide(args):
    seeds = range(FIRST_SEED, FIRST_SEED + args.seeds)
    run_accuracy("wide", [("code", g, 500, 50, s) for s in seeds for g in GRAPHS], args.jobs)


def nonlinear(args):
    seeds = range(FIRST_SEED, FIRST_SEED + args.seeds)
    cells = [("text", g, 5000, 10, s) for s in seeds for g in GRAPHS]
    run_accuracy("nonlinear", cells, args.jobs, nonlinear_cell)


def scale(args):
    cells = [
        ("ER-2", 1000, d, FIRST_SEED, args.workers, refine) for d in (100, 200, 400, 1000) for refine in (False, True)
    ]
    run_times("scale", cells)


def large(args):
    run_times("large", [("ER-2", 10**6, 20, FIRST_SEED, args.workers, True)])


PARTS = {"small": small, "wide": wide, "nonlinear": nonlinear, "scale": scale, "large": large}


def accuracy_table(rows):
    lines = [
        "| generator | n | d | graph | tables | OD marginal W | OD before | OD | ratio | SHD/edge | SHD, true order | s |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|---|---|---|---|")
    settings = sorted({(r["generator"], int(r["n"]), int(r["d"])) for r in rows}, key=lambda k: (k[2], k[1], k[0]))
    for generator, n, d in settings:
        for graph in (*GRAPHS, "all"):
            some = [r for r in rows if (r["generator"], r["n"], r["d"]) == (generator, str(n), str(d))]
            some = [r for r in some if graph in (r["graph"], "all")]
            if not some:
                continue
            total = {
                key: sum(float(r[key]) for r in some)
                for key in ("marginal", "start", "order", "shd", "oracle_shd", "edges")
            }
            m = len(some)
            lines.append(
                f"| {generator} | {n} | {d} | {graph} | {m} | {total['marginal'] / m:.2f} | {total['start'] / m:.2f} "
                f"| {total['order'] / m:.2f} | {total['order'] / max(total['marginal'], 1):.2f} "
                f"| {total['shd'] / total['edges']:.2f} | {total['oracle_shd'] / total['edges']:.2f} "
                f"| {np.mean([float(r['seconds']) for r in some]):.1f} |"
            )
    return lines


def nonlinear_table(rows):
    lines = [
        "",
        'Splines on nonlinear data (`causal_order(X, parametrization="spline")`), order divergence:',
        "",
        "| generator | n | graph | tables | marginal W | without refinement | refined | refined / without | s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for graph in (*GRAPHS, "all"):
        some = [r for r in rows if graph in (r["graph"], "all")]
        if some:
            marginal, start, order, seconds = (
                np.mean([float(r[key]) for r in some]) for key in ("marginal", "start", "order", "seconds")
            )
            lines.append(
                f"| text | 5000 | {graph} | {len(some)} | {marginal:.2f} | {start:.2f} | {order:.2f} "
                f"| {order / max(start, 1e-9):.2f} | {seconds:.0f} |"
            )
    return lines


def authors_table(rows):
    lines = [
        "",
        "Against the authors' script at n = 500, d = 50 (order divergence):",
        "",
        "| graph | authors | HOST() | ratio |",
    ]
    lines.append("|---|---|---|---|")
    for graph, theirs in AUTHORS.items():
        ours = np.mean([float(r["order"]) for r in rows if r["graph"] == graph])
        lines.append(f"| {graph} | {theirs} | {ours:.1f} | {ours / theirs:.2f} |")
    return lines


def time_table(rows):
    lines = [
        "| graph | n | d | workers | refinement | seconds | MB, peak | OD | edges |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for r in sorted(rows, key=lambda r: (int(r["refine"]), int(r["d"]))):
        refined = "yes" if r["refine"] == "1" else "no"
        lines.append(
            f"| {r['graph']} | {r['n']} | {r['d']} | {r['workers']} | {refined} | {r['seconds']} | {r['megabytes']} "
            f"| {r['order']} | {r['edges']} |"
        )
    return lines


def growth(rows):
    plain = [r for r in rows if r["refine"] == "0"]
    if len(plain) < 3:
        return []
    d, seconds = (np.log([float(r[key]) for r in plain]) for key in ("d", "seconds"))
    return [
        "",
        f"Growth exponent in d without refinement (least squares on logarithms): {np.polyfit(d, seconds, 1)[0]:.2f}.",
    ]


def page():
    lines = [HEAD, "", "## Accuracy", ""]
    small_rows, wide_rows, nonlinear_rows, scale_rows, large_rows = (
        read(RESULTS / f"refinement_{name}.csv") for name in ("small", "wide", "nonlinear", "scale", "large")
    )
    lines += accuracy_table(small_rows + wide_rows)
    if wide_rows:
        lines += authors_table(wide_rows)
    if nonlinear_rows:
        lines += nonlinear_table(nonlinear_rows)
    lines += [
        "",
        "## Time",
        "",
        "With refinement the whole of `HOST().fit`, without it the whole of `causal_order(refine=False)`.",
        "",
    ]
    lines += time_table(scale_rows + large_rows) + growth(scale_rows)
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out")
    args = parser.parse_args()
    for part in args.parts:
        PARTS[part](args)
    if args.out:
        Path(args.out).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
