"""Describe the causal order that was kept: how sure each pair in it is, and what decides it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from heterodag.core.graph import descendants
from heterodag.io.exports import GraphResult
from heterodag.report.strengths import known_facts
from heterodag.report.words import count
from heterodag.viz.directions import Directions


def order_chain(result: GraphResult) -> list[dict[str, str]]:
    """Return the variables, causes first, each with its link to the next.

    ``kind`` is "sure", "open", "given", "edge" (nothing is known of its direction), "free" (no edge: the two could
    come in either order) or "" after the last variable; ``nats`` is the evidence for the direction as text.
    """
    order, directions = list(result.order or ()), Directions(result.direction_nats, result.open)
    links = [_link(result, directions, pair) for pair in pairwise(order)] + [("", "")]
    return [
        {"name": result.names[node], "kind": kind, "nats": nats}
        for node, (kind, nats) in zip(order, links, strict=False)
    ]


def _link(result: GraphResult, directions: Directions, pair: tuple[int, int]) -> tuple[str, str]:
    if not result.adjacency[pair]:
        return "free", ""
    nats = directions.cell(pair).removesuffix(" open").removesuffix("open")
    if directions.is_open(pair):
        return "open", nats
    return ("given", "") if nats == "given" else ("sure", nats) if nats else ("edge", "")


def order_sentences(result: GraphResult) -> list[str]:
    """Return how much of the order the graph settles, in sentences."""
    order = list(result.order or ())
    d, edges = len(order), result.adjacency != 0
    if d < 2:
        return []
    pairs, joined = d * (d - 1) // 2, int(edges.sum())
    by_path = int(descendants(edges).sum()) - joined
    free = sum(not edges[pair] for pair in pairwise(order))
    verb, rest = "is" if joined == 1 else "are", pairs - joined - by_path
    others = f"; the other {rest:,} could come in either order" if rest else ""
    said = [
        f"Of {count(pairs, 'pair')} of variables, {joined:,} {verb} joined by an edge and {by_path:,} only by a longer "
        f"path{others}."
    ]
    if free:
        said.append(f"That includes {free:,} of the {count(d - 1, 'pair')} of neighbours below.")
    return said


def pair_rows(result: GraphResult) -> list[dict[str, Any]]:
    """Return every pair joined by an edge, in the kept order: how sure its direction is, and what decides it."""
    if result.direction_nats is None or result.order is None:
        return []
    place = {node: at for at, node in enumerate(result.order)}
    mechanisms = {mechanism["variable"]: mechanism for mechanism in result.mechanisms or ()}
    directions = Directions(result.direction_nats, result.open)
    edges = sorted(((i, j) for i, j, _ in result.edges()), key=lambda edge: (place[edge[0]], place[edge[1]]))
    return [
        {
            "earlier": result.names[i],
            "later": result.names[j],
            "nats": directions.cell((i, j)),
            "decides": what_decides(
                known_facts(result, i, j), result.names[i], mechanisms.get(result.names[j], {}), _set_before(result)
            ),
        }
        for i, j in edges
    ]


def _set_before(result: GraphResult) -> bool:
    return result.interventional_nats is not None


def what_decides(
    facts: Mapping[str, float], cause: str, mechanism: Mapping[str, Any], experiments: bool = False
) -> str:
    """Return what decides the direction of an edge, in words.

    Parameters
    ----------
    facts : mapping
        What is known of the edge; see `known_facts`.
    cause : str
        Name of the cause.
    mechanism : mapping
        The model of the effect, one of the mechanisms of a `GraphResult`.
    experiments : bool, default=False
        Whether there were interventions.
    """
    nats = facts.get("direction_nats", math.nan)
    if math.isinf(nats):
        return "prior knowledge"
    if facts.get("open"):
        return "too little: the graph with this edge turned round describes the rows nearly as well"
    if experiments and facts.get("interventional_nats", 0.0) > nats / 2:
        return "interventions"
    signs = ["a spread that moves with the causes"] if mechanism.get("spread") == "moving" else []
    signs += ["a curve"] if f", {cause}, " in f", {mechanism.get('curves', '')}, " else []
    signs += ["noise that is not bell-shaped"] if mechanism.get("noise") == "flexible" else []
    return ", ".join(signs) if signs else "the other edges of the two variables"


def by_normality(model: Any, result: GraphResult, placed: list[int]) -> bool:
    """Return whether the rounds of Algorithm 2 made the final order, and nothing improved it afterwards."""
    improved = getattr(model, "refinement_", None) is not None
    return bool(placed) and not improved and result.order is not None and np.array_equal(result.order, placed)
