"""The likelihood-ratio test of an edge: the conditional model of the target with and without one predecessor.

For target i and predecessor j, given all other predecessors, twice the fall of the log-likelihood when the
coefficients of j in both predictors are held at zero is compared with a chi-square of two degrees of freedom.
Unlike a test on the mean it sees causes that move only the spread, and unlike one it is not misled by a spread
that moves with other causes.

Deviation from the textbook: no single row may contribute more than `ROW_LIMIT` to the statistic. Predecessors with
very heavy tails give single rows a leverage for which the chi-square does not hold: without the limit true nulls are
rejected too often. `python benchmarks/accuracy.py edges` measures the level with it.

The restricted fits of one target differ only in which coefficients may move, so all of them are one batch.
`spline_likelihood` holds the same test for splines; edges of the neural parametrisation are tested with splines too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import chi2

from heterodag.core.design import Design
from heterodag.core.solver import Coefficients
from heterodag.core.starts import profiled_start
from heterodag.core.table import Table, row_slices
from heterodag.independence._regression import linear_in, standardized
from heterodag.independence.contract import Array, EdgeProblem, EdgeTests, untested
from heterodag.independence.pairwise import check_samples
from heterodag.independence.spline_likelihood import spline_drop_one_tests
from heterodag.models.conditional import TEST_RIDGE, ConditionalModel, Conditionals

#: Largest contribution of one row to the likelihood-ratio statistic.
ROW_LIMIT = 1.5
#: Times the full model is refitted when a restricted one turns out to fit better (a local optimum was found).
_REPAIRS = 3


def likelihood(x: Array, y: Array, Z: Array, *, parametrization: str = "linear", form: str = "natural") -> float:
    """Return the p-value of the null hypothesis that the distribution of y given (x, Z) does not depend on x.

    Parameters
    ----------
    x, y : (n,) arrays
        Candidate cause and effect. The test models y given x, so it is not symmetric in the two.
    Z : (n, k) array
        Conditioning columns, possibly none.
    parametrization, form : str
        Of the conditional Gaussian; "mlp" is tested with splines.

    Returns
    -------
    float
        The p-value. It is 1 when nothing can be said: x or y is a constant or a linear function of Z, or the
        rank of Z is n - 3 or more. Columns of Z that depend on each other do no harm.
    """
    x, y, Z = check_samples(x, y, Z)
    model = ConditionalModel(parametrization, form, TEST_RIDGE)
    columns = standardized(np.column_stack([y, x, Z]))
    known, rank = linear_in(columns[:, :2], columns[:, 2:])
    if known.any() or rank >= len(x) - 3:
        return 1.0
    columns = columns[:, columns.any(axis=0)]
    predecessors = list(range(1, columns.shape[1]))
    pvalues, _ = drop_one_tests(model, Table.standardize(columns), predecessors, 0, [0])
    return float(pvalues["both"][0])


def likelihood_edges(problem: EdgeProblem) -> EdgeTests:
    """Test every candidate edge of an order (Algorithm 3) by likelihood ratio; targets run in parallel.

    In location-scale form `details` also holds the tables `mean_pvalues` and `variance_pvalues`: tests (one degree
    of freedom each) of whether the cause acts on the mean and whether it acts on the spread.
    """
    table = Table.standardize(problem.X)
    model = ConditionalModel(problem.parametrization, problem.form, TEST_RIDGE)
    targets = [int(i) for i in problem.order if problem.candidates[:, i].any()]
    jobs = (delayed(_target_tests)(model, table, problem, i) for i in targets)
    tables = {part: untested(table.shape[1]) for part in _parts(problem.form)}
    unfinished: list[int] = []
    results = Parallel(n_jobs=problem.n_jobs, return_as="generator")(jobs)
    for done, (target, tested, pvalues, converged) in enumerate(results, start=1):
        for part, found in pvalues.items():
            tables[part][tested, target] = found
        unfinished += [] if converged else [target]
        if problem.progress is not None:
            problem.progress(done / len(targets))
    details: dict[str, Any] = {f"{part}_pvalues": tables[part] for part in tables if part != "both"}
    return EdgeTests(tables["both"], details | {"not_converged": unfinished})


def _parts(form: str) -> tuple[str, ...]:
    """Return the hypotheses tested for each predecessor; only location-scale form tells mean from spread."""
    return ("both", "mean", "variance") if form == "location-scale" else ("both",)


def _target_tests(
    model: ConditionalModel, table: Table, problem: EdgeProblem, target: int
) -> tuple[int, list[int], dict[str, Array], bool]:
    predecessors = [int(j) for j in problem.predecessors(target)]
    tested = [k for k, j in enumerate(predecessors) if problem.candidates[j, target]]
    pvalues, converged = drop_one_tests(model, table, predecessors, target, tested)
    return target, [predecessors[k] for k in tested], pvalues, converged


def drop_one_tests(
    model: ConditionalModel, table: Table, predecessors: list[int], target: int, tested: list[int]
) -> tuple[dict[str, Array], bool]:
    """Return the p-values of dropping, one at a time, the predecessors numbered `tested`; and convergence."""
    parts = _parts(model.form)
    if model.parametrization != "linear":
        return spline_drop_one_tests(model, table, predecessors, target, tested, parts, ROW_LIMIT)
    shape = Coefficients(model.form, len(predecessors) + 1)
    held = [_held(shape, k, part) for part in parts for k in tested]
    full, reduced = _nested_fits(model, table, predecessors, target, held)
    statistic = np.maximum(_limited_ratio(table, full, reduced), 0.0)
    pvalues = chi2.sf(statistic, [len(coefficients) for coefficients in held]).reshape(len(parts), len(tested))
    return dict(zip(parts, pvalues, strict=True)), bool(full.converged.all() and reduced.converged.all())


def _held(shape: Coefficients, predecessor: int, part: str) -> list[int]:
    """Return the coefficients that are zero if the predecessor has no effect on that part of the distribution."""
    on_mean, on_variance = shape.of_predecessor(predecessor)
    return {"both": [on_mean, on_variance], "mean": [on_mean], "variance": [on_variance]}[part]


def _nested_fits(
    model: ConditionalModel, table: Table, predecessors: list[int], target: int, held: list[list[int]]
) -> tuple[Conditionals, Conditionals]:
    """Fit the full model and, for each set of held coefficients, the restricted one; none of these fits better."""
    full = model.fit_lines(table, predecessors, [target], thorough=True)
    reduced = _restricted_fits(model, table, full, held)
    for _ in range(_REPAIRS):
        best = int(reduced.objective.argmin())
        if reduced.objective[best] >= full.objective[0]:
            break
        # A restricted model cannot truly fit better: the full one sat in a local optimum. Continue from there.
        full = model.fit_lines(table, predecessors, [target], warm=reduced.theta[:, [best]])
        reduced = _restricted_fits(model, table, full, held)
    return full, reduced


def _restricted_fits(
    model: ConditionalModel, table: Table, full: Conditionals, held: list[list[int]]
) -> Conditionals:
    design = Design(table, full.predecessors, full.targets * len(held))
    shape = Coefficients(model.form, design.width)
    free = np.ones((shape.size, len(held)), dtype=bool)
    for column, coefficients in enumerate(held):
        free[coefficients, column] = False
    b = slice(shape.width, 2 * shape.width)
    warm = profiled_start(design, shape, np.where(free[b], full.theta[b], 0.0), free)
    return model.fit_lines(table, full.predecessors, design.targets, warm=warm, free=free)


def _limited_ratio(table: Table, full: Conditionals, reduced: Conditionals) -> Array:
    total = np.zeros(len(reduced.targets))
    for rows in row_slices(table.shape[0], 8 * len(reduced.targets) + len(full.predecessors)):
        gain = 2.0 * (reduced.losses(table, rows) - full.losses(table, rows))
        total += np.minimum(gain, ROW_LIMIT).sum(axis=1)
    return total
