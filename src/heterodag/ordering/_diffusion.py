"""A small diffusion model of a table in torch, and the derivatives of its score: the engine of DiffAN.

A network learns to predict the noise in `sqrt(a_t) x + sqrt(1 - a_t) noise` (Ho, Jain and Abbeel 2020). Its output,
divided by `-sqrt(1 - a_t)`, is the score: the gradient of the log density of the noisy table. Random numbers come
from NumPy generators: torch's own state is never touched.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.func import jacrev, vmap

from heterodag.core.gaussian import Array

if TYPE_CHECKING:
    from heterodag.ordering.diffan import DiffusionSettings

Weights = list[torch.Tensor]

#: Noise levels from the first to the last step, as in the papers.
FIRST_BETA, LAST_BETA = 1e-4, 0.02
FREQUENCIES = 8
#: Weight of the past in the running mean of the network's weights; the final network uses this mean.
MEMORY = 0.995
#: Steps between two checks of the held-out loss, and the number of noisy copies of every held-out row.
CHECK_EVERY, COPIES = 50, 8
#: Newton steps towards the conditional mean of the removed columns, and its bound in standard deviations.
NEWTON_STEPS, LARGEST = 4, 5.0
#: Curvatures nearer to 0 than this share of the usual size are moved away from 0 before dividing by them.
LEAST_SHARE = 0.2
#: Share of rows at either end whose Hessian entries are clipped to the quantile.
TRIMMED = 0.05


def signal_shares(steps: int) -> torch.Tensor:
    """Return a_t, the share of the variance at step t that is signal, for t = 0, ..., steps - 1."""
    return torch.as_tensor(np.cumprod(1 - np.linspace(FIRST_BETA, LAST_BETA, steps)), dtype=torch.float32)


def draw_weights(d: int, hidden: int, rng: np.random.Generator) -> Weights:
    """Return weights and biases of three layers; the last layer starts at zero."""
    sizes = [(d + 2 * FREQUENCIES, hidden), (hidden, hidden), (hidden, d)]
    weights: Weights = []
    for layer, (rows, columns) in enumerate(sizes):
        scale = 0.0 if layer == 2 else 1 / math.sqrt(rows)
        matrix = scale * rng.standard_normal((rows, columns))
        weights += [torch.as_tensor(matrix, dtype=torch.float32), torch.zeros(columns)]
    return weights


def predict_noise(weights: Weights, x: torch.Tensor, noise_share: torch.Tensor) -> torch.Tensor:
    """Return the predicted noise (..., d) in rows x at a noise share `1 - a_t` of shape (..., 1).

    The linear part is exact for independent normal columns; the network learns the rest.
    """
    W1, b1, W2, b2, W3, b3 = weights
    level = torch.log(noise_share)
    angles = level * torch.arange(1, FREQUENCIES + 1) / 4
    units = torch.cat([x, torch.sin(angles), torch.cos(angles)], dim=-1)
    units = torch.nn.functional.silu(units @ W1 + b1)
    units = units + torch.nn.functional.silu(units @ W2 + b2)
    return torch.sqrt(noise_share) * x + units @ W3 + b3


def train(
    X: Array, settings: DiffusionSettings, rng: np.random.Generator, report: Callable[[float], None]
) -> Weights:
    """Train a diffusion model of the standardised table; return the weights with the smallest held-out loss."""
    shares = signal_shares(settings.noise_steps)
    rows = torch.as_tensor(X[rng.permutation(len(X))], dtype=torch.float32)
    held = min(max(len(X) // 5, 1), 1000)
    weights = [w.requires_grad_(True) for w in draw_weights(X.shape[1], settings.hidden, rng)]
    mean = [w.detach().clone() for w in weights]
    adam = torch.optim.Adam(weights, lr=settings.learning_rate)
    test = _noisy(rows[:held].repeat(COPIES, 1), shares, rng)
    best, best_loss, best_step = mean, math.inf, 0
    for step in range(1, settings.max_steps + 1):
        picked = torch.as_tensor(rng.integers(held, len(X), size=min(settings.batch_size, 4 * len(X))))
        adam.param_groups[0]["lr"] = settings.learning_rate * _decay(step, settings.max_steps)
        adam.zero_grad()
        _loss(weights, *_noisy(rows[picked], shares, rng)).backward()  # type: ignore[no-untyped-call]
        adam.step()
        with torch.no_grad():
            for slow, fast in zip(mean, weights, strict=True):
                slow.lerp_(fast, max(1 - MEMORY, 1 / step))
        report(step / settings.max_steps)
        if step % CHECK_EVERY == 0 or step == settings.max_steps:
            with torch.no_grad():
                loss = float(_loss(mean, *test))
            if loss < best_loss:
                best, best_loss, best_step = [w.clone() for w in mean], loss, step
            elif step - best_step >= settings.patience:
                break
    return best


def _decay(step: int, steps: int) -> float:
    return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * step / steps))


def _noisy(
    rows: torch.Tensor, shares: torch.Tensor, rng: np.random.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return noisy rows, the noise in them, and the share of noise; low noise is drawn more often than high noise."""
    steps = (len(shares) * rng.random(len(rows)) ** 2).astype(np.int64)
    signal = shares[torch.as_tensor(steps)][:, None]
    noise = torch.as_tensor(rng.standard_normal(tuple(rows.shape)), dtype=torch.float32)
    return signal.sqrt() * rows + (1 - signal).sqrt() * noise, noise, 1 - signal


def _loss(weights: Weights, x: torch.Tensor, noise: torch.Tensor, noise_share: torch.Tensor) -> torch.Tensor:
    return ((predict_noise(weights, x, noise_share) - noise) ** 2).mean()


def hessian_variances(weights: Weights, X: Array, removed: list[int], noise_share: float, residue: bool) -> Array:
    """Return, per remaining column, the variance over rows of its diagonal entry of the Hessian of the log density.

    Parameters
    ----------
    weights : of the network, trained on all columns.
    X : (n, d) standardised rows at which the Hessian is computed.
    removed : columns that have been removed as leaves.
    noise_share : share of noise at the chosen noise level.
    residue : bool
        True removes what the removed columns add to the Hessian (see `marginal_hessian`); False only sets them to 0,
        their mean.

    Returns
    -------
    array
        The variances, by increasing index of the remaining columns.
    """
    remaining = [j for j in range(X.shape[1]) if j not in set(removed)]
    share = torch.tensor([noise_share], dtype=torch.float32)
    rows = torch.as_tensor(X, dtype=torch.float32)
    if not residue:
        rows[:, removed] = 0.0

    def score(x: torch.Tensor) -> torch.Tensor:
        return -predict_noise(weights, x, share)

    with torch.no_grad():
        if residue and removed:
            hessian = marginal_hessian(score, rows, remaining, removed)
        else:
            hessian = vmap(jacrev(score))(rows)[:, remaining][:, :, remaining]
    diagonals = torch.diagonal(hessian, dim1=1, dim2=2).double().numpy()
    # Where there are few rows, the network guesses: a handful of wild values must not decide.
    low, high = np.quantile(diagonals, [TRIMMED, 1 - TRIMMED], axis=0)
    return np.asarray(np.clip(diagonals, low, high).var(axis=0))


def marginal_hessian(
    score: Callable[[torch.Tensor], torch.Tensor], rows: torch.Tensor, remaining: list[int], removed: list[int]
) -> torch.Tensor:
    """Return the Hessian (n, k, k) of the log density of the remaining columns, without the removed ones.

    Parameters
    ----------
    score : from one row (d,) to the gradient of the log density there.
    rows : (n, d); the values in the removed columns are only the starting point of the search.
    remaining, removed : columns.

    Notes
    -----
    The deciduous residue is what a removed leaf l adds to the score of the others: `s_l H_lj / H_ll`, with s the
    score and H its derivatives. It vanishes where the removed columns have score 0, that is, where each equals its
    mean given its causes; there, with Gaussian noise, `log p` of the removed columns given the remaining ones is the
    same whatever the remaining ones are. So the removed columns are moved there by Newton's method, and the Hessian
    of the rest is the Schur complement `H_RR - H_RL inv(H_LL) H_LR`. For additive noise this is exact for any number
    of leaves, and it needs no third derivatives.
    """
    rows = rows.clone()
    derivatives = vmap(jacrev(score))
    for _ in range(NEWTON_STEPS):
        inner = derivatives(rows)[:, removed][:, :, removed]
        step = torch.linalg.solve(_negative(inner), vmap(score)(rows)[:, removed, None])[..., 0]
        rows[:, removed] = (rows[:, removed] - step).clamp(-LARGEST, LARGEST)
    H = derivatives(rows)
    across = torch.linalg.solve(_negative(H[:, removed][:, :, removed]), H[:, removed][:, :, remaining])
    schur: torch.Tensor = H[:, remaining][:, :, remaining] - H[:, remaining][:, :, removed] @ across
    return schur


def _negative(matrices: torch.Tensor) -> torch.Tensor:
    """Return the nearest symmetric matrices whose eigenvalues lie well below 0, as at a maximum."""
    values, vectors = torch.linalg.eigh((matrices + matrices.transpose(1, 2)) / 2)
    floor = LEAST_SHARE * values.abs().mean().clamp_min(1e-6)
    negative: torch.Tensor = vectors * values.clamp(max=-floor)[:, None] @ vectors.transpose(1, 2)
    return negative
