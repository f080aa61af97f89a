"""Compute where to draw the nodes and edges of a DAG: layers by longest path, few crossings, short edges.

The method of Sugiyama, Tagawa and Toda (1981): long edges get a bend in every layer they pass, layers are
reordered by barycentres, then every layer is moved as close as possible to its neighbours without overlaps
(an isotonic regression). Pure functions on the adjacency matrix, `adjacency[i, j] == 1` for i -> j.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterodag.core.graph import topological_layers

# Beyond this many bends the picture is a hairball anyway, and edges are drawn straight.
MAX_BENDS = 3000
_SWEEPS = 12
_BEND_SIZE = 0.3


@dataclass(frozen=True)
class GraphLayout:
    """Coordinates of a drawing, in either orientation.

    Attributes
    ----------
    rank : ndarray of shape (d,)
        The layer of every node: the coordinate along the arrows, causes first.
    across : ndarray of shape (d,)
        The coordinate within the layer, in the unit of the sizes given.
    routes : dict of (int, int) to ndarray of shape (k, 2)
        For every edge, the points (rank, across) it passes, including its two ends.
    n_ranks : int
        Number of layers, including the rows of isolated nodes.
    span : tuple of float
        The smallest and largest coordinate within the layers, of node centres and routes alike.
    """

    rank: NDArray[np.int64]
    across: NDArray[np.float64]
    routes: dict[tuple[int, int], NDArray[np.float64]]
    n_ranks: int
    span: tuple[float, float]

    @property
    def extent(self) -> float:
        """The distance between the two ends of `span`."""
        return self.span[1] - self.span[0]


def layered_layout(adjacency: Any, sizes: Any = None, row_length: int = 10) -> GraphLayout:
    """Place the nodes of a DAG in layers, causes first, with few crossings.

    Parameters
    ----------
    adjacency : array-like of shape (d, d)
        A DAG.
    sizes : array-like of shape (d,), optional
        The room each node needs within its layer, including the gap; 1 by default.
    row_length : int, default=10
        Nodes without any edge come last, in rows of this length.

    Returns
    -------
    GraphLayout
        The same graph always gives the same drawing.
    """
    edges = np.asarray(adjacency) != 0
    room = np.ones(len(edges)) if sizes is None else np.asarray(sizes, dtype=np.float64)
    rank, alone = node_ranks(edges), ~(edges.any(axis=0) | edges.any(axis=1))
    chains = _chains(edges, rank)
    layers, room = _with_bends(rank, alone, chains, room)
    links = [link for chain in chains.values() for link in pairwise(chain)]
    layers = _fewer_crossings(layers, _neighbours(links, len(room)))
    across = _coordinates(layers, _neighbours(links, len(room)), room)
    depth = np.zeros(len(room), dtype=np.int64)
    for k, layer in enumerate(layers):
        depth[layer] = k
    n_ranks = _place_alone(np.flatnonzero(alone), depth, across, room, len(layers), row_length)
    points = np.column_stack([depth, across])
    routes = {edge: points[chain] for edge, chain in chains.items()}
    span = (float(across.min(initial=0.0)), float(across.max(initial=0.0)))
    return GraphLayout(depth[: len(edges)], across[: len(edges)], routes, n_ranks, span)


def node_ranks(adjacency: Any) -> NDArray[np.int64]:
    """Return the layer of every node: its longest path from a root, but roots just above their first effect.

    Parameters
    ----------
    adjacency : array-like of shape (d, d)
        A DAG.
    """
    edges = np.asarray(adjacency) != 0
    rank = np.zeros(len(edges), dtype=np.int64)
    for k, layer in enumerate(topological_layers(edges)):
        rank[layer] = k
    for root in np.flatnonzero(~edges.any(axis=0) & edges.any(axis=1)):
        rank[root] = rank[edges[root]].min() - 1
    return rank


def bezier(route: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a smooth curve through the points of a route, along the arrows at both ends.

    Parameters
    ----------
    route : ndarray of shape (k, 2)
        Points (rank, across), as in `GraphLayout.routes`.

    Returns
    -------
    ndarray of shape (k - 1, 4, 2)
        For every segment of a cubic Bezier curve its start, two control points and end.
    """
    steps = np.diff(route, axis=0)
    slopes = steps[:, 1] / np.where(steps[:, 0] == 0, 1.0, steps[:, 0])
    # Limited as Fritsch and Carlson (1980) do, or the curve would overshoot its bends into a neighbour.
    least = 3 * np.minimum(np.abs(slopes[:-1]), np.abs(slopes[1:]))
    inner = np.clip((slopes[:-1] + slopes[1:]) / 2, -least, least) * (slopes[:-1] * slopes[1:] > 0)
    tangents = np.concatenate([[0.0], inner, [0.0]])
    reach = np.full(len(route), 1 / 3)
    reach[[0, -1]] = 0.5
    along = steps[:, :1]
    first = route[:-1] + along * reach[:-1, None] * np.column_stack([np.ones(len(steps)), tangents[:-1]])
    second = route[1:] - along * reach[1:, None] * np.column_stack([np.ones(len(steps)), tangents[1:]])
    return np.stack([route[:-1], first, second, route[1:]], axis=1)


def _chains(edges: NDArray[np.bool_], rank: NDArray[np.int64]) -> dict[tuple[int, int], list[int]]:
    """Return the nodes that every edge passes: its ends, with a new node for each layer between them."""
    pairs = [(int(i), int(j)) for i, j in np.argwhere(edges)]
    bends = sum(int(rank[j] - rank[i]) - 1 for i, j in pairs)
    chains, following = {}, len(rank)
    for i, j in pairs:
        count = int(rank[j] - rank[i]) - 1 if bends <= MAX_BENDS else 0
        chains[i, j] = [i, *range(following, following + count), j]
        following += count
    return chains


def _with_bends(
    rank: NDArray[np.int64],
    alone: NDArray[np.bool_],
    chains: dict[tuple[int, int], list[int]],
    room: NDArray[np.float64],
) -> tuple[list[list[int]], NDArray[np.float64]]:
    """Return the layers with bends and without isolated nodes, and the room that nodes and bends need."""
    joined = np.flatnonzero(~alone)
    layers: list[list[int]] = [[] for _ in range(int(rank[joined].max(initial=-1)) + 1)]
    for node in joined.tolist():
        layers[rank[node]].append(node)
    bends = 0
    for (cause, _), chain in chains.items():
        for step, bend in enumerate(chain[1:-1], start=1):
            layers[rank[cause] + step].append(bend)
            bends += 1
    unit = float(np.median(room)) if room.size else 1.0
    return layers, np.concatenate([room, np.full(bends, _BEND_SIZE * unit)])


def _neighbours(links: list[tuple[int, int]], count: int) -> tuple[list[list[int]], list[list[int]]]:
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for upper, lower in links:
        above[lower].append(upper)
        below[upper].append(lower)
    return above, below


def _fewer_crossings(layers: list[list[int]], neighbours: tuple[list[list[int]], list[list[int]]]) -> list[list[int]]:
    """Sort layers by the mean place of their neighbours, down and up in turn; return the best seen."""
    best, fewest = layers, crossings(layers, neighbours[1])
    current = [list(layer) for layer in layers]
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        fixed = neighbours[0] if downwards else neighbours[1]
        places = {node: float(k) for layer in current for k, node in enumerate(layer)}
        for k in range(len(current)) if downwards else reversed(range(len(current))):
            current[k] = _sorted_by_barycentre(current[k], fixed, places)
        count = crossings(current, neighbours[1])
        if count < fewest:
            best, fewest = [list(layer) for layer in current], count
    return best


def _sorted_by_barycentre(layer: list[int], fixed: list[list[int]], places: dict[int, float]) -> list[int]:
    def barycentre(node: int) -> float:
        around = fixed[node]
        return sum(places[other] for other in around) / len(around) if around else places[node]

    ranked = sorted(layer, key=barycentre)
    places.update({node: float(k) for k, node in enumerate(ranked)})
    return ranked


def crossings(layers: list[list[int]], below: list[list[int]]) -> int:
    """Return the number of pairs of links between neighbouring layers that cross.

    Parameters
    ----------
    layers : list of list of int
        The nodes of every layer, in their order.
    below : list of list of int
        For every node, its neighbours in the next layer.
    """
    total = 0
    for upper, lower in pairwise(layers):
        place = {node: k for k, node in enumerate(lower)}
        ends = [k for node in upper for k in sorted(place[child] for child in below[node] if child in place)]
        array = np.array(ends)
        total += sum(int((array[:k] > end).sum()) for k, end in enumerate(ends))
    return total


def _coordinates(
    layers: list[list[int]], neighbours: tuple[list[list[int]], list[list[int]]], room: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Centre every layer, then move each towards its neighbours, going down and up in turn."""
    across = np.zeros(len(room))
    offsets = [_offsets(room[layer]) for layer in layers]
    for layer, offset in zip(layers, offsets, strict=True):
        across[layer] = offset - offset.mean() if len(layer) else offset
    for sweep in range(2 * _SWEEPS):
        indices = range(len(layers)) if sweep % 2 == 0 else reversed(range(len(layers)))
        for k in indices:
            _pull(layers[k], neighbours, offsets[k], across)
    middle = (across.min(initial=0.0) + across.max(initial=0.0)) / 2
    return np.asarray(across - middle)


def _offsets(room: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the closest places without overlap: half of each neighbour's room between them."""
    if room.size == 0:
        return np.zeros(0)
    return np.concatenate([[0.0], np.cumsum((room[:-1] + room[1:]) / 2)])


def _pull(
    layer: list[int],
    neighbours: tuple[list[list[int]], list[list[int]]],
    offset: NDArray[np.float64],
    across: NDArray[np.float64],
) -> None:
    """Move one layer as close to its neighbours as order and distances allow, in least squares."""
    from scipy.optimize import isotonic_regression

    if not layer:
        return
    around = [neighbours[0][node] + neighbours[1][node] for node in layer]
    wanted = [across[others].mean() if others else across[node] for node, others in zip(layer, around, strict=True)]
    weights = [max(len(others), 1) for others in around]
    across[layer] = isotonic_regression(np.array(wanted) - offset, weights=weights).x + offset


def _place_alone(
    nodes: NDArray[np.int64],
    depth: NDArray[np.int64],
    across: NDArray[np.float64],
    room: NDArray[np.float64],
    first: int,
    row_length: int,
) -> int:
    """Put the nodes without edges into rows after the last layer; return the number of layers and rows."""
    row = first
    for start in range(0, len(nodes), row_length):
        members = nodes[start : start + row_length]
        offset = _offsets(room[members])
        depth[members], across[members] = row, offset - offset.mean()
        row += 1
    return row
