"""The engine of DiffAN: the residue against a density written down, training, seeds, torch's global state."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from heterodag.ordering import _diffusion  # noqa: E402
from heterodag.ordering.diffan import DiffusionSettings, diffan_order  # noqa: E402

QUICK = DiffusionSettings(
    hidden=16, noise_steps=50, learning_rate=0.005, batch_size=64, max_steps=40, patience=20, votes=2
)


def chain_score(x):
    """Return the score of x0 -> x1 -> x2 and x0 -> x2: x1 = sin(2 x0) + E/2, x2 = x1^2 / 2 - x0 + E/2."""
    e1 = (x[1] - torch.sin(2 * x[0])) / 0.25
    e2 = (x[2] - x[1] ** 2 / 2 + x[0]) / 0.25
    return torch.stack([-x[0] + 2 * torch.cos(2 * x[0]) * e1 - e2, -e1 + x[1] * e2, -e2])


def test_the_residue_of_removed_leaves_is_taken_away_exactly():
    rows = torch.as_tensor(np.random.default_rng(0).standard_normal((50, 3)))
    x0, x1 = rows[:, 0], rows[:, 1]
    e1 = (x1 - torch.sin(2 * x0)) / 0.25
    H = _diffusion.marginal_hessian(chain_score, rows, [0, 1], [2])
    # Without x2: log p = -x0^2 / 2 - (x1 - sin(2 x0))^2 / (2 * 0.25).
    expected = -1 - 4 * (2 * torch.cos(2 * x0)) ** 2 - 4 * torch.sin(2 * x0) * e1
    assert torch.allclose(H[:, 1, 1], torch.full((50,), -4.0, dtype=torch.float64), atol=1e-6)
    assert torch.allclose(H[:, 0, 0], expected, atol=1e-4)
    # Without x1 and x2, which are no leaves by themselves: log p = -x0^2 / 2, wherever the search begins nearby.
    near = rows.clone()
    near[:, 1] = torch.sin(2 * x0) + 0.1
    near[:, 2] = near[:, 1] ** 2 / 2 - x0 + 0.1
    alone = _diffusion.marginal_hessian(chain_score, near, [0], [1, 2])
    assert torch.allclose(alone[:, 0, 0], torch.full((50,), -1.0, dtype=torch.float64), atol=1e-3)


def test_the_network_learns_the_score_of_a_normal_table():
    X = np.random.default_rng(1).standard_normal((500, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    settings = DiffusionSettings(32, 100, 0.005, 256, 400, 400, 1)
    weights = _diffusion.train(X, settings, np.random.default_rng(0), lambda share: None)
    share = 0.1
    rows = torch.as_tensor(X[:200], dtype=torch.float32)
    with torch.no_grad():
        found = -_diffusion.predict_noise(weights, rows, torch.full((200, 1), share)) / share**0.5
    noisy = (1 - share) * np.array([[1.0, 0.8], [0.8, 1.0]]) + share * np.eye(2)
    true = -X[:200] @ np.linalg.inv(noisy)
    # A network that has learned nothing leaves an error of 0.9 here, that of the independent columns it starts with.
    error = np.mean((found.numpy() - true) ** 2) / np.mean(true**2)
    assert error < 0.1


@pytest.mark.parametrize("leaf_removal", ["residue", "masking", "retrain", "sort"])
def test_every_variant_gives_the_same_order_again(leaf_removal):
    X = np.random.default_rng(2).standard_normal((60, 4))
    orders = [diffan_order(X, leaf_removal, QUICK, np.random.default_rng(5), lambda share: None) for _ in range(2)]
    assert sorted(orders[0].tolist()) == [0, 1, 2, 3]
    assert orders[0].tolist() == orders[1].tolist()


def test_torch_is_left_as_it_was():
    X = np.random.default_rng(2).standard_normal((60, 3))
    before = torch.get_rng_state(), torch.get_default_dtype(), torch.get_num_threads()
    diffan_order(X, "residue", QUICK, np.random.default_rng(5), lambda share: None)
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1:] == (torch.get_default_dtype(), torch.get_num_threads())


def test_shares_of_work_grow_to_one():
    shares = []
    X = np.random.default_rng(2).standard_normal((60, 3))
    for leaf_removal in ("residue", "retrain", "sort"):
        shares.clear()
        diffan_order(X, leaf_removal, QUICK, np.random.default_rng(5), shares.append)
        assert 0 <= min(shares) <= max(shares) <= 1
        assert shares == sorted(shares)
