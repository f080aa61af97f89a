"""The likelihood-ratio test of an edge: the conditional model of the target with and without one predecessor.

`scores.drop_one` has the statistic and its null distribution, `scores.drop_one_curves` those for splines. Edges of
the neural parametrisation are tested with splines too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from heterodag.core.table import Table
from heterodag.independence._regression import linear_in, standardized
from heterodag.independence.contract import Array, EdgeProblem, EdgeTests, untested
from heterodag.independence.pairwise import check_samples
from heterodag.runtime.work import Work
from heterodag.scores.drop_one import DropOne
from heterodag.scores.local import LocalScores
from heterodag.scores.make import score_settings


def likelihood(
    x: Array, y: Array, Z: Array, *, parametrization: str = "linear", form: str = "natural", noise: str = "gaussian"
) -> float:
    """Return the p-value of the null hypothesis that the distribution of y given (x, Z) does not depend on x.

    Parameters
    ----------
    x, y : (n,) arrays
        Candidate cause and effect. The test models y given x, so it is not symmetric in the two.
    Z : (n, k) array
        Conditioning columns, possibly none.
    parametrization, form, noise : str
        Kind of conditional model, as in `HOST`; "mlp" is tested with splines.

    Returns
    -------
    float
        The p-value. It is 1 when nothing can be said: x or y is a constant or a linear function of Z, or the
        rank of Z is n - 3 or more. Columns of Z that depend on each other do no harm.
    """
    x, y, Z = check_samples(x, y, Z)
    settings = score_settings(parametrization, form, noise)
    columns = standardized(np.column_stack([y, x, Z]))
    determined, rank = linear_in(columns[:, :2], columns[:, 2:])
    if determined.any() or rank >= len(x) - 3:
        return 1.0
    columns = columns[:, columns.any(axis=0)]
    key = (0, tuple(range(1, columns.shape[1])))
    fitter = settings.fitter(np.random.SeedSequence(0))
    return float(fitter.without(Table.standardize(columns), key, [0]).pvalues["both"][0])


def likelihood_edges(problem: EdgeProblem) -> EdgeTests:
    """Test every candidate edge of an order (Algorithm 3) by likelihood ratio; targets run in parallel.

    In location-scale form `details` also holds the tables `mean_pvalues` and `variance_pvalues`: tests (one degree
    of freedom each) of whether the cause acts on the mean and whether it acts on the spread.
    """
    with Work(problem.n_jobs, progress=problem.progress) as work:
        return drop_one_edges(problem, problem.scores(work))


def drop_one_edges(problem: EdgeProblem, scores: LocalScores) -> EdgeTests:
    """Do the same with existing local scores."""
    tests = []
    for target in problem.order.tolist():
        parents = tuple(sorted(problem.predecessors(target).tolist()))
        tested = [k for k, j in enumerate(parents) if problem.candidates[j, target]]
        if tested:
            tests.append(((target, parents), tested))
    found: list[DropOne] = []
    for start in range(0, len(tests), scores.work.workers):
        found += scores.without(tests[start : start + scores.work.workers])
        scores.work.report(len(found) / len(tests))
    tables = tables_of(found, problem.X.shape[1])
    details: dict[str, Any] = {f"{part}_pvalues": table for part, table in tables.items() if part != "both"}
    unfinished = [drop.target for drop in found if not drop.converged]
    return EdgeTests(tables.get("both", untested(problem.X.shape[1])), details | {"not_converged": unfinished})


def tables_of(found: list[DropOne], d: int) -> dict[str, Array]:
    """Return the p-values of drop-one tests as a (d, d) table per hypothesis."""
    tables: dict[str, Array] = {}
    for drop in found:
        for part, values in drop.pvalues.items():
            tables.setdefault(part, untested(d))[drop.tested, drop.target] = values
    return tables
