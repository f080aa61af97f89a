"""GOLEM: linear models with Gaussian noise, by continuous optimisation; through gcastle."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from heterodag.core.graph import topological_order
from heterodag.errors import ParameterError, check_integer, check_number, remembered_warnings
from heterodag.estimators.base import GraphEstimator, check_run_parameters
from heterodag.estimators.gcastle_runs import require_gcastle, run_gcastle, threshold_to_dag
from heterodag.runtime.progress import progress_bar
from heterodag.runtime.seeds import seed_sequence
from heterodag.runtime.work import Work


class GOLEM(GraphEstimator):
    """Maximise the likelihood of a linear Gaussian model with soft penalties on edges and cycles.

    It assumes `X_i = sum_j b_ij X_j + E_i` with Gaussian noise, of equal variance by default. Rescaled columns break
    that assumption. Needs the extra `baselines`. gcastle runs in a separate process, so it prints nothing, leaves the
    global random state and the logging alone, and ends when the time is up.

    Parameters
    ----------
    equal_variances : bool, default=True
        True is GOLEM-EV. False is GOLEM-NV, which allows every variable its own noise variance and starts at
        the solution of GOLEM-EV, as its paper advises.
    l1 : float or None, default=None
        Weight of the penalty on edges; None takes the paper's: 0.02 for equal variances, 0.002 otherwise.
    dag_penalty : float, default=5.0
        Weight of the penalty on cycles.
    threshold : float, default=0.3
        Weights up to this size are not edges.
    learning_rate : float, default=0.001
        Learning rate of Adam.
    max_steps : int, default=20000
        Steps of Adam.
    random_state : int, Generator or None
        Seed of gcastle; GOLEM starts at zero and draws nothing, so the result does not depend on it.
    max_seconds : float, optional
        Time limit in seconds; beyond it `fit` raises `TimeLimitError`.
    verbose : int, default=0
        1 lets gcastle print to standard error.

    Attributes
    ----------
    weights_ : ndarray of shape (d, d)
        The coefficient of column i in the equation of column j, before the threshold.
    order_ : ndarray of shape (d,)
        A causal order of the graph; where the graph leaves a choice, the smallest index comes first.
    adjacency_ : ndarray of shape (d, d), int8
        `adjacency_[i, j] == 1` means column i -> column j.
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
    Ng, Ghassami and Zhang, "On the Role of Sparsity and DAG Constraints for Learning Linear DAGs", NeurIPS 2020. The
    graph is made acyclic as in the paper: weights up to the threshold are dropped, then the smallest remaining ones
    until no cycle is left. Deviations: 20,000 steps instead of 100,000; gcastle gets the triangular factor of the
    centred table instead of the table, because the likelihood depends on nothing else, and a step then costs the same
    for any number of rows. There are no p-values: `recover_dag(X, model.order_)` tests edges. Validated here on
    linear data with equal variances, where it finds the graph.

    Examples
    --------
    >>> from heterodag import GOLEM, simulate
    >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> data = simulate(500, 3, mechanism="straight", adjacency=chain, random_state=1)
    >>> GOLEM(max_steps=500).fit(data.to_frame()).order_  # few steps: quick
    array([0, 1, 2])
    """

    def __init__(
        self,
        equal_variances: bool = True,
        l1: float | None = None,
        dag_penalty: float = 5.0,
        threshold: float = 0.3,
        learning_rate: float = 0.001,
        max_steps: int = 20_000,
        random_state: Any = None,
        max_seconds: float | None = None,
        verbose: int = 0,
    ) -> None:
        self.equal_variances = equal_variances
        self.l1 = l1
        self.dag_penalty = dag_penalty
        self.threshold = threshold
        self.learning_rate = learning_rate
        self.max_steps = max_steps
        self.random_state = random_state
        self.max_seconds = max_seconds
        self.verbose = verbose

    def fit(self, X: Any, y: None = None) -> Self:
        """Learn the graph.

        Parameters
        ----------
        X : array, pandas or polars DataFrame of shape (n, d)
            Continuous observations, one column per variable; names are kept.
        y : ignored
            For compatibility with scikit-learn.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        TimeLimitError
            If it takes longer than `max_seconds`.
        """
        self._check_parameters()
        seed = int(seed_sequence(self.random_state).generate_state(1)[0])
        with remembered_warnings() as self.warnings_:
            array, _ = self._read(X)
        options = {
            "equal_variances": bool(self.equal_variances),
            "l1": self.l1 if self.l1 is None else float(self.l1),
            "dag_penalty": float(self.dag_penalty),
            "learning_rate": float(self.learning_rate),
            "max_steps": int(self.max_steps),
        }
        factor = np.asarray(np.linalg.qr(array - array.mean(axis=0), mode="r"), dtype=np.float64)
        bar = progress_bar("learning", enabled=bool(self.verbose))
        with bar as tick, Work(1, self.max_seconds, tick, "GOLEM") as work:
            weights = run_gcastle("golem", factor, seed, options, work.tick, bool(self.verbose))
        self.weights_ = weights
        self.adjacency_ = threshold_to_dag(weights, float(self.threshold)).astype(np.int8)
        self.order_ = topological_order(self.adjacency_)
        return self

    def _check_parameters(self) -> None:
        if not isinstance(self.equal_variances, bool | np.bool_):
            raise ParameterError("equal_variances", "be True or False", self.equal_variances)
        if self.l1 is not None:
            check_number("l1", self.l1, low=0.0)
        for name in ("dag_penalty", "threshold"):
            check_number(name, getattr(self, name), low=0.0)
        check_number("learning_rate", self.learning_rate, low=0.0, open_low=True)
        check_integer("max_steps", self.max_steps, low=1)
        check_run_parameters(self)
        require_gcastle("GOLEM")
