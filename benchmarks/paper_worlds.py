"""The default on the paper's own data: `python benchmarks/paper_worlds.py [run] [--jobs N]`.

`run` fits HOST() and the model that these data were made for (lines or splines in natural form with normal noise) to the
paper's linear and nonlinear simulations. Rows go to benchmarks/results/paper_worlds.csv as they come, and what is there is
not run again. Without `run`, only docs/paper-worlds.md is made from the rows. Seeds start at 60000; choices were made on
seeds below 1000.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

from pages import GIVEN_AWAY, details, given_away, made_with, prose, rows_in
from rows import FORMER, RESULTS, append_results, read

FIRST_SEED, GRAPHS, GENERATORS = 60_000, ("ER-1", "ER-2", "SF-1", "SF-2"), ("text", "code")
#: Mechanism, rows -> seeds per generator and graph.
SETTINGS = {("linear", 500): 10, ("linear", 5000): 5, ("nonlinear", 1000): 4}
#: Method -> what `HOST` is given; the specialist depends on the data.
METHODS = ("HOST()", "specialist")
SPECIALIST = {"linear": FORMER, "nonlinear": FORMER | {"parametrization": "spline"}}
KEY = ("mechanism", "n", "generator", "graph", "seed", "method")
FIELDS = (*KEY, "edges", "order", "shd", "seconds")
STORE, PAGE = RESULTS / "paper_worlds.csv", Path(__file__).resolve().parents[1] / "docs" / "paper-worlds.md"
HEAD = """# The default on the paper's data

`HOST()` chooses a model for every variable. A *specialist* is told which model made the data. What does not
knowing cost? Some errors and much time: on the paper's linear data with 500 rows, `HOST()` has {few[0]:.3f} errors per true
edge ({shd}) and the specialist {few[1]:.3f}, with 5,000 rows {many[0]:.3f} and {many[1]:.3f}; it takes {slower:.0f} times as
long with 500 rows. On nonlinear data with 1,000 rows it is {bent[0]:.3f} and {bent[1]:.3f}; 5,000 rows are in [the
paper's evaluation](results/reproduction-nonlinear.md).

{version} The specialist is `HOST(parametrization="linear", form="natural", noise="gaussian")` on linear data, and
the same with `"spline"` on nonlinear data.

- *Data*: the paper's simulations. Noise is normal; the natural parameters are sums of lines (*linear*) or of given
  curves (*nonlinear*). *Generator*: `text` follows the paper's words, `code` the authors' published code (see
  `simulate`).
- The {order_divergence} and the SHD are per true edge, all tables together. Every edge counts with its direction,
  open or not.
- *Seconds*: processor time on a busy machine, one thread.

10 columns, four kinds of graphs, seeds from {seed}; choices were made on seeds below 1000. Written by `python
benchmarks/paper_worlds.py` from {file}; the same command with `run` makes the rows."""


def cell(mechanism, n, generator, graph, seed, method):
    from heterodag import HOST, metrics, simulate

    kind, degree = graph.split("-")
    data = simulate(n, 10, kind, int(degree), mechanism, random_state=seed, version=generator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = time.process_time()
        model = HOST(**({} if method == "HOST()" else SPECIALIST[mechanism])).fit(data.X)
        seconds = time.process_time() - before
    row = dict(zip(KEY, (mechanism, n, generator, graph, seed, method), strict=True))
    return [row | {
        "edges": int(data.adjacency.sum()), "order": metrics.order_divergence(model.order_, data.adjacency),
        "shd": metrics.shd(model.adjacency_, data.adjacency), "seconds": f"{seconds:.2f}",
    }]  # fmt: skip


def table(rows):
    yield "| data | n | generator | tables | method | order divergence | SHD | median seconds | slowest |"
    yield "|---|---:|---|---:|---|---:|---:|---:|---:|"
    for mechanism, n in SETTINGS:
        for generator in (*GENERATORS, "both"):
            for method in METHODS:
                own = [
                    r
                    for r in rows
                    if (r["mechanism"], r["n"], r["method"]) == (mechanism, str(n), method)
                    and generator in (r["generator"], "both")
                ]
                if own:
                    edges, order, shd = (sum(int(r[key]) for r in own) for key in ("edges", "order", "shd"))
                    seconds = [float(r["seconds"]) for r in own]
                    yield (
                        f"| {mechanism} | {n} | {generator} | {len(own)} | {method} | {order / edges:.3f} "
                        f"| {shd / edges:.3f} | {np.median(seconds):.1f} | {max(seconds):.1f} |"
                    )


def errors(rows, mechanism, n):
    """Return the errors per true edge of HOST() and of the specialist."""
    own = [[r for r in rows if (r["mechanism"], r["n"], r["method"]) == (mechanism, str(n), m)] for m in METHODS]
    return [sum(int(r["shd"]) for r in some) / sum(int(r["edges"]) for r in some) for some in own]


def lead(rows):
    """Return the top of the page, with the figures of the stored rows."""
    seconds = [
        np.median(
            [float(r["seconds"]) for r in rows if (r["mechanism"], r["n"], r["method"]) == ("linear", "500", m)]
        )
        for m in METHODS
    ]
    few, many, bent = (errors(rows, *setting) for setting in SETTINGS)
    return prose(
        HEAD, few=few, many=many, bent=bent, slower=seconds[0] / seconds[1], version=made_with(STORE.name), seed=FIRST_SEED,
        file=rows_in(STORE.name),
    )  # fmt: skip


def page(rows):
    sorts = [prose(GIVEN_AWAY), "", *given_away("paper_worlds")]
    return "\n".join([lead(rows), "", *table(rows), "", *details("What a sort gives away", sorts), ""])


def main():
    parser = argparse.ArgumentParser(description="The default on the paper's own data.")
    parser.add_argument("command", nargs="?", choices=["run"])
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.command:
        done = {tuple(row[key] for key in KEY) for row in read(STORE)}
        cells = [
            (mechanism, n, generator, graph, FIRST_SEED + t, method)
            for (mechanism, n), seeds in SETTINGS.items()
            for t in range(seeds)
            for generator in GENERATORS
            for graph in GRAPHS
            for method in METHODS
        ]
        append_results(
            STORE, FIELDS, cell, [c for c in cells if tuple(map(str, c)) not in done], options.jobs, every=20
        )
    PAGE.write_text(page(read(STORE)), encoding="utf-8")
    print("wrote docs/paper-worlds.md")


if __name__ == "__main__":
    main()
