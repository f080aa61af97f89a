"""Read a table that is not in memory, in one pass over its rows, and refuse what a fit could not use.

The pass finds moments, gaps and extremes, and draws the sample that stands for the table during the search for an
order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from heterodag.checks.autocorrelation import RUN, stretch_starts
from heterodag.checks.findings import Findings
from heterodag.checks.opened import opened_findings
from heterodag.checks.passing import Passed
from heterodag.core.blocks import LongTable
from heterodag.core.gaussian import Array
from heterodag.core.survey import Gap, Map, Survey, survey
from heterodag.errors import DataError, DataWarning, ParameterError, warn
from heterodag.io.inputs import MISSING, check_constant, check_copies, check_shape
from heterodag.io.opened import OpenTable, row_place
from heterodag.knowledge import Study
from heterodag.knowledge.prior import resolved
from heterodag.scores.long import SAMPLE_ROWS
from heterodag.scores.make import ScoreSettings

#: With very many columns the sample is smaller: it holds at most this many numbers.
_SAMPLE_FLOATS = 2**26


def check_supported(settings: ScoreSettings, selection: str | Callable[..., Any], interventions: Any) -> None:
    """Refuse settings that need all rows at once, before any row is read."""
    remedy = "Pass X.sample(100_000) for a fit in memory."
    if interventions is not None:
        raise ParameterError("interventions", "be None with a table on disk", type(interventions).__name__, remedy)
    if selection != "likelihood":
        raise ParameterError("selection", "be 'likelihood' with a table on disk", selection, remedy)
    if not settings.linear_in_coefficients:
        rule = "be 'auto' or 'linear' with a table on disk (or 'spline' with noise='auto')"
        raise ParameterError("parametrization", rule, settings.parametrization, remedy)


def read_long_study(
    table: OpenTable, prior_knowledge: Any, missing: str, rng: np.random.Generator, run: Map, check: bool
) -> Study:
    """Look at all rows once and return the study; with `check`, also collect what the check of the table needs."""
    (n, d), labels = table.shape, table.names
    if missing not in MISSING:
        raise ParameterError("missing", f"be one of {', '.join(map(repr, MISSING))}", missing)
    knowledge = resolved(prior_knowledge, labels, d)
    starts = stretch_starts(n, d)
    stretches = np.array([[0, n]]) if starts is None else np.column_stack([starts, starts + RUN])
    rows = max(1000, min(SAMPLE_ROWS, _SAMPLE_FLOATS // d))
    found = survey(table.parts, rows, rng, run, *((stretches, _pass) if check else ()))
    _check_gaps(found, labels, missing)
    check_shape(found.sample)
    check_constant(found.low == found.high, labels)
    check_copies(found.sample, labels)
    return Study(found.sample, labels, d, knowledge, long=LongTable(table.parts, found))


def long_findings(long: LongTable, labels: Sequence[str]) -> Findings:
    """Return what the check of a table finds in the sample, in stretches of neighbouring rows, and in all rows."""
    found = long.survey
    stretches = [rows[np.isfinite(rows).all(axis=1)] for rows in found.stretches]
    return opened_findings(
        found.sample, stretches, found.n_rows, labels, positions=found.positions, passed=found.seen
    )


def _pass(X: Array) -> Passed:
    passed = Passed(X.shape[1])
    passed.add(X)
    return passed


def _check_gaps(found: Survey, labels: Sequence[str], missing: str) -> None:
    gap = found.gap
    if gap is None:
        return
    where = f"column '{labels[gap.column]}' of row {gap.row} of the table ({row_place(gap.part, gap.within)})"
    if gap.infinite:
        raise DataError(
            f"Infinite values (inf) in {_rows(gap)}, the first in {where}: they must be replaced or their rows dropped."
        )
    if missing == "refuse":
        raise DataError(
            f"Missing values (NaN) in {_rows(gap)}, the first in {where}: fill them in, or leave those rows out with "
            "missing='drop' (--missing drop)."
        )
    if not found.n_rows:
        raise DataError(f"Every row has a missing value, the first in {where}: drop such columns first.")
    left = f"{found.dropped} of {found.n_rows + found.dropped} rows have missing values and were left out"
    warn(f"{left}; the first is in {where}.", DataWarning, stacklevel=5)


def _rows(gap: Gap) -> str:
    return "1 row" if gap.rows == 1 else f"{gap.rows} rows"
