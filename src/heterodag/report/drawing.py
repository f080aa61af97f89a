"""Draw the graph in layers, as inline SVG.

Colours come from the page's style sheet, so that the drawing follows its light and dark modes. Every
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

from heterodag.report.words import describe_p
from heterodag.viz.directions import UNKNOWN, Directions
from heterodag.viz.layout import GraphLayout, bezier, layered_layout
from heterodag.viz.names import isolated, shorten, text_width
from heterodag.viz.summaries import edge_strength

PAGE_WIDTH = 1040
FONT = 13.0  # the size of labels, in the page's style sheet too
_PAD, _HEIGHT, _GAP = 10.0, 28.0, 26.0
_HEAD = 8.0

Edge = tuple[int, int]


@dataclass(frozen=True)
class _Frame:
    """A layout, and the conversion of its coordinates to pixels."""

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


def draw_graph(
    adjacency: NDArray[Any],
    names: Sequence[str],
    pvalues: NDArray[np.float64] | None = None,
    kinds: Mapping[Edge, str] | None = None,
    directions: Directions = UNKNOWN,
    numbers: Mapping[Edge, int] | None = None,
) -> Markup:
    """Return the graph as SVG, causes on top or, if that fits the page better, on the left.

    Parameters
    ----------
    adjacency : ndarray of shape (d, d)
        A DAG; ``adjacency[i, j] == 1`` means i -> j.
    names : sequence of str
        Labels; long ones are cut in the middle and given in full as a tooltip.
    pvalues : ndarray of shape (d, d), optional
        Smaller p-values make stronger arrows.
    kinds : mapping of edge to str, optional
        An extra CSS class per edge.
    directions : Directions, optional
        Open edges have no arrowhead; the tooltip says how sure the direction is.
    numbers : mapping of edge to int, optional
        Numbers by which the page's script identifies the edges.
    """
    widths = np.array([2 * _PAD + text_width(shorten(name), FONT) for name in names])
    frame = _fitting_frame(adjacency, widths)
    ports = _ports(frame)
    parts = []
    for edge, route in frame.layout.routes.items():
        strength, head = edge_strength(pvalue_of(pvalues, edge)), not directions.is_open(edge)
        about = _About(tip(names, edge, pvalues, directions), (kinds or {}).get(edge, ""), (numbers or {}).get(edge))
        parts.append(_edge(frame, edge, route, ports, strength, about, head))
    parts += [_node(frame, node, name) for node, name in enumerate(names)]
    width, height = frame.size
    return Markup(
        '<svg class="graph" viewBox="0 0 {w:.0f} {h:.0f}" width="{w:.0f}" height="{h:.0f}" '
        'style="min-width:{least:.0f}px" role="img" aria-label="Learned causal graph">{body}</svg>'
    ).format(w=width, h=height, least=min(width, max(0.62 * width, 300)), body=Markup("").join(parts))


@dataclass(frozen=True)
class _About:
    """What the drawing of an edge carries: its tooltip, its CSS class, its number."""

    tip: str
    kind: str
    number: int | None


def pvalue_of(pvalues: NDArray[np.float64] | None, edge: Edge) -> float:
    """Return the p-value of an edge, NaN where there is none."""
    return math.nan if pvalues is None else float(pvalues[edge])


def tip(names: Sequence[str], edge: Edge, pvalues: NDArray[np.float64] | None, directions: Directions) -> str:
    """Return the tooltip of an edge, which is also its alternative text."""
    direction = directions.phrase(edge)
    ends = [names[node] for node in edge]
    words = f"{' → '.join(isolated(name, [name]) for name in ends)}, {describe_p(pvalue_of(pvalues, edge))}"
    return f"{words}, {direction}" if direction else words


def _fitting_frame(adjacency: NDArray[Any], widths: NDArray[np.float64]) -> _Frame:
    """Return the frame with causes on top if that fits the page, otherwise the narrower of both directions."""
    per_row = max(3, int(PAGE_WIDTH / (widths.max() + _GAP)))
    down = _Frame(layered_layout(adjacency, widths + _GAP, per_row), widths, False, 78.0)
    if down.size[0] <= PAGE_WIDTH:
        return down
    tallest = max(8, int(np.bincount(down.layout.rank).max()))
    sizes = np.full(len(widths), _HEIGHT + 14)
    right = _Frame(layered_layout(adjacency, sizes, tallest), widths, True, widths.max() + 64)
    return right if right.size[0] < down.size[0] else down


def _ports(frame: _Frame) -> dict[tuple[Edge, int], float]:
    """Return the shift along a box's side at which each edge leaves (0) or arrives (1), chosen to avoid crossings."""
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
    about: _About,
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
        '<g class="edge {kind}"{number} opacity="{opacity:.2f}"><title>{tip}</title>'
        '<path class="line" d="{line}" stroke-width="{width:.1f}"/>{head}</g>'
    ).format(
        kind=about.kind,
        number="" if about.number is None else Markup(' data-edge="{}"').format(about.number),
        opacity=0.5 + 0.5 * strength,
        tip=about.tip,
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
        '<g class="node" data-node="{node}"><title>{name}</title><rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" '
        'height="{height:.0f}" rx="7"/><text x="{x:.1f}" y="{base:.1f}">{short}</text></g>'
    ).format(
        node=node,
        name=name,
        left=x - width / 2,
        top=y - _HEIGHT / 2,
        width=width,
        height=_HEIGHT,
        x=x,
        base=y + 4.5,
        short=shorten(name),
    )
