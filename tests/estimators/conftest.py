"""Tables that several files of these tests share."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def curved_chain():
    """Return columns c, a, b of a -> b -> c."""
    E = np.random.default_rng(0).standard_normal((1000, 3)) * 0.5
    a = 2 * E[:, 0]
    b = np.sin(2 * a) + E[:, 1]
    c = b**2 / 2 + E[:, 2]
    return np.column_stack([c, a, b])
