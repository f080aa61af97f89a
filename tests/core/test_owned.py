"""Objects that own their arrays after a journey, and are otherwise what they were."""

import pickle

import numpy as np

from heterodag.core.densities import Density
from heterodag.core.gaussian import LOCATION_SCALE
from heterodag.scores.fit import Effort, LinearFit


def test_unpickled_models_own_their_arrays():
    noise = Density(np.arange(5.0), 0.25, 9.0, rows=7)
    strengths = np.full((2, 2), np.inf)
    fit = LinearFit(
        LOCATION_SCALE, 2, (0, 1), 1.5, True, np.array([3.0, 4.0]), Effort.FINAL, np.arange(6.0), strengths=strengths,
        noise=noise,
    )  # fmt: skip
    found = pickle.loads(pickle.dumps(fit, protocol=5))
    for one, other in ((found, fit), (found.noise, noise)):
        for name, value in vars(other).items():
            own = getattr(one, name)
            if isinstance(value, np.ndarray):
                assert own.base is None  # without the class: a view of a view of a buffer
                np.testing.assert_array_equal(own, value)
            elif not isinstance(value, Density):
                assert own == value
    assert found.key == (2, (0, 1))
