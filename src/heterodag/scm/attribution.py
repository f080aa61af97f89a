"""Where the spread of a variable comes from: two exact decompositions.

**Variance, over noises.** In the model every variable is a function of independent noises: its own and those of its
ancestors. For a set S of them let `v(S) = Var(E[y | noises in S])`, the variance they explain alone. The share of one
noise is its Shapley value: its mean gain in v over all orders in which the noises can be added. Shares are never
negative and add up to the variance of y. Up to `EXACT` noises the sum runs over all subsets; with more, over random
orders. `v(S)` is the covariance of y with a copy of y that has the same noises in S and fresh ones elsewhere; the
noise of y itself is averaged out exactly, with its actual mean and standard deviation.

**Log spread, over parents.** `ln sigma` of y given its parents is a sum of functions of single parents. With
`v(S) = Var(sum over S)` the Shapley value of a parent is the covariance of its term with the whole sum: a closed
form. Correlated parents can have negative shares; all shares add up to one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import comb

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.scm.mechanism import Mechanism
from heterodag.scm.propagate import draw_noise, propagate, stream

#: Up to this many noises every subset is computed.
EXACT = 8
#: With more noises, the number of random orders.
ORDERS = 64


def variance_shares(
    mechanisms: Sequence[Mechanism], order: Sequence[int], n: int, seed: np.random.SeedSequence
) -> tuple[Array, float]:
    """Return each noise's part of the variance of the last variable of `order`, in that order, and the variance."""
    noise, fresh = (draw_noise(mechanisms, n, stream(seed, key)) for key in (3, 4))
    target, ancestors = order[-1], order[:-1]
    mean, sd = _moments(mechanisms, order, noise)
    total = float(mean.var() + np.mean(sd**2))
    known: dict[frozenset[int], float] = {}

    def explained(players: frozenset[int]) -> float:
        if players not in known:
            known[players] = _explained(mechanisms, order, (mean, sd), noise, fresh, players)
        return known[players]

    known[frozenset()], known[frozenset(order)] = 0.0, total
    players = [*ancestors, target]
    if len(players) <= EXACT:
        return shapley(players, explained), total
    return sampled_shapley(players, explained, stream(seed, 5)), total


def _explained(
    mechanisms: Sequence[Mechanism],
    order: Sequence[int],
    moments: tuple[Array, Array],
    noise: Array,
    fresh: Array,
    players: frozenset[int],
) -> float:
    mixed = fresh.copy()
    shared = [j for j in players if j != order[-1]]
    mixed[:, shared] = noise[:, shared]
    (mean, sd), (other_mean, other_sd) = moments, _moments(mechanisms, order, mixed)
    found = float(np.mean((mean - mean.mean()) * (other_mean - other_mean.mean())))
    return found + (float(np.mean(sd * other_sd)) if order[-1] in players else 0.0)


def _moments(mechanisms: Sequence[Mechanism], order: Sequence[int], noise: Array) -> tuple[Array, Array]:
    X = propagate(mechanisms, order[:-1], noise, {}, np.random.SeedSequence(0))
    last = mechanisms[order[-1]]
    return last.moments(X[:, list(last.parents)])


def shapley(players: Sequence[int], value: Callable[[frozenset[int]], float]) -> Array:
    """Return the Shapley values of all players, from the values of all subsets."""
    k, out = len(players), np.zeros(len(players))
    for i, player in enumerate(players):
        others = [p for p in players if p != player]
        for size in range(k):
            weight = 1.0 / (k * comb(k - 1, size))
            for subset in combinations(others, size):
                without = frozenset(subset)
                out[i] += weight * (value(without | {player}) - value(without))
    return out


def sampled_shapley(
    players: Sequence[int], value: Callable[[frozenset[int]], float], rng: np.random.Generator
) -> Array:
    """Return Shapley values averaged over random orders of the players; they still add up exactly."""
    out = np.zeros(len(players))
    for _ in range(ORDERS):
        added: frozenset[int] = frozenset()
        before = value(added)
        for i in rng.permutation(len(players)):
            added = added | {players[i]}
            after = value(added)
            out[i] += (after - before) / ORDERS
            before = after
    return out


def log_spread_shares(mechanism: Mechanism, parents: Array) -> Array:
    """Return each parent's share of the variance of `ln sigma` over the given rows of the parents; 0 if constant."""
    centre = parents.mean(axis=0)
    base = mechanism.log_precision(centre[None])
    terms = np.empty(parents.shape)
    for k in range(parents.shape[1]):
        rows = np.tile(centre, (len(parents), 1))
        rows[:, k] = parents[:, k]
        terms[:, k] = mechanism.log_precision(rows) - base
    whole = terms.sum(axis=1)
    variance = whole.var()
    if variance == 0.0:
        return np.zeros(parents.shape[1])
    return np.asarray(((terms - terms.mean(axis=0)) * (whole - whole.mean())[:, None]).mean(axis=0) / variance)
