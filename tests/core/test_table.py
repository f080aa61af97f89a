"""The standardised view of the data: extreme values, with and without a copy, thinned."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.core import table as table_module
from heterodag.core.table import Table, location_and_scale, row_slices


def sample(n=500, d=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) * [1.0, 5.0, 0.1, 30.0] + [0.0, 3.0, -20.0, 1e3]


@pytest.mark.parametrize("unit", [1.0, 1e150, 1e-150, 1e300, 1e-300])
def test_values_of_any_size_are_standardised(unit):
    base = np.random.default_rng(1).normal(size=(300, 2)) + np.array([0.0, 5.0])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        location, scale = location_and_scale(base * unit)
        result = Table.standardize(base * unit).take([0, 1])
    np.testing.assert_allclose(location / unit, base.mean(axis=0), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(scale / unit, base.std(axis=0), rtol=1e-10)
    np.testing.assert_allclose(result.T, (base - base.mean(axis=0)) / base.std(axis=0), atol=1e-9)


def test_columns_of_very_different_sizes_stand_side_by_side():
    base = np.random.default_rng(2).normal(size=(200, 4))
    units = np.array([1e150, 1e-150, 1e300, 1.0])
    np.testing.assert_allclose(
        Table.standardize(base * units).take(range(4)), Table.standardize(base).take(range(4)), atol=1e-9
    )


def test_a_column_of_zeros_has_scale_zero_and_no_warning():
    with np.errstate(all="raise"):
        location, scale = location_and_scale(np.zeros((5, 1)))
    assert location[0] == scale[0] == 0.0


def test_cached_and_uncached_views_are_equal(monkeypatch):
    X = sample()
    cached = Table.standardize(X)
    monkeypatch.setattr(table_module, "CACHE_BYTES", 0)
    uncached = Table.standardize(X)
    assert cached.cached is not None
    assert uncached.cached is None
    for columns in ([0, 1, 2, 3], [3, 1], [2, 2], []):
        for rows in (slice(None), slice(10, 20), slice(499, 500)):
            taken = cached.take(columns, rows)
            assert taken.shape[0] == len(columns)
            np.testing.assert_array_equal(taken, uncached.take(columns, rows))


def test_a_standardised_table_has_mean_zero_and_deviation_one():
    table = Table.standardize(sample())
    assert table.shape == (500, 4)
    np.testing.assert_allclose(table.take(range(4)).mean(axis=1), 0.0, atol=1e-10)
    np.testing.assert_allclose(table.take(range(4)).std(axis=1), 1.0, atol=1e-10)


def test_with_scaling_keeps_the_scaling_of_other_rows():
    X = sample()
    table = Table.standardize(X)
    new = Table.with_scaling(X[:7], table.location, table.scale)
    np.testing.assert_array_equal(new.take([1, 3]), table.take([1, 3], slice(0, 7)))


@pytest.mark.parametrize("cache", [0, 2**30])
@pytest.mark.parametrize("step", [1, 3, 8])
def test_thinning_takes_every_nth_row_on_the_same_scale(cache, step, monkeypatch):
    monkeypatch.setattr(table_module, "CACHE_BYTES", cache)
    table = Table.standardize(sample())
    thin = table.thin(step)
    assert thin.shape == (-(-500 // step), 4)
    np.testing.assert_array_equal(thin.take(range(4)), table.take(range(4))[:, ::step])


@pytest.mark.parametrize("most", [1, 7, 333, 499, 500, 1000])
def test_spread_rows_are_different_ones_from_all_parts_on_the_same_scale(most):
    X = sample()
    table = Table.standardize(X)
    some = table.spread(most)
    rows = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in some.X]
    assert len(rows) == min(most, 500)
    assert np.diff([*rows, 500]).max() <= -(-500 // most)
    assert np.diff(rows).min(initial=1) >= 1
    np.testing.assert_array_equal(some.take(range(4)), table.take(range(4))[:, rows])


@pytest.mark.parametrize("n", [1, 255, 256, 257, 10_000])
@pytest.mark.parametrize("floats", [0, 1, 100, 10**7])
def test_row_slices_cover_every_row_once(n, floats):
    rows = np.concatenate([np.arange(n)[rows] for rows in row_slices(n, floats)])
    np.testing.assert_array_equal(rows, np.arange(n))
    longest = max(s.stop - s.start for s in row_slices(n, floats))
    assert longest <= max(256, table_module.BLOCK_BYTES // (8 * max(floats, 1)))
