"""What an intervention does to one variable: mean, spread and quantiles, with intervals for the estimated mechanisms.

Mean and variance are averaged over the conditional moments of the target (Rao-Blackwell), not over its draws:
`E[y] = E[mu]` and `Var[y] = E[sigma^2] + Var[mu]`. All interventions and all draws of the coefficients share one set
of noise, so differences are far more precise than either side.

Intervals: the coefficients of every mechanism are drawn from their estimated (sandwich) normal distribution, and the
quantity is computed for every draw; the interval is the central part of what comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.gaussian import Array
from .interventions import Actions
from .mechanism import Mechanism
from .propagate import propagate, stream


@dataclass(frozen=True)
class Question:
    """What is asked: the target, its ancestors in causal order with itself last, and the quantiles wanted."""

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
        X = propagate(mechanisms, question.order[:-1], noise, do, seed)
        mu, sigma = mechanisms[target].moments(X[:, list(mechanisms[target].parents)])
        if action is not None:
            mu = action.apply(mu, len(mu), stream(seed, 1, target))
        values = mu + sigma * noise[:, target]
        mean, variance = float(mu.mean()), float(np.mean(sigma**2) + mu.var())
    return np.array([mean, np.sqrt(variance), variance, *np.quantile(values, question.quantiles)])


def drawn_mechanisms(
    mechanisms: Sequence[Mechanism], which: Sequence[int], n_draws: int, seed: np.random.SeedSequence
) -> Iterator[list[Mechanism]]:
    """Yield the mechanisms with coefficients drawn from their estimated distribution, those of `which` only."""
    roots = {j: _square_root(mechanisms[j].covariance) for j in which}
    generators = {j: stream(seed, 2, j) for j in which}
    for _ in range(n_draws):
        drawn = list(mechanisms)
        for j in which:
            step = roots[j] @ generators[j].standard_normal(len(roots[j]))
            drawn[j] = mechanisms[j].with_theta(mechanisms[j].theta + step)
        yield drawn


def answers(
    mechanisms: Sequence[Mechanism],
    question: Question,
    noise: Array,
    actions: Sequence[Actions],
    n_draws: int,
    seed: np.random.SeedSequence,
) -> tuple[Array, Array]:
    """Return the answers (interventions, quantities) and those of every draw (draws, interventions, quantities)."""
    main = np.array([answer(mechanisms, question, noise, do, seed) for do in actions])
    draws = [
        [answer(drawn, question, noise, do, seed) for do in actions]
        for drawn in drawn_mechanisms(mechanisms, question.order, n_draws, seed)
    ]
    return main, np.array(draws).reshape(n_draws, *main.shape)


def interval(draws: Array, level: float) -> tuple[Array, Array]:
    """Return the central interval of draws (first axis)."""
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(draws, [tail, 1.0 - tail], axis=0)
    return np.asarray(low), np.asarray(high)


def _square_root(covariance: Array) -> Array:
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
