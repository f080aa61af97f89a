"""Inline SVG of the report: the graph in layers, the adjacency matrix, and normal Q-Q panels.

Colours come from the page's style sheet, so that the pictures follow its light and dark modes. Every
name goes through `Markup.format`, which escapes it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from heterodag.viz.directions import UNKNOWN, Directions
from heterodag.viz.layout import GraphLayout, bezier, layered_layout
from heterodag.viz.summaries import edge_strength

PAGE_WIDTH = 1040
_CHAR, _PAD, _HEIGHT, _GAP = 7.4, 11.0, 28.0, 26.0
_LONGEST = 18
_HEAD = 8.0
_STRENGTHS = 4

Edge = tuple[int, int]


@dataclass(frozen=True)
class _Frame:
    """A layout with the way from its coordinates to pixels."""

    layout: GraphLayout
    widths: NDArray[np.float64]
    across_page: bool
    gap: float

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the picture."""
        long = (self.layout.n_ranks - 1) * self.gap
        if self.across_page:
            return long + self.widths.max() + 20, self.layout.extent + _HEIGHT + 20
        return self.layout.extent + self.widths.max() + 20, long + _HEIGHT + 20

    def pixel(self, rank: float, across: float) -> tuple[float, float]:
        """Return the place on the page of a point of the layout."""
        offset = across - self.layout.span[0]
        if self.across_page:
            return rank * self.gap + self.widths.max() / 2 + 10, offset + _HEIGHT / 2 + 10
        return offset + self.widths.max() / 2 + 10, rank * self.gap + _HEIGHT / 2 + 10

    def half(self, node: int) -> tuple[float, float]:
        """Return half of the node's box along the arrows (in ranks) and across them (in pixels)."""
        width, height = self.widths[node] / 2, _HEIGHT / 2
        return (width / self.gap, height) if self.across_page else (height / self.gap, width)


def shorten(name: str, longest: int = _LONGEST) -> str:
    """Return the name, its end cut off if it is longer than `longest` characters."""
    return name if len(name) <= longest else name[: longest - 1] + "…"


def draw_graph(
    adjacency: NDArray[Any],
    names: Sequence[str],
    pvalues: NDArray[np.float64] | None = None,
    kinds: Mapping[Edge, str] | None = None,
    directions: Directions = UNKNOWN,
) -> Markup:
    """Return the graph as SVG, causes on top or, if that fits the page better, on the left.

    Parameters
    ----------
    adjacency : ndarray of shape (d, d)
        A DAG; ``adjacency[i, j] == 1`` means i -> j.
    names : sequence of str
        Labels; long ones are cut off and given in full as a tooltip.
    pvalues : ndarray of shape (d, d), optional
        Smaller ones make firmer arrows.
    kinds : mapping of edge to str, optional
        An extra CSS class per edge.
    directions : Directions, optional
        Open edges have no arrowhead; the tooltip says how sure the direction is.
    """
    widths = np.array([2 * _PAD + _CHAR * len(shorten(name)) for name in names])
    frame = _fitting_frame(adjacency, widths)
    ports = _ports(frame)
    parts = []
    for edge, route in frame.layout.routes.items():
        strength, head = edge_strength(_pvalue(pvalues, edge)), not directions.is_open(edge)
        tip = _tip(names, edge, pvalues, directions)
        parts.append(_edge(frame, edge, route, ports, strength, tip, (kinds or {}).get(edge, ""), head))
    parts += [_node(frame, node, name) for node, name in enumerate(names)]
    width, height = frame.size
    return Markup(
        '<svg class="graph" viewBox="0 0 {w:.0f} {h:.0f}" width="{w:.0f}" height="{h:.0f}" '
        'style="min-width:{least:.0f}px" role="img" aria-label="Learned causal graph">{body}</svg>'
    ).format(w=width, h=height, least=min(width, max(0.62 * width, 300)), body=Markup("").join(parts))


def _pvalue(pvalues: NDArray[np.float64] | None, edge: Edge) -> float:
    return math.nan if pvalues is None else float(pvalues[edge])


def _tip(names: Sequence[str], edge: Edge, pvalues: NDArray[np.float64] | None, directions: Directions) -> str:
    """Return the tooltip of an edge, which is also its alternative text."""
    direction = directions.phrase(edge)
    words = f"{names[edge[0]]} → {names[edge[1]]}, {describe_p(_pvalue(pvalues, edge))}"
    return f"{words}, {direction}" if direction else words


def _fitting_frame(adjacency: NDArray[Any], widths: NDArray[np.float64]) -> _Frame:
    """Causes on top if that fits the page, else whichever direction is narrower."""
    per_row = max(3, int(PAGE_WIDTH / (widths.max() + _GAP)))
    down = _Frame(layered_layout(adjacency, widths + _GAP, per_row), widths, False, 78.0)
    if down.size[0] <= PAGE_WIDTH:
        return down
    tallest = max(8, int(np.bincount(down.layout.rank).max()))
    sizes = np.full(len(widths), _HEIGHT + 14)
    right = _Frame(layered_layout(adjacency, sizes, tallest), widths, True, widths.max() + 64)
    return right if right.size[0] < down.size[0] else down


def _ports(frame: _Frame) -> dict[tuple[Edge, int], float]:
    """Return the shift along a box's side at which each edge leaves (0) or arrives (1), crossings avoided."""
    sides: dict[tuple[int, int], list[tuple[float, Edge]]] = {}
    for edge, route in frame.layout.routes.items():
        sides.setdefault((edge[0], 0), []).append((float(route[1, 1]), edge))
        sides.setdefault((edge[1], 1), []).append((float(route[-2, 1]), edge))
    shifts = {}
    for (node, end), members in sides.items():
        room = 1.5 * frame.half(node)[1] / len(members)
        for k, (_, edge) in enumerate(sorted(members)):
            shifts[edge, end] = (k - (len(members) - 1) / 2) * min(11.0, room)
    return shifts


def _edge(
    frame: _Frame,
    edge: Edge,
    route: NDArray[np.float64],
    ports: Mapping[tuple[Edge, int], float],
    strength: float,
    tip: str,
    kind: str,
    has_head: bool,
) -> Markup:
    course = route.copy()
    course[0] += [frame.half(edge[0])[0], ports[edge, 0]]
    course[-1] += [-frame.half(edge[1])[0] - has_head * _HEAD / frame.gap, ports[edge, 1]]
    pixels = [[frame.pixel(*point) for point in segment] for segment in bezier(course)]
    line = "M{:.1f} {:.1f}".format(*pixels[0][0])
    for segment in pixels:
        line += "C" + " ".join(f"{x:.1f} {y:.1f}" for x, y in segment[1:])
    return Markup(
        '<g class="edge {kind}" opacity="{opacity:.2f}"><title>{tip}</title>'
        '<path class="line" d="{line}" stroke-width="{width:.1f}"/>{head}</g>'
    ).format(
        kind=kind,
        opacity=0.5 + 0.5 * strength,
        tip=tip,
        line=line,
        width=1.2 + 1.8 * strength,
        head=_head(frame, *pixels[-1][-1]) if has_head else "",
    )


def _head(frame: _Frame, x: float, y: float) -> Markup:
    half = _HEAD / 2
    if frame.across_page:
        outline = f"M{x:.1f} {y - half:.1f}l{_HEAD} {half}l{-_HEAD} {half}z"
    else:
        outline = f"M{x - half:.1f} {y:.1f}l{half} {_HEAD}l{half} {-_HEAD}z"
    return Markup('<path class="head" d="{d}"/>').format(d=outline)


def _node(frame: _Frame, node: int, name: str) -> Markup:
    x, y = frame.pixel(float(frame.layout.rank[node]), float(frame.layout.across[node]))
    width = float(frame.widths[node])
    return Markup(
        '<g class="node"><title>{name}</title><rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" '
        'height="{height:.0f}" rx="7"/><text x="{x:.1f}" y="{base:.1f}">{short}</text></g>'
    ).format(
        name=name,
        left=x - width / 2,
        top=y - _HEIGHT / 2,
        width=width,
        height=_HEIGHT,
        x=x,
        base=y + 4.5,
        short=shorten(name),
    )


def describe_p(p: float) -> str:
    """Return a p-value in words: 'p = 2.1e-05', 'p < 1e-300' or 'not tested'."""
    if math.isnan(p):
        return "not tested"
    return f"p = {p:.2g}" if p >= 1e-300 else "p < 1e-300"


def draw_matrix(
    adjacency: NDArray[Any],
    names: Sequence[str],
    order: Sequence[int],
    pvalues: NDArray[np.float64] | None = None,
    directions: Directions = UNKNOWN,
) -> Markup:
    """Return the adjacency matrix as SVG, rows (causes) and columns (effects) in the learned order.

    Parameters
    ----------
    adjacency, names, pvalues
        As in `draw_graph`.
    order : sequence of int
        Column indices, causes first: all edges are then above the diagonal.
    directions : Directions, optional
        Open edges are hollow squares with a tooltip.
    """
    d = len(names)
    cell = float(np.clip(860 / d, 3.5, 17))
    margin = 9 + 6.2 * max(len(shorten(name, 14)) for name in names) if cell >= 9 else 34.0
    side = margin + cell * d + 4
    parts = [_matrix_frame(d, cell, margin)]
    parts += _matrix_cells(adjacency, names, order, pvalues, directions, cell, margin)
    parts += _matrix_labels([names[node] for node in order], cell, margin)
    return Markup(
        '<svg class="matrix" viewBox="0 0 {side:.0f} {side:.0f}" width="{side:.0f}" height="{side:.0f}" '
        'role="img" aria-label="Adjacency matrix in the learned order">{body}</svg>'
    ).format(side=side, body=Markup("").join(parts))


def _matrix_frame(d: int, cell: float, margin: float) -> Markup:
    side, far = cell * d, margin + cell * d
    return Markup(
        '<rect class="field" x="{m:.1f}" y="{m:.1f}" width="{side:.1f}" height="{side:.1f}"/>'
        '<path class="diagonal" d="M{m:.1f} {m:.1f}L{far:.1f} {far:.1f}"/>'
    ).format(m=margin, side=side, far=far)


def _matrix_cells(
    adjacency: NDArray[Any],
    names: Sequence[str],
    order: Sequence[int],
    pvalues: NDArray[np.float64] | None,
    directions: Directions,
    cell: float,
    margin: float,
) -> list[Markup]:
    """One path per strength, not one element per cell: thousands of edges stay small. Only open ones have their own."""
    squares: list[list[str]] = [[] for _ in range(_STRENGTHS)]
    hollow = []
    for row, cause in enumerate(order):
        for column in np.flatnonzero(adjacency[cause][np.asarray(order)]).tolist():
            edge = cause, order[column]
            level = min(int(edge_strength(_pvalue(pvalues, edge)) * _STRENGTHS), _STRENGTHS - 1)
            x, y, side = margin + column * cell, margin + row * cell, cell - min(1, cell / 5)
            if directions.is_open(edge):
                hollow.append(_hollow(x, y, side, _opacity(level), _tip(names, edge, pvalues, directions)))
            else:
                squares[level].append(_square(x, y, side))
    filled = [
        Markup('<path class="cells" opacity="{o:.2f}" d="{d}"/>').format(o=_opacity(level), d="".join(paths))
        for level, paths in enumerate(squares)
        if paths
    ]
    return filled + hollow


def _opacity(level: int) -> float:
    return 0.4 + 0.6 * level / (_STRENGTHS - 1)


def _square(x: float, y: float, side: float) -> str:
    return f"M{x:.1f} {y:.1f}h{side:.1f}v{side:.1f}h{-side:.1f}z"


def _hollow(x: float, y: float, side: float, opacity: float, tip: str) -> Markup:
    """Return the outline of a square; the path is inset by half of the stroke, which lies on both sides of it."""
    stroke = max(1.0, side / 7)
    return Markup(
        '<g class="open" opacity="{o:.2f}"><title>{tip}</title><path d="{d}" stroke-width="{w:.1f}"/></g>'
    ).format(o=opacity, tip=tip, d=_square(x + stroke / 2, y + stroke / 2, side - stroke), w=stroke)


def _matrix_labels(names: list[str], cell: float, margin: float) -> list[Markup]:
    text = Markup('<text class="{cls}" x="{x:.1f}" y="{y:.1f}"{turn}><title>{name}</title>{short}</text>')
    labels = []
    for k, name in enumerate(names):
        if cell < 9 and (k + 1) % 10:
            continue
        short, middle = shorten(name, 14) if cell >= 9 else str(k + 1), margin + (k + 0.5) * cell
        turn = Markup(' transform="rotate(-90 {x:.1f} {y:.1f})"').format(x=middle + 3.5, y=margin - 5)
        labels.append(text.format(cls="row", x=margin - 5, y=middle + 3.5, turn="", name=name, short=short))
        labels.append(text.format(cls="column", x=middle + 3.5, y=margin - 5, turn=turn, name=name, short=short))
    return labels


def draw_qq(theory: NDArray[np.float64], observed: NDArray[np.float64], limit: float = 4.5) -> Markup:
    """Return one normal Q-Q panel as SVG, both axes from -limit to limit; points beyond lie on the border.

    Parameters
    ----------
    theory, observed : ndarray of shape (k,)
        Quantiles, as from `heterodag.viz.summaries.normal_quantiles`.
    limit : float, default=4.5
        The end of both axes, in standard deviations.
    """
    side = 150.0

    def scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return (np.clip(values, -limit, limit) / limit + 1) / 2 * (side - 8) + 4

    xs, ys = scaled(theory), side - scaled(observed)
    dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in zip(xs, ys, strict=True))
    return Markup(
        '<svg class="qq" viewBox="0 0 {s:.0f} {s:.0f}" width="{s:.0f}" height="{s:.0f}" aria-hidden="true">'
        '<rect class="field" x="0.5" y="0.5" width="{inner:.0f}" height="{inner:.0f}"/>'
        '<path class="diagonal" d="M4 {low:.0f}L{low:.0f} 4"/><path class="dots" d="{dots}"/></svg>'
    ).format(s=side, inner=side - 1, low=side - 4, dots=dots)
