"""What prior knowledge does to the order: `python benchmarks/knowledge.py [run]`.

For every random graph, random knowledge that it obeys is drawn (edges, non-edges, tiers, roots, leaves); the output of
HOST() is checked against it. Then a share of the true edges is required, and the order divergence is measured. `run` makes
one row per graph in benchmarks/results/knowledge.csv, graphs done before are kept; without it, only
docs/knowledge-results.md is made from the rows.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import warnings

import numpy as np

from heterodag import HOST, PriorKnowledge, causal_order, metrics, simulate
from heterodag.core.graph import topological_order
from pages import DOCS, made_with, prose, rows_in
from rows import RESULTS, append_results, read

GRAPHS = (("ER", 1), ("ER", 2), ("SF", 1), ("SF", 2))
SHARES = (0.0, 0.3, 0.6, 1.0)
FIRST_SEED, D, N = 10_000, 10, 500
STORE = RESULTS / "knowledge.csv"
FIELDS = (
    "graph",
    "seed",
    "edges",
    "violations",
    "violations_without",
    *(f"divergence_{share:g}" for share in SHARES),
)


def random_knowledge(rng, adjacency):
    """Draw knowledge that the graph obeys, of every kind."""
    order = topological_order(adjacency)
    absent = (adjacency == 0) & ~np.eye(len(order), dtype=bool)
    cut = int(rng.integers(1, len(order)))

    def some(items, share):
        return [item for item in items if rng.random() < share]

    return PriorKnowledge(
        required=some(map(tuple, np.argwhere(adjacency).tolist()), 0.3),
        forbidden=some(map(tuple, np.argwhere(absent).tolist()), 0.2),
        tiers=[some(order[:cut].tolist(), 0.5), some(order[cut:].tolist(), 0.5)] if rng.random() < 0.5 else [],
        roots=some(np.flatnonzero(adjacency.sum(axis=0) == 0).tolist(), 0.3),
        leaves=some(np.flatnonzero(adjacency.sum(axis=1) == 0).tolist(), 0.3),
    )


def run(seed):
    graph, degree = GRAPHS[seed % len(GRAPHS)]
    data = simulate(N, D, graph, degree, random_state=seed)
    rng = np.random.default_rng([seed, 1])
    known = random_knowledge(rng, data.adjacency)
    resolved = known.resolve(None, D)
    ranks = rng.permutation(int(data.adjacency.sum()))
    row = {"graph": f"{graph}-{degree}", "seed": seed, "edges": len(ranks)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told, free = (HOST(prior_knowledge=k).fit(data.X) for k in (known, None))
        row["violations"] = len(resolved.violations(told.adjacency_)) + (not resolved.respects_order(told.order_))
        row["violations_without"] = len(resolved.violations(free.adjacency_))
        for share in SHARES:
            edges = np.argwhere(data.adjacency)[ranks < round(share * len(ranks))]
            required = PriorKnowledge(required=[tuple(edge) for edge in edges.tolist()])
            order = causal_order(data.X, prior_knowledge=required).order
            row[f"divergence_{share:g}"] = metrics.order_divergence(order, data.adjacency)
    return [row]


HEAD = """# Prior knowledge

Does HOST obey what you tell it about the graph, and does telling it help? It broke the knowledge it was given in
{broken} of {graphs} graphs; without being told, its graph disagreed with that knowledge in {without}. If 30 % of
the true edges are required, the mean {order_divergence} falls from {none:.2f} to {some:.2f}. That is about the share
that was told: the order of the other edges hardly gains.

{version}

The tables come from the paper's linear simulation: {d} columns, {n} rows, seeds from {seed}, on which nothing was chosen.
Written by `python benchmarks/knowledge.py` from {file}; the same command with `run` makes the rows."""


def page(rows):
    none, some = (np.mean([float(r[f"divergence_{share:g}"]) for r in rows]) for share in SHARES[:2])
    broken, without = (sum(int(r[key]) > 0 for r in rows) for key in ("violations", "violations_without"))
    head = prose(
        HEAD, broken=broken, graphs=len(rows), without=without, none=none, some=some, d=D, n=N, seed=FIRST_SEED,
        version=made_with(STORE.name), file=rows_in(STORE.name),
    )  # fmt: skip
    lines = [
        head,
        "",
        "## Is it obeyed?",
        "",
        "Random knowledge that the true graph obeys: required and forbidden edges, tiers, roots, leaves.",
        "",
        "| graphs | results that break it | results of HOST without it that break it |",
        "|---|---|---|",
        f"| {len(rows)} | {broken} | {without} |",
        "",
        "## Does it help?",
        "",
        "A share of the true edges is required. Mean order divergence (true edges that point against the order), with",
        "standard errors over graphs, beside the mean number of true edges.",
        "",
        "| graphs | edges | " + " | ".join(f"{100 * share:.0f} % required" for share in SHARES) + " |",
        "|---|---|" + "---|" * len(SHARES),
    ]
    for kind in [*dict.fromkeys(r["graph"] for r in rows), "all"]:
        some = [r for r in rows if kind in (r["graph"], "all")]
        cells = []
        for share in SHARES:
            values = np.array([float(r[f"divergence_{share:g}"]) for r in some])
            cells.append(f"{values.mean():.2f} ± {values.std(ddof=1) / np.sqrt(len(values)):.2f}")
        edges = np.mean([int(r["edges"]) for r in some])
        lines.append(f"| {kind} ({len(some)}) | {edges:.1f} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", nargs="?", choices=["run"])
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    if args.command:
        done = {int(row["seed"]) for row in read(STORE)}
        seeds = [(FIRST_SEED + k,) for k in range(args.graphs) if FIRST_SEED + k not in done]
        append_results(STORE, FIELDS, run, seeds, args.jobs, every=20)
    else:
        (DOCS / "knowledge-results.md").write_text(page(read(STORE)), encoding="utf-8")


if __name__ == "__main__":
    main()
