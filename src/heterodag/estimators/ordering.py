"""What all methods that first find a causal order share: parameters, checks, and the way from order to graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from heterodag.core.gaussian import Array
from heterodag.core.graph import Order
from heterodag.errors import ParameterError, check_choice, check_integer, check_number
from heterodag.estimators.base import GraphEstimator
from heterodag.independence.contract import EdgeProblem
from heterodag.independence.given_parents import given_parents
from heterodag.independence.recover import CORRECTIONS, edge_candidates, find_dag, limits_of
from heterodag.independence.registry import get_selection
from heterodag.io.inputs import MISSING
from heterodag.knowledge import PriorKnowledge, ResolvedKnowledge, as_knowledge, resolved
from heterodag.runtime.deadline import Deadline, check_max_seconds
from heterodag.runtime.progress import progress_bar
from heterodag.runtime.seeds import seed_sequence
from heterodag.runtime.threads import single_threaded

#: Called with the share of work done; it raises `TimeLimitError` when the time is over.
Report = Callable[[float], None]


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

    def _find_order(
        self, X: Array, rng: np.random.Generator, report: Report, known: ResolvedKnowledge | None
    ) -> Ordering:
        raise NotImplementedError

    def fit(self, X: Any, y: None = None) -> Self:
        """Learn the order and the graph.

        Parameters
        ----------
        X : array, pandas or polars DataFrame of shape (n, d)
            Continuous observations, one column a variable; names are kept.
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
        deadline = Deadline.start(type(self).__name__, self.max_seconds)
        array, names = self._read(X)
        known = resolved(self.prior_knowledge, names, array.shape[1])
        with progress_bar("ordering", enabled=bool(self.verbose)) as tick, single_threaded():
            # A stream of its own: the edge tests spawn theirs from the seed itself, as in HOST.
            rng = np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 2**31)))
            found = self._find_order(array, rng, deadline.watch(tick), known)
        with progress_bar("testing edges", enabled=bool(self.verbose)) as tick:
            test, candidates = self.selection, edge_candidates(found.order, known)
            if found.graph is not None:
                test, candidates = given_parents(self.selection, names), candidates & found.graph
            problem = EdgeProblem(
                array, found.order, candidates, seed=seed, n_jobs=self.n_jobs, progress=deadline.watch(tick),
                alpha=float(self.alpha), limits=limits_of(known),
            )  # fmt: skip
            graph = find_dag(problem, test, float(self.alpha), self.correction, names, known)
        deadline.check()
        self.order_ = found.order
        self.layers_ = [[int(j)] for j in found.order] if found.layers is None else found.layers
        self.adjacency_, self.pvalues_ = graph.adjacency, graph.pvalues
        return self

    def _check_parameters(self) -> None:
        check_choice("correction", self.correction, CORRECTIONS)
        check_number("alpha", self.alpha, low=0.0, high=1.0, open_low=True)
        check_choice("missing", self.missing, MISSING)
        get_selection(self.selection)
        as_knowledge(self.prior_knowledge)
        check_run_parameters(self)


def check_run_parameters(model: Any) -> None:
    """Check `verbose`, `max_seconds` and, where there is one, `n_jobs`."""
    verbose, n_jobs = model.verbose, getattr(model, "n_jobs", None)
    check_integer("verbose", int(verbose) if isinstance(verbose, bool) else verbose, low=0)
    check_max_seconds(model.max_seconds)
    if n_jobs is not None and check_integer("n_jobs", n_jobs) == 0:
        raise ParameterError("n_jobs", "not be 0", 0, "Use 1, or -1 for all cores.")
