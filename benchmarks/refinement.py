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
from pages import FORMER as FORMER_DEFAULT
from pages import details, prose, rows_in
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

The paper finds an order by the normality of residuals alone. heterodag then moves variables as long as the
likelihood improves: this is *refinement*. On tables of 10 columns and 500 rows, {before:.2f} true edges per table
point against the order before refinement, and {after:.2f} after it (means of {tables} tables). A thousand columns
take {wide:.0f} seconds on two cores, a million rows of 20 columns {long:.0f} seconds.

{former} The tables come from the paper's linear simulation, which this model fits.

- *OD* is the {order_divergence}: true edges that point against the order, per table. It is given for a plain sort
  by normality ("marginal W"), for the order before refinement, and for the final order. *Ratio*: the last divided
  by the first.
- *SHD/edge* is the {shd} per true edge, of `HOST`, and of the same edge test with the true order given
  (`recover_dag`).
- *Generator*: `text` follows the paper's words, `code` the authors' published code (see `simulate`).
- *s*: processor seconds on busy cores. The times in the last section were taken with both cores free.

Written by `python benchmarks/refinement.py --out docs/refinement.md` from the rows {files}. The same command with
`small wide nonlinear scale large` makes the rows. Constants were chosen on seeds below 1000; the seeds here start
at 60000."""


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


def accuracy_table(rows, graphs):
    lines = [
        "| generator | n | d | graph | tables | OD marginal W | OD before | OD | ratio | SHD/edge | SHD, true order | s |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|---|---|---|---|")
    settings = sorted({(r["generator"], int(r["n"]), int(r["d"])) for r in rows}, key=lambda k: (k[2], k[1], k[0]))
    for generator, n, d in settings:
        for graph in graphs:
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
        "## Beside the authors' script, 500 rows, 50 columns",
        "",
        "Mean order divergence. The tables are of the same kind, not the same tables.",
        "",
        "| graph | authors | HOST | ratio |",
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
        f"Without refinement, the time grows with the number of columns to the power {np.polyfit(d, seconds, 1)[0]:.2f} "
        "(least squares on logarithms).",
    ]


def lead(small_rows, scale_rows, large_rows):
    """Return the top of the page, with the figures of the stored rows."""
    some = [r for r in small_rows if r["n"] == "500"]
    before, after = (np.mean([float(r[key]) for r in some]) for key in ("start", "order"))
    refined = [r for r in scale_rows if r["refine"] == "1"]
    return prose(
        HEAD, before=before, after=after, tables=len(some), wide=float(max(refined, key=lambda r: int(r["d"]))["seconds"]),
        long=float(large_rows[0]["seconds"]), former=FORMER_DEFAULT,
        files=rows_in(*(f"refinement_{name}.csv" for name in ("small", "wide", "scale", "large"))),
    )  # fmt: skip


def page():
    small_rows, wide_rows, nonlinear_rows, scale_rows, large_rows = (
        read(RESULTS / f"refinement_{name}.csv") for name in ("small", "wide", "nonlinear", "scale", "large")
    )
    lines = [lead(small_rows, scale_rows, large_rows), "", "## Accuracy, all graphs together", ""]
    lines += accuracy_table(small_rows + wide_rows, ("all",))
    lines += ["", *details("Graph by graph", accuracy_table(small_rows + wide_rows, GRAPHS))]
    if wide_rows:
        lines += authors_table(wide_rows)
    if nonlinear_rows:
        lines += nonlinear_table(nonlinear_rows)
    lines += [
        "",
        "## Time",
        "",
        "With refinement: the whole of `HOST.fit`. Without it: the whole of `causal_order(refine=False)`.",
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
