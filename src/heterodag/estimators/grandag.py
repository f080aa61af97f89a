"""GraN-DAG: nonlinear models with Gaussian noise, by networks and continuous optimisation; through gcastle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.core.graph import topological_order
from heterodag.core.table import location_and_scale
from heterodag.errors import check_integer, check_number
from heterodag.estimators.gcastle_runs import require_gcastle, run_gcastle
from heterodag.estimators.ordering import Ordering, OrderingEstimator, Report
from heterodag.knowledge import ResolvedKnowledge

#: From this many columns on, gcastle selects neighbours first, as the paper does.
MANY = 50
#: gcastle holds a fifth of the rows out.
TRAINED_SHARE = 0.8


class GraNDAG(OrderingEstimator):
    """Fit a network to every variable given all others, penalise cycles of network paths, then prune.

    It assumes `X_i = f_i(causes) + E_i` with curves that are not straight lines and Gaussian noise of constant
    variance. Columns are standardised first, so their units do not matter. Needs the extra `baselines`. gcastle runs
    in a separate process, so it prints nothing, leaves the global random state and the logging alone, and ends when
    the time is up.

    Parameters
    ----------
    hidden_layers, hidden : int, default=2 and 10
        Number of hidden layers of each network, and units per layer.
    learning_rate : float, default=0.001
        Learning rate of RMSprop.
    batch_size : int, default=64
        Rows per step.
    max_steps : int, default=10000
        Maximum number of steps of the augmented Lagrangian; it ends earlier once no cycle is left.
    selection : str or callable, default="gam"
        Edge test for the pruning; see `recover_dag`.
    alpha : float, default=0.001
        Significance level of the edge test.
    correction : {"none", "holm", "bh"}, default="none"
        Correction for multiple testing over all tested pairs.
    n_jobs : int, optional
        Parallel workers for the edge tests; the result does not depend on it.
    random_state : int, Generator or None
        Seed of the networks, the order of the rows, and edge tests that need randomness.
    max_seconds : float, optional
        Time limit in seconds; beyond it `fit` raises `TimeLimitError`.
    verbose : int, default=0
        1 lets gcastle print to standard error.

    Attributes
    ----------
    unpruned_ : ndarray of shape (d, d), int8
        The graph that the optimisation ended with.
    order_ : ndarray of shape (d,)
        A causal order of `unpruned_`; where the graph leaves a choice, the smallest index comes first.
    layers_ : list of list of int
        One column index per layer.
    adjacency_ : ndarray of shape (d, d), int8
        `adjacency_[i, j] == 1` means column i -> column j.
    pvalues_ : ndarray of shape (d, d)
        P-values of the edges of `unpruned_`; NaN elsewhere.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,), object
        Column names; only if the table had them.

    Raises
    ------
    MissingExtraError
        By `fit`, if gcastle or torch is not installed.

    Notes
    -----
    Lachapelle, Brouillard, Deleu and Lacoste-Julien, "Gradient-Based Neural DAG Learning", ICLR 2020. As in the
    paper, edges are removed, those with the weakest average derivative first, until no cycle is left; neighbours are
    selected first when there are many columns; and the graph is pruned as in CAM: every edge is tested given the
    other parents ("gam-classical" is the paper's test). Deviations: the columns are standardised and the rows
    shuffled, so that the seed decides which rows are held out. Validated here on a curved chain of three columns with
    Gaussian noise, which it finds exactly.

    Examples
    --------
    >>> from heterodag import GraNDAG, simulate
    >>> model = GraNDAG(max_steps=10, random_state=0)  # far too few steps, but quick
    >>> model.fit(simulate(300, 3, mechanism="curved", random_state=1).X).adjacency_.shape
    (3, 3)
    """

    def __init__(
        self,
        hidden_layers: int = 2,
        hidden: int = 10,
        learning_rate: float = 0.001,
        batch_size: int = 64,
        max_steps: int = 10_000,
        selection: str | Callable[..., Any] = "gam",
        alpha: float = 0.001,
        correction: str = "none",
        n_jobs: int | None = None,
        random_state: Any = None,
        max_seconds: float | None = None,
        verbose: int = 0,
    ) -> None:
        self.hidden_layers = hidden_layers
        self.hidden = hidden
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_steps = max_steps
        self._keep(locals())

    def _find_order(
        self, X: Array, rng: np.random.Generator, report: Report, knowledge: ResolvedKnowledge | None
    ) -> Ordering:
        location, scale = location_and_scale(X)
        Y = ((X - location) / scale)[rng.permutation(len(X))]
        options = {
            "hidden_num": int(self.hidden_layers),
            "hidden_dim": int(self.hidden),
            "lr": float(self.learning_rate),
            "batch_size": min(int(self.batch_size), int(TRAINED_SHARE * len(Y))),
            "iterations": int(self.max_steps),
            "use_pns": X.shape[1] > MANY,
        }
        seed = int(rng.integers(2**31))
        found = run_gcastle("grandag", Y, seed, options, report, bool(self.verbose))
        graph = np.asarray(found != 0)
        self.unpruned_ = graph.astype(np.int8)
        return Ordering(topological_order(graph), graph=graph)

    def _check_parameters(self) -> None:
        for name in ("hidden_layers", "hidden", "batch_size", "max_steps"):
            check_integer(name, getattr(self, name), low=1)
        check_number("learning_rate", self.learning_rate, low=0.0, open_low=True)
        super()._check_parameters()
        require_gcastle("GraN-DAG")
