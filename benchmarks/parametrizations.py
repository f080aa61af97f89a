"""Which parametrisation orders and predicts better: `python benchmarks/parametrizations.py [order] [edges] ...`.

Adds the missing rows to benchmarks/results/parametrizations_*.csv (so an interrupted run goes on where it stopped);
--out makes a Markdown summary of all stored rows.

`order`: order divergence and seconds of `causal_order(refine=False)` with every parametrisation, beside a sort by
marginal W, on the paper's simulation with nonlinear and linear mechanisms. `edges`: level and power of the likelihood
test under the true order. `heldout`: `compare_parametrizations` on such tables. `reference` (with --reference DIR): the
orders of the authors' nonlinear data sets, beside those of their own networks, as DIR/reference_host.csv has them.
Seeds start at 40000; constants were compared on seeds below 1000.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import csv
import time
import warnings
from pathlib import Path

import numpy as np

from heterodag import causal_order, metrics, recover_dag, simulate
from heterodag.core.graph import full_dag
from heterodag.core.normality import shapiro_wilk
from pages import with_version
from rows import FORMER, RESULTS, append_results

GRAPHS = (("ER", 1), ("ER", 2), ("SF", 1), ("SF", 2))
FIRST_SEED = 40_000


def marginal_sort(X):
    return np.argsort(-shapiro_wilk(np.ascontiguousarray(X.T)), kind="stable")


def ordered(X, method):
    """Return the order by one method and the processor seconds it took."""
    start = time.process_time()
    if method == "marginal-w":
        order = marginal_sort(X)
    elif method == "spline, refined":
        order = causal_order(X, **(FORMER | {"parametrization": "spline"})).order
    else:
        seed = {"random_state": 0} if method == "mlp" else {}
        order = causal_order(X, refine=False, **(FORMER | {"parametrization": method}), **seed).order
    return order, time.process_time() - start


def order_row(mechanism, version, n, graph, degree, seed, method):
    data = simulate(n, 10, graph, degree, mechanism, random_state=seed, version=version)
    order, seconds = ordered(data.X, method)
    return [{"od": metrics.order_divergence(order, data.adjacency), "seconds": round(seconds, 3)}]


def order_cells(args):
    settings = [("nonlinear", n, v) for v in ("text", "code") for n in (2000, 5000)]
    settings += [("linear", n, "text") for n in (500, 2000)]
    for mechanism, n, version in settings:
        for s in range(args.seeds):
            for graph, degree in GRAPHS:
                for method in args.methods:
                    yield mechanism, version, n, graph, degree, FIRST_SEED + s, method


def edge_rows(mechanism, version, n, graph, degree, seed, method):
    data = simulate(n, 6, graph, degree, mechanism, random_state=seed, version=version)
    pvalues = recover_dag(
        data.X, data.order, selection="likelihood-full", **(FORMER | {"parametrization": method})
    ).pvalues
    tested = full_dag(data.order).astype(bool)
    return [
        {"edge": int(e), "pvalue": float(f"{p:.3g}")}
        for e, p in zip(data.adjacency[tested], pvalues[tested], strict=True)
    ]


def edges_cells(args):
    for n in (500, 2000):
        for s in range(args.edge_seeds):
            for version in ("text", "code"):
                for mechanism in ("nonlinear", "linear"):
                    for method in ("linear", "spline"):
                        yield mechanism, version, n, "ER", 1, FIRST_SEED + s, method


def heldout_rows(mechanism, version, n, graph, degree, seed, method):
    from heterodag import compare_parametrizations

    data = simulate(n, 10, graph, degree, mechanism, random_state=seed, version=version)
    found = compare_parametrizations(data.X, data.order, parametrizations=(method,), random_state=0)
    return [{"loglik": round(float(found.frame["loglik"].median()), 5)}]


def heldout_cells(args):
    for mechanism in ("nonlinear", "linear"):
        for s in range(args.heldout_seeds):
            for graph, degree in GRAPHS:
                for method in ("linear", "spline", "mlp"):
                    yield mechanism, "text", 2000, graph, degree, FIRST_SEED + s, method


def reference_row(folder, mechanism, version, n, graph, degree, seed, method):
    if method == "authors":
        return [authors_row(folder, n, graph, degree, seed)]
    stored_set = np.load(folder / "sets" / f"{graph}{degree}_n{n}_d10_nonlin_s{seed}.npz")
    order, seconds = ordered(stored_set["X"], method)
    return [{"od": metrics.order_divergence(order, stored_set["A"]), "seconds": round(seconds, 3)}]


def authors_row(folder, n, graph, degree, seed):
    wanted = {"dag_type": graph, "k": str(degree), "n": str(n), "d": "10", "linear": "0", "seed": str(seed)}
    with open(folder / "reference_host.csv") as file:
        row = next(row for row in csv.DictReader(file) if wanted.items() <= row.items())
    return {"od": int(row["order_divergence"]), "seconds": float(row["t_order"])}


def reference_cells(args):
    for seed in range(3):
        for graph, degree in GRAPHS:
            for method in ("authors", "marginal-w", "linear", "mlp", "spline", "spline, refined"):
                yield "nonlinear", "authors", 5000, graph, degree, seed, method


KEYS = ("mechanism", "version", "n", "graph", "degree", "seed", "method")
PARTS = {
    "order": (order_cells, order_row, ("od", "seconds")),
    "edges": (edges_cells, edge_rows, ("edge", "pvalue")),
    "heldout": (heldout_cells, heldout_rows, ("loglik",)),
    "reference": (reference_cells, reference_row, ("od", "seconds")),
}


def stored(part):
    """Return the rows of a part that ran before, numbers as numbers."""
    path = RESULTS / f"parametrizations_{part}.csv"
    if not path.exists():
        return []
    with open(path) as file:
        return [{k: _number(v) for k, v in row.items()} for row in csv.DictReader(file)]


def _number(text):
    try:
        return float(text) if "." in text or "e" in text else int(text)
    except ValueError:
        return text


def run(part, args):
    """Append the rows of every cell that has none yet."""
    cells, work, columns = PARTS[part]
    done = {tuple(row[k] for k in KEYS) for row in stored(part)}
    wanted = [
        cell for cell in cells(args)
        if cell not in done and (part == "reference" or cell[-1] in (*args.methods, "marginal-w"))
    ]  # fmt: skip
    folder = (args.reference,) if part == "reference" else ()

    def cell_rows(*cell):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = work(*folder, *cell)
        return [dict(zip(KEYS, cell, strict=True)) | row for row in rows]

    append_results(RESULTS / f"parametrizations_{part}.csv", [*KEYS, *columns], cell_rows, wanted, 1)


def order_lines(rows):
    lines = ["### Order divergence, 10 columns, without refinement", ""]
    lines += [
        "| mechanisms | generator | n | tables | marginal W | linear | spline | mlp | spline / linear | spline / W |",
        "|---|" + "---|" * 9,
    ]
    for mechanism, version, n in sorted({(r["mechanism"], r["version"], r["n"]) for r in rows}):
        some = [r for r in rows if (r["mechanism"], r["version"], r["n"]) == (mechanism, version, n)]
        od = {m: [r["od"] for r in some if r["method"] == m] for m in ("marginal-w", "linear", "spline", "mlp")}
        mean = {m: np.mean(v) if v else np.nan for m, v in od.items()}
        cells = " | ".join(f"{mean[m]:.2f}" if od[m] else "" for m in od)
        ratios = f"{mean['spline'] / mean['linear']:.2f} | {mean['spline'] / mean['marginal-w']:.2f}"
        tables = "/".join(str(k) for k in sorted({len(v) for v in od.values() if v}, reverse=True))
        lines.append(f"| {mechanism} | {version} | {n} | {tables} | {cells} | {ratios} |")
    return [*lines, "", *seconds_lines(rows)]


def seconds_lines(rows):
    lines = ["### Processor seconds of one order, 10 columns (median)", ""]
    lines += ["| mechanisms | n | linear | spline | mlp | spline / linear |", "|---|" + "---|" * 5]
    for mechanism, n in sorted({(r["mechanism"], r["n"]) for r in rows}):
        time_of = {
            m: [r["seconds"] for r in rows if (r["mechanism"], r["n"], r["method"]) == (mechanism, n, m)]
            for m in ("linear", "spline", "mlp")
        }
        middle = {m: np.median(v) if v else np.nan for m, v in time_of.items()}
        cells = " | ".join(f"{middle[m]:.2f}" if time_of[m] else "" for m in time_of)
        lines.append(f"| {mechanism} | {n} | {cells} | {middle['spline'] / middle['linear']:.1f} |")
    return lines


def edges_lines(rows):
    lines = ["### Likelihood edge test, given a true order, ER-1, 6 columns", ""]
    lines += [
        "| mechanisms | n | parametrisation | null pairs | level 0.05 | level 0.001 | edges | power 0.001 |",
        "|---|" + "---|" * 7,
    ]
    for mechanism, n, method in sorted({(r["mechanism"], r["n"], r["method"]) for r in rows}):
        some = [r for r in rows if (r["mechanism"], r["n"], r["method"]) == (mechanism, n, method)]
        null, edge = (np.array([r["pvalue"] for r in some if r["edge"] == e]) for e in (0, 1))
        level = f"{(null < 0.05).mean():.3f} | {(null < 0.001).mean():.4f}"
        power = f"{len(edge)} | {(edge < 0.001).mean():.3f}"
        lines.append(f"| {mechanism} | {n} | {method} | {len(null)} | {level} | {power} |")
    return lines


def heldout_lines(rows):
    lines = ["### Held-out log-likelihood given the true predecessors, median variable, 2000 rows, 10 columns", ""]
    lines += ["| mechanisms | graphs | tables | linear | spline | mlp |", "|---|" + "---|" * 5]
    for mechanism in ("nonlinear", "linear"):
        for graph, degree in GRAPHS:
            some = [r for r in rows if (r["mechanism"], r["graph"], r["degree"]) == (mechanism, graph, degree)]
            found = {m: [r["loglik"] for r in some if r["method"] == m] for m in ("linear", "spline", "mlp")}
            cells = " | ".join(f"{np.mean(v):.3f}" if v else "" for v in found.values())
            lines.append(f"| {mechanism} | {graph}-{degree} | {len(found['spline'])} | {cells} |")
    return lines


def reference_lines(rows):
    lines = ["### The authors' nonlinear data sets, 5000 rows, 10 columns: order divergence", ""]
    methods = list(dict.fromkeys(r["method"] for r in rows))
    lines += ["| graphs | tables | " + " | ".join(methods) + " |", "|---|" + "---|" * (1 + len(methods))]
    for kinds in (*((g,) for g in GRAPHS), GRAPHS):
        some = [r for r in rows if (r["graph"], r["degree"]) in kinds]
        means = [np.mean([r["od"] for r in some if r["method"] == m]) for m in methods]
        name = "all" if len(kinds) > 1 else "{}-{}".format(*kinds[0])
        lines.append(f"| {name} | {len(some) // len(methods)} | " + " | ".join(f"{v:.2f}" for v in means) + " |")
    seconds = [np.median([r["seconds"] for r in rows if r["method"] == m]) for m in methods]
    lines.append("| seconds, median | | " + " | ".join(f"{v:.2g}" for v in seconds) + " |")
    return lines


LINES = {"order": order_lines, "edges": edges_lines, "heldout": heldout_lines, "reference": reference_lines}


WHAT = 'The figures were made with `form="natural"` and `noise="gaussian"`.'


def page(text):
    """Return the text of the page, tables of all stored rows between its two marks."""
    text = with_version(text, *(f"parametrizations_{part}.csv" for part in PARTS), what=WHAT)
    begin, end = "<!-- figures:begin -->", "<!-- figures:end -->"
    tables = "\n\n".join("\n".join(LINES[part](rows)) for part in PARTS if (rows := stored(part)))
    return text[: text.index(begin) + len(begin)] + "\n" + tables + "\n" + text[text.index(end) :]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help="of: " + ", ".join(PARTS))
    parser.add_argument("--methods", nargs="+", default=["marginal-w", "linear", "spline", "mlp"])
    parser.add_argument("--seeds", type=int, default=10, help="tables per setting of `order`")
    parser.add_argument("--edge-seeds", type=int, default=10, help="tables per setting of `edges`")
    parser.add_argument("--heldout-seeds", type=int, default=3, help="tables per setting of `heldout`")
    parser.add_argument("--reference", type=Path, help="folder of the authors' data sets, for `reference`")
    parser.add_argument("--out", type=Path, help="Markdown page whose figures to replace by all rows stored so far")
    args = parser.parse_args()
    if "reference" in args.parts and args.reference is None:
        parser.error("reference needs --reference DIR, the folder of the authors' data sets")
    RESULTS.mkdir(exist_ok=True)
    for part in args.parts:
        run(part, args)
        print("\n".join(LINES[part](stored(part))), "\n", flush=True)
    if args.out:
        args.out.write_text(page(args.out.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
