"""The one way to turn a user's `random_state` into independent random streams."""

from __future__ import annotations

from typing import Any

import numpy as np

from heterodag.errors import ParameterError


def seed_sequence(random_state: Any) -> np.random.SeedSequence:
    """Return a fresh SeedSequence for an int, a Generator, a RandomState, a SeedSequence or None."""
    if isinstance(random_state, np.random.SeedSequence):
        return np.random.SeedSequence(random_state.entropy, spawn_key=random_state.spawn_key)
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(int(random_state.integers(2**63)))
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(int(random_state.randint(2**31)))
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return np.random.SeedSequence(int(random_state))
    raise ParameterError("random_state", "be None, a non-negative whole number or a NumPy generator", random_state)


def model_seed(random_state: Any) -> int:
    """Return one whole number for a model that needs a single seed."""
    return int(seed_sequence(random_state).generate_state(1, np.uint64)[0] >> np.uint64(1))
