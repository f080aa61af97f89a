"""The public function for a causal order: validate, run Algorithm 2, refine if asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..core.gaussian import Array
from ..core.normality import Statistic, get_statistic
from ..core.table import Table
from ..errors import check_number
from ..inputs import check_data, column_labels, warn_not_converged
from ..knowledge import ResolvedKnowledge, as_knowledge, resolved
from ..models.conditional import ConditionalModel, order_ridge
from ..threads import single_threaded
from .normality_order import FullRounds, order_by_normality
from .result import OrderResult


def causal_order(
    X: Any,
    *,
    parametrization: str = "linear",
    form: str = "natural",
    normality: str | Callable[[Array], float] = "shapiro",
    tolerance: float = 1e-4,
    prior_knowledge: Any = None,
    missing: str = "refuse",
    progress: Callable[[float], None] | None = None,
) -> OrderResult:
    """Find a causal order of the columns (Algorithm 2 of the paper).

    Parameters
    ----------
    X : array, pandas or polars DataFrame of shape (n, d)
        Continuous observations, one column a variable.
    parametrization : {"linear"}, default="linear"
        How the parameters of each conditional Gaussian depend on the predecessors.
    form : {"natural", "location-scale"}, default="natural"
        Which parameters: the natural ones of the paper, or mean and log standard deviation.
    normality : str or callable, default="shapiro"
        "shapiro", "shapiro-francia", "anderson-darling", "dagostino", "jarque-bera", or a function of a sample
        that returns a number, larger for more normal samples.
    tolerance : float, default=1e-4
        Variables within this distance of the best score are placed together, best first; 0 places one at a time.
        It is measured on the scale of the chosen statistic.
    prior_knowledge : PriorKnowledge, optional
        What is known: a round considers only the variables that may come next.
    missing : {"refuse", "drop"}, default="refuse"
        Rows with missing values: an error that counts them, or left out with a warning that does.
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
    model = ConditionalModel(parametrization, form)  # checks the two names before any work
    statistic = get_statistic(normality)
    tolerance = check_number("tolerance", tolerance, low=0.0)
    as_knowledge(prior_knowledge)
    array, names = check_data(X, missing)
    knowledge = resolved(prior_knowledge, names, array.shape[1])
    return find_order(array, names, model, statistic, tolerance, progress, knowledge)


def find_order(
    array: Array,
    names: list[str] | None,
    model: ConditionalModel,
    statistic: Statistic,
    tolerance: float,
    progress: Callable[[float], None] | None = None,
    knowledge: ResolvedKnowledge | None = None,
) -> OrderResult:
    """Order a table that has been checked already."""
    model = replace(model, ridge=order_ridge(len(array)))
    with single_threaded():
        table = Table.standardize(array)
        rounds = FullRounds(table, model, statistic)
        result = order_by_normality(table.shape[1], rounds, tolerance, progress, knowledge)
    warn_not_converged(sorted(rounds.doubtful), column_labels(array.shape[1], names))
    return replace(result, names=names)
