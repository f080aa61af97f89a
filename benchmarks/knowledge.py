"""What prior knowledge does to the order: `python benchmarks/knowledge.py [--graphs 200]`.

For every random graph, random knowledge that it obeys is drawn (edges, non-edges, tiers, roots, leaves); the output of
HOST is checked against it. Then a share of the true edges is required, and the order divergence is measured. One row
per graph goes to benchmarks/results/knowledge.csv, graphs done before are kept; the page is made from all rows.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from heterodag import HOST, PriorKnowledge, causal_order, metrics, simulate
from heterodag.core.graph import topological_order
from pages import prose, rows_in

ROOT = Path(__file__).resolve().parents[1]
GRAPHS = (("ER", 1), ("ER", 2), ("SF", 1), ("SF", 2))
SHARES = (0.0, 0.3, 0.6, 1.0)
FIRST_SEED, D, N = 10_000, 10, 500


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
        told, free = (
            HOST(prior_knowledge=k, selection="partial-correlation", refine=False).fit(data.X) for k in (known, None)
        )
        row["violations"] = len(resolved.violations(told.adjacency_)) + (not resolved.respects_order(told.order_))
        row["violations_without"] = len(resolved.violations(free.adjacency_))
        for share in SHARES:
            edges = np.argwhere(data.adjacency)[ranks < round(share * len(ranks))]
            required = PriorKnowledge(required=[tuple(edge) for edge in edges.tolist()])
            order = causal_order(data.X, prior_knowledge=required, refine=False).order
            row[f"divergence_{share:g}"] = metrics.order_divergence(order, data.adjacency)
    return row


HEAD = """# Prior knowledge

Does HOST obey what you tell it about the graph, and does telling it help? It broke the knowledge it was given in
{broken} of {graphs} graphs; without being told, its graph disagreed with that knowledge in {without}. If 30 % of
the true edges are required, the mean {order_divergence} falls from {none:.2f} to {some:.2f}.

**Version.** The orders here are the paper's, without refinement (`refine=False`), with straight lines and normal
noise. The rows were made with the version after 0.1.0.

The tables come from the paper's linear simulation: {d} columns, {n} rows, seeds from {seed}. Written by `python
benchmarks/knowledge.py` from {file}."""


def page(rows):
    none, some = (np.mean([float(r[f"divergence_{share:g}"]) for r in rows]) for share in SHARES[:2])
    broken, without = (sum(int(r[key]) > 0 for r in rows) for key in ("violations", "violations_without"))
    head = prose(
        HEAD, broken=broken, graphs=len(rows), without=without, none=none, some=some, d=D, n=N, seed=FIRST_SEED,
        file=rows_in("knowledge.csv"),
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


def read(path):
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks" / "results" / "knowledge.csv")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "knowledge-results.md")
    args = parser.parse_args()
    done = {int(row["seed"]) for row in read(args.results)}
    seeds = [FIRST_SEED + k for k in range(args.graphs) if FIRST_SEED + k not in done]
    new = not args.results.exists()
    with args.results.open("a", encoding="utf-8", newline="") as file:
        writer = None
        for row in Parallel(args.jobs, return_as="generator_unordered")(delayed(run)(seed) for seed in seeds):
            if writer is None:
                writer = csv.DictWriter(file, list(row), lineterminator="\n")
                if new:
                    writer.writeheader()
            writer.writerow(row)
            file.flush()
    args.out.write_text(page(sorted(read(args.results), key=lambda r: int(r["seed"]))), encoding="utf-8")
    print(f"wrote {args.out.name}")


if __name__ == "__main__":
    main()
