"""HOST beside what else one would install: `python benchmarks/alternatives.py [run] [wide] [--methods NAME ...]`.

`run` fits every method to the tables of benchmarks/families.py, all columns scaled to variance 1; `wide` takes the time of
one table of 100 columns. Rows go to benchmarks/results/alternatives*.csv as they come, and what is there is not run again.
Without either, only docs/alternatives.md is made from the rows.

A method is imported only when it is run, and the tables need only NumPy and SciPy: a package with demands of its own gets
an environment of its own, whose interpreter runs this script with `PYTHONPATH=src` and that package's methods:

    pip install lingam         python benchmarks/alternatives.py run wide --methods DirectLiNGAM
    pip install causal-learn   python benchmarks/alternatives.py run --methods PC GES
    pip install gcastle torch  python benchmarks/alternatives.py run --methods NOTEARS
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import logging
import signal
import time
import warnings
import zlib
from functools import cache
from pathlib import Path

import numpy as np

from families import FAMILIES, GRAPHS, sample
from rows import FORMER, RESULTS, append_results, read

ROOT = Path(__file__).resolve().parents[1]
FIRST_SEED = 30_000
KEY = ("family", "graph", "n", "seed", "method")
FIELDS = (*KEY, "table", "edges", "divergence", "shd", "skeleton_f1", "undirected", "seconds", "warned", "error")
WIDE = ("method", "d", "n", "seed", "edges", "divergence", "shd", "seconds", "limit")


def host(X):
    from heterodag import HOST

    model = HOST(**FORMER).fit(X)
    return model.adjacency_, model.order_


def paper_order(X):
    from heterodag import HOST

    model = HOST(refine=False, selection="likelihood-full", **FORMER).fit(X)
    return model.adjacency_, model.order_


def order_only(X):
    from heterodag import causal_order

    return None, causal_order(X, refine=False).order


def rival(name):
    def fit(X):
        import heterodag

        model = getattr(heterodag, name)().fit(X)
        return model.adjacency_, model.order_

    return fit


def direct_lingam(X):
    from lingam import DirectLiNGAM

    model = DirectLiNGAM().fit(X)
    return (model.adjacency_matrix_.T != 0).astype(int), np.array(model.causal_order_)


def from_endpoints(graph):
    """Return causal-learn's graph as a matrix; edges without one direction are in it both ways."""
    return ((graph.T == 1) | ((graph == -1) & (graph.T == -1))).astype(int)


def pc(X):
    from causallearn.search.ConstraintBased.PC import pc as search

    return from_endpoints(search(X, show_progress=False).G.graph), None


def ges(X):
    from causallearn.search.ScoreBased.GES import ges as search

    return from_endpoints(search(X)["G"].graph), None


def notears(X):
    from castle.algorithms import Notears

    logging.disable(logging.INFO)
    model = Notears()
    model.learn(X)
    return np.asarray(model.causal_matrix), None


#: From a table to (graph, order), either of them None where a method has none; edges both ways are undirected.
METHODS = {
    "HOST": host,
    "HOST, paper's order": paper_order,
    "VarSort": rival("VarSort"),
    "EqVar": rival("EqVar"),
    "NPVar": rival("NPVar"),
    "CAM": rival("CAM"),
    "DirectLiNGAM": direct_lingam,
    "PC": pc,
    "GES": ges,
    "NOTEARS": notears,
}
WIDE_METHODS = {"causal_order(refine=False)": order_only, "HOST": host, "DirectLiNGAM": direct_lingam}
OURS = tuple(METHODS)[:6]


class TooLongError(Exception):
    """The time limit of one fit is over."""


def timed(fit, X, limit):
    """Return (graph, order), seconds of processor time, and whether the method warned; stop after `limit` such seconds."""

    def stop(*_):
        raise TooLongError

    before = signal.signal(signal.SIGPROF, stop)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            signal.setitimer(signal.ITIMER_PROF, limit)
            start = time.process_time()
            found = fit(X.copy())
            seconds = time.process_time() - start
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return found, seconds, any(warning.category.__name__ == "AssumptionWarning" for warning in caught)


@cache
def import_all_of(fit):
    """Fit a small table, so that no time of a row is that of imports."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit(sample("text", "ER-1", 100, 3, 0)[0])


def measures(found, truth):
    """Return the measures of a graph in which undirected edges stand both ways and count as right if the pair is joined."""
    both = (found == 1) & (found.T == 1)
    directed = np.where(both, truth, found)
    # An undirected edge between columns that are not joined in truth is one edge too many.
    extra = int(np.triu(both & (truth == 0) & (truth.T == 0)).sum())
    differing = (directed != truth) | (directed.T != truth.T)
    shd = int(np.triu(differing).sum()) + extra
    one, other = (np.triu((matrix + matrix.T) > 0) for matrix in (found, truth))
    f1 = 2 * (one & other).sum() / max(1, one.sum() + other.sum())
    return {"shd": shd, "skeleton_f1": f"{f1:.4f}", "undirected": int(np.triu(both).sum())}


def order_divergence(order, truth):
    """Return the number of true edges that go against the order."""
    place = np.argsort(order)
    return int(sum(place[i] > place[j] for i, j in np.argwhere(truth)))


def checksum(X, truth):
    """Return a short mark of a table that other versions of NumPy agree on."""
    return f"{zlib.crc32(truth.astype(np.int8).tobytes()):08x}-{np.abs(X).sum():.6g}"


def cell(family, graph, n, seed, method, limit):
    X, truth = sample(family, graph, n, 10, seed)
    row = dict.fromkeys(FIELDS, "") | dict(zip(KEY, (family, graph, n, seed, method), strict=True))
    row |= {"table": checksum(X, truth), "edges": int(truth.sum())}
    import_all_of(METHODS[method])
    try:
        (found, order), seconds, warned = timed(METHODS[method], X, limit)
    except TooLongError:
        return [row | {"error": f"more than {limit} s"}]
    except Exception as error:  # a method that fails makes a row too
        return [row | {"error": f"{type(error).__name__}: {error}"[:120]}]
    row |= {"seconds": f"{seconds:.3f}", "warned": int(warned), **measures(found, truth)}
    return [row | ({} if order is None else {"divergence": order_divergence(order, truth)})]


def wide_cell(method, d, n, seed, limit):
    X, truth = sample("text", "ER-1", n, d, seed)
    row = {"method": method, "d": d, "n": n, "seed": seed, "edges": int(truth.sum()), "limit": limit}
    import_all_of(WIDE_METHODS[method])
    try:
        (found, order), seconds, _ = timed(WIDE_METHODS[method], X, limit)
    except TooLongError:
        return [dict.fromkeys(WIDE, "") | row]
    row |= {"divergence": order_divergence(order, truth), "seconds": f"{seconds:.2f}"}
    return [row | {"shd": "" if found is None else measures(found, truth)["shd"]}]


def run(options):
    path = options.results / "alternatives.csv"
    done = {tuple(row[key] for key in KEY) for row in read(path)}
    # Seeds outermost: whenever the work stops, all methods have seen about the same tables.
    cells = [
        (family, graph, options.n, FIRST_SEED + seed, method)
        for seed in range(options.seeds) for graph in GRAPHS for family in FAMILIES for method in options.methods
    ]  # fmt: skip
    missing = [(*key, options.limit) for key in cells if tuple(map(str, key)) not in done]
    append_results(path, FIELDS, cell, missing, options.jobs, every=20)


def wide(options):
    path = options.results / "alternatives_wide.csv"
    done = {(row["method"], row["seed"]) for row in read(path)}
    methods = [name for name in WIDE_METHODS if name in options.methods or name not in METHODS]
    missing = [(name, 100, 1000, FIRST_SEED, 600) for name in methods if (name, str(FIRST_SEED)) not in done]
    append_results(path, WIDE, wide_cell, missing, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=["run", "wide", []], default=[], metavar="run|wide")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(OURS), metavar="NAME")
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=5, help="tables per family and graph")
    parser.add_argument("--limit", type=int, default=120, help="seconds of processor time that one fit may take")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "alternatives.md")
    options = parser.parse_args()
    for part in options.parts:
        {"run": run, "wide": wide}[part](options)
    if not options.parts:
        from alternatives_page import page, tables_page

        rows = read(options.results / "alternatives.csv")
        options.out.write_text(page(rows, read(options.results / "alternatives_wide.csv")), encoding="utf-8")
        for n in sorted({int(row["n"]) for row in rows}):
            path = options.out.parent / "results" / f"alternatives-{n}.md"
            path.write_text(tables_page(rows, n), encoding="utf-8")


if __name__ == "__main__":
    main()
