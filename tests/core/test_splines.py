"""Natural splines: what they span, their straight tails, ties and outliers."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.core import splines
from heterodag.core.splines import (
    SplineBasis,
    column_spline,
    columns_per_block,
    knots,
    smoothing_block,
    spline_block,
)


def columns():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(400)
    return {
        "normal": x,
        "heavy": x**5,
        "outlier": np.append(x, 1e6),
        "rounded": np.round(x, 1),
        "zeros": np.where(rng.random(400) < 0.7, 0.0, x),
        "counts": rng.poisson(1.0, 400).astype(float),
        "tiny": x * 1e-30,
    }


@pytest.mark.parametrize("name", columns())
@pytest.mark.parametrize("width", [1, 2, 5, 10])
def test_blocks_are_centred_orthonormal_and_hold_the_straight_line(name, width):
    x = columns()[name]
    block = spline_block(x, width)
    assert block.shape[1] == min(width, len(np.unique(x)) - 1)
    np.testing.assert_allclose(block.T @ block, np.eye(block.shape[1]), atol=1e-9)
    np.testing.assert_allclose(block.sum(axis=0), 0, atol=1e-9)
    centred = (x - x.mean()) / x.std()
    np.testing.assert_allclose(block @ (block.T @ centred), centred, atol=1e-5)


def test_binary_and_constant_columns():
    assert spline_block(np.array([0.0, 1.0, 1.0, 0.0]), 5).shape == (4, 1)
    assert spline_block(np.full(4, 2.5), 5).shape == (4, 0)
    block, roughness = smoothing_block(np.full(4, 2.5), 5)
    assert (block.shape, roughness.shape) == ((4, 0), (0,))


def test_tails_are_straight_and_the_inside_is_smooth():
    x = np.sort(np.random.default_rng(1).standard_normal(2000))
    values, _, places = splines._values(x, 6)
    z = (x - x.mean()) / x.std()
    for tail in (z < places[0], z > places[-1]):
        assert tail.sum() > 3
        slopes = np.diff(values[tail], axis=0) / np.diff(z[tail])[:, None]
        np.testing.assert_allclose(slopes, np.broadcast_to(slopes[0], slopes.shape), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(values.sum(axis=1), 1)


@pytest.mark.parametrize("function", [np.sin, np.tanh, lambda x: np.exp(-x / 2), np.abs])
def test_ten_columns_follow_smooth_functions(function):
    x = np.random.default_rng(2).standard_normal(1000)
    y = function(x) - function(x).mean()
    block = spline_block(x, 10)
    assert np.var(y - block @ (block.T @ y)) < 0.005 * np.var(y)


def test_knots_are_distinct_and_fall_back_on_distinct_values():
    x = np.concatenate([np.zeros(900), np.linspace(1, 2, 100)])
    found = knots(x, 6)
    assert len(found) == 6
    assert (np.diff(found) > 0).all()
    np.testing.assert_array_equal(knots(np.array([3.0, 1.0, 3.0, 2.0]), 6), [1, 2, 3])


def test_roughness_grows_from_the_line_to_the_wiggles():
    x = np.random.default_rng(3).standard_normal(500)
    block, roughness = smoothing_block(x, 8)
    np.testing.assert_allclose(block.T @ block, np.eye(8), atol=1e-9)
    assert roughness[:2] == pytest.approx([0, 1], abs=1e-6)
    assert (np.diff(roughness) > 0).all()
    assert abs(np.corrcoef(block[:, 0], x)[0, 1]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("n", "blocks", "expected"),
    [(5000, 3, 10), (500, 9, 10), (500, 30, 3), (500, 60, 1), (50, 400, 1), (9, 0, 1)],
)
def test_blocks_shrink_when_rows_are_few(n, blocks, expected):
    assert columns_per_block(n, blocks, 10, 5) == expected


# --- the basis of a standardised column ---------------------------------------------------------------------


def standardised(x):
    return (x - x.mean()) / x.std()


@pytest.mark.parametrize("name", ["normal", "heavy", "rounded", "zeros", "counts"])
def test_the_basis_is_the_column_and_uncorrelated_curves_of_mean_square_one(name):
    x = standardised(columns()[name])
    basis = column_spline(x, 10)
    found = basis(x)
    assert len(found) == basis.width <= 10
    np.testing.assert_array_equal(found[0], x)
    np.testing.assert_allclose(found @ found.T / len(x), np.eye(len(found)), atol=1e-5)
    np.testing.assert_allclose(found.mean(axis=1), 0, atol=1e-8)
    assert basis.roughness[0] == 0
    assert (np.diff(basis.roughness) > 0).all()


def test_a_binary_column_has_a_line_only():
    x = standardised(np.array([0.0, 1.0, 1.0, 0.0, 1.0]))
    basis = column_spline(x, 8)
    assert basis.width == 1
    np.testing.assert_array_equal(basis(x), x[None, :])


def test_the_basis_does_not_depend_on_the_sign_of_the_column():
    x = standardised(np.random.default_rng(4).gamma(2.0, size=600))
    one, other = column_spline(x, 8), column_spline(-x, 8)
    np.testing.assert_allclose(other.roughness, one.roughness, rtol=1e-6)
    np.testing.assert_allclose(np.abs(other(-x)), np.abs(one(x)), atol=1e-8)


def test_an_outlier_that_was_not_there_moves_along_a_straight_line():
    x = standardised(np.random.default_rng(5).standard_normal(500))
    basis = column_spline(x, 8)
    far = basis(np.array([20.0, 30.0, 40.0]))
    np.testing.assert_allclose(far[:, 2] - far[:, 1], far[:, 1] - far[:, 0], rtol=1e-9)


def test_a_design_knows_which_rows_belong_to_which_predecessor():
    rng = np.random.default_rng(6)
    X = np.array([standardised(rng.standard_normal(300)) for _ in range(3)])
    splines = tuple(column_spline(x, 6) for x in X)
    basis = SplineBasis(splines, (6, 1, 3))
    Z = basis(X)
    assert Z.shape == (11, 300)
    assert basis.blocks == [slice(1, 7), slice(7, 8), slice(8, 11)]
    np.testing.assert_array_equal(Z[0], 1.0)
    for block, spline, x, width in zip(basis.blocks, splines, X, basis.widths, strict=True):
        np.testing.assert_allclose(Z[block], spline(x)[:width], atol=1e-12)
        np.testing.assert_array_equal(basis.roughness[block], spline.roughness[:width])
