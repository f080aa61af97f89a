"""HOST and its rivals, whatever the world: `python benchmarks/worlds.py [run] [--methods NAME ...] [--settings NAME ...]`.

`run` fits the methods to tables of twelve worlds, all columns scaled to variance 1. Rows go to benchmarks/results/worlds.csv
as they come, and what is there is not run again; `--again` takes the chosen rows out first. Without `run`, only
docs/worlds.md is made from the rows.

Table t of a setting has graph number t % 4 and the seed 50000 + t, in every world. `simulate` draws the graph, the
mechanisms and the noise from separate streams of the seed, so table t has the same graph in every world and at every n.

lingam asks for an older SciPy and gets an environment of its own, whose interpreter runs this script with `PYTHONPATH=src`:

    pip install lingam         python benchmarks/worlds.py run --methods DirectLiNGAM
    pip install causal-learn   python benchmarks/worlds.py run --methods PC GES
    pip install gcastle torch  python benchmarks/worlds.py run --methods NOTEARS

`--settings all` takes every size; without `--methods`, all methods run whose packages are there.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from heterodag import __version__
from heterodag.simulation import simulate
from packages import (
    GRAPHS,
    TooLongError,
    checksum,
    direct_lingam,
    ges,
    import_all_of,
    measures,
    notears,
    order_divergence,
    pc,
    rival,
    standardised,
    timed,
)
from rows import RESULTS, append_results, read, write

ROOT = Path(__file__).resolve().parents[1]
FIRST_SEED = 50_000
KEY = ("world", "graph", "n", "d", "seed", "method")
FIELDS = (
    *KEY, "table", "edges", "order_divergence", "shd", "shd_strict", "skeleton_f1", "open", "drawn", "wrong", "seconds",
    "version", "error",
)  # fmt: skip
#: World -> arguments of `simulate`: mean / spread / noise, or the paper's two.
WORLDS = {
    f"{mean}/{spread}/{noise}": {"mechanism": mean, "spread": spread, "noise": noise}
    for mean, spread, noise in (
        ("straight", "constant", "mixed"),
        ("curved", "constant", "normal"),
        ("curved", "constant", "mixed"),
        ("straight", "straight", "normal"),
        ("straight", "straight", "mixed"),
        ("curved", "curved", "normal"),
        ("curved", "curved", "mixed"),
        ("none", "curved", "normal"),
        ("none", "curved", "mixed"),
        ("straight", "constant", "normal"),
    )
} | {f"paper/{name}": {"mechanism": name, "version": "text"} for name in ("linear", "nonlinear")}
#: Setting -> (rows, columns, tables per graph and world that are wanted). The page shows the rounds of four graphs that
#: HOST has been through in all worlds.
SETTINGS = {
    "main": (1000, 10, 5), "n200": (200, 10, 5), "n5000": (5000, 10, 5),
    "d30": (1000, 30, 5), "d30n200": (200, 30, 5), "d30n5000": (5000, 30, 5),
    "d50": (1000, 50, 1),
}  # fmt: skip
#: Seconds of processor time that a fit may take; more for large tables.
LIMIT, LIMITS = 120, {"d30": 600, "d30n5000": 600, "d50": 600}


def host(**choices):
    def fit(X):
        from heterodag import HOST

        known = HOST().get_params()
        model = HOST(**{name: value for name, value in choices.items() if name != "noise" or name in known}).fit(X)
        return with_open_edges(model.adjacency_, getattr(model, "open_", None)), model.order_

    return fit


def with_open_edges(adjacency, open_):
    """Return the graph with edges that were left without a direction both ways, as those of PC and GES are."""
    if open_ is None:
        return adjacency
    joined = (adjacency + adjacency.T) > 0
    return np.where((open_ | open_.T) & joined, 1, adjacency)


#: From a table to (graph, order), as in benchmarks/packages.py.
METHODS = {
    "HOST": host(),
    # The noise is named in case HOST has a choice of it.
    "HOST.paper": host(
        refine=False, selection="likelihood-full", parametrization="linear", form="natural", noise="gaussian"
    ),
    "VarSort": rival("VarSort"),
    "EqVar": rival("EqVar"),
    "NPVar": rival("NPVar"),
    "CAM": rival("CAM"),
    "DirectLiNGAM": direct_lingam,
    "PC": pc,
    "GES": ges,
    "NOTEARS": notears,
}
#: Package that a method needs beside heterodag.
NEEDS = {"DirectLiNGAM": "lingam", "PC": "causallearn", "GES": "causallearn", "NOTEARS": "castle"}


def sample(world, graph, n, d, seed):
    """Return a standardised table and its true graph."""
    kind, degree = graph.split("-")
    data = simulate(n, d, kind, int(degree), random_state=seed, **WORLDS[world])
    return standardised(data.X), data.adjacency


def arrowheads(found, truth):
    """Return how many edges have a direction, how many of those the truth does not have, and the strict SHD's surplus."""
    both = (found == 1) & (found.T == 1)
    drawn = (found == 1) & ~both
    return int(drawn.sum()), int((drawn & (truth == 0)).sum()), int((both & (truth == 1)).sum())


def outcome(fit, X, truth, limit):
    """Return what a method makes of a table: measures and seconds, or an error."""
    row = {"table": checksum(X, truth), "edges": int(truth.sum()), "version": __version__}
    import_all_of(fit)
    try:
        (found, order), seconds = timed(fit, X, limit)
    except TooLongError:
        return row | {"error": "limit"}
    except Exception as error:  # a method that fails makes a row too
        return row | {"error": f"{type(error).__name__}: {error}"[:120]}
    values = measures(found, truth)
    drawn, wrong, surplus = arrowheads(found, truth)
    row |= {"shd": values["shd"], "shd_strict": values["shd"] + surplus, "skeleton_f1": values["skeleton_f1"]}
    row |= {"open": values["undirected"], "drawn": drawn, "wrong": wrong, "seconds": f"{seconds:.3f}"}
    return row | ({} if order is None else {"order_divergence": order_divergence(order, truth)})


def cell(world, graph, n, d, seed, method, limit):
    X, truth = sample(world, graph, n, d, seed)
    row = dict.fromkeys(FIELDS, "") | dict(zip(KEY, (world, graph, n, d, seed, method), strict=True))
    return [row | outcome(METHODS[method], X, truth, limit)]


def tables(setting):
    """Return (graph, n, d, seed) of the tables of a setting, the same for every world."""
    n, d, per_graph = SETTINGS[setting]
    return [(GRAPHS[t % len(GRAPHS)], n, d, FIRST_SEED + t) for t in range(per_graph * len(GRAPHS))]


def run(options):
    path = options.results / "worlds.csv"
    # Worlds inside tables: whenever the work stops, all worlds and methods have seen about the same graphs.
    cells = [
        (world, *table, method, options.limit or LIMITS.get(setting, LIMIT))
        for setting in options.settings for table in tables(setting)[: options.rounds * len(GRAPHS)]
        for world in options.worlds for method in options.methods
    ]  # fmt: skip
    if options.again:
        forget(path, {tuple(map(str, key)) for *key, _ in cells})
    done = {tuple(row[key] for key in KEY) for row in read(path)}
    missing = [cell for cell in cells if tuple(map(str, cell[:-1])) not in done]
    append_results(path, FIELDS, cell, missing, options.jobs, every=100)


def forget(path, keys):
    """Take rows out of the file."""
    write(path, FIELDS, [row for row in read(path) if tuple(row[key] for key in KEY) not in keys])


def main():
    here = [name for name in METHODS if name not in NEEDS or find_spec(NEEDS[name])]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=["run"], help="fit; without it the page is written")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=here, metavar="NAME")
    parser.add_argument("--worlds", nargs="+", choices=list(WORLDS), default=list(WORLDS), metavar="NAME")
    parser.add_argument("--settings", nargs="+", choices=[*SETTINGS, "all"], default=["main"], metavar="NAME")
    parser.add_argument("--again", action="store_true", help="replace rows that are there")
    parser.add_argument(
        "--limit", type=int, help="seconds of processor time that one fit may take, if not the setting's"
    )
    parser.add_argument("--rounds", type=int, default=5, help="tables per graph; less than are wanted, to begin with")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "worlds.md")
    options = parser.parse_args()
    options.settings = list(SETTINGS) if "all" in options.settings else options.settings
    absent = [name for name in options.methods if name not in here]
    if absent:
        parser.error(f"{', '.join(absent)}: this environment lacks {', '.join({NEEDS[name] for name in absent})}")
    if options.part == "run":
        run(options)
    else:
        from worlds_page import page, sizes_page

        rows = read(options.results / "worlds.csv")
        options.out.write_text(page(rows), encoding="utf-8")
        (options.out.parent / "results" / "worlds-sizes.md").write_text(sizes_page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
