"""The contract of an edge test: what Algorithm 3 asks, and two ways to answer.

* A **pairwise test** is a plain function `(x, y, Z) -> p`: two samples of shape (n,), the conditioning columns
  (n, k) with k possibly 0, and the p-value of the null hypothesis that x and y are independent given Z.
* A **batched test** answers all pairs of an order at once: `EdgeProblem -> EdgeTests`. `recover_dag` prefers it.

Adjacency convention everywhere: entry [j, i] concerns the edge from column j to column i.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from heterodag.core.experiments import Experiments
from heterodag.runtime.work import Work
from heterodag.scores.fit import Parents
from heterodag.scores.local import LocalScores
from heterodag.scores.make import LINES, ScoreSettings
from heterodag.scores.parent_choice import Limits
from heterodag.scores.plausibility import Plausibility

Array = npt.NDArray[np.float64]

#: (x, y, Z) -> p-value of independence of x and y given Z.
PairwiseTest = Callable[[Array, Array, Array], float]


@dataclass(frozen=True)
class FoundModels:
    """What is known about the models of a table before its edges are tested.

    Attributes
    ----------
    scores : local scores of the whole table.
    parents : chosen while refining the order; empty without refinement.
    plausibility : how normal the residuals are given these parents; None if that has not been checked.
    settled : whether the parents were chosen on all rows already, in another order.
    """

    scores: LocalScores
    parents: Mapping[int, Parents] = field(default_factory=dict)
    plausibility: Plausibility | None = None
    settled: bool = False


@dataclass(frozen=True)
class EdgeProblem:
    """One run of Algorithm 3 before any edge is decided.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The data: finite, no constant columns, any scale.
    order : ndarray of shape (d,)
        Causal order, causes first.
    candidates : ndarray of shape (d, d), bool
        `candidates[j, i]` is True where j -> i is to be tested (j before i, not ruled out).
    seed : numpy.random.SeedSequence
        Source of the random streams of tests that need them.
    n_jobs : int or None
        Number of workers, as in joblib.
    progress : callable or None
        Called with the share of work done, in [0, 1].
    alpha : float
        Significance level, for tests that choose a target's parents step by step.
    settings : ScoreSettings
        Which conditional models to fit, for tests that fit models.
    limits : Limits or None
        What prior knowledge says about parents, for tests that choose them.
    found : FoundModels or None
        What was found while ordering, for tests that can start from it.
    experiments : Experiments or None
        Which variables were set in which rows; None if no variable was set.

    Examples
    --------
    >>> import numpy as np
    >>> from heterodag import recover_dag, simulate
    >>> from heterodag.independence import EdgeTests
    >>> def by_correlation(problem):
    ...     '''Call every strong correlation an edge: no good test, but a short one.'''
    ...     strong = np.abs(np.corrcoef(problem.X.T)) > 0.5
    ...     return EdgeTests(np.where(problem.candidates, np.where(strong, 0.0, 1.0), np.nan))
    >>> by_correlation.batched = True  # it answers all pairs at once
    >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> data = simulate(500, 3, mechanism="straight", adjacency=chain, random_state=1)
    >>> recover_dag(data.X, data.order, selection=by_correlation).pvalues
    array([[nan,  0.,  0.],
           [nan, nan,  0.],
           [nan, nan, nan]])
    """

    X: Array
    order: npt.NDArray[np.intp]
    candidates: npt.NDArray[np.bool_]
    seed: np.random.SeedSequence = field(default_factory=lambda: np.random.SeedSequence(0))
    n_jobs: int | None = None
    progress: Callable[[float], None] | None = None
    alpha: float = 0.001
    settings: ScoreSettings = LINES
    limits: Limits | None = None
    found: FoundModels | None = None
    experiments: Experiments | None = None

    def scores(self, work: Work) -> LocalScores:
        """Return the local scores of the table: those found while ordering, or new ones.

        Parameters
        ----------
        work : Work
            Workers, clock and progress of the fit.

        Returns
        -------
        LocalScores
            The object that fits models of variables; see the page on architecture.
        """
        if self.found is not None:
            return self.found.scores
        return self.settings.make_for_graph(self.X, self.seed, work, self.experiments)

    def by_rows(self) -> list[EdgeProblem]:
        """Split the problem into parts whose targets share the same rows: those in which they were not set.

        Tests that use `scores` need no parts: local scores know the rows of every target.

        Returns
        -------
        list of EdgeProblem
            The parts.
        """
        if self.experiments is None:
            return [self]
        groups: dict[bytes, list[int]] = {}
        for j in range(self.X.shape[1]):
            groups.setdefault(self.experiments.fixed[:, j].tobytes(), []).append(j)
        return [self._of_targets(some) for some in groups.values() if self.candidates[:, some].any()]

    def _of_targets(self, targets: list[int]) -> EdgeProblem:
        assert self.experiments is not None
        candidates = np.zeros_like(self.candidates)
        candidates[:, targets] = self.candidates[:, targets]
        X = self.X[~self.experiments.fixed[:, targets[0]]]
        return replace(self, X=X, candidates=candidates, progress=None, found=None, experiments=None)

    def predecessors(self, target: int) -> npt.NDArray[np.intp]:
        """Return the columns before a target in the order: the conditioning set of its tests, and its candidates.

        Parameters
        ----------
        target : int
            A column.

        Returns
        -------
        ndarray of int
            The columns before it.
        """
        position = int(np.flatnonzero(self.order == target)[0])
        return self.order[:position]


@dataclass(frozen=True)
class EdgeTests:
    """The result of an edge test.

    Attributes
    ----------
    pvalues : ndarray of shape (d, d)
        `pvalues[j, i]` is the p-value of the edge j -> i; NaN where no test was made.
    details : dict
        Further (d, d) tables by name.

    Examples
    --------
    >>> import numpy as np
    >>> from heterodag.independence import EdgeTests
    >>> EdgeTests(np.array([[np.nan, 0.001], [np.nan, np.nan]])).details
    {}
    """

    pvalues: Array
    details: dict[str, Any] = field(default_factory=dict)


BatchedTest = Callable[[EdgeProblem], EdgeTests]


def untested(d: int) -> Array:
    """Return a (d, d) table of NaN to be filled with p-values."""
    return np.full((d, d), np.nan)
