"""Do the intervals of edge strengths hold what they promise? `python benchmarks/strengths.py [run] [--jobs N]`.

`run` makes tables of three variables with known slopes, fits HOST() and the causal model of the true graph, and stores two
rows per table in benchmarks/results/strengths.csv; what is there is not run again. Without it, only the page
docs/strengths.md is made.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from pages import made_with, prose, rows_in
from rows import RESULTS, append_results, read

FIRST_SEED, TABLES, SIZES = 110_000, 100, (300, 1000)
STORE, PAGE = RESULTS / "strengths.csv", Path(__file__).resolve().parents[1] / "docs" / "strengths.md"
FIELDS = ("kind", "n", "seed", "graph", "found", "mean_covered", "spread_covered", "mean_error", "spread_error")
GRAPH = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])
#: Kind -> mean of the effect as a function of the first cause, noise.
KINDS = {
    "straight, normal": (lambda x: 0.8 * x, "normal"),
    "straight, exponential": (lambda x: 0.8 * x, "exponential"),
    "straight, heavy tails": (lambda x: 0.8 * x, "t"),
    "curved, normal": (lambda x: np.sin(1.5 * x) + 0.3 * x, "normal"),
    "curved, exponential": (lambda x: np.sin(1.5 * x) + 0.3 * x, "exponential"),
}
#: How the first cause moves the logarithm of the effect's spread.
LOG_SPREAD = 0.3


def noise_of(kind, rng, n):
    if kind == "exponential":
        return rng.exponential(size=n) - 1.0
    return rng.standard_t(5, size=n) / np.sqrt(5 / 3) if kind == "t" else rng.standard_normal(n)


def table(kind, n, seed):
    """Return a table of two causes a, b and their effect c, and the true strengths of a -> c on these rows."""
    curve, noise = KINDS[kind]
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal(n), rng.standard_normal(n)
    c = curve(a) - 0.6 * b + np.exp(LOG_SPREAD * a) * noise_of(noise, rng, n)
    centred = a - a.mean()
    slope = float(centred @ curve(a) / (centred @ centred))
    return pd.DataFrame({"a": a, "b": b, "c": c}), slope * a.std() / c.std(), float(np.exp(LOG_SPREAD * a.std()))


def cell(kind, n, seed):
    from heterodag import HOST, HeteroscedasticSCM

    frame, mean, spread = table(kind, n, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = HeteroscedasticSCM.from_dag(GRAPH, frame).strengths(frame)
        learned = HOST().fit(frame).edges()
    rows = []
    for name, edges in (("given", given), ("learned", learned)):
        own = edges[(edges["cause"] == "a") & (edges["effect"] == "c")]
        row = {"kind": kind, "n": n, "seed": seed, "graph": name, "found": int(len(own) == 1)}
        if len(own):
            e = own.iloc[0]
            row["mean_covered"] = int(e["mean_effect_lower"] <= mean <= e["mean_effect_upper"])
            row["spread_covered"] = int(e["spread_effect_lower"] <= spread <= e["spread_effect_upper"])
            row["mean_error"] = f"{e['mean_effect'] - mean:.4f}"
            row["spread_error"] = f"{np.log(e['spread_effect'] / spread):.4f}"
        rows.append(row)
    return rows


def line(rows, kind, n):
    cells = [kind, f"{n:,}"]
    for graph in ("given", "learned"):
        own = [r for r in rows if (r["kind"], r["n"], r["graph"]) == (kind, str(n), graph)]
        found = [r for r in own if r["found"] == "1"]
        cells += [
            f"{100 * np.mean([r[f'{part}_covered'] == '1' for r in found]):.0f} %" for part in ("mean", "spread")
        ]
        if graph == "learned":
            cells.append(f"{len(found)} of {len(own)}")
        else:
            cells += [f"{np.mean([float(r[f'{part}_error']) for r in found]):+.3f}" for part in ("mean", "spread")]
    return "| " + " | ".join(cells) + " |"


def least(rows):
    """Return the smallest coverage of the spread, graph given, in percent."""
    own = [r for r in rows if r["graph"] == "given"]
    groups = {(r["kind"], r["n"]) for r in own}
    return min(100 * np.mean([r["spread_covered"] == "1" for r in own if (r["kind"], r["n"]) == g]) for g in groups)


TOP = """# How strong is an edge, and how sure is that

Every edge of `HOST().fit(X).edges()` has numbers for its strength: how far the cause moves the mean of its effect,
and by what factor its spread. They come with 95 % intervals. In simulated tables the intervals of the mean hold
the truth in {mean:.0f} % of the cases, those of the spread in {spread:.0f} %.

| column | what it says |
|---|---|
| `mean_effect` | standard deviations that the effect's mean moves per standard deviation of the cause; signed |
| `mean_effect_lower`, `mean_effect_upper` | its 95 % interval |
| `mean_change` | the same in units of the effect |
| `mean_range` | how far the mean moves while the cause goes through its central 95 %, in standard deviations of the effect |
| `spread_effect` | by what factor the spread of the effect changes per standard deviation of the cause; 1 is no change |
| `spread_effect_lower`, `spread_effect_upper` | its 95 % interval |
| `spread_range` | largest over smallest spread while the cause goes through its central 95 % |
| `share` | of the log-likelihood that all causes of the effect bring together, the part that is lost without this one |

For a curve, `mean_effect` and `spread_effect` belong to the straight line that comes closest to it over the rows,
with the other causes at their medians. A curve that rises and falls again can have a `mean_effect` of 0 and a
large `mean_range`: look at both. Shares need not add up to one: two causes that can replace each other have small
shares, two that only work together have large ones.

`model.to_scm()` is the causal model behind these numbers. It answers what they cannot: effects along several
paths, of interventions, on quantiles ([using the graph](using-the-graph.md)). For graphs of other methods,
`HeteroscedasticSCM.from_host(model, X).strengths(X)` gives the same columns except the share.

## Do the intervals cover?

{version} Written by `python benchmarks/strengths.py` from {file}; the same command with `run` makes the rows.

- {tables} tables per line, three variables, seeds from {seed}; nothing was chosen on these tables.
- The true effect on the mean is 0.8 per unit, or the curve sin(1.5 x) + 0.3 x; the spread is exp({log_spread} x).
- *Graph given*: the mechanisms of the true graph are fitted. *Learned*: the graph is learned too, by `HOST()`;
  tables in which the edge was not found are left out.
- With {tables} tables, a true 95 % shows as 91 to 99 %.
- *Errors* are averages: of `mean_effect`, and of the logarithm of `spread_effect`."""
BOTTOM = """\
With skewed noise and few rows the intervals of the spread are too narrow: here they cover in {least:.0f} % at
worst. All intervals take graph and mechanism as given; they say nothing about hidden causes."""


def page(rows):
    given = [r for r in rows if r["graph"] == "given"]
    mean, spread = (100 * np.mean([r[f"{part}_covered"] == "1" for r in given]) for part in ("mean", "spread"))
    top = prose(
        TOP, mean=mean, spread=spread, version=made_with(STORE.name),
        file=rows_in(STORE.name), tables=TABLES, seed=FIRST_SEED,
        log_spread=LOG_SPREAD,
    )  # fmt: skip
    lines = [
        top,
        "",
        "| table | rows | mean, graph given | spread | error, mean | error, spread | mean, learned | spread | found |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
        *(line(rows, kind, n) for kind in KINDS for n in SIZES),
        "",
        prose(BOTTOM, least=least(rows)),
    ]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Coverage of the intervals of strengths.")
    parser.add_argument("commands", nargs="*", choices=["run", []])
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if "run" in options.commands:
        done = {(r["kind"], int(r["n"]), int(r["seed"])) for r in read(STORE)}
        cells = [(k, n, FIRST_SEED + t) for k in KINDS for n in SIZES for t in range(TABLES)]
        append_results(STORE, FIELDS, cell, [c for c in cells if c not in done], options.jobs, every=100)
    PAGE.write_text(page(read(STORE)), encoding="utf-8")
    print("wrote docs/strengths.md")


if __name__ == "__main__":
    main()
