"""What users pass to the causal model: graphs, fitted estimators, rows; matched by name if there are names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from heterodag.core.gaussian import Array
from heterodag.core.graph import Adjacency, as_adjacency
from heterodag.errors import DataError, ParameterError
from heterodag.io.inputs import column_name, read_data
from heterodag.knowledge.interventions import Told, read_interventions


def read_names(given: Any, found: list[str]) -> list[str]:
    """Return the names of the columns: those given, or those found in the table."""
    if given is None:
        return found
    names = [column_name(name) for name in given]
    if len(names) != len(found) or len(set(names)) < len(names):
        raise ParameterError("names", f"be {len(found)} different names, one per column", names)
    return names


def read_adjacency(value: Any, labels: list[str]) -> Adjacency:
    """Return a graph as a matrix over `labels`: from a matrix, a frame with names, or a networkx DiGraph."""
    if hasattr(value, "edges") and hasattr(value, "nodes"):
        return _from_graph(value, labels)
    if hasattr(value, "loc") and hasattr(value, "columns"):
        columns = [str(name) for name in value.columns]
        if sorted(columns) != sorted(labels) or [str(name) for name in value.index] != columns:
            raise ParameterError("adjacency", "have the table's columns as its rows and columns", columns)
        place = [columns.index(label) for label in labels]
        value = value.to_numpy()[np.ix_(place, place)]
    matrix = as_adjacency(value)
    if len(matrix) != len(labels):
        raise ParameterError("adjacency", f"have shape ({len(labels)}, {len(labels)}), as the table", matrix.shape)
    return matrix


def _from_graph(graph: Any, labels: list[str]) -> Adjacency:
    if not graph.is_directed():
        raise ParameterError("adjacency", "be a directed graph", type(graph).__name__)
    unknown = [str(node) for node in graph.nodes if str(node) not in labels]
    if unknown:
        raise ParameterError("adjacency", "have the table's columns as its nodes", unknown[0])
    matrix = np.zeros((len(labels), len(labels)))
    for cause, effect in graph.edges():
        matrix[labels.index(str(cause)), labels.index(str(effect))] = 1
    return as_adjacency(matrix)


def read_host(model: Any, X: Any) -> tuple[Adjacency, dict[str, Any]]:
    """Return the graph of a fitted estimator and the settings of its conditional models, for the table `X`."""
    check_is_fitted(model, "adjacency_")
    names = read_data(X)[1]
    if names is not None and hasattr(model, "feature_names_in_") and names != list(model.feature_names_in_):
        raise DataError("The columns of `X` are not those the model was fitted to, in that order.")
    keys = ("form", "parametrization", "noise", "missing")
    settings = {key: getattr(model, key) for key in keys if hasattr(model, key)}
    return as_adjacency(model.adjacency_), settings


def read_host_targets(model: Any, X: Any, interventions: Any) -> Any:
    """Return interventions in which conditions with unknown targets act on the targets that an estimator found."""
    if interventions is None or not hasattr(model, "targets_"):
        return interventions
    labels = model.names()
    told = read_interventions(interventions, labels, len(read_data(X)[0]))
    acting = model.targets_[model.targets_["acts"]]
    changed: dict[int, tuple[int, ...] | None] = {
        number: tuple(
            labels.index(name) for name in acting.loc[acting["condition"] == told.names[number], "variable"]
        )
        for number in told.changed
    }
    return replace(told, changed=changed)


def own_rows(array: Array, told: Told | None, target: int, labels: Sequence[str]) -> Array:
    """Return the rows from which the mechanism of a variable is learned: it was neither set nor changed there."""
    if told is None:
        return array
    rows, need = told.undisturbed(target), max(5, min(array.shape[1], 20) + 3)
    if int(rows.sum()) < need:
        raise DataError(
            f"Variable '{labels[target]}' was neither set nor changed in {int(rows.sum())} row(s) only; its mechanism needs "
            f"at least {need}: add rows of the reference condition."
        )
    return array if rows.all() else array[rows]


def read_rows(rows: Any, labels: Sequence[str], needed: Sequence[int] | None = None) -> tuple[Array, Any]:
    """Return rows as an array over all columns, and their index if they have one.

    Frames and mappings are matched by name; `needed` columns must be present (all by default), others become NaN.
    """
    wanted = list(range(len(labels))) if needed is None else list(needed)
    if isinstance(rows, Mapping) or (hasattr(rows, "index") and getattr(rows, "ndim", 2) == 1):
        import pandas as pd

        row = dict(rows)
        # Lists are columns; plain numbers make one row.
        rows = pd.DataFrame(row if any(np.ndim(value) for value in row.values()) else [row])
    array, names = read_data(rows)
    index = rows.index if hasattr(rows, "iloc") else None
    if names is None:
        if array.shape[1] != len(labels):
            raise DataError(f"`rows` has {array.shape[1]} columns; the model has {len(labels)}.")
        names = list(labels)
    missing = [labels[j] for j in wanted if labels[j] not in names]
    if missing:
        raise DataError(f"`rows` lacks the column '{missing[0]}', which the model needs.")
    out = np.full((len(array), len(labels)), np.nan)
    for j, label in enumerate(labels):
        if label in names:
            out[:, j] = array[:, names.index(label)]
    wrong = [labels[j] for j in wanted if not np.isfinite(out[:, j]).all()]
    if wrong:
        raise DataError(f"Column '{wrong[0]}' of `rows` has missing or infinite values; leave those rows out.")
    if not len(out):
        raise DataError("`rows` is empty: give at least one row.")
    return out, index
