"""How often is an arrow right, given its evidence in nats? `python benchmarks/directions.py [run | limit]`.

`run` fits HOST() to the worlds of benchmarks/worlds.py, on seeds that nothing was chosen on, and stores one row per learned
edge in benchmarks/results/directions.csv. `limit` does so for the tuning seeds on which the limit of 9 nats was chosen, in
the world where most directions cannot be seen, and stores the rows in directions_limit.csv. What is there is not run again.
Without either, only docs/directions.md is made from the rows.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import warnings
from pathlib import Path

import numpy as np

from pages import made_with, prose, rows_in
from rows import RESULTS, append_results, read

FIRST_SEED, TABLES, SIZES = 80_000, 8, (300, 1000)
FIELDS = ("world", "n", "seed", "nats", "open", "verdict")
STORE, PAGE = RESULTS / "directions.csv", Path(__file__).resolve().parents[1] / "docs" / "directions.md"
GRAPHS = (("ER", 1), ("ER", 2), ("SF", 1), ("SF", 2))
#: Mean, spread and noise of a world, as `simulate` names them.
WORLDS = (
    ("straight", "constant", "mixed"), ("curved", "constant", "normal"), ("curved", "constant", "mixed"),
    ("straight", "straight", "normal"), ("straight", "straight", "mixed"), ("curved", "curved", "normal"),
    ("curved", "curved", "mixed"), ("none", "curved", "normal"), ("none", "curved", "mixed"),
    ("linear", None, "normal"), ("nonlinear", None, "normal"), ("straight", "constant", "normal"),
)  # fmt: skip
INVISIBLE = "straight/constant/normal"
#: Tuning seeds and sizes, and the limits that are compared.
LIMIT_STORE, TUNING, LIMITS = RESULTS / "directions_limit.csv", range(24), (0, 2, 4, 6, 9, 12, 15)
BINS = ((0, 1), (1, 3), (3, 6), (6, 9), (9, 15), (15, 30), (30, np.inf))


def name_of(world):
    return "/".join(part for part in world if part)


def run_cell(world, n, seed):
    """Return a row per learned edge: its evidence, and whether the truth has it, has it turned round, or has neither."""
    from heterodag import HOST, simulate

    kind, degree = GRAPHS[seed % 4]
    mean, spread, noise = world
    data = simulate(n, 10, kind, degree, mean, spread=spread, noise=noise, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HOST().fit(data.X)
    rows = []
    for i, j in np.argwhere(model.adjacency_):
        verdict = "right" if data.adjacency[i, j] else "turned" if data.adjacency[j, i] else "absent"
        rows.append(
            {"world": name_of(world), "n": n, "seed": seed, "nats": f"{model.direction_nats_[i, j]:.2f}",
             "open": int(model.open_[i, j]), "verdict": verdict}
        )  # fmt: skip
    return rows or [{"world": name_of(world), "n": n, "seed": seed, "nats": "", "open": "", "verdict": "no edge"}]


def table(rows):
    """Yield the lines of a table: bins of nats, and how many arrows in each are right."""
    yield "| nats | arrows between truly linked variables | right | per cent |"
    yield "|---|---|---|---|"
    for low, high in BINS:
        count, right = counted(rows, low, high)
        label = f"{low} to {high}" if np.isfinite(high) else f"{low} and more"
        share = f"{100 * right / count:.1f}" if count else ""
        yield f"| {label} | {count} | {right} | {share} |"


def by_world(rows):
    yield "| world | n | edges | open | arrows drawn | drawn and wrong | per cent |"
    yield "|---|---|---|---|---|---|---|"
    for world in map(name_of, WORLDS):
        for n in SIZES:
            own = [r for r in rows if r["world"] == world and int(r["n"]) == n and r["verdict"] != "no edge"]
            drawn = [r for r in own if r["open"] == "0"]
            wrong = sum(r["verdict"] != "right" for r in drawn)
            share = f"{100 * wrong / len(drawn):.1f}" if drawn else ""
            yield f"| {world} | {n} | {len(own)} | {len(own) - len(drawn)} | {len(drawn)} | {wrong} | {share} |"


HEAD = """# How sure is an arrow?

Every edge has a number, `direction_nats`: how much better the data are explained with the arrow this way round
than by any graph in which the effect comes first (in nats, the unit of log-likelihood). An edge with fewer than 9
nats is *open* and drawn
without an arrowhead. Do these numbers hold? Where the data tell directions at all, {right:,} of {drawn:,} arrows
between variables that are linked in truth point the right way if they have 9 nats or more. With less evidence it
is {right_open} of {open}. All this is for simulated tables, which meet the assumptions; [real
pairs](pairs.md#real-pairs) do not, and there nats promise too much.

{version}

`HOST()` on {tables} tables per kind of data and number of rows ({sizes}), 10 columns, graphs ER-1, ER-2, SF-1 and
SF-2 in turn, seeds from {seed}. The threshold of 9 was chosen on other seeds. Kinds of data are named by mean,
spread and noise as in `simulate` ([explained here](worlds.md#the-worlds)); the paper's two are called
linear/normal and nonlinear/normal. The first two tables count arrows between linked variables; the last one also
counts edges that do not exist. Written by `python benchmarks/directions.py` from {file}; the same command with
`run` makes the rows."""


def counted(rows, low, high):
    """Return how many arrows between truly linked variables have evidence in [low, high), and how many are right."""
    own = [r for r in rows if r["verdict"] in ("right", "turned") and low <= float(r["nats"]) < high]
    return len(own), sum(r["verdict"] == "right" for r in own)


LIMIT = """## Why 9 nats?

The limit was chosen on tuning seeds, in the world where most directions cannot be seen ({world}). On {tables} such
tables ({sizes} rows, seeds from {seed}) {high:.1f} % of the arrows drawn are wrong, the other way round or without an edge
in truth; with a limit of 4 nats, {low:.1f} %. These tables are no evidence of how good HOST is. Made by `python
benchmarks/directions.py limit`; rows: {file}."""


def drawn_at(rows, limit):
    """Return how many arrows are drawn if edges with less than `limit` nats are open, and the percentage that is wrong."""
    drawn = [row for row in rows if row["verdict"] != "no edge" and float(row["nats"]) >= limit]
    return len(drawn), 100 * sum(row["verdict"] != "right" for row in drawn) / max(1, len(drawn))


def limits(rows):
    """Yield the section on the limit."""
    yield prose(
        LIMIT, tables=len({(row["n"], row["seed"]) for row in rows}), sizes=" and ".join(map(str, SIZES)),
        seed=min(TUNING), world=INVISIBLE, low=drawn_at(rows, 4)[1], high=drawn_at(rows, 9)[1],
        file=rows_in(LIMIT_STORE.name),
    )  # fmt: skip
    yield ""
    yield "| limit in nats | arrows drawn | open edges | drawn and wrong, per cent |"
    yield "|---:|---:|---:|---:|"
    edges = drawn_at(rows, -np.inf)[0]
    for limit in LIMITS:
        drawn, wrong = drawn_at(rows, limit)
        yield f"| {limit} | {drawn} | {edges - drawn} | {wrong:.1f} |"


def page(rows, tuning):
    seen = [r for r in rows if r["verdict"] != "no edge"]
    visible = [r for r in seen if r["world"] != INVISIBLE]
    hidden = [r for r in seen if r["world"] == INVISIBLE]
    (drawn, right), (left_open, right_open) = counted(visible, 9, np.inf), counted(visible, 0, 9)
    head = prose(
        HEAD, right=right, drawn=drawn, right_open=right_open, open=left_open,
        version=made_with(STORE.name, LIMIT_STORE.name), tables=TABLES,
        sizes=" and ".join(map(str, SIZES)), seed=FIRST_SEED, file=rows_in(STORE.name),
    )  # fmt: skip
    return "\n".join(
        [
            head,
            "",
            "## Data that tell directions",
            "",
            *table(visible),
            "",
            "## Straight lines, constant spread, normal noise",
            "",
            "No method can tell all directions here: some graphs with other arrows fit equally well.",
            "",
            *table(hidden),
            "",
            "## Each kind of data",
            "",
            "Here an arrow is wrong if the truth has the edge the other way round, or not at all. The paper's nonlinear",
            "data are the worst: there HOST draws edges that do not exist.",
            "",
            *by_world(seen),
            "",
            *limits(tuning),
            "",
        ]
    )


def main():
    parser = argparse.ArgumentParser(description="How often arrows are right, given their evidence.")
    parser.add_argument("command", nargs="?", choices=["run", "limit"])
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    store = LIMIT_STORE if options.command == "limit" else STORE
    seeds, worlds = (
        (TUNING, WORLDS[-1:]) if store == LIMIT_STORE else (range(FIRST_SEED, FIRST_SEED + TABLES), WORLDS)
    )
    if options.command:
        done = {(r["world"], int(r["n"]), int(r["seed"])) for r in read(store)}
        cells = [
            (world, n, seed) for seed in seeds for world in worlds for n in SIZES
            if (name_of(world), n, seed) not in done
        ]  # fmt: skip
        append_results(store, FIELDS, run_cell, cells, options.jobs)
    PAGE.write_text(page(read(STORE), read(LIMIT_STORE)), encoding="utf-8")
    print("wrote docs/directions.md")


if __name__ == "__main__":
    main()
