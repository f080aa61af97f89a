"""What a fit of HOST tells beside its arrows: how sure they are, how strong, by which mechanisms, and what is in doubt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heterodag.checks.findings import Finding
from heterodag.core.gaussian import Array
from heterodag.core.graph import Adjacency
from heterodag.estimators.assumptions import doubts, doubts_of_curves, doubts_of_mechanisms, not_normal
from heterodag.independence.recover import DAGResult
from heterodag.io.exports import STRENGTHS
from heterodag.io.inputs import column_labels
from heterodag.knowledge import Study
from heterodag.ordering.causal_order import FoundOrder
from heterodag.ordering.directions import direction_nats, observational_choices
from heterodag.ordering.search import LEVELS, order_choices, respected
from heterodag.scm.mechanism import Mechanism, first_parents, mechanism_of
from heterodag.scm.strength import edge_strengths
from heterodag.scores.fit import Fit, LinearFit
from heterodag.scores.local import LocalScores, parents_of
from heterodag.scores.make import ScoreSettings
from heterodag.scores.plausibility import judge


def sure_directions(found: FoundOrder, adjacency: Adjacency, study: Study) -> tuple[Array | None, Array | None]:
    """Return the evidence for the direction of every edge, and how much of it is due to interventions.

    None for either if that is not known: the order was not searched, nothing was intervened on.
    """
    if found.search is None:
        return None, None
    edges = [(int(i), int(j)) for i, j in np.argwhere(adjacency)]
    last = found.search.choices
    few = order_choices(found.scores.sample(LEVELS[0]), study.knowledge)
    levels = [last] if few.scores is last.scores else [few, last]
    told = found.search.state, edges, respected(study.knowledge)
    nats = direction_nats(levels, *told)[: study.d, : study.d]
    if study.experiments is None:
        return nats, None
    observed = [own for level in levels if (own := observational_choices(level)) is not None]
    without = direction_nats(observed, *told)[: study.d, : study.d] if observed else np.zeros_like(nats)
    return nats, np.where(np.isinf(nats), 0.0, nats - np.where(np.isinf(nats), 0.0, without))


def fitted_mechanisms(scores: LocalScores, fits: Sequence[Fit], d: int) -> list[Mechanism]:
    """Return the mechanisms of fitted models, in the reference condition; none if they are networks."""
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

    `nats` is the evidence of the edge test, which the share is made of; where it is None, the models without each cause
    are fitted, and the evidence that they give is returned with the others.
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
    if settings.parametrization == "mlp":  # networks take too long to fit once more on fewer rows
        return [finding for finding in [not_normal(plausibility, scores.d)] if finding is not None]
    if settings.parametrization != "linear":
        return doubts_of_curves(scores.sample(LEVELS[0]), graph.adjacency, labels, plausibility)
    few = scores.sample(LEVELS[1])
    if plausibility is None:  # nobody has asked yet: the order is the paper's, the edge test another one
        plausibility = judge(few, {j: parents_of(graph.adjacency[:, j]) for j in range(scores.d)})
    order = found.result.of_first(study.d, study.own_names)
    return doubts(few, order, graph.adjacency, labels, plausibility)
