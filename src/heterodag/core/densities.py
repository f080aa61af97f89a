"""Densities of standardised noise: an exponential family around the normal distribution, fitted to residuals.

`ln f(x) = -x^2/2 + theta' phi(x) - ln Z(theta)`, with features phi that can make a density skewed, flat, peaked,
two-humped or heavy in either tail. All are bounded or grow no faster than x^2, so a single far residual cannot bend
the rest. `Z` is an integral over the whole range of the residuals and beyond (a grid that widens with the distance
from 0): if it were cut short, tails would cost nothing, and whatever has the heaviest tails would look best. A
density may end at an edge, as those of uniform and exponential noise do: the integral then ends at the outermost
residual.

`theta` maximises the likelihood (a concave problem, solved by Newton steps) with a ridge of one observation's weight
on features that are orthonormal under the normal distribution. Only the means of the features over the residuals
enter, so a fit costs one pass over the residuals and some algebra on the grid; many densities are fitted at once.

The gain of a density over the normal one, in nats per row, is an estimate of the negentropy of the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from heterodag.core.gaussian import Array, Index, Mask
from heterodag.core.owned import OwnArrays

#: Points of the grid. With 321, integrals of the sharpest densities in use are accurate to 4e-4.
_POINTS = 321
#: Points of the finer grid behind quantiles, probabilities, mean and standard deviation of one density.
_FINE_POINTS = 8001
#: The grid is dense within about this many standard deviations, then widens.
_DENSE = 0.3
#: Smallest reach of the grid; it doubles until it exceeds the farthest residual by a quarter.
_LEAST_REACH = 8.0
#: An edge farther out than this counts as no edge.
_FAR = 1e100
#: Most Newton steps, the predicted fall of the objective below which they end, and how often a step is halved.
_STEPS, _ENOUGH, _HALVINGS = 200, 1e-7, 40
#: Longest step in the natural parameters.
_LONGEST = 4.0
#: Positions of the steps in the features for sharp flanks, on both sides of 0, and their width. Steps come in pairs,
#: an odd and an even feature, so that mirrored noise gets the mirrored density.
_STEP_PLACES, _STEP_WIDTH = 1.9 * np.array([1.0, 3.0, 5.0, 7.0]) / 7.0, 0.35
#: Exponents in the steps are cut off here, where steps have long been flat.
_STEEPEST = 300.0
#: Sizes of the nested families: mean and variance, which the normal density has too; then skewness and tails; then
#: any smooth density; then densities with sharp flanks.
FAMILIES = NORMAL, SKEWED, SMOOTH, SHARP = 2, 5, 8, 8 + 2 * len(_STEP_PLACES)
LOG_ROOT_2PI = 0.5 * float(np.log(2.0 * np.pi))


def raw_features(x: Array, size: int) -> Array:
    """Return the first features (size, ...) at points (...): tails first, then the centre, then sharp flanks."""
    out, square = np.empty((max(size, SMOOTH), *x.shape)), x * x
    root, bump = np.sqrt(1.0 + square), np.exp(-0.5 * square)
    out[0], out[1], out[2], out[3], out[4] = x, square, root, x * root, x / root
    out[5], out[6], out[7] = np.log(root), bump, x * bump
    if size > SMOOTH:
        steep = np.exp(np.clip(x * (2.0 / _STEP_WIDTH), -_STEEPEST, _STEEPEST))
        for k, place in enumerate(_STEP_PLACES[: (size - SMOOTH) // 2]):
            # tanh(y - p) = 1 - 2 / (1 + exp(2 y) / exp(2 p)): one exponential serves all steps.
            shift = float(np.exp(place * (2.0 / _STEP_WIDTH)))
            right, left = 2.0 / (1.0 + steep / shift), 2.0 / (1.0 + steep * shift)
            np.subtract(2.0, right + left, out=out[SMOOTH + 2 * k])
            np.subtract(right, left, out=out[SMOOTH + 2 * k + 1])
    return out[:size]


def raw_slopes(x: Array) -> Array:
    """Return the derivatives of the features (..., features) at points (...)."""
    square = x * x
    root, bump = np.sqrt(1.0 + square), np.exp(-0.5 * square)
    smooth = [
        np.ones_like(x), 2.0 * x, x / root, root + square / root, 1.0 / root**3,
        x / (1.0 + square), -x * bump, (1.0 - square) * bump,
    ]  # fmt: skip
    right, left = (
        (1.0 - np.tanh((x[..., None] + side * _STEP_PLACES) / _STEP_WIDTH) ** 2) / _STEP_WIDTH for side in (-1, 1)
    )
    steps = np.stack([right + left, left - right], axis=-1).reshape(*x.shape, -1)
    return np.concatenate([np.stack(smooth, axis=-1), steps], axis=-1)


@dataclass(frozen=True)
class _Grid:
    """Points, logarithms of their weights times the normal density, orthonormal features, and their products."""

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
    log_weight[[0, -1]] -= np.log(2.0)
    phi = features(x, size)
    return _Grid(x, log_weight, phi, (phi[:, :, None] * phi[:, None, :]).reshape(len(x), -1))


def _log_weights(grid: _Grid, low: Array, high: Array) -> Array:
    """Return the logarithms (m, points) of the weights of integrals between edges (m,), which may be infinite.

    If an edge falls inside a cell of the grid, the part of the cell within the edge counts, by linear interpolation
    between the ends of the cell.
    """
    end, place = float(np.arcsinh(grid.x[-1] / _DENSE)), np.arange(_POINTS)
    first, last = (
        (np.arcsinh(np.clip(edge, -_FAR, _FAR) / _DENSE) + end) * (_POINTS - 1) / (2.0 * end) for edge in (low, high)
    )
    share = _share_inside(place - first[:, None]) * _share_inside(last[:, None] - place)
    with np.errstate(divide="ignore"):
        return np.asarray(grid.log_weight + np.log(share))


def _share_inside(steps: Array) -> Array:
    """Return the weights of points given their distance from an edge, in steps of the grid (negative outside)."""
    q = np.clip(steps, -1.0, 1.0)
    return np.where(q <= 0.0, 0.5 * (1.0 + q) ** 2, 0.5 + q - 0.5 * q * q)


def reach_of(farthest: Array) -> Array:
    """Return how far grids reach for residuals of given largest sizes: powers of two, so that few grids suffice."""
    wanted = np.maximum(1.25 * farthest, _LEAST_REACH)
    return np.asarray(2.0 ** np.ceil(np.log2(wanted)))


@dataclass(frozen=True, eq=False)
class Density(OwnArrays):
    """The density of one variable's noise.

    Attributes
    ----------
    theta : (k,) natural parameters on the orthonormal features.
    log_z : logarithm of the integral.
    reach : how far the grid reached.
    low, high : edges at which the density ends; infinite if it has none.
    rows : number of residuals it was fitted to.
    """

    theta: Array
    log_z: float
    reach: float
    low: float = -np.inf
    high: float = np.inf
    rows: int = 0

    @property
    def range(self) -> tuple[float, float]:
        """Where the integral begins and ends: at an edge, or where the grid does."""
        return max(self.low, -self.reach), min(self.high, self.reach)

    @property
    def edges(self) -> int:
        """Number of edges."""
        return int(np.isfinite([self.low, self.high]).sum())

    def log_ratio(self, x: Array) -> Array:
        """Return `ln f(x)` minus the logarithm of the standard normal density, at points within the range."""
        return np.asarray(features(x, len(self.theta)) @ self.theta - self.log_z)

    def slope(self, x: Array) -> Array:
        """Return minus the derivative of `ln f`: x itself for the normal density."""
        size = len(self.theta)
        return np.asarray(x - raw_slopes(x)[..., :size] @ (_orthonormal()[1][:size, :size] @ self.theta))

    def log_density(self, x: Array) -> Array:
        """Return `ln f(x)`, with its constant.

        Outside the range, where there was no residual, `ln f` falls along a straight line. At the end of the grid the
        line is as steep as `ln f` is there, and at least as steep as 1 / reach. At an edge it is so steep that one
        row in `rows` would be expected beyond it.
        """
        ends = np.array(self.range)
        inside = np.clip(x, *ends)
        smooth = np.maximum(self.slope(ends) * (-1.0, 1.0), 1.0 / self.reach)
        sharp = max(self.rows, 1) * np.exp(self.log_ratio(ends) - 0.5 * ends**2 - LOG_ROOT_2PI)
        left, right = np.where(np.isfinite([self.low, self.high]), np.maximum(sharp, smooth), smooth)
        steep = np.where(x < ends[0], left, right)
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
        """Mean of the noise: about 0, like that of the residuals."""
        return _tabulated(self).mean

    @property
    def sd(self) -> float:
        """Standard deviation of the noise: about 1, like that of the residuals."""
        return _tabulated(self).sd


@dataclass(frozen=True)
class _Tabulated:
    """A density on a fine grid: points, probabilities below them, the integral before normalising, mean and sd."""

    x: Array
    below: Array
    total: float
    mean: float
    sd: float


@lru_cache(maxsize=128)
def _tabulated(density: Density) -> _Tabulated:
    first, last = np.arcsinh(np.array(density.range) / _DENSE)
    x = np.sinh(np.linspace(first, last, _FINE_POINTS)) * _DENSE
    f = np.exp(density.log_ratio(x) - 0.5 * x * x - LOG_ROOT_2PI)
    mass, middle = 0.5 * (f[1:] + f[:-1]) * np.diff(x), 0.5 * (x[1:] + x[:-1])
    below = np.concatenate([[0.0], np.cumsum(mass)])
    mass /= below[-1]
    mean = float(mass @ middle)
    return _Tabulated(x, below / below[-1], float(below[-1]), mean, float(np.sqrt(mass @ (middle - mean) ** 2)))


@dataclass(frozen=True, eq=False)
class Densities:
    """Densities fitted to several samples: `theta` (m, k), `log_z`, `reach`, edges, and the `gain` per row (m,).

    `beyond` (m, 2) is the number of rows that each density expects beyond its smallest and its largest residual:
    about one if the density is right, many more if the noise ends at an edge.
    """

    theta: Array
    log_z: Array
    reach: Array
    low: Array
    high: Array
    gain: Array
    beyond: Array
    rows: int

    def one(self, i: int) -> Density:
        """Return the density of sample `i`."""
        log_z, reach, low, high = (float(column[i]) for column in (self.log_z, self.reach, self.low, self.high))
        return Density(self.theta[i], log_z, reach, low, high, self.rows)


def price(n: int, size: int, edges: int = 0) -> float:
    """Return what a density must gain (nats, all rows together): BIC, half of ln n per feature and ln n per edge.

    An edge is known up to an error of order 1/n, other parameters up to 1/sqrt(n), hence the difference.
    """
    return (0.5 * (size - NORMAL) + edges) * float(np.log(n))


@dataclass(frozen=True, eq=False)
class ResidualSums:
    """All that densities need from residuals: means (m, size) of orthonormal features, ends (m,), number of rows."""

    features: Array
    least: Array
    largest: Array
    rows: int

    @classmethod
    def of(cls, E: Array, size: int) -> ResidualSums:
        """Summarise every row of residuals (m, n)."""
        return cls(mean_features(E, size), E.min(axis=1), E.max(axis=1), E.shape[1])

    def take(self, some: Index) -> ResidualSums:
        """Return the sums of some models."""
        return ResidualSums(self.features[some], self.least[some], self.largest[some], self.rows)


def fit_densities(E: Array, size: int = SMOOTH, low: Array | None = None, high: Array | None = None) -> Densities:
    """Fit a density with the first `size` features to every row of residuals (m, n); edges (m,) may be infinite."""
    return fit_families(ResidualSums.of(E, size), (size,), low, high)[0]


def fit_families(
    E: ResidualSums, sizes: Sequence[int], low: Array | None = None, high: Array | None = None
) -> list[Densities]:
    """Fit densities of several sizes, smaller ones first: a larger family starts where the smaller one ended."""
    m, n, moments = len(E.least), E.rows, E.features
    reach = reach_of(np.maximum(-E.least, E.largest))
    low, high = np.full(m, -np.inf) if low is None else low, np.full(m, np.inf) if high is None else high
    theta, found = np.zeros((m, 0)), []
    for size in sizes:
        theta = np.pad(theta, ((0, 0), (0, size - theta.shape[1])))
        log_z, beyond = np.zeros(m), np.zeros((m, 2))
        for far in np.unique(reach):
            own, grid = reach == far, _grid(float(far), size)
            weights = _log_weights(grid, low[own], high[own])
            theta[own], log_z[own], mass = _newton(grid, weights, moments[own, :size], 1.0 / n, theta[own])
            outside = np.stack([grid.x < E.least[own][:, None], grid.x > E.largest[own][:, None]], axis=1)
            beyond[own] = n * np.einsum("mp,msp->ms", mass, outside)
        gain = np.einsum("mk,mk->m", theta, moments[:, :size]) - log_z
        found.append(Densities(theta, log_z, reach, low, high, gain, beyond, n))
    return found


def mean_features(E: Array, size: int = SMOOTH) -> Array:
    """Return the means (m, size) of the orthonormal features over every row of residuals (m, n).

    Half the sum of their squares approximates the gain of a density of that size, if the gain is small.
    """
    return orthonormal_means(raw_features(E, size).mean(axis=2).T)


def orthonormal_means(raw: Array) -> Array:
    """Return the means (m, size) of the orthonormal features, given those of the raw features."""
    (centre, turn), size = _orthonormal(), raw.shape[1]
    return np.asarray((raw - centre[:size]) @ turn[:size, :size])


def _log_partition(grid: _Grid, weights: Array, theta: Array) -> tuple[Array, Array]:
    """Return `ln Z` (m,) and the probabilities (m, points) of the grid."""
    exponent = theta @ grid.features.T + weights
    top = exponent.max(axis=1, keepdims=True)
    mass = np.exp(exponent - top)
    total = mass.sum(axis=1, keepdims=True)
    return (np.log(total) + top)[:, 0], mass / total


def _newton(grid: _Grid, weights: Array, moments: Array, ridge: float, theta: Array) -> tuple[Array, Array, Array]:
    """Return the parameters (m, k) with the largest penalised likelihood, `ln Z` and the probabilities there."""
    k, theta, active = moments.shape[1], theta.copy(), np.arange(len(moments))
    log_z, everywhere = _log_partition(grid, weights, theta)
    mass = everywhere
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
            grid, weights[active], theta[active], step, moments[active], ridge, log_z[active], promise[going]
        )
        everywhere[active] = mass
    return theta, log_z, everywhere


def _search(
    grid: _Grid,
    weights: Array,
    theta: Array,
    step: Array,
    moments: Array,
    ridge: float,
    log_z: Array,
    promise: Array,
) -> tuple[Array, Array, Array]:
    """Halve the steps until the objective falls; return the new parameters, `ln Z` and probabilities."""

    def objective(value: Array, at: Array, z: Array) -> Array:
        return np.asarray(z - np.einsum("mk,mk->m", at, value) + 0.5 * ridge * np.einsum("mk,mk->m", at, at))

    before, length = objective(moments, theta, log_z), np.ones(len(theta))
    for _ in range(_HALVINGS):
        new = theta + length[:, None] * step
        z, mass = _log_partition(grid, weights, new)
        worse: Mask = ~(objective(moments, new, z) <= before - 1e-3 * length * promise)
        if not worse.any():
            return new, z, mass
        length[worse] *= 0.5
    new = np.where(worse[:, None], theta, new)
    z, mass = _log_partition(grid, weights, new)
    return new, z, mass
