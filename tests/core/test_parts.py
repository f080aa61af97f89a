"""Parts of tables: the same rows, however a table is cut."""

import numpy as np
import pytest

from heterodag.core.parts import array_parts, stretches

X = np.arange(2050.0).reshape(-1, 2)


@pytest.mark.parametrize("rows", [1, 7, 100, 333, 5000])
@pytest.mark.parametrize(("length", "every"), [(10, 100), (100, 100), (3, 7), (400, 1000)])
def test_stretches_do_not_depend_on_the_cut(rows, length, every):
    found = stretches(list(array_parts(X, rows)), length, every)
    expected = X[np.arange(len(X)) % every < length]
    np.testing.assert_array_equal(np.vstack([part.read() for part in found]), expected)
    assert sum(part.rows for part in found) == len(expected)
    assert found[0].label.startswith("rows 0 to ")
