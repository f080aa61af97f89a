"""Which density the noise of a model has: normal, or the fitted one that gains most after its price.

The families of `core.densities` are nested: skewness and tails, any smooth density, densities with sharp flanks.
Variables without parents may also have densities with edges, such as uniform and exponential ones. A density that
rounds edges off loses tens of nats, and then the wrong direction of a pair wins, in which the cause is the effect.

Residuals of a variable with parents have no edges, because estimation errors blur them. If edges were allowed, a
needless parent that happens to blur them less would look like a true one. But then a variable with edges has a bonus
for having no parents. The bonus grows with the rows, and in long tables weak parents cannot make up for it. There a
variable with parents is therefore credited with what edges would gain it, up to what they gain the variable alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from heterodag.core.densities import (
    NORMAL,
    SHARP,
    SKEWED,
    SMOOTH,
    Densities,
    Density,
    ResidualSums,
    fit_families,
    price,
)
from heterodag.core.gaussian import Array, Index, Mask
from heterodag.scores.fit import LinearFit

#: Densities are fitted if a quadratic estimate of their gain is at least this share of the lowest price.
_HOPE = 0.5
#: An edge is tried if the density without it expects more rows than this beyond the outermost residual.
_BEYOND = 2.0
#: Densities with sharp flanks are tried for models within this many nats of the best one.
_NEAR = 60.0


#: Summarises the residuals of some models, for densities of at most a given size.
Described = Callable[[Index, int], ResidualSums]
#: What edges gain a variable without parents (nats), by its number.
Alone = Callable[[int], float]


def with_noise(
    fits: Sequence[LinearFit], E: Array, noise: str, owner: Index, alone: Alone | None = None, edges: bool = True
) -> list[LinearFit]:
    """Return models with the densities of their residuals E (models, n), and with losses under these densities.

    `owner` numbers the key of every model. Models of one key are compared: densities with sharp flanks are tried only
    for those near the best. Variables with parents are credited with edges if `alone` is given. Without `edges`, not even
    variables without parents have any.
    """
    return with_described_noise(fits, lambda some, size: ResidualSums.of(E[some], size), noise, owner, alone, edges)


def with_described_noise(
    fits: Sequence[LinearFit],
    described: Described,
    noise: str,
    owner: Index,
    alone: Alone | None = None,
    edges: bool = True,
) -> list[LinearFit]:
    """Do the same from sums of the residuals only."""
    if noise == "gaussian":
        return list(fits)
    found = _Choice(np.full(len(fits), 0.0 if noise == "auto" else -np.inf), [None] * len(fits))
    every = np.arange(len(fits))
    some = every if noise == "flexible" else _worth_trying(described(every, SMOOTH))
    if len(some):
        _offer_smooth(found, described(some, SMOOTH), some, np.array([edges and not fit.parents for fit in fits]))
    loss = np.array([fit.loss for fit in fits])
    best = np.full(owner.max() + 1, np.inf)
    np.minimum.at(best, owner, loss - found.gain)
    near = np.flatnonzero((loss - found.gain < best[owner] + _NEAR) & (found.gain > 0.0))
    if len(near):
        found.offer(fit_families(described(near, SHARP), (SHARP,))[0], near)
    loss -= found.gain + (0.0 if alone is None else _credits(fits, described, alone))
    return [
        replace(fit, loss=float(value), noise=density)
        for fit, value, density in zip(fits, loss, found.densities, strict=True)
    ]


def edge_gains(E: ResidualSums) -> Array:
    """Return what edges gain the densities of residuals (nats, prices paid), 0 where they gain nothing."""
    every = np.arange(len(E.least))
    smooth = _Choice(np.zeros(len(every)), [None] * len(every))
    for fitted in fit_families(E, (SKEWED, SMOOTH, SHARP)):
        smooth.offer(fitted, every)
    edged = _Choice(smooth.gain.copy(), [None] * len(every))
    _offer_edges(edged, E, every, fitted.beyond > _BEYOND)
    return edged.gain - smooth.gain


def _credits(fits: Sequence[LinearFit], described: Described, alone: Alone) -> Array:
    """Return what edges are worth to models with parents."""
    most = np.array([alone(fit.target) if fit.parents else 0.0 for fit in fits])
    some = np.flatnonzero(most > 0.0)
    if len(some):
        most[some] = np.minimum(most[some], edge_gains(described(some, SHARP)))
    return most


def _worth_trying(E: ResidualSums) -> Index:
    """Return the models whose residuals a density may describe better than the normal one, after its price."""
    estimate = 0.5 * E.rows * np.square(E.features[:, :SMOOTH]).sum(axis=1)
    return np.flatnonzero(estimate > _HOPE * price(E.rows, SKEWED))


@dataclass
class _Choice:
    """The best density so far of several models (None is the normal one), and what it gains after its price."""

    gain: Array
    densities: list[Density | None]

    def offer(self, fitted: Densities, models: Index) -> None:
        """Accept the densities fitted to some models where they gain more."""
        edges = np.isfinite(fitted.low).astype(int) + np.isfinite(fitted.high)
        free = price(fitted.rows, fitted.theta.shape[1]) + edges * price(fitted.rows, NORMAL, 1)
        gain = fitted.rows * fitted.gain - free
        for k in np.flatnonzero(gain > self.gain[models]):
            self.gain[models[k]], self.densities[models[k]] = gain[k], fitted.one(int(k))


def _offer_smooth(found: _Choice, E: ResidualSums, some: Index, roots: Mask) -> None:
    """Try smooth densities for some models, and edges for roots with fewer rows far out than expected."""
    for fitted in fit_families(E, (SKEWED, SMOOTH)):
        found.offer(fitted, some)
    _offer_edges(found, E, some, (fitted.beyond > _BEYOND) & roots[some, None])


def _offer_edges(found: _Choice, E: ResidualSums, some: Index, asked: Mask) -> None:
    """Try densities with the edges (models, 2) that are asked for."""
    few = np.flatnonzero(asked.any(axis=1))
    if len(few):
        edge = E.take(few)
        low = np.where(asked[few, 0], edge.least, -np.inf)
        high = np.where(asked[few, 1], edge.largest, np.inf)
        for fitted in fit_families(edge, (NORMAL, SKEWED, SMOOTH), low, high):
            found.offer(fitted, some[few])
