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
from ..models.conditional import ConditionalModel, order_ridge
from ..seeds import model_seed
from ..threads import single_threaded
from .normality_order import normality_order
from .result import OrderResult


def causal_order(
    X: Any,
    *,
    parametrization: str = "linear",
    form: str = "natural",
    normality: str | Callable[[Array], float] = "shapiro",
    tolerance: float = 1e-4,
    random_state: Any = None,
    progress: Callable[[float], None] | None = None,
) -> OrderResult:
    """Find a causal order of the columns (Algorithm 2 of the paper).

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
    model = ConditionalModel(parametrization, form, seed=model_seed(random_state))  # checks the names before any work
    statistic = get_statistic(normality)
    tolerance = check_number("tolerance", tolerance, low=0.0)
    array, names = check_data(X)
    return find_order(array, names, model, statistic, tolerance, progress)


def find_order(
    array: Array,
    names: list[str] | None,
    model: ConditionalModel,
    statistic: Statistic,
    tolerance: float,
    progress: Callable[[float], None] | None = None,
) -> OrderResult:
    """Order a table that has been checked already."""
    model = replace(model, ridge=order_ridge(len(array)))
    with single_threaded():
        result, doubtful = normality_order(Table.standardize(array), model, statistic, tolerance, progress)
    warn_not_converged(doubtful, column_labels(array.shape[1], names))
    return replace(result, names=names)
