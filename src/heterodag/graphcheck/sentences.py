"""Turn the tables of a check into findings: one per question, green if nothing speaks against the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import TYPE_CHECKING

from heterodag.checks import Finding, Findings
from heterodag.graphcheck.shuffles import Shuffles
from heterodag.graphcheck.tables import LEARNED, THIS

if TYPE_CHECKING:
    import pandas as pd

TITLE = "What the table says about the graph"
#: With a p-value up to the first number (or the smallest possible p-value) a graph is better than chance; beyond the
#: second it may as well be chance.
BETTER, CHANCE = 0.01, 0.05
#: If p-values cannot get below this, a single other graph that is as good takes p beyond CHANCE: not enough for red.
COARSE = CHANCE / 2
#: A graph should explain the first share of what the learned graph explains; below the second share the finding is
#: red. It is also red if more than half of the variables are not described. These are conventions, not chosen by
#: measurement; docs/check-graph.md shows what they lead to.
MOST, HALF = 0.9, 0.5
_SHOWN = 3


def findings(tables: Mapping[str, pd.DataFrame], shuffles: Shuffles | None, asked: bool) -> Findings:
    """Return the findings; `asked` says whether shuffles were wanted."""
    found = [
        _edges(tables["edges"]),
        _missing(tables["missing"]),
        _directions(tables["edges"]),
        _variables(tables["variables"]),
        _pairs(tables["pairs"]),
        _explained(tables["scores"]),
        _chance(shuffles, asked),
    ]
    return Findings([finding for finding in found if finding is not None], TITLE)


def _edges(edges: pd.DataFrame) -> Finding | None:
    total, weak = len(edges), edges[edges["needed"] == "weak"]
    idle = edges[
        (edges["needed"] == "no") & (edges["direction"] != "turned")
    ]  # a turned edge is needed, the other way round
    if not total:
        return None
    if len(idle):
        return Finding(
            "amber", "edges", "needed",
            f"The table shows no need for {_part(idle, total, 'edge')}: {_arrows(idle, 'nats')}.",
            "Leave out what is not known from elsewhere; with more rows a weak effect may show.", _columns(idle),
        )  # fmt: skip
    few = f", of {len(weak)} only weakly: {_arrows(weak, 'nats')}" if len(weak) else ""
    return Finding("green", "edges", "needed", f"The table shows the need for {_each(total, 'edge')}{few}.")


def _missing(missing: pd.DataFrame) -> Finding | None:
    total, gaps = len(missing), missing[missing["missing"]]
    if not total:
        return None
    if not len(gaps):
        return Finding(
            "green", "missing edges", "missing",
            f"No edge is missing: the graph accounts for the dependence of {_each(total, 'pair')} without an edge.",
        )  # fmt: skip
    return Finding(
        "amber", "missing edges", "missing",
        f"The graph does not account for the dependence of {_part(gaps, total, 'pair')} without an edge: "
        f"{_arrows(gaps, 'nats')}.",
        "Add an edge, or turn one nearby, or look for a common cause outside the table.", _columns(gaps),
    )  # fmt: skip


def _directions(edges: pd.DataFrame) -> Finding | None:
    total, turned = len(edges), edges[edges["direction"] == "turned"].sort_values("turned_nats", ascending=False)
    if not total:
        return None
    if len(turned):
        return Finding(
            "amber", "directions", "turned",
            f"The table is explained better with {_part(turned, total, 'arrow')} the other way round: "
            f"{_arrows(turned, 'turned_nats')}.",
            "Turn one at a time, the strongest first: that can settle others.", _columns(turned),
        )  # fmt: skip
    loose, closed = (int((edges["direction"] == kind).sum()) for kind in ("open", "not tested"))
    said = [f"the table cannot tell the direction of {loose} of {total}"] * bool(loose)
    said += [f"{closed} of {total} cannot be turned without a cycle"] * bool(closed)
    more = f"; {' and '.join(said)}" if said else ""
    return Finding("green", "directions", "turned", f"No arrow is better the other way round{more}.")


def _variables(variables: pd.DataFrame) -> Finding:
    total, wrong = len(variables), variables.loc[~variables["described"], "variable"].tolist()
    if not wrong:
        return Finding(
            "green", "variables", "misfit",
            f"A mechanism describes {_each(total, 'variable')}: the residuals do not depend on the causes.",
        )  # fmt: skip
    shown = ", ".join(f"'{name}'" for name in wrong[:_SHOWN]) + _more(len(wrong))
    return Finding(
        "red" if len(wrong) > HALF * total else "amber", "variables", "misfit",
        f"No mechanism describes {_part(wrong, total, 'variable')} given the causes in the graph: {shown}.",
        "A cause may be missing or wrong; evidence about edges into these variables may mean little.", tuple(wrong),
    )  # fmt: skip


def _pairs(pairs: pd.DataFrame) -> Finding | None:
    total, joined = len(pairs), pairs[pairs["dependent"]]
    if not total:
        return None
    if not len(joined):
        return Finding(
            "green", "hidden causes", "residuals",
            f"The residuals of different variables are independent, in {_each(total, 'pair')}.",
        )  # fmt: skip
    some = [f"'{a}' and '{b}'" for a, b in zip(joined["first"], joined["second"], strict=True)]
    return Finding(
        "amber", "hidden causes", "residuals",
        f"The residuals of different variables depend on each other in {_part(joined, total, 'pair')}: "
        f"{'; '.join(some[:_SHOWN])}{_more(len(joined))}.",
        "An edge between them may be missing or the wrong way round, or they have a common cause outside the table.",
        tuple(dict.fromkeys([*joined["first"], *joined["second"]])),
    )  # fmt: skip


def _explained(scores: pd.DataFrame) -> Finding:
    gains = dict(zip(scores["graph"], scores["better_than_empty"], strict=True))
    own, best = gains[THIS], gains.get(LEARNED)
    if own < 0.0:
        return Finding(
            "red", "score", "score",
            f"A graph without any edge explains the table better, by {-own:.0f} nats after the price of the edges.",
            "Start from the proposed changes, or from a learned graph.",
        )  # fmt: skip
    if best is None:
        return Finding(
            "green", "score", "score",
            f"The graph explains the table better than no edges do, by {own:.0f} nats after the price of the edges.",
        )  # fmt: skip
    if own >= best:
        return Finding(
            "green", "score", "score",
            f"The graph explains the table as well as the learned graph or better ({own:.0f} against {best:.0f} nats).",
        )  # fmt: skip
    share = own / best
    severity = "green" if share >= MOST else "amber" if share >= HALF else "red"
    remedy = (
        ""
        if severity == "green"
        else "Compare the two: what the learned graph has that this one lacks may be missing."
    )
    return Finding(
        severity, "score", "score",
        f"The graph explains {100 * share:.0f} % of what the learned graph explains ({own:.0f} of {best:.0f} nats).", remedy,
    )  # fmt: skip


def _chance(shuffles: Shuffles | None, asked: bool) -> Finding | None:
    if shuffles is None:
        if not asked:
            return None
        return Finding(
            "amber", "chance", "shuffles", "Time ran out before shuffled names could be compared.",
            "Give more time, or ask for fewer shuffles.",
        )  # fmt: skip
    p, number = shuffles.pvalue, len(shuffles.scores)
    worse = f"{number - shuffles.as_good} of {number - shuffles.every} graphs with shuffled names"
    if p <= CHANCE:
        return Finding(
            "green" if p <= max(BETTER, shuffles.smallest) else "amber", "chance", "shuffles",
            f"The graph is better than chance: {worse} explain the table worse (p = {p:.2g}).",
        )  # fmt: skip
    if shuffles.surely_smallest > COARSE:
        return _too_few(shuffles, worse)
    return Finding(
        "red", "chance", "shuffles",
        f"The graph is no better than chance: only {worse} explain the table worse (p = {p:.2g}).",
        "Check whether names, or causes and effects, were mixed up.",
    )  # fmt: skip


def _too_few(shuffles: Shuffles, worse: str) -> Finding:
    """Return the finding when p-values cannot get small: nothing against the graph unless other graphs are better."""
    return Finding(
        "green" if shuffles.pvalue <= shuffles.surely_smallest else "amber", "chance", "shuffles",
        "There are too few clearly different graphs to tell whether this one is better than chance: "
        f"{worse} explain the table worse (p = {shuffles.pvalue:.2g}).",
    )  # fmt: skip


def _arrows(frame: pd.DataFrame, nats: str) -> str:
    some = frame.head(_SHOWN)
    shown = [
        f"'{cause}' -> '{effect}' ({value:.1f} nats)"
        for cause, effect, value in zip(some["cause"], some["effect"], some[nats], strict=True)
    ]
    return ", ".join(shown) + _more(len(frame))


def _more(total: int) -> str:
    return f" and {total - _SHOWN} more" if total > _SHOWN else ""


def _part(some: Sized, total: int, noun: str) -> str:
    return f"the only {noun}" if total == 1 else f"{len(some)} of {total} {noun}s"


def _each(total: int, noun: str) -> str:
    return f"the only {noun}" if total == 1 else f"all {total} {noun}s"


def _columns(frame: pd.DataFrame) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*frame["cause"], *frame["effect"]]))
