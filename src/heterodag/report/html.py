"""The report: one HTML page without scripts or network, made from a fitted model and its table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heterodag.io.exports import GraphResult, graph_result, ordered_layers, ranked_edges
from heterodag.knowledge.interventions import read_interventions, take_conditions
from heterodag.report.drawing import describe_p, draw_graph, draw_matrix, draw_qq
from heterodag.report.experiments import arrow_rows, experiment_sentences, target_rows
from heterodag.report.mechanisms import mechanism_row
from heterodag.viz.directions import Directions, describe_nats
from heterodag.viz.summaries import Round, closeness, normal_quantiles, rounds, straightness

if TYPE_CHECKING:
    import jinja2

# Limits that keep the page readable and small; what is left out is said on the page.
MAX_DRAWN_NODES, MAX_DRAWN_EDGES = 60, 240
MIN_MATRIX_NODES = 26
MAX_EDGE_ROWS = 1500
MAX_SCORE_COLUMNS = 30
MAX_PANELS = 40
MAX_QQ_ROWS = 50_000
# A margin within this many tolerances is called close; a Q-Q correlation below this is called poor.
_CLOSE, _POOR_FIT = 10.0, 0.95


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


def render_report(
    model: Any,
    X: Any,
    *,
    title: str = "Causal graph",
    source: str | None = None,
    comparison: Comparison | None = None,
    interventions: Any = None,
) -> str:
    """Return the report of a fitted model as one self-contained HTML page.

    Parameters
    ----------
    model : fitted estimator
        HOST or any estimator with its surface; parts of the page whose data it lacks are left out.
    X : array-like or DataFrame of shape (n, d)
        The table it was fitted on.
    title : str
        The heading.
    source : str, optional
        Where the table came from, such as a file name.
    comparison : Comparison, optional
        A graph against which the edges are marked.
    interventions : optional
        What the model was fitted with; see `HOST.fit`.

    Returns
    -------
    str
        The page; the same model and table always give the same text.
    """
    result = graph_result(model)
    tolerance = float(result.settings.get("tolerance") or 0.0)
    history = [] if result.scores is None else rounds(result.scores)
    kinds, directions = _kinds(result, comparison), Directions(result.direction_nats, result.open)
    X, interventions = take_conditions(X, interventions)
    panels, fits = _qq_panels(model, X, result, interventions)
    return _template().render(
        title=title,
        source=source,
        n_rows=len(X),
        names=result.names,
        summary=_summary(result, len(X), kinds, comparison, directions, _cautions(history, tolerance, fits)),
        comparison=comparison,
        layers=ordered_layers(result),
        settings=result.settings,
        versions=result.versions,
        edges=_edge_rows(result, kinds, directions)[:MAX_EDGE_ROWS],
        n_edges=int(np.count_nonzero(result.adjacency)),
        alpha=result.settings.get("alpha"),
        evidence_known=result.nats is not None,
        directions=directions,
        mechanisms=[mechanism_row(mechanism) for mechanism in result.mechanisms or ()],
        flexible_noise=any(mechanism["noise"] == "flexible" for mechanism in result.mechanisms or ()),
        experiment_sentences=experiment_sentences(result),
        experiment_arrows=arrow_rows(result)[:MAX_EDGE_ROWS],
        experiment_targets=target_rows(result)[:MAX_EDGE_ROWS],
        **_pictures(result, kinds, directions),
        **_score_tables(result, history, tolerance),
        **panels,
    )


@cache
def _template() -> jinja2.Template:
    import jinja2

    text = resources.files("heterodag.report").joinpath("template.html.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    return environment.from_string(text)


def _kinds(result: GraphResult, comparison: Comparison | None) -> dict[tuple[int, int], str]:
    """Return for every edge whether the other graph has it (known), has it reversed (turned) or not (new)."""
    if comparison is None:
        return {}
    other = np.asarray(comparison.adjacency) != 0
    pairs = [(int(i), int(j)) for i, j in np.argwhere(result.adjacency != 0)]
    return {(i, j): "known" if other[i, j] else "turned" if other[j, i] else "new" for i, j in pairs}


def _summary(
    result: GraphResult,
    n_rows: int,
    kinds: dict[tuple[int, int], str],
    comparison: Comparison | None,
    directions: Directions,
    cautions: list[str],
) -> list[str]:
    """Return what was found, in sentences for people who know their variables and not the method."""
    edges = ranked_edges(result)
    alpha = result.settings.get("alpha")
    level = "" if alpha is None else f" at alpha {alpha:g}"
    size = f"{_count(len(result.names), 'variable')}, {_count(n_rows, 'row')}"
    said = [f"{size}; {_count(len(edges), 'edge')}{level}."]
    if edges and not math.isnan(edges[0][2]):
        first, last, p = edges[0]
        strongest = f"{result.names[first]} → {result.names[last]} ({describe_p(p)})"
        said.append(f"The edge with the strongest evidence is {strongest}.")
    said += directions.summary(len(edges))
    into, out = (np.asarray(result.adjacency.any(axis=axis)) for axis in (0, 1))
    said += _named("Causes that nothing else in the table was found to influence", result, ~into & out)
    said += _named("Without any edge", result, ~into & ~out)
    said += cautions
    if comparison is not None:
        counts = [sum(kind == wanted for kind in kinds.values()) for wanted in ("known", "turned", "new")]
        said.append(
            f"Compared with {comparison.name}, edges in it: {counts[0]}; in it the other way round: "
            f"{counts[1]}; not in it: {counts[2]}."
        )
    return said


def _cautions(history: list[Round], tolerance: float, fits: list[float]) -> list[str]:
    said = []
    close = sum(outcome.margin <= _close_margin(tolerance) for outcome in history)
    if close:
        calls = "was a close call" if close == 1 else "were close calls"
        said.append(
            f"{_count(close, 'round')} of the ordering {calls}: directions between the variables involved "
            "rest on small differences."
        )
    poor = sum(not fit >= _POOR_FIT for fit in fits)
    if poor:
        said.append(
            f"{poor} of {_count(len(fits), 'variable')} fit the model poorly (see “Does the model fit?”); "
            "read edges into and out of them with care."
        )
    return said


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _named(text: str, result: GraphResult, members: NDArray[np.bool_], limit: int = 12) -> list[str]:
    names = [result.names[i] for i in np.flatnonzero(members)]
    if not names:
        return []
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return [f"{text}: {', '.join(names[:limit])}{more}."]


def _close_margin(tolerance: float) -> float:
    return _CLOSE * (tolerance if tolerance > 0 else 1e-4)


def _edge_rows(
    result: GraphResult, kinds: dict[tuple[int, int], str], directions: Directions
) -> list[dict[str, str]]:
    words = {"known": "yes", "turned": "reversed", "new": "no"}
    return [
        {
            "cause": result.names[i],
            "effect": result.names[j],
            "p": describe_p(p).removeprefix("p = ").removeprefix("p "),
            "nats": "" if result.nats is None else describe_nats(float(result.nats[i, j])),
            "direction": directions.cell((i, j)),
            "kind": words.get(kinds.get((i, j), ""), ""),
        }
        for i, j, p in ranked_edges(result)
    ]


def _pictures(result: GraphResult, kinds: dict[tuple[int, int], str], directions: Directions) -> dict[str, Any]:
    d, n_edges = len(result.names), int(np.count_nonzero(result.adjacency))
    drawn = d <= MAX_DRAWN_NODES and n_edges <= MAX_DRAWN_EDGES
    order = result.order if result.order is not None else range(d)
    matrix = draw_matrix(result.adjacency, result.names, list(order), result.pvalues, directions)
    graph = draw_graph(result.adjacency, result.names, result.pvalues, kinds, directions) if drawn else None
    return {
        "graph": graph,
        "matrix": matrix if not drawn or d >= MIN_MATRIX_NODES else None,
    }


def _score_tables(result: GraphResult, history: list[Round], tolerance: float) -> dict[str, Any]:
    names, placed = result.names, [column for outcome in history for column in outcome.placed]
    table = [
        {
            "placed": ", ".join(names[column] for column in outcome.placed),
            "score": f"{outcome.score:.4f}",
            "runner_up": "" if outcome.runner_up is None else names[outcome.runner_up],
            "margin": "" if math.isnan(outcome.margin) else f"{outcome.margin:.2g}",
            "close": outcome.margin <= _close_margin(tolerance),
        }
        for outcome in history
    ]
    shown = history and len(names) <= MAX_SCORE_COLUMNS
    return {
        "rounds": table,
        "close_margin": f"{_close_margin(tolerance):g}",
        "refined": bool(history) and result.order is not None and list(result.order) != placed,
        "heat_names": [names[column] for column in placed] if shown else [],
        "heat": _heat(result, placed, tolerance) if shown else [],
    }


def _heat(result: GraphResult, placed: list[int], tolerance: float) -> list[list[dict[str, Any]]]:
    """Return the scores in the order of placement, each with how dark its cell is to be."""
    if result.scores is None:
        return []
    scores, near = result.scores[:, placed], closeness(result.scores, tolerance)[:, placed]
    last = ~np.isnan(scores) & np.isnan(np.vstack([scores[1:], np.full((1, len(placed)), np.nan)]))
    return [
        [
            {
                "text": "" if math.isnan(v) else f"{v:.4f}",
                "shade": 0.0 if math.isnan(c) else 0.75 * c,
                "placed": p,
            }
            for v, c, p in zip(values, shades, here, strict=True)
        ]
        for values, shades, here in zip(scores.tolist(), near.tolist(), last.tolist(), strict=True)
    ]


def _qq_panels(model: Any, X: Any, result: GraphResult, interventions: Any) -> tuple[dict[str, Any], list[float]]:
    """Return Q-Q panels in the learned order, of many variables the least normal ones, and how all fit."""
    if not hasattr(model, "latents"):
        return {"panels": [], "panels_left": 0, "qq_rows": 0}, []
    step = max(1, math.ceil(len(X) / MAX_QQ_ROWS))
    options = {}
    if interventions is not None:
        told = read_interventions(interventions, result.names, len(X))
        options = {"interventions": told.take(np.arange(0, len(X), step))}
    latents = np.asarray(model.latents(X if step == 1 else _every(X, step), **options), dtype=np.float64)
    quantiles = [normal_quantiles(column[~np.isnan(column)]) for column in latents.T]
    fits = [straightness(*pair) for pair in quantiles]
    least = sorted(range(len(fits)), key=lambda k: (math.isfinite(fits[k]), fits[k]))[:MAX_PANELS]
    order = result.order if result.order is not None else range(len(fits))
    panels = [
        {"name": result.names[k], "svg": draw_qq(*quantiles[k]), "fit": f"{fits[k]:.3f}"}
        for k in order
        if k in set(least)
    ]
    return {"panels": panels, "panels_left": len(fits) - len(panels), "qq_rows": len(latents)}, fits


def _every(X: Any, step: int) -> Any:
    """Return every `step`-th row of an array or frame of any kind."""
    return X.iloc[::step] if hasattr(X, "iloc") else X[::step]
