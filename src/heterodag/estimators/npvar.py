"""NPVar: nonlinear models whose noise has the same variance everywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.core.splines import columns_per_block, spline_block
from heterodag.errors import check_number
from heterodag.estimators.ordering import Ordering, OrderingEstimator, Report
from heterodag.knowledge import PriorKnowledge, ResolvedKnowledge
from heterodag.ordering.variance_orders import additive_log_variances, growing_order

#: At most this many spline columns per predecessor, and at least this many rows per column of the design.
MOST_COLUMNS, ROWS_PER_COLUMN = 10, 5


class NPVar(OrderingEstimator):
    """Order the columns by their variance given additive spline regressions on those already placed.

    It assumes `X_i = f_i(causes) + E_i` with noise of equal variance (more generally, an expected conditional
    variance that does not fall from cause to effect): then a variable whose causes are all placed has the smallest
    conditional variance of those left. Here f_i is a sum of curves of single causes. Rescaled columns break
    the assumption.

    Parameters
    ----------
    eta : float, default=0.0
        Columns whose conditional variance lies less than this above the smallest are placed together as a layer,
        in the units of the data; 0 places one column at a time.
    selection : str or callable, default="gam"
        Edge test; see `recover_dag`.
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
        Seed of edge tests that need randomness.
    max_seconds : float, optional
        Time limit in seconds; beyond it `fit` raises `TimeLimitError`.
    verbose : int, default=0
        1 shows a progress bar on a terminal.

    Attributes
    ----------
    order_ : ndarray of shape (d,)
        Column indices, causes first.
    layers_ : list of list of int
        Columns that were placed together.
    adjacency_ : ndarray of shape (d, d), int8
        `adjacency_[i, j] == 1` means column i -> column j.
    pvalues_ : ndarray of shape (d, d)
        P-value of the edge i -> j; NaN where no test was made, as for required and forbidden edges.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,), object
        Column names; only if the table had them.

    Notes
    -----
    Gao, Ding and Aragam, "A polynomial-time algorithm for learning nonparametric causal graphs", NeurIPS 2020,
    algorithm 1. Deviations: regression splines (natural cubic, up to 10 columns per predecessor, fewer if all
    together would exceed a fifth of the rows) instead of penalised splines, with the sum of squares divided by the
    residual degrees of freedom; the same rows for the regression and its variance. Validated here on nonlinear data
    with equal variances, where it finds a true order, and against explicit least squares.

    Examples
    --------
    >>> from heterodag import NPVar, simulate
    >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> data = simulate(500, 3, mechanism="curved", adjacency=chain, random_state=1)
    >>> NPVar().fit(data.to_frame()).edges()[["cause", "effect"]]
      cause effect
    0    x1     x2
    1    x0     x1
    """

    def __init__(
        self,
        eta: float = 0.0,
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
        self.eta = eta
        self._keep(locals())

    def _find_order(
        self, X: Array, rng: np.random.Generator, report: Report, knowledge: ResolvedKnowledge | None
    ) -> Ordering:
        log_variances = additive_log_variances(X, spline_design(X))
        return Ordering(*growing_order(X.shape[1], log_variances, float(self.eta), report, knowledge))

    def _check_parameters(self) -> None:
        check_number("eta", self.eta, low=0.0)
        super()._check_parameters()


def spline_design(X: Array) -> Callable[[list[int]], Array]:
    """Return a function that makes the spline columns of several columns; the more columns, the fewer for each."""
    made: dict[tuple[int, int], Array] = {}

    def design(columns: list[int]) -> Array:
        width = columns_per_block(len(X), len(columns), MOST_COLUMNS, ROWS_PER_COLUMN)
        for column in columns:
            if (column, width) not in made:
                made[column, width] = spline_block(X[:, column], width)
        return np.hstack([made[column, width] for column in columns])

    return design
