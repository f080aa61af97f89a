"""Beside the authors' program, on their data sets: `python benchmarks/authors_sets.py [run --reference DIR] [--jobs N]`.

`run` orders each of the authors' data sets by a plain sort, by `HOST.paper()` and by `HOST()`. DIR holds `sets/*.npz` (X and
A) and `reference_host.csv`, what the authors' program made of them. Rows go to benchmarks/results/authors_sets.csv as they
come, small tables first, and what is there is not run again. Without `run`, only docs/authors-sets.md is made from the rows.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import re
import warnings
from pathlib import Path

import numpy as np

from pages import DOCS, GIVEN_AWAY, details, given_away, made_with, prose, rows_in
from rows import RESULTS, append_results, read

#: How the table calls an order -> column of the rows.
ORDERS = {"authors' program": "script", "sort by W": "marginal", "HOST.paper()": "paper", "HOST()": "host"}
FIELDS = ("set", "graph", "n", "d", "mechanism", "edges", *ORDERS.values(), "shd_script", "shd_host")
NAME = re.compile(r"(ER|SF)(\d+)_n(\d+)_d(\d+)_(lin|nonlin)_s(\d+)")
STORE, PAGE = RESULTS / "authors_sets.csv", DOCS / "authors-sets.md"
HEAD = """# Beside the authors' program

How does heterodag compare with the program that the paper's authors published, on their own data sets? `HOST()` makes
{host:.0f} % of the order errors of that program, and `HOST.paper()`, the same algorithm with [other fits](deviations.md),
{paper:.0f} %. `HOST()` makes fewer errors in {host_won} of {settings} settings, `HOST.paper()` in {paper_won}. The authors'
order is level with a plain sort by normality: that sort makes {marginal:.0f} % of its errors.

{version} The figures of the authors' program were made once with their published code, patched only where it no longer
ran.

- All data sets come from the authors' generator. They are not part of this repository: who wants to make the rows again
  draws them with that generator, with the seeds 0 to 4 that stand in their names. *ER* is Erdős-Rényi, *SF*
  scale-free; the number is the average number of edges per column.
- Figures are the mean {order_divergence}: true edges that point against the order, per data set. *Sort by W*: the
  column that looks most normal (Shapiro-Wilk) comes first. It needs no model.
- *SHD* is the {shd}: of the authors' edges, by their LCIT (a dash: it was not run), and of `HOST()`.
- `HOST.paper()` orders as the paper does, without refinement; edges are not asked of it here.
- These data sets were there when heterodag was written, for comparison only: choices were made on simulated tables with
  seeds below 1000. [Paper's data](paper-worlds.md) has new tables of the same kind.

Written by `python benchmarks/authors_sets.py` from {file}; `run --reference DIR`, with a folder of the authors' data sets,
makes the rows."""


def about(name):
    """Return what the name of a data set says."""
    graph, degree, n, d, mechanism, _ = NAME.fullmatch(name).groups()
    kind = "linear" if mechanism == "lin" else "nonlinear"
    return {"set": name, "graph": f"{graph}-{degree}", "n": int(n), "d": int(d), "mechanism": kind}


def cell(path, theirs):
    from heterodag import HOST, metrics
    from heterodag.core.normality import shapiro_wilk

    stored = np.load(path)
    X, truth = stored["X"], stored["A"].astype(np.int8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HOST().fit(X)
        orders = {
            "marginal": np.argsort(-shapiro_wilk(np.ascontiguousarray(X.T)), kind="stable"),
            "paper": HOST.paper(selection="partial-correlation").fit(X).order_,
            "host": model.order_,
        }
    found = {name: metrics.order_divergence(order, truth) for name, order in orders.items()}
    row = about(path.stem) | found | {"edges": int(truth.sum()), "shd_host": metrics.shd(model.adjacency_, truth)}
    return [row | {"script": theirs["order_divergence"], "shd_script": theirs["shd_lcit"]}]


def figures_of_authors(folder):
    """Return data set -> what the authors' program made of it, for all sets on which it was run."""
    return {
        f"{r['dag_type']}{r['k']}_n{r['n']}_d{r['d']}_{'lin' if r['linear'] == '1' else 'nonlin'}_s{r['seed']}": r
        for r in read(folder / "reference_host.csv") if r["order_divergence"]
    }  # fmt: skip


def missing(folder):
    """Return (data set, figures of the authors' program) for all sets without a row, small tables first."""
    theirs = figures_of_authors(folder)
    done = {row["set"] for row in read(STORE)}
    paths = [path for path in (folder / "sets").glob("*.npz") if path.stem in theirs and path.stem not in done]

    def size(path):
        told = about(path.stem)
        return told["mechanism"], told["n"] * told["d"] ** 2, path.stem

    return [(path, theirs[path.stem]) for path in sorted(paths, key=size)]


def settings_of(rows):
    """Return the rows by setting: mechanism, rows, columns and graph."""
    found = {}
    for row in sorted(rows, key=lambda r: (r["mechanism"], int(r["d"]), int(r["n"]), r["graph"])):
        found.setdefault((row["mechanism"], int(row["n"]), int(row["d"]), row["graph"]), []).append(row)
    return found


def mean(rows, key):
    values = [float(row[key]) for row in rows if row[key]]
    return np.mean(values) if len(values) == len(rows) else np.nan


def table(settings):
    yield "| data | n | d | graphs | sets | edges | " + " | ".join(ORDERS) + " | SHD, authors | SHD, HOST() |"
    yield "|---|---:|---:|---|---:|---:|" + "---:|" * (len(ORDERS) + 2)
    for (mechanism, n, d, graph), rows in settings.items():
        figures = [mean(rows, key) for key in ("edges", *ORDERS.values(), "shd_script", "shd_host")]
        texts = ["–" if np.isnan(figure) else f"{figure:.1f}" for figure in figures]
        yield f"| {mechanism} | {n:,} | {d} | {graph} | {len(rows)} | {' | '.join(texts)} |"


def page(rows):
    settings = settings_of(rows)
    script = sum(float(row["script"]) for row in rows)
    shares = {name: 100 * sum(float(row[name]) for row in rows) / script for name in ("host", "paper", "marginal")}
    won = {
        f"{name}_won": sum(mean(some, name) < mean(some, "script") for some in settings.values())
        for name in ("host", "paper")
    }
    head = prose(
        HEAD, version=made_with(STORE.name), file=rows_in(STORE.name), settings=len(settings), **shares, **won
    )
    sorts = [prose(GIVEN_AWAY), "", *given_away("authors_sets")]
    return "\n".join([head, "", *table(settings), "", *details("What a sort gives away", sorts), ""])


def main():
    parser = argparse.ArgumentParser(description="Beside the authors' program, on their data sets.")
    parser.add_argument("command", nargs="?", choices=["run"])
    parser.add_argument("--reference", type=Path, help="folder with reference_host.csv and sets/")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.command:
        if options.reference is None:
            parser.error("run needs --reference, a folder with the authors' data sets")
        append_results(STORE, FIELDS, cell, missing(options.reference), options.jobs, every=10)
    else:
        PAGE.write_text(page(read(STORE)), encoding="utf-8")


if __name__ == "__main__":
    main()
