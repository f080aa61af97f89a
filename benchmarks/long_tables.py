"""Tables longer than memory: `python benchmarks/long_tables.py [run] [--rows 1000000 ...] [--out docs/long-tables.md]`.

Twenty columns and forty edges, many of them weak: straight effects on the mean, bent ones on the spread, noise of four
kinds. A table is made million by million into a Parquet folder, fitted by `HOST(n_jobs=2)` in processes that are limited to
1.5 GB of memory each (`setrlimit`), and removed. Rows go to benchmarks/results/long_tables.csv as they come, and what is
there is not run again. Seeds start at 173000. With `--where memory` the same tables are fitted
from memory, without a limit. `ablation` fits tables of a million rows with one rule of long tables left out at a time, on
the seeds from 701 on that the rules were made on.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
# Arrow's own allocator reserves more than it uses, which a limit on memory would count.
os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from rows import RESULTS, append_results, read

D, DEGREE, FIRST_SEED, LIMIT = 20, 2, 173_000, 1_500_000_000
ROWS, FEW_SEEDS, MANY_SEEDS = (200_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000), 3, 10
PATH, ABLATION = RESULTS / "long_tables.csv", RESULTS / "long_tables_ablation.csv"
TUNING_SEEDS, ABLATED_ROWS = (701, 702, 703), 1_000_000
WITHOUT = {
    "nothing": "as it is",
    "curves": "lines where 50,000 rows see lines",
    "relatives": "every model chosen on its own",
    "turning": "directions of 10,000 rows",
    "tests": "evidence of edges by differences of losses alone",
    "credit": "all rows: edges of noise for variables without parents only",
}
FIELDS = (
    "where",
    "n",
    "seed",
    "edges",
    "order",
    "shd",
    "missed",
    "false",
    "seconds",
    "processor",
    "peak",
    "worker",
    "graph",
)
MILLION = 1_000_000
ON_MEAN, ON_SPREAD = (0.005, 0.8), (0.005, 0.4)


def draw_world(seed):
    """Return the adjacency, effects on mean and log spread, kinds of noise and scales of a table's variables."""
    from heterodag.simulation import simulate_graph

    rng, adjacency = np.random.default_rng([seed, 0]), simulate_graph(D, "ER", DEGREE, random_state=seed)

    def effects(low, high):
        size = np.exp(rng.uniform(np.log(low), np.log(high), (D, D)))
        return adjacency * size * rng.choice([-1.0, 1.0], (D, D))

    world = [adjacency, effects(*ON_MEAN), effects(*ON_SPREAD), rng.integers(4, size=D), np.ones(D)]
    for j in order_of(adjacency):  # one variable after the other: a scale needs those of its causes
        world[4][j] = draw_rows(world, 100_000, np.random.default_rng([seed, 1]))[:, j].std()
    return world


def order_of(adjacency):
    from heterodag.core.graph import topological_order

    return topological_order(adjacency)


def draw_rows(world, n, rng):
    adjacency, on_mean, on_spread, kinds, scale = world
    X = np.empty((n, D))
    draws = (
        rng.standard_normal, lambda n: rng.laplace(size=n) / np.sqrt(2.0), lambda n: rng.uniform(-1.0, 1.0, n) * 3**0.5,
        lambda n: rng.exponential(size=n) - 1.0,
    )  # fmt: skip
    for j in order_of(adjacency):
        causes = np.flatnonzero(adjacency[:, j])
        mean, log_spread = X[:, causes] @ on_mean[causes, j], np.tanh(X[:, causes]) @ on_spread[causes, j]
        X[:, j] = (mean + np.exp(log_spread) * draws[kinds[j]](n)) / scale[j]
    return X


def make(folder, n, seed):
    """Write the table; return its adjacency. The first rows of a longer table are those of a shorter one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    world = draw_world(seed)
    for k in range(-(-n // MILLION)):
        X = draw_rows(world, MILLION, np.random.default_rng([seed, 2, k]))[: n - k * MILLION]
        table = pa.table({f"x{j}": X[:, j] for j in range(D)})
        pq.write_table(table, folder / f"part{k:03d}.parquet", row_group_size=100_000, use_dictionary=False)
    return world[0]


def cell(where, n, seed, without="nothing"):
    """Make a table, fit it in a process of its own, remove it."""
    with tempfile.TemporaryDirectory(prefix="long-table-") as folder:
        adjacency = make(Path(folder), n, seed)
        command = [sys.executable, __file__, "one", "--folder", folder, "--where", where, "--without", without]
        limit = (lambda: resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))) if where == "disk" else None
        found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, preexec_fn=limit).stdout
    row = json.loads(found.splitlines()[-1])
    estimate, order = np.array(row.pop("adjacency")), row.pop("order")
    from heterodag import metrics

    return [row | {
        "where": where, "n": n, "seed": seed, "edges": int(adjacency.sum()),
        "order": metrics.order_divergence(order, adjacency), "shd": metrics.shd(estimate, adjacency),
        "missed": int(((estimate + estimate.T)[adjacency == 1] == 0).sum()),
        "false": int((estimate[(adjacency + adjacency.T) == 0] == 1).sum()),
        "graph": hash_of(estimate),
    }]  # fmt: skip


def ablated_cell(without, seed):
    return [row | {"without": without} for row in cell("disk", ABLATED_ROWS, seed, without)]


def leave_out(rule):
    """Let fits of this process do without one of the rules of long tables."""
    from heterodag.estimators import host
    from heterodag.scores import long, noise_choice

    if rule == "curves":
        long.LongScores._curves = False
    elif rule == "relatives":
        long.relative = lambda key, known: None
    elif rule == "turning":
        host.settled_directions = lambda found, graph, *others: (found, graph)
    elif rule == "tests":
        long.LongScores.tests_hold = False
    elif rule == "credit":
        noise_choice._credits = lambda *models: 0.0


def hash_of(estimate):
    import hashlib

    return hashlib.sha256(np.asarray(estimate, dtype=np.int8).tobytes()).hexdigest()[:12]


def one(folder, where, without):
    """Fit the table in a folder; print the row."""
    from heterodag import HOST, open_table

    leave_out(without)
    warnings.simplefilter("ignore")
    table = open_table(f"{folder}/*.parquet")
    data = table if where == "disk" else table.head(table.n_rows)
    before = time.perf_counter()
    model = HOST(n_jobs=2).fit(data)
    seconds = time.perf_counter() - before
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    peaks = [own.ru_maxrss / 1024 for own in used]
    print(json.dumps({
        "adjacency": model.adjacency_.tolist(), "order": model.order_.tolist(), "seconds": round(seconds, 1),
        "processor": round(sum(own.ru_utime + own.ru_stime for own in used), 1), "peak": round(peaks[0]),
        "worker": round(peaks[1]),
    }))  # fmt: skip


def cells(rows, seeds, where, skipped=0):
    done = {(r["where"], int(r["n"]), int(r["seed"])) for r in read(PATH)}
    for number in range(skipped, seeds):
        for n in rows:
            if (where, n, FIRST_SEED + number) not in done and (number < FEW_SEEDS or n <= MILLION):
                yield where, n, FIRST_SEED + number


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--rows", type=int, nargs="*", default=list(ROWS))
    parser.add_argument("--seeds", type=int, default=MANY_SEEDS)
    parser.add_argument("--skip", type=int, default=0, help="leave out this many seeds at the beginning")
    parser.add_argument("--where", default="disk", choices=["disk", "memory"])
    parser.add_argument("--folder")
    parser.add_argument("--without", default="nothing", choices=list(WITHOUT))
    parser.add_argument("--out")
    args = parser.parse_args()
    if "one" in args.parts:
        one(args.folder, args.where, args.without)
    if "run" in args.parts:
        append_results(PATH, FIELDS, cell, list(cells(args.rows, args.seeds, args.where, args.skip)), 1, every=1)
    if "ablation" in args.parts:
        done = {(row["without"], int(row["seed"])) for row in read(ABLATION)}
        left = [(rule, seed) for seed in TUNING_SEEDS for rule in WITHOUT if (rule, seed) not in done]
        append_results(ABLATION, ("without", *FIELDS), ablated_cell, left, 1, every=1)
    if args.out:
        from long_tables_page import write

        write(Path(args.out))


if __name__ == "__main__":
    main()
