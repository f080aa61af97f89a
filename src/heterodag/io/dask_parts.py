"""Read Dask DataFrames part by part: one part per partition, computed in the process that reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.errors import DataError, DataTypeError


@dataclass(frozen=True, eq=False)
class DaskPart:
    """One partition: the tasks that compute it, and which of its columns are used."""

    number: int
    rows: int
    columns: tuple[Any, ...]
    tasks: dict[Any, Any] = field(repr=False)
    key: Any = field(repr=False)

    @property
    def label(self) -> str:
        """Which partition."""
        return f"partition {self.number} of the Dask DataFrame"

    def read(self) -> Array:
        """Compute the partition in this process and return its numbers (rows, d)."""
        import dask

        try:
            frame = dask.get(self.tasks, self.key)  # type: ignore[attr-defined]
            X = _numbers(frame, self.columns)
        except Exception as error:  # whatever a partition's own tasks may raise
            reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
            raise DataError(
                f"{self.label.capitalize()} cannot be computed ({reason}): check where it comes from."
            ) from None
        if len(X) != self.rows:
            raise DataError(
                f"{self.label.capitalize()} had {self.rows} rows when the table was opened and now has {len(X)}: open it "
                "again, from a source that stays as it is."
            )
        return X


def _numbers(frame: Any, columns: Sequence[Any]) -> Array:
    X = np.empty((len(frame), len(columns)))
    for j, name in enumerate(columns):
        X[:, j] = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
    return X


def is_dask_frame(X: Any) -> bool:
    """Tell whether `X` is a Dask DataFrame."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "npartitions") and X.ndim == 2


def check_dask_columns(frame: Any, columns: Sequence[Any]) -> None:
    """Raise `DataTypeError` if the type of a column is not numeric."""
    from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype

    for name in columns:
        type_ = frame.dtypes[name]
        if is_complex_dtype(type_) or not (is_numeric_dtype(type_) or is_bool_dtype(type_)):
            raise DataTypeError(
                f"Column '{name}' of the Dask DataFrame holds {type_} and no numbers: turn it into numbers, or leave it out "
                "with `drop`."
            )


def dask_parts(frame: Any, columns: Sequence[Any]) -> list[DaskPart]:
    """Return one part per partition that has rows; the rows are counted once, by Dask's own scheduler."""
    import dask
    from dask.optimization import cull

    frame = dask.optimize(frame[list(columns)])[0]  # type: ignore[attr-defined, no-untyped-call]
    try:
        counts = [int(count) for count in frame.map_partitions(len, meta=("rows", "int64")).compute()]
    except Exception as error:  # whatever the tasks may raise
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise DataError(f"The Dask DataFrame cannot be computed ({reason}): check where it comes from.") from None
    tasks = dict(frame.__dask_graph__())
    return [
        DaskPart(k, rows, tuple(columns), cull(tasks, [key])[0], key)  # type: ignore[no-untyped-call]
        for k, (key, rows) in enumerate(zip(frame.__dask_keys__(), counts, strict=True))
        if rows
    ]
