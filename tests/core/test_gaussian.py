"""The two forms, row by row: densities against SciPy's, derivatives against numerical ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from heterodag.core.gaussian import FORMS, LOCATION_SCALE, NATURAL, row_derivatives

both_forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def rows(seed=0, shape=(2, 60)):
    rng = np.random.default_rng(seed)
    y, A, s = rng.normal(size=(3, *shape))
    return y, A, s, rng.normal(size=(shape[0], 1))


def loss(form, y, A, s, m):
    mean, scale = form.mean_and_scale(A, s, m)
    return -stats.norm.logpdf(y, mean, scale) - 0.5 * np.log(2 * np.pi)


def derivative(function, step=1e-5):
    return (function(step) - function(-step)) / (2 * step)


def second(function, step=1e-4):
    """Return the mixed second derivative of a function of two moves."""
    corners = function(step, step) - function(step, -step) - function(-step, step) + function(-step, -step)
    return corners / (4 * step**2)


def test_users_know_the_forms_by_name():
    assert {"natural": NATURAL, "location-scale": LOCATION_SCALE} == FORMS
    assert [str(form) for form in FORMS.values()] == list(FORMS)
    assert (NATURAL.locations, LOCATION_SCALE.locations) == (1, 0)


@both_forms
def test_residuals_are_standardised_values_and_half_their_square_minus_s_is_the_loss(form):
    y, A, s, m = rows(1)
    mean, scale = form.mean_and_scale(A, s, m)
    e = form.residuals(y, A, s, m)
    np.testing.assert_allclose(e, (y - mean) / scale, rtol=1e-12)
    np.testing.assert_allclose(scale, np.exp(-s / 2))
    np.testing.assert_allclose(0.5 * (e**2 - s), loss(form, y, A, s, m), rtol=1e-10)
    np.testing.assert_allclose(form.standardized(form.mean_terms(y, s), y, A, m), e, rtol=1e-12)


def test_natural_parameters_are_those_of_the_paper():
    """With eta1 = A + m exp(s) and eta2 = -exp(s)/2 the log density is eta1 y + eta2 y^2 + (a function of eta)."""
    y, A, s, m = rows(2)
    eta1, eta2 = A + m * np.exp(s), -np.exp(s) / 2
    log_density = eta1 * y + eta2 * y**2 + eta1**2 / (4 * eta2) + 0.5 * np.log(-2 * eta2)
    np.testing.assert_allclose(-loss(NATURAL, y, A, s, m), log_density, rtol=1e-9)


@both_forms
def test_first_derivatives_are_the_numerical_ones(form):
    y, A, s, m = rows(3)
    found = row_derivatives(form, y, A, s, m)
    np.testing.assert_allclose(found.A, derivative(lambda h: loss(form, y, A + h, s, m)), atol=1e-7)
    np.testing.assert_allclose(found.s, derivative(lambda h: loss(form, y, A, s + h, m)), atol=1e-7)
    if form is NATURAL:
        np.testing.assert_allclose(found.m, derivative(lambda h: loss(form, y, A, s, m + h)), atol=1e-7)
    else:
        assert found.m is found.sm is found.mm is None


@both_forms
def test_observed_second_derivatives_are_the_numerical_ones(form):
    y, A, s, m = rows(4)
    mean = form.mean_terms(y, s)
    first, twice = np.empty((1 + form.locations, *y.shape)), np.empty((2, *y.shape))
    form.spread_terms(mean, form.standardized(mean, y, A, m), A, True, first, twice)
    np.testing.assert_allclose(twice[0], second(lambda g, h: loss(form, y, A + g, s + h, m)), atol=1e-6)
    np.testing.assert_allclose(twice[1], second(lambda g, h: loss(form, y, A, s + g + h, m)), atol=1e-6)
    np.testing.assert_allclose(mean.root**2, second(lambda g, h: loss(form, y, A + g + h, s, m)), atol=1e-6)
    if form is NATURAL:
        np.testing.assert_allclose(first[1], second(lambda g, h: loss(form, y, A, s + g, m + h)), atol=1e-6)
        np.testing.assert_allclose(mean.precision, second(lambda g, h: loss(form, y, A, s, m + g + h)), atol=1e-6)
        np.testing.assert_allclose(second(lambda g, h: loss(form, y, A + g, s, m + h)), 1.0, atol=1e-6)


@both_forms
def test_expected_second_derivatives_are_averages_over_the_noise(form):
    """By quadrature: the loss is a quadratic in the noise, so five nodes average it exactly."""
    _, A, s, m = rows(5)
    center, scale = form.mean_and_scale(A, s, m)
    nodes, weights = np.polynomial.hermite_e.hermegauss(5)

    def averaged(move):
        targets = [(w, center + scale * z) for w, z in zip(weights / weights.sum(), nodes, strict=True)]
        return sum(w * second(lambda g, h, y=y: move(y, g, h)) for w, y in targets)

    found = row_derivatives(form, center, A, s, m)
    np.testing.assert_allclose(found.AA, averaged(lambda y, g, h: loss(form, y, A + g + h, s, m)), atol=1e-5)
    np.testing.assert_allclose(found.As, averaged(lambda y, g, h: loss(form, y, A + g, s + h, m)), atol=1e-5)
    np.testing.assert_allclose(found.ss, averaged(lambda y, g, h: loss(form, y, A, s + g + h, m)), atol=1e-5)
    if form is NATURAL:
        np.testing.assert_allclose(found.sm, averaged(lambda y, g, h: loss(form, y, A, s + g, m + h)), atol=1e-5)
        np.testing.assert_allclose(found.mm, averaged(lambda y, g, h: loss(form, y, A, s, m + g + h)), atol=1e-5)
