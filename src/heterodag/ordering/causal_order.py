"""The public function for a causal order: validate, run Algorithm 2, refine if asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.core.normality import Statistic, get_statistic
from heterodag.errors import (
    FitWarning,
    ParameterError,
    check_choice,
    check_number,
    check_workers,
    renamed_time_limit,
    warn,
)
from heterodag.io.inputs import column_labels, warn_not_converged
from heterodag.knowledge import ResolvedKnowledge, as_knowledge, read_study
from heterodag.ordering.greedy import precedence, ranked_order
from heterodag.ordering.normality_order import FullRounds, loss_along, order_by_normality
from heterodag.ordering.refinement import start_state
from heterodag.ordering.result import OrderResult
from heterodag.ordering.search import LEVELS, Search, order_choices, search_mechanisms, search_order
from heterodag.ordering.sparse_rounds import SparseRounds
from heterodag.runtime.seeds import seed_sequence
from heterodag.runtime.threads import single_threaded
from heterodag.runtime.work import ALMOST, OutOfTime, Progress, Work
from heterodag.scores.curves import CurveFitter
from heterodag.scores.fit import Parents
from heterodag.scores.lines import LineFitter
from heterodag.scores.local import LocalScores
from heterodag.scores.make import ScoreSettings, score_settings
from heterodag.scores.plausibility import Plausibility, judge

#: Orders by curves, and their refinement, use at most this many rows, because fits with curves are expensive.
_CURVE_ROWS = 2_500
#: Share of the work spent on the order by normality if refinement follows, with competing mechanisms or with one
#: kind.
_NORMALITY = {"competing": 0.03, "alone": 0.15}
CONDITIONING = ("auto", "full", "sparse")
#: "auto" conditions on chosen parents only when there are more variables than this.
_FULL_LIMIT = 20


@dataclass(frozen=True)
class OrderSettings:
    """How an order is found, apart from the data; the names are those of `causal_order`."""

    scores: ScoreSettings
    statistic: Statistic
    tolerance: float = 1e-4
    refine: bool = True
    conditioning: str = "auto"


@dataclass(frozen=True)
class FoundOrder:
    """An order, and what is known about the models behind it.

    Attributes
    ----------
    scores : the local scores of the table; mechanisms may have been admitted along the way.
    result : the order.
    search : what refinement found; None without refinement, or if its models are not plausible.
    plausibility : how normal the residuals of the refined order's models are; None without refinement, and if the
        noise need not be normal.
    """

    scores: LocalScores
    result: OrderResult
    search: Search | None = None
    plausibility: Plausibility | None = None


def causal_order(
    X: Any,
    *,
    parametrization: str = "auto",
    form: str = "auto",
    noise: str = "auto",
    normality: str | Callable[[Array], float] = "shapiro",
    tolerance: float = 1e-4,
    refine: bool = True,
    conditioning: str = "auto",
    max_seconds: float | None = None,
    prior_knowledge: Any = None,
    missing: str = "refuse",
    interventions: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: Progress | None = None,
    max_time: float | None = None,
) -> OrderResult:
    """Find a causal order of the columns: Algorithm 2 of the paper, then refinement by likelihood.

    Parameters
    ----------
    X : array, pandas or polars DataFrame of shape (n, d)
        Continuous observations, one column per variable.
    parametrization : {"auto", "linear", "spline", "mlp"}, default="auto"
        How mean and spread depend on the predecessors: straight lines, sums of smooth curves, or neural networks
        ("mlp", needs torch). "auto" takes lines or curves for each variable, whichever the likelihood prefers.
    form : {"auto", "natural", "location-scale"}, default="auto"
        What depends on the predecessors: the natural parameters of a Gaussian (the paper), or mean and log standard
        deviation. "auto" takes the better for each variable.
    noise : {"auto", "gaussian", "flexible"}, default="auto"
        Distribution of the noise: normal (the paper), a fitted density, or the better of the two for each variable.
    normality : str or callable, default="shapiro"
        "shapiro", "shapiro-francia", "anderson-darling", "dagostino", "jarque-bera", or a function of a sample
        that returns a number, larger for more normal samples.
    tolerance : float, default=1e-4
        Variables within this distance of the best score are placed together, best first; 0 places one at a time.
        It is measured on the scale of the chosen statistic.
    refine : bool, default=True
        Improve the order by the penalised likelihood of the variables' models; False keeps the paper's order (with
        lines, unless splines or networks are asked for). That order is also kept with "mlp", with a warning, and with
        `noise="gaussian"` if the residuals of all variables are far from normal: their likelihoods mean little then.
    conditioning : {"auto", "full", "sparse"}, default="auto"
        While ordering by normality, fit a variable given all variables already placed (the paper), or given the
        parents chosen among them; "auto" is "full" up to 20 variables and "sparse" beyond.
    max_seconds : float, optional
        Seconds after which the best order so far is returned; `complete` says whether the time sufficed.
    prior_knowledge : PriorKnowledge, optional
        What is known: a round considers only the variables that may come next.
    missing : {"refuse", "drop"}, default="refuse"
        What to do with rows that have missing values: raise an error that counts them, or leave them out and warn.
    interventions : optional
        Which variables were set or changed in which rows; see `HOST.fit`.
    n_jobs : int, optional
        Number of parallel workers for large tables, as in joblib; the result does not depend on it.
    random_state : int, Generator or None
        Seed for "mlp"; the other parametrizations draw no random numbers.
    progress : callable, optional
        Called with the share of the work that is done.
    max_time : float, optional
        Former name of `max_seconds`.

    Returns
    -------
    OrderResult
        With `order`, `layers` and the `scores` of every round.

    Examples
    --------
    >>> from heterodag import causal_order, simulate
    >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> data = simulate(500, 3, mechanism="straight", spread="straight", adjacency=chain, random_state=1)
    >>> causal_order(data.X).order
    array([0, 1, 2])
    """
    settings = order_settings(parametrization, form, noise, normality, tolerance, refine, conditioning)
    limit, n_jobs = renamed_time_limit(max_seconds, max_time), check_workers(n_jobs)
    as_knowledge(prior_knowledge)
    seed = seed_sequence(random_state)
    study = read_study(X, interventions, prior_knowledge, missing)
    with Work(n_jobs, limit, progress) as work:
        with work.part(0.0, ALMOST):
            scores = settings.scores.make_for_graph(study.array, seed, work, study.experiments, random_state)
            found = find_order(scores, study.names, settings, study.knowledge)
        work.report(1.0)
    return found.result.of_first(study.d, study.own_names)


def order_settings(
    parametrization: str,
    form: str,
    noise: str,
    normality: str | Callable[[Array], float],
    tolerance: float,
    refine: bool,
    conditioning: str,
) -> OrderSettings:
    """Check the parameters of an ordering before any work."""
    settings = score_settings(parametrization, form, noise)
    check_choice("conditioning", conditioning, CONDITIONING)
    if not isinstance(refine, (bool, np.bool_)):
        raise ParameterError("refine", "be True or False", refine)
    if parametrization in ("spline", "mlp") and conditioning == "sparse":
        raise ParameterError(
            "conditioning", f"be 'full' or 'auto' with the parametrization '{parametrization}'", conditioning
        )
    tolerance = check_number("tolerance", tolerance, low=0.0)
    return OrderSettings(settings, get_statistic(normality), tolerance, bool(refine), conditioning)


def find_order(
    scores: LocalScores, names: list[str] | None, settings: OrderSettings, knowledge: ResolvedKnowledge | None = None
) -> FoundOrder:
    """Order the variables of local scores, and refine the order if its models are plausible."""
    with single_threaded():
        refine = settings.refine and scores.fitter.comparable
        if settings.refine and not refine:
            warn(
                f"Orders by networks are not refined: `refine` has no effect with parametrization "
                f"'{settings.scores.parametrization}'.", FitWarning, stacklevel=3
            )  # fmt: skip
        levels = (_CURVE_ROWS,) if _rounds_with_curves(settings) else LEVELS
        looked_at = scores.sample(levels[0] if refine or _rounds_with_curves(settings) else scores.n_rows)
        if settings.scores.compete:  # Algorithm 2 as the paper has it: normal noise
            rounds = CurveFitter if _rounds_with_curves(settings) else LineFitter
            looked_at = looked_at.with_fitter(rounds(settings.scores.fixed_form))
        share = _NORMALITY["competing" if settings.scores.compete else "alone"] if refine else 1.0
        with scores.work.part(0.0, share):
            result, parents, doubtful = _by_normality(looked_at, settings, knowledge)
        warn_not_converged(doubtful, column_labels(scores.d, names))
        result = replace(result, names=names, complete=not scores.work.over)
        if not refine:
            return FoundOrder(scores, result)
        with scores.work.part(share, 1.0):
            if settings.scores.compete:
                scores, search = search_mechanisms(scores, result.order.tolist(), knowledge)
            else:
                search = search_order(scores, result.order.tolist(), parents, knowledge, levels)
        if search is None:
            return FoundOrder(scores, replace(result, complete=False))
        plausibility = None if settings.scores.compete else judge(search.scores, search.state.parents)
        if plausibility is not None and plausibility.far:
            return FoundOrder(scores, result, None, plausibility)
        return FoundOrder(scores, _refined(result, search, knowledge), search, plausibility)


def _rounds_with_curves(settings: OrderSettings) -> bool:
    """Return whether the rounds of Algorithm 2 fit curves: with splines, unless the order is one start of several."""
    return settings.scores.parametrization == "spline" and not (settings.scores.compete and settings.refine)


def _by_normality(
    scores: LocalScores, settings: OrderSettings, knowledge: ResolvedKnowledge | None
) -> tuple[OrderResult, dict[int, Parents], list[int]]:
    """Run Algorithm 2; also return the parents its rounds chose and the columns whose models did not converge."""
    d, work, curves = scores.d, scores.work, _rounds_with_curves(settings)
    sparse = settings.conditioning == "sparse" or (settings.conditioning == "auto" and d > _FULL_LIMIT)
    if sparse and not curves and settings.scores.parametrization != "mlp":
        sparsely = SparseRounds(order_choices(scores), settings.statistic)
        result = order_by_normality(d, sparsely, settings.tolerance, work.report, knowledge)
        return result, sparsely.parents, []
    rounds = FullRounds(scores, settings.statistic)
    with work.part(0.0, 0.7 if curves else 1.0):
        result = order_by_normality(d, rounds, settings.tolerance, work.report, knowledge)
    if curves:
        # Curves can make wrong directions look normal where lines do not, but lines fail where effects bend. Of the
        # two orders, keep the one along which models with curves explain the table better.
        lines = FullRounds(scores.with_fitter(settings.scores.lines()), settings.statistic)
        with work.part(0.7, 1.0):
            straight = order_by_normality(d, lines, settings.tolerance, work.report, knowledge)
        with suppress(OutOfTime):
            if loss_along(scores, straight.order.tolist()) < loss_along(scores, result.order.tolist()):
                return straight, {}, sorted(lines.doubtful)
    return result, {}, sorted(rounds.doubtful)


def reordered(found: FoundOrder, parents: Mapping[int, Parents], knowledge: ResolvedKnowledge | None) -> FoundOrder:
    """Return an order that agrees with parents which more rows chose, as close as possible to the one at hand."""
    assert found.search is not None
    old = found.search.state
    order = ranked_order(precedence(found.scores.d, knowledge, parents), old.order)
    search = replace(found.search, state=start_state(found.search.choices, order, old.parents))
    return replace(found, result=_refined(found.result, search, knowledge), search=search)


def _refined(result: OrderResult, search: Search, knowledge: ResolvedKnowledge | None) -> OrderResult:
    """Return the order after refinement, with layers of variables that need not precede each other."""
    layers: list[list[int]] = []
    for j in search.state.order:
        before = set(search.state.parents[j])
        if knowledge is not None:
            before.update(np.flatnonzero(knowledge.must_precede[:, j]).tolist())
        if layers and before.isdisjoint(layers[-1]):
            layers[-1].append(j)
        else:
            layers.append([j])
    return replace(
        result,
        order=np.array(search.state.order, dtype=np.intp),
        layers=layers,
        score=search.state.total,
        start_score=search.start_score,
        complete=search.complete,
    )
