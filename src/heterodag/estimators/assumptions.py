"""Look for signs that the model does not fit the table; after a fit, each sign becomes a finding.

The models examined are those of the final graph: every variable given its parents.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr
from scipy.stats import chi2, kstest, spearmanr

from heterodag.checks.findings import Finding
from heterodag.checks.trust import DIRECTIONS, FIT
from heterodag.core.graph import Adjacency
from heterodag.ordering.result import OrderResult
from heterodag.runtime.work import OutOfTime
from heterodag.scores.fit import Fit
from heterodag.scores.local import LocalScores, parents_of
from heterodag.scores.plausibility import Plausibility

#: Level, over all variables together, at which an effect on the spread counts as found.
SPREAD_LEVEL = 0.01
#: Scores of the first round closer than this count as a tie.
TIE = 1e-3


def doubts(
    scores: LocalScores,
    order: OrderResult,
    adjacency: Adjacency,
    labels: Sequence[str],
    plausibility: Plausibility | None,
) -> list[Finding]:
    """Return what speaks against the model; an empty list if nothing does.

    `plausibility` is the judgement of normality that ordering and edge tests used; None if neither needed one.
    """
    keys = [(j, parents_of(adjacency[:, j])) for j in scores.targets]
    try:
        no_spread = _no_spread(scores, scores.fits(keys))
    except OutOfTime:  # the models fitted before the time was up are too few to judge by
        no_spread = None
    found = [_not_described(scores, adjacency, labels, plausibility), no_spread, _tied(order, adjacency, labels)]
    return [finding for finding in found if finding is not None]


def doubts_of_curves(
    scores: LocalScores, adjacency: Adjacency, labels: Sequence[str], plausibility: Plausibility | None
) -> list[Finding]:
    """Return what speaks against fixed models with curves; the other signs apply only to lines."""
    finding = _not_described(scores, adjacency, labels, plausibility)
    return [] if finding is None else [finding]


def _not_described(
    scores: LocalScores, adjacency: Adjacency, labels: Sequence[str], plausibility: Plausibility | None
) -> Finding | None:
    """Return which variables the fixed model does not describe; if all are far from normal, return only that."""
    far = not_normal(plausibility, len(scores.targets))
    if far is not None:
        return far
    try:
        return misfits(scores, adjacency, labels, "The model does not describe")
    except OutOfTime:
        return None


def not_normal(plausibility: Plausibility | None, d: int) -> Finding | None:
    """Return what to say if the residuals of all d variables were found far from normal."""
    if plausibility is None or not plausibility.far:
        return None
    return Finding(
        "red", FIT, "normality",
        f"The residuals of all {d} variables stay far from normal (the best Shapiro-Wilk statistic is "
        f"{plausibility.best:.3f}): the order was not refined by likelihood, and may mean little.",
    )  # fmt: skip


def _no_spread(scores: LocalScores, fits: Sequence[Fit]) -> Finding | None:
    """Test every model against its version with constant spread, by likelihood ratio (chi-square under the null)."""
    tested = [fit for fit in fits if fit.parents]
    smallest = 1.0
    for fit in tested:
        gain = _constant_spread_loss(scores, fit) - fit.loss
        smallest = min(smallest, float(chi2.sf(2.0 * max(gain, 0.0), len(fit.parents))))
    if not tested or smallest * len(tested) < SPREAD_LEVEL:
        return None
    return Finding(
        "red", DIRECTIONS, "spread",
        "No effect of any variable on the spread of another was found: if noise is normal and effects are linear, "
        "no method can tell cause from effect in such a table, and the directions of the edges are guesses.",
    )  # fmt: skip


def _constant_spread_loss(scores: LocalScores, fit: Fit) -> float:
    """Return the loss of least squares with constant spread on the same parents."""
    table = scores.table_of(fit.target)
    n = table.shape[0]
    y, Z = table.take([fit.target])[0], np.vstack([np.ones(n), table.take(fit.parents)])
    residual = y - np.linalg.lstsq(Z.T, y, rcond=None)[0] @ Z
    return 0.5 * n * (1.0 + float(np.log(max(residual @ residual / n, 1e-300))))


def _tied(order: OrderResult, adjacency: Adjacency, labels: Sequence[str]) -> Finding | None:
    """Look for variables that were equally good first choices although one causes the other."""
    first = order.scores[0]
    best = np.nanmax(first)
    near = np.flatnonzero(best - np.nan_to_num(first, nan=-np.inf) <= TIE)
    joined = [(int(i), int(j)) for i in near for j in near if adjacency[i, j]]
    if not joined:
        return None
    i, j = joined[0]
    more = f" (and {len(joined) - 1} more pairs)" if len(joined) > 1 else ""
    return Finding(
        "amber", DIRECTIONS, "tie",
        f"'{labels[i]}' and '{labels[j]}'{more} depend on each other but were equally normal in the first round: "
        "the direction between them rests on a close call.", columns=(labels[i], labels[j]),
    )  # fmt: skip


#: Level, over all variables together, at which residuals count as not described.
MISFIT_LEVEL = 1e-3
#: With more than this share of the variables not described, the whole graph is in doubt.
MOSTLY = 0.5


def doubts_of_mechanisms(
    scores: LocalScores, adjacency: Adjacency, undecided: Adjacency | None, labels: Sequence[str]
) -> list[Finding]:
    """Return the doubts that remain when mechanisms compete: variables that no mechanism fits, and open edges."""
    finding = misfits(scores, adjacency, labels, "No mechanism fits")
    found = [] if finding is None else [finding]
    d = len(adjacency) if undecided is None else len(undecided)  # columns beyond stand for conditions
    return found + ([] if undecided is None else open_edges(adjacency[:d, :d], undecided))


def misfits(scores: LocalScores, adjacency: Adjacency, labels: Sequence[str], verdict: str) -> Finding | None:
    """Return which variables their models do not describe, or None if there are none."""
    keys = [(j, parents_of(adjacency[:, j])) for j in scores.targets]
    wrong = [labels[fit.target] for fit in scores.fits(keys) if misfit(scores, fit) * len(keys) < MISFIT_LEVEL]
    if not wrong:
        return None
    listed = ", ".join(f"'{name}'" for name in wrong[:5]) + (f" and {len(wrong) - 5} more" if len(wrong) > 5 else "")
    return Finding(
        "red" if len(wrong) > MOSTLY * len(keys) else "amber", FIT, "misfit",
        f"{verdict} {listed}: the residuals still depend on the causes, or do not follow the fitted noise.",
        "Edges into these variables may mean little; a cause may be missing from the table.", tuple(wrong),
    )  # fmt: skip


def open_edges(adjacency: Adjacency, undecided: Adjacency) -> list[Finding]:
    """Return how many edges are open, or nothing if none is."""
    if not undecided.any():
        return []
    loose, total = int(undecided.sum()), int(adjacency.sum())
    return [Finding(
        "amber", DIRECTIONS, "open",
        f"The direction of {loose} of {total} edges is open: graphs with the arrow turned round explain the table as "
        "well.", "They are drawn without an arrowhead; the table of edges has the evidence in nats.",
    )]  # fmt: skip


def misfit(scores: LocalScores, fit: Fit) -> float:
    """Return the p-value of the hypothesis that residuals follow the fitted noise and are independent of the parents.

    It is twice the smaller of two p-values: that of the Kolmogorov-Smirnov test of the residuals against the density
    of the noise, and the smallest, corrected for their number, of the rank correlations between the residuals or
    their sizes and each parent or its distance from its median.
    """
    table = scores.table_of(fit.target)
    e = fit.residuals(table)
    probability = ndtr(e) if fit.noise is None else fit.noise.cdf(e)
    smallest = float(kstest(probability, "uniform").pvalue)
    for parent in fit.parents:
        x = table.take([parent])[0]
        for of in (x, np.abs(x - np.median(x))):
            if of.min() == of.max():  # the two values of a condition can be equally far from their median
                continue
            for left in (e, np.abs(e)):
                smallest = min(smallest, 4.0 * len(fit.parents) * float(spearmanr(of, left).pvalue))
    return min(2.0 * smallest, 1.0)
