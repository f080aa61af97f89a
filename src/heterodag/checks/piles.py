"""Find values that pile up in an otherwise continuous column: at a detection limit, or filled in for missing ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heterodag.checks.columns import LEVELS, Counted
from heterodag.checks.findings import Finding
from heterodag.checks.words import joined, number, share

#: A value piles up if it fills at least this share of the rows, this many rows, and this many times as many rows as
#: any other value. 2 % of the rows at a limit did no harm to a fit, 10 % did (docs/data-check.md).
SHARE, ROWS, TIMES = 0.03, 5, 5
_LISTED = 3


@dataclass(frozen=True)
class Pile:
    """A value, the share of the rows that hold it, and its place: the lowest, the highest or inside."""

    value: float
    share: float
    place: str


def find_piles(counted: Counted) -> list[Pile]:
    """Return the values that pile up: at either end of a column, or else one inside."""
    values, counts = counted.values, counted.counts
    if len(values) <= LEVELS:
        return []
    total, enough = counts.sum(), max(ROWS, SHARE * counts.sum())
    usual = counts[1:-1].max()
    ends = [(0, "lowest"), (len(values) - 1, "highest")]
    found = [(k, place) for k, place in ends if counts[k] >= max(enough, TIMES * usual)]
    if not found:
        top, second = np.argsort(-counts, kind="stable")[:2].tolist()
        if 0 < top < len(values) - 1 and counts[top] >= max(enough, TIMES * counts[second]):
            found = [(top, "inside")]
    return [Pile(float(values[k]), float(counts[k] / total), place) for k, place in found]


def pile_findings(piles: Mapping[str, Sequence[Pile]]) -> list[Finding]:
    """Return a finding about limits, and one about values inside."""
    found = []
    at_limit = {name: some for name, some in piles.items() if any(p.place != "inside" for p in some)}
    inside = {name: some for name, some in piles.items() if any(p.place == "inside" for p in some)}
    if at_limit:
        sentence = f"Values pile up at a limit: {_examples(at_limit)}."
        remedy = "What lies beyond is not known: leave those rows out, or read the edges at such a column with care."
        found.append(Finding("amber", "values", "limit", sentence, remedy, tuple(at_limit)))
    if inside:
        sentence = f"One value comes far too often: {_examples(inside)}."
        remedy = "If it was filled in for missing values, leave those rows out."
        found.append(Finding("amber", "values", "repeated-value", sentence, remedy, tuple(inside)))
    return found


def _examples(piles: Mapping[str, Sequence[Pile]]) -> str:
    texts = []
    for name, some in piles.items():
        for pile in some:
            place = "" if pile.place == "inside" else f", its {pile.place} value"
            texts.append(f"{share(pile.share)} of the rows of '{name}' hold {number(pile.value)}{place}")
    return joined(texts, _LISTED)
