"""Draw how often edges came back: the consensus graph with a share on every arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from heterodag.viz.plots import draw_dag

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PAPER = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"}


def plot_frequencies(adjacency: Any, frequencies: Any, names: Sequence[str], ax: Axes | None = None) -> Axes:
    """Draw a DAG in layers, causes on top; frequent edges are darker, and every edge shows its share in per cent.

    Parameters
    ----------
    adjacency, frequencies : array-like of shape (d, d)
        The graph, and the share of resamples with the edge i -> j.
    names : sequence of str
        Labels.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The drawing; ``ax.figure`` is its figure.

    Examples
    --------
    >>> from heterodag.viz import plot_frequencies
    >>> ax = plot_frequencies([[0, 1], [0, 0]], [[0, 0.93], [0.05, 0]], names=["dose", "response"])
    >>> ax.figure.savefig("frequencies.png")
    """
    shares = np.asarray(frequencies, dtype=np.float64)
    ax, layout = draw_dag(adjacency, names, lambda edge: float(shares[edge]), ax, row_height=1.1)
    for edge, points in layout.routes.items():
        # Half-way, where edges that leave the same cause or enter the same effect do not meet.
        rank, across = (points[(len(points) - 1) // 2] + points[len(points) // 2]) / 2
        ax.text(across, -rank, f"{100 * shares[edge]:.0f}", fontsize=7, ha="center", va="center", bbox=_PAPER)
    return ax
