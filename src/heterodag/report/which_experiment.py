"""Propose which experiment to do first: the edges whose direction is least certain and whose effect is largest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from heterodag.io.exports import GraphResult, ranked_edges
from heterodag.ordering.directions import OPEN_BELOW
from heterodag.report.strengths import known_facts
from heterodag.report.words import listed, plain
from heterodag.viz.directions import describe_nats

#: Number of proposals on the page: nobody plans more experiments at a time.
MAX_PROPOSALS = 5
#: Directions with at least this many nats are not in doubt: of 2,243 arrows with 15 and more, one was wrong
#: (docs/directions.md).
DOUBTFUL_BELOW = 15.0


@dataclass(frozen=True)
class Proposal:
    """An edge whose direction an experiment would settle.

    Attributes
    ----------
    cause, effect : columns, in the direction of the learned graph.
    nats : evidence for the direction; NaN if not known.
    size : the larger of |mean effect| and |ln spread effect| per standard deviation of the cause; 1 if not known.
    doubt : from 0 to 1; 1 if nothing speaks for the direction.
    """

    cause: int
    effect: int
    nats: float
    size: float
    doubt: float

    @property
    def value(self) -> float:
        """The value by which proposals are ranked."""
        return self.size * self.doubt


def rank_experiments(result: GraphResult, confidence: Any = None, limit: int = MAX_PROPOSALS) -> list[Proposal]:
    """Return the experiments worth the most, best first.

    Parameters
    ----------
    result : GraphResult
        What was learned.
    confidence : BootstrapResult, optional
        Used if the method has no nats for directions.
    limit : int, default=5
        The largest number of proposals.

    Returns
    -------
    list of Proposal
        Only edges whose direction is in doubt: fewer than 15 nats, or turned round in some resamples. Directions that prior
        knowledge decides are never proposed.
    """
    proposals = [_proposal(result, i, j, confidence) for i, j, _ in ranked_edges(result)]
    doubtful = [proposal for proposal in proposals if proposal is not None]
    return sorted(doubtful, key=lambda proposal: -proposal.value)[:limit]


def _proposal(result: GraphResult, cause: int, effect: int, confidence: Any) -> Proposal | None:
    facts = known_facts(result, cause, effect)
    nats = facts.get("direction_nats", math.nan)
    doubt = 0.0
    if not math.isnan(nats):
        # An edge at the limit of being open counts a third of one about which the data say nothing.
        doubt = math.exp(-nats / OPEN_BELOW) if nats < DOUBTFUL_BELOW else 0.0
    elif confidence is not None and confidence.adjacent[cause, effect] > 0:
        share = float(confidence.directed[cause, effect] / confidence.adjacent[cause, effect])
        doubt = min(1.0, 2 * (1 - share))
    if doubt == 0.0:
        return None
    sizes = [abs(facts["mean_effect"])] if "mean_effect" in facts else []
    sizes += [abs(math.log(facts["spread_effect"]))] if facts.get("spread_effect", 0.0) > 0 else []
    return Proposal(cause, effect, nats, max(sizes, default=1.0), doubt)


def proposal_words(result: GraphResult, proposals: list[Proposal]) -> list[dict[str, str]]:
    """Return what to set, what to measure and why, for every proposal."""
    return [
        {
            "cause": result.names[proposal.cause],
            "effect": result.names[proposal.effect],
            "arrow": "—" if proposal.nats < OPEN_BELOW else "→",
            "do": _do(result, proposal),
            "why": _why(result, proposal),
            "also": _also(result, proposal, proposals),
        }
        for proposal in proposals
    ]


def _do(result: GraphResult, proposal: Proposal) -> str:
    cause, effect = result.names[proposal.cause], result.names[proposal.effect]
    facts = known_facts(result, proposal.cause, proposal.effect)
    mean, factor = facts.get("mean_effect", 0.0), facts.get("spread_effect", 1.0)
    if factor > 0 and abs(math.log(factor)) > abs(mean):
        expected = f"the spread of {effect} changes by a factor of {plain(factor)} per standard deviation of {cause}"
    elif mean:
        verb = "rises" if mean > 0 else "falls"
        expected = (
            f"the mean of {effect} {verb} by {plain(abs(mean))} standard deviations per standard deviation of {cause}"
        )
    else:
        expected = f"{effect} changes with it"
    return (
        f"Set {cause} to several values, in random order, and measure {effect}. If the arrow is right, {expected}; if it "
        f"points the other way, {effect} does not follow."
    )


def _why(result: GraphResult, proposal: Proposal) -> str:
    if math.isnan(proposal.nats):
        return "Its direction changes between resamples of the rows."
    amount = f"{describe_nats(proposal.nats)} nats"
    if proposal.nats < OPEN_BELOW:
        return f"The direction is open: {amount} speak for it, and {OPEN_BELOW:g} are needed."
    return f"Only {amount} speak for the direction."


def _also(result: GraphResult, proposal: Proposal, proposals: list[Proposal]) -> str:
    others = [
        f"{result.names[other.cause]} → {result.names[other.effect]}"
        for other in proposals
        if other is not proposal and other.cause == proposal.cause
    ]
    return f"The same experiment bears on {listed(others)}." if others else ""
