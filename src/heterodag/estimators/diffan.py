"""DiffAN: nonlinear models with Gaussian noise, through a diffusion model of the data."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.errors import MissingExtraError, check_choice, check_integer, check_number
from heterodag.estimators.ordering import Ordering, OrderingEstimator, Report
from heterodag.knowledge import PriorKnowledge, ResolvedKnowledge
from heterodag.ordering.diffan import DiffusionSettings, diffan_order

LEAF_REMOVALS = ("residue", "masking", "retrain", "sort")


class DiffAN(OrderingEstimator):
    """Find leaves where the Hessian of the log density does not vary; the density comes from a diffusion model.

    It assumes `X_i = f_i(causes) + E_i` with curves that are not straight lines and Gaussian noise of constant
    variance, and enough rows to learn the joint density: thousands rather than hundreds. Needs the extra `neural`.

    Parameters
    ----------
    leaf_removal : {"residue", "masking", "retrain", "sort"}, default="residue"
        Once a leaf is found, "residue" subtracts what it adds to the score of the others (the deciduous residue);
        "masking" only sets its column to its mean; "retrain" trains a new model on the remaining columns, which takes
        d times as long; "sort" removes nothing and orders all columns in a single round.
    hidden : int, default=64
        Units of the two hidden layers of the network.
    noise_steps : int, default=100
        Number of noise levels of the diffusion.
    votes : int, default=3
        Number of noise levels at which the leaf is looked for; the majority decides.
    learning_rate : float, default=0.005
        Initial learning rate of Adam; it falls along a half cosine.
    batch_size : int, default=256
        Rows per step.
    max_steps : int, default=3000
        Maximum number of training steps.
    patience : int, default=1000
        Training ends after this many steps without a smaller loss on the held-out fifth of the rows.
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
        Seed of the network's initial weights, the noise, the choice of held-out rows, and edge tests that need
        randomness.
    max_seconds : float, optional
        Time limit in seconds; beyond it `fit` raises `TimeLimitError`.
    verbose : int, default=0
        1 shows a progress bar on a terminal.

    Attributes
    ----------
    order_ : ndarray of shape (d,)
        Column indices, causes first.
    layers_ : list of list of int
        One column index per layer.
    adjacency_ : ndarray of shape (d, d), int8
        `adjacency_[i, j] == 1` means column i -> column j.
    pvalues_ : ndarray of shape (d, d)
        P-value of the edge i -> j; NaN where no test was made, as for required and forbidden edges.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (d,), object
        Column names; only if the table had them.

    Raises
    ------
    MissingExtraError
        By `fit`, if torch is not installed.

    Notes
    -----
    Sanchez, Liu, O'Neil and Tsaftaris, "Diffusion Models for Causal Discovery via Topological Ordering", ICLR 2023.
    Deviations: a smaller, smooth network with a running mean of its weights; the residue is removed by evaluating the
    Hessian where it vanishes, which is exact for any number of leaves (`heterodag.ordering._diffusion.marginal_hessian`),
    whereas the paper sums first-order corrections; low noise levels are trained on more often, and leaves are looked
    for only at these, because noise blurs the curves; variances are computed on at most 512 rows, with the outer
    twentieth at either end clipped to the quantile. Validated here: the residue against a density in closed form; the
    order on a random graph of four columns and 1500 rows, where it is a true order. For ten columns, 500 rows are too
    few to learn the density.

    Examples
    --------
    >>> from heterodag import DiffAN, simulate
    >>> model = DiffAN(max_steps=50, random_state=0)  # far too few steps, but quick
    >>> model.fit(simulate(300, 3, mechanism="curved", random_state=1).X).order_.shape
    (3,)
    """

    def __init__(
        self,
        leaf_removal: str = "residue",
        hidden: int = 64,
        noise_steps: int = 100,
        votes: int = 3,
        learning_rate: float = 0.005,
        batch_size: int = 256,
        max_steps: int = 3000,
        patience: int = 1000,
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
        self.leaf_removal = leaf_removal
        self.hidden = hidden
        self.noise_steps = noise_steps
        self.votes = votes
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_steps = max_steps
        self.patience = patience
        self._keep(locals())

    def _find_order(
        self, X: Array, rng: np.random.Generator, report: Report, knowledge: ResolvedKnowledge | None
    ) -> Ordering:
        settings = DiffusionSettings(
            hidden=int(self.hidden),
            noise_steps=int(self.noise_steps),
            learning_rate=float(self.learning_rate),
            batch_size=int(self.batch_size),
            max_steps=int(self.max_steps),
            patience=int(self.patience),
            votes=int(self.votes),
        )
        return Ordering(diffan_order(X, self.leaf_removal, settings, rng, report, knowledge))

    def _check_parameters(self) -> None:
        check_choice("leaf_removal", self.leaf_removal, LEAF_REMOVALS)
        for name in ("hidden", "votes", "batch_size", "max_steps", "patience"):
            check_integer(name, getattr(self, name), low=1)
        check_integer("noise_steps", self.noise_steps, low=2)
        check_number("learning_rate", self.learning_rate, low=0.0, open_low=True)
        super()._check_parameters()
        try:
            importlib.import_module("torch")
        except ImportError:
            raise MissingExtraError("DiffAN", "neural") from None
