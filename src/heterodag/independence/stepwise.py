"""Edges by likelihood, parents chosen step by step: fewer errors than testing each predecessor given all the others.

For every target, parents enter and leave its model until each of them is significant given the others and no other
predecessor is. The p-value of a parent comes from the likelihood ratio without it. That of any other predecessor
comes from the likelihood ratio with it, or from the score test if that promises next to nothing. Two coefficients are
tested in each case, so a gain of g nats has the p-value exp(-g). As always after a selection, the p-values of the
chosen parents are smaller than they would be for a model fixed beforehand.

With `noise="gaussian"`, if the residuals of all variables are far from normal, such ratios find far too many edges.
The pairs are then tested given all predecessors instead, with a limit on what a single row can contribute.

With very many rows the parents are chosen on a sample, and again on all rows where those disagree. If Wald's test on
all rows says that a parent is certain, its p-value is Wald's. If time runs out, the parents chosen so far are kept,
with p-values from Wald's and score tests that do not separate mean and spread.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from heterodag.independence.contract import Array, EdgeProblem, EdgeTests, untested
from heterodag.independence.likelihood import drop_one_edges, tables_of
from heterodag.ordering.search import LEVELS, MECHANISM_LEVELS
from heterodag.runtime.work import OutOfTime, Work
from heterodag.scores.fit import Effort, Parents
from heterodag.scores.local import LocalScores
from heterodag.scores.parent_choice import Choice, ParentChoices, as_bits
from heterodag.scores.plausibility import judge

#: With very many rows, parents that contribute more than this (nats, Wald) are certain: no model without them is
#: fitted.
CERTAIN = 50.0


def stepwise_edges(problem: EdgeProblem) -> EdgeTests:
    """Choose every target's parents among its candidates and test each pair given the chosen ones.

    In location-scale form `details` also holds `mean_pvalues` and `variance_pvalues` of the chosen parents. Models
    other than linear ones are tested given all predecessors instead.
    """
    if problem.found is not None:
        return _edges(problem, problem.found.scores)
    with Work(problem.n_jobs, progress=problem.progress) as work:
        return _edges(problem, problem.scores(work))


def _edges(problem: EdgeProblem, scores: LocalScores) -> EdgeTests:
    if problem.settings.parametrization != "linear" and not problem.settings.compete:
        return drop_one_edges(problem, scores)
    chosen = dict(problem.found.parents) if problem.found is not None else {}
    sample = scores.sample((MECHANISM_LEVELS if problem.settings.compete else LEVELS)[-1])
    plausible = problem.found.plausibility if problem.found is not None else None
    settled = problem.found is not None and problem.found.settled
    try:
        if not settled and (plausible is None or not plausible.far):
            chosen = _chosen(problem, sample, chosen, problem.order.tolist())
            if not problem.settings.compete:
                plausible = plausible or judge(sample, chosen)
        if plausible is not None and plausible.far:
            tests = drop_one_edges(problem, scores)
            return replace(tests, details=tests.details | {"plausibility": plausible})
        scores.work.report(0.5)
        chosen = _settle(problem, scores, scores if settled else sample, chosen)
    except OutOfTime:
        if len(chosen) < len(problem.order):
            raise
    scores.work.report(0.9)
    with scores.work.grace():
        tests = _result(problem, scores, chosen)
        tests.details["plausibility"] = plausible
    if problem.settings.tell_sides:
        with suppress(OutOfTime):
            tests = replace(tests, details=tests.details | _split(scores, chosen))
    scores.work.report(1.0)
    return tests


def _settle(
    problem: EdgeProblem, scores: LocalScores, sample: LocalScores, chosen: Mapping[int, Parents]
) -> dict[int, Parents]:
    """Fit the models that decide, on all rows; return the parents, chosen again where all rows disagree.

    `sample` has the rows that the parents were chosen on.
    """
    if scores is sample and scores.n_rows <= LEVELS[-1]:
        _neighbours(problem, scores, chosen)
        return dict(chosen)
    settled, samples = dict(chosen), () if scores is sample else (scores.sample(LEVELS[-1]),)
    for more in dict.fromkeys((*samples, *scores.between(), scores)):
        _neighbours(problem, more, settled, certain=CERTAIN)
        # Rows outside the sample may disagree with it: where they do, choose again with more rows.
        settled |= _chosen(problem, more, settled, _disputed(problem, more, settled), trials=1)
    _neighbours(problem, scores, settled, certain=CERTAIN)
    return settled


def _result(problem: EdgeProblem, scores: LocalScores, chosen: Mapping[int, Parents]) -> EdgeTests:
    decided_on = (
        scores
        if all(scores.at_hand(key) is not None for key in chosen.items())
        else scores.best_known(chosen.items())
    )
    nats = untested(scores.d)
    for i in range(scores.d):
        some = np.flatnonzero(problem.candidates[:, i]).tolist()
        nats[some, i] = [max(_gain(decided_on, i, chosen[i], j), 0.0) for j in some]
    fits = [decided_on.at_hand(key) for key in sorted(chosen.items())]
    details: dict[str, Any] = {"not_converged": [fit.target for fit in fits if fit is not None and not fit.converged]}
    return EdgeTests(np.exp(-nats), details | {"nats": nats})


def _chosen(
    problem: EdgeProblem,
    scores: LocalScores,
    start: Mapping[int, Parents],
    targets: list[int],
    trials: int | None = None,
) -> dict[int, Parents]:
    """Choose parents at the penalty that alpha sets; by default, try every promising candidate."""
    trials = len(problem.order) if trials is None else trials
    choices = ParentChoices(scores, -float(np.log(problem.alpha)), problem.limits, trials=trials)
    asked = [Choice(i, as_bits(np.flatnonzero(problem.candidates[:, i]).tolist()), start.get(i, ())) for i in targets]
    return {t.target: parents for t, (_, parents) in zip(asked, choices.choose(asked), strict=True)}


def _neighbours(
    problem: EdgeProblem, scores: LocalScores, chosen: Mapping[int, Parents], certain: float = np.inf
) -> None:
    """Fit the chosen models and the neighbours needed to decide; not without parents worth more than `certain`."""
    fits = scores.fits(chosen.items(), Effort.FINAL)
    scores.prepare_gains(chosen.items(), whole=True)
    near = []
    for fit in fits:
        i, some = fit.key
        near += [(i, some[:k] + some[k + 1 :]) for k in range(len(some)) if not fit.contributions[k] >= certain]
        promising = problem.candidates[:, i] & (scores.gains(fit.key) > -np.log(problem.alpha))
        near += [(i, tuple(sorted((*some, int(j))))) for j in np.flatnonzero(promising)]
    scores.fits(near, Effort.FINAL)


def _disputed(problem: EdgeProblem, scores: LocalScores, chosen: Mapping[int, Parents]) -> list[int]:
    """Return the targets with a parent that is not significant or another candidate that is."""
    price = -float(np.log(problem.alpha))
    return [
        i
        for i, some in chosen.items()
        if any(
            (_gain(scores, i, some, int(j)) > price) != (j in some) for j in np.flatnonzero(problem.candidates[:, i])
        )
    ]


def _gain(scores: LocalScores, target: int, parents: Parents, other: int) -> float:
    """Return the difference in loss between the models with and without a variable; an estimate if one is unknown.

    In a long table it is at most what score and Wald test say, unless these are certain: see `LongScores.tests_hold`.
    """
    without, with_it = (tuple(sorted({*parents} - {other})), tuple(sorted({*parents, other})))
    smaller, larger = (scores.at_hand((target, some)) for some in (without, with_it))
    wald = 0.0 if larger is None else float(larger.contributions[with_it.index(other)])
    if smaller is None:
        return wald
    promise = float(scores.gains(smaller.key)[other]) if scores.tests_hold or larger is None else 0.0
    if larger is None:
        return promise
    gain, tested = smaller.loss - larger.loss, max(promise, wald)
    return min(gain, tested) if scores.tests_hold and tested < CERTAIN else gain


def _split(scores: LocalScores, chosen: Mapping[int, Parents]) -> dict[str, Array]:
    """Test, for every chosen parent, whether it acts on the mean and whether it acts on the spread."""
    tests = [(key, list(range(len(key[1])))) for key in chosen.items() if key[1]]
    tables = tables_of(scores.without(tests), scores.d)
    return {f"{part}_pvalues": tables.get(part, untested(scores.d)) for part in ("mean", "variance")}
