"""Wald's test: what coefficients contribute to a fitted model, without fitting a model that lacks them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heterodag.core.gaussian import Array, Index


def wald_gains(information: Array, theta: Array, groups: Sequence[Index]) -> Array:
    """Return (models, groups): approximately how much the objective rises if a group of coefficients becomes zero.

    `information` (models, size, size) are the second derivatives at the optimum `theta` (models, size).
    """
    scale = np.sqrt(np.abs(np.einsum("kii->ki", information)) + 1e-12)
    scaled = information / (scale[:, :, None] * scale[:, None, :])
    inverse = np.linalg.inv(scaled + 1e-9 * np.eye(scale.shape[1]))
    theta, out = theta * scale, np.empty((len(theta), len(groups)))
    for i, own in enumerate(groups):
        block = inverse[:, own[:, None], own] + 1e-12 * np.eye(len(own))
        solved = np.linalg.solve(block, theta[:, own, None])[:, :, 0]
        out[:, i] = 0.5 * np.einsum("ki,ki->k", theta[:, own], solved)
    return out
