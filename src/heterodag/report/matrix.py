"""Draw the adjacency matrix as inline SVG: every edge, also of a graph that is too large to be read as arrows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from heterodag.report.drawing import Edge, pvalue_of, tip
from heterodag.viz.directions import UNKNOWN, Directions
from heterodag.viz.names import shorten, text_width
from heterodag.viz.summaries import edge_strength

_STRENGTHS = 4
_FONT, _LONGEST = 10.0, 14
#: Cells smaller than this many pixels leave no room for names; every tenth place gets its number instead.
_LEAST_CELL = 9.0


@dataclass(frozen=True)
class _Grid:
    """The grid of cells: their size, and the margin that the labels need."""

    cell: float
    margin: float

    @classmethod
    def of(cls, names: Sequence[str]) -> _Grid:
        cell = float(np.clip(860 / len(names), 3.5, 17))
        widest = max(text_width(shorten(name, _LONGEST), _FONT) for name in names)
        return cls(cell, 9 + widest if cell >= _LEAST_CELL else 34.0)

    def place(self, k: float) -> float:
        return self.margin + k * self.cell


def draw_matrix(
    adjacency: NDArray[Any],
    names: Sequence[str],
    order: Sequence[int],
    pvalues: NDArray[np.float64] | None = None,
    directions: Directions = UNKNOWN,
    numbers: Mapping[Edge, int] | None = None,
) -> Markup:
    """Return the adjacency matrix as SVG, rows (causes) and columns (effects) in the learned order.

    Parameters
    ----------
    adjacency, names, pvalues, numbers
        As in `draw_graph`.
    order : sequence of int
        Column indices, causes first: all edges are then above the diagonal.
    directions : Directions, optional
        Open edges are hollow squares with a tooltip.
    """
    grid = _Grid.of(names)
    side = grid.place(len(names)) + 4
    parts = [_frame(grid, len(names))]
    edges = {
        (cause, order[column]): (row, column)
        for row, cause in enumerate(order)
        for column in np.flatnonzero(adjacency[cause][np.asarray(order)]).tolist()
    }
    parts += _filled(grid, {e: at for e, at in edges.items() if not directions.is_open(e)}, pvalues, numbers or {})
    for edge, at in edges.items():
        if directions.is_open(edge):
            opacity = _opacity(_level(pvalues, edge))
            number = (numbers or {}).get(edge)
            parts.append(_hollow(grid, at, opacity, tip(names, edge, pvalues, directions), number))
    parts += _labels(grid, [names[node] for node in order])
    return Markup(
        '<svg class="matrix" viewBox="0 0 {side:.0f} {side:.0f}" width="{side:.0f}" height="{side:.0f}" '
        'style="min-width:{least:.0f}px" role="img" aria-label="Adjacency matrix in the learned order">{body}</svg>'
    ).format(side=side, least=min(side, max(0.62 * side, 300)), body=Markup("").join(parts))


def _frame(grid: _Grid, d: int) -> Markup:
    return Markup(
        '<rect class="field" x="{m:.1f}" y="{m:.1f}" width="{side:.1f}" height="{side:.1f}"/>'
        '<path class="diagonal" d="M{m:.1f} {m:.1f}L{far:.1f} {far:.1f}"/>'
    ).format(m=grid.margin, side=grid.cell * d, far=grid.place(d))


def _level(pvalues: NDArray[np.float64] | None, edge: Edge) -> int:
    return min(int(edge_strength(pvalue_of(pvalues, edge)) * _STRENGTHS), _STRENGTHS - 1)


def _opacity(level: int) -> float:
    return 0.4 + 0.6 * level / (_STRENGTHS - 1)


def _filled(
    grid: _Grid,
    edges: Mapping[Edge, tuple[int, int]],
    pvalues: NDArray[np.float64] | None,
    numbers: Mapping[Edge, int],
) -> list[Markup]:
    """Return one path per strength, not one element per cell, so that thousands of edges stay small."""
    path = Markup('<path class="cells" opacity="{o:.2f}" data-edges="{numbers}" d="{d}"/>')
    drawn = []
    for level in range(_STRENGTHS):
        members = [edge for edge in edges if _level(pvalues, edge) == level]
        squares = "".join(_square(grid, edges[edge]) for edge in members)
        known = " ".join(str(numbers[edge]) for edge in members if edge in numbers)
        if members:
            drawn.append(path.format(o=_opacity(level), numbers=known, d=squares))
    return drawn


def _square(grid: _Grid, at: tuple[int, int], inset: float = 0.0) -> str:
    side = grid.cell - min(1, grid.cell / 5) - 2 * inset
    x, y = grid.place(at[1]) + inset, grid.place(at[0]) + inset
    return f"M{x:.1f} {y:.1f}h{side:.1f}v{side:.1f}h{-side:.1f}z"


def _hollow(grid: _Grid, at: tuple[int, int], opacity: float, told: str, number: int | None) -> Markup:
    """Return the outline of a square; the path is inset by half of the stroke, which lies on both sides of it."""
    stroke = max(1.0, grid.cell / 7)
    return Markup(
        '<g class="open"{number} opacity="{o:.2f}"><title>{tip}</title><path d="{d}" stroke-width="{w:.1f}"/></g>'
    ).format(
        number="" if number is None else Markup(' data-edge="{}"').format(number),
        o=opacity,
        tip=told,
        d=_square(grid, at, stroke / 2),
        w=stroke,
    )


def _labels(grid: _Grid, names: list[str]) -> list[Markup]:
    text = Markup('<text class="{cls}" x="{x:.1f}" y="{y:.1f}"{turn}><title>{name}</title>{short}</text>')
    labels = []
    for k, name in enumerate(names):
        if grid.cell < _LEAST_CELL and (k + 1) % 10:
            continue
        short = shorten(name, _LONGEST) if grid.cell >= _LEAST_CELL else str(k + 1)
        at, edge = grid.place(k + 0.5) + 3.5, grid.margin - 5
        turn = Markup(' transform="rotate(-90 {x:.1f} {y:.1f})"').format(x=at, y=edge)
        labels.append(text.format(cls="row", x=edge, y=at, turn="", name=name, short=short))
        labels.append(text.format(cls="column", x=at, y=edge, turn=turn, name=name, short=short))
    return labels
