"""Densities of standardised noise: an exponential family around the normal distribution, fitted to residuals.

`ln f(x) = -x^2/2 + theta' phi(x) - ln Z(theta)`, with features phi that can make a density skewed, flat, peaked, two-humped
or heavy in either tail. All are bounded or grow no faster than x^2, so a single far residual cannot bend the rest. `Z` is
an integral over the whole reach of the residuals and beyond (a grid that widens with the distance from 0): were it cut
short, the tails would be free of charge, and whatever has the heaviest tails would look best.

`theta` maximises the likelihood (the problem is concave; Newton) with a ridge of one observation's weight on features that
are orthonormal under the normal distribution. Only the mean features of the residuals enter, so a fit costs one pass over
them and some algebra on the grid; many densities are fitted at once.

The gain of a density over the normal one, in nats per row, is an estimate of the negentropy of the noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from heterodag.core.gaussian import Array, Mask

#: Points of the grid. With 321, integrals of the sharpest densities in use are right to 4e-4.
_POINTS = 321
#: Points of the finer grid behind quantiles, probabilities, mean and standard deviation of one density.
_FINE_POINTS = 8001
#: The grid is dense within about this many standard deviations, then widens.
_DENSE = 0.3
#: Least reach of the grid; it doubles until it exceeds the farthest residual by a quarter.
_LEAST_REACH = 8.0
#: Newton steps, the fall of the objective at which they end, and how often a step is halved.
_STEPS, _ENOUGH, _HALVINGS = 50, 1e-7, 40
#: Longest step in the natural parameters.
_LONGEST = 4.0
#: Where the features for sharp edges have their steps, on both sides of 0 (uniform and exponential noise have edges), and
#: how wide these are. Steps come in pairs, an odd and an even feature: noise and its mirror image get the same density.
_EDGES, _EDGE_WIDTH = 1.9 * np.array([1.0, 3.0, 5.0, 7.0]) / 7.0, 0.35
#: Sizes of the two families: smooth densities, and those with edges. Two features of each are mean and variance, which the
#: normal density has as well.
SMOOTH, SHARP = 7, 7 + 2 * len(_EDGES)
LOG_ROOT_2PI = 0.5 * float(np.log(2.0 * np.pi))


def raw_features(x: Array, size: int) -> Array:
    """Return the first features (size, ...) at points (...): tails first, then the centre, then sharp edges."""
    out, square = np.empty((size, *x.shape)), x * x
    root, bump = np.sqrt(1.0 + square), np.exp(-0.5 * square)
    out[0], out[1], out[2], out[3], out[4], out[5], out[6] = x, square, root, np.log(root), x / root, bump, x * bump
    for k, place in enumerate(_EDGES[: max(size - SMOOTH, 0) // 2]):
        right, left = np.tanh((x - place) / _EDGE_WIDTH), np.tanh((x + place) / _EDGE_WIDTH)
        out[SMOOTH + 2 * k], out[SMOOTH + 2 * k + 1] = right + left, left - right
    return out


def raw_slopes(x: Array) -> Array:
    """Return the derivatives of the features (..., features) at points (...)."""
    square = x * x
    root, bump = np.sqrt(1.0 + square), np.exp(-0.5 * square)
    smooth = [np.ones_like(x), 2.0 * x, x / root, x / (1.0 + square), 1.0 / root**3, -x * bump, (1.0 - square) * bump]
    right, left = (
        (1.0 - np.tanh((x[..., None] + side * _EDGES) / _EDGE_WIDTH) ** 2) / _EDGE_WIDTH for side in (-1, 1)
    )
    edges = np.stack([right + left, left - right], axis=-1).reshape(*x.shape, -1)
    return np.concatenate([np.stack(smooth, axis=-1), edges], axis=-1)


@dataclass(frozen=True)
class _Grid:
    """Points, logarithms of their weights times the normal density, orthonormal features, products of these."""

    x: Array
    log_weight: Array
    features: Array
    products: Array


@lru_cache(maxsize=1)
def _orthonormal() -> tuple[Array, Array]:
    """Return centre (k,) and turn (k, k): `(phi - centre) @ turn` are orthonormal under the normal distribution."""
    x = np.linspace(-_LEAST_REACH, _LEAST_REACH, 4001)
    weight, phi = np.exp(-0.5 * x * x), raw_features(x, SHARP)
    weight /= weight.sum()
    centre = phi @ weight
    centred = phi - centre[:, None]
    return centre, np.linalg.inv(np.linalg.cholesky((centred * weight) @ centred.T)).T


def features(x: Array, size: int = SHARP) -> Array:
    """Return the first orthonormal features (..., size) at points (...)."""
    centre, turn = _orthonormal()
    return np.asarray(
        np.tensordot(raw_features(x, size), turn[:size, :size], (0, 0)) - centre[:size] @ turn[:size, :size]
    )


@lru_cache(maxsize=64)
def _grid(reach: float, size: int) -> _Grid:
    end = float(np.arcsinh(reach / _DENSE))
    t, step = np.linspace(-end, end, _POINTS, retstep=True)
    x = _DENSE * np.sinh(t)
    log_weight = -0.5 * x * x - LOG_ROOT_2PI + np.log(_DENSE * np.cosh(t) * step)
    phi = features(x, size)
    return _Grid(x, log_weight, phi, (phi[:, :, None] * phi[:, None, :]).reshape(len(x), -1))


def reach_of(farthest: Array) -> Array:
    """Return how far the grids go for residuals of given largest sizes: powers of two, so that few grids are needed."""
    wanted = np.maximum(1.25 * farthest, _LEAST_REACH)
    return np.asarray(2.0 ** np.ceil(np.log2(wanted)))


@dataclass(frozen=True, eq=False)
class Density:
    """The density of one variable's noise.

    Attributes
    ----------
    theta : (k,) natural parameters on the orthonormal features.
    log_z : logarithm of the integral.
    reach : how far the grid went.
    """

    theta: Array
    log_z: float
    reach: float

    def log_ratio(self, x: Array) -> Array:
        """Return `ln f(x)` minus the logarithm of the standard normal density."""
        return np.asarray(features(x, len(self.theta)) @ self.theta - self.log_z)

    def slope(self, x: Array) -> Array:
        """Return minus the derivative of `ln f`: x itself for the normal density."""
        size = len(self.theta)
        return np.asarray(x - raw_slopes(x)[..., :size] @ (_orthonormal()[1][:size, :size] @ self.theta))

    def log_density(self, x: Array) -> Array:
        """Return `ln f(x)`, with its constant.

        Beyond the reach, where no residual was and the integral ends, the features say nothing: `ln f` goes on along a
        straight line, as steep as it was there and never less steep than 1 / reach, so that it falls.
        """
        inside = np.clip(x, -self.reach, self.reach)
        left, right = self.slope(np.array([-self.reach, self.reach])) * (-1.0, 1.0)
        steep = np.maximum(np.where(x < 0.0, left, right), 1.0 / self.reach)
        return np.asarray(self.log_ratio(inside) - 0.5 * inside * inside - LOG_ROOT_2PI - steep * np.abs(x - inside))

    def quantile(self, p: Array) -> Array:
        """Return the points below which the noise lies with probabilities p."""
        found = _tabulated(self)
        return np.interp(p, found.below, found.x)

    def cdf(self, x: Array) -> Array:
        """Return the probabilities of noise below x."""
        found = _tabulated(self)
        return np.interp(x, found.x, found.below)

    @property
    def total(self) -> float:
        """The integral of the density over its reach: 1, up to the error of the grid behind `log_z`."""
        return _tabulated(self).total

    @property
    def mean(self) -> float:
        """Mean of the noise: about 0, as that of residuals."""
        return _tabulated(self).mean

    @property
    def sd(self) -> float:
        """Standard deviation of the noise: about 1, as that of residuals."""
        return _tabulated(self).sd


@dataclass(frozen=True)
class _Tabulated:
    """A density on a fine grid: points, probabilities below them, the integral before it was made 1, mean and sd."""

    x: Array
    below: Array
    total: float
    mean: float
    sd: float


@lru_cache(maxsize=128)
def _tabulated(density: Density) -> _Tabulated:
    x = np.sinh(np.linspace(-1.0, 1.0, _FINE_POINTS) * np.arcsinh(density.reach / _DENSE)) * _DENSE
    f = np.exp(density.log_ratio(x) - 0.5 * x * x - LOG_ROOT_2PI)
    mass, middle = 0.5 * (f[1:] + f[:-1]) * np.diff(x), 0.5 * (x[1:] + x[:-1])
    below = np.concatenate([[0.0], np.cumsum(mass)])
    mass /= below[-1]
    mean = float(mass @ middle)
    return _Tabulated(x, below / below[-1], float(below[-1]), mean, float(np.sqrt(mass @ (middle - mean) ** 2)))


@dataclass(frozen=True, eq=False)
class Densities:
    """Densities fitted to several samples: `theta` (m, k), `log_z`, `reach` and the `gain` per row (m,)."""

    theta: Array
    log_z: Array
    reach: Array
    gain: Array

    def one(self, i: int) -> Density:
        """Return one of them."""
        return Density(self.theta[i], float(self.log_z[i]), float(self.reach[i]))


def price(n: int, size: int) -> float:
    """Return what a density of that many features must gain (nats, all rows together): BIC, half of ln n for each."""
    return 0.5 * (size - 2) * float(np.log(n))


def fit_densities(E: Array, size: int = SMOOTH) -> Densities:
    """Fit a density with the first `size` features to every row (m, n) of residuals."""
    m, n = E.shape
    centre, turn = _orthonormal()
    moments = (raw_features(E, size).mean(axis=2).T - centre[:size]) @ turn[:size, :size]
    reach = reach_of(np.abs(E).max(axis=1))
    theta, log_z = np.zeros(moments.shape), np.zeros(m)
    for far in np.unique(reach):
        own = reach == far
        theta[own], log_z[own] = _newton(_grid(float(far), size), moments[own], 1.0 / n)
    gain = np.einsum("mk,mk->m", theta, moments) - log_z
    return Densities(theta, log_z, reach, gain)


def _log_partition(grid: _Grid, theta: Array) -> tuple[Array, Array]:
    """Return `ln Z` (m,) and the probabilities (m, points) of the grid."""
    exponent = theta @ grid.features.T + grid.log_weight
    top = exponent.max(axis=1, keepdims=True)
    mass = np.exp(exponent - top)
    total = mass.sum(axis=1, keepdims=True)
    return (np.log(total) + top)[:, 0], mass / total


def _newton(grid: _Grid, moments: Array, ridge: float) -> tuple[Array, Array]:
    """Return the parameters (m, k) with the largest penalised likelihood, and `ln Z` there."""
    m, k = moments.shape
    theta, active = np.zeros((m, k)), np.arange(m)
    log_z, mass = _log_partition(grid, theta)
    for _ in range(_STEPS):
        mean = mass @ grid.features
        gradient = mean - moments[active] + ridge * theta[active]
        second = (mass @ grid.products).reshape(len(active), k, k)
        second -= mean[:, :, None] * mean[:, None, :]
        second.reshape(len(active), -1)[:, :: k + 1] += ridge + 1e-10
        step = -np.linalg.solve(second, gradient[:, :, None])[:, :, 0]
        promise = -0.5 * np.einsum("mk,mk->m", gradient, step)
        going = promise > _ENOUGH
        if not going.any():
            break
        active, step = active[going], step[going]
        step *= np.minimum(1.0, _LONGEST / np.linalg.norm(step, axis=1))[:, None]
        theta[active], log_z[active], mass = _search(
            grid, theta[active], step, moments[active], ridge, log_z[active], promise[going]
        )
    return theta, log_z


def _search(
    grid: _Grid, theta: Array, step: Array, moments: Array, ridge: float, log_z: Array, promise: Array
) -> tuple[Array, Array, Array]:
    """Halve the steps until the objective falls; return the new parameters, `ln Z` and probabilities."""

    def objective(value: Array, at: Array, z: Array) -> Array:
        return np.asarray(z - np.einsum("mk,mk->m", at, value) + 0.5 * ridge * np.einsum("mk,mk->m", at, at))

    before, length = objective(moments, theta, log_z), np.ones(len(theta))
    for _ in range(_HALVINGS):
        new = theta + length[:, None] * step
        z, mass = _log_partition(grid, new)
        worse: Mask = ~(objective(moments, new, z) <= before - 1e-3 * length * promise)
        if not worse.any():
            return new, z, mass
        length[worse] *= 0.5
    new = np.where(worse[:, None], theta, new)
    z, mass = _log_partition(grid, new)
    return new, z, mass
