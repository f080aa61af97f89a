"""Level and power of every edge test: `python benchmarks/calibration.py [run] [--runs 400] [--tests ...]`.

Every run draws predecessors P and a target y, and asks each test twice: for a predecessor that is no cause,
and for one that is, both given all the others. Rows go to a CSV file as they come; what is there is not run
again (delete the rows of a test that has changed). Without `run`, only the page is made from that file. Data
depend on (scenario, n, run) only: another test changes no number.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import inspect
import math
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

from heterodag.core.table import Table
from heterodag.independence.gam import gam
from heterodag.independence.gcm import gcm
from heterodag.independence.partial_correlation import partial_correlation
from heterodag.scores.make import score_settings
from heterodag.simulation import simulate
from heterodag.simulation.worlds import draw_noise
from pages import details, made_with, prose, rows_in
from rows import RESULTS, append_results, read

FIELDS = ("test", "scenario", "n", "run", "p_null", "p_cause", "seconds", "error")
SIZES = (500, 2000)
LEVELS = (0.05, 0.001)
#: Scenario and number of rows of the figures at the top of the page.
HEAVY = ("heavy-tailed", "500")
#: A level counts as failed if this many rejections, or more, had less than this chance; three standard errors.
CHANCE = 0.00135


# --- scenarios: rng, n -> predecessors, target, column of a null, column of a cause -------------------------

Draw = tuple[np.ndarray, np.ndarray, int, int]


def correlated(rng: np.random.Generator, n: int) -> np.ndarray:
    cause = rng.standard_normal(n)
    return np.column_stack([cause] + [0.6 * cause + 0.8 * rng.standard_normal(n) for _ in range(2)])


def homoscedastic(rng: np.random.Generator, n: int) -> Draw:
    P = correlated(rng, n)
    return P, 0.2 * P[:, 0] + rng.standard_normal(n), 1, 0


def heteroscedastic(rng: np.random.Generator, n: int) -> Draw:
    P = correlated(rng, n)
    # The paper's linear mechanism with one parent: both exponents run from -4 to 4 over the sample.
    e = 8 * (P[:, 0] - P[:, 0].min()) / np.ptp(P[:, 0]) - 4
    eta1, eta2 = -e, -np.exp(e)
    return P, -eta1 / (2 * eta2) + rng.standard_normal(n) / np.sqrt(-2 * eta2), 1, 0


def heavy_tailed(rng: np.random.Generator, n: int) -> Draw:
    while True:
        data = simulate(n, 8, "ER", 2, random_state=int(rng.integers(2**31)))
        for place in range(7, 1, -1):
            target, before = data.order[place], data.order[:place]
            is_cause = data.adjacency[before, target] == 1
            if 0 < is_cause.sum() < place:
                null, cause = (int(rng.choice(np.flatnonzero(mask))) for mask in (~is_cause, is_cause))
                return data.X[:, before], data.X[:, target], null, cause


def variance_only(rng: np.random.Generator, n: int) -> Draw:
    P = correlated(rng, n)
    return P, 0.5 * P[:, 1] + np.exp(P[:, 0] / 2) * rng.standard_normal(n), 2, 0


def other_noise(kind: str, rng: np.random.Generator, n: int) -> Draw:
    P = correlated(rng, n)
    noise = draw_noise(kind, (n, 1), rng, rng)[:, 0]
    return P, 0.25 * P[:, 0] + np.exp(0.25 * P[:, 0]) * noise, 1, 0


SCENARIOS: dict[str, tuple[Callable[[np.random.Generator, int], Draw], str]] = {
    "homoscedastic": (
        homoscedastic,
        "`y = 0.2 c + E`; the null column has correlation 0.6 with the cause c.",
    ),
    "heteroscedastic": (
        heteroscedastic,
        "Mean and variance of y move with c by the paper's linear mechanism; the null column has correlation "
        "0.6 with c.",
    ),
    "heavy-tailed": (
        heavy_tailed,
        "The paper's simulator (ER-2, d = 8, linear): a node given all its predecessors in a true order. The "
        "mean is no sum of functions of single parents, and predecessors have outliers of many standard "
        "deviations.",
    ),
    "variance-only": (
        variance_only,
        "The cause moves the variance alone (`sigma = exp(c / 2)`), another column moves the mean: the power "
        "of a test of the mean is its level here.",
    ),
} | {
    f"{kind} noise": (
        partial(other_noise, kind),
        f"`y = c / 4 + exp(c / 4) E` with {words} noise E; the null column has correlation 0.6 with the cause c.",
    )
    for kind, words in (
        ("exponential", "skewed (exponential)"),
        ("t", "heavy-tailed (t with five degrees of freedom)"),
        ("bimodal", "bimodal"),
    )
}  # fmt: skip


# --- tests --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """A test (called with x, y, Z and a seed), how many runs it is given at most, and for which n."""

    call: Callable[..., float]
    most_runs: int = 10**9
    largest_n: int = 10**9


def plain(test: Callable[..., float]) -> Callable[..., float]:
    return partial(_without_seed, test)


def _without_seed(test: Callable[..., float], x: Any, y: Any, Z: Any, seed: int) -> float:
    return test(x, y, Z)


def _late(module: str, name: str, options: dict[str, Any], x: Any, y: Any, Z: Any, seed: int) -> float:
    """Call a test of a module that is imported only here: it may need an extra, or not be written yet."""
    test = getattr(importlib.import_module(f"heterodag.independence.{module}"), name)
    seeded = "random_state" in inspect.signature(test).parameters
    return float(test(x, y, Z, **options, **({"random_state": seed} if seeded else {})))


def _causal_learn(name: str, x: Any, y: Any, Z: Any, seed: int) -> float:
    from heterodag.independence.adapters import causal_learn

    return causal_learn(name)(x, y, Z)


def _one_side(hypothesis: str, x: Any, y: Any, Z: Any, seed: int) -> float:
    """Test the effect of x on the mean or on the spread of y alone, mechanisms and noise chosen."""
    settings = score_settings("auto", "location-scale", "auto")
    table = Table.standardize(np.column_stack([y, x, Z]))
    key = (0, tuple(range(1, table.shape[1])))
    fitter = settings.fitter(np.random.SeedSequence(0))
    return float(fitter.without(table, key, [0]).pvalues[hypothesis][0])


def available() -> dict[str, Entry]:
    """Return the tests that can run here, by name."""
    tests = {
        "partial-correlation": Entry(plain(partial_correlation)),
        "partial-correlation spearman": Entry(plain(partial(partial_correlation, method="spearman"))),
        "gam": Entry(plain(gam)),
        "gam classical": Entry(plain(partial(gam, covariance="classical"))),
        "gcm linear": Entry(plain(partial(gcm, regressor="linear"))),
        "gcm": Entry(plain(gcm)),
    }
    if found("heterodag.independence.likelihood"):
        for form in ("natural", "location-scale"):
            call = partial(_late, "likelihood", "likelihood", {"form": form, "parametrization": "linear"})
            tests["likelihood-full" if form == "natural" else f"likelihood-full {form}"] = Entry(call)
        auto = dict.fromkeys(("parametrization", "form", "noise"), "auto")
        tests["likelihood-full auto"] = Entry(partial(_late, "likelihood", "likelihood", auto))
        for name, hypothesis in (("mean", "mean"), ("spread", "variance")):
            tests[f"likelihood-full auto, {name}"] = Entry(partial(_one_side, hypothesis))
    if found("heterodag.independence.lcit") and found("torch"):
        tests["lcit"] = Entry(partial(_late, "lcit", "lcit", {}))
    if found("causallearn"):
        tests["fisherz"] = Entry(partial(_causal_learn, "fisherz"))
        tests["kci"] = Entry(partial(_causal_learn, "kci"), most_runs=100, largest_n=500)
    return tests


def found(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


# --- runs ---------------------------------------------------------------------------------------------------


def run_cell(scenario: str, n: int, run: int, tests: dict[str, Entry]) -> list[dict[str, Any]]:
    """Draw the data of one run and return one row per test; a test that fails is a row too."""
    seed = np.random.SeedSequence([zlib.crc32(scenario.encode()), n, run])
    P, y, null, cause = SCENARIOS[scenario][0](np.random.default_rng(seed), n)
    own = int(seed.generate_state(1)[0])
    rows = []
    for name, entry in tests.items():
        row: dict[str, Any] = {"test": name, "scenario": scenario, "n": n, "run": run, "error": ""}
        start = time.perf_counter()
        try:
            for field, column in (("p_null", null), ("p_cause", cause)):
                row[field] = f"{entry.call(P[:, column], y, np.delete(P, column, axis=1), own):.6g}"
        except Exception as error:
            row["error"] = f"{type(error).__name__}: {error}"[:200]
        row["seconds"] = f"{(time.perf_counter() - start) / 2:.5f}"
        rows.append(row)
    return rows


def missing(
    tests: dict[str, Entry], sizes: list[int], runs: int, rows: list[dict[str, str]]
) -> Iterator[tuple[str, int, int, dict[str, Entry]]]:
    done = {(row["test"], row["scenario"], int(row["n"]), int(row["run"])) for row in rows}
    for run in range(runs):
        for scenario in SCENARIOS:
            for n in sizes:
                left = {
                    name: entry
                    for name, entry in tests.items()
                    if run < entry.most_runs and n <= entry.largest_n and (name, scenario, n, run) not in done
                }
                if left:
                    yield scenario, n, run, left


# --- the page -----------------------------------------------------------------------------------------------


#: The order of the tests on the page, whatever can run here.
ORDER = (
    "partial-correlation", "partial-correlation spearman", "gam", "gam classical", "gcm linear", "gcm", "likelihood-full",
    "likelihood-full location-scale", "likelihood-full auto", "likelihood-full auto, mean", "likelihood-full auto, spread",
    "lcit", "fisherz", "kci",
)  # fmt: skip
WHAT = """`likelihood-full auto` lets mechanisms and noise compete, as `HOST()` does; `auto, mean` and `auto, spread` are
its tests of one side, in location-scale form. The other likelihood tests have straight lines and normal noise."""
HEAD = """# Calibration of the edge tests

An edge test at level 0.05 should draw 5 % of the edges that do not exist. Do the tests keep this promise when the
spread moves? Only some: on the paper's own data (*heavy-tailed*, {n} rows) partial correlations draw {partial:.1f}
% of the absent edges, the classical GAM test {gam:.1f} %, `lcit` {lcit:.1f} %, `likelihood-full` {full:.1f} %, and
the same test with competing mechanisms {auto:.1f} %. (`HOST()` itself uses `likelihood`, which selects before it tests and
keeps no level.) And tests of the mean do not see
a cause that moves only the spread.

{version}

- *False alarms* (level): share of runs with a p-value below 0.05 (or 0.001) for a predecessor that is no cause, in
  per cent. **Bold** ✗: the level fails. A test that keeps its level would reject that often once in 740 tries
  (exact binomial, the chance of three standard errors).
- *Power*: the same share for a predecessor that is a cause.
- At a level of 5 %, the standard error of a share is about 1 point with 400 runs and 2.5 points with 80 (`auto`, by
  `--runs 80`). Some tests have fewer runs than others: {fewest}.
  The [whole table](results/calibration.csv) (CSV) has runs, standard errors, power at 0.05, failures and times.
- Times in that table are those of the fastest tenth, one test on one core of a busy machine: take them as orders
  of magnitude.

Seeds follow from the scenario, the number of rows and the run. No constant was chosen on these runs, but the tests of one
side were replaced by others once, after a first look at them. Written by `python benchmarks/calibration.py` from {file};
the same command with `run` makes the rows.

## The data"""
SUMMARY = (
    "scenario", "n", "test", "runs", "failed", "level_0.05", "level_0.05_se", "level_0.05_fails", "level_0.001",
    "level_0.001_se", "level_0.001_fails", "power_0.05", "power_0.05_se", "power_0.001", "power_0.001_se", "milliseconds",
)  # fmt: skip


def rate_of(values: np.ndarray, level: float) -> tuple[float, float]:
    """Return the share below the level and its binomial standard error, in per cent."""
    rate, runs = float(np.mean(values < level)), len(values)
    # The error of a rate of 0 or 1 would be 0: one more success and one more failure avoid that.
    smooth = (rate * runs + 1) / (runs + 2)
    return 100 * rate, 100 * math.sqrt(smooth * (1 - smooth) / runs)


def fails(values: np.ndarray, level: float) -> bool:
    """Say whether a test that keeps its level would hardly reject as often as this one."""
    return bool(binom.sf(int(np.sum(values < level)) - 1, len(values), level) < CHANCE)


def summary(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return one line per scenario, number of rows and test, with everything that was measured."""
    groups: dict[tuple[str, int, str], list[dict[str, str]]] = {}
    for row in rows:
        groups.setdefault((row["scenario"], int(row["n"]), row["test"]), []).append(row)
    lines = []
    for (scenario, n, test), mine in sorted(groups.items(), key=lambda item: place(*item[0])):
        good = [row for row in mine if not row["error"]]
        if not good:
            continue
        line = {
            "scenario": scenario,
            "n": str(n),
            "test": test,
            "runs": str(len(good)),
            "failed": str(len(mine) - len(good)),
        }
        for kind, field in (("level", "p_null"), ("power", "p_cause")):
            values = np.array([float(row[field]) for row in good])
            for level in LEVELS:
                rate, error = rate_of(values, level)
                line |= {f"{kind}_{level}": f"{rate:.1f}", f"{kind}_{level}_se": f"{error:.1f}"}
                if kind == "level":
                    line[f"level_{level}_fails"] = "yes" if fails(values, level) else ""
        line["milliseconds"] = f"{1000 * float(np.quantile([float(row['seconds']) for row in good], 0.1)):.3g}"
        lines.append(line)
    return lines


def place(scenario: str, n: int, test: str) -> tuple[int, int, int]:
    return list(SCENARIOS).index(scenario), n, ORDER.index(test)


def table(lines: list[dict[str, str]], n: int, key: str) -> Iterator[str]:
    """Yield the lines of a table of one figure: tests in lines, scenarios in columns."""
    found = {(line["scenario"], line["test"]): line for line in lines if line["n"] == str(n)}
    yield f"| test | {' | '.join(SCENARIOS)} |"
    yield "|---|" + "---:|" * len(SCENARIOS)
    for test in ORDER:
        cells = [found.get((scenario, test)) for scenario in SCENARIOS]
        if any(cells):
            yield f"| {test} | " + " | ".join(shown(line, key) for line in cells) + " |"


def shown(line: dict[str, str] | None, key: str) -> str:
    if line is None:
        return ""
    return f"**{line[key]}** ✗" if line.get(f"{key}_fails") else line[key]


def fewest_runs(lines: list[dict[str, str]]) -> str:
    """Return the least number of runs of every test that does not have all of them everywhere."""
    least: dict[str, int] = {}
    for line in lines:
        least[line["test"]] = min(least.get(line["test"], 10**9), int(line["runs"]))
    return ", ".join(f"`{test}` {count}" for test, count in least.items() if count < max(least.values()))


def page(rows: list[dict[str, str]]) -> str:
    lines, n = summary(rows), SIZES[0]
    heavy = {line["test"]: float(line["level_0.05"]) for line in lines if (line["scenario"], line["n"]) == HEAVY}
    head = prose(
        HEAD, n=n, partial=heavy["partial-correlation"], gam=heavy["gam classical"], lcit=heavy["lcit"],
        full=heavy["likelihood-full"], auto=heavy["likelihood-full auto"], version=made_with("calibration.csv", what=WHAT),
        file=rows_in("calibration.csv"), fewest=fewest_runs(lines),
    )  # fmt: skip
    text = [head, "", *(f"- *{scenario}*: {words}" for scenario, (_, words) in SCENARIOS.items())]
    for title, key in (
        ("False alarms at level 0.05, in per cent", "level_0.05"),
        ("False alarms at level 0.001, in per cent", "level_0.001"),
        ("Power at level 0.001, in per cent", "power_0.001"),
    ):
        text += ["", f"## {title}", "", f"{n} rows:", "", *table(lines, n, key), ""]
        for other in SIZES[1:]:
            text += details(f"{other} rows", table(lines, other, key))
    return "\n".join(text) + "\n"


def write_summary(path: Path, lines: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, SUMMARY, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Level and power of every edge test.")
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("command", nargs="?", choices=["run"], help="run tests; without it only the page is written")
    parser.add_argument("--tests", nargs="+", metavar="NAME", help="default: all that can run here")
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS.parents[1] / "docs" / "calibration.md")
    parser.add_argument("--results", type=Path, default=RESULTS / "calibration.csv")
    options = parser.parse_args()
    tests = available()
    unknown = sorted(set(options.tests or ()) - set(tests))
    if unknown:
        parser.error(f"unknown or unavailable tests: {', '.join(unknown)}; there are {', '.join(tests)}")
    chosen = {name: tests[name] for name in options.tests or tests}
    if options.command:
        cells = list(missing(chosen, options.sizes, options.runs, read(options.results)))
        append_results(options.results, FIELDS, run_cell, cells, options.jobs)
    rows = read(options.results)
    options.out.write_text(page(rows), encoding="utf-8")
    write_summary(options.out.parent / "results" / "calibration.csv", summary(rows))
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
