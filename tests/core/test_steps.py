"""Steps of the solver: Newton's where the curvature is positive, downhill where it is not, shorter with damping."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.core.steps import damped_steps


def problems(k=20, size=6, shift=0.0, seed=30):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(k, size, size))
    return root @ root.transpose(0, 2, 1) + (0.1 - shift) * np.eye(size), rng.normal(size=(k, size))


def test_without_damping_steps_are_newtons():
    curvature, gradient = problems()
    steps = damped_steps(curvature, gradient, np.zeros(20))
    newton = -np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
    np.testing.assert_allclose(steps, newton, rtol=1e-3)
    exact = damped_steps(np.diag([1.0, 4.0])[None], np.array([[1.0, 2.0]]), np.zeros(1))
    np.testing.assert_allclose(exact, [[-1.0, -0.5]], rtol=1e-6)


def test_damping_is_added_in_units_of_the_diagonal():
    curvature, gradient = problems()
    damping = 10 ** np.random.default_rng(1).uniform(-3, 2, 20)
    expected = [
        -np.linalg.solve(C + lam * np.diag(C.diagonal()), g)
        for C, g, lam in zip(curvature, gradient, damping, strict=True)
    ]
    np.testing.assert_allclose(damped_steps(curvature, gradient, damping), expected, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("damping", [1e-6, 1e-3, 0.1])
def test_saddles_are_left_downhill(damping):
    curvature, gradient = problems(shift=4.0)
    indefinite = np.linalg.eigvalsh(curvature)[:, 0] < -1.0
    assert indefinite.sum() > 10
    steps = damped_steps(curvature, gradient, np.full(20, damping))
    # Newton's own step would climb towards the saddle in some of these.
    newton = -np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
    assert (np.einsum("ki,ki->k", newton, gradient) > 0).any()
    assert (np.einsum("ki,ki->k", steps, gradient) < 0).all()
    (step,) = damped_steps(np.diag([1.0, -2.0])[None], np.array([[0.5, 0.1]]), np.array([damping]))
    assert step[0] == pytest.approx(-0.5, rel=0.2)
    assert step[1] == pytest.approx(-0.05, rel=0.2)  # |curvature| 2, so the move is 0.1/2, away from the saddle


def test_the_company_of_a_target_does_not_change_its_step():
    positive, saddle = problems(), problems(shift=4.0, seed=31)
    curvature, gradient = (np.concatenate(pair) for pair in zip(positive, saddle, strict=True))
    damping = 10 ** np.random.default_rng(2).uniform(-6, 0, 40)
    together = damped_steps(curvature, gradient, damping)
    for i in range(40):
        alone = damped_steps(curvature[i : i + 1], gradient[i : i + 1], damping[i : i + 1])
        np.testing.assert_allclose(together[i], alone[0], rtol=1e-9, atol=1e-12)


def test_a_flat_direction_without_slope_is_not_moved_along():
    (step,) = damped_steps(np.diag([1.0, 0.0])[None], np.array([[1.0, 0.0]]), np.array([1e-3]))
    assert step[0] == pytest.approx(-1.0, rel=1e-2)
    assert step[1] == 0.0
