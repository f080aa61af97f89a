"""The noise of a mechanism: standard normal (None), or a density fitted to its residuals (`core.densities.Density`).

A fitted density, like the residuals, has mean 0 and standard deviation 1 only approximately: the mean of
`mu + sigma * noise` is then `mu + sigma * E[noise]` and its standard deviation `sigma * sd[noise]`.

All noise is made from standard normal numbers, by the increasing function that gives them the required distribution.
So the same seed gives the same normal numbers, whatever the intervention and whatever the density.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from heterodag.core.densities import Density
from heterodag.core.gaussian import Array

#: Probabilities are kept this far from 0 and 1 before they become normal numbers.
_TINY = 1e-12


def from_normal(noise: Density | None, normal: Array) -> Array:
    """Return noise made from standard normal numbers, which are returned unchanged if the noise is normal."""
    return normal if noise is None else noise.quantile(ndtr(normal))


def to_normal(noise: Density | None, values: Array) -> Array:
    """Return noise as standard normal numbers: the inverse of `from_normal`."""
    return values if noise is None else np.asarray(ndtri(np.clip(noise.cdf(values), _TINY, 1.0 - _TINY)))


def mean_and_sd(noise: Density | None, mu: Array, sigma: Array) -> tuple[Array, Array]:
    """Return mean and standard deviation of `mu + sigma * noise`."""
    return (mu, sigma) if noise is None else (mu + sigma * noise.mean, sigma * noise.sd)


def log_density(noise: Density | None, x: Array) -> Array:
    """Return the logarithm of the density of the noise."""
    return np.asarray(-0.5 * (x**2 + np.log(2.0 * np.pi))) if noise is None else noise.log_density(x)


def central_interval(noise: Density | None, level: float) -> tuple[float, float]:
    """Return the interval that holds the noise with probability `level`, with equal probabilities on either side."""
    if noise is None:
        width = float(ndtri(0.5 + level / 2.0))
        return -width, width
    low, high = noise.quantile(np.array([0.5 - level / 2.0, 0.5 + level / 2.0]))
    return float(low), float(high)
