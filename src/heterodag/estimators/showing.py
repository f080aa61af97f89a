"""Show a fitted model: the box "Can I trust this?", and a view for notebooks."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from heterodag.checks.findings import Finding, Findings
from heterodag.checks.trust import DIRECTIONS, FIT, LEFT_OUT, QUIET, trust_box
from heterodag.estimators.assumptions import open_edges
from heterodag.ordering.directions import OPEN_BELOW

#: An arrow that comes back in less than this share of the resamples is named in the box.
STABLE = 0.8

_STYLE = """<style>
.heterodag-view svg.graph { max-width: 100%; height: auto; }
.heterodag-view svg text { font: 13px system-ui, sans-serif; fill: currentColor; text-anchor: middle; }
.heterodag-view .node rect { fill: rgba(90, 140, 200, .18); stroke: #5a8cc8; }
.heterodag-view .edge .line { fill: none; stroke: #5a8cc8; } .heterodag-view .edge .head { fill: #5a8cc8; }
</style>"""


def model_trust(model: Any) -> Findings:
    """Return what was checked in a fitted model, one finding per line; the title gives the overall verdict."""
    table = getattr(model, "table_findings_", ())
    found = [item for item in table if item.severity != "green" or item.topic not in QUIET]
    found += [*getattr(model, "fit_findings_", ()), *_unknown(model), *_resampled(model)]
    found += getattr(model, "left_out_", ())
    said = {item.text for item in found}
    found += [Finding("amber", FIT, "warning", text) for text in getattr(model, "warnings_", ()) if text not in said]
    clean = {}
    if not getattr(model, "left_out_", True):
        used = f"all {model.n_rows_:,} rows and {model.n_features_in_} columns were used"
        clean[LEFT_OUT] = f"Nothing was left out: {used}."
    if hasattr(model, "fit_findings_"):
        clean[FIT] = "No sign that the model describes some variable badly."
        if model._order_settings().scores.parametrization == "mlp":  # networks are judged as a whole
            clean[FIT] = "Not all residuals are far from normal; single variables were not checked."
    if hasattr(model, "open_"):
        if not any(item.check == "open" for item in found):  # fits of fixed models do not warn of open edges
            found += open_edges(model.adjacency_, model.open_)
        edges = int(np.count_nonzero(model.adjacency_))
        clean[DIRECTIONS] = (
            f"All {edges} arrows have at least {OPEN_BELOW:g} nats of evidence for their direction."
            if edges
            else "There are no arrows."
        )
    return trust_box(found, clean)


def _unknown(model: Any) -> list[Finding]:
    """Return what a method does not check in its own result."""
    found = []
    if not hasattr(model, "fit_findings_"):
        found.append(Finding(
            "amber", FIT, "not checked", "Whether a model describes the variables was not checked.",
            "`check_graph(model.adjacency_, X)` checks it.",
        ))  # fmt: skip
    if not hasattr(model, "open_") and not hasattr(model, "frequency_"):
        found.append(Finding(
            "amber", DIRECTIONS, "not checked", "How sure the directions are was not measured.",
            "`model.bootstrap(X)` counts how often they come back; `HOST()` measures their evidence.",
        ))  # fmt: skip
    return found


def _resampled(model: Any) -> list[Finding]:
    """Return how often the arrows came back on resampled rows, if that was tried."""
    if not hasattr(model, "frequency_"):
        return []
    names, edges = model.names(), np.argwhere(model.adjacency_)
    share = {(int(i), int(j)): float(model.frequency_[i, j]) for i, j in edges}
    weak = sorted((edge for edge in share if share[edge] < STABLE), key=lambda edge: (share[edge], edge))
    back = f"{len(share) - len(weak)} of {len(share)} arrows came back in at least {STABLE:.0%}"
    text = f"On {model.bootstrap_.n_resamples} resamples, {back}"
    if not weak:
        return [Finding("green", DIRECTIONS, "bootstrap", f"{text}.")]
    listed = ", ".join(f"'{names[i]}' -> '{names[j]}' ({share[i, j]:.0%})" for i, j in weak[:3])
    return [Finding("amber", DIRECTIONS, "bootstrap", f"{text}; least stable: {listed}.")]


def model_html(model: Any) -> str:
    """Return a fitted model as HTML for notebooks: graph, order and trust; large graphs are not drawn."""
    from heterodag.io.exports import graph_result
    from heterodag.report.drawing import draw_graph
    from heterodag.report.html import MAX_DRAWN_EDGES, MAX_DRAWN_NODES
    from heterodag.report.text import headline, order_text
    from heterodag.viz.directions import Directions

    result = graph_result(model)
    drawn = len(result.names) <= MAX_DRAWN_NODES and len(result.edges()) <= MAX_DRAWN_EDGES
    directions = Directions(result.direction_nats, result.open)
    graph = draw_graph(result.adjacency, result.names, result.pvalues, None, directions) if drawn else ""
    order = f"<p>Causal order: {escape(order_text(result))}</p>" if result.order is not None else ""
    title = f"<b>{escape(type(model).__name__)}</b>, {len(result.names)} variables, {headline(result)}"
    return f'<div class="heterodag-view">{_STYLE}<p>{title}</p>{graph}{order}{model.trust()._repr_html_()}</div>'
