"""Check a table before a fit: is it what the models are made for? Every answer is a finding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from heterodag.checks.autocorrelation import Runs, runs, sorted_columns
from heterodag.checks.codes import code_findings
from heterodag.checks.columns import identifier_finding, kind_findings, running_finding
from heterodag.checks.findings import Finding, Findings
from heterodag.checks.outliers import extreme_findings
from heterodag.checks.overlap import overlap_findings
from heterodag.checks.piles import pile_findings
from heterodag.checks.profile import Look, look_at
from heterodag.checks.refused import (
    FEWEST_ROWS,
    check_groups,
    constant_findings,
    gap_findings,
    refused_findings,
    text_findings,
)
from heterodag.checks.repeats import repeat_findings, unit_findings
from heterodag.checks.rows import row_findings
from heterodag.core.gaussian import Array, Index, Mask
from heterodag.errors import check_choice
from heterodag.io.inputs import MISSING, column_labels, read_data, without_text
from heterodag.io.opened import as_open_table

#: After a red finding of these checks there is nothing to learn: a fit should be refused unless the user insists.
REFUSED = frozenset({"random-walk"})
#: With fewer rows than this, or fewer than columns, much of a graph is chance: HOST made 1.9 errors in graphs of 5
#: edges at 50 rows, 0.7 at 100 and 0.2 at 200 (docs/data-check.md).
FEW_ROWS = 100
TITLE = "Check of the table"


def check_table(X: Any, *, missing: str = "refuse", groups: Any = None) -> Findings:
    """Check a table before a fit: rows, columns, values; each finding is a sentence with its remedy.

    Parameters
    ----------
    X : array, pandas or polars DataFrame of shape (n, d), or OpenTable
        The table as `HOST.fit` would get it. What a fit refuses (text, missing values, constant columns) is a red finding.
    missing : {"refuse", "drop"}, default="refuse"
        What a fit will do about missing values. In either case the other checks use the rows without any.
    groups : (n,) array, optional
        The condition of every row, if the table holds experiments: rows are compared within conditions.

    Returns
    -------
    Findings
        Green: fine. Amber: read the result with care. Red: the result may well mean nothing until the remedy has been
        tried. `rows` are positions in `X`, counted from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from heterodag import check_table
    >>> walk = np.cumsum(np.random.default_rng(0).standard_normal((1000, 5)), axis=0)
    >>> check_table(walk).worst
    'red'
    """
    check_choice("missing", missing, MISSING)
    if (table := as_open_table(X)) is not None:
        from heterodag.checks.opened import check_opened  # here, because that module imports this one

        return check_opened(table, missing, groups)
    X, text = without_text(X)
    array, names = read_data(X)
    labels = column_labels(array.shape[1], names)
    found = text_findings(text)
    gaps, kept = gap_findings(array, labels, missing)
    found += gaps
    if not kept.any() and len(array):
        return Findings(found, TITLE)
    array = array if kept.all() else np.ascontiguousarray(array[kept])
    constant, varying = constant_findings(array, labels)
    found += constant
    if len(varying) < len(labels):
        array, labels = np.ascontiguousarray(array[:, varying]), [labels[j] for j in varying]
    refused = refused_findings(array, labels)
    found += refused
    if len(array) < FEWEST_ROWS or not labels:
        return Findings(found, TITLE)
    codes = None if groups is None else np.unique(check_groups(groups, len(kept)), return_inverse=True)[1][kept]
    rest = table_findings(array, labels, groups=codes, positions=np.flatnonzero(kept))
    said = {one.topic for one in refused}  # exact copies and too few rows need not be reported twice
    return Findings([*found, *(one for one in rest if one.topic not in said)], TITLE)


def refusal(findings: Findings) -> Finding | None:
    """Return the first finding for which a fit should be refused, or None."""
    return next((one for one in findings.of("red") if one.check in REFUSED), None)


def table_findings(
    array: Array,
    labels: Sequence[str],
    *,
    groups: Index | None = None,
    fixed: Mask | None = None,
    positions: Index | None = None,
) -> Findings:
    """Check a finite array that a graph can be learned from (what `check_data` returns).

    Parameters
    ----------
    array : (n, d) array without missing values.
    labels : names of the columns.
    groups : (n,) whole numbers, optional
        The condition of every row: rows are compared within conditions.
    fixed : (n, d) bool, optional
        Cells that were set from outside: they say nothing about the kind of a column.
    positions : (n,) whole numbers, optional
        Positions of the rows in the user's table, if some were left out; findings name these.

    Returns
    -------
    Findings
        At least one per topic, green where nothing was found.
    """
    at = np.arange(len(array)) if positions is None else positions
    with np.errstate(over="ignore", invalid="ignore"):  # differences of values near the largest possible one
        looks = [look_at(array[:, j], None if fixed is None else fixed[:, j], at) for j in range(array.shape[1])]
        found = [
            *size_findings(*array.shape),
            *_row_findings(array, labels, groups, looks, at),
            *column_findings(labels, looks),
            *odd_findings(labels, looks),
            *extreme_findings([look.tail for look in looks], array, labels, at),
            *overlap_findings(array, labels),
        ]
    return Findings(found, TITLE)


def size_findings(n: int, d: int) -> list[Finding]:
    """Say whether there are enough rows."""
    size = f"{n} rows for {d} column{'' if d == 1 else 's'}"
    if n < max(FEW_ROWS, d):
        remedy = (
            f"With fewer than {max(FEW_ROWS, d)} rows many edges are missed or wrong: collect more, or drop columns."
        )
        return [Finding("amber", "size", "few-rows", f"{size} are few.", remedy)]
    return [Finding("green", "size", "few-rows", f"{size}.")]


def _row_findings(
    array: Array, labels: Sequence[str], groups: Index | None, looks: Sequence[Look], at: Index
) -> list[Finding]:
    repeated = repeat_findings(array, [look.counted for look in looks], at)
    of, in_order = runs(array, groups), sorted_columns(array, groups)
    return order_findings(len(array), array, of, in_order, labels, looks, repeated)


def order_findings(
    n: int,
    array: Array,
    of: Runs,
    in_order: Sequence[int],
    labels: Sequence[str],
    looks: Sequence[Look],
    repeated: Sequence[Finding],
) -> list[Finding]:
    """Return findings about rows of the same units and about rows that are like their neighbours.

    `array` has the rows that `of` describes, n is the number of all rows; `repeated` are findings already made.
    """
    numbered = [j for j, look in enumerate(looks) if look.running or look.identifier]
    whole = [j for j, look in enumerate(looks) if look.counted.whole and not look.running]
    units = unit_findings(array, of, labels, whole)
    along = row_findings(n, labels, of, in_order, numbered)
    if units and units[0].columns[0] in [labels[j] for j in in_order]:  # sorted by unit, which `units` says already
        along = [one for one in along if one.check == "random-walk"]
    found = [*units, *repeated]
    return [*found, *(one for one in along if not found or one.severity != "green")]


def column_findings(labels: Sequence[str], looks: Sequence[Look]) -> list[Finding]:
    """Say what kind of values the columns hold."""
    named = list(zip(labels, looks, strict=True))
    found = []
    if running := [name for name, look in named if look.running]:
        found.append(running_finding(running))
    if identifiers := [name for name, look in named if look.identifier]:
        found.append(identifier_finding(identifiers))
    found += kind_findings({name: (look.kind, look.counted) for name, look in named if look.kind is not None})
    if not found:
        sentence = "All columns hold continuous values." if len(labels) > 1 else "The column holds continuous values."
        found.append(Finding("green", "columns", "kinds", sentence))
    return found


def odd_findings(labels: Sequence[str], looks: Sequence[Look]) -> list[Finding]:
    """Say which values are codes or pile up."""
    named = list(zip(labels, looks, strict=True))
    return [
        *code_findings({name: look.codes for name, look in named if look.codes}),
        *pile_findings({name: look.piles for name, look in named if look.piles}),
    ]
