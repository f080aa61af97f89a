"""How findings name columns, rows and numbers."""

from __future__ import annotations

from collections.abc import Sequence

_SHOWN = 5


def joined(parts: Sequence[str], shown: int = _SHOWN) -> str:
    """Return ``a, b and 3 more``."""
    some = list(parts[:shown])
    if len(parts) > shown:
        some.append(f"{len(parts) - shown} more")
    return some[0] if len(some) == 1 else ", ".join(some[:-1]) + " and " + some[-1]


def listed(names: Sequence[str], shown: int = _SHOWN) -> str:
    """Return ``'a', 'b' and 3 more``."""
    return joined([f"'{name}'" for name in names], shown)


def columns(names: Sequence[str]) -> str:
    """Return ``Column 'a'`` or ``Columns 'a' and 'b'``, to start a sentence."""
    return f"Column{'' if len(names) == 1 else 's'} {listed(names)}"


def rows(positions: Sequence[int]) -> str:
    """Return ``row 7`` or ``rows 7, 8 and 9``; positions count from 0."""
    return f"row{'' if len(positions) == 1 else 's'} {joined([str(p) for p in positions])} (rows are counted from 0)"


def verb(names: Sequence[object], one: str, many: str) -> str:
    """Return the form of a verb that agrees with the number of columns."""
    return one if len(names) == 1 else many


def number(value: float) -> str:
    """Return a number as people write it, whole numbers without a decimal point."""
    return f"{value:.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.4g}"


def share(part: float) -> str:
    """Return a share in per cent, with as few digits as it needs."""
    return f"{100 * part:.0f} %" if part >= 0.1 else f"{100 * part:.2g} %"
