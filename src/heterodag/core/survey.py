"""One pass over a table in parts: moments, gaps, ranges, a sample of the rows, and stretches of neighbouring rows.

The sample has one random row from each of many equal strata of positions, so it does not depend on how the table was
cut into parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from heterodag.core.gaussian import Array, Index
from heterodag.core.parts import Part
from heterodag.core.table import Table, location_and_scale

#: Parts that are read before their results are joined, so that the results never fill the memory.
_AT_ONCE = 32
#: Runs jobs in any order and returns the results in the order of the jobs, as `runtime.work.Work.map` does.
Map = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], list[Any]]


@dataclass(frozen=True)
class Gap:
    """A missing or infinite value: its column, part, row in the part and the table; `rows` counts rows like it."""

    column: int
    part: Part
    within: int
    row: int
    infinite: bool
    rows: int


@dataclass(frozen=True, eq=False)
class Survey:
    """What one pass over a table found.

    Attributes
    ----------
    n_rows : rows without missing values.
    dropped : rows with missing values.
    gap : the first missing or infinite value; None if there is none.
    location, scale, low, high : (d,) mean, standard deviation, smallest and largest value of every column.
    sample : (rows, d) one random row of each stratum, in the order of the table.
    positions : where the rows of the sample are in the table.
    stretches : neighbouring rows from the requested places.
    seen : what `look` found in all parts together.
    """

    n_rows: int
    dropped: int
    gap: Gap | None
    location: Array
    scale: Array
    low: Array
    high: Array
    sample: Array
    positions: Index
    stretches: list[Array]
    seen: Any

    def table(self) -> Table:
        """Return the sample, standardised with the location and scale of the whole table."""
        return Table(self.sample, self.location, self.scale, None)


@dataclass(frozen=True, eq=False)
class _Plan:
    """What to collect from every part: the positions of the sample and of stretches, and further checks."""

    positions: Index
    stretches: Index
    look: Callable[[Array], Any] | None


@dataclass(frozen=True, eq=False)
class _Look:
    """What was found in one part; `spot` is the first gap or infinity, as (row, column, infinite)."""

    n_rows: int
    dropped: int
    spot: tuple[int, int, bool] | None
    infinite: int
    location: Array
    scale: Array
    low: Array
    high: Array
    sample: Array
    positions: Index
    stretches: list[Array]
    seen: Any


def stratified_rows(n: int, rows: int, rng: np.random.Generator) -> Index:
    """Return one random position from each of `rows` equal stretches of n rows; all positions if n is no larger."""
    if rows >= n:
        return np.arange(n)
    bounds = np.arange(rows + 1) * n // rows
    return np.asarray(rng.integers(bounds[:-1], bounds[1:]), dtype=np.intp)


def survey(
    parts: Sequence[Part],
    rows: int,
    rng: np.random.Generator,
    run: Map,
    stretches: Index | None = None,
    look: Callable[[Array], Any] | None = None,
) -> Survey:
    """Read all parts once.

    Parameters
    ----------
    parts : the table.
    rows : size of the sample.
    rng : draws the sample.
    run : runs jobs.
    stretches : (k, 2), optional
        Where stretches of neighbouring rows begin and end.
    look : callable, optional
        Called with the rows of every part, for checks that need all of them. Its result has a method `join`, which
        adds the result of the next part.
    """
    ends = np.cumsum([part.rows for part in parts])
    n, starts = int(ends[-1]), [0, *ends[:-1].tolist()]
    stretches = np.empty((0, 2), dtype=np.intp) if stretches is None else stretches
    plan = _Plan(stratified_rows(n, rows, rng), stretches, look)
    looks: list[_Look] = []
    seen: Any = None
    for at in range(0, len(parts), _AT_ONCE):
        some = [(plan, part, start) for part, start in zip(parts, starts, strict=True)][at : at + _AT_ONCE]
        found: list[_Look] = run(_look, some)
        for one in found:
            if seen is None:
                seen = one.seen
            else:
                seen.join(one.seen)
        looks += [replace(one, seen=None) for one in found]
    return replace(_joined(looks, parts, starts), seen=seen)


def _look(plan: _Plan, part: Part, start: int) -> _Look:
    """Read one part, whose first row is row `start` of the table."""
    X = part.read()
    finite = np.isfinite(X)
    kept = np.asarray(finite.all(axis=1))
    own, spot, infinite = X if kept.all() else X[kept], None, 0
    if not kept.all():
        infinite = int(np.isinf(X).any(axis=1).sum())
        row = int(np.argmax(np.isinf(X).any(axis=1))) if infinite else int(np.argmin(kept))
        spot = row, int(np.argmax(~finite[row] if not infinite else np.isinf(X[row]))), bool(infinite)
    d = X.shape[1]
    location, scale = location_and_scale(own) if len(own) else (np.zeros(d), np.zeros(d))
    low, high = (own.min(axis=0), own.max(axis=0)) if len(own) else (np.full(d, np.inf), np.full(d, -np.inf))
    first, last = np.searchsorted(plan.positions, [start, start + len(X)])
    chosen = plan.positions[first:last] - start
    chosen = chosen[kept[chosen]]
    stretches = [X[max(a - start, 0) : max(b - start, 0)] for a, b in plan.stretches]
    gaps = len(X) - len(own) - infinite
    seen = None if plan.look is None else plan.look(X)
    return _Look(
        len(own), gaps, spot, infinite, location, scale, low, high, X[chosen], start + chosen, stretches, seen
    )  # fmt: skip


def _joined(looks: Sequence[_Look], parts: Sequence[Part], starts: Sequence[int]) -> Survey:
    rows = np.array([look.n_rows for look in looks], dtype=float)[:, None]
    low, high = np.min([look.low for look in looks], axis=0), np.max([look.high for look in looks], axis=0)
    # Divide by the largest value first: squares of values near the largest floating-point number would overflow.
    unit = np.maximum(np.abs(low), np.abs(high))
    unit = np.where(np.isfinite(unit) & (unit > 0.0), unit, 1.0)
    mean, sd = (np.array([getattr(look, name) for look in looks]) / unit for name in ("location", "scale"))
    total = max(float(rows.sum()), 1.0)
    centre = (rows * mean).sum(axis=0) / total
    spread = np.sqrt((rows * (sd**2 + (mean - centre) ** 2)).sum(axis=0) / total)
    location, scale = centre * unit, spread * unit
    stretches = [np.vstack([look.stretches[k] for look in looks]) for k in range(len(looks[0].stretches))]
    return Survey(
        int(rows.sum()), sum(look.dropped for look in looks), _first_gap(looks, parts, starts), location, scale, low, high,
        np.vstack([look.sample for look in looks]), np.concatenate([look.positions for look in looks]),
        stretches, None,
    )  # fmt: skip


def _first_gap(looks: Sequence[_Look], parts: Sequence[Part], starts: Sequence[int]) -> Gap | None:
    """Return the first infinite value, or the first missing one if none is infinite."""
    infinite = sum(look.infinite for look in looks)
    for look, part, start in zip(looks, parts, starts, strict=True):
        if look.spot is not None and (look.spot[2] or not infinite):
            row, column, unbounded = look.spot
            return Gap(column, part, row, start + row, unbounded, infinite or sum(one.dropped for one in looks))
    return None
