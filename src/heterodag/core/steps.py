"""Steps of the solver: damped Newton, away from saddle points; for one target, or for many small ones together."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from heterodag.core.gaussian import Array, Mask


def damped_steps(information: Array, gradient: Array, damping: Array, stride: Array) -> tuple[Array, Mask]:
    """Return the steps of `damped_step` for a stack of targets (k, size, size), from one stacked decomposition."""
    root = np.sqrt(np.abs(np.einsum("kii->ki", information)) + 1e-12)
    values, vectors = np.linalg.eigh(information / (root[:, :, None] * root[:, None, :]))
    saddle = values[:, 0] + damping <= 1e-15
    plain = 1.0 / np.where(saddle[:, None], 1.0, values + damping[:, None])
    lifted = stride[:, None] / (np.abs(values) + np.maximum(damping, 1e-8)[:, None])
    inverse = np.where(saddle[:, None], lifted, plain)
    along = np.einsum("kij,ki->kj", vectors, gradient / root)
    return -np.einsum("kij,kj->ki", vectors, inverse * along) / root, saddle


def damped_step(information: Array, gradient: Array, damping: float, stride: float) -> tuple[Array, float, bool]:
    """Return the Levenberg-Marquardt step, the fall of the objective it predicts, and whether a saddle was near.

    Where the (observed) information is indefinite, its eigenvalues are replaced by their absolute values: the
    step then leaves a saddle point along the directions of negative curvature instead of being drawn into it.
    Nothing bounds the sensible length of such a step, so it is multiplied by `stride`.
    """
    scale = np.abs(information.diagonal()) + 1e-12
    damped = information.copy()
    damped.ravel()[:: len(scale) + 1] += damping * scale
    _, step, failed = lapack.dposv(damped, -gradient)
    if failed:
        root = np.sqrt(scale)
        values, vectors = np.linalg.eigh(information / np.outer(root, root))
        inverse = stride / (np.abs(values) + max(damping, 1e-8))
        step = -(vectors @ (inverse * (vectors.T @ (gradient / root)))) / root
    gain = -(gradient @ step) - 0.5 * step @ (information @ step)
    return step, float(gain), bool(failed)
