"""Write p-values, counts and lists of names as the report shows them."""

from __future__ import annotations

import math
from collections.abc import Sequence


def describe_p(p: float) -> str:
    """Return a p-value in words: 'p = 2.1e-05', 'p < 1e-300' or 'not tested'."""
    if math.isnan(p):
        return "not tested"
    return f"p = {p:.2g}" if p >= 1e-300 else "p < 1e-300"


def bare_p(p: float) -> str:
    """Return a p-value for the cell of a table: '2.1e-05', '< 1e-300' or 'not tested'."""
    return describe_p(p).removeprefix("p = ").removeprefix("p ")


def count(number: int, noun: str) -> str:
    """Return a number with its noun: '1 edge', '1,200 rows'."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def listed(names: Sequence[str], limit: int = 12) -> str:
    """Return names joined by commas, at most `limit` of them, and how many more there are."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def plain(value: float) -> str:
    """Return a number with two or three significant digits, without a power of ten if it can be read without one."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    size = math.floor(math.log10(abs(value)))
    if -3 <= size <= 5:
        return f"{value:,.{max(0, 2 - size - (size < 0))}f}" if size < 2 else f"{value:,.0f}"
    return f"{value:.1e}"
