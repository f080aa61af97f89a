"""What each constant and heuristic of the search is good for: `python benchmarks/ablations.py [run]`.

`HOST()` with one thing changed, on tables of the paper's linear simulation with tuning seeds (below 1000; no result is
reported on these), beside `HOST()` as it is on the same tables. Rows go to benchmarks/results/ablations.csv as they come,
and what is there is not run again. Without `run`, only docs/results/ablations.md is made from them. Seconds are processor
time relative to `HOST()` in the same process.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import importlib
import time
import warnings

import numpy as np

from heterodag import HOST, load_sachs, metrics, simulate
from heterodag.scores.fit import Effort
from pages import DOCS, prose
from rows import FORMER, RESULTS, append_results, read

PATH, PAGE = RESULTS / "ablations.csv", DOCS / "results" / "ablations.md"
FIELDS = ("variant", "n", "tables", "edges", "order", "plain_order", "shd", "plain_shd", "seconds", "plain_seconds")
GRAPHS = ("ER-1", "ER-2", "SF-1", "SF-2")
FIRST_SEED = 300


def accuracy(round_, search):
    return {Effort.ROUND: round_, Effort.SEARCH: search, Effort.FINAL: 0.03}


def ridge(strength):
    return lambda n: strength * np.sqrt(500.0 / n)


#: variant -> (module, attribute, value), several if a name is imported in several places.
SMALL = {
    "moves: none is hopeless": [("ordering.refinement", "HOPELESS", 1e9)],
    "moves: hopeless from 5 penalties": [("ordering.refinement", "HOPELESS", 5.0)],
    "parents: no exchanges": [("scores.parent_choice", "ParentChoices._exchanged", lambda *_: [])],
    "parents: one trial at a time": [("scores.parent_choice", "TRIALS", 1)],
    "parents: ten trials at a time": [("scores.parent_choice", "TRIALS", 10)],
    "parents: tried from ln d + 2.5 nats": [("scores.parent_choice", "entry_gain", lambda d: np.log(d) + 2.5)],
    "price: ln n": [("ordering.search", "parent_penalty", lambda n, d: np.log(n))],
    "price: ln n + 2 ln d": [("ordering.search", "parent_penalty", lambda n, d: np.log(n) + 2 * np.log(d))],
    "ridge: 0.001 at 500 rows": [("scores.lines", "ridge_strength", ridge(0.001))],
    "ridge: 0.1 at 500 rows": [("scores.lines", "ridge_strength", ridge(0.1))],
    "free swing: ln n": [("core.solver", "free_swing", lambda n: float(np.log(n)))],
    "free swing: none": [("core.solver", "free_swing", lambda n: 1e9)],
    "fits of rounds to 1 nat": [("scores.lines", "ACCURACY", accuracy(1.0, 0.1))],
    "fits of the search to 0.01 nats": [("scores.lines", "ACCURACY", accuracy(0.1, 0.01))],
    "a second start for every fit": [("scores.lines", "_has_start", lambda key, start: not key[1])],
    "no second start": [("scores.lines", "_has_start", lambda key, start: True)],
    "a start is given up at 4 times its gain": [("core.solver", "_BEHIND", 4.0)],
}
LONG = {
    "levels: 1,000 rows first": [(m, "LEVELS", (1_000, 10_000, 50_000)) for m in ("ordering.causal_order",)],
    "levels: all rows at once": [(m, "LEVELS", (50_000,)) for m in ("ordering.causal_order",)],
}


class Changed:
    """Set attributes of modules (or of a class in them) for a while."""

    def __init__(self, changes):
        self.changes = changes

    def __enter__(self):
        self.before = []
        for module, name, value in self.changes:
            *path, last = name.split(".")
            home = importlib.import_module(f"heterodag.{module}")
            for part in path:
                home = getattr(home, part)
            self.before.append((home, last, getattr(home, last)))
            setattr(home, last, value)

    def __exit__(self, *error):
        for home, last, value in self.before:
            setattr(home, last, value)


def fit(data):
    before = time.process_time()
    model = HOST(**FORMER).fit(data.X)
    seconds = time.process_time() - before
    return np.array([
        metrics.order_divergence(model.order_, data.adjacency), metrics.shd(model.adjacency_, data.adjacency), seconds,
    ])  # fmt: skip


def cell(variant, n, seeds):
    changes = (SMALL | LONG)[variant]
    plain, other, edges, tables = np.zeros(3), np.zeros(3), 0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(FIRST_SEED, FIRST_SEED + seeds):
            for version in ("text", "code"):
                for graph in GRAPHS:
                    kind, degree = graph.split("-")
                    data = simulate(n, 10, kind, int(degree), random_state=seed, version=version)
                    plain += fit(data)
                    with Changed(changes):
                        other += fit(data)
                    edges, tables = edges + int(data.adjacency.sum()), tables + 1
    return [{
        "variant": variant, "n": n, "tables": tables, "edges": edges, "order": other[0], "plain_order": plain[0],
        "shd": other[1], "plain_shd": plain[1], "seconds": round(other[2], 2), "plain_seconds": round(plain[2], 2),
    }]  # fmt: skip


def sachs_cell():
    data, out = load_sachs(), {}
    rows = [np.random.RandomState(i).choice(853, 700, replace=False) for i in range(10)]
    never = [("scores.plausibility", "FAR_FROM_NORMAL", 0.0)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, changes in (("plain", []), ("other", never)):
            with Changed(changes):
                found = [HOST(**FORMER).fit(data.data.iloc[some]) for some in rows]
            out[name] = [
                sum(metrics.order_divergence(m.order_, data.adjacency) for m in found),
                sum(metrics.shd(m.adjacency_, data.adjacency) for m in found),
            ]
    return {
        "variant": "Sachs, ten subsamples: likelihoods are always trusted", "n": 700, "tables": 10, "edges": 170,
        "order": out["other"][0], "plain_order": out["plain"][0], "shd": out["other"][1], "plain_shd": out["plain"][1],
        "seconds": 1, "plain_seconds": 1,
    }  # fmt: skip


HEAD = """# Ablations: what each constant of the search is worth

What happens if one constant or rule of the search is changed? Mostly little: on {tables} tables of 500 rows, every
change leaves between {fewest:.0f} and {most:.0f} true edges against the order, where HOST has {plain:.0f}. One
rule matters on real data: without the check whether likelihoods can be trusted at all, the order of the Sachs
cells has {sachs:.0f} errors instead of {sachs_plain:.0f}. That rule was made after seeing these cells, so this is no
evidence
for it. The tables are few: small differences are chance, and some changes make fewer errors than the setting that was
kept.

**Version.** "HOST" here is the *former default*, `HOST(parametrization="linear", form="natural",
noise="gaussian")`. The search over orders and the choice of parents are the same in `HOST()` now; its models are
others.

HOST with one thing changed, on tables of the paper's linear simulation (10 columns, both generators, ER-1, ER-2,
SF-1, SF-2) with tuning seeds. In brackets: HOST unchanged on the same tables. *Errors of the order*: [order
divergence](../glossary.md#the-errors), summed over all tables. Time is relative to HOST.
[Constants](../constants.md) explains each constant. Written by `python benchmarks/ablations.py` from
[ablations.csv](../../benchmarks/results/ablations.csv); the same command with `run` makes the rows."""
DELETED = """\
## What was deleted

- Three ridge rules became one.
- The rough pre-screen of moves (a quick choice of parents for every move): an estimate without any fit does its
  work.
- The separate passes for moves past longer paths, and their limit of 50 variables: all moves are tried together.
- The search's own accuracy for sparse rounds (`_SPARSE_NATS`): rounds have one accuracy.
- The least-squares start, and the switch from expected to observed information: variable projection needs neither.
- Coarse samples inside the solver (every eighth row): samples belong to the local scores.
- Two of the three places that decided whether residuals are far from normal."""


def page(rows):
    small = [r for r in rows if r["n"] == "500"]
    sachs = next(r for r in rows if r["variant"].startswith("Sachs"))
    orders = [float(r["order"]) for r in small]
    head = prose(
        HEAD, tables=small[0]["tables"], fewest=min(orders), most=max(orders), plain=float(small[0]["plain_order"]),
        sachs=float(sachs["order"]), sachs_plain=float(sachs["plain_order"]),
    )  # fmt: skip
    return "\n".join([head, "", *table(rows), "", prose(DELETED), ""])


def table(rows):
    yield "| changed | n | tables | errors of the order, all tables | SHD per edge | time |"
    yield "|---|---|---|---|---|---|"
    for r in rows:
        edges = float(r["edges"])
        yield (
            f"| {r['variant']} | {r['n']} | {r['tables']} | {float(r['order']):.0f} ({float(r['plain_order']):.0f}) "
            f"| {float(r['shd']) / edges:.3f} ({float(r['plain_shd']) / edges:.3f}) "
            f"| {relative(r)} |"
        )


def relative(row):
    """Return the time relative to HOST; that of Sachs is not measured."""
    return "" if row["variant"].startswith("Sachs") else f"{float(row['seconds']) / float(row['plain_seconds']):.2f}"


def run(jobs):
    done = {(r["variant"], r["n"]) for r in read(PATH)}
    cells = [(v, 500, 4) for v in SMALL] + [(v, 5000, 1) for v in LONG]
    append_results(PATH, FIELDS, cell, [c for c in cells if (c[0], str(c[1])) not in done], jobs, every=1)
    if not any(name.startswith("Sachs") for name, _ in done):
        append_results(PATH, FIELDS, lambda: [sachs_cell()], [()], 1, every=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=["run", []])
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    if args.parts:
        run(args.jobs)
    PAGE.write_text(page(read(PATH)), encoding="utf-8")


if __name__ == "__main__":
    main()
