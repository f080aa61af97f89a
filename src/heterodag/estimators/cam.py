"""CAM: causal additive models, without R."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.core.graph import topological_order
from heterodag.core.splines import columns_per_block, spline_block
from heterodag.core.table import location_and_scale
from heterodag.errors import check_integer
from heterodag.estimators.ordering import Ordering, OrderingEstimator, Report
from heterodag.knowledge import PriorKnowledge, ResolvedKnowledge
from heterodag.ordering.cam import boosted_neighbours, greedy_graph

#: At most this many spline columns per predecessor, and at least this many rows per column of the largest design.
MOST_COLUMNS, ROWS_PER_COLUMN = 6, 5
#: Spline columns of the curves that select neighbours: rough curves are enough.
NEIGHBOUR_COLUMNS = 4


class CAM(OrderingEstimator):
    """Search for the order that maximises the likelihood of additive models with Gaussian noise, then prune.

    It assumes `X_i = sum_j f_ij(X_j) + E_i` with smooth curves, at least some of them not straight lines, and
    Gaussian noise whose variance is constant but may differ between variables. The units of columns do not matter.

    Parameters
    ----------
    max_neighbours : int or None, default=10
        Preliminary neighbourhood selection: in tables of more than 20 columns, each variable keeps at most this many
        possible causes, those that boosting an additive regression picks first. None switches it off.
    selection : str or callable, default="gam"
        Edge test for the pruning; see `recover_dag`.
    alpha : float, default=0.001
        Significance level of the edge test.
    correction : {"none", "holm", "bh"}, default="none"
        Correction for multiple testing over all tested pairs.
    prior_knowledge : PriorKnowledge, optional
        Required and forbidden edges, tiers, roots and leaves; obeyed strictly by the order and by the edges.
    missing : {"refuse", "drop"}, default="refuse"
        What to do with rows that have missing values: raise an error that counts them, or leave them out with a warning.
    n_jobs : int, optional
        Parallel workers for the edge tests; the result does not depend on it.
    random_state : int, Generator or None
        Seed of edge tests that need randomness; the search needs none.
    max_seconds : float, optional
        Time limit in seconds; beyond it `fit` raises `TimeLimitError`.
    verbose : int, default=0
        1 shows a progress bar on a terminal.

    Attributes
    ----------
    unpruned_ : ndarray of shape (d, d), int8
        The graph that the search ended with, including required edges.
    order_ : ndarray of shape (d,)
        Column indices, causes first: a causal order of `unpruned_`. Where the graph and prior knowledge leave a
        choice, the smallest index comes first.
    layers_ : list of list of int
        One column index per layer.
    adjacency_ : ndarray of shape (d, d), int8
        `adjacency_[i, j] == 1` means column i -> column j.
    pvalues_ : ndarray of shape (d, d)
        P-values of the edges of `unpruned_` that are not required; NaN elsewhere.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,), object
        Column names; only if the table had them.

    Notes
    -----
    Buehlmann, Peters and Ernest, "CAM: causal additive models, high-dimensional order search and penalized
    regression", Annals of Statistics 2014: preliminary neighbourhood selection, greedy addition of the edge that gains
    most, pruning by tests. Deviations: regression splines (natural cubic) instead of penalised ones, with variances
    divided by the residual degrees of freedom, so that the search ends by itself when no edge gains anything; by
    default the pruning uses a covariance that stays valid when variances move ("gam-classical" is the paper's test).
    As in the paper, an edge is tested given the other parents of its effect; `recover_dag(X, model.order_)` tests
    every pair given all earlier variables. Validated here on nonlinear additive data with Gaussian noise and as many
    edges as columns, where it comes close to a true order and to the graph; in dense graphs the greedy search can
    take a wrong edge early.

    Examples
    --------
    >>> from heterodag import CAM, simulate
    >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> data = simulate(500, 3, mechanism="curved", adjacency=chain, random_state=1)
    >>> CAM().fit(data.to_frame()).edges()[["cause", "effect"]]
      cause effect
    0    x1     x2
    1    x0     x1
    """

    #: Up to this many columns every other column is a possible cause.
    _SMALL = 20

    def __init__(
        self,
        max_neighbours: int | None = 10,
        selection: str | Callable[..., Any] = "gam",
        alpha: float = 0.001,
        correction: str = "none",
        prior_knowledge: PriorKnowledge | Mapping[str, Any] | None = None,
        missing: str = "refuse",
        n_jobs: int | None = None,
        random_state: Any = None,
        max_seconds: float | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_neighbours = max_neighbours
        self._keep(locals())

    def _find_order(
        self, X: Array, rng: np.random.Generator, report: Report, knowledge: ResolvedKnowledge | None
    ) -> Ordering:
        n, d = X.shape
        location, scale = location_and_scale(X)
        Y = (X - location) / scale
        allowed, most = ~np.eye(d, dtype=bool), d - 1
        if knowledge is not None:
            allowed &= ~knowledge.forbidden
        if self.max_neighbours is not None and d > self._SMALL:
            most = min(most, int(self.max_neighbours))
            allowed = boosted_neighbours(Y, spline_blocks(Y, min(NEIGHBOUR_COLUMNS, n // 10)), most, allowed)
        if knowledge is not None:
            most = max(most, int((allowed | knowledge.required).sum(axis=0).max()))
        width = columns_per_block(n, most, MOST_COLUMNS, ROWS_PER_COLUMN)
        graph = greedy_graph(Y, spline_blocks(Y, width), allowed, report, knowledge)
        self.unpruned_ = graph.astype(np.int8)
        return Ordering(
            topological_order(graph if knowledge is None else graph | knowledge.must_precede), graph=graph
        )

    def _check_parameters(self) -> None:
        if self.max_neighbours is not None:
            check_integer("max_neighbours", self.max_neighbours, low=1)
        super()._check_parameters()


def spline_blocks(Y: Array, width: int) -> list[Array]:
    """Return the spline columns of every column of `Y`."""
    return [spline_block(column, max(width, 1)) for column in Y.T]
