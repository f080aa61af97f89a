"""Where coefficients stand: parts that do not overlap, the ridge they get, predictors against plain products."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.core.gaussian import FORMS, NATURAL
from heterodag.core.layout import Coefficients

both_forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def test_only_the_intercepts_that_the_location_needs_are_free_of_ridge():
    natural, harvey = (Coefficients(form, 3).ridge(0.5)[:, 0].tolist() for form in FORMS.values())
    assert natural == [0.5, 0.5, 0.5, 0.0, 0.5, 0.5, 0.0]
    assert harvey == [0.0, 0.5, 0.5, 0.0, 0.5, 0.5]


@both_forms
def test_mean_and_spread_share_the_vector_between_them(form):
    shape = Coefficients(form, 4)
    assert shape.size == (9 if form is NATURAL else 8)
    both = np.r_[shape.mean, np.arange(shape.size)[shape.spread]]
    assert sorted(both.tolist()) == list(range(shape.size))
    assert np.arange(shape.size)[shape.spread].tolist() == [4, 5, 6, 7]
    assert shape.mean.tolist() == ([0, 1, 2, 3, 8] if form is NATURAL else [0, 1, 2, 3])


@both_forms
def test_rows_of_the_design_have_a_coefficient_in_each_predictor(form):
    shape = Coefficients(form, 4)
    assert shape.of_rows(slice(1, 3)).tolist() == [1, 2, 5, 6]
    assert shape.of_rows(np.array([3])).tolist() == [3, 7]
    last = [8] if form is NATURAL else []
    assert shape.embed(np.array([0, 2])).tolist() == [0, 2, 4, 6, *last]


@both_forms
def test_predictors_of_shared_and_of_own_designs_are_plain_products(form):
    rng = np.random.default_rng(0)
    shape = Coefficients(form, 3)
    theta = rng.normal(size=(shape.size, 2))
    own = rng.normal(size=(2, 3, 7))
    for Z, of_target in ((own[0], [own[0]] * 2), (own, own)):
        A, s, m = shape.predictors(theta, Z)
        assert A.shape == s.shape == (2, 7)
        for i, design in enumerate(of_target):
            np.testing.assert_allclose(A[i], theta[:3, i] @ design, rtol=1e-12)
            np.testing.assert_allclose(s[i], theta[3:6, i] @ design, rtol=1e-12)
        np.testing.assert_array_equal(m, theta[6][:, None] if form is NATURAL else 0.0)


@both_forms
def test_embedding_a_narrow_model_changes_no_prediction(form):
    rng = np.random.default_rng(1)
    narrow, wide, used = Coefficients(form, 2), Coefficients(form, 4), np.array([0, 3])
    Z, theta = rng.normal(size=(4, 9)), rng.normal(size=(narrow.size, 3))
    larger = np.zeros((wide.size, 3))
    larger[wide.embed(used)] = theta
    for mine, other in zip(wide.predictors(larger, Z), narrow.predictors(theta, Z[used]), strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-12)
