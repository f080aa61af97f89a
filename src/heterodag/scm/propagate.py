"""Pass through the graph in causal order: noise to values, values to noise, factual rows to counterfactual ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.scm.interventions import Actions
from heterodag.scm.mechanism import Mechanism
from heterodag.scm.noise import from_normal


def stream(seed: np.random.SeedSequence, *key: int) -> np.random.Generator:
    """Return the generator for one use of a seed: the same key always gives the same numbers."""
    return np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *key)))


def draw_noise(mechanisms: Sequence[Mechanism], n: int, rng: np.random.Generator) -> Array:
    """Return noise (n, d) for all mechanisms, each with its own distribution, made from standard normal numbers."""
    normal = rng.standard_normal((n, len(mechanisms)))
    return np.column_stack([from_normal(m.density, normal[:, j]) for j, m in enumerate(mechanisms)])


def propagate(
    mechanisms: Sequence[Mechanism],
    order: Iterable[int],
    noise: Array,
    do: Actions,
    seed: np.random.SeedSequence,
    factual: Array | None = None,
    changed: frozenset[int] = frozenset(),
) -> Array:
    """Return the values (n, d) that noise and interventions produce; only the columns in `order` are filled.

    With `factual` rows, columns that are not `changed` keep their factual values to the last bit.
    """
    n = len(noise)
    X = np.full(noise.shape, np.nan)
    for j in order:
        action, mechanism = do.get(j), mechanisms[j]
        if factual is not None and j not in changed:
            X[:, j] = factual[:, j]
            continue
        natural = None
        if action is None or not action.replaces:
            natural = mechanism.value(X[:, list(mechanism.parents)], noise[:, j])
        X[:, j] = natural if action is None else action.apply(natural, n, stream(seed, 1, j))
    return X


def abduct(mechanisms: Sequence[Mechanism], X: Array) -> Array:
    """Return the noise (n, d) behind observed rows: every mechanism is invertible in its noise."""
    noise = np.empty_like(X)
    for mechanism in mechanisms:
        noise[:, mechanism.target] = mechanism.noise(X[:, list(mechanism.parents)], X[:, mechanism.target])
    return noise
