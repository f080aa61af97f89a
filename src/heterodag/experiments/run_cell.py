"""Run one cell: get the data, let the method find an order, test edges, measure. The result is one flat row."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.core.graph import Adjacency
from heterodag.experiments.cells import Cell
from heterodag.experiments.data import load_data
from heterodag.experiments.methods import METHODS
from heterodag.independence import recover_dag
from heterodag.independence.contract import EdgeProblem, EdgeTests, untested
from heterodag.independence.registry import get_selection
from heterodag.metrics import evaluate, order_divergence

Row = dict[str, Any]
#: Called with the columns that are known so far, and with the name of the next step.
Report = Callable[[Row, str], None]
#: Training steps of LCIT when the budget is small.
SMALL_STEPS = 40


@dataclass(frozen=True)
class CellTask:
    """A cell with what its name does not contain: a user's own estimator, or a user's own table and graph."""

    cell: Cell
    estimator: Any = None
    table: tuple[Any, Adjacency] | None = None


def run_cell(task: CellTask, report: Report) -> None:
    """Compute the columns of a cell's row, and report them as they become known.

    Parameters
    ----------
    task : CellTask
        The cell, with a user's own estimator or table if it has one.
    report : callable
        Called with the new columns and the name of the next step. What was reported before a time limit counts.
    """
    cell = task.cell
    X, truth = load_data(cell.data) if task.table is None else task.table
    order, columns = _fit(task, X, truth, report)
    report(columns, "edges")
    for test in cell.tests if order is not None else ():
        report({}, f"edges by {test}")
        start = time.perf_counter()
        selection = _small_lcit if (cell.budget, test) == ("small", "lcit") else test
        found = recover_dag(X, order, selection=selection, random_state=cell.test_seed(test))
        seconds = time.perf_counter() - start
        report(_edge_columns(test, found.adjacency, found.pvalues, truth, seconds), "")


@dataclass
class TimedSelection:
    """An edge test that records when it was called: the time before that is the time of the order."""

    selection: Any
    first: Array | None = None
    seconds: float = 0.0
    batched: bool = field(default=True, init=False)

    def __call__(self, problem: EdgeProblem) -> EdgeTests:
        """Run the test."""
        start = now()
        self.first = start if self.first is None else self.first
        try:
            return get_selection(self.selection)(problem)
        finally:
            self.seconds += float(now()[0] - start[0])


def no_edges(problem: EdgeProblem) -> EdgeTests:
    """Test nothing, for methods that end with an order."""
    return EdgeTests(untested(problem.X.shape[1]))


no_edges.batched = True  # type: ignore[attr-defined]


def now() -> Array:
    """Return the wall-clock time, and the processor time of this process and of those it started."""
    return np.array([time.perf_counter(), time.process_time() + sum(os.times()[2:4])])


def _fit(task: CellTask, X: Any, truth: Adjacency, report: Report) -> tuple[Any, Row]:
    """Fit the method; return its order, or None if it has none, and its columns of the row."""
    cell = task.cell
    method = METHODS[cell.method] if task.estimator is None else None
    model = task.estimator if method is None else method.make(cell.budget)
    own_edges = method is None or method.own_edges
    parameters = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    if "random_state" in parameters:
        model.set_params(random_state=cell.seed)
    timer = TimedSelection(parameters.get("selection") if own_edges else no_edges)
    if "selection" in parameters:
        model.set_params(selection=timer)
    report({}, "order")
    start = now()
    model.fit(X)
    end = now()
    columns: Row = {"true_edges": int(truth.sum())} | _times("fit", end - start)
    order = getattr(model, "order_", None)
    if order is not None:
        columns |= {"order": " ".join(str(int(j)) for j in order), "order_divergence": order_divergence(order, truth)}
    if "selection" in parameters:
        columns |= _times("order", (end if timer.first is None else timer.first) - start)
    if own_edges:
        columns |= _edge_columns("own", model.adjacency_, getattr(model, "pvalues_", None), truth, timer.seconds)
    return order, columns


def _times(what: str, spent: Array) -> Row:
    return {f"{what}_seconds": round(float(spent[0]), 4), f"{what}_cpu_seconds": round(float(spent[1]), 4)}


def _edge_columns(test: str, adjacency: Adjacency, pvalues: Any, truth: Adjacency, seconds: float) -> Row:
    measures = evaluate(adjacency, truth, pvalues=pvalues)
    columns: Row = {f"{test}_edges": int((adjacency != 0).sum()), f"{test}_shd": int(measures["shd"])}
    for name in ("f1", "auc"):
        value = measures.get(name, math.nan)
        columns[f"{test}_{name}"] = None if math.isnan(value) else round(value, 6)
    return columns | {f"{test}_seconds": round(seconds, 4)}


def _small_lcit(problem: EdgeProblem) -> EdgeTests:
    from heterodag.independence.lcit import FlowSettings, lcit_edges

    return lcit_edges(problem, FlowSettings(max_steps=SMALL_STEPS))


_small_lcit.batched = True  # type: ignore[attr-defined]
