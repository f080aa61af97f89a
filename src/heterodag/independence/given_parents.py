"""Pruning as in CAM and GraN-DAG: every edge of a graph is tested given only the other parents of its effect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from heterodag.independence.contract import BatchedTest, EdgeProblem, EdgeTests, untested
from heterodag.independence.registry import get_selection
from heterodag.io.inputs import column_labels
from heterodag.scores.parent_choice import Limits


def given_parents(selection: str | Callable[..., Any], names: list[str] | None = None) -> BatchedTest:
    """Return a batched test that conditions on the other candidates of a target instead of on all predecessors.

    Parameters
    ----------
    selection : str or callable
        Edge test; see `recover_dag`.
    names : list of str, optional
        Column names, for error messages.

    Returns
    -------
    callable
        From an `EdgeProblem`, whose candidates are the edges of a graph, to the `EdgeTests` of these edges. Each
        target is a separate problem whose only other columns are its parents, including, untested, those that prior
        knowledge requires.
    """

    def test(problem: EdgeProblem) -> EdgeTests:
        d, report = problem.X.shape[1], problem.progress or (lambda share: None)
        labels, pvalues, doubtful = column_labels(d, names), untested(d), []
        for done, target in enumerate(problem.order.tolist()):
            required = () if problem.limits is None else problem.limits.required[target]
            parents = [j for j in problem.order.tolist() if problem.candidates[j, target] or j in required]
            columns = [*parents, target]
            if problem.candidates[:, target].any():
                own = get_selection(selection, [labels[j] for j in columns])(_own_problem(problem, columns))
                pvalues[parents, target] = own.pvalues[:-1, -1]
                doubtful += [columns[k] for k in own.details.get("not_converged", [])]
            report((done + 1) / d)
        return EdgeTests(pvalues, {"not_converged": doubtful})

    test.batched = True  # type: ignore[attr-defined]
    return test


def _own_problem(problem: EdgeProblem, columns: list[int]) -> EdgeProblem:
    """Return the problem with the last of `columns` as its target; the others are candidates or required parents."""
    k = len(columns)
    candidates = np.zeros((k, k), dtype=bool)
    candidates[:-1, -1] = problem.candidates[columns[:-1], columns[-1]]
    required = np.zeros((k, k), dtype=bool)
    required[:-1, -1] = ~candidates[:-1, -1]
    return replace(
        problem,
        X=problem.X[:, columns],
        order=np.arange(k, dtype=np.intp),
        candidates=candidates,
        progress=None,
        limits=Limits.of(required, np.zeros((k, k), dtype=bool)),
        found=None,
    )
