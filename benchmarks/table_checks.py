"""Does the check of a table find what is wrong, and nothing else? `python benchmarks/table_checks.py [run|harm] [--jobs N]`.

`run` checks tables with made defects and clean ones (benchmarks/results/table_checks.csv), `harm` fits HOST() to tables
with defects of growing strength (benchmarks/results/table_checks_harm.csv); what is there is not run again. Without a
command, only docs/data-check.md is made from the rows.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import warnings
from pathlib import Path

import numpy as np

from rows import RESULTS, append_results, read
from table_defects import DEFECTS, DEPENDENT, HARMS

#: Thresholds were chosen on seeds below 3000.
FIRST_SEED, TABLES, HARM_TABLES = 75_000, 60, 20
FIELDS = ("kind", "name", "strength", "n", "d", "seed", "found", "severity", "checks")
HARM_FIELDS = ("name", "strength", "seed", "true", "wrong")
STORE, HARM = RESULTS / "table_checks.csv", RESULTS / "table_checks_harm.csv"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "data-check.md"

#: Mean, spread and noise of the tables that get a defect.
WORLDS = (
    ("straight", "constant", "mixed"), ("curved", "constant", "normal"), ("straight", "straight", "normal"),
    ("curved", "curved", "mixed"), ("none", "curved", "normal"), ("straight", "constant", "uniform"),
)  # fmt: skip
PAPER = tuple((mean, None, version) for mean in ("linear", "nonlinear") for version in ("text", "code"))
CLEAN_ROWS, CLEAN_COLUMNS, PAPER_TIMES = (100, 300, 1000, 5000), (3, 10, 20, 40), 5


def table_of(world, n, d, seed, degree=1):
    from heterodag import simulate

    mean, spread, last = world
    kind, degree = ("ER", "SF")[seed % 2], 1 if d == 3 else degree
    if spread is None:
        return simulate(n, d, kind, degree, mean, version=last, random_state=seed).X
    return simulate(n, d, kind, degree, mean, spread=spread, noise=last, random_state=seed).X


def row_of(kind, name, strength, X, seed, wanted=()):
    from heterodag import check_table

    told = check_table(X).of("amber", "red")
    worst = "red" if any(one.severity == "red" for one in told) else "amber" if told else "green"
    own = [one for one in told if one.check in wanted]
    found = "red" if any(one.severity == "red" for one in own) else "amber" if own else ""
    checks = ";".join(sorted({one.check for one in told}))
    return {"kind": kind, "name": name, "strength": strength, "n": X.shape[0], "d": X.shape[1], "seed": seed,
            "found": found, "severity": worst, "checks": checks}  # fmt: skip


def run_defect(number, strength, seed):
    defect = DEFECTS[number]
    X = table_of(WORLDS[seed % 6], (300, 1000)[seed // 6 % 2], (5, 20)[seed // 12 % 2], seed)
    rng = np.random.default_rng([seed, number])
    X = np.asarray(defect.make(X, rng, strength), dtype=float)
    return [row_of("defect", defect.name, strength, X, seed, defect.checks)]


def run_clean(world, n, d, seed):
    name = "/".join(part for part in world if part)
    return [row_of("clean", name, "", table_of(world, n, d, seed, 1 + seed // 2 % 2), seed)]


def cells_to_run():
    """Return the cells with what names their rows: (kind, name, strength, n, seed)."""
    from heterodag.simulation.worlds import MEANS, NOISES, SPREADS

    defects = [
        (("defect", defect.name, str(s), seed), (number, s, seed))
        for number, defect in enumerate(DEFECTS)
        for s in defect.strengths
        for seed in range(FIRST_SEED, FIRST_SEED + TABLES)
    ]
    worlds = [(mean, spread, noise) for mean in MEANS for spread in SPREADS for noise in NOISES]
    clean, seed = [], FIRST_SEED
    for world in [*worlds, *(PAPER * PAPER_TIMES)]:
        for n in CLEAN_ROWS:
            for d in CLEAN_COLUMNS:
                clean.append((("clean", "/".join(p for p in world if p), "", seed), (world, n, d, seed)))
                seed += 1
    return defects, clean


def run_harm(number, strength, seed):
    from heterodag import HOST, metrics, simulate

    defect = HARMS[number]
    rng = np.random.default_rng([seed, number])
    mean, spread, noise = WORLDS[seed % 3]
    data = simulate(500, 5, "ER", 1, mean, spread=spread, noise=noise, random_state=seed)
    X, truth = (
        (rng.standard_normal((500, 5)), 0 * data.adjacency) if defect.name in DEPENDENT else (data.X, data.adjacency)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learned = HOST(data_check="ignore").fit(np.asarray(defect.make(X, rng, strength), dtype=float)).adjacency_
    wrong = int(metrics.shd(learned, truth))
    true = int(truth.sum())
    return [{"name": defect.name, "strength": strength, "seed": seed, "true": true, "wrong": wrong}]


def run(jobs):
    done = {(r["kind"], r["name"], r["strength"], int(r["seed"])) for r in read(STORE)}
    defects, clean = cells_to_run()
    append_results(STORE, FIELDS, run_defect, [cell for key, cell in defects if key not in done], jobs, 500)
    append_results(STORE, FIELDS, run_clean, [cell for key, cell in clean if key not in done], jobs, 200)


def harm(jobs):
    done = {(r["name"], r["strength"], int(r["seed"])) for r in read(HARM)}
    todo = [
        (number, s, seed)
        for number, defect in enumerate(HARMS)
        for s in defect.strengths
        for seed in range(FIRST_SEED, FIRST_SEED + HARM_TABLES)
        if (defect.name, str(s), seed) not in done
    ]
    append_results(HARM, HARM_FIELDS, run_harm, todo, jobs)


def main():
    parser = argparse.ArgumentParser(description="What the check of a table finds, and its false alarms.")
    parser.add_argument("command", nargs="?", choices=["run", "harm"])
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.command:
        {"run": run, "harm": harm}[options.command](options.jobs)
    from table_checks_page import page

    PAGE.write_text(page(read(STORE), read(HARM)), encoding="utf-8")
    print("wrote docs/data-check.md")


if __name__ == "__main__":
    main()
