"""Steps of the solver: the stacked ones are the single ones."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.core.steps import damped_step, damped_steps


@pytest.mark.parametrize("definite", [True, False], ids=["definite", "saddle"])
def test_stacked_steps_are_the_single_ones(definite):
    rng = np.random.default_rng(30)
    size, k = 6, 20
    root = rng.normal(size=(k, size, size))
    information = root @ root.transpose(0, 2, 1)
    if not definite:
        information -= 4.0 * np.eye(size)
    gradient = rng.normal(size=(k, size))
    damping, stride = 10 ** rng.uniform(-6, 0, k), rng.uniform(1, 4, k)
    steps, saddle = damped_steps(information, gradient, damping, stride)
    single = [damped_step(*each) for each in zip(information, gradient, damping, stride, strict=True)]
    assert saddle.any() != definite
    np.testing.assert_array_equal(saddle, [near for _, _, near in single])
    np.testing.assert_allclose(steps, [step for step, _, _ in single], rtol=1e-6, atol=1e-9)
