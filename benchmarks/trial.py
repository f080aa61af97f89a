"""Is the demo's seed a lucky one? `python benchmarks/trial.py [run] [--jobs N]`.

`run` fits HOST() to the trial of the demo with 20 fresh seeds and stores a row each in benchmarks/results/trial.csv;
what is there is not run again. Without it, only the paragraph between the two marks of docs/demo.md is written. The trial
itself was chosen on seeds 0 to 3.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import warnings
from pathlib import Path

from rows import RESULTS, append_results, read

SEEDS = range(1000, 1020)
STORE, PAGE = RESULTS / "trial.csv", Path(__file__).resolve().parents[1] / "docs" / "demo.md"
BEGIN, END = "<!-- trial:begin -->\n", "<!-- trial:end -->\n"
FIELDS = ("seed", "right", "turned", "missing", "extra", "open", "trust")


def cell(seed):
    """Return how the learned graph of one trial compares with the true one."""
    from heterodag import HOST
    from heterodag.datasets import simulate_trial

    trial = simulate_trial(random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HOST().fit(trial.data)
    true, found = trial.adjacency.astype(bool), model.adjacency_.astype(bool)
    right, turned = int((true & found).sum()), int((true & found.T).sum())
    extra = int((found & ~true & ~true.T).sum())
    row = (seed, right, turned, int(true.sum()) - right - turned, extra, int(model.open_.sum()), model.trust().worst)
    return [dict(zip(FIELDS, row, strict=True))]


def sentence(rows):
    """Return the paragraph of the page."""
    total = len(rows)
    whole = sum(int(row["right"]) == 6 for row in rows)
    exact = sum(int(row["right"]) == 6 and row["extra"] == "0" for row in rows)
    counts = {name: sum(int(row[name]) for row in rows) for name in ("turned", "missing", "extra", "open")}
    green = sum(row["trust"] == "green" for row in rows)
    first, last = rows[0]["seed"], rows[-1]["seed"]
    return (
        f"**Is this a lucky seed?** `simulate_trial` was fitted with {total} other seeds, {first} to {last}. All six "
        f"arrows were found, in the right\ndirection, in {whole} of {total} tables, and nothing else in {exact} of {total}. "
        f"Of {6 * total} arrows, {counts['turned']} pointed the wrong way, {counts['missing']} were\nmissing and "
        f"{counts['open']} were left open; {counts['extra']} were too many. The trust box was green in {green} of {total}. "
        "Made by\n`python benchmarks/trial.py run` ([rows](../benchmarks/results/trial.csv)).\n"
    )


def page(rows, text):
    """Return the text of the page with the paragraph of these rows."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + sentence(sorted(rows, key=lambda row: int(row["seed"]))) + END + rest.split(END)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", nargs="?", choices=["run"])
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.run:
        known = {int(row["seed"]) for row in read(STORE)}
        append_results(STORE, FIELDS, cell, [(seed,) for seed in SEEDS if seed not in known], options.jobs)
    PAGE.write_text(page(read(STORE), PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
