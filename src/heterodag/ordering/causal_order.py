"""The public function for a causal order: validate, run Algorithm 2, refine if asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from heterodag.core.gaussian import Array
from heterodag.core.normality import Statistic, get_statistic
from heterodag.core.table import Table
from heterodag.errors import ParameterError, check_choice, check_number, check_workers
from heterodag.io.inputs import check_data, column_labels, warn_not_converged
from heterodag.knowledge import ResolvedKnowledge, as_knowledge, resolved
from heterodag.models.conditional import ConditionalModel, order_ridge
from heterodag.models.node_fits import NodeFits, Parents
from heterodag.models.parent_choice import ParentChoice, parent_penalty
from heterodag.models.plausibility import best_normality
from heterodag.models.spline_fits import priced_loss
from heterodag.ordering.normality_order import FullRounds, models_along, order_by_normality
from heterodag.ordering.result import OrderResult
from heterodag.ordering.search import POLISH_ROWS, Search, search_order, search_ridge
from heterodag.ordering.sparse_rounds import SparseRounds
from heterodag.runtime.seeds import model_seed
from heterodag.runtime.threads import single_threaded

#: Parametrisations whose orders can be refined; networks would have to be trained hundreds of times.
REFINED = ("linear", "spline")
#: An order by curves looks at so many rows, spread over the table, for the time it takes; that by lines at all.
_SPLINE_ROWS = 2_000
CONDITIONING = ("auto", "full", "sparse")
#: "auto" conditions on chosen parents only when there are more variables than this.
_FULL_LIMIT = 20
#: Fits of sparse rounds stop when they expect to gain less than this (nats): W does not need more.
_SPARSE_NATS = 0.5


#: Called with the share of variables placed.
Progress = Callable[[float], None] | None
#: Algorithm 2 with one model: the order, and the rounds with their fits.
ByRounds = Callable[[Table, ConditionalModel, Progress], tuple[OrderResult, FullRounds]]


@dataclass(frozen=True)
class OrderSettings:
    """How an order is found, apart from the data; the names are those of `causal_order`."""

    model: ConditionalModel
    statistic: Statistic
    tolerance: float = 1e-4
    refine: bool = True
    conditioning: str = "auto"
    max_time: float | None = None
    workers: int = 1


def causal_order(
    X: Any,
    *,
    parametrization: str = "linear",
    form: str = "natural",
    normality: str | Callable[[Array], float] = "shapiro",
    tolerance: float = 1e-4,
    refine: bool = True,
    conditioning: str = "auto",
    max_time: float | None = None,
    prior_knowledge: Any = None,
    missing: str = "refuse",
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: Progress = None,
) -> OrderResult:
    """Find a causal order of the columns: Algorithm 2 of the paper, then refinement by likelihood.

    Parameters
    ----------
    X : array, pandas or polars DataFrame of shape (n, d)
        Continuous observations, one column a variable.
    parametrization : {"linear", "spline", "mlp"}, default="linear"
        How the parameters of each conditional Gaussian depend on the predecessors: linear, sums of smooth curves,
        or neural networks ("mlp", needs torch). `compare_parametrizations` helps to choose.
    form : {"natural", "location-scale"}, default="natural"
        Which parameters: the natural ones of the paper, or mean and log standard deviation.
    normality : str or callable, default="shapiro"
        "shapiro", "shapiro-francia", "anderson-darling", "dagostino", "jarque-bera", or a function of a sample
        that returns a number, larger for more normal samples.
    tolerance : float, default=1e-4
        Variables within this distance of the best score are placed together, best first; 0 places one at a time.
        It is measured on the scale of the chosen statistic.
    refine : bool, default=True
        Improve the order by the penalised likelihood of the variables' models; False keeps the paper's order. It is
        kept as well when the residuals of all variables are far from normal: their likelihoods mean little then.
    conditioning : {"auto", "full", "sparse"}, default="auto"
        While ordering by normality, fit a variable given all those placed (the paper), or given the parents chosen
        among them; "auto" is "full" up to 20 variables and "sparse" beyond.
    max_time : float, optional
        Seconds after which refinement ends with the best order so far.
    prior_knowledge : PriorKnowledge, optional
        What is known: a round considers only the variables that may come next.
    missing : {"refuse", "drop"}, default="refuse"
        Rows with missing values: an error that counts them, or left out with a warning that does.
    n_jobs : int, optional
        Parallel workers for large tables, as joblib understands it; the result does not depend on it.
    random_state : int, Generator or None
        Seed of "mlp"; the others draw no random numbers.
    progress : callable, optional
        Called with the share of variables placed.

    Returns
    -------
    OrderResult
        With `order`, `layers` and the `scores` of every round.

    Examples
    --------
    >>> from heterodag import causal_order, simulate
    >>> data = simulate(2000, 4, degree=1, random_state=3)
    >>> causal_order(data.X).order.shape
    (4,)
    """
    settings = order_settings(
        parametrization, form, normality, tolerance, refine, conditioning, max_time, n_jobs, random_state
    )
    as_knowledge(prior_knowledge)
    array, names = check_data(X, missing)
    knowledge = resolved(prior_knowledge, names, array.shape[1])
    return find_order(array, names, settings, progress, knowledge)[0]


def order_settings(
    parametrization: str,
    form: str,
    normality: str | Callable[[Array], float],
    tolerance: float,
    refine: bool,
    conditioning: str,
    max_time: float | None,
    n_jobs: int | None,
    random_state: Any,
) -> OrderSettings:
    """Check the parameters of an ordering before any work."""
    model = ConditionalModel(parametrization, form, seed=model_seed(random_state))
    check_choice("conditioning", conditioning, CONDITIONING)
    if not isinstance(refine, (bool, np.bool_)):
        raise ParameterError("refine", "be True or False", refine)
    if max_time is not None:
        max_time = check_number("max_time", max_time, low=0.0)
    if parametrization != "linear" and conditioning == "sparse":
        raise ParameterError("conditioning", "be 'full' or 'auto' unless the parametrization is linear", conditioning)
    tolerance = check_number("tolerance", tolerance, low=0.0)
    workers = effective_n_jobs(check_workers(n_jobs))
    return OrderSettings(model, get_statistic(normality), tolerance, bool(refine), conditioning, max_time, workers)


def find_order(
    array: Array,
    names: list[str] | None,
    settings: OrderSettings,
    progress: Progress = None,
    knowledge: ResolvedKnowledge | None = None,
) -> tuple[OrderResult, Search | None]:
    """Order a table that has been checked already; also return what refinement found, if its models are plausible."""
    table = Table.standardize(array)
    with single_threaded():
        result, parents, doubtful = _by_normality(table, settings, progress, knowledge)
        search = None
        if settings.refine and settings.model.parametrization in REFINED:
            order = [int(j) for j in result.order]
            limits = (knowledge, settings.max_time, settings.workers)
            search = search_order(table, settings.model, order, parents, *limits)
            if best_normality(search.fits, list(search.state.parents.items()))[1]:
                search = None
            else:
                result = _refined(result, search, knowledge)
    warn_not_converged(doubtful, column_labels(array.shape[1], names))
    return replace(result, names=names), search


def _by_normality(
    table: Table,
    settings: OrderSettings,
    progress: Progress,
    knowledge: ResolvedKnowledge | None,
) -> tuple[OrderResult, dict[int, Parents], list[int]]:
    """Run Algorithm 2; also return the parents its rounds chose and the columns whose models did not converge."""
    if settings.refine and table.shape[0] > POLISH_ROWS:
        table = table.thin(-(-table.shape[0] // POLISH_ROWS))
    n, d = table.shape
    model = replace(settings.model, ridge=order_ridge(n))
    sparse = settings.conditioning == "sparse" or (settings.conditioning == "auto" and d > _FULL_LIMIT)
    if sparse and model.parametrization == "linear":
        fits = NodeFits(table, model.form, search_ridge(n), nats=_SPARSE_NATS, workers=settings.workers)
        sparsely = SparseRounds(ParentChoice(fits, parent_penalty(n, d)), d, settings.statistic)
        result = order_by_normality(d, sparsely, settings.tolerance, progress, knowledge)
        return result, sparsely.parents, []
    by_rounds: ByRounds = partial(_by_full_rounds, settings, knowledge)
    if model.parametrization == "spline":
        result, rounds = _by_lines_or_curves(by_rounds, table, model, progress)
    else:
        result, rounds = by_rounds(table, model, progress)
    return result, {}, sorted(rounds.doubtful)


def _by_full_rounds(
    settings: OrderSettings,
    knowledge: ResolvedKnowledge | None,
    table: Table,
    model: ConditionalModel,
    progress: Progress,
) -> tuple[OrderResult, FullRounds]:
    rounds = FullRounds(table, model, settings.statistic)
    return order_by_normality(table.shape[1], rounds, settings.tolerance, progress, knowledge), rounds


def _by_lines_or_curves(
    by_rounds: ByRounds, table: Table, model: ConditionalModel, progress: Progress
) -> tuple[OrderResult, FullRounds]:
    """Order by lines and by curves; return the order along which models with curves explain the table better.

    Curves let wrong directions look normal where lines do not; where effects bend, lines are lost.
    """
    sample = table.spread(_SPLINE_ROWS)
    curves = replace(model, ridge=order_ridge(sample.shape[0]))
    curved, curved_rounds = by_rounds(sample, curves, progress)
    straight, straight_rounds = by_rounds(table, replace(model, parametrization="linear"), None)
    along_curved = curved_rounds.models(curved)
    along_straight = models_along(straight.order, curves, sample, along_curved)
    if priced_loss(along_straight, sample) < priced_loss(along_curved, sample):
        return straight, straight_rounds
    return curved, curved_rounds


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
        complete=not search.stopped,
    )
