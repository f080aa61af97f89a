"""Say how strong and how sure an edge is, in words and as table cells; what a method does not know is left out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from heterodag.io.exports import GraphResult
from heterodag.report.words import describe_p, plain
from heterodag.viz.directions import describe_nats
from heterodag.viz.names import isolated


def known_facts(result: GraphResult, cause: int, effect: int) -> dict[str, float]:
    """Return what is known of an edge as numbers; what is unknown or not a number is left out."""
    found = {name: float(value) for name, value in result.about(cause, effect).items()}
    return {name: value for name, value in found.items() if not math.isnan(value)}


def strength_sentences(facts: Mapping[str, float], cause: str, effect: str) -> list[str]:
    """Return the strength of an edge in sentences.

    Parameters
    ----------
    facts : mapping
        From `known_facts`; the head of `heterodag.io.exports` documents the keys.
    cause, effect : str
        Names of the variables.
    """
    said = [part for part in (_mean_words(facts, effect), _spread_words(facts)) if part]
    sentences = [f"Per standard deviation of {cause}, {', and '.join(said)}."] if said else []
    ranges = []
    if "mean_range" in facts:
        ranges.append(f"the mean covers {plain(facts['mean_range'])} standard deviations")
    if "spread_range" in facts:
        ranges.append(f"the largest spread is {plain(facts['spread_range'])} times the smallest")
    if ranges:
        sentences.append(f"Along the central 95\u00a0% of {cause}, {' and '.join(ranges)}.")
    if "share" in facts:
        sentences.append(
            f"{100 * facts['share']:.0f}\u00a0% of what all its causes tell about {effect} is lost without it."
        )
    return sentences


def _mean_words(facts: Mapping[str, float], effect: str) -> str:
    if "mean_effect" not in facts:
        return ""
    value = facts["mean_effect"]
    own = f"{plain(abs(facts['mean_change']))} in its own units" if "mean_change" in facts else ""
    sides = sorted(abs(facts[f"mean_effect_{end}"]) for end in ("lower", "upper") if f"mean_effect_{end}" in facts)
    through_zero = facts.get("mean_effect_lower", 1.0) * facts.get("mean_effect_upper", 1.0) < 0
    if through_zero:
        sides = [facts["mean_effect_lower"], facts["mean_effect_upper"]]
    interval = f"95\u00a0% interval {plain(sides[0])} to {plain(sides[1])}" if len(sides) == 2 else ""
    details = "; ".join(part for part in (own, interval) if part)
    verb = "rises" if value >= 0 else "falls"
    return f"the mean of {effect} {verb} by {plain(abs(value))} standard deviations" + (
        f" ({details})" if details else ""
    )


def _spread_words(facts: Mapping[str, float]) -> str:
    if "spread_effect" not in facts:
        return ""
    value = facts["spread_effect"]
    ends = [facts[f"spread_effect_{end}"] for end in ("lower", "upper") if f"spread_effect_{end}" in facts]
    interval = f" ({plain(ends[0])} to {plain(ends[1])})" if len(ends) == 2 else ""
    if abs(value - 1) < 0.005:
        return f"its spread stays the same{interval.replace('(', '(factor ')}"
    change = f"grows by a factor of {plain(value)}" if value > 1 else f"shrinks to {plain(value)} times what it was"
    return f"its spread {change}{interval}"


def evidence_sentences(result: GraphResult, cause: int, effect: int, p: float) -> list[str]:
    """Return the evidence for an edge and for its direction in sentences."""
    facts = known_facts(result, cause, effect)
    nats = f" ({describe_nats(facts['nats'])} nats)" if "nats" in facts else ""
    said = [f"Evidence for the edge: {describe_p(p)}{nats}."]
    if result.is_required(cause, effect):
        said = ["Prior knowledge requires this edge: it was not tested."]
    direction = facts.get("direction_nats", math.nan)
    if math.isinf(direction):
        said.append("Its direction is given by prior knowledge.")
    elif not math.isnan(direction):
        verdict = "; it is open" if facts.get("open") else ""
        said.append(f"Evidence for its direction: {describe_nats(direction)} nats{verdict}.")
    if "interventional_nats" in facts and math.isfinite(direction):
        said.append(f"Due to interventions: {describe_nats(facts['interventional_nats'])} nats of it.")
    return said


def resample_sentence(confidence: Any, cause: int, effect: int) -> str:
    """Return how often resamples of the rows found the edge and its reverse."""
    there, back = float(confidence.directed[cause, effect]), float(confidence.directed[effect, cause])
    return (
        f"Of {confidence.n_resamples} resamples of the rows, {100 * there:.0f}\u00a0% have this edge and "
        f"{100 * back:.0f}\u00a0% "
        "have it the other way round."
    )


def edge_facts(result: GraphResult, cause: int, effect: int, p: float, confidence: Any = None) -> list[str]:
    """Return all sentences about an edge; right-to-left names are isolated, so that they do not turn a sentence."""
    names = [isolated(result.names[node], [result.names[node]]) for node in (cause, effect)]
    said = strength_sentences(known_facts(result, cause, effect), *names)
    said += evidence_sentences(result, cause, effect, p)
    return said if confidence is None else [*said, resample_sentence(confidence, cause, effect)]


def strength_cells(facts: Mapping[str, float]) -> dict[str, dict[str, Any]]:
    """Return mean effect, spread effect and share as cells: the text, and the number to sort by."""
    cells = {}
    for name, signed in (("mean_effect", "+"), ("spread_effect", "")):
        if name in facts:
            ends = [facts.get(f"{name}_{end}", math.nan) for end in ("lower", "upper")]
            interval = "" if any(map(math.isnan, ends)) else f"{_cell(ends[0], signed)} to {_cell(ends[1], signed)}"
            cells[name] = {"text": _cell(facts[name], signed), "interval": interval, "value": facts[name]}
    if "share" in facts:
        cells["share"] = {"text": f"{100 * facts['share']:.0f} %", "interval": "", "value": facts["share"]}
    return cells


def _cell(value: float, sign: str) -> str:
    """Return a number with two decimals and no sign before a zero."""
    rounded = round(value, 2) + 0.0
    return f"{rounded:{sign if rounded else ''}.2f}" if abs(value) < 1e4 else f"{value:{sign}.1e}"
