"""Find extreme values: cells that lie far beyond all others of their column, while nothing else in their row does.

How far out is too far depends on the tail, so the gap decides: the distance of a value from the median, divided by
that of the next one. In heavy-tailed tables a single row may lie a hundred times farther out than the next because
its cause does; such a row is far out in the cause's column as well. A mistake is far out in its own column only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heterodag.checks.findings import Finding
from heterodag.checks.words import joined, number
from heterodag.core.gaussian import Array, Index

#: A group of far values is at most this share of the rows, but it may always have the second number of rows and never
#: more than the third.
_SHARE, _FEWEST, _MOST = 0.01, 3, 1000
#: A gap of this ratio separates a row from the others of a column.
_SET_OFF = 1.15
#: Ratio of distances from which a value that is far out alone is reported: in tables without and with heavy tails.
RATIO, RATIO_HEAVY = 5.0, 20.0
#: A table has heavy tails if values other than the suspicious ones lie beyond this many robust standard deviations.
HEAVY = 12.0
#: Ratio from which a fit is in danger.
RED = 1000.0
_LISTED = 3
#: Positions of rows that a finding keeps.
_KEPT = 100


@dataclass(frozen=True)
class Tail:
    """The values of a column that are farthest from its median.

    Attributes
    ----------
    rows : positions, the farthest first.
    distance : in robust standard deviations, one more than there are rows.
    """

    rows: Index
    distance: Array

    @property
    def ratios(self) -> Array:
        """The distance of every value, divided by that of the next."""
        return np.asarray(self.distance[:-1] / np.maximum(self.distance[1:], 1e-300))

    def before(self, ratio: float) -> int:
        """Return the number of values before the last gap of at least this ratio."""
        gaps = np.flatnonzero(self.ratios >= ratio)
        return int(gaps[-1]) + 1 if gaps.size else 0


def most_far(n: int) -> int:
    """Return how many of n values belong to the tail."""
    return min(_MOST, max(_FEWEST, int(_SHARE * n)))


def tail(x: Array, positions: Index | None, median: float, scale: float) -> Tail | None:
    """Return the tail of a column's values without codes and values at a limit; None if there is no spread."""
    most = most_far(len(x))
    if scale <= 0.0 or len(x) <= most + 1:
        return None
    distance = np.abs(x - median) / scale
    top = np.argpartition(distance, len(x) - most - 1)[len(x) - most - 1 :]
    top = top[np.lexsort((top, -distance[top]))]
    return Tail(top[:-1] if positions is None else positions[top[:-1]], distance[top])


@dataclass(frozen=True)
class Extreme:
    """Values of a column that are too far out, the farthest first, and the ratio of the gap below them."""

    column: int
    rows: Index
    distance: Array
    ratio: float


def extreme(tails: Sequence[Tail | None]) -> list[Extreme]:
    """Return the values that are too far out, the widest gap first."""
    known = [(j, one) for j, one in enumerate(tails) if one is not None]
    set_off = Counter(row for _, one in known for row in one.rows[: one.before(_SET_OFF)].tolist())
    # How far each column reaches without its suspicious values. A column is compared with the farthest of the others.
    reach = {j: float(one.distance[one.before(RATIO)]) for j, one in known}
    first, second = [*sorted(reach.values(), reverse=True), 0.0, 0.0][:2]
    found = []
    for j, one in known:
        k = int(np.argmax(one.ratios))
        ratio, rest = float(one.ratios[k]), max(float(one.distance[k + 1]), second if reach[j] == first else first)
        alone = np.array([set_off[row] <= 1 for row in one.rows[: k + 1].tolist()])
        if ratio >= (RATIO_HEAVY if rest > HEAVY else RATIO) and one.distance[k] > HEAVY and alone.any():
            found.append(Extreme(j, one.rows[: k + 1][alone], one.distance[: k + 1][alone], ratio))
    return sorted(found, key=lambda some: -some.ratio)


def extreme_findings(tails: Sequence[Tail | None], X: Array, labels: Sequence[str], at: Index) -> list[Finding]:
    """Return one finding about all values that are too far out, or a green one that names the farthest value.

    `at` has the positions of the rows in the user's table.
    """
    found = extreme(tails)
    if not found:
        return [_farthest(tails, labels, at)]
    cells = [
        f"'{labels[some.column]}' is {number(X[some.rows[0], some.column])} in row {at[some.rows[0]]} "
        f"({some.distance[0]:.3g} robust standard deviations from the median, {some.ratio:.3g} times as far as the next)"
        for some in found
    ]
    count = sum(len(some.rows) for some in found)
    lie = "1 value lies" if count == 1 else f"{count} values lie"
    sentence = f"{lie} far outside: {joined(cells, _LISTED)}; rows are counted from 0."
    remedy = "Look at these cells: correct what was mistyped or has another unit, or leave the rows out."
    severity = "red" if found[0].ratio >= RED else "amber"
    rows = sorted({int(at[row]) for some in found for row in some.rows})[:_KEPT]
    names = tuple(labels[some.column] for some in found)
    return [Finding(severity, "values", "extreme-values", sentence, remedy, names, tuple(rows))]


def _farthest(tails: Sequence[Tail | None], labels: Sequence[str], at: Index) -> Finding:
    known = [(one.distance[0], j, at[one.rows[0]]) for j, one in enumerate(tails) if one is not None]
    if not known:
        return Finding("green", "values", "extreme-values", "No value lies far outside.")
    distance, j, row = max(known)
    sentence = (
        f"No value stands alone far outside; the farthest is {distance:.3g} robust standard deviations from the median "
        f"('{labels[j]}' in row {row}; rows are counted from 0)."
    )
    return Finding("green", "values", "extreme-values", sentence)
