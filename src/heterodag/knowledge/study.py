"""A study: table, experiments and prior knowledge together, ready for the search.

A condition that changes variables without setting them (shifts, unknown targets) becomes a column of the table that
is 1 in the rows of that condition: a cause of whatever the condition acts on. Such context columns come after the
variables in the table, are set from outside in every row, precede all variables in the order and have no causes; the
edges out of them say what the condition acts on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heterodag.core.blocks import LongTable
from heterodag.core.experiments import Experiments
from heterodag.core.gaussian import Array
from heterodag.core.graph import descendants
from heterodag.errors import DataError, ParameterError
from heterodag.io.inputs import check_data, column_labels, read_data
from heterodag.knowledge.interventions import Told, read_interventions, take_conditions
from heterodag.knowledge.prior import resolved
from heterodag.knowledge.resolved import ResolvedKnowledge


@dataclass(frozen=True, eq=False)
class Context:
    """A condition that changes variables without setting them; its targets are columns, or None if unknown."""

    condition: str
    targets: tuple[int, ...] | None


@dataclass(frozen=True, eq=False)
class Study:
    """A checked table with its experiments.

    Attributes
    ----------
    array : (n, d + contexts) the variables, then the context columns.
    names : names of all columns; None if the table had none and there are no contexts.
    d : number of variables.
    knowledge : prior knowledge about all columns; None if there is none.
    experiments : which rows count for which variable; None if nothing was done.
    contexts : the conditions behind the context columns.
    told : what the user said about every row; None without interventions.
    long : the whole table, if it is not in memory; `array` is then a sample of its rows.
    """

    array: Array
    names: list[str] | None
    d: int
    knowledge: ResolvedKnowledge | None
    experiments: Experiments | None = None
    contexts: tuple[Context, ...] = ()
    told: Told | None = None
    long: LongTable | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.array) if self.long is None else self.long.shape[0]

    @property
    def labels(self) -> list[str]:
        """Names of all columns, x0, x1, ... if the table had none."""
        return column_labels(self.array.shape[1], self.names)

    @property
    def own_names(self) -> list[str] | None:
        """Names of the variables alone."""
        return None if self.names is None else self.names[: self.d]


def read_study(X: Any, interventions: Any, prior_knowledge: Any, missing: str = "refuse") -> Study:
    """Check and join a table, its interventions and the prior knowledge; raise an error if something is wrong."""
    X, interventions = take_conditions(X, interventions)
    array, names = check_data(X, missing)
    d, labels = array.shape[1], column_labels(array.shape[1], names)
    knowledge = resolved(prior_knowledge, names, d)
    if interventions is None:
        return Study(array, names, d, knowledge)
    kept = np.asarray(~np.isnan(read_data(X)[0]).any(axis=1))
    told = read_interventions(interventions, labels, len(kept))
    told = told.take(kept)
    _check_rows(array, told, labels, knowledge)
    observed = ~told.fixed.any(axis=1) & ~np.isin(told.condition, list(told.changed))
    if not told.changed:
        experiments = Experiments(told.fixed, told.condition, observed) if told.fixed.any() else None
        return Study(array, names, d, knowledge, experiments, told=told)
    contexts = tuple(Context(told.names[number], some) for number, some in told.changed.items())
    columns = np.column_stack([told.condition == number for number in told.changed])
    all_labels = [*labels, *(f"condition {context.condition}" for context in contexts)]
    fixed = np.hstack([told.fixed, np.ones(columns.shape, dtype=bool)])
    return Study(
        np.hstack([array, columns]), all_labels, d, _with_contexts(knowledge, all_labels, contexts),
        Experiments(fixed, told.condition, observed), contexts, told,
    )  # fmt: skip


def _with_contexts(
    knowledge: ResolvedKnowledge | None, labels: list[str], contexts: Sequence[Context]
) -> ResolvedKnowledge:
    """Return the knowledge about variables and context columns: what conditions may act on; they come first."""
    total, d = len(labels), len(labels) - len(contexts)
    required, forbidden, settled, before = (np.zeros((total, total), dtype=bool) for _ in range(4))
    if knowledge is not None:
        for matrix, own in zip(
            (required, forbidden, settled, before),
            (knowledge.required, knowledge.forbidden, knowledge.settled, knowledge.must_precede),
            strict=True,
        ):
            matrix[:d, :d] = own
    forbidden[:, d:] = True
    for column, context in enumerate(contexts, start=d):
        if context.targets is not None:
            forbidden[column, :d] = True
            forbidden[column, list(context.targets)] = False
            required[column, list(context.targets)] = True
    settled[d:, :d] = before[d:, :d] = True
    return ResolvedKnowledge(labels, required, forbidden, descendants(settled), descendants(before))


def _check_rows(array: Array, told: Told, labels: Sequence[str], knowledge: ResolvedKnowledge | None) -> None:
    """Refuse variables that were set in too many rows, or that do not vary in the others."""
    need = max(5, min(array.shape[1], 20) + 3)
    for j in np.flatnonzero(told.fixed.any(axis=0)).tolist():
        own = array[~told.fixed[:, j]]
        if not len(own):
            raise DataError(
                f"Variable '{labels[j]}' was set in all rows: how it comes about cannot be learned; drop the column, or add "
                "rows in which it was not set."
            )
        if len(own) < need:
            raise DataError(
                f"Variable '{labels[j]}' was left alone in {len(own)} row(s) only; its model needs at least {need}: "
                "add rows in which it was not set, or drop the column."
            )
        if own[:, j].min() == own[:, j].max():
            raise DataError(
                f"Variable '{labels[j]}' is constant in the rows in which it was not set: drop the column."
            )
        if knowledge is not None:
            for i in np.flatnonzero(knowledge.required[:, j]).tolist():
                if own[:, i].min() == own[:, i].max():
                    raise ParameterError(
                        "prior_knowledge", "require edges that the rows can tell about", f"{labels[i]} -> {labels[j]}",
                        f"'{labels[i]}' has one value in all rows in which '{labels[j]}' was not set.",
                    )  # fmt: skip
