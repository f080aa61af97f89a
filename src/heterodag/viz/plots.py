"""Figures with matplotlib: the graph, the rounds of the ordering, and the normality of the latents.

All functions draw on the Axes they are given, or on a new `matplotlib.figure.Figure` that pyplot does not
manage: save it with ``ax.figure.savefig(...)``, or put ``ax.figure`` last in a notebook cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from heterodag.errors import ParameterError
from heterodag.viz.directions import UNKNOWN, Directions
from heterodag.viz.layout import GraphLayout, bezier, layered_layout
from heterodag.viz.names import shorten
from heterodag.viz.summaries import edge_strength, normal_quantiles, rounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NODE = "#dbe7f5"
_EDGE = "#33597f"
_STRONG = "#c1440e"
MAX_PANELS = 40


def plot_graph(model_or_adjacency: Any, names: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """Draw a DAG in layers, causes on top.

    Parameters
    ----------
    model_or_adjacency : fitted estimator or array-like of shape (d, d)
        The graph; ``adjacency[i, j] == 1`` means i -> j. A smaller p-value makes a darker arrow; an edge whose direction
        is open (``open_`` of the model) is dashed and has no arrowhead.
    names : sequence of str, optional
        Labels in place of the model's own, or of x0, x1, ... .
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The drawing; ``ax.figure`` is its figure.

    Examples
    --------
    >>> from heterodag.viz import plot_graph
    >>> ax = plot_graph([[0, 1, 0], [0, 0, 1], [0, 0, 0]], names=["gene", "protein", "growth"])
    >>> ax.figure.savefig("graph.svg")
    """
    model = model_or_adjacency
    adjacency = np.asarray(getattr(model, "adjacency_", model))
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise ParameterError("model_or_adjacency", "be a fitted model or a square matrix", adjacency.shape)
    labels = _labels(model, names, len(adjacency))
    found = getattr(model, "pvalues_", None)
    pvalues = np.full(adjacency.shape, np.nan) if found is None else found
    directions = Directions(open=getattr(model, "open_", None))
    return draw_dag(adjacency, labels, lambda edge: edge_strength(float(pvalues[edge])), ax, directions=directions)[0]


def draw_dag(
    adjacency: Any,
    labels: Sequence[str],
    strength: Callable[[tuple[int, int]], float],
    ax: Axes | None = None,
    row_height: float = 0.9,
    directions: Directions = UNKNOWN,
) -> tuple[Axes, GraphLayout]:
    """Draw a DAG in layers, causes on top; stronger edges (0 to 1) are darker, and open edges have no arrowhead."""
    layout = layered_layout(adjacency, [0.35 + 0.11 * min(len(label), 16) for label in labels])
    ax = _axes((min(3 + layout.extent, 16), min(1.5 + row_height * layout.n_ranks, 16))) if ax is None else ax
    for edge, route in layout.routes.items():
        _draw_arrow(ax, route, strength(edge), directions.is_open(edge))
    for node, label in enumerate(labels):
        _draw_node(ax, layout.across[node], -float(layout.rank[node]), label)
    ax.set_axis_off()
    ax.set_xlim(layout.span[0] - 1, layout.span[1] + 1)
    ax.set_ylim(-layout.n_ranks + 0.4, 0.6)
    return ax, layout


def _labels(model: Any, names: Sequence[str] | None, d: int) -> list[str]:
    if names is not None:
        if len(names) != d:
            raise ParameterError("names", f"hold one name for each of the {d} variables", len(names))
        return [str(name) for name in names]
    return list(model.names()) if hasattr(model, "names") else [f"x{k}" for k in range(d)]


def _axes(size: tuple[float, float]) -> Axes:
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained").add_subplot()


def _draw_arrow(ax: Axes, route: Any, strength: float, is_open: bool) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    ends = np.array(route, dtype=np.float64)
    ends[[0, -1], 0] += [0.16, -0.17]
    # Ranks grow downwards on the page, the y axis upwards.
    curve = bezier(ends)[:, :, ::-1] * [1, -1]
    vertices = np.concatenate([curve[0, :1], curve[:, 1:].reshape(-1, 2)])
    codes = [Path.MOVETO] + [Path.CURVE4] * (len(vertices) - 1)
    style = "-" if is_open else "-|>"
    arrow = FancyArrowPatch(path=Path(vertices, codes), arrowstyle=style, mutation_scale=11, color=_EDGE)
    if is_open:  # dashed as well: where it meets the arrows of other causes, a missing head is not noticed
        arrow.set_linestyle((0, (4, 2)))
    arrow.set_linewidth(0.8 + 1.6 * strength)
    arrow.set_alpha(0.35 + 0.6 * strength)
    ax.add_patch(arrow)


def _draw_node(ax: Axes, x: float, y: float, label: str) -> None:
    box = {"boxstyle": "round,pad=0.35", "facecolor": _NODE, "edgecolor": _EDGE, "linewidth": 0.8}
    # A dollar sign in a column name is not mathematics.
    shown = shorten(label, 16)
    ax.text(x, y, shown, ha="center", va="center", fontsize=9, bbox=box, zorder=3, color="black", parse_math=False)


def plot_scores(model: Any, ax: Axes | None = None) -> Axes:
    """Plot how far every remaining variable was behind the chosen one, round by round.

    Parameters
    ----------
    model : fitted estimator
        It must have ``scores_``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The drawing. A round in which the next point is near the top was a close call.

    Examples
    --------
    >>> from heterodag import HOST, simulate
    >>> from heterodag.viz import plot_scores
    >>> plot_scores(HOST().fit(simulate(300, 3, random_state=1).to_frame())).get_xlabel()
    'round'
    """
    if getattr(model, "scores_", None) is None:
        raise ParameterError("model", "be fitted and have scores_", type(model).__name__)
    scores, names = np.asarray(model.scores_, dtype=np.float64), list(model.names())
    ax = _axes((max(5.0, 0.55 * len(scores)), 4.5)) if ax is None else ax
    tolerance = float(getattr(model, "tolerance", 0.0)) or 1e-4
    for number, outcome in enumerate(rounds(scores), start=1):
        gaps = outcome.score - scores[number - 1]
        placed = list(outcome.placed)
        waiting = np.setdiff1d(np.flatnonzero(~np.isnan(gaps)), placed)
        ax.plot(np.full(len(waiting), number), gaps[waiting], "o", color=_EDGE, alpha=0.45, markersize=5)
        ax.plot(np.full(len(placed), number), gaps[placed], "o", color=_STRONG, markersize=6)
        shown = ", ".join(names[column] for column in placed[:2]) + (" …" if len(placed) > 2 else "")
        ax.annotate(
            shown,
            (number, 0),
            xytext=(0, 7),
            textcoords="offset points",
            rotation=45,
            fontsize=8,
            ha="left",
            va="bottom",
            parse_math=False,
        )
    ax.set_yscale("symlog", linthresh=tolerance)
    ax.invert_yaxis()
    ax.set_xlabel("round")
    ax.set_ylabel("behind the best score")
    ax.margins(y=0.2)
    return ax


def plot_qq(model: Any, X: Any, max_panels: int = MAX_PANELS) -> Figure:
    """Plot normal Q-Q panels of every variable's latents: straight lines if the model fits.

    Parameters
    ----------
    model : fitted estimator
        It must have ``latents``.
    X : array-like or DataFrame of shape (n, d)
        The table it was fitted on.
    max_panels : int, default=40
        At most this many variables are drawn, the earliest in the order.

    Returns
    -------
    matplotlib.figure.Figure
        One panel per variable, in the learned order.

    Examples
    --------
    >>> from heterodag import HOST, simulate
    >>> from heterodag.viz import plot_qq
    >>> table = simulate(300, 3, random_state=1).to_frame()
    >>> figure = plot_qq(HOST().fit(table), table)
    >>> [panel.get_title() for panel in figure.axes]
    ['x1', 'x2', 'x0']
    """
    from matplotlib.figure import Figure

    latents, names = np.asarray(model.latents(X)), list(model.names())
    order = [int(column) for column in model.order_][:max_panels]
    columns = min(5, len(order))
    rows = math.ceil(len(order) / columns)
    figure = Figure(figsize=(2.2 * columns, 2.2 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True).ravel()
    for panel, column in zip(panels, order, strict=False):
        theory, observed = normal_quantiles(latents[:, column])
        panel.axline((0, 0), slope=1, color="grey", linewidth=0.8)
        panel.plot(theory, observed, ".", color=_EDGE, markersize=3)
        panel.set_title(names[column], fontsize=9, parse_math=False)
    for panel in panels[len(order) :]:
        panel.set_axis_off()
    return figure
