"""Warnings about tables that do not look like the model; results still come."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from heterodag import HOST, AssumptionWarning, load_sachs, simulate


def seen(X):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = HOST().fit(X)
    assert sorted(model.order_.tolist()) == list(range(np.shape(X)[1]))
    return " ".join(str(w.message) for w in caught if issubclass(w.category, AssumptionWarning))


def linear(noise, seed, n=1000):
    rng = np.random.default_rng(seed)
    x, e, u = noise(rng, (3, n))
    y = 0.8 * x + e
    return np.column_stack([x, y, 0.8 * y + u])


def test_a_table_that_follows_the_model_gives_no_warning():
    assert [seen(simulate(500, 6, "ER", 2, random_state=740 + s).X) for s in range(8)] == [""] * 8


@pytest.mark.parametrize("seed", range(3))
def test_constant_spread_is_noticed(seed):
    assert "No effect of any variable on the spread" in seen(linear(lambda rng, size: rng.normal(size=size), seed))


def test_a_tie_between_dependent_variables_is_noticed():
    text = " ".join(seen(linear(lambda rng, size: rng.normal(size=size), seed)) for seed in range(4))
    assert "rests on a close call" in text


def test_residuals_far_from_normal_are_noticed_and_the_order_is_not_refined():
    X = linear(lambda rng, size: rng.exponential(size=size) ** 2, 0)
    assert "stay far from normal" in seen(X)
    with pytest.warns(AssumptionWarning):
        assert not hasattr(HOST().fit(X), "refinement_")


def test_sachs_is_such_a_table():
    with pytest.warns(AssumptionWarning, match="all 11 variables"):
        HOST().fit(load_sachs().data)
