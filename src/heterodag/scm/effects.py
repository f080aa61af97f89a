"""What an intervention does to one variable: mean, spread and quantiles, with intervals for the estimated mechanisms.

Mean and variance are averages of the conditional moments of the target (Rao-Blackwell), not of its draws:
`E[y] = E[m]` and `Var[y] = E[v] + Var[m]` with `m = mu + sigma * E[noise]` and `v = sigma^2 * Var[noise]`. All
interventions share one set of noise, so differences are far more precise than either side.

Intervals come from the delta method: the variance of a quantity is the sum, over the principal axes of the estimated
(sandwich) covariance of every mechanism's coefficients, of the squared change that one standard error makes. Changes
are central differences. The error of the simulation itself, estimated from batches of its rows, is added. Drawing
coefficients instead would mislead in the natural form: where the spread hardly moves, location and intercept trade
off along a curve that a normal distribution does not follow.

A fitted density of the noise is held fixed. For mean and spread this is right: the density's mean and variance are
those of the residuals, about 0 and 1 whatever the coefficients. Intervals of quantiles leave out the error of its
shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from heterodag.core.gaussian import Array
from heterodag.scm.interventions import Actions
from heterodag.scm.mechanism import Mechanism
from heterodag.scm.noise import mean_and_sd
from heterodag.scm.propagate import propagate, stream

#: Batches of the simulated rows, from which the error of the simulation is estimated.
BATCHES = 10
#: Length of the steps of the central differences, in standard errors.
STEP = 0.2


@dataclass(frozen=True)
class Question:
    """What is asked: the target, its ancestors in causal order with the target last, and the quantiles."""

    target: int
    order: tuple[int, ...]
    quantiles: tuple[float, ...]

    @property
    def quantities(self) -> list[str]:
        """Names of the numbers in an answer."""
        return ["mean", "sd", "variance", *(f"quantile {q:g}" for q in self.quantiles)]


def answer(
    mechanisms: Sequence[Mechanism], question: Question, noise: Array, do: Actions, seed: np.random.SeedSequence
) -> Array:
    """Return mean, standard deviation, variance and quantiles of the target under an intervention."""
    target, action = question.target, do.get(question.target)
    if action is not None and action.replaces:
        values = propagate(mechanisms, [target], noise, do, seed)[:, target]
        mean, variance = float(values.mean()), float(values.var())
    else:
        X, own = propagate(mechanisms, question.order[:-1], noise, do, seed), mechanisms[target]
        mu, sigma = own.predict(X[:, list(own.parents)])
        if action is not None:
            mu = action.apply(mu, len(mu), stream(seed, 1, target))
        values = mu + sigma * noise[:, target]
        centre, sd = mean_and_sd(own.density, mu, sigma)
        mean, variance = float(centre.mean()), float(np.mean(sd**2) + centre.var())
    return np.array([mean, np.sqrt(variance), variance, *np.quantile(values, question.quantiles)])


def moved_mechanisms(mechanism: Mechanism) -> Iterator[tuple[Mechanism, Mechanism]]:
    """Yield the mechanism moved by `STEP` standard errors either way, along each axis of its covariance."""
    values, vectors = np.linalg.eigh(mechanism.covariance)
    for value, vector in zip(values, vectors.T, strict=True):
        if value > 0:
            step = STEP * np.sqrt(value) * vector
            yield mechanism.with_theta(mechanism.theta + step), mechanism.with_theta(mechanism.theta - step)


def answers(
    mechanisms: Sequence[Mechanism],
    question: Question,
    noise: Array,
    actions: Sequence[Actions],
    seed: np.random.SeedSequence,
) -> tuple[Array, Array]:
    """Return the answers (interventions, quantities), and their changes (axes, interventions, quantities).

    A change is what one standard error along an axis of the coefficients does, or what one batch of the simulated
    rows adds to the error of their mean; the squares of changes add up to variances.
    """

    def ask(some: Sequence[Mechanism], rows: Array = noise, own: np.random.SeedSequence = seed) -> Array:
        return np.array([answer(some, question, rows, do, own) for do in actions])

    main, changes = ask(mechanisms), []
    for j in question.order:
        for up, down in moved_mechanisms(mechanisms[j]):
            above, below = ([*mechanisms[:j], moved, *mechanisms[j + 1 :]] for moved in (up, down))
            changes.append((ask(above) - ask(below)) / (2.0 * STEP))
    batches = np.array_split(noise, min(BATCHES, len(noise)))
    seeds = [np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 6, k)) for k in range(len(batches))]
    changes += _simulation_changes([ask(mechanisms, *batch) for batch in zip(batches, seeds, strict=True)])
    return main, np.array(changes).reshape(-1, *main.shape)


def _simulation_changes(batches: list[Array]) -> list[Array]:
    """Return changes whose squares add up to the variance of the mean over batches: the error of the simulation."""
    deviations = np.array(batches) - np.mean(batches, axis=0)
    return list(deviations / np.sqrt(len(batches) * (len(batches) - 1)))


def half_width(changes: Array, level: float) -> Array:
    """Return half the width of the interval of a quantity from its changes (first axis)."""
    return np.asarray(ndtri(0.5 + level / 2.0) * np.sqrt(np.sum(changes**2, axis=0)))
