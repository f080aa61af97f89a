"""Make the rows of the edge table: texts for people, and numbers by which the page's script sorts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from heterodag.io.exports import GraphResult, ranked_edges
from heterodag.report.strengths import known_facts, strength_cells
from heterodag.report.words import bare_p
from heterodag.viz.directions import Directions, describe_nats

_WORDS = {"known": "yes", "turned": "reversed", "new": "no"}


def edge_rows(
    result: GraphResult, kinds: Mapping[tuple[int, int], str], confidence: Any = None
) -> list[dict[str, Any]]:
    """Return one row per edge, strongest evidence first.

    Parameters
    ----------
    result : GraphResult
        What was learned.
    kinds : mapping of edge to str
        How edges compare with another graph; see `comparison_kinds`.
    confidence : BootstrapResult, optional
        Gives the share of resamples with the edge.
    """
    directions = Directions(result.direction_nats, result.open)
    rows = []
    for number, (i, j, p) in enumerate(ranked_edges(result)):
        facts = known_facts(result, i, j)
        share = None if confidence is None else float(confidence.directed[i, j])
        rows.append(
            {
                "number": number,
                "cause": result.names[i],
                "effect": result.names[j],
                "p": {
                    "text": "required" if result.is_required(i, j) else bare_p(p),
                    "value": edge_nats(facts.get("nats", math.nan), p),
                },
                "nats": {"text": describe_nats(facts.get("nats", math.nan)), "value": facts.get("nats")},
                "direction": {"text": directions.cell((i, j)), "value": facts.get("direction_nats")},
                "frequency": {"text": "" if share is None else f"{100 * share:.0f} %", "value": share},
                "kind": _WORDS.get(kinds.get((i, j), ""), ""),
                **strength_cells(facts),
            }
        )
    return rows


def edge_nats(nats: float, p: float) -> float | None:
    """Return the evidence for an edge in nats, from its p-value if nothing else is known; None where not tested.

    A p-value that underflows to 0 counts as the smallest positive number.
    """
    if not math.isnan(nats):
        return nats
    return None if math.isnan(p) else -math.log(max(p, 5e-324))
