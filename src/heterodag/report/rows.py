"""The rows that the report draws, and the causal model behind its curves."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from heterodag.core.gaussian import Array, Mask
from heterodag.errors import HeterodagError
from heterodag.io.inputs import read_data
from heterodag.knowledge.interventions import Told, read_interventions, take_conditions
from heterodag.scm.model import HeteroscedasticSCM

#: At most this many evenly spaced rows are drawn: pictures of 50,000 rows look like those of a million.
MAX_ROWS = 50_000


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows of the table, evenly spaced if there are many.

    Attributes
    ----------
    table : the rows as the user gave them; None if they are those that a model kept.
    told : what was set or changed in these rows; None if nothing was.
    n_rows : number of rows of the whole table.
    array : (n, d) the rows as numbers, without those that have missing values.
    free : (n, d) bool; False where a variable was set or changed from outside.
    """

    table: Any
    told: Told | None
    n_rows: int
    array: Array
    free: Mask


def drawn_rows(X: Any, interventions: Any, names: list[str]) -> DrawnRows:
    """Return the rows to draw from the table to which a model was fitted."""
    X, interventions = take_conditions(X, interventions)
    step = max(1, math.ceil(len(X) / MAX_ROWS))
    told = None if interventions is None else read_interventions(interventions, names, len(X))
    if step > 1:
        told = None if told is None else told.take(np.arange(0, len(X), step))
    table = X if step == 1 else X.iloc[::step] if hasattr(X, "iloc") else X[::step]
    array = read_data(table)[0]
    kept = ~np.isnan(array).any(axis=1)
    free = np.ones(array.shape, dtype=bool)
    if told is not None:
        free = np.column_stack([told.undisturbed(j) for j in range(array.shape[1])])
    return DrawnRows(table, told, len(X), array[kept], free[kept])


def kept_rows(model: Any) -> DrawnRows:
    """Return the rows that a fitted model kept for pictures."""
    return DrawnRows(None, None, model.n_rows_, model.sample_, model.sample_free_)


def causal_model(model: Any) -> HeteroscedasticSCM | None:
    """Return the causal model of a fit; None if the method has no mechanisms, or ran out of time for them."""
    if not hasattr(model, "to_scm"):
        return None
    with suppress(HeterodagError):
        return model.to_scm()  # type: ignore[no-any-return]
    return None
