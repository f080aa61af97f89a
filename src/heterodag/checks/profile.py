"""Examine one column by itself: its values, its kind, codes, piles and the farthest values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from heterodag.checks.codes import Code, find_codes, spread
from heterodag.checks.columns import Counted, is_identifier, is_running, kind_of
from heterodag.checks.outliers import Tail, tail
from heterodag.checks.piles import Pile, find_piles
from heterodag.core.gaussian import Array, Index, Mask

#: The values of a column are counted in at most this many of its rows, evenly spread.
_COUNTED = 20_000


@dataclass(frozen=True)
class Look:
    """What one column shows by itself."""

    counted: Counted
    kind: str | None
    running: bool
    identifier: bool
    codes: list[Code] = field(default_factory=list)
    piles: list[Pile] = field(default_factory=list)
    tail: Tail | None = None


def look_at(x: Array, fixed: Mask | None, at: Index) -> Look:
    """Examine one column without cells that were set from outside; `at` has the positions of its rows."""
    positions = None
    if fixed is not None and fixed.any():
        positions = np.flatnonzero(~fixed)
        x, at = x[positions], at[positions]
    x = np.ascontiguousarray(x)
    counted = Counted.of(x[:: max(1, len(x) // _COUNTED)])
    running = len(x) > 2 and is_running(x, at)
    if len(counted.values) < 3 or running:
        return Look(counted, None if running or len(counted.values) < 2 else "two", running, False)
    codes = find_codes(x)
    plain = counted.where(~np.isin(counted.values, [c.value for c in codes]))
    piles = find_piles(plain)
    rest = plain.where(~np.isin(plain.values, [p.value for p in piles]))
    kind = kind_of(rest)
    if kind is not None:  # in a coarse column, many rows hold the same value anyway
        kind, piles = kind_of(plain), []
    odd = [*(c.value for c in codes), *(p.value for p in piles)]
    return Look(
        plain, kind, False, kind is None and is_identifier(x, counted), codes, piles, _tail(x, positions, odd, kind)
    )


def _tail(x: Array, positions: Index | None, odd: Sequence[float], kind: str | None) -> Tail | None:
    """Return the farthest values of a column without odd ones; None for columns of few values."""
    if kind in ("two", "labels", "few"):
        return None
    if odd:
        kept = np.flatnonzero(~np.isin(x, odd))
        x, positions = x[kept], kept if positions is None else positions[kept]
    few = x[:: max(1, len(x) // _COUNTED)]
    return tail(x, positions, float(np.median(few)), spread(few))
