"""Findings about rows that depend on each other along their order: time series, repeated units, drift, sorted tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from heterodag.checks.autocorrelation import FAR, FEWEST, LEAST, Runs, alike, correlations, inflation, roughness
from heterodag.checks.findings import Finding
from heterodag.checks.words import listed
from heterodag.core.gaussian import Array, Index

#: Red if the rows tell only as much as this many times fewer independent ones. A test at level 0.001 then raises a
#: false alarm in 10 of 100 cases.
RED_INFLATION = 4.0
#: From here a fit means nothing: HOST joined about half of all pairs of unrelated columns (docs/data-check.md).
WALK_INFLATION = 8.0
#: Both also need a large roughness, which is near 0 if rows only drift, 0.87 in random walks, 0.8 in AR(0.8) and 0.6
#: in AR(0.5).
RED_CLOSENESS, WALK_CLOSENESS = 0.5, 0.7

_SERIES = (
    "Remove the dependence first: take differences, or what a time-series model leaves over; keep one row per unit, or the "
    "average of its rows."
)


def row_findings(
    n: int, labels: Sequence[str], of: Runs, in_order: Sequence[int], numbered: Sequence[int] = ()
) -> list[Finding]:
    """Return findings about the n rows of a table that depend on each other along their order.

    `in_order` are the columns by which the table is sorted; `numbered` are running numbers and identifiers: a table
    sorted by one of these is in the order in which it was collected.
    """
    if n < FEWEST:
        return [
            Finding(
                "green",
                "rows",
                "autocorrelation",
                f"{n} rows are too few to tell whether rows depend on each other.",
            )
        ]
    of = replace(of, ranks=of.ranks.copy(), telling=of.telling.copy())
    of.telling[list(in_order)] = False
    of.ranks[:, list(in_order)] = 0.0
    found, r, lag = alike(of)
    by = [j for j in in_order if j not in numbered]
    findings = [_sorted([labels[j] for j in by])] if by else []
    if found.size:
        closeness = _closeness(of, found, lag)
        if closeness or (closeness is None and not by):
            findings.append(_autocorrelation(of, (found, r, lag), labels, n, closeness, bool(by)))
        elif not by:
            findings.append(_drift([labels[j] for j in found], len(labels)))
    if not findings:
        sentence = (
            f"Neighbouring rows are not alike (largest correlation with the row before: {np.abs(r).max():.2f})."
        )
        remedy = "Repeated measurements that are scattered over the table cannot be detected."
        findings.append(Finding("green", "rows", "autocorrelation", sentence, remedy))
    return findings


def _closeness(of: Runs, found: Index, lag: int) -> float | None:
    """Return how much more neighbours (or rows `lag` places apart) share than other rows close by.

    0 if it may be chance, None if there are too few rows to say.
    """
    if len(of.run) < 4 * FAR[-1]:
        return None
    if lag == 1:
        rough, sd = roughness(of, found)
        excess = float(np.abs(rough.mean()))
    else:
        r, pairs = correlations(of, (lag, lag - 1, lag + 1), found)
        excess, sd = float(np.abs((r[0] - r[1:].mean(axis=0)).mean())), float(np.sqrt(1.5 / pairs[0]))
    return excess if excess >= max(LEAST, 2.5 * sd) else 0.0


def _autocorrelation(
    of: Runs,
    told: tuple[Index, Array, int],
    labels: Sequence[str],
    n: int,
    closeness: float | None,
    is_sorted: bool,
) -> Finding:
    found, r, lag = told
    names, d = [labels[j] for j in found], int(of.telling.sum())
    top = found[np.argmax(np.abs(r[found]))]
    factor = inflation(of, found, local=is_sorted)
    most = 2 * len(found) >= d and d > 1
    walk = most and factor >= WALK_INFLATION and (closeness or 0.0) >= WALK_CLOSENESS
    red = most and factor >= RED_INFLATION and (closeness is None or closeness >= RED_CLOSENESS)
    where = "Neighbouring rows" if lag == 1 else f"Rows {lag} places apart"
    sentence = (
        f"{where} are {'alike' if r[top] > 0 else 'unlike'} in {len(found)} of {len(labels)} columns ({listed(names)}; "
        f"correlation {r[top]:.2f} in '{labels[top]}'), as in a time series or in repeated measurements of the same units: "
        f"{n} rows tell about as much as {max(1, round(n / factor))} independent ones."
    )
    check, severity = "random-walk" if walk else "autocorrelation", "red" if red else "amber"
    return Finding(severity, "rows", check, sentence, _SERIES, tuple(names))


def _drift(names: Sequence[str], d: int) -> Finding:
    sentence = (
        f"Over long stretches rows are alike in {len(names)} of {d} columns ({listed(names)}): they drift, or come from "
        "different sources one after the other."
    )
    remedy = (
        "What changes along the rows is a common cause: add it as a column (batch, day), or fit the parts one by one."
    )
    return Finding("amber", "rows", "drift", sentence, remedy, tuple(names))


def _sorted(names: Sequence[str]) -> Finding:
    sentence = f"The rows are sorted by {listed(names)}."
    remedy = (
        "If you sorted them, nothing is wrong; if they were collected in this order, rows may depend on each other."
    )
    return Finding("amber", "rows", "sorted", sentence, remedy, tuple(names))
