"""Does `check_graph` pass right graphs and find out wrong ones? `python benchmarks/graph_checks.py [run | tune] [--jobs N]`.

`run` simulates tables in eight worlds, on seeds that nothing was chosen on, checks the true graph and five wrong ones, and
stores one row per check in benchmarks/results/graph_checks.csv; what is there is not run again. It also checks the consensus
graph of the Sachs data and stores what the command prints. Without it, only docs/check-graph.md is made from the rows.

`tune` does the same with seeds from 0 and without shuffles, stores rows in graph_checks_tuning.csv, and prints what other
values of `LEAST_GAIN` would have led to.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import contextlib
import io
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from rows import RESULTS, append_results, read

FIRST_SEED, TABLES, SIZES = 75_000, 20, (300, 1000)
TUNING_SEED, TUNING_TABLES = 0, 12
STORE, TUNING, EXAMPLE = (
    RESULTS / name for name in ("graph_checks.csv", "graph_checks_tuning.csv", "graph_checks_sachs.txt")
)
PAGE = Path(__file__).resolve().parents[1] / "docs" / "check-graph.md"
GRAPHS = (("ER", 1), ("ER", 2), ("SF", 1), ("SF", 2))
COLUMNS = (6, 10)
#: Mean, spread and noise of a world, as `simulate` names them; the paper's two have no spread of their own.
WORLDS = (
    ("straight", "constant", "mixed"), ("curved", "constant", "normal"), ("straight", "straight", "normal"),
    ("curved", "curved", "mixed"), ("none", "curved", "normal"), ("linear", None, "normal"),
    ("nonlinear", None, "normal"), ("straight", "constant", "normal"),
)  # fmt: skip
#: Graphs that are compared with shuffled names, and how often.
SHUFFLED, SHUFFLES = ("right", "half wrong", "random"), 39
VARIANTS = ("right", "turned", "missing", "superfluous", "half wrong", "random")
FIELDS = (
    "world", "n", "d", "seed", "variant", "edges", "missing", "directions", "variables", "hidden", "score", "chance",
    "pvalue", "steps", "seconds",
)  # fmt: skip


def name_of(world):
    return "/".join(part for part in world if part)


def variants(truth, rng):
    """Return the graphs to check, each with the change that would put it right (None if there is no single one)."""
    from heterodag.graphcheck.changes import Change, single_changes

    found, ways = {"right": (truth, None)}, {"turned": "turn", "missing": "drop", "superfluous": "add"}
    for name, kind in ways.items():
        some = [change for change in single_changes(truth) if change.kind == kind]
        if some:
            change = some[rng.integers(len(some))]
            cause, effect = (change.effect, change.cause) if kind == "turn" else (change.cause, change.effect)
            back = Change({"turn": "turn", "drop": "add", "add": "drop"}[kind], cause, effect)
            found[name] = change.applied(truth), back
    return found | {"half wrong": (half_wrong(truth, rng), None), "random": (random_graph(truth, rng), None)}


def half_wrong(truth, rng):
    """Return the graph with half of its edges replaced by edges between other pairs."""
    from heterodag.graphcheck.changes import Change, single_changes

    edges = np.argwhere(truth)
    graph = truth
    for i, j in rng.permutation(edges)[: len(edges) // 2].tolist():
        graph = Change("drop", i, j).applied(graph)
        apart = [c for c in single_changes(graph) if c.kind == "add" and not (truth | truth.T)[c.cause, c.effect]]
        graph = apart[rng.integers(len(apart))].applied(graph) if apart else graph
    return graph


def random_graph(truth, rng):
    """Return a random graph with as many edges, along a random order."""
    d, order = len(truth), rng.permutation(len(truth))
    first, second = np.triu_indices(d, k=1)
    some = rng.choice(len(first), int(truth.sum()), replace=False)
    graph = np.zeros_like(truth)
    graph[order[first[some]], order[second[some]]] = 1
    return graph


def run_cell(world, n, seed, tuning=False):
    """Return a row per graph: what was found, the p-value against chance, and the changes proposed."""
    from heterodag import HOST, simulate

    kind, degree = GRAPHS[seed % 4]
    mean, spread, noise = world
    d = COLUMNS[seed // 4 % 2]
    data = simulate(n, d, kind, degree, mean, spread=spread, noise=noise, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learned = None if tuning else HOST().fit(data.X)
        found = variants(data.adjacency, np.random.default_rng([seed, n, WORLDS.index(world)]))
        names = VARIANTS[:4] if tuning else VARIANTS
        return [
            {"world": name_of(world), "n": n, "d": d, "seed": seed, "variant": name}
            | checked(data.X, *found[name], learned, SHUFFLES if name in SHUFFLED and not tuning else 0)
            for name in names
            if name in found
        ]


def checked(X, graph, right_change, learned, shuffles):
    from heterodag import check_graph
    from heterodag.graphcheck.changes import Change

    start = time.perf_counter()
    check = check_graph(graph, X, learned=learned, learn=False, n_shuffles=shuffles, random_state=0)
    said = {finding.topic: finding.severity for finding in check.findings}
    steps = []
    for row in check.changes.itertuples():
        change = Change(row.change, check.names.index(row.cause), check.names.index(row.effect))
        steps.append(f"{row.change} {row.nats:.1f}{' right' if change == right_change else ''}")
    topics = ("edges", "missing edges", "directions", "variables", "hidden causes", "score", "chance")
    columns = ("edges", "missing", "directions", "variables", "hidden", "score", "chance")
    return {column: said.get(topic, "") for column, topic in zip(columns, topics, strict=True)} | {
        "pvalue": "" if np.isnan(check.pvalue) else f"{check.pvalue:.4g}",
        "steps": "; ".join(steps),
        "seconds": f"{time.perf_counter() - start:.2f}",
    }


def sachs_example():
    """Return what `heterodag check-graph` prints about the consensus graph and the Sachs data."""
    from heterodag import load_sachs
    from heterodag.cli.app import app

    sachs, printed = load_sachs(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        sachs.data.to_csv("sachs.csv", index=False)
        lines = ["cause,effect", *(f"{cause},{effect}" for cause, effect in sachs.edges)]
        Path("consensus.csv").write_text("\n".join(lines), encoding="utf-8")
        app(["check-graph", "consensus.csv", "sachs.csv"], standalone_mode=False)
    return printed.getvalue()


def steps_of(row, least=0.0):
    """Return the proposed changes of a row, as (kind, nats, right), up to the first that gains less than asked."""
    kept = []
    for step in filter(None, row["steps"].split("; ")):
        kind, nats, *right = step.split(" ")
        if kind != "turn" and float(nats) < least:
            break
        kept.append((kind, float(nats), bool(right)))
    return kept


def print_tuning(rows):
    """Print, for values of LEAST_GAIN, how many right graphs get a change proposed and how many faults the right one."""
    print("least gain | right graphs with a change proposed | superfluous edges named | missing edges named")
    for least in (3.0, 4.0, 5.0, 6.0, 7.0):
        shares = []
        for variant in ("right", "superfluous", "missing"):
            own = [steps_of(r, least) for r in rows if r["variant"] == variant and r["world"] != "nonlinear/normal"]
            hits = [bool(steps) if variant == "right" else any(right for *_, right in steps) for steps in own]
            shares.append(f"{100 * np.mean(hits):.1f} %")
        print(f"{least:g} | " + " | ".join(shares))


def main():
    from graph_checks_page import page

    parser = argparse.ArgumentParser(description="Whether right graphs pass and wrong ones are found out.")
    parser.add_argument("command", nargs="?", choices=["run", "tune"])
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    tuning = options.command == "tune"
    store, seed, tables = (TUNING, TUNING_SEED, TUNING_TABLES) if tuning else (STORE, FIRST_SEED, TABLES)
    if options.command:
        done = {(r["world"], int(r["n"]), int(r["seed"])) for r in read(store)}
        cells = [
            (world, n, seed + t, tuning)
            for t in range(tables)
            for world in WORLDS
            for n in SIZES
            if (name_of(world), n, seed + t) not in done
        ]
        append_results(store, FIELDS, run_cell, cells, options.jobs)
    if tuning:
        return print_tuning(read(store))
    if options.command:
        EXAMPLE.write_text(sachs_example(), encoding="utf-8")
    PAGE.write_text(page(read(STORE), EXAMPLE.read_text(encoding="utf-8")), encoding="utf-8")
    print("wrote docs/check-graph.md")


if __name__ == "__main__":
    main()
