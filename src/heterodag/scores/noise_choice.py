"""Which density the noise of a model has: normal, or the fitted one that gains most after its price.

The families of `core.densities` are nested: skewness and tails, any smooth density, densities with sharp flanks. Variables
without parents may also have densities with edges, as uniform and exponential ones have. A density that rounds edges off
loses tens of nats, and then the wrong direction of a pair, in which the cause is an effect, wins.

Residuals of a variable with parents have no edges, because estimation errors blur them. If they could, a needless parent
that blurs them less by chance would look like a true one.
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

#: Densities are fitted where a quadratic estimate of their gain is at least this share of the least price.
_HOPE = 0.5
#: An edge is tried where the density without it expects more rows than this beyond the outermost residual.
_BEYOND = 2.0
#: Densities with sharp flanks are tried for models within this many nats of the best one.
_NEAR = 60.0


#: Sums up the residuals of some models, for densities of at most a given size.
Described = Callable[[Index, int], ResidualSums]


def with_noise(fits: Sequence[LinearFit], E: Array, noise: str, owner: Index) -> list[LinearFit]:
    """Return models with the densities of their residuals E (models, n), and losses under these.

    Models of one `owner` (a number each) are compared: sharp densities are tried only for those near the best.
    """
    return with_described_noise(fits, lambda some, size: ResidualSums.of(E[some], size), noise, owner)


def with_described_noise(
    fits: Sequence[LinearFit], described: Described, noise: str, owner: Index
) -> list[LinearFit]:
    """Do the same where only sums of the residuals are at hand."""
    if noise == "gaussian":
        return list(fits)
    found = _Choice(np.full(len(fits), 0.0 if noise == "auto" else -np.inf), [None] * len(fits))
    every = np.arange(len(fits))
    some = every if noise == "flexible" else _worth_trying(described(every, SMOOTH))
    if len(some):
        _offer_smooth(found, described(some, SMOOTH), some, np.array([not fit.parents for fit in fits]))
    loss = np.array([fit.loss for fit in fits])
    best = np.full(owner.max() + 1, np.inf)
    np.minimum.at(best, owner, loss - found.gain)
    near = np.flatnonzero((loss - found.gain < best[owner] + _NEAR) & (found.gain > 0.0))
    if len(near):
        found.offer(fit_families(described(near, SHARP), (SHARP,))[0], near)
    return [
        replace(fit, loss=float(value), noise=density)
        for fit, value, density in zip(fits, loss - found.gain, found.densities, strict=True)
    ]


def _worth_trying(E: ResidualSums) -> Index:
    """Return the models whose residuals a density may describe better than the normal one, its price paid."""
    estimate = 0.5 * E.rows * np.square(E.features[:, :SMOOTH]).sum(axis=1)
    return np.flatnonzero(estimate > _HOPE * price(E.rows, SKEWED))


@dataclass
class _Choice:
    """The best density so far of several models (None is the normal one), and what it gains after its price."""

    gain: Array
    densities: list[Density | None]

    def offer(self, fitted: Densities, models: Index) -> None:
        """Take the densities fitted to some models where they gain more."""
        edges = np.isfinite(fitted.low).astype(int) + np.isfinite(fitted.high)
        free = price(fitted.rows, fitted.theta.shape[1]) + edges * price(fitted.rows, NORMAL, 1)
        gain = fitted.rows * fitted.gain - free
        for k in np.flatnonzero(gain > self.gain[models]):
            self.gain[models[k]], self.densities[models[k]] = gain[k], fitted.one(int(k))


def _offer_smooth(found: _Choice, E: ResidualSums, some: Index, roots: Mask) -> None:
    """Try smooth densities for some models, and with edges for roots that have fewer rows far out than expected."""
    for fitted in fit_families(E, (SKEWED, SMOOTH)):
        found.offer(fitted, some)
    asked = (fitted.beyond > _BEYOND) & roots[some, None]
    few = np.flatnonzero(asked.any(axis=1))
    if len(few):
        edge = E.take(few)
        low = np.where(asked[few, 0], edge.least, -np.inf)
        high = np.where(asked[few, 1], edge.largest, np.inf)
        for fitted in fit_families(edge, (NORMAL, SKEWED, SMOOTH), low, high):
            found.offer(fitted, some[few])
