"""Describe a fit of HOST: how sure and how strong the arrows are, by which mechanisms, and what is in doubt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np

from heterodag.checks.findings import Finding
from heterodag.core.gaussian import Array
from heterodag.core.graph import Adjacency
from heterodag.estimators.assumptions import doubts, doubts_of_curves, doubts_of_mechanisms, not_normal
from heterodag.independence.contract import FoundModels
from heterodag.independence.recover import DAGResult
from heterodag.io.exports import STRENGTHS
from heterodag.io.inputs import column_labels
from heterodag.knowledge import Study
from heterodag.ordering.causal_order import FoundOrder, reordered
from heterodag.ordering.directions import CLOSE, OPEN_BELOW, direction_nats, observational_choices
from heterodag.ordering.search import LEVELS, order_choices, respected
from heterodag.ordering.turning import turn_edges, turning_costs, with_edges_against
from heterodag.runtime.work import OutOfTime
from heterodag.scm.mechanism import Mechanism, first_parents, mechanism_of
from heterodag.scm.strength import edge_strengths
from heterodag.scores.fit import Fit, LinearFit
from heterodag.scores.local import LocalScores, parents_of
from heterodag.scores.long import LongScores
from heterodag.scores.make import ScoreSettings
from heterodag.scores.plausibility import judge

#: Times that edges of a long table are turned and found again.
_TIMES_TURNED = 2
#: Directions with at most this much evidence (nats) on the rows of the search are looked at again on more rows.
_ASKED_AGAIN = 200.0


def sure_directions(
    found: FoundOrder, adjacency: Adjacency, study: Study, price: float
) -> tuple[Array | None, Array | None]:
    """Return the evidence for the direction of every edge, and how much of it is due to interventions.

    Both are None if the order was not searched; the second also if there were no interventions. In a long table, more
    rows are asked about the directions that fewer rows leave in doubt, with a price per edge (nats).
    """
    if found.search is None:
        return None, None
    edges = [(int(i), int(j)) for i, j in np.argwhere(adjacency)]
    last = found.search.choices
    few = order_choices(found.scores.sample(LEVELS[0]), study.knowledge)
    levels = [last] if few.scores is last.scores else [few, last]
    told = found.search.state, edges, respected(study.knowledge)
    nats = direction_nats(levels, *told)[: study.d, : study.d]
    if isinstance(found.scores, LongScores):
        with suppress(OutOfTime):
            # In a very long table, all rows are asked only what a tenth of them leaves open.
            many, limits = (*found.scores.between(), found.scores), (CLOSE, OPEN_BELOW)
            for more, clear in ((found.scores.sample(LEVELS[-1]), _ASKED_AGAIN), *zip(many, limits, strict=False)):
                doubtful = [edge for edge in edges if not nats[edge] > clear]
                for edge, cost in turning_costs(more, adjacency, doubtful, price, study.knowledge).items():
                    nats[edge] = max(cost, 0.0)
    if study.experiments is None:
        return nats, None
    observed = [own for level in levels if (own := observational_choices(level)) is not None]
    without = direction_nats(observed, *told)[: study.d, : study.d] if observed else np.zeros_like(nats)
    return nats, np.where(np.isinf(nats), 0.0, nats - np.where(np.isinf(nats), 0.0, without))


def settled_directions(
    found: FoundOrder,
    graph: DAGResult,
    study: Study,
    price: float,
    find_graph: Callable[[FoundOrder, FoundModels], DAGResult],
) -> tuple[FoundOrder, DAGResult]:
    """Turn and add edges of a long table where all rows ask for it, and find the edges again in the order that follows."""
    with suppress(OutOfTime):
        for _ in range(_TIMES_TURNED):
            nats, _ = sure_directions(found, graph.adjacency, study, price)
            assert nats is not None
            doubtful = [(int(i), int(j)) for i, j in np.argwhere(graph.adjacency) if not nats[i, j] > OPEN_BELOW]
            adjacency = turn_edges(found.scores, graph.adjacency, doubtful, price, study.knowledge)
            order = found.result.order.tolist()
            adjacency = with_edges_against(found.scores, adjacency, order, price, study.knowledge)
            if np.array_equal(adjacency, graph.adjacency):
                break
            parents = {j: parents_of(adjacency[:, j]) for j in range(study.d)}
            new = reordered(found, parents, study.knowledge)
            graph = find_graph(new, FoundModels(new.scores, parents, new.plausibility, settled=True))
            found = new
    return found, graph


def fitted_mechanisms(scores: LocalScores, fits: Sequence[Fit], d: int) -> list[Mechanism]:
    """Return the mechanisms of fitted models in the reference condition; networks have none."""
    return [
        first_parents(
            mechanism_of(fit, scores.table_of(fit.target), scores.rows_of(fit.target)),
            sum(j < d for j in fit.parents),
        )
        for fit in fits
        if isinstance(fit, LinearFit)
    ]


def graph_strengths(
    scores: LocalScores, fits: Sequence[Fit], mechanisms: Sequence[Mechanism], nats: Array | None
) -> dict[str, Array]:
    """Return the strengths of all edges as matrices by name, NaN where there is no edge.

    `nats` is the evidence of the edge test, from which the share is computed. If it is None, the models without each
    cause are fitted, and their evidence is returned under the name "nats".
    """
    d = len(mechanisms)
    found = {name: np.full((d, d), np.nan) for name in STRENGTHS}
    evidence = _dropped(scores, fits, d) if nats is None else nats
    alone = scores.losses((fit.target, ()) for fit in fits)
    for fit, mechanism, without in zip(fits, mechanisms, alone, strict=True):
        parents, j = list(mechanism.parents), mechanism.target
        if parents:
            for name, values in edge_strengths(mechanism, scores.table_of(j).X[:, parents]).items():
                found[name][parents, j] = values
            together = max(without - fit.loss, 1e-300)
            found["share"][parents, j] = np.clip(evidence[parents, j] / together, 0.0, 1.0)
    return found if nats is not None else found | {"nats": evidence}


def _dropped(scores: LocalScores, fits: Sequence[Fit], d: int) -> Array:
    """Return by how many nats every model is worse without each of its parents."""
    nats = np.full((d, d), np.nan)
    tests = [(fit, j) for fit in fits for j in fit.parents if j < d]
    losses = scores.losses((fit.target, tuple(k for k in fit.parents if k != j)) for fit, j in tests)
    for (fit, j), loss in zip(tests, losses, strict=True):
        nats[j, fit.target] = max(loss - fit.loss, 0.0)
    return nats


def fit_findings(
    settings: ScoreSettings, found: FoundOrder, graph: DAGResult, study: Study, undecided: Adjacency | None
) -> list[Finding]:
    """Return what speaks against the model, or leaves the direction of edges open."""
    scores, plausibility = found.scores, found.plausibility or graph.details.get("plausibility")
    labels = column_labels(scores.d, study.names)
    if settings.compete:
        return doubts_of_mechanisms(scores.sample(LEVELS[0]), graph.adjacency, undecided, labels)
    if settings.parametrization == "mlp":  # networks take too long to fit again on fewer rows
        return [finding for finding in [not_normal(plausibility, scores.d)] if finding is not None]
    if settings.parametrization != "linear":
        return doubts_of_curves(scores.sample(LEVELS[0]), graph.adjacency, labels, plausibility)
    few = scores.sample(LEVELS[1])
    if plausibility is None:  # not judged yet: neither the paper's order nor an edge test other than ours needs it
        plausibility = judge(few, {j: parents_of(graph.adjacency[:, j]) for j in range(scores.d)})
    order = found.result.of_first(study.d, study.own_names)
    return doubts(few, order, graph.adjacency, labels, plausibility)
