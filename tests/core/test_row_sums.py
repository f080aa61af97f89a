"""Sums over rows: derivatives against numerical ones, and sums of blocks against those of all rows."""

import numpy as np
import pytest

from heterodag.core.gaussian import FORMS
from heterodag.core.row_sums import gradient_of, row_terms, step_sums

STEP = 1e-6


@pytest.fixture(params=sorted(FORMS))
def model(request):
    rng = np.random.default_rng(1)
    form = FORMS[request.param]
    Z = np.vstack([np.ones(400), rng.standard_normal((3, 400))])
    theta = 0.4 * rng.standard_normal(8 + form.locations)
    return form, theta, Z, rng.standard_normal(400)


@pytest.mark.parametrize("limit", [0.7, 50.0])
def test_first_and_second_derivatives_are_the_numerical_ones(model, limit):
    form, theta, Z, y = model
    _, gradient, second = step_sums(form, theta, Z, y, limit)
    ways = STEP * np.eye(len(theta))

    def at(place):
        return step_sums(form, place, Z, y, limit)

    slopes = [(at(theta + way)[0] - at(theta - way)[0]) / (2 * STEP) for way in ways]
    bends = [(at(theta + way)[1] - at(theta - way)[1]) / (2 * STEP) for way in ways]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(second, bends, rtol=1e-5, atol=1e-3)


def test_sums_of_blocks_are_those_of_all_rows(model):
    form, theta, Z, y = model
    whole = step_sums(form, theta, Z, y, 2.0)
    parts = [step_sums(form, theta, Z[:, rows], y[rows], 2.0) for rows in (slice(0, 37), slice(37, 400))]
    for number, total in enumerate(whole):
        np.testing.assert_allclose(sum(part[number] for part in parts), total, rtol=1e-12)


def test_the_gradient_alone_is_that_of_a_step(model):
    form, theta, Z, y = model
    p = len(Z)
    A, s = theta[:p] @ Z, theta[p : 2 * p] @ Z
    rows = row_terms(form, A, s, theta[2 * p :].sum(), theta[p], y, 2.0)
    whole = step_sums(form, theta, Z, y, 2.0)[1]
    np.testing.assert_allclose(gradient_of(form, rows, [Z[1:3], Z[3:]]), whole, rtol=1e-12)  # in two pieces
