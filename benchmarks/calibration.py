"""Level and power of every edge test: `python benchmarks/calibration.py [--runs 400] [--tests ...]`.

Every run draws predecessors P and a target y, and asks each test twice: for a predecessor that is no cause,
and for one that is, both given all the others. Rows go to a CSV file as they come; what is there is not run
again (delete the rows of a test that has changed). The Markdown page is made from that file alone. Data
depend on (scenario, n, run) only: another test changes no number.
"""

from __future__ import annotations

import argparse
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
from rows import RESULTS, append_results, read

FIELDS = ("test", "scenario", "n", "run", "p_null", "p_cause", "seconds", "error")
SIZES = (500, 2000)
LEVELS = (0.05, 0.001)
#: A level counts as failed when so many rejections or more had less than this chance; three standard errors.
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


def share(values: np.ndarray, level: float, *, judged: bool) -> str:
    """Return the share below the level with its binomial standard error; a level that fails is marked."""
    rate, runs = float(np.mean(values < level)), len(values)
    # The error of a rate of 0 or 1 would be 0: one more success and one more failure avoid that.
    smooth = (rate * runs + 1) / (runs + 2)
    text = f"{100 * rate:.1f} ± {100 * math.sqrt(smooth * (1 - smooth) / runs):.1f}"
    fails = judged and binom.sf(round(rate * runs) - 1, runs, level) < CHANCE
    return f"**{text}** ✗" if fails else text


def table(rows: list[dict[str, str]], names: list[str]) -> Iterator[str]:
    yield "| test | n | runs | level 0.05 | level 0.001 | power 0.05 | power 0.001 | ms | failed |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for n in sorted({int(row["n"]) for row in rows}):
        for name in names:
            mine = [row for row in rows if row["test"] == name and int(row["n"]) == n]
            good = [row for row in mine if not row["error"]]
            if not good:
                continue
            null, cause = (np.array([float(row[f]) for row in good]) for f in ("p_null", "p_cause"))
            cells = [share(null, level, judged=True) for level in LEVELS]
            cells += [share(cause, level, judged=False) for level in LEVELS]
            duration = 1000 * float(np.quantile([float(row["seconds"]) for row in good], 0.1))
            numbers = [f"{duration:.3g}", str(len(mine) - len(good))]
            yield "| " + " | ".join([name, str(n), str(len(good)), *cells, *numbers]) + " |"


def page(rows: list[dict[str, str]]) -> str:
    names = list(dict.fromkeys(row["test"] for row in rows))
    known = [name for name in available() if name in names]
    order = known + [name for name in names if name not in known]
    lines = [
        "# Calibration of the edge tests",
        "",
        "`likelihood-full auto` lets mechanisms and noise compete, as the default does, and was run with the",
        "unreleased version; `auto, mean` and `auto, spread` are its tests of one side, in location-scale form. The other",
        "likelihood tests were run before the engine of the unreleased version; theirs may differ now.",
        "",
        "Made by `python benchmarks/calibration.py`. Shares of runs with a p-value below 0.05 and 0.001, in",
        "per cent with binomial standard errors. Level: for a predecessor that is no cause. Power: for one",
        "that is. **Bold** ✗: the level fails; a test that holds it would reject so often once in 740 tries",
        "(exact binomial, the chance of three standard errors). Times are those of the fastest tenth, one test on",
        "one core of a busy machine: read them as orders of magnitude.",
    ]
    for scenario, (_, text) in SCENARIOS.items():
        own = [row for row in rows if row["scenario"] == scenario]
        lines += ["", f"## {scenario.capitalize()}", "", text, "", *table(own, order)]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Level and power of every edge test.")
    parser.add_argument("--runs", type=int, default=400)
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
    cells = list(missing(chosen, options.sizes, options.runs, read(options.results)))
    append_results(options.results, FIELDS, run_cell, cells, options.jobs)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(page(read(options.results)), encoding="utf-8")
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
