"""Base class of the methods that first find a causal order: parameters, checks, and the way from order to graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from heterodag.core.gaussian import Array
from heterodag.core.graph import Order
from heterodag.errors import remembered_warnings
from heterodag.estimators.base import GraphEstimator, check_graph_parameters
from heterodag.independence.contract import EdgeProblem
from heterodag.independence.given_parents import given_parents
from heterodag.independence.recover import edge_candidates, find_dag, limits_of
from heterodag.knowledge import PriorKnowledge, ResolvedKnowledge, resolved
from heterodag.runtime.progress import progress_bar
from heterodag.runtime.seeds import seed_sequence
from heterodag.runtime.threads import single_threaded
from heterodag.runtime.work import Work

#: Called with the share of work done; it raises `TimeLimitError` when the time is up.
Report = Callable[[float], None]


#: Parameters that all methods share.
SHARED = frozenset(
    (
        "selection",
        "alpha",
        "correction",
        "prior_knowledge",
        "missing",
        "n_jobs",
        "random_state",
        "max_seconds",
        "verbose",
    )
)


@dataclass(frozen=True, eq=False)
class Ordering:
    """What the first half of a method finds.

    Attributes
    ----------
    order : (d,) column indices, causes first.
    layers : lists of column indices placed together, or None if each was placed alone.
    graph : (d, d) bool, a graph to be pruned, each edge given the other parents of its effect; None when every pair
        that fits the order is to be tested given all other predecessors (Algorithm 3).
    """

    order: Order
    layers: list[list[int]] | None = None
    graph: npt.NDArray[np.bool_] | None = None


class OrderingEstimator(GraphEstimator):
    """Find an order by `_find_order`, then the graph by any edge test of `recover_dag`."""

    selection: str | Callable[..., Any]
    alpha: float
    correction: str
    n_jobs: int | None
    random_state: Any
    max_seconds: float | None
    verbose: int

    # Methods that cannot obey prior knowledge do not list it among their parameters.
    prior_knowledge: PriorKnowledge | Mapping[str, Any] | None = None
    missing: str = "refuse"

    def _keep(self, given: Mapping[str, Any]) -> None:
        """Store the parameters that all methods share, as given to `__init__`."""
        for name in SHARED & given.keys():
            setattr(self, name, given[name])

    def _find_order(
        self, X: Array, rng: np.random.Generator, report: Report, knowledge: ResolvedKnowledge | None
    ) -> Ordering:
        raise NotImplementedError

    def fit(self, X: Any, y: None = None) -> Self:
        """Learn the order and the graph.

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
        seed = seed_sequence(self.random_state)
        bar = progress_bar("learning", enabled=bool(self.verbose))
        name = type(self).__name__
        with remembered_warnings() as said, bar as tick, Work(self.n_jobs, self.max_seconds, tick, name) as work:
            array, names = self._read(X)
            knowledge = resolved(self.prior_knowledge, names, array.shape[1])
            # A separate random stream: the edge tests spawn theirs from the seed itself, as in HOST.
            rng = np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 2**31)))
            with work.part(0.0, 0.5), single_threaded():
                found = self._find_order(array, rng, work.tick, knowledge)
            test, candidates = self.selection, edge_candidates(found.order, knowledge)
            if found.graph is not None:
                test, candidates = given_parents(self.selection, names), candidates & found.graph
            problem = EdgeProblem(
                array, found.order, candidates, seed=seed, n_jobs=self.n_jobs, progress=work.tick,
                alpha=float(self.alpha), limits=limits_of(knowledge),
            )  # fmt: skip
            with work.part(0.5, 1.0):
                graph = find_dag(problem, test, float(self.alpha), self.correction, names, knowledge)
            work.tick(1.0)
        self.order_ = found.order
        self.layers_ = [[int(j)] for j in found.order] if found.layers is None else found.layers
        self.adjacency_, self.pvalues_, self.warnings_ = graph.adjacency, graph.pvalues, said
        self._remember_required(knowledge)
        return self

    def _check_parameters(self) -> None:
        check_graph_parameters(self)
