"""The one ridge rule of all lines."""

from __future__ import annotations

import numpy as np


def ridge_strength(n: int) -> float:
    """Return the strength of the vanishing ridge: 0.01 at 500 rows, falling with the square root of the rows.

    It is the prior precision of a coefficient in standardised units; divided by n it becomes the ridge. A strong ridge
    biases likelihoods that are compared: true coefficients can exceed 100 (docs/constants.md).
    """
    return 0.01 * float(np.sqrt(500.0 / n))
