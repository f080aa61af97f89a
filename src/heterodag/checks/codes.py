"""Find codes for missing values, such as -999, among measured values: the lowest or highest value, after a gap."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heterodag.checks.columns import COARSE, LEVELS, Counted
from heterodag.checks.findings import Finding
from heterodag.checks.words import joined, number
from heterodag.core.gaussian import Array

#: Smallest gap, in robust standard deviations of the other values; the second is for a negative code among positive
#: values.
GAP, GAP_OF_SIGN = 3.0, 1.0
#: A value that is not a usual code must be in this many rows.
_REPEATED = 3
#: Codes come in groups, such as -999 and -998: values this close to a usual code, relative to it, are ignored when
#: its gap is measured, unless they are more than this share.
_BESIDE, _FEW_BESIDE = 0.02, 0.1
#: Number of rows from which the spread of the other values is estimated.
_SAMPLE = 20_000


@dataclass(frozen=True)
class Code:
    """A value that stands for something else: how many rows hold it, and its gap in robust standard deviations."""

    value: float
    rows: int
    gap: float


def spread(x: Array) -> float:
    """Return a robust standard deviation, which a quarter of wild values on either side cannot change; 0 if none."""
    low, high = np.quantile(x[:: max(1, len(x) // _SAMPLE)], [0.25, 0.75])
    return float(high - low) / 1.349


def find_codes(x: Array) -> list[Code]:
    """Return the codes at the edges of a column."""
    found: list[Code] = []
    for _ in range(4):  # a table may have several: not asked, not answered, not known
        code = next((c for edge in (x.min(), x.max()) if (c := _code_at(x, float(edge))) is not None), None)
        if code is None:
            break
        found.append(code)
        x = x[x != code.value]
    return found


def _code_at(x: Array, edge: float) -> Code | None:
    held = x == edge
    times, usual = int(held.sum()), _is_usual(edge)
    typed = times >= _REPEATED and float(f"{edge:.4g}") == edge  # nobody types a code of many digits
    rest = x[~held] if usual or typed else x[:0]
    if len(rest) < max(5, times):
        return None
    counted, scale = Counted.of(rest[:: max(1, len(rest) // _SAMPLE)]), spread(rest)
    if len(counted.values) <= LEVELS or scale <= 0.0:
        return None
    distance = np.abs(rest - edge)
    beside = distance <= _BESIDE * abs(edge)
    apart = distance if not usual or beside.mean() > _FEW_BESIDE else distance[~beside]
    gap = float(apart.min()) / scale
    far = gap >= GAP and ((usual and abs(edge) > 10) or (typed and counted.coincidence <= COARSE))
    alone_below = usual and times >= 2 and edge < 0 <= rest.min() and (gap >= GAP_OF_SIGN or not counted.whole)
    return Code(edge, times, gap) if far or alone_below else None


def _is_usual(value: float) -> bool:
    """Tell whether a value is -1, or a 7, 8 or 9 written once or several times."""
    return value == -1 or (float(value).is_integer() and bool(re.fullmatch(r"-?(7+|8+|9+)", f"{value:.0f}")))


def code_findings(found: Mapping[str, Sequence[Code]]) -> list[Finding]:
    """Return a finding about codes far from the values, and one about codes that stand out only by their sign."""
    findings = []
    for severity, far in (("red", True), ("amber", False)):
        own = {name: [c for c in codes if (c.gap >= GAP) == far] for name, codes in found.items()}
        own = {name: codes for name, codes in own.items() if codes}
        if own:
            held = [f"{number(c.value)} in {_rows(c.rows)} of '{name}'" for name, codes in own.items() for c in codes]
            where = "far from all other values" if far else "below all other values, which are positive"
            sentence = f"There seems to be a code for missing values, {where}: {joined(held)}."
            remedy = "Replace the code by empty cells, then fill these in, or leave the rows out with missing='drop'."
            findings.append(Finding(severity, "values", "codes", sentence, remedy, tuple(own)))
    return findings


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"
