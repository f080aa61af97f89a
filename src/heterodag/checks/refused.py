"""Findings about what a fit refuses: text, missing or infinite values, constant columns, too few rows, copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterodag.checks.findings import Finding
from heterodag.checks.words import columns, joined, rows, share, verb
from heterodag.core.gaussian import Array, Mask
from heterodag.errors import DataError, ParameterError
from heterodag.io.inputs import check_copies, check_shape

#: Above this share, rows lost to missing values are an amber finding.
MANY_LOST = 0.05
#: Positions of rows that a finding keeps.
KEPT_ROWS = 100
#: Fewer rows than this tell nothing at all.
FEWEST_ROWS = 5


def text_findings(text: Mapping[str, Any]) -> list[Finding]:
    """Say which columns hold no numbers; `text` has an example of each."""
    if not text:
        return []
    held = [f"{example!r} in '{name}'" for name, example in text.items()]
    hold = verb(list(text), "holds", "hold")
    sentence = f"{columns(list(text))} {hold} something other than numbers ({joined(held, 3)}); a fit refuses that."
    it = verb(list(text), "it", "them")
    remedy = f"Turn {it} into numbers, or leave {it} out; the rest of this check is about the other columns."
    return [Finding("red", "columns", "text", sentence, remedy, tuple(text))]


def gap_findings(array: Array, labels: Sequence[str], missing: str) -> tuple[list[Finding], Mask]:
    """Return findings about missing and infinite values, and which rows have none."""
    with np.errstate(all="ignore"):
        if np.isfinite(array.sum()):
            return [], np.ones(len(array), dtype=bool)
    finite, found, n = np.isfinite(array), [], len(array)
    empty = np.isnan(array)
    lost = int(empty.any(axis=1).sum())
    if lost:
        each = {labels[j]: int(empty[:, j].sum()) for j in np.flatnonzero(empty.any(axis=0)).tolist()}
        found.append(missing_finding(lost, n, each, missing))
    endless = ~finite & ~empty
    if endless.any():
        names = [labels[j] for j in np.flatnonzero(endless.any(axis=0)).tolist()]
        found.append(infinite_finding(names, np.flatnonzero(endless.any(axis=1)).tolist()))
    return found, np.asarray(finite.all(axis=1))


def missing_finding(lost: int, n: int, each: Mapping[str, int], missing: str) -> Finding:
    """Say that `lost` of n rows have missing values; `each` counts them per column."""
    names, counts = list(each), joined([f"'{name}' ({count})" for name, count in each.items()])
    sentence = f"{lost} of {n} rows ({share(lost / n)}) have missing values, in {counts}"
    if missing == "refuse":
        remedy = (
            f"Fill them in, or leave those rows out with missing='drop' (--missing drop), which keeps {n - lost}."
        )
        if n - lost < FEWEST_ROWS:
            remedy = "Fill them in, or leave out the columns that have most of them."
        return Finding("red", "size", "missing", f"{sentence}; a fit refuses them.", remedy, tuple(names))
    remedy = "If what is missing depends on its value, the other rows are not representative."
    severity = "amber" if lost > MANY_LOST * n else "green"
    return Finding(severity, "size", "missing", f"{sentence}, and are left out.", remedy, tuple(names))


def infinite_finding(names: Sequence[str], at: Sequence[int]) -> Finding:
    """Say which columns hold infinite values, in these rows."""
    hold = verb(names, "holds", "hold")
    sentence = f"{columns(names)} {hold} infinite values, in {rows(at)}; a fit refuses them."
    remedy = "Replace them, or leave those rows out."
    return Finding("red", "values", "infinite", sentence, remedy, tuple(names), tuple(at[:KEPT_ROWS]))


def constant_findings(array: Array, labels: Sequence[str]) -> tuple[list[Finding], list[int]]:
    """Return a finding about columns that never vary, and the indices of the others."""
    if not array.size:
        return [], list(range(len(labels)))
    varies = array.max(axis=0) > array.min(axis=0)
    names = [label for label, some in zip(labels, varies, strict=True) if not some]
    others = np.flatnonzero(varies).tolist()
    if not names or len(array) == 1:
        return [], list(range(len(labels)))
    return [constant_finding(names)], others


def constant_finding(names: Sequence[str]) -> Finding:
    """Say that columns never vary."""
    sentence = f"{columns(names)} {verb(names, 'is', 'are')} constant; a fit refuses that."
    return Finding("red", "columns", "constant", sentence, f"Leave {verb(names, 'it', 'them')} out.", tuple(names))


def refused_findings(array: Array, labels: Sequence[str]) -> list[Finding]:
    """Say, in the words of the refusal, that there are too few rows or that columns are exactly collinear."""
    try:
        check_shape(array)
    except DataError as error:
        return [Finding("red", "size", "few-rows", str(error), "A fit refuses fewer.")]
    try:
        check_copies(array, list(labels))
    except DataError as error:
        return [Finding("red", "overlap", "copies", str(error), "A fit refuses them as they are.")]
    return []


def check_groups(groups: Any, n: int) -> NDArray[Any]:
    """Return the conditions of the rows as an array, or raise `ParameterError`."""
    values = np.asarray(groups)
    values = values.astype(str) if values.dtype == object else values
    if values.shape != (n,):
        raise ParameterError("groups", f"have one entry per row of the table, {n}", f"shape {values.shape}")
    return values
