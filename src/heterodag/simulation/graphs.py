"""Random DAGs by name: plain functions from (d, degree, generator) to a matrix whose edges lead to later columns.

The paper's two kinds, ER and SF, and kinds from other benchmarks of causal discovery: small worlds, two sides, hubs,
chains, and graphs with half of all edges.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from heterodag.core.graph import Adjacency
from heterodag.errors import ParameterError, check_choice, check_integer

#: Share of the links of a small world that lead to a random variable; Watts and Strogatz (1998) vary it from 0 to 1.
REWIRED = 0.2


def random_graph(d: int, graph: str, degree: int, rng: Generator) -> Adjacency:
    """Return a random DAG of the named kind, with its columns in random order."""
    check_choice("graph", graph, GRAPHS)
    forward = _KINDS[graph][0](d, _check_degree(d, graph, degree), rng)
    place = rng.permutation(d)
    return forward[np.ix_(place, place)]


def _check_degree(d: int, graph: str, degree: int) -> int:
    low, high = _KINDS[graph][1](d)
    whole = check_integer("degree", degree, low=low)
    if whole > high and high >= low:
        raise ParameterError(
            "degree",
            f"be at most {high} for {graph} graphs with d = {d}",
            degree,
            "Lower it, raise `d`, or take another kind of graph.",
        )
    if whole > high:
        least = next(size for size in range(d, d + 10) if np.greater_equal(*_KINDS[graph][1](size)[::-1]))
        raise ParameterError("d", f"be at least {least} for {graph} graphs", d)
    return whole


def erdos_renyi(d: int, degree: int, rng: Generator) -> Adjacency:
    """Draw `degree * d` edges; all sets of that many forward pairs are equally likely."""
    # Pair number p = first[effect] + cause with cause < effect: no list of all pairs is needed.
    first = np.cumsum(np.arange(d)) - np.arange(d)
    pairs = rng.choice(d * (d - 1) // 2, size=degree * d, replace=False)
    effect = np.searchsorted(first, pairs, side="right") - 1
    adjacency = np.zeros((d, d), dtype=np.int8)
    adjacency[pairs - first[effect], effect] = 1
    return adjacency


def scale_free(d: int, degree: int, rng: Generator) -> Adjacency:
    """Give every new variable `degree` causes among the earlier ones; those with many links are chosen more often."""
    adjacency = np.zeros((d, d), dtype=np.int8)
    adjacency[0, 1 : degree + 1] = 1
    links = adjacency.sum(axis=0, dtype=np.float64) + adjacency.sum(axis=1)
    for node in range(degree + 1, d):
        chance = links[:node] / links[:node].sum()
        parents = rng.choice(node, size=degree, replace=False, p=chance)
        adjacency[parents, node] = 1
        links[parents] += 1
        links[node] = degree
    return adjacency


def small_world(d: int, degree: int, rng: Generator) -> Adjacency:
    """Link every variable to the next `degree` ones on a ring, rewire a fifth of the links, and order at random."""
    linked = np.zeros((d, d), dtype=bool)
    for step in range(1, degree + 1):
        for start in range(d):
            end = (start + step) % d
            free = np.flatnonzero(~linked[start] & (np.arange(d) != start))
            if rng.random() < REWIRED or linked[start, end]:
                end = int(rng.choice(free))
            linked[start, end] = linked[end, start] = True
    place = rng.permutation(d)
    return np.triu(linked[np.ix_(place, place)]).astype(np.int8)


def bipartite(d: int, degree: int, rng: Generator) -> Adjacency:
    """Draw `degree * d` edges from the first half of the variables, which have no causes, to the second half."""
    causes = d // 2
    chosen = rng.choice(causes * (d - causes), size=degree * d, replace=False)
    adjacency = np.zeros((d, d), dtype=np.int8)
    adjacency[chosen // (d - causes), causes + chosen % (d - causes)] = 1
    return adjacency


def hubs(d: int, degree: int, rng: Generator) -> Adjacency:
    """Link `degree` variables, at random places in the order, to all others."""
    chosen = rng.choice(d, size=degree, replace=False)
    linked = np.zeros((d, d), dtype=np.int8)
    linked[chosen, :] = linked[:, chosen] = 1
    return np.triu(linked, 1)


def chain(d: int, degree: int, rng: Generator) -> Adjacency:
    """Let every variable be caused by the `degree` ones before it."""
    return np.triu(np.tri(d, d, degree, dtype=np.int8), 1)


def dense(d: int, degree: int, rng: Generator) -> Adjacency:
    """Draw half of all forward pairs; the degree is ignored."""
    causes, effects = np.triu_indices(d, 1)
    chosen = rng.choice(len(causes), size=(len(causes) + 1) // 2, replace=False)
    adjacency = np.zeros((d, d), dtype=np.int8)
    adjacency[causes[chosen], effects[chosen]] = 1
    return adjacency


#: Kind of graph -> how it is drawn, and the smallest and largest degree for d columns.
_KINDS: dict[str, tuple[Callable[[int, int, Generator], Adjacency], Callable[[int], tuple[int, int]]]] = {
    "ER": (erdos_renyi, lambda d: (0, (d - 1) // 2)),
    "SF": (scale_free, lambda d: (1, d - 1)),
    "small-world": (small_world, lambda d: (1, (d - 1) // 2)),
    "bipartite": (bipartite, lambda d: (1, (d // 2) * (d - d // 2) // d)),
    "hubs": (hubs, lambda d: (1, d - 1)),
    "chain": (chain, lambda d: (1, d - 1)),
    "dense": (dense, lambda d: (0, d)),
}
GRAPHS = tuple(_KINDS)
