"""Summarise many learned graphs: frequencies, a consensus graph, the stability of the order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from heterodag.core.gaussian import Array
from heterodag.core.graph import Adjacency
from heterodag.errors import ParameterError, check_number

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class BootstrapResult:
    """Graphs learned on resampled rows.

    Attributes
    ----------
    names : list of str
        Column names.
    adjacencies : ndarray of shape (resamples, d, d), int8
        `adjacencies[r, i, j]` is 1 where resample r has i -> j.
    orders : ndarray of shape (resamples, d), or None
        Column indices, causes first; None if the method has no order.

    Examples
    --------
    >>> from heterodag import VarSort, bootstrap, simulate
    >>> result = bootstrap(VarSort(), simulate(300, 3, random_state=1).to_frame(), 10, random_state=0)
    >>> result.adjacencies.shape
    (10, 3, 3)
    """

    names: list[str]
    adjacencies: npt.NDArray[np.int8]
    orders: npt.NDArray[np.intp] | None

    @property
    def n_resamples(self) -> int:
        """Number of resamples behind the frequencies."""
        return len(self.adjacencies)

    @cached_property
    def directed(self) -> Array:
        """(d, d) share of resamples with the edge i -> j."""
        return np.asarray(self.adjacencies.mean(axis=0))

    @cached_property
    def adjacent(self) -> Array:
        """(d, d) share of resamples with an edge between i and j, in either direction; symmetric."""
        either = (self.adjacencies != 0) | (self.adjacencies.transpose(0, 2, 1) != 0)
        return np.asarray(either.mean(axis=0))

    @cached_property
    def before(self) -> Array:
        """(d, d) share of resamples in which i comes before j in the order."""
        orders = self._orders()
        position = np.argsort(orders, axis=1)
        return np.asarray((position[:, :, None] < position[:, None, :]).mean(axis=0))

    def consensus(self, threshold: float = 0.5) -> pd.DataFrame:
        """Return the graph of the edges that are in many resamples.

        Edges are added by decreasing frequency, and an edge that would close a cycle with those before it is left
        out, so the result is a DAG whatever the threshold.

        Parameters
        ----------
        threshold : float, default=0.5
            The smallest share of resamples that must have the edge.

        Returns
        -------
        pandas.DataFrame of shape (d, d)
            With names on rows and columns; the entry in row i and column j is 1 where i causes j.

        Examples
        --------
        >>> from heterodag import VarSort, bootstrap, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> table = simulate(300, 3, mechanism="straight", adjacency=chain, random_state=1).to_frame()
        >>> bootstrap(VarSort(), table, 10, random_state=0).consensus()
            x0  x1  x2
        x0   0   1   0
        x1   0   0   1
        x2   0   0   0
        """
        import pandas as pd

        check_number("threshold", threshold, low=0.0, high=1.0)
        adjacency: Adjacency = np.zeros(self.directed.shape, dtype=np.int8)
        reach = np.eye(len(adjacency), dtype=bool)
        candidates = np.argwhere((self.directed >= threshold) & (self.directed > 0))
        for i, j in sorted(candidates.tolist(), key=lambda pair: (-self.directed[pair[0], pair[1]], pair)):
            if not reach[j, i]:
                adjacency[i, j] = 1
                reach |= np.outer(reach[:, i], reach[j])
        return pd.DataFrame(adjacency, index=self.names, columns=self.names)

    def order_stability(self) -> float:
        """Return how stable the order is.

        Returns
        -------
        float
            1 if all resamples agree on every pair, about 0 for random orders: the mean of abs(2 p - 1) over pairs,
            where p is the share of resamples in which one comes before the other. R resamples with random orders give
            about 0.8 / sqrt(R).

        Examples
        --------
        >>> from heterodag import VarSort, bootstrap, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> table = simulate(300, 3, mechanism="straight", adjacency=chain, random_state=1).to_frame()
        >>> bootstrap(VarSort(), table, 10, random_state=0).order_stability()
        1.0
        """
        upper = np.triu_indices(len(self.names), 1)
        if not upper[0].size:
            return 1.0
        return float(np.abs(2.0 * self.before[upper] - 1.0).mean())

    def mean_order(self) -> npt.NDArray[np.intp]:
        """Return the columns by their mean position over the resamples.

        Returns
        -------
        ndarray of shape (d,)
            Column indices, causes first.
        """
        return np.asarray(np.argsort(np.argsort(self._orders(), axis=1).mean(axis=0), kind="stable"), dtype=np.intp)

    def frame(self) -> pd.DataFrame:
        """Return the frequencies as a table.

        Returns
        -------
        pandas.DataFrame
            One row per ordered pair, most frequent edge first: cause, effect, directed, reversed, adjacent, before.
            `before` is missing for methods without an order.

        Examples
        --------
        >>> from heterodag import VarSort, bootstrap, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> table = simulate(300, 3, mechanism="straight", adjacency=chain, random_state=1).to_frame()
        >>> bootstrap(VarSort(), table, 10, random_state=0).frame().head(2)
          cause effect  directed  reversed  adjacent  before
        0    x0     x1       1.0       0.0       1.0     1.0
        1    x1     x2       1.0       0.0       1.0     1.0
        """
        import pandas as pd

        d = len(self.names)
        pairs = np.argwhere(~np.eye(d, dtype=bool))
        i, j = pairs[:, 0], pairs[:, 1]
        columns: dict[str, Any] = {
            "cause": [self.names[k] for k in i],
            "effect": [self.names[k] for k in j],
            "directed": self.directed[i, j],
            "reversed": self.directed[j, i],
            "adjacent": self.adjacent[i, j],
        }
        if self.orders is not None:
            columns["before"] = self.before[i, j]
        frame = pd.DataFrame(columns)
        return frame.sort_values(["directed", "adjacent"], ascending=False, kind="stable", ignore_index=True)

    def plot(self, threshold: float = 0.5, ax: Any = None) -> Any:
        """Draw the consensus graph, each edge with its frequency.

        Parameters
        ----------
        threshold : float, default=0.5
            As in `consensus`.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The drawing.
        """
        from heterodag.viz import plot_frequencies

        return plot_frequencies(self.consensus(threshold).to_numpy(), self.directed, self.names, ax)

    def __repr__(self) -> str:
        stable = f", order stability {self.order_stability():.2f}" if self.orders is not None else ""
        often = int((self.directed >= 0.5).sum())
        size = f"{self.n_resamples} resamples of {len(self.names)} variables"
        return f"BootstrapResult of {size}: {often} edges in at least half of them{stable}"

    def _repr_html_(self) -> str:
        frame = self.frame()
        shown = frame[frame["directed"] > 0].head(20)
        return f"<p>{escape(repr(self))}</p>{shown.to_html(index=False)}"

    def _orders(self) -> npt.NDArray[np.intp]:
        if self.orders is None:
            raise ParameterError("model", "have an order for this question", None, "Use a method that finds one.")
        return self.orders
