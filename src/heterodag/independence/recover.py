"""Algorithm 3: from a causal order to the DAG, one test for every pair of an earlier and a later variable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from heterodag.core.gaussian import Array
from heterodag.core.graph import Adjacency, check_order, full_dag
from heterodag.errors import check_choice, check_number, check_workers
from heterodag.independence.contract import EdgeProblem
from heterodag.independence.correction import adjust
from heterodag.independence.registry import get_selection
from heterodag.io.inputs import check_data, column_labels, warn_not_converged
from heterodag.knowledge import ResolvedKnowledge, as_knowledge, resolved
from heterodag.runtime.seeds import seed_sequence
from heterodag.runtime.threads import single_threaded
from heterodag.scores.make import score_settings
from heterodag.scores.parent_choice import Limits

CORRECTIONS = ("none", "holm", "bh")


@dataclass(frozen=True, eq=False)
class DAGResult:
    """A graph and the tests behind it.

    Attributes
    ----------
    adjacency : (d, d) int8; `adjacency[j, i] == 1` means column j -> column i.
    pvalues : (d, d); `pvalues[j, i]` of the edge j -> i, NaN where no test was made.
    order : (d,) the causal order the tests followed.
    names : column names, or None.
    details : further tables and lists that the test reports, by name.
    """

    adjacency: Adjacency
    pvalues: Array
    order: npt.NDArray[np.intp]
    names: list[str] | None
    details: dict[str, Any]


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
        Causes first.
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
        Rows with missing values: an error that counts them, or left out with a warning that does.
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
    array, names = check_data(X, missing)
    positions = order_indices(order, array.shape[1], names)
    knowledge = resolved(prior_knowledge, names, array.shape[1])
    if knowledge is not None:
        knowledge.check_order(positions)
    problem = EdgeProblem(
        array, positions, edge_candidates(positions, knowledge), seed, n_jobs, progress, alpha, settings,
        limits_of(knowledge),
    )  # fmt: skip
    return find_dag(problem, selection, alpha, correction, names, knowledge)


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
        tests = get_selection(selection, names)(problem)
    warn_not_converged(tests.details.get("not_converged", []), column_labels(len(problem.order), names))
    pvalues = adjust(tests.pvalues, correction)
    adjacency = (np.nan_to_num(pvalues, nan=1.0) < alpha).astype(np.int8)
    if knowledge is not None:
        adjacency[knowledge.required] = 1
    return DAGResult(adjacency, pvalues, problem.order, names, tests.details)


def order_indices(order: Any, d: int, names: list[str] | None) -> npt.NDArray[np.intp]:
    """Return an order given by indices or by names as checked column indices."""
    given = list(order)
    if names is not None and given and all(isinstance(item, str) for item in given):
        lookup = {name: position for position, name in enumerate(names)}
        given = [lookup.get(item, item) for item in given]
    return np.asarray(check_order(given, d), dtype=np.intp)
