"""Say what was found, in sentences for people who know their variables but not the method."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterodag.io.exports import GraphResult, ranked_edges
from heterodag.report.rounds import close_margin
from heterodag.report.words import count, describe_p, listed
from heterodag.viz.directions import Directions
from heterodag.viz.summaries import Round

# A Q-Q correlation below this is called poor.
_POOR_FIT = 0.95


@dataclass(frozen=True)
class Comparison:
    """A graph to compare with.

    Parameters
    ----------
    adjacency : array-like of shape (d, d)
        In the column order of the table.
    name : str
        What to call it, as in "the consensus graph".
    """

    adjacency: Any
    name: str


def comparison_kinds(result: GraphResult, comparison: Comparison | None) -> dict[tuple[int, int], str]:
    """Return for every edge whether the other graph has it (known), has it reversed (turned) or lacks it (new)."""
    if comparison is None:
        return {}
    other = np.asarray(comparison.adjacency) != 0
    pairs = [(int(i), int(j)) for i, j in np.argwhere(result.adjacency != 0)]
    return {(i, j): "known" if other[i, j] else "turned" if other[j, i] else "new" for i, j in pairs}


def summary_sentences(
    result: GraphResult, n_rows: int, comparison: Comparison | None, kinds: Mapping[tuple[int, int], str]
) -> list[str]:
    """Return the size of table and graph, the strongest edge, roots, isolated variables, and the comparison."""
    edges = ranked_edges(result)
    alpha = result.settings.get("alpha")
    level = "" if alpha is None else f" at alpha {alpha:g}"
    said = [f"{count(len(result.names), 'variable')}, {count(n_rows, 'row')}; {count(len(edges), 'edge')}{level}."]
    if edges and not math.isnan(edges[0][2]):
        first, last, p = edges[0]
        strongest = f"{result.names[first]} → {result.names[last]} ({describe_p(p)})"
        said.append(f"The edge with the strongest evidence is {strongest}.")
    said += Directions(result.direction_nats, result.open).summary(len(edges))
    into, out = (np.asarray(result.adjacency.any(axis=axis)) for axis in (0, 1))
    said += _named("Causes for which no cause was found in the table", result, ~into & out)
    said += _named("Without any edge", result, ~into & ~out)
    if comparison is not None:
        counts = [sum(kind == wanted for kind in kinds.values()) for wanted in ("known", "turned", "new")]
        said.append(
            f"Compared with {comparison.name}, edges in it: {counts[0]}; in it the other way round: "
            f"{counts[1]}; not in it: {counts[2]}."
        )
    return said


def _named(text: str, result: GraphResult, members: NDArray[np.bool_]) -> list[str]:
    names = [result.names[i] for i in np.flatnonzero(members)]
    return [f"{text}: {listed(names)}."] if names else []


def cautions(history: list[Round], tolerance: float, fits: list[float]) -> list[str]:
    """Return what to be careful about: close rounds of the ordering, and variables that fit poorly."""
    said = []
    close = sum(outcome.margin <= close_margin(tolerance) for outcome in history)
    if close:
        calls = "was a close call" if close == 1 else "were close calls"
        said.append(
            f"{count(close, 'round')} of the ordering {calls}: directions between the variables involved "
            "rest on small differences."
        )
    poor = sum(not fit >= _POOR_FIT for fit in fits)
    if poor:
        said.append(
            f"{poor} of {count(len(fits), 'variable')} fit the model poorly (see “Does the model fit?”); "
            "read edges into and out of them with care."
        )
    return said
