"""From whatever table a user has to a finite float array and column names, or one clear sentence why not."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular

from heterodag.core.table import location_and_scale, row_slices
from heterodag.errors import DataError, DataTypeError, DataWarning, FitWarning, ParameterError, check_choice

Array = npt.NDArray[np.float64]

#: A column is called collinear when the others explain all but this share of its variance.
COLLINEAR = 1e-12
_SHOWN = 5
#: What to do about missing values.
MISSING = ("refuse", "drop")


def read_data(X: Any) -> tuple[Array, list[str] | None]:
    """Return `X` as a 2-D float64 array and its column names (None if it has none), or raise `DataError`."""
    try:
        frame = nw.from_native(X, eager_only=True, strict=False)
    except nw.exceptions.DuplicateError:
        repeated = sorted({str(c) for c in X.columns if list(X.columns).count(c) > 1})
        raise DataError(f"{_columns(repeated)} there more than once: give every column its own name.") from None
    if isinstance(frame, nw.DataFrame):
        return _from_frame(frame)
    if hasattr(X, "collect"):
        raise DataError("`X` is a lazy frame, which holds no rows yet: pass X.collect().")
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(float), np.nan)
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise DataError("`X` is a sparse matrix, which is not supported: pass X.toarray().")
    try:
        array = np.asarray(X)
    except ValueError:
        raise DataError("The rows have different lengths: every row needs one value for each column.") from None
    if array.ndim != 2:
        raise DataError(
            f"Expected 2D array (rows are observations, columns are variables), got {array.ndim}D array instead. "
            "Reshape your data either using array.reshape(-1, 1) if it has a single variable or "
            "array.reshape(1, -1) if it contains a single sample."
        )
    if array.dtype.kind == "c":
        raise DataError("Complex data not supported: pass real and imaginary parts as columns of their own.")
    if array.dtype.kind in "mM":
        raise DataTypeError("`X` holds dates or durations: convert them to numbers, for instance days since a start.")
    if array.dtype.kind not in "fiub":
        return _from_objects(array), None
    return np.asarray(array, dtype=np.float64), None


def check_data(X: Any, missing: str = "refuse") -> tuple[Array, list[str] | None]:
    """Return `(array, names)` of a table on which a graph can be learned, or raise `DataError`.

    Refused, each with the columns named: an empty table, too few rows for the columns, text, missing and
    infinite values, constant columns, columns that repeat each other or are linear functions of others.
    With `missing="drop"`, rows with missing values are left out instead, with a `DataWarning` that counts them.
    """
    check_choice("missing", missing, MISSING)
    array, names = read_data(X)
    labels = column_labels(array.shape[1], names)
    if missing == "drop":
        array = _drop_missing(array, labels)
    _check_shape(array)
    _check_finite(array, labels)
    _check_constant(array, labels)
    (_check_collinear if len(array) > array.shape[1] + 2 else _check_duplicates)(array, labels)
    return array, names


def column_labels(d: int, names: Sequence[str] | None) -> list[str]:
    """Return the names, or x0, x1, ... for a table without names."""
    return list(names) if names is not None else [f"x{i}" for i in range(d)]


def column_index(argument: str, column: Any, labels: Sequence[str]) -> int:
    """Return the index of a column given by name or index, or raise `ParameterError` for `argument`."""
    if isinstance(column, str):
        if column in labels:
            return list(labels).index(column)
        near = difflib.get_close_matches(column, labels, n=1)
        shown = ", ".join(f"'{label}'" for label in labels[:12]) + (", ..." if len(labels) > 12 else "")
        remedy = f"Did you mean '{near[0]}'?" if near else f"The columns are {shown}."
        raise ParameterError(argument, "name columns of the table", column, remedy)
    whole = isinstance(column, int | np.integer) and not isinstance(column, bool)
    if not whole or not 0 <= column < len(labels):
        raise ParameterError(argument, f"use column names, or indices from 0 to {len(labels) - 1}", column)
    return int(column)


def _from_frame(frame: nw.DataFrame[Any]) -> tuple[Array, list[str] | None]:
    names = [str(c) for c in frame.columns]
    series = dict(zip(names, frame.iter_columns(), strict=True))
    text = [name for name in names if not _is_numeric(series[name])]
    if text:
        example = next((v for v in series[text[0]].to_list() if not _is_number(v)), None)
        raise DataTypeError(
            f"{_columns(text)} not numeric (for example {example!r} in '{text[0]}'): every column must hold "
            "numbers; drop or encode the others first."
        )
    columns = [column.cast(nw.Float64).to_numpy() for column in series.values()]
    if not columns:
        return np.empty((len(frame), 0)), names
    return np.ascontiguousarray(np.column_stack(columns), dtype=np.float64), names


def _is_numeric(series: Any) -> bool:
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return True
    return series.dtype == nw.Object and all(_is_number(v) for v in series.to_list())


def _is_number(value: Any) -> bool:
    return value is None or (hasattr(value, "__float__") and not isinstance(value, str | complex))


def _from_objects(array: npt.NDArray[Any]) -> Array:
    bad = [(i, j) for j in range(array.shape[1]) for i in range(len(array)) if not _is_number(array[i, j])]
    if bad:
        columns = sorted({j for _, j in bad})
        row, column = bad[0]
        raise DataTypeError(
            f"{_columns([f'x{j}' for j in columns])} not numeric (for example {array[row, column]!r} in row {row} "
            f"of x{column}): every column must hold numbers; an argument must be a string or a number."
        )
    return np.where(array == None, np.nan, array).astype(np.float64)  # noqa: E711


def _columns(names: Sequence[str]) -> str:
    """Return "Column 'a' is" or "Columns 'a', 'b' are", shortened when there are many."""
    shown = ", ".join(f"'{n}'" for n in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"Column {shown} is" if len(names) == 1 else f"Columns {shown}{more} are"


def _check_shape(array: Array) -> None:
    n, d = array.shape
    if d == 0:
        raise DataError(f"0 feature(s) (shape=({n}, 0)) while a minimum of 1 is required: the table is empty.")
    if n == 0:
        raise DataError(f"The table is empty: 0 rows (shape=(0, {d})).")
    # Beyond 20 columns variables are fitted given a few parents, not given all others.
    need = max(5, min(d, 20) + 3)
    if n < need:
        samples = "1 sample" if n == 1 else f"{n} rows"
        raise DataError(
            f"Too few rows: {samples} for {d} column(s), at least {need} are needed; "
            "collect more rows or drop columns."
        )


def _drop_missing(array: Array, labels: list[str]) -> Array:
    lost = np.isnan(array).any(axis=1)
    if not lost.any():
        return array
    counts = _counted(_missing_counts(array, labels))
    if lost.all():
        raise DataError(f"Every row has a missing value (in {counts}): drop those columns first.")
    sentence = f"{lost.sum()} of {len(array)} rows have missing values, in {counts}, and were left out."
    warnings.warn(sentence, DataWarning, stacklevel=4)
    return np.ascontiguousarray(array[~lost])


def _counted(counts: Mapping[str, int]) -> str:
    shown = ", ".join(f"'{name}' ({count})" for name, count in list(counts.items())[:_SHOWN])
    return shown + (f" and {len(counts) - _SHOWN} more columns" if len(counts) > _SHOWN else "")


def _missing_counts(array: Array, labels: list[str]) -> dict[str, int]:
    counts = np.isnan(array).sum(axis=0).tolist()
    return {label: count for label, count in zip(labels, counts, strict=True) if count}


def _check_finite(array: Array, labels: list[str]) -> None:
    with np.errstate(all="ignore"):
        if np.isfinite(array.sum()):
            return
    missing = _missing_counts(array, labels)
    if missing:
        raise DataError(
            f"Missing values (NaN) in {_counted(missing)}: fill them in, or leave those rows out with missing='drop' "
            "(the count per column is in parentheses)."
        )
    infinite = np.flatnonzero(np.isinf(array).any(axis=0))
    if infinite.size:
        raise DataError(
            f"{_columns([labels[j] for j in infinite])} not finite: infinite values (inf) must be "
            "replaced or their rows dropped."
        )


def _check_constant(array: Array, labels: list[str]) -> None:
    constant = np.flatnonzero(array.max(axis=0) == array.min(axis=0))
    if constant.size:
        raise DataError(
            f"{_columns([labels[j] for j in constant])} constant: a column that never varies can be neither "
            "cause nor effect; drop it."
        )


def _check_collinear(array: Array, labels: list[str]) -> None:
    location, scale = location_and_scale(array)
    gram = np.zeros((array.shape[1], array.shape[1]))
    for rows in row_slices(len(array), 3 * array.shape[1]):
        block = (array[rows] - location) / scale
        gram += block.T @ block
    gram /= len(array)
    basis: list[int] = []
    factor = np.zeros_like(gram)
    for j in range(gram.shape[0]):
        w = solve_triangular(factor[:j, :j], gram[:j, j], lower=True) if basis else np.zeros(0)
        rest = gram[j, j] - w @ w
        if rest < COLLINEAR * 10 and _really_collinear((array - location) / scale, basis, j):
            raise DataError(_collinear_message((array - location) / scale, basis, j, labels))
        factor[j, :j], factor[j, j] = w, np.sqrt(max(rest, COLLINEAR))
        basis.append(j)


def _check_duplicates(array: Array, labels: list[str]) -> None:
    """Do what is left of the check when rows are so few that all columns are collinear."""
    location, scale = location_and_scale(array)
    scaled = (array - location) / scale
    alike = np.triu(np.abs(scaled.T @ scaled) / len(array) > 1.0 - COLLINEAR, k=1)
    if alike.any():
        i, j = np.argwhere(alike)[0]
        raise DataError(_collinear_message(scaled, [int(i)], int(j), labels))


def _really_collinear(scaled: Array, basis: list[int], j: int) -> bool:
    """Judge the residual against the bulk of the column: one shared outlier is no collinearity."""
    coefficients = np.linalg.lstsq(scaled[:, basis], scaled[:, j], rcond=None)[0]
    residual = scaled[:, j] - scaled[:, basis] @ coefficients
    low, high = np.quantile(scaled[:, j], [0.25, 0.75])
    bulk = (high - low) or float(np.std(scaled[:, j]))
    return bool(np.median(np.abs(residual)) < 1e-6 * bulk)


def _collinear_message(scaled: Array, basis: list[int], j: int, labels: list[str]) -> str:
    coefficients = np.linalg.lstsq(scaled[:, basis], scaled[:, j], rcond=None)[0]
    involved = [labels[b] for b, c in zip(basis, coefficients, strict=True) if abs(c) > 1e-5]
    if len(involved) == 1:
        return (
            f"Columns '{involved[0]}' and '{labels[j]}' are duplicates of each other (up to shift and scale): "
            "drop one of them."
        )
    others = ", ".join(f"'{name}'" for name in involved)
    return f"Column '{labels[j]}' is exactly collinear with {others}: drop one of these columns."


def warn_not_converged(columns: Sequence[int], labels: Sequence[str]) -> None:
    """Warn once, naming the columns whose conditional model did not converge."""
    if columns:
        named = ", ".join(f"'{labels[j]}'" for j in columns)
        warnings.warn(
            f"The conditional model of {named} did not converge in some fit: its last iterate was used.",
            FitWarning,
            stacklevel=4,
        )
