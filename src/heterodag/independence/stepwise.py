"""Edges by likelihood, parents chosen step by step: fewer errors than testing each predecessor given all the others.

For every target, parents enter and leave its model until each of them is significant given the others and no other
predecessor is. The p-value of a parent is that of the likelihood ratio without it; of any other predecessor, that of the
likelihood ratio with it, or of the score test where that promises next to nothing. Two coefficients are tested in each
case, so a gain of g nats has the p-value exp(-g). As always after a selection, the p-values of the parents chosen are
smaller than they would be for a model fixed beforehand.

If the residuals of all variables are far from normal, such ratios find far too many edges, and the pairs are tested given
all predecessors instead, with a limit on what a single row can contribute.

With very many rows the parents are chosen on a sample, and again on all rows where those disagree. Where Wald's test on
all rows says that a parent is certain, its p-value is Wald's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs

from heterodag.core.table import Table
from heterodag.independence.contract import Array, EdgeProblem, EdgeTests, untested
from heterodag.independence.likelihood import drop_one_tests, likelihood_edges
from heterodag.models.conditional import TEST_RIDGE, ConditionalModel
from heterodag.models.node_fits import NodeFits, Parents
from heterodag.models.parent_choice import ParentChoice, Task, as_bits
from heterodag.models.plausibility import best_normality
from heterodag.ordering.search import POLISH_ROWS, search_ridge

#: With very many rows, parents of a worth (nats, Wald) above this are not refitted without: their edges are certain.
CLEAR = 50.0


def stepwise_edges(problem: EdgeProblem) -> EdgeTests:
    """Choose every target's parents among its candidates and test each pair given the chosen ones.

    In location-scale form `details` also holds `mean_pvalues` and `variance_pvalues` of the chosen parents. Models other
    than linear ones are tested given all predecessors instead.
    """
    if problem.parametrization != "linear":
        return likelihood_edges(problem)
    table = Table.standardize(problem.X)
    fits = _sample_fits(problem, table)
    start = problem.search.state.parents if problem.search is not None else {}
    parents = _chosen(problem, fits, start, problem.order.tolist())
    if best_normality(fits, list(parents.items()))[1]:
        return likelihood_edges(problem)
    _tell(problem, 0.7)
    if table.shape[0] != fits.table.shape[0]:
        fits = NodeFits(table, fits.form, search_ridge(table.shape[0]), coarse=fits, workers=fits.workers)
        _neighbours(problem, fits, parents, certain=CLEAR)
        # Rows that are not in the sample may tell another story: where they do, the choice goes on with all rows.
        parents |= _chosen(problem, fits, parents, _disputed(problem, fits, parents), trials=1)
        _neighbours(problem, fits, parents, certain=CLEAR)
    else:
        _neighbours(problem, fits, parents)
    pvalues = untested(table.shape[1])
    for j, i in np.argwhere(problem.candidates):
        pvalues[j, i] = np.exp(-max(_gain(fits, int(i), parents[int(i)], int(j)), 0.0))
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


def _chosen(
    problem: EdgeProblem, fits: NodeFits, start: dict[int, Parents], targets: list[int], trials: int | None = None
) -> dict[int, Parents]:
    """Choose parents at the price that the significance level sets, by default with every promising candidate tried."""
    trials = len(problem.order) if trials is None else trials
    choice = ParentChoice(fits, -float(np.log(problem.alpha)), problem.limits, trials=trials)
    tasks = [Task(i, as_bits(np.flatnonzero(problem.candidates[:, i]).tolist()), start.get(i, ())) for i in targets]
    return {t.target: parents for t, (_, parents) in zip(tasks, choice.choose(tasks), strict=True)}


def _neighbours(problem: EdgeProblem, fits: NodeFits, parents: dict[int, Parents], certain: float = np.inf) -> None:
    """Fit the chosen models and the neighbours that a decision needs; parents of more than `certain` worth need none."""
    fits.losses(parents.items())
    fits.polish(parents.items())
    fits.prepare_gains(parents.items())
    near = []
    for i, some in parents.items():
        worth = fits.known[i, some].worth
        near += [(i, some[:k] + some[k + 1 :]) for k in range(len(some)) if not worth[k] >= certain]
        promising = problem.candidates[:, i] & (fits.gains((i, some)) > -np.log(problem.alpha))
        near += [(i, tuple(sorted((*some, int(j))))) for j in np.flatnonzero(promising)]
    fits.losses(near)
    fits.polish(near)


def _disputed(problem: EdgeProblem, fits: NodeFits, parents: dict[int, Parents]) -> list[int]:
    """Return the targets with a parent that is not significant or another candidate that is."""
    price = -float(np.log(problem.alpha))
    return [
        i
        for i, some in parents.items()
        if any(
            (_gain(fits, i, some, int(j)) > price) != (j in some) for j in np.flatnonzero(problem.candidates[:, i])
        )
    ]


def _gain(fits: NodeFits, target: int, parents: Parents, other: int) -> float:
    """Return the fall of the loss between the models with and without a variable, or its estimate if one is unknown."""
    fit = fits.known[target, parents]
    if other in parents:
        smaller = fits.known.get((target, tuple(j for j in parents if j != other)))
        return float(fit.worth[parents.index(other)]) if smaller is None else smaller.loss - fit.loss
    larger = fits.known.get((target, tuple(sorted((*parents, other)))))
    return float(fits.gains((target, parents))[other]) if larger is None else fit.loss - larger.loss


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
