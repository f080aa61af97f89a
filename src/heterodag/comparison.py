"""Which parametrisation suits the data: held-out log-likelihood of each variable given its predecessors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from heterodag.core.gaussian import FORMS, Array
from heterodag.core.graph import as_adjacency, topological_order
from heterodag.core.table import Table
from heterodag.errors import ParameterError, check_choice, check_integer
from heterodag.independence.recover import order_indices
from heterodag.io.inputs import check_data, column_labels
from heterodag.runtime.seeds import seed_sequence
from heterodag.runtime.threads import single_threaded
from heterodag.scores.fit import Effort
from heterodag.scores.local import Fitter
from heterodag.scores.make import PARAMETRIZATIONS, score_settings

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: Lower limit on what a held-out row counts, in log-likelihood relative to a plain normal distribution: a single
#: outlier unlike any training row should not decide.
_WORST_ROW = -10.0


@dataclass(frozen=True, eq=False)
class ParametrizationComparison:
    """Held-out log-likelihoods.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row per variable and parametrisation: `variable`, `predecessors` (their number), `parametrization`,
        `loglik` (mean held-out log-likelihood per row, in units of the variable's standard deviation, above that of
        a normal distribution without predecessors), `stderr` (standard error of its difference from the best
        parametrisation of that variable), `best` (whether it is the best).

    Examples
    --------
    >>> from heterodag import compare_parametrizations, simulate
    >>> data = simulate(600, 3, mechanism="curved", random_state=1)
    >>> comparison = compare_parametrizations(data.X, data.order)
    >>> list(comparison.frame.columns)
    ['variable', 'predecessors', 'parametrization', 'loglik', 'stderr', 'best']
    """

    frame: pd.DataFrame

    def table(self) -> pd.DataFrame:
        """Return the log-likelihoods.

        Returns
        -------
        pandas.DataFrame
            Variables in rows and parametrisations in columns.
        """
        return self.frame.pivot(index="variable", columns="parametrization", values="loglik").reindex(
            index=self.frame["variable"].unique(), columns=self.frame["parametrization"].unique()
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the log-likelihoods, one line per variable and one mark per parametrisation; further right is better.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The drawing.
        """
        from matplotlib.figure import Figure

        table = self.table()
        if ax is None:
            ax = Figure(figsize=(6.0, 1.2 + 0.3 * len(table)), layout="constrained").subplots()
        places = np.arange(len(table))[::-1]
        ax.hlines(places, table.min(axis=1), table.max(axis=1), color="lightgrey", zorder=1)
        for name, marker, color in zip(table, "o^sD", ("#4477aa", "#ee6677", "#228833", "#aa3377"), strict=False):
            ax.scatter(table[name], places, marker=marker, color=color, label=name, zorder=2)
        ax.axvline(0.0, color="grey", linewidth=0.8)
        ax.set_yticks(places, [str(name) for name in table.index])
        ax.set_xlabel("held-out log-likelihood per row, above no predecessors")
        ax.legend(title="parametrization")
        return ax


def compare_parametrizations(
    X: Any,
    order_or_graph: Any,
    *,
    parametrizations: Sequence[str] = ("linear", "spline"),
    form: str = "natural",
    folds: int = 2,
    random_state: Any = 0,
) -> ParametrizationComparison:
    """Compare how well the parametrisations predict each variable on rows they were not fitted to.

    Parameters
    ----------
    X : array, pandas or polars DataFrame of shape (n, d)
        Continuous observations.
    order_or_graph : causal order, adjacency matrix or fitted estimator
        Each variable is predicted from all that precede it in the order, or from its parents in the graph
        (`adjacency[i, j] == 1` means column i -> column j). For a fitted estimator, its order is used.
    parametrizations : sequence of {"linear", "spline", "mlp"}, default=("linear", "spline")
        What to compare; "mlp" needs torch.
    form : {"natural", "location-scale"}, default="natural"
        Form of the conditional Gaussians.
    folds : int, default=2
        The rows are cut at random into this many parts, and each is predicted from the others.
    random_state : int, Generator or None, default=0
        Seed for the random cut and for "mlp".

    Returns
    -------
    ParametrizationComparison
        With `frame`, `table()` and `plot()`.

    Notes
    -----
    The first variable of an order has no predecessors and is left out. No row counts for less than 10 below the
    normal distribution without predecessors, so that a single outlier cannot decide.

    Examples
    --------
    >>> from heterodag import compare_parametrizations, simulate
    >>> data = simulate(600, 3, mechanism="curved", random_state=1)
    >>> table = compare_parametrizations(data.X, data.order).table()
    >>> bool((table["spline"] > table["linear"]).any())  # the curves are worth their coefficients
    True
    """
    for name in parametrizations:
        check_choice("parametrizations", name, PARAMETRIZATIONS)
    check_choice("form", form, FORMS)
    check_integer("folds", folds, low=2)
    seed = seed_sequence(random_state)
    array, names = check_data(X)
    n, d = array.shape
    if folds > n // 10:
        raise ParameterError("folds", f"leave at least 10 rows in each part of the {n}", folds)
    predecessors = _predecessors(order_or_graph, d, names)
    part = np.random.default_rng(seed).permutation(n) % folds
    gains = {name: np.zeros((n, d)) for name in parametrizations}
    with single_threaded():
        for fold in range(folds):
            train, test = array[part != fold], array[part == fold]
            for name in parametrizations:
                fitter = score_settings(name, form).fitter(seed)
                gains[name][part == fold] = _held_out(fitter, train, test, predecessors)
    return ParametrizationComparison(_frame(gains, predecessors, column_labels(d, names)))


def _predecessors(given: Any, d: int, names: list[str] | None) -> dict[int, list[int]]:
    """Return the columns that predict each column, in causal order; columns without predecessors are left out."""
    given = getattr(given, "order_", getattr(given, "order", given))
    if not all(map(_is_row, given)) if isinstance(given, list | tuple) else np.ndim(given) == 1:
        order: npt.NDArray[np.intp] = order_indices(given, d, names)
        return {int(j): [int(i) for i in order[:position]] for position, j in enumerate(order) if position}
    adjacency = as_adjacency(given, "order_or_graph")
    if len(adjacency) != d:
        raise ParameterError(
            "order_or_graph", f"have shape ({d}, {d}), as the table has {d} columns", adjacency.shape
        )
    parents = {
        int(j): [int(i) for i in np.flatnonzero(adjacency[:, j])]
        for j in topological_order(adjacency, "order_or_graph")
    }
    return {j: found for j, found in parents.items() if found}


def _is_row(item: Any) -> bool:
    """Return whether an item of a list is a row of a matrix rather than an entry of an order."""
    return isinstance(item, list | tuple | np.ndarray)


def _held_out(fitter: Fitter, train: Array, test: Array, predecessors: dict[int, list[int]]) -> Array:
    """Return the log-likelihood (rows, d) of every held-out value, minus that without predecessors."""
    table = Table.standardize(train)
    unseen = Table.with_scaling(test, table.location, table.scale)
    out, everything = np.zeros(test.shape), slice(0, len(test))
    for target, columns in predecessors.items():
        fit = fitter.fit(table, [(target, tuple(sorted(columns)))], [None], Effort.SEARCH)[0]
        with np.errstate(over="ignore", invalid="ignore"):
            loss = fit.losses(unseen, everything)
        plain = 0.5 * unseen.take([target], everything)[0] ** 2
        out[:, target] = np.maximum(np.nan_to_num(plain - loss, nan=_WORST_ROW), _WORST_ROW)
    return out


def _frame(gains: dict[str, Array], predecessors: dict[int, list[int]], labels: list[str]) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for target, columns in predecessors.items():
        mean = {name: float(gain[:, target].mean()) for name, gain in gains.items()}
        best = max(mean, key=lambda name: mean[name])
        for name, gain in gains.items():
            difference = gain[:, target] - gains[best][:, target]
            rows.append(
                {
                    "variable": labels[target], "predecessors": len(columns), "parametrization": name,
                    "loglik": mean[name], "stderr": float(difference.std() / np.sqrt(len(difference))),
                    "best": name == best,
                }
            )  # fmt: skip
    return pd.DataFrame(rows, columns=["variable", "predecessors", "parametrization", "loglik", "stderr", "best"])
