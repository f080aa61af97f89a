"""Steps of the solver: damped Newton steps that lead away from saddle points, for many targets at once."""

from __future__ import annotations

import numpy as np

from heterodag.core.gaussian import Array


def damped_steps(curvature: Array, gradient: Array, damping: Array) -> Array:
    """Return the Levenberg-Marquardt steps (k, size) of a stack of targets.

    Where the second derivatives (k, size, size) are indefinite even with the damping, their eigenvalues are replaced
    by their absolute values: the step then leaves a saddle point along the directions of negative curvature instead
    of being drawn into it.
    """
    root = np.sqrt(np.abs(np.einsum("kii->ki", curvature)) + 1e-12)
    values, vectors = np.linalg.eigh(curvature / (root[:, :, None] * root[:, None, :]))
    damping = np.maximum(damping, 1e-8)[:, None]
    saddle = values[:, :1] + damping <= 1e-8
    along = np.matmul((gradient / root)[:, None, :], vectors)[:, 0]
    move = -along / (np.where(saddle, np.abs(values), values) + damping)
    return np.asarray(np.matmul(vectors, move[:, :, None])[:, :, 0] / root)
