"""Algorithm 3: from a causal order to the DAG, one test for every pair of an earlier and a later variable."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from heterodag.core.gaussian import Array
from heterodag.core.graph import Adjacency, check_order, full_dag
from heterodag.errors import check_choice, check_number, check_workers
from heterodag.independence.contract import BatchedTest, EdgeProblem, EdgeTests, untested
from heterodag.independence.correction import adjust
from heterodag.independence.registry import get_selection
from heterodag.io.inputs import column_labels, warn_not_converged
from heterodag.knowledge import ResolvedKnowledge, as_knowledge, read_study
from heterodag.runtime.seeds import seed_sequence
from heterodag.runtime.threads import single_threaded
from heterodag.scores.make import score_settings
from heterodag.scores.parent_choice import Limits

CORRECTIONS = ("none", "holm", "bh")
#: Tests that ask local scores, which know the rows of every target.
_ASK_SCORES = ("likelihood", "likelihood-full")


@dataclass(frozen=True, eq=False)
class DAGResult:
    """A graph and the tests behind it.

    Attributes
    ----------
    adjacency : ndarray of shape (d, d), int8
        `adjacency[j, i] == 1` means column j -> column i.
    pvalues : ndarray of shape (d, d)
        `pvalues[j, i]` of the edge j -> i, NaN where no test was made.
    order : ndarray of shape (d,)
        The causal order that the tests followed.
    names : list of str or None
        Column names.
    details : dict
        Further tables and lists that the test reports, by name.

    Examples
    --------
    >>> from heterodag import recover_dag, simulate
    >>> data = simulate(500, 3, random_state=1)
    >>> recover_dag(data.X, data.order, selection="partial-correlation").pvalues.shape
    (3, 3)
    """

    adjacency: Adjacency
    pvalues: Array
    order: npt.NDArray[np.intp]
    names: list[str] | None
    details: dict[str, Any]

    def of_first(self, d: int, names: list[str] | None) -> DAGResult:
        """Return the graph of the first d columns alone; the others stand for experiments."""
        if len(self.order) == d:
            return self
        details = {
            name: value[:d, :d] if isinstance(value, np.ndarray) and value.ndim == 2 else value
            for name, value in self.details.items()
        }
        return DAGResult(self.adjacency[:d, :d], self.pvalues[:d, :d], self.order[self.order < d], names, details)


def recover_dag(
    X: Any,
    order: Any,
    *,
    selection: str | Callable[..., Any] = "likelihood",
    alpha: float = 0.001,
    correction: str = "none",
    parametrization: str = "auto",
    form: str = "auto",
    noise: str = "auto",
    prior_knowledge: Any = None,
    missing: str = "refuse",
    interventions: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    progress: Callable[[float], None] | None = None,
) -> DAGResult:
    """Recover the DAG from a causal order (Algorithm 3 of the paper).

    For every j before i in the order, the edge j -> i is added when a conditional independence test of the two
    given all other predecessors of i has a p-value below `alpha`.

    Parameters
    ----------
    X : array, pandas or polars DataFrame of shape (n, d)
        Continuous observations.
    order : sequence of d column indices, or of column names if `X` has them
        Causes first. Whole numbers are indices, as `causal_order` returns them, whatever the labels of `X` are.
    selection : str or callable, default="likelihood"
        "likelihood", "likelihood-full", "partial-correlation", "rank-correlation", "gam", "gam-classical", "gcm",
        "lcit", "kci", "fisherz", or a function `(x, y, Z) -> p-value`.
    alpha : float, default=0.001
        Significance level, in (0, 1].
    correction : {"none", "holm", "bh"}, default="none"
        Correction for multiple testing over all tested pairs; the paper makes none.
    parametrization, form, noise : str, default="auto"
        Of the conditional models, as in `HOST`; used by "likelihood" and "likelihood-full".
    prior_knowledge : PriorKnowledge, optional
        Required edges are in without a test (their p-value is NaN), forbidden ones are never tested; `order` must
        agree with it.
    missing : {"refuse", "drop"}, default="refuse"
        What to do with rows that have missing values: raise an error that counts them, or leave them out with a warning.
    interventions : optional
        Which variables were set or changed in which rows; see `HOST.fit`.
    n_jobs : int, optional
        Parallel workers, as joblib understands it; the result does not depend on it.
    random_state : int, Generator or None
        Seed of tests that need randomness.
    progress : callable, optional
        Called with the share of tests done.

    Returns
    -------
    DAGResult
        With `adjacency`, `pvalues` (adjusted if a correction is asked for) and `order`.

    Examples
    --------
    >>> from heterodag import recover_dag, simulate
    >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> data = simulate(500, 3, mechanism="straight", spread="straight", adjacency=chain, random_state=1)
    >>> recover_dag(data.to_frame(), ["x0", "x1", "x2"]).adjacency
    array([[0, 1, 0],
           [0, 0, 1],
           [0, 0, 0]], dtype=int8)
    """
    alpha = check_number("alpha", alpha, low=0.0, high=1.0, open_low=True)
    check_choice("correction", correction, CORRECTIONS)
    settings, n_jobs, seed = (
        score_settings(parametrization, form, noise),
        check_workers(n_jobs),
        seed_sequence(random_state),
    )
    get_selection(selection)
    as_knowledge(prior_knowledge)
    study = read_study(X, interventions, prior_knowledge, missing)
    own = order_indices(order, study.d, study.own_names)
    positions = np.concatenate([np.arange(study.d, study.array.shape[1], dtype=np.intp), own])
    if study.knowledge is not None:
        study.knowledge.check_order(positions)
    problem = EdgeProblem(
        study.array, positions, edge_candidates(positions, study.knowledge), seed, n_jobs, progress, alpha, settings,
        limits_of(study.knowledge), experiments=study.experiments,
    )  # fmt: skip
    found = find_dag(problem, selection, alpha, correction, study.names, study.knowledge)
    return found.of_first(study.d, study.own_names)


def edge_candidates(order: Any, knowledge: ResolvedKnowledge | None) -> npt.NDArray[np.bool_]:
    """Return the pairs to test: all that go forward in the order, less those that prior knowledge decides."""
    return full_dag(order).astype(bool) if knowledge is None else knowledge.candidates(order)


def limits_of(knowledge: ResolvedKnowledge | None) -> Limits | None:
    """Return what prior knowledge says about parents, in the form that stepwise choice takes."""
    return None if knowledge is None else Limits.of(knowledge.required, knowledge.forbidden)


def find_dag(
    problem: EdgeProblem,
    selection: str | Callable[..., Any],
    alpha: float,
    correction: str,
    names: list[str] | None,
    knowledge: ResolvedKnowledge | None = None,
) -> DAGResult:
    """Test the candidates of a table that has been checked already, and turn p-values into edges.

    Edges that prior knowledge requires are added to those found.
    """
    with single_threaded():
        tests = _run(get_selection(selection, names), problem, selection in _ASK_SCORES)
    warn_not_converged(tests.details.get("not_converged", []), column_labels(len(problem.order), names))
    pvalues = adjust(tests.pvalues, correction)
    adjacency = (np.nan_to_num(pvalues, nan=1.0) < alpha).astype(np.int8)
    if knowledge is not None:
        adjacency[knowledge.required] = 1
    return DAGResult(adjacency, pvalues, problem.order, names, tests.details)


def _run(test: BatchedTest, problem: EdgeProblem, asks_scores: bool) -> EdgeTests:
    """Run a test, on the rows in which a target was not set if it does not see to that itself."""
    if asks_scores or problem.experiments is None:
        return test(problem)
    pvalues, doubtful, parts = untested(problem.X.shape[1]), list[int](), problem.by_rows()
    for done, part in enumerate(parts, start=1):
        tests = test(part)
        pvalues[part.candidates] = tests.pvalues[part.candidates]
        doubtful += tests.details.get("not_converged", [])
        if problem.progress is not None:
            problem.progress(done / len(parts))
    return EdgeTests(pvalues, {"not_converged": sorted(set(doubtful))})


def order_indices(order: Any, d: int, names: list[str] | None) -> npt.NDArray[np.intp]:
    """Return an order given by indices or by names as checked column indices."""
    given = list(order) if isinstance(order, Iterable) else order
    if names is not None and isinstance(given, list) and given and all(isinstance(item, str) for item in given):
        lookup = {name: position for position, name in enumerate(names)}
        given = [lookup.get(item, item) for item in given]
    return np.asarray(check_order(given, d), dtype=np.intp)
