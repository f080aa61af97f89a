"""Make the report: one HTML page that needs nothing else, from a fitted model and its table.

The page can be read without a script. Its small script (`script/`) adds pictures of edges on request, ancestors and
descendants, a slider for alpha, zoom, sorting and searching.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup, escape

from heterodag.checks.findings import from_records
from heterodag.checks.trust import verdict
from heterodag.errors import ParameterError
from heterodag.io.exports import GraphResult, graph_result, ordered_layers, ranked_edges
from heterodag.report.drawing import draw_graph
from heterodag.report.edge_pictures import LEVEL, MAX_PICTURES, MAX_POINTS, draw_picture, picture_data
from heterodag.report.edge_table import edge_nats, edge_rows
from heterodag.report.experiments import arrow_rows, experiment_sentences, target_rows
from heterodag.report.fit_panels import fit_panels
from heterodag.report.matrix import draw_matrix
from heterodag.report.mechanisms import mechanism_row
from heterodag.report.order import by_normality, order_chain, order_sentences, pair_rows
from heterodag.report.rounds import round_tables
from heterodag.report.rows import DrawnRows, causal_model, drawn_rows, kept_rows
from heterodag.report.settings import shown_settings
from heterodag.report.strengths import edge_facts, known_facts
from heterodag.report.summary import Comparison, cautions, comparison_kinds, summary_sentences
from heterodag.report.which_experiment import DOUBTFUL_BELOW, proposal_words, rank_experiments
from heterodag.viz.directions import Directions
from heterodag.viz.names import isolated, printable, shorten, visible
from heterodag.viz.summaries import rounds

if TYPE_CHECKING:
    import jinja2

__all__ = ["Comparison", "render_report"]

# Limits that keep the page readable and small; the page says what is left out.
MAX_DRAWN_NODES, MAX_DRAWN_EDGES = 60, 240
MIN_MATRIX_NODES = 26
MAX_EDGE_ROWS = 1500
#: Pictures drawn on the page itself, of the strongest edges; the others open on request.
MAX_DRAWN_PICTURES = 6
#: Files of the script, in the order in which they are put together.
_SCRIPTS = ("page", "light", "zoom", "picture", "panel", "table", "threshold")
_CUT = Markup('<bdi title="{}">{}</bdi>')


def render_report(
    model: Any,
    X: Any = None,
    *,
    title: str = "Causal graph",
    source: str | None = None,
    comparison: Comparison | None = None,
    interventions: Any = None,
    confidence: Any = None,
) -> str:
    """Return the report of a fitted model as one self-contained HTML page.

    Parameters
    ----------
    model : fitted estimator
        HOST or any estimator with its interface; parts of the page for which it has no data are left out.
    X : array-like or DataFrame of shape (n, d), optional
        The table to which the model was fitted, for the rows to draw; by default the rows that the model kept.
    title : str
        The heading.
    source : str, optional
        Where the table came from, such as a file name.
    comparison : Comparison, optional
        A graph with which the edges are compared.
    interventions : optional
        The interventions that the model was fitted with; see `HOST.fit`.
    confidence : BootstrapResult, optional
        From `bootstrap(model, X)`: how often resamples have each edge; by default the result of `model.bootstrap(X)`,
        if there is one.

    Returns
    -------
    str
        The page; the same model and table always give the same text.

    Examples
    --------
    >>> from pathlib import Path
    >>> from heterodag import HOST, simulate
    >>> from heterodag.report import render_report
    >>> page = render_report(HOST().fit(simulate(300, 3, random_state=1).to_frame()), title="Three variables")
    >>> _ = Path("report.html").write_text(page, encoding="utf-8")
    """
    learned = graph_result(model)
    confidence = getattr(model, "bootstrap_", None) if confidence is None else confidence
    if confidence is not None and [str(name) for name in confidence.names] != list(learned.names):
        raise ParameterError("confidence", "be of the same columns as the model", list(confidence.names))
    rows = kept_rows(model) if X is None else drawn_rows(X, interventions, list(model.names()))
    scm = causal_model(model)
    result = _printable(learned)
    kinds = comparison_kinds(result, comparison)
    panels, fits = fit_panels(model, scm, rows, result)
    page = _template().render(
        title=title,
        source=source,
        n_rows=rows.n_rows,
        names=result.names,
        comparison=comparison,
        settings=shown_settings(result.settings),
        any_required=result.required is not None,
        versions=result.versions,
        alpha=result.settings.get("alpha"),
        directions=Directions(result.direction_nats, result.open),
        trust=learned.trust or [],
        verdict=verdict(from_records(learned.trust or [])),
        warnings=learned.warnings,
        summary=summary_sentences(result, rows.n_rows, comparison, kinds),
        mechanisms=[mechanism_row(mechanism) for mechanism in result.mechanisms or ()],
        flexible_noise=any(mechanism["noise"] == "flexible" for mechanism in result.mechanisms or ()),
        experiment_sentences=experiment_sentences(result),
        experiment_arrows=arrow_rows(result)[:MAX_EDGE_ROWS],
        experiment_targets=target_rows(result)[:MAX_EDGE_ROWS],
        doubtful_below=f"{DOUBTFUL_BELOW:g}",
        proposals=proposal_words(result, rank_experiments(result, confidence)),
        **_order(model, result, fits, told=bool(learned.trust)),
        **_edges(result, kinds, confidence),
        **_graph_pictures(result, kinds),
        **_edge_pictures(result, rows, scm, confidence),
        **panels,
        **_files(),
    )
    return printable(page)


def _printable(result: GraphResult) -> GraphResult:
    """Return the result with names that can be printed, whatever the columns are called."""
    mechanisms = [
        {key: visible(value) if isinstance(value, str) else value for key, value in mechanism.items()}
        for mechanism in result.mechanisms or ()
    ]
    return replace(result, names=tuple(visible(name) for name in result.names), mechanisms=mechanisms or None)


def _edges(result: GraphResult, kinds: dict[tuple[int, int], str], confidence: Any) -> dict[str, Any]:
    rows = edge_rows(result, kinds, confidence)
    return {
        "edges": rows[:MAX_EDGE_ROWS],
        "n_edges": len(rows),
        "known": {name for row in rows for name in ("mean_effect", "spread_effect", "share") if name in row}
        | ({"nats"} if result.nats is not None else set()),
        "resamples": None if confidence is None else confidence.n_resamples,
    }


def _order(model: Any, result: GraphResult, fits: list[float], told: bool) -> dict[str, Any]:
    """Return the kept order; the rounds of Algorithm 2, and cautions about them, only if they made this order."""
    history = [] if result.scores is None else rounds(result.scores)
    placed = [column for outcome in history for column in outcome.placed]
    final = by_normality(model, result, placed)
    tolerance = float(result.settings.get("tolerance") or 0.0)
    layers = ordered_layers(result)
    return {
        "layers": layers,
        "chained": not final or len(layers) == len(result.names),
        "chain": order_chain(result),
        "order_sentences": order_sentences(result),
        "pairs": pair_rows(result)[:MAX_EDGE_ROWS],
        "searched": bool(placed) and not final,
        "cautions": [] if told else cautions(history if final else [], tolerance, fits),
        **round_tables(result, history if final else [], tolerance),
    }


def _graph_pictures(result: GraphResult, kinds: dict[tuple[int, int], str]) -> dict[str, Any]:
    ranked = ranked_edges(result)
    numbers = {(i, j): number for number, (i, j, _) in enumerate(ranked)}
    directions, names = Directions(result.direction_nats, result.open), result.names
    drawn = len(names) <= MAX_DRAWN_NODES and len(ranked) <= MAX_DRAWN_EDGES
    order = list(result.order if result.order is not None else range(len(names)))
    graph = matrix = None
    if drawn:
        graph = draw_graph(result.adjacency, names, result.pvalues, kinds, directions, numbers)
    if not drawn or len(names) >= MIN_MATRIX_NODES:
        matrix = draw_matrix(result.adjacency, names, order, result.pvalues, directions, numbers)
    return {"graph": graph, "matrix": matrix}


def _edge_pictures(result: GraphResult, rows: DrawnRows, scm: Any, confidence: Any) -> dict[str, Any]:
    """Return drawings of the strongest edges, and the data from which the script draws all edges."""
    ranked = ranked_edges(result)
    edges = [(i, j) for i, j, _ in ranked]
    facts = [edge_facts(result, i, j, p, confidence) for i, j, p in ranked[:MAX_PICTURES]]
    data = picture_data(rows, scm, result.names, edges, facts)
    drawn = [
        {
            "number": number,
            "cause": result.names[edge[0]],
            "effect": result.names[edge[1]],
            "svg": draw_picture(data, number, edge, result.names),
        }
        for number, edge in enumerate(edges[:MAX_DRAWN_PICTURES])
    ]
    evidence = [edge_nats(known_facts(result, i, j).get("nats", np.nan), p) for i, j, p in ranked]
    data |= {
        "names": result.names,
        "edges": edges,
        "nats": [None if value is None else round(value, 1) for value in evidence],
        "alpha": result.settings.get("alpha"),
        "level": (level := f"{100 * LEVEL:g} %"),
    }
    return {
        "pictures": drawn,
        "picture_rows": min(MAX_POINTS, len(rows.array)),
        "curves": scm is not None,
        "level": level,
        "data": _safe_json(data),
    }


def _safe_json(data: Any) -> Markup:
    """Return JSON that is safe inside a script element: nothing in it can end the element or begin a comment."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _text(name: str) -> str:
    return resources.files("heterodag.report").joinpath(name).read_text(encoding="utf-8")


@cache
def _files() -> dict[str, Markup]:
    """Return the style sheet and the script, which come with the package and need no escaping."""
    script = "".join(_text(f"script/{name}.js") for name in _SCRIPTS)
    return {"style": Markup(_text("style.css")), "script": Markup(script)}


@cache
def _template() -> jinja2.Template:
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(lambda name: _text(f"templates/{name}")),
    )
    environment.filters |= {"isolate": _isolate, "name": _name}
    return environment.get_template("page.html.j2")


def _isolate(sentence: Any, names: Any) -> Markup:
    """Return a sentence with its right-to-left names isolated, so that they do not change its direction."""
    return Markup(isolated(str(escape(sentence)), [str(escape(name)) for name in names], "<bdi>", "</bdi>"))


def _name(name: str, longest: int = 48) -> Markup:
    """Return a name for a table or label; a long name is cut in the middle and given in full as a tooltip."""
    short = shorten(name, longest)
    return Markup("<bdi>{}</bdi>").format(name) if short == name else _CUT.format(name, short)
