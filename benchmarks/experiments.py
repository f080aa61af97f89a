"""Experiments in the table: `python benchmarks/experiments.py [linear|wrong|unknown|sachs|page] [--gies PYTHON]`.

Rows go to benchmarks/results/experiments_*.csv, those done before are kept; the tables of docs/experiments.md are made from
them. `--gies` is the Python of an environment with `pip install gies`; without it its rows are left out.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import re
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from heterodag import HOST, Interventions, load_sachs, metrics, simulate
from pages import with_version
from rows import RESULTS, append_results, read
from worlds import with_open_edges

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "experiments.md"
FIRST_SEED, TABLES, D, ROWS, PER = 20_000, 20, 10, 500, 50
DEGREES = (1, 2)
WORLDS = {
    "linear Gaussian": {"mechanism": "straight"},
    "linear, exponential noise": {"mechanism": "straight", "noise": "exponential"},
    "curves, moving spread": {"mechanism": "curved", "spread": "straight"},
}
METHODS = (
    "HOST, observation alone",
    "HOST, all rows, not told",
    "HOST, told",
    "GIES, told",
    "GES, all rows, not told",
)
#: Cells per condition in a subsample of the Sachs data.
CELLS = 80
READINGS = ("observation alone", "all conditions, not told", "set", "shift")
SUBSAMPLES = 10


def learned(X, told=None):
    """Return HOST fitted to a table, and the seconds it took."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HOST().fit(X, interventions=told)
    return model, time.process_time() - begin


def from_gies(python, data, pooled):
    """Return the graph that the package `gies` learns in its own environment."""
    with tempfile.TemporaryDirectory() as folder:
        given, out = Path(folder) / "in.npz", Path(folder) / "out.npy"
        np.savez(given, X=data.X, fixed=data.interventions, pooled=pooled)
        subprocess.run([python, str(ROOT / "benchmarks" / "gies_worker.py"), str(given), str(out)], check=True)
        return np.load(out)


def graph_errors(graph, truth):
    """Return the SHD, an edge without direction counting half where the truth has one, and how many these are."""
    loose = (graph == 1) & (graph.T == 1)
    directed = np.where(loose, np.triu(loose), graph)
    wrong = np.triu(loose) & ((truth == 1) | (truth.T == 1))
    resolved = np.where(loose & ((truth == 1) | (truth.T == 1)), truth, directed)
    return metrics.shd(resolved, truth) + 0.5 * wrong.sum(), int(np.triu(loose).sum())


# --- linear Gaussian tables, whose directions observation cannot tell ---------------------------------------

LINEAR = ("degree", "seed", "method", "edges", "divergence", "shd", "undirected", "seconds")


def run_linear(degree, seed, method, python):
    data = simulate(
        ROWS + PER * D, D, degree=degree, random_state=seed, interventions=PER, **WORLDS["linear Gaussian"]
    )
    row = {"degree": degree, "seed": seed, "method": method, "edges": int(data.adjacency.sum())}
    if method.startswith("HOST"):
        X = data.X[:ROWS] if method == METHODS[0] else data.X
        model, seconds = learned(X, data.interventions if method == METHODS[2] else None)
        row |= {"divergence": metrics.order_divergence(model.order_, data.adjacency), "seconds": f"{seconds:.2f}"}
        found = with_open_edges(model.adjacency_, model.open_)
    else:
        found = from_gies(python, data, method == METHODS[4])
    row["shd"], row["undirected"] = graph_errors(found, data.adjacency)
    return [row]


# --- a condition that is called an intervention and is none -------------------------------------------------

WRONG = ("world", "seed", "rows", "divergence", "shd", "edges")
VARIANTS = (
    "all 600 rows, nothing told",
    "told that x0 and x1 were set in 100 rows",
    "told that x0 and x1 were shifted in 100 rows",
    "the other 500 rows alone",
)


def run_wrong(world, seed, variant):
    data = simulate(ROWS + 100, D, degree=1, random_state=seed, **WORLDS[world])
    condition = np.repeat(["none", "x0", "x1"], [ROWS, 50, 50])
    told, X = None, data.X[:ROWS] if variant == VARIANTS[3] else data.X
    if variant in VARIANTS[1:3]:
        kind = "set" if variant == VARIANTS[1] else "shift"
        told = Interventions(condition, {"none": None, "x0": 0, "x1": 1}, kind)
    model, _ = learned(X, told)
    return [{
        "world": world, "seed": seed, "rows": variant, "edges": int(data.adjacency.sum()),
        "divergence": metrics.order_divergence(model.order_, data.adjacency),
        "shd": metrics.shd(model.adjacency_, data.adjacency),
    }]  # fmt: skip


# --- unknown targets ----------------------------------------------------------------------------------------

UNKNOWN = ("world", "shift", "seed", "conditions", "found", "false_alarms", "pairs", "edges", "divergence", "shd")
SHIFTS = (1.0, 0.0)


def run_unknown(world, shift, seed):
    data = simulate(ROWS + PER * D, D, degree=1, random_state=seed, interventions=PER, shift=shift, **WORLDS[world])
    condition = np.where(data.interventions.any(axis=1), data.interventions.argmax(axis=1) + 1, 0)
    model, _ = learned(data.X, Interventions(condition, {k: "unknown" if k else None for k in range(D + 1)}))
    acts, true = model.targets_["acts"].to_numpy().reshape(D, D), np.eye(D, dtype=bool) & (shift != 0)
    return [{
        "world": world, "shift": shift, "seed": seed, "conditions": int(true.sum()), "found": int((acts & true).sum()),
        "false_alarms": int((acts & ~true).sum()), "pairs": int((~true).sum()), "edges": int(data.adjacency.sum()),
        "divergence": metrics.order_divergence(model.order_, data.adjacency),
        "shd": metrics.shd(model.adjacency_, data.adjacency),
    }]  # fmt: skip


# --- the Sachs data -----------------------------------------------------------------------------------------

SACHS = ("reading", "subsample", "cells", "edges", "known", "reversed", "divergence", "shd", "order", "seconds")


def run_sachs(reading, subsample):
    """Learn the graph of a subsample: `CELLS` of every condition, or 700 of the observational one."""
    sachs, rng = load_sachs(conditions=True), np.random.default_rng([FIRST_SEED, subsample])
    rows = [rng.permutation(np.flatnonzero(sachs.conditions == name)) for name in sachs.targets]
    kept = np.sort(rows[0][:700] if reading == READINGS[0] else np.concatenate([own[:CELLS] for own in rows]))
    told = Interventions(sachs.conditions[kept], sachs.targets, reading) if reading in ("set", "shift") else None
    model, seconds = learned(sachs.data[sachs.feature_names].iloc[kept], told)
    found, truth = model.adjacency_, sachs.adjacency
    return [{
        "reading": reading, "subsample": subsample, "cells": len(kept), "edges": int(found.sum()),
        "known": int((found & truth).sum()), "reversed": int((found & truth.T).sum()),
        "divergence": metrics.order_divergence(model.order_, truth), "shd": metrics.shd(found, truth),
        "order": " ".join(sachs.feature_names[j] for j in model.order_), "seconds": f"{seconds:.1f}",
    }]  # fmt: skip


# --- the page -----------------------------------------------------------------------------------------------


def mean_of(rows, key, by=None):
    """Return 'mean ± standard error' over rows, each divided by another of its columns if that is named."""
    values = np.array([float(row[key]) / (float(row[by]) if by else 1.0) for row in rows])
    return (
        f"{values.mean():.3g} ± {values.std(ddof=1) / np.sqrt(len(values)):.1g}"
        if len(values) > 1
        else f"{values[0]:.3g}"
    )


def linear_table(rows):
    lines = [
        "| graphs | method | order divergence per edge | SHD | edges without direction |",
        "|---|---|---|---|---|",
    ]
    for degree in DEGREES:
        for method in METHODS:
            some = [r for r in rows if r["method"] == method and int(r["degree"]) == degree]
            if some:
                divergence = mean_of(some, "divergence", "edges") if some[0]["divergence"] else ""
                lines.append(
                    f"| ER-{degree} ({len(some)}) | {method} | {divergence} | {mean_of(some, 'shd')} "
                    f"| {np.mean([int(r['undirected']) for r in some]):.2g} |"
                )
    return lines


def wrong_table(rows):
    lines = ["| world | rows | order divergence per edge | SHD |", "|---|---|---|---|"]
    for world in WORLDS:
        for variant in VARIANTS:
            some = [r for r in rows if r["world"] == world and r["rows"] == variant]
            if some:
                lines.append(
                    f"| {world} | {variant} | {mean_of(some, 'divergence', 'edges')} | {mean_of(some, 'shd')} |"
                )
    return lines


def unknown_table(rows):
    lines = ["| world | effect | targets found | false alarms | order divergence per edge |", "|---|---|---|---|---|"]
    for world in WORLDS:
        for shift in SHIFTS:
            some = [r for r in rows if r["world"] == world and float(r["shift"]) == shift]
            if some:
                total = {
                    key: sum(int(r[key]) for r in some) for key in ("conditions", "found", "false_alarms", "pairs")
                }
                found = f"{total['found'] / total['conditions']:.1%}" if shift else ""
                lines.append(
                    f"| {world} | {shift:g} SD | {found} | {total['false_alarms'] / total['pairs']:.2%} "
                    f"| {mean_of(some, 'divergence', 'edges')} |"
                )
    return lines


def sachs_table(rows):
    lines = [
        "| reading | cells | edges | of these known | the other way round | SHD | order divergence | agreement |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for reading in READINGS:
        some = [r for r in rows if r["reading"] == reading]
        if some:
            cells = [mean_of(some, key) for key in ("edges", "known", "reversed", "shd", "divergence")]
            lines.append(f"| {reading} | {some[0]['cells']} | {' | '.join(cells)} | {agreement(some):.2f} |")
    return lines


def agreement(rows):
    """Return the mean, over pairs of variables, of |2 p - 1|, p the share of subsamples in which the one comes first."""
    names = sorted(rows[0]["order"].split())
    place = np.array([[r["order"].split().index(name) for name in names] for r in rows])
    before = (place[:, :, None] < place[:, None, :]).mean(axis=0)
    return float(np.abs(2 * before - 1)[np.triu_indices(len(names), 1)].mean())


TABLES_OF = {"linear": linear_table, "wrong": wrong_table, "unknown": unknown_table, "sachs": sachs_table}


def stored(name):
    return read(RESULTS / f"experiments_{name}.csv")


def page(text):
    """Return the text of the page with the tables that the stored rows make, each between its two marks."""
    text = with_version(text, *(f"experiments_{name}.csv" for name in TABLES_OF))
    for name, table in TABLES_OF.items():
        lines = "\n".join(table(stored(name))) if stored(name) else "(no rows yet)"
        mark = f"<!-- {name}: made by benchmarks/experiments.py -->"
        text = re.sub(f"{mark}.*?<!-- end -->", f"{mark}\n{lines}\n<!-- end -->", text, flags=re.DOTALL)
    return text


def cells_of(name, count, python):
    """Return the cells that have no row yet."""
    seeds, done = range(FIRST_SEED, FIRST_SEED + count), stored(name)
    if name == "linear":
        methods = METHODS if python else METHODS[:3]
        have = {(int(r["degree"]), int(r["seed"]), r["method"]) for r in done}
        return [(*c, python) for c in ((d, s, m) for d in DEGREES for s in seeds for m in methods) if c not in have]
    if name == "wrong":
        have = {(r["world"], int(r["seed"]), r["rows"]) for r in done}
        return [c for c in ((w, s, v) for w in WORLDS for s in seeds for v in VARIANTS) if c not in have]
    if name == "unknown":
        seeds = seeds[: count // 2]  # each takes as long as two of the others
        have = {(r["world"], float(r["shift"]), int(r["seed"])) for r in done}
        return [c for c in ((w, k, s) for w in WORLDS for k in SHIFTS for s in seeds) if c not in have]
    have = {(r["reading"], int(r["subsample"])) for r in done}
    return [c for c in ((r, k) for k in range(SUBSAMPLES) for r in READINGS) if c not in have]


RUNS = {
    "linear": (LINEAR, run_linear),
    "wrong": (WRONG, run_wrong),
    "unknown": (UNKNOWN, run_unknown),
    "sachs": (SACHS, run_sachs),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", choices=[*RUNS, "page"], default=[*RUNS, "page"])
    parser.add_argument("--tables", type=int, default=TABLES)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--gies", metavar="PYTHON", default=None)
    args = parser.parse_args()
    for name in args.what:
        if name != "page":
            fields, run = RUNS[name]
            cells = cells_of(name, args.tables, args.gies)
            append_results(RESULTS / f"experiments_{name}.csv", fields, run, cells, args.jobs, every=10)
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main()
