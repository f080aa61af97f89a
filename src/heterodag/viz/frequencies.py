"""A picture of how often edges came back: the consensus graph with a share on every arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from heterodag.viz.layout import layered_layout
from heterodag.viz.plots import _axes, _draw_arrow, _draw_node

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PAPER = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"}


def plot_frequencies(adjacency: Any, frequencies: Any, names: Sequence[str], ax: Axes | None = None) -> Axes:
    """Draw a DAG in layers, causes on top, each edge as dark as it is frequent and with its share in per cent.

    Parameters
    ----------
    adjacency, frequencies : array-like of shape (d, d)
        The graph, and the share of resamples with the edge i -> j.
    names : sequence of str
        Labels.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
        The drawing; ``ax.figure`` is its figure.
    """
    adjacency, frequencies = np.asarray(adjacency), np.asarray(frequencies)
    layout = layered_layout(adjacency, [0.35 + 0.11 * min(len(name), 16) for name in names])
    ax = _axes((min(3 + layout.extent, 16), min(1.5 + 1.1 * layout.n_ranks, 16))) if ax is None else ax
    for edge, route in layout.routes.items():
        share = float(frequencies[edge])
        _draw_arrow(ax, route, share)
        # Half-way, where edges that leave the same cause or enter the same effect do not meet.
        points = np.asarray(route)
        rank, across = (points[(len(points) - 1) // 2] + points[len(points) // 2]) / 2
        ax.text(across, -rank, f"{100 * share:.0f}", fontsize=7, ha="center", va="center", bbox=_PAPER)
    for node, name in enumerate(names):
        _draw_node(ax, layout.across[node], -float(layout.rank[node]), name)
    ax.set_axis_off()
    ax.set_xlim(layout.span[0] - 1, layout.span[1] + 1)
    ax.set_ylim(-layout.n_ranks + 0.4, 0.6)
    return ax
