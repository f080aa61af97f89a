"""Say in words and tables what experiments showed: which arrows they decided, what every condition acts on."""

from __future__ import annotations

import math
from typing import Any

from heterodag.io.exports import GraphResult, ranked_edges
from heterodag.ordering.directions import OPEN_BELOW
from heterodag.report.words import bare_p
from heterodag.viz.directions import describe_nats


def decided_arrows(result: GraphResult) -> list[tuple[int, int]]:
    """Return the edges whose direction is clear with the interventions and would be open without them."""
    if result.interventional_nats is None or result.direction_nats is None:
        return []
    found = []
    for i, j, _ in ranked_edges(result):
        total, due = float(result.direction_nats[i, j]), float(result.interventional_nats[i, j])
        if math.isfinite(total) and total >= OPEN_BELOW > total - due:
            found.append((i, j))
    return found


def experiment_sentences(result: GraphResult) -> list[str]:
    """Return what experiments showed, in sentences; an empty list if there were none."""
    said = []
    if result.interventional_nats is not None:
        edges, decided = len(result.edges()), decided_arrows(result)
        names = ", ".join(f"{result.names[i]} → {result.names[j]}" for i, j in decided[:8])
        more = f" and {len(decided) - 8} more" if len(decided) > 8 else ""
        listed = f": {names}{more}" if decided else ""
        said.append(f"Interventions decided the direction of {len(decided)} of {edges} arrows{listed}.")
        rows = [int(mechanism["rows"]) for mechanism in result.mechanisms or ()]
        if rows and min(rows) < max(rows):
            said.append(
                f"A variable's model was fitted on the rows in which it was not set: {min(rows):,} to {max(rows):,}."
            )
    acting: dict[str, list[str]] = {}
    for target in result.targets or ():
        acting.setdefault(target["condition"], []).extend([target["variable"]] if target["acts"] else [])
    said += [f"Condition {name} acts on {', '.join(some) or 'no variable'}." for name, some in acting.items()]
    return said


def arrow_rows(result: GraphResult) -> list[dict[str, str]]:
    """Return how much of the direction of every arrow is due to interventions, and whether they decided it."""
    if result.interventional_nats is None or result.direction_nats is None:
        return []
    decided = set(decided_arrows(result))
    return [
        {
            "cause": result.names[i],
            "effect": result.names[j],
            "direction": describe_nats(float(result.direction_nats[i, j])),
            "due": describe_nats(float(result.interventional_nats[i, j])),
            "decided": "decided by interventions" if (i, j) in decided else "",
        }
        for i, j, _ in ranked_edges(result)
    ]


def target_rows(result: GraphResult) -> list[dict[str, Any]]:
    """Return what the conditions act on, as rows of a table; if targets were unknown, only those that were found."""
    return [
        {
            "condition": target["condition"],
            "variable": target["variable"],
            "kind": "found" if target["kind"] == "unknown" else "told",
            "p": bare_p(target["pvalue"]),
            "nats": describe_nats(target["nats"]),
        }
        for target in result.targets or ()
        if target["acts"]
    ]
