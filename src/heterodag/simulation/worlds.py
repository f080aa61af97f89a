"""Worlds beyond the paper's: `X_i = mu_i(X_pa) + sigma_i(X_pa) * E_i` with mean, spread and noise chosen by name.

The curves are deliberately not those of any model in this package: two sines, a sigmoid, a bump times a line, and two
straight pieces. None is a spline with few knots, a polynomial or a natural parameter, so no method has exactly the
right model class.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtr

from heterodag.core.graph import Adjacency, Order
from heterodag.simulation.experiments import NOTHING, Plan

FloatArray = NDArray[np.float64]

#: How the mean can depend on the parents, besides the paper's two mechanisms.
MEANS = ("none", "straight", "curved")
#: How the logarithm of the standard deviation can depend on the parents.
SPREADS = ("constant", "straight", "curved")
#: Standard deviations of one parent's effect on the mean, of all parents' effect on the log spread, and of the latter
#: if the mean has none.
_ON_MEAN, _ON_SPREAD, _ON_SPREAD_ALONE = (0.7, 1.3), (0.3, 0.6), (0.6, 1.0)
#: Standard deviation of the noise where the spread is average.
_NOISE_SCALE = (0.6, 1.2)
#: Beyond this many standard deviations parents move the log spread no further: an exponential has no bounds.
_REACH = 3.0
_MODE = 0.9  # of the bimodal noise; the variance of its two parts makes the total variance 1


def draw_noise(name: str, shape: tuple[int, int], rng: Generator, choice: Generator) -> FloatArray:
    """Return noise of mean 0 and variance 1, one column per variable.

    All kinds are increasing functions of the same normal numbers, so tables that differ only in the noise can be
    compared. "mixed" draws a kind, except the normal one, for every column from `choice`.
    """
    normal = rng.standard_normal(shape)
    if name == "normal":
        return normal
    others = [key for key in NOISES if key not in ("normal", "mixed")]
    kinds = choice.choice(others, shape[1]).tolist() if name == "mixed" else [name] * shape[1]
    return np.column_stack([_QUANTILES[kind](column) for kind, column in zip(kinds, normal.T, strict=True)])


def _bimodal(z: FloatArray) -> FloatArray:
    grid = np.linspace(-6.0, 6.0, 4001)
    part = np.sqrt(1.0 - _MODE**2)
    below = 0.5 * (ndtr((grid - _MODE) / part) + ndtr((grid + _MODE) / part))
    return np.asarray(np.interp(ndtr(z), below, grid))


def _laplace(z: FloatArray) -> FloatArray:
    return np.asarray(np.sign(z) * -np.log(2.0 * ndtr(-np.abs(z))) / np.sqrt(2.0))


def _student(z: FloatArray) -> FloatArray:
    from scipy.stats import t

    return np.asarray(t.ppf(ndtr(z), 5) / np.sqrt(5.0 / 3.0))


#: From standard normal numbers to numbers of another distribution with mean 0 and variance 1.
_QUANTILES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "exponential": lambda z: -np.log(ndtr(-z)) - 1.0,
    "laplace": _laplace,
    "t": _student,
    "uniform": lambda z: np.sqrt(12.0) * (ndtr(z) - 0.5),
    "bimodal": _bimodal,
    "gumbel": lambda z: (-np.log(-np.log(ndtr(z))) - np.euler_gamma) * np.sqrt(6.0) / np.pi,
}
NOISES = ("normal", *_QUANTILES, "mixed")


def _sines(z: FloatArray, rng: Generator) -> FloatArray:
    slow, fast, (shift, other) = rng.uniform(1.0, 2.0), rng.uniform(2.0, 3.5), rng.uniform(0.0, 2.0 * np.pi, 2)
    return np.asarray(np.sin(slow * z + shift) + 0.5 * np.sin(fast * z + other))


def _sigmoid(z: FloatArray, rng: Generator) -> FloatArray:
    return np.tanh(rng.uniform(1.5, 3.0) * (z - rng.uniform(-0.5, 0.5)))


def _bump(z: FloatArray, rng: Generator) -> FloatArray:
    centred = z - rng.uniform(-0.5, 0.5)
    return np.asarray(centred * np.exp(-0.5 * centred**2))


def _pieces(z: FloatArray, rng: Generator) -> FloatArray:
    centred = z - rng.uniform(-0.7, 0.7)
    return np.where(centred > 0.0, centred, rng.uniform(-1.0, 0.3) * centred)


CURVES = (_sines, _sigmoid, _bump, _pieces)


def _effect(kind: str, z: FloatArray, rng: Generator, plain: slice) -> FloatArray:
    """Return the effect of one standardised parent: mean 0 and variance 1 in the plain rows, with a random sign."""
    sign, curve = rng.choice([-1.0, 1.0]), CURVES[int(rng.integers(len(CURVES)))]
    return np.asarray(sign * _standardised(curve(z, rng) if kind == "curved" else z, plain))


def _standardised(x: FloatArray, plain: slice) -> FloatArray:
    scale = float(x[plain].std())
    return np.asarray((x - x[plain].mean()) / (scale if scale > 0.0 else 1.0))


def world(
    adjacency: Adjacency, order: Order, noise: FloatArray, kind: tuple[str, str], rng: Generator, plan: Plan = NOTHING
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Generate the columns in causal order; return X, mean and scale. `kind` names the mean and the spread."""
    on_mean, on_spread = kind
    strength = _ON_SPREAD_ALONE if on_mean == "none" else _ON_SPREAD
    X, mean, scale = (np.zeros_like(noise) for _ in range(3))
    effects, causes = np.nonzero(adjacency.T)
    first = np.searchsorted(effects, np.arange(len(order) + 1))
    for node, own in zip(order.tolist(), rng.spawn(len(order)), strict=True):
        log_scale, parents = np.zeros(len(noise)), causes[first[node] : first[node + 1]]
        level = own.uniform(*_NOISE_SCALE)
        for parent in parents:
            z = _standardised(X[:, parent], plan.plain)
            if on_mean != "none":
                mean[:, node] += own.uniform(*_ON_MEAN) * _effect(on_mean, z, own, plan.plain)
            if on_spread != "constant":
                size = own.uniform(*strength) / np.sqrt(len(parents))
                log_scale += size * _effect(on_spread, z.clip(-_REACH, _REACH), own, plan.plain)
        scale[:, node] = level * np.exp(log_scale)
        X[:, node] = plan.act(mean[:, node] + scale[:, node] * noise[:, node], node, mean, scale)
    return X, mean, scale
