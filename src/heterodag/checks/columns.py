"""Find out what kind of numbers a column holds. The models are for continuous quantities; other columns are reported.

Kinds are told apart by the chance that two rows hold the same value, which is 0 for a continuous column however heavy
its tails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heterodag.checks.findings import Finding
from heterodag.checks.words import columns, number, verb
from heterodag.core.gaussian import Array, Index, Mask

#: A column in which two rows hold the same value with more than this chance is coarse. The limit corresponds to
#: normal values rounded to 0.28 standard deviations, or Poisson counts of mean 12. Rounding to 0.2 did no harm, to
#: 0.5 it did (docs/data-check.md).
COARSE = 0.08
#: Whole numbers with at most this many values look like classes or grades.
LEVELS = 10


@dataclass(frozen=True)
class Counted:
    """The distinct values of a column (or of a sample of its rows), increasing, and how often each occurs."""

    values: Array
    counts: Array

    @classmethod
    def of(cls, x: Array) -> Counted:
        """Count the values of `x`."""
        values, counts = np.unique(x, return_counts=True)
        return cls(values, counts.astype(float))

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return bool(np.all(self.values == np.round(self.values)))

    @property
    def coincidence(self) -> float:
        """The chance that two rows hold the same value."""
        m = self.counts.sum()
        return float(np.sum(self.counts * (self.counts - 1)) / max(m * (m - 1), 1.0))

    def where(self, keep: Mask) -> Counted:
        """Return the values for which `keep` is true."""
        return Counted(self.values[keep], self.counts[keep])


def is_running(x: Array, at: Index) -> bool:
    """Tell whether a column rises, or falls, by the same step from row to row; `at` has the positions of the rows."""
    step = float(x[-1] - x[0]) / int(at[-1] - at[0])
    if not step or not np.isclose(x[1] - x[0], step * (at[1] - at[0]), rtol=1e-6):
        return False
    return bool(np.allclose(np.diff(x), step * np.diff(at), rtol=1e-6, atol=1e-9 * float(np.abs(x).max())))


def is_identifier(x: Array, counted: Counted) -> bool:
    """Tell whether a column holds whole numbers, none twice, that increase along the rows or leave none out."""
    if not counted.whole or counted.coincidence > 0:
        return False
    if (np.diff(x[:100]) > 0).all() and (np.diff(x) > 0).all():
        return True
    return bool(x.max() - x.min() == len(x) - 1 and len(np.unique(x)) == len(x))


def kind_of(counted: Counted) -> str | None:
    """Return what a column holds if it is not continuous: "two", "labels", "counts", "few" or "rounded"."""
    values = counted.values
    if len(values) == 2:
        return "two"
    if counted.coincidence <= COARSE:
        return None
    if counted.whole and len(values) <= LEVELS and values[-1] - values[0] <= 2 * LEVELS:
        return "labels"
    if counted.whole and values[0] >= 0:
        return "counts"
    return "few" if len(values) <= LEVELS else "rounded"


_CARE = "The models are of continuous values: read the edges at such a column with care."
#: Name of the check, the sentence for one column and for several, and the remedy.
_KINDS = {
    "two": (
        "two-values",
        ("holds two values only", "hold two values only"),
        "Read the edges at a yes or no with care, or pass it as conditions of `interventions` if it names an experiment.",
    ),
    "labels": (
        "labels",
        (
            "holds few whole numbers, like the label of a class or a grade",
            "hold few whole numbers, like labels or grades",
        ),
        "Leave a label out (fit every class by itself, or pass it as conditions of `interventions`); read the edges at a "
        "grade with care.",
    ),
    "counts": ("counts", ("holds small counts", "hold small counts"), _CARE),
    "few": ("few-values", ("holds few distinct values", "hold few distinct values"), _CARE),
    "rounded": (
        "rounding",
        (
            "is rounded so much that many rows hold the same value",
            "are rounded so much that many rows hold the same value",
        ),
        "Use more digits if there are any; else read the edges at such a column with care.",
    ),
}


def kind_findings(kinds: Mapping[str, tuple[str, Counted]]) -> list[Finding]:
    """Return one finding per kind, from the kind and the values of every column that is not continuous."""
    found = []
    for kind, (check, forms, remedy) in _KINDS.items():
        names = [name for name, (own, _) in kinds.items() if own == kind]
        if names:
            where = "" if len(names) == 1 else f" in '{names[0]}'"
            sentence = f"{columns(names)} {verb(names, *forms)} ({_values(kinds[names[0]][1].values)}{where})."
            found.append(Finding("amber", "columns", check, sentence, remedy, tuple(names)))
    return found


def _values(values: Array) -> str:
    if len(values) <= LEVELS:
        return ", ".join(number(v) for v in values)
    return f"{len(values)} distinct values from {number(values[0])} to {number(values[-1])}"


def running_finding(names: Sequence[str]) -> Finding:
    """Say that columns are running numbers."""
    sentence = f"{columns(names)} {verb(names, 'counts', 'count')} the rows: the same step from each row to the next."
    remedy = "Leave it out, unless it is a time; then rows may depend on each other."
    return Finding("red", "columns", "running-number", sentence, remedy, tuple(names))


def identifier_finding(names: Sequence[str]) -> Finding:
    """Say that columns look like identifiers or ranks."""
    hold = verb(names, "holds", "hold")
    sentence = f"{columns(names)} {hold} whole numbers, none of them twice, like identifiers or ranks."
    remedy = "Leave identifiers out; use measured values in place of ranks."
    return Finding("amber", "columns", "identifier", sentence, remedy, tuple(names))
