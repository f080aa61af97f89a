"""Find rows that appear more than once, and units that were measured more than once according to an identifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from heterodag.checks.autocorrelation import LEAST, Runs, roughness
from heterodag.checks.columns import Counted
from heterodag.checks.findings import Finding
from heterodag.checks.words import listed, rows
from heterodag.core.gaussian import Array, Index

#: Copies are reported if there are more than this many times as many as rounding makes.
_TIMES = 10.0
#: If at least this share of the rows are copies, they at least double the evidence.
RED_SHARE = 0.5
#: Rows listed in a finding.
_LISTED = 100
#: An identifier of units has at least this many units, with an average number of rows per unit in this range.
_UNITS, _PER_UNIT = 20, (1.5, 50.0)
#: A cause acts smoothly, so its ranks correlate with those of its effects; those of unit numbers do not, beyond this.
_ARBITRARY = 0.3
#: At most this many columns are tried as identifiers.
_TRIED = 5


def repeated_rows(X: Array) -> Index:
    """Return the positions of rows that repeat an earlier row exactly."""
    keys = row_keys(X)
    order = np.argsort(keys, kind="stable")
    again = np.r_[False, keys[order][1:] == keys[order][:-1]]
    return np.sort(order[again])


def row_keys(X: Array) -> NDArray[np.uint64]:
    """Return a key per row, the same for equal rows: the sum of its cells, each hashed by SplitMix64's finalizer."""
    keys = np.zeros(len(X), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for j in range(X.shape[1]):
            cell = np.ascontiguousarray(X[:, j] + 0.0).view(np.uint64) + np.uint64(
                (j + 1) * 0x9E3779B97F4A7C15 % 2**64
            )
            for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
                cell = (cell ^ (cell >> np.uint64(shift))) * np.uint64(factor)
            keys += cell ^ (cell >> np.uint64(31))
    return keys


def repeat_findings(X: Array, counted: Sequence[Counted], at: Index) -> list[Finding]:
    """Return findings about repeated rows, unless columns are so coarse that rows are equal by chance.

    `at` has the positions of the rows in the user's table.
    """
    if copies_by_chance(len(X), counted) > len(X):
        return []
    return copy_findings(at[repeated_rows(X)], len(X), counted)


def copies_by_chance(n: int, counted: Sequence[Counted]) -> float:
    """Return how many pairs of rows are expected to be equal because columns are coarse."""
    chance = np.sort([c.coincidence for c in counted])[:2]
    return 0.5 * n * (n - 1) * (float(np.prod(chance)) if len(chance) > 1 else 1.0)


def copy_findings(again: Index, n: int, counted: Sequence[Counted], times: int = 1) -> list[Finding]:
    """Return findings about rows that repeat earlier ones; only one row in `times` was examined."""
    by_chance, count = copies_by_chance(n, counted), times * len(again)
    if by_chance > n or count <= _TIMES * by_chance:
        return []
    many = count >= RED_SHARE * n
    what = "row repeats an earlier one" if count == 1 else "rows repeat earlier ones"
    about = "About " if times > 1 else ""
    sentence = f"{about}{count} of {n} {what} exactly, such as {rows(again[:1].tolist())}."
    remedy = "Leave the copies out: they count as evidence that is not there."
    severity = "red" if many else "amber"
    return [Finding(severity, "rows", "repeated-rows", sentence, remedy, rows=tuple(again[:_LISTED].tolist()))]


def unit_findings(X: Array, of: Runs, labels: Sequence[str], whole: Sequence[int]) -> list[Finding]:
    """Return findings about columns of whole numbers that say which unit a row belongs to.

    In a table sorted by such a column, rows of one unit are neighbours, and more alike than rows of different units.
    The effect of a cause that happens to be a whole number is smooth, and so does not show up here. `whole` are the
    columns of whole numbers.
    """
    counted = {j: Counted.of(X[of.rows, j]) for j in whole}
    for j in [j for j in whole if _is_plausible(counted[j])][:_TRIED]:
        order = np.argsort(X[of.rows, j], kind="stable")
        sorted_ = replace(of, ranks=of.ranks[order], run=np.zeros(len(order), dtype=np.intp))
        free = np.abs(of.ranks.T @ of.ranks[:, j]) / len(order) < _ARBITRARY
        others = np.flatnonzero(free & of.telling)
        others = others[others != j]
        if not others.size:
            continue
        each = len(order) / len(counted[j].values)
        rough, sd = roughness(sorted_, others, [max(6, round(k * each)) for k in (2, 2.5, 3)])
        if rough.mean() >= max(LEAST, 4 * sd):
            alike, units = listed([labels[k] for k in others]), len(counted[j].values)
            sentence = (
                f"Rows with the same value of '{labels[j]}' are alike in {alike}, as if it named {units} units, each "
                "measured several times."
            )
            remedy = "Rows of one unit are not independent: keep one row per unit, or the average of its rows."
            return [Finding("amber", "rows", "repeated-units", sentence, remedy, (labels[j],))]
    return []


def _is_plausible(counted: Counted) -> bool:
    units = len(counted.values)
    return units >= _UNITS and _PER_UNIT[0] <= counted.counts.sum() / units <= _PER_UNIT[1]
