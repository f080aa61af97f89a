"""From a user's `random_state` to streams."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.errors import ParameterError
from heterodag.runtime.seeds import seed_sequence


def first_words(random_state):
    return seed_sequence(random_state).generate_state(4).tolist()


@pytest.mark.parametrize("seed", [0, 7, np.int64(7), np.uint8(3), 2**70])
def test_whole_numbers_repeat(seed):
    assert first_words(seed) == first_words(seed) == np.random.SeedSequence(int(seed)).generate_state(4).tolist()


def test_none_does_not_repeat():
    assert first_words(None) != first_words(None)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators_repeat_from_the_same_state_and_advance(make):
    one, other = make(5), make(5)
    draws = [first_words(one) for _ in range(3)]
    assert draws == [first_words(other) for _ in range(3)]
    assert draws[0] != draws[1] != draws[2]


def test_a_seed_sequence_is_copied_so_that_spawning_leaves_it_alone():
    given = np.random.SeedSequence(9)
    child = given.spawn(1)[0]
    assert first_words(child) == child.generate_state(4).tolist()
    seed_sequence(given).spawn(3)
    assert given.n_children_spawned == 1
    assert first_words(given) == first_words(np.random.SeedSequence(9)) != first_words(child)


@pytest.mark.parametrize("wrong", [-1, 1.5, "seed", True, [1, 2], np.float64(2)])
def test_anything_else_is_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=r"`random_state` must be None, a non-negative whole number"):
        seed_sequence(wrong)
