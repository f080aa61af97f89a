"""Check a table that is not in memory, by a sample, stretches of neighbouring rows, and one pass over all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heterodag.checks.autocorrelation import RUN, runs_of, sorted_columns, stretch_starts
from heterodag.checks.codes import find_codes, spread
from heterodag.checks.columns import is_running
from heterodag.checks.findings import Finding, Findings
from heterodag.checks.outliers import Tail, extreme_findings, most_far
from heterodag.checks.overlap import overlap_findings
from heterodag.checks.passing import Passed
from heterodag.checks.profile import Look, look_at
from heterodag.checks.refused import (
    FEWEST_ROWS,
    constant_finding,
    infinite_finding,
    missing_finding,
    refused_findings,
    text_findings,
)
from heterodag.checks.repeats import copy_findings, repeat_findings
from heterodag.checks.tables import TITLE, check_table, column_findings, odd_findings, order_findings, size_findings
from heterodag.core.gaussian import Array, Index
from heterodag.errors import ParameterError
from heterodag.io.opened import OpenTable, stratified_rows

#: Rows of the sample, and its largest number of cells; `look_at` counts values in 20,000 of the rows.
SAMPLE_ROWS, SAMPLE_CELLS = 100_000, 10_000_000
#: The sample of a check is always the same one.
_SEED = 0


def check_opened(table: OpenTable, missing: str, groups: Any = None) -> Findings:
    """Check a table that is not in memory, in one pass over its parts; a short table is read whole."""
    if groups is not None:
        raise ParameterError(
            "groups", "not be given with a table on disk", groups, "Pass X.sample(100_000) as the table."
        )
    n, d = table.shape
    text = text_findings(table.text)
    starts, rows = stretch_starts(n, d), max(1_000, min(SAMPLE_ROWS, SAMPLE_CELLS // d))
    if starts is None or n <= rows:
        return Findings([*text, *check_table(table.head(n), missing=missing)], TITLE)
    positions = stratified_rows(n, rows, _SEED)
    sample, stretches, passed = _read(table, positions, starts)
    found = [*text, *_refused(passed, table.names, missing)]
    varying = np.flatnonzero(~passed.constant()).tolist()
    labels = [table.names[j] for j in varying]
    if passed.complete < FEWEST_ROWS or not labels:
        return Findings(found, TITLE)
    kept = np.isfinite(sample).all(axis=1)
    sample, positions = np.ascontiguousarray(sample[kept][:, varying]), positions[kept]
    whole = [one[np.isfinite(one).all(axis=1)][:, varying] for one in stretches]
    copies = refused_findings(sample, labels)
    said = {one.topic for one in copies}
    rest = opened_findings(sample, whole, passed.complete, labels, positions=positions, passed=passed.only(varying))
    return Findings([*found, *copies, *(one for one in rest if one.topic not in said)], TITLE)


def _read(table: OpenTable, positions: Index, starts: Index) -> tuple[Array, Array, Passed]:
    """Return the rows at these positions, stretches of `RUN` rows from these starts, and the results of the pass."""
    d = len(table.names)
    sample, stretches, passed = np.empty((len(positions), d)), np.empty((len(starts), RUN, d)), Passed(d)
    for first, part in table.placed_parts():
        X = part.read()
        passed.add(X)
        low, high = np.searchsorted(positions, [first, first + len(X)])
        sample[low:high] = X[positions[low:high] - first]
        for k in np.flatnonzero((starts < first + len(X)) & (starts + RUN > first)).tolist():
            low, high = max(starts[k], first), min(starts[k] + RUN, first + len(X))
            stretches[k, low - starts[k] : high - starts[k]] = X[low - first : high - first]
    return sample, stretches, passed


def _refused(passed: Passed, labels: Sequence[str], missing: str) -> list[Finding]:
    """Say what a fit refuses: missing and infinite values, constant columns."""
    found = []
    if passed.lost:
        each = {label: int(count) for label, count in zip(labels, passed.missing, strict=True) if count}
        found.append(missing_finding(passed.lost, passed.n, each, missing))
    if passed.infinite.any():
        found.append(infinite_finding([labels[j] for j in np.flatnonzero(passed.infinite).tolist()], passed.endless))
    if passed.constant().any() and passed.complete > 1:
        found.append(constant_finding([labels[j] for j in np.flatnonzero(passed.constant()).tolist()]))
    return found


def opened_findings(
    sample: Array,
    stretches: Sequence[Array],
    n_rows: int,
    labels: Sequence[str],
    *,
    positions: Index | None = None,
    passed: Passed | None = None,
) -> Findings:
    """Check what was collected of a long table; the same findings as `table_findings`, in the same words.

    Parameters
    ----------
    sample : (m, d) array
        Rows drawn from all over the table, in their order, without missing or infinite values.
    stretches : list of (k, d) arrays
        Neighbouring rows, such as those from `stretch_starts`, in their order: only these show whether rows depend on
        each other.
    n_rows : int
        Rows of the whole table.
    labels : names of the columns; none of them is constant.
    positions : (m,) whole numbers, optional
        Positions of the sample's rows in the table.
    passed : Passed, optional
        What a pass over all rows saw. With it, extreme values, codes and copies are looked for in all rows; without
        it, in the sample.

    Returns
    -------
    Findings
        Those of `table_findings`, and one more: how many rows were looked at.
    """
    at = np.arange(len(sample)) if positions is None else positions
    with np.errstate(over="ignore", invalid="ignore"):
        looks = [
            _look(sample[:, j], [one[:, j] for one in stretches], at, j, n_rows, passed) for j in range(len(labels))
        ]
        counted = [look.counted for look in looks]
        if passed is None:
            repeated = repeat_findings(sample, counted, at)
            extreme = extreme_findings([look.tail for look in looks], sample, labels, at)
        else:
            again, times = passed.copies()
            repeated = copy_findings(again, n_rows, counted, times)
            extreme = _extreme_findings(passed, sample, looks, labels)
        together = np.vstack(stretches)
        in_order = [
            j for j in sorted_columns(together, None) if (np.diff(sample[:, j]) * _sign(together[:, j]) >= 0).all()
        ]
        found = [
            *size_findings(n_rows, len(labels)),
            _looked_at(len(sample), stretches, n_rows, passed is not None),
            *order_findings(n_rows, together, runs_of(stretches), in_order, labels, looks, repeated),
            *column_findings(labels, looks),
            *odd_findings(labels, looks),
            *extreme,
            *overlap_findings(sample, labels),
        ]
    return Findings(found, TITLE)


def _sign(x: Array) -> float:
    return 1.0 if x[-1] > x[0] else -1.0


def _looked_at(sampled: int, stretches: Sequence[Array], n: int, passed: bool) -> Finding:
    along = sum(len(one) for one in stretches)
    every = f"; gaps, constant columns, copies and extreme values in all {n}" if passed else ""
    sentence = (
        f"Columns and values were looked at in {sampled} rows drawn from all over the table, dependence of rows in "
        f"{len(stretches)} stretches of neighbours, {along} rows{every}."
    )
    return Finding("green", "size", "looked-at", sentence)


def _look(x: Array, along: Sequence[Array], at: Index, j: int, n: int, passed: Passed | None) -> Look:
    """Examine a column in the sample, corrected by what stretches of neighbours and all rows show."""
    look = look_at(x, None, at)
    if look.running or all(len(one) > 2 and is_running(one, np.arange(len(one))) for one in along):
        return Look(look.counted, None, True, False)
    rises = look.identifier and all((np.diff(one) > 0).all() for one in along)
    if passed is None or look.kind == "two":
        return replace(look, identifier=rises)
    low, high = passed.value_range(j)
    unique = look.kind is None and look.counted.whole and look.counted.coincidence == 0.0
    codes = find_codes(np.concatenate([x, passed.ends[0, j], -passed.ends[1, j]]))
    told = [replace(code, rows=passed.count(j, code.value) or round(np.mean(x == code.value) * n)) for code in codes]
    return replace(look, identifier=rises or (unique and high - low == n - 1), codes=told)


def _extreme_findings(passed: Passed, sample: Array, looks: Sequence[Look], labels: Sequence[str]) -> list[Finding]:
    """Return findings about the farthest values of all rows; the sample decides how far is far."""
    most = most_far(passed.complete)
    tails: list[Tail | None] = [None] * len(looks)
    cells: list[tuple[int, Index, Array]] = []
    for j, look in enumerate(looks):
        odd = np.array([*(code.value for code in look.codes), *(pile.value for pile in look.piles)])
        few = sample[~np.isin(sample[:, j], odd), j]
        if look.tail is None or not len(few) or spread(few) <= 0.0:
            continue
        found = passed.tail(j, float(np.median(few)), spread(few), odd)
        if found is not None:
            tail, values = found
            tails[j] = Tail(tail.rows[:most], tail.distance[: most + 1])
            cells.append((j, tail.rows[:most], values))
    at = np.unique(np.concatenate([rows for _, rows, _ in cells])) if cells else np.zeros(0, dtype=np.intp)
    X = np.full((len(at), len(labels)), np.nan)
    for j, rows, values in cells:
        X[np.searchsorted(at, rows), j] = values[: len(rows)]
    placed = [None if one is None else Tail(np.searchsorted(at, one.rows), one.distance) for one in tails]
    return extreme_findings(placed, X, labels, at)
