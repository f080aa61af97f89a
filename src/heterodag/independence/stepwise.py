"""Edges by likelihood, parents chosen step by step: fewer errors than testing each predecessor given all the others.

For every target, parents enter and leave its model until each of them is significant given the others and no other
predecessor is. The p-value of a parent is that of the likelihood ratio without it; of any other predecessor, that of the
likelihood ratio with it, or of the score test where that promises next to nothing. Two coefficients are tested in each
case, so a gain of g nats has the p-value exp(-g). As always after a selection, the p-values of the parents chosen are
smaller than they would be for a model fixed beforehand.

If the residuals of all variables are far from normal, such ratios find far too many edges, and the pairs are tested given
all predecessors instead, with a limit on what a single row can contribute.

With very many rows the parents are chosen on a sample; the p-values are then Wald's and the score test's on all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from ..core.table import Table
from ..models.conditional import TEST_RIDGE, ConditionalModel
from ..models.node_fits import NodeFits, Parents
from ..models.parent_choice import ParentChoice, Task, as_bits
from ..models.plausibility import best_normality
from ..ordering.search import POLISH_ROWS, search_ridge
from .contract import Array, EdgeProblem, EdgeTests, untested
from .likelihood import drop_one_tests, likelihood_edges

#: What becomes of a pair's gain: (target's model, predecessor) -> nats.
_Gain = Callable[[int, Parents, int], float]


def stepwise_edges(problem: EdgeProblem) -> EdgeTests:
    """Choose every target's parents among its candidates and test each pair given the chosen ones.

    In location-scale form `details` also holds `mean_pvalues` and `variance_pvalues` of the chosen parents. Models other
    than linear ones are tested given all predecessors instead.
    """
    if problem.parametrization != "linear":
        return likelihood_edges(problem)
    table = Table.standardize(problem.X)
    fits = _sample_fits(problem, table)
    parents = _chosen(problem, fits)
    if best_normality(fits, list(parents.items()))[1]:
        return likelihood_edges(problem)
    _tell(problem, 0.7)
    gain, fits = _gains(table, fits, parents)
    pvalues = untested(table.shape[1])
    for j, i in np.argwhere(problem.candidates):
        pvalues[j, i] = np.exp(-max(gain(int(i), parents[int(i)], int(j)), 0.0))
    _tell(problem, 1.0)
    unfinished = [j for j in sorted(parents) if not fits.known[j, parents[j]].converged]
    details: dict[str, Any] = {"not_converged": unfinished}
    if problem.form == "location-scale":
        details |= _split(problem, table, parents)
    return EdgeTests(pvalues, details)


def _sample_fits(problem: EdgeProblem, table: Table) -> NodeFits:
    """Return the models that refining the order has left, or new ones, on not too many rows."""
    n = table.shape[0]
    rows = min(n, POLISH_ROWS)
    sample = table if rows == n else table.thin(-(-n // rows))
    found = problem.search.fits if problem.search is not None else None
    if found is not None and found.table.shape == sample.shape:
        reused: NodeFits = found
        return reused
    workers = effective_n_jobs(problem.n_jobs)
    return NodeFits(sample, problem.form, search_ridge(sample.shape[0]), workers=workers)


def _chosen(problem: EdgeProblem, fits: NodeFits) -> dict[int, Parents]:
    """Choose parents, every promising candidate tried, at the price that the significance level sets."""
    d = len(problem.order)
    start = problem.search.state.parents if problem.search is not None else {}
    choice = ParentChoice(fits, -float(np.log(problem.alpha)), problem.limits, trials=d)
    tasks = [
        Task(int(i), as_bits(np.flatnonzero(problem.candidates[:, i]).tolist()), start.get(int(i), ()))
        for i in problem.order
    ]
    return {t.target: parents for t, (_, parents) in zip(tasks, choice.choose(tasks), strict=True)}


def _gains(table: Table, fits: NodeFits, parents: dict[int, Parents]) -> tuple[_Gain, NodeFits]:
    """Return a function that tells what a pair gains, and the models on all rows."""
    if table.shape[0] != fits.table.shape[0]:
        fits = NodeFits(table, fits.form, search_ridge(table.shape[0]), coarse=fits, workers=fits.workers)
        fits.losses(parents.items(), squares=False)
        fits.polish(parents.items())
        fits.prepare_gains(parents.items())
        return (lambda i, some, j: _quick_gain(fits, i, some, j)), fits
    smaller = [(i, tuple(j for j in some if j != other)) for i, some in parents.items() for other in some]
    fits.losses(smaller)
    fits.polish([*parents.items(), *smaller])
    fits.prepare_gains(parents.items())
    return (lambda i, some, j: _exact_gain(fits, i, some, j)), fits


def _quick_gain(fits: NodeFits, target: int, parents: Parents, other: int) -> float:
    if other in parents:
        return float(fits.known[target, parents].worth[parents.index(other)])
    return float(fits.gains((target, parents))[other])


def _exact_gain(fits: NodeFits, target: int, parents: Parents, other: int) -> float:
    """Return the fall of the loss between the models with and without a variable, if both are known."""
    if other in parents:
        without = tuple(j for j in parents if j != other)
        smaller, loss = fits.losses([(target, without), (target, parents)])
        return smaller - loss
    larger = (target, tuple(sorted((*parents, other))))
    if larger in fits.known:
        return fits.known[target, parents].loss - fits.known[larger].loss
    return float(fits.gains((target, parents))[other])


def _split(problem: EdgeProblem, table: Table, parents: dict[int, Parents]) -> dict[str, Array]:
    """Test, for every chosen parent, whether it acts on the mean and whether it acts on the spread."""
    model = ConditionalModel(problem.parametrization, problem.form, TEST_RIDGE)
    tables = {part: untested(table.shape[1]) for part in ("mean", "variance")}
    for target, chosen in parents.items():
        if chosen:
            found, _ = drop_one_tests(model, table, list(chosen), target, list(range(len(chosen))))
            for part in tables:
                tables[part][list(chosen), target] = found[part]
    return {f"{part}_pvalues": values for part, values in tables.items()}


def _tell(problem: EdgeProblem, share: float) -> None:
    if problem.progress is not None:
        problem.progress(share)
