"""Defects made on purpose, for benchmarks/table_checks.py: what each does to a table, and which checks should tell it."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Defect:
    """A defect: what its strength is, the strengths tried, the function (X, rng, strength) -> X, the checks that tell."""

    name: str
    unit: str
    strengths: tuple[float, ...]
    make: Any
    checks: tuple[str, ...] = ()


def standard(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


def some_column(X, rng):
    return int(rng.integers(X.shape[1]))


def autoregressive(X, rng, strength):
    """Let every row remember the one before; the rows of the table are what is new."""
    made = standard(X).copy()
    for i in range(1, len(made)):
        made[i] += strength * made[i - 1]
    return made


def units(X, rng, strength, size=5):
    """Repeat every unit five times in a row; the strength is the share of the variance that units have in common."""
    unit = np.repeat(np.arange(-(-len(X) // size)), size)[: len(X)]
    own = standard(X)[unit]
    return np.sqrt(strength) * own + np.sqrt(1 - strength) * standard(X[rng.permutation(len(X))])


def scattered_units(X, rng, strength):
    unit = np.repeat(np.arange(-(-len(X) // 5)), 5)[: len(X)]
    return np.column_stack([rng.permutation(1000 + len(X))[unit], units(X, rng, strength)])[rng.permutation(len(X))]


def trend(X, rng, strength):
    """Add a straight trend, up or down, with this share of the variance of every column."""
    time = standard(np.arange(len(X), dtype=float))[:, None] * rng.choice([-1.0, 1.0], X.shape[1])
    return np.sqrt(1 - strength) * standard(X) + np.sqrt(strength) * time


def by_column(change):
    def made(X, rng, strength):
        j, X = some_column(X, rng), X.copy()
        X[:, j] = change(X[:, j], rng, strength)
        return X

    return made


def cells(value, times=None, positive=False):
    """Put a value (or as many standard deviations as the strength says) into cells of one column."""

    def change(x, rng, strength):
        x = np.abs(x) + 0.01 if positive else x.copy()
        rows = rng.choice(len(x), strength if times is None else times, replace=False)
        x[rows] = x.mean() + strength * x.std() if value is None else value
        return x

    return by_column(change)


def with_column(make):
    return lambda X, rng, strength: np.insert(X, some_column(X, rng), make(X, rng, strength), axis=1)


def classes(x, levels):
    return np.searchsorted(np.quantile(x, np.arange(1, levels) / levels), x).astype(float)


def near_copy(X, rng, strength):
    x = X[:, some_column(X, rng)]
    return x + strength * x.std() * rng.standard_normal(len(x))


def near_sum(X, rng, strength):
    x = standard(X)[:, :3].sum(axis=1)
    return x + strength * x.std() * rng.standard_normal(len(x))


def filled(x, rng, strength):
    x = x.copy()
    x[rng.choice(len(x), int(strength * len(x)), replace=False)] = x.mean()
    return x


def every(change):
    return lambda X, rng, strength: np.column_stack([change(x, rng, strength) for x in X.T])


def rounded(x, rng, strength):
    return np.round(x / x.std() / strength) * strength


def at_limit(x, rng, strength):
    return np.maximum(x, np.quantile(x, strength))


def yes_or_no(x, rng, strength):
    return (x > np.quantile(x, 1 - strength)).astype(float)


def sorted_table(X, rng, strength):
    return X[np.argsort(X[:, some_column(X, rng)])]


SERIES, SDS, SHARED, PART = (
    ("autocorrelation", "random-walk"),
    "standard deviations",
    "shared variance",
    "share of rows",
)
COARSE = ("rounding", "few-values", "counts", "labels")
DEFECTS = (
    Defect("rows remember the row before", "autoregression", (0.3, 0.5, 0.8, 0.95), autoregressive, SERIES),
    Defect("random walk", "", (1,), autoregressive, ("random-walk",)),
    Defect("units of 5 rows, in a row", SHARED, (0.3, 0.5, 0.8), units, SERIES),
    Defect(
        "units of 5 rows, scattered, with a number", SHARED, (0.3, 0.5, 0.8), scattered_units, ("repeated-units",)
    ),
    Defect("trend along the rows", "share of variance", (0.1, 0.3), trend, ("drift", *SERIES)),
    Defect("sorted by a column", "", (1,), sorted_table, ("sorted",)),
    Defect("copied rows", "rows", (1, 5, 50), lambda X, rng, s: np.vstack([X, X[:s]]), ("repeated-rows",)),
    Defect("yes or no", "share of yes", (0.1, 0.5), by_column(yes_or_no), ("two-values",)),
    Defect("label of a class", "classes", (3, 8), by_column(lambda x, rng, s: classes(x, s)), ("labels",)),
    Defect("counts", "mean", (1, 5, 10), with_column(lambda X, rng, s: rng.poisson(s, len(X))), ("counts", "labels")),
    Defect("rounding", SDS, (0.35, 0.5, 1.0), by_column(rounded), COARSE),
    Defect("running number", "", (1,), with_column(lambda X, rng, s: np.arange(len(X))), ("running-number",)),
    Defect(
        "identifiers, shuffled", "", (1,), with_column(lambda X, rng, s: rng.permutation(len(X))), ("identifier",)
    ),
    Defect("-999 for missing", "rows", (1, 5, 50), cells(-999.0), ("codes",)),
    Defect("-1 for missing, other values positive", "rows", (5, 50), cells(-1.0, positive=True), ("codes",)),
    Defect("one wild value", SDS, (10, 20, 30, 100, 1000, 1_000_000), cells(None, 1), ("extreme-values", "codes")),
    Defect("values at a limit", PART, (0.05, 0.1, 0.3), by_column(at_limit), ("limit",)),
    Defect("filled in with the mean", PART, (0.05, 0.1, 0.3), by_column(filled), ("repeated-value",)),
    Defect("near-copy of a column", "noise", (0.01, 0.03), with_column(near_copy), ("near-copies", "near-collinear")),
    Defect("near-sum of three columns", "noise", (0.01, 0.03), with_column(near_sum), ("near-collinear",)),
    Defect("few rows", "rows", (30, 60), lambda X, rng, s: X[:s], ("few-rows",)),
)

#: What a fit suffers from them; of all columns where a defect can be of all.
HARMS = (
    Defect("rows remember the row before", "autoregression", (0, 0.3, 0.5, 0.8, 0.9, 1), autoregressive),
    Defect("units of 5 rows", SHARED, (0.5, 0.8), units),
    Defect("one wild value", SDS, (10, 30, 100, 1000, 1_000_000), cells(None, 1)),
    Defect("-999 for missing", "rows", (1, 10), cells(-999.0)),
    Defect("rounding of all columns", SDS, (0.2, 0.35, 0.5, 1.0), every(rounded)),
    Defect("limit of all columns", PART, (0.02, 0.05, 0.1, 0.3), every(at_limit)),
    Defect("few rows", "rows", (30, 50, 100, 200), lambda X, rng, s: X[:s]),
)
#: Here the columns are unrelated, and every edge is wrong.
DEPENDENT = {"rows remember the row before", "units of 5 rows"}
