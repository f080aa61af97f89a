"""Turn whatever table a user has into a finite float array and column names, or say in one sentence why not."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular

from heterodag.core.table import location_and_scale, row_slices
from heterodag.errors import DataError, DataTypeError, DataWarning, FitWarning, ParameterError, check_choice, warn

Array = npt.NDArray[np.float64]

#: A column is called collinear when the others explain all but this share of its variance.
COLLINEAR = 1e-12
_SHOWN = 5
#: Columns of Python objects, examined cell by cell; polars gives a column that holds only nulls the type unknown.
_OBJECTS = (nw.Object, nw.Unknown)
#: What to do about missing values.
MISSING = ("refuse", "drop")


class IntegerLabel(str):
    """The name of a column whose label in the user's table is a whole number, as pandas allows.

    Names are text everywhere: in results, in files, in messages. The type remembers that the table itself calls the column
    3 and not "3", so that a 3 in prior knowledge, interventions or a question means this label and not an index.
    Otherwise it behaves like the text, and it survives lists, object arrays and pickles. JSON loses the type, so a
    JSON file has to store it separately (see `scm.files`).
    """

    __slots__ = ()


def column_name(label: Any) -> str:
    """Return a column's label as a name."""
    whole = isinstance(label, Integral) and not isinstance(label, bool | np.bool_)
    return IntegerLabel(label) if whole else str(label)


def own_labels(names: Sequence[str]) -> list[str | int]:
    """Return names as the labels that the user's table has: the inverse of `column_name`."""
    return [int(name) if isinstance(name, IntegerLabel) else name for name in names]


def read_data(X: Any) -> tuple[Array, list[str] | None]:
    """Return `X` as a 2-D float64 array and its column names (None if it has none), or raise `DataError`."""
    if isinstance(X, str | bytes | os.PathLike):
        path = os.fsdecode(X)
        raise DataTypeError(
            f"`X` must be a table, not the path '{path}': read the file first, for instance with pandas.read_csv, or "
            f"run the command `heterodag fit {path}`."
        )
    try:
        frame = nw.from_native(X, eager_only=True, strict=False)
    except nw.exceptions.DuplicateError:
        repeated = sorted({str(c) for c in X.columns if list(X.columns).count(c) > 1})
        raise DataError(f"{_columns(repeated)} there more than once: give every column its own name.") from None
    if isinstance(frame, nw.DataFrame):
        return _from_frame(frame)
    _refuse_unread(X)
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(float), np.nan)
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise DataError("`X` is a sparse matrix, which is not supported: pass X.toarray().")
    try:
        array = np.asarray(X)
    except ValueError:
        raise DataError("The rows have different lengths: every row needs one value for each column.") from None
    if array.ndim == 0 or array.dtype.names is not None:
        remedy = "pandas.DataFrame(X)" if array.dtype.names or isinstance(X, Mapping) else "an array or a data frame"
        raise DataTypeError(
            f"`X` must be a table, rows of numbers in columns; got {type(X).__name__}: pass {remedy}."
        )
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


def _refuse_unread(X: Any) -> None:
    """Refuse tables whose rows are not in memory, and say what to pass instead."""
    from heterodag.io.opened import OpenTable  # here, because that module imports this one

    if isinstance(X, OpenTable):
        raise DataError("`X` is a table on disk; this needs one in memory: pass X.sample(100_000).")
    dask = hasattr(X, "npartitions") and hasattr(X, "compute")
    if dask or hasattr(X, "collect"):
        what, whole = ("Dask DataFrame", "compute") if dask else ("lazy frame", "collect")
        raise DataError(
            f"`X` is a {what}, whose rows are not in memory; this needs a table that is: pass X.{whole}(), or "
            "heterodag.open_table(X).sample(100_000) if it is large."
        )


def check_data(X: Any, missing: str = "refuse") -> tuple[Array, list[str] | None]:
    """Return `(array, names)` of a table on which a graph can be learned, or raise `DataError`.

    These are refused, with the columns named: an empty table, too few rows for the columns, text, missing and
    infinite values, constant columns, columns that repeat each other or are linear functions of others.
    With `missing="drop"`, rows with missing values are left out instead, with a `DataWarning` that counts them.
    """
    check_choice("missing", missing, MISSING)
    array, names = read_data(X)
    labels = column_labels(array.shape[1], names)
    if missing == "drop":
        array = _drop_missing(array, labels)
    check_shape(array)
    _check_finite(array, labels)
    check_constant(array.max(axis=0) == array.min(axis=0), labels)
    check_copies(array, labels)
    return array, names


def column_labels(d: int, names: Sequence[str] | None) -> list[str]:
    """Return the names, or x0, x1, ... for a table without names."""
    return list(names) if names is not None else [f"x{i}" for i in range(d)]


def column_index(argument: str, column: Any, labels: Sequence[str]) -> int:
    """Return the index of a column given by name or index, or raise `ParameterError` for `argument`.

    A whole number is a label if the table's own labels are whole numbers, and an index in any other table.
    """
    if isinstance(column, str):
        if column in labels:
            return list(labels).index(column)
        near = difflib.get_close_matches(column, labels, n=1)
        remedy = f"Did you mean '{near[0]}'?" if near else f"The columns are {_shown_labels(labels)}."
        raise ParameterError(argument, "name columns of the table", column, remedy)
    whole = isinstance(column, int | np.integer) and not isinstance(column, bool)
    numbers = [label for label in labels if isinstance(label, IntegerLabel)]
    if whole and numbers:
        if str(column) in numbers:
            return list(labels).index(str(column))
        rule = "name columns by the table's own labels, which are whole numbers here and no indices"
        raise ParameterError(argument, rule, column, f"The columns are {_shown_labels(labels)}.")
    if not whole or not 0 <= column < len(labels):
        raise ParameterError(argument, f"use column names, or indices from 0 to {len(labels) - 1}", column)
    return int(column)


def _shown_labels(labels: Sequence[str]) -> str:
    shown = [str(label) if isinstance(label, IntegerLabel) else f"'{label}'" for label in labels[:12]]
    return ", ".join(shown) + (", ..." if len(labels) > 12 else "")


def _from_frame(frame: nw.DataFrame[Any]) -> tuple[Array, list[str] | None]:
    names = [column_name(c) for c in frame.columns]
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:  # the number 3 and the text "3" are two labels and one name
        raise DataError(f"{_columns(repeated)} there more than once: give every column its own name.")
    series = dict(zip(names, frame.iter_columns(), strict=True))
    text = [name for name in names if not _is_numeric(series[name])]
    if text:
        raise DataTypeError(_not_numeric(text, series))
    columns = [_floats(column, name) for name, column in series.items()]
    if not columns:
        return np.empty((len(frame), 0)), names
    return np.ascontiguousarray(np.column_stack(columns), dtype=np.float64), names


def _not_numeric(text: list[str], series: Mapping[str, Any]) -> str:
    categories = [name for name in text if all(_is_number(v) for v in series[name].to_list())]
    if categories:
        return (
            f"{_columns(categories)} categorical: if the numbers are amounts, convert them with astype(float); if they are "
            "codes of groups, drop the column."
        )
    example = next(v for v in series[text[0]].to_list() if not _is_number(v))
    return (
        f"{_columns(text)} not numeric (for example {example!r} in '{text[0]}'): every column must hold "
        "numbers; drop or encode the others first."
    )


def _floats(column: Any, name: str) -> Array:
    if column.dtype in _OBJECTS:
        return _cells_as_floats(column.to_list(), name)
    return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _cells_as_floats(cells: Sequence[Any], name: str) -> Array:
    """Return Python objects as floats, or raise `DataError`; Python's whole numbers can be too large for a float."""
    values = np.empty(len(cells))
    for row, cell in enumerate(cells):
        try:
            values[row] = np.nan if cell is None else float(cell)
        except OverflowError:
            raise DataError(
                f"Column '{name}' holds a number beyond 1.8e308 in row {row}, more than a floating-point number can hold: "
                "correct that cell or rescale the column."
            ) from None
        except (TypeError, ValueError) as error:
            raise DataTypeError(
                f"Column '{name}' holds no number in row {row} ({error}): correct that cell."
            ) from None
    return values


def without_text(X: Any) -> tuple[Any, dict[str, Any]]:
    """Return a frame without the columns that hold no numbers, and an example of what each of these holds."""
    try:
        frame = nw.from_native(X, eager_only=True, strict=False)
    except nw.exceptions.DuplicateError:  # `read_data` reports it
        return X, {}
    if not isinstance(frame, nw.DataFrame):
        return X, {}
    text = {
        name: column
        for name, column in zip(frame.columns, frame.iter_columns(), strict=True)
        if not _is_numeric(column)
    }
    cells = {str(name): column.to_list() for name, column in text.items()}
    examples = {
        name: next((v for v in own if not _is_number(v)), own[0] if own else None) for name, own in cells.items()
    }
    return (frame.drop(*text).to_native() if text else X), examples


def _is_numeric(series: Any) -> bool:
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return True
    return series.dtype in _OBJECTS and all(_is_number(v) for v in series.to_list())


def _is_number(value: Any) -> bool:
    return value is None or (hasattr(value, "__float__") and not isinstance(value, str | complex))


def _from_objects(array: npt.NDArray[Any]) -> Array:
    bad = [(i, j) for j in range(array.shape[1]) for i in range(len(array)) if not _is_number(array[i, j])]
    if bad:
        columns = sorted({j for _, j in bad})
        row, column = bad[0]
        raise DataTypeError(
            f"{_columns([f'x{j}' for j in columns])} not numeric (for example {array.tolist()[row][column]!r} in row {row} "
            f"of x{column}): every column must hold numbers; an argument must be a string or a number."
        )
    if not array.size:
        return np.empty(array.shape)
    return np.column_stack([_cells_as_floats(column.tolist(), f"x{j}") for j, column in enumerate(array.T)])


def _columns(names: Sequence[str]) -> str:
    """Return "Column 'a' is" or "Columns 'a', 'b' are", shortened when there are many."""
    shown = ", ".join(f"'{n}'" for n in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"Column {shown} is" if len(names) == 1 else f"Columns {shown}{more} are"


def check_shape(array: Array) -> None:
    """Raise `DataError` if the table is empty or has too few rows for its columns."""
    n, d = array.shape
    if d == 0:
        raise DataError(f"0 feature(s) (shape=({n}, 0)) while a minimum of 1 is required: the table is empty.")
    if n == 0:
        raise DataError(f"The table is empty: 0 rows (shape=(0, {d})).")
    # Beyond 20 columns, variables are fitted given a few parents, not given all others.
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
    warn(sentence, DataWarning, stacklevel=4)
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
            "(--missing drop). The count per column is in parentheses."
        )
    infinite = np.flatnonzero(np.isinf(array).any(axis=0))
    if infinite.size:
        raise DataError(
            f"{_columns([labels[j] for j in infinite])} not finite: infinite values (inf) must be "
            "replaced or their rows dropped."
        )


def check_constant(constant: npt.NDArray[np.bool_], labels: Sequence[str]) -> None:
    """Raise `DataError` if a column never varies."""
    if constant.any():
        raise DataError(
            f"{_columns([labels[j] for j in np.flatnonzero(constant).tolist()])} constant: a column that never varies can "
            "be neither cause nor effect; drop it."
        )


def check_copies(array: Array, labels: list[str]) -> None:
    """Raise `DataError` if a column repeats another or is a linear function of others."""
    (_check_collinear if len(array) > array.shape[1] + 2 else _check_duplicates)(array, labels)


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
    """Look only for copies, when there are so few rows that all columns are collinear."""
    location, scale = location_and_scale(array)
    scaled = (array - location) / scale
    alike = np.triu(np.abs(scaled.T @ scaled) / len(array) > 1.0 - COLLINEAR, k=1)
    if alike.any():
        i, j = np.argwhere(alike)[0]
        raise DataError(_collinear_message(scaled, [int(i)], int(j), labels))


def _really_collinear(scaled: Array, basis: list[int], j: int) -> bool:
    """Compare the residual with the bulk of the column: one shared outlier is not collinearity."""
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
        warn(
            f"The conditional model of {named} did not converge in some fit: its last iterate was used.",
            FitWarning,
            stacklevel=4,
        )


def named_rows(values: Array, names: Sequence[str], X: Any) -> Any:
    """Return values as a pandas frame with these names, and with the index of `X` if it has one for as many rows."""
    import pandas as pd

    index = X.index if isinstance(X, pd.DataFrame) and len(X) == len(values) else None
    return pd.DataFrame(values, columns=list(names), index=index)
