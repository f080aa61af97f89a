"""The standardised view of the data: extreme values, with and without a copy, sampled, and sent to workers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from heterodag.core import table as table_module
from heterodag.core.table import Table, location_and_scale, row_slices
from heterodag.scores.spline_design import basis_columns, spline_of


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


@pytest.mark.parametrize("cache", [0, 2**30], ids=["never kept", "kept"])
@pytest.mark.parametrize("rows", [1, 7, 333, 499, 500, 1000])
def test_a_sample_is_different_rows_from_all_parts_on_the_same_scale(rows, cache, monkeypatch):
    monkeypatch.setattr(table_module, "CACHE_BYTES", cache)
    X = sample()
    table = Table.standardize(X)
    some = table.sample(rows)
    which = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in some.X]
    assert len(which) == min(rows, 500)
    assert which[0] == 0
    assert np.diff([*which, 500]).max() <= -(-500 // rows)  # no gap, the one at the end included
    assert np.diff(which).min(initial=1) >= 1
    np.testing.assert_array_equal(some.take(range(4)), table.take(range(4))[:, which])


def test_one_row_more_does_not_halve_the_sample():
    X = np.arange(5002.0).reshape(2501, 2)
    some = Table.standardize(X).sample(2500)
    assert some.shape == (2500, 2)
    assert set(np.diff(some.X[:, 0])) <= {2.0, 4.0}
    assert some.X[0, 0] == 0.0
    assert some.X[-1, 0] >= 4998.0
    assert Table.standardize(X[:2500]).sample(2500).shape == (2500, 2)
    # Gaps are even: none is more than a row longer than another.
    gaps = np.diff(Table.standardize(X).sample(1000).X[:, 0]) / 2
    assert set(gaps) == {2.0, 3.0}


def rows_of(some, table):
    """Return which rows of a table a sample holds; the first column numbers them."""
    numbers = some.X[:, 0]
    assert np.isin(numbers, table.X[:, 0]).all()
    return numbers.astype(int)


def numbered(n, far=(), deviations=50.0):
    """Return a table of numbered rows, some of which are far out in another column."""
    X = np.column_stack([np.arange(float(n)), np.random.default_rng(4).normal(size=n)])
    table = Table.standardize(X)
    X[list(far), 1] = deviations
    return Table.with_scaling(X, table.location, table.scale)


@pytest.mark.parametrize("cache", [0, 2**30], ids=["never kept", "kept"])
@pytest.mark.parametrize("deviations", [50.0, -50.0, 1e6])
def test_a_row_far_out_is_in_every_sample(deviations, cache, monkeypatch):
    """An even sample of 40 of 2000 rows would have it once in fifty times."""
    monkeypatch.setattr(table_module, "CACHE_BYTES", cache)
    for row in (1, 777, 1999):
        table = numbered(2000, [row], deviations)
        for rows in (4, 40, 1999):
            which = rows_of(table.sample(rows), table)
            assert row in which
            assert len(which) == len(set(which.tolist())) == rows
            assert (np.diff(which) > 0).all()
            # The others are as evenly spread as they would be without it.
            others = np.searchsorted(np.delete(np.arange(2000), row), which[which != row])
            assert set(np.diff(others)) <= {1999 // (rows - 1), -(-1999 // (rows - 1))}


def test_far_rows_are_at_most_a_quarter_the_farthest_first():
    rng = np.random.default_rng(5)
    far = np.sort(rng.choice(np.arange(1, 1000), size=300, replace=False))
    size = rng.uniform(20.0, 1e3, size=300)
    table = numbered(1000)
    table.X[far, 1] = size
    table = Table.with_scaling(table.X, table.location, table.scale)
    for rows in (100, 403, 600):
        which = rows_of(table.sample(rows), table)
        assert len(which) == len(set(which.tolist())) == rows
        assert set(far[np.argsort(-size)][: rows // 4]) <= set(which.tolist())
        # The rest is even: other far rows are in it as often as any.
        rest = np.setdiff1d(which, far[np.argsort(-size)][: rows // 4])
        left = 300 - min(300, rows // 4)
        assert np.isin(rest, far).mean() == pytest.approx(left / (1000 - min(300, rows // 4)), abs=0.08)
    assert rows_of(table.sample(3), table).tolist() == [0, 333, 666]  # a quarter of three is none


def test_without_far_rows_a_sample_is_evenly_spread():
    """Rows at 9 deviations are not far out yet, those at 11 are."""
    for far, deviations, kept in (((), 0.0, False), ((5, 6, 7), 9.0, False), ((5, 6, 7), 11.0, True)):
        table = numbered(3000, far, deviations)
        which = rows_of(table.sample(1000), table)
        assert (which.tolist() == list(range(0, 3000, 3))) is not kept
        assert ({5, 6, 7} <= set(which.tolist())) is kept


def test_a_sample_of_all_rows_is_the_table_itself():
    table = numbered(100, range(50))
    assert table.sample(100) is table.sample(10**9) is table
    assert table.sample(99).shape == (99, 2)


def test_a_table_travels_with_its_numbers_only():
    """With what it remembers, a table of 0.64 MB once weighed 7.3 MB in every message to a worker."""
    X = np.random.default_rng(3).normal(size=(2000, 40))
    table = Table.standardize(X)
    small = len(pickle.dumps(table))
    assert small < 1.05 * X.nbytes
    for j in range(40):
        basis_columns(table, j)
        spline_of(table, j)
    assert sum(getattr(value, "nbytes", 0) for value in table.memo.values()) > 5 * X.nbytes
    packed = pickle.dumps(table)
    assert len(packed) == small
    again = pickle.loads(packed)
    assert again.memo == {}
    assert again.cached is not None
    np.testing.assert_array_equal(again.take(range(40)), table.take(range(40)))
    np.testing.assert_array_equal(basis_columns(again, 7), basis_columns(table, 7))
    assert len(table.memo) == 81  # the sender forgets nothing: columns, splines, and how much it keeps


def test_a_large_table_arrives_without_a_copy(monkeypatch):
    table = Table.standardize(sample())
    monkeypatch.setattr(table_module, "CACHE_BYTES", 0)
    again = pickle.loads(pickle.dumps(table))
    assert again.cached is None
    np.testing.assert_array_equal(again.take([2, 0]), table.take([2, 0]))


@pytest.mark.parametrize("n", [1, 255, 256, 257, 10_000])
@pytest.mark.parametrize("floats", [0, 1, 100, 10**7])
def test_row_slices_cover_every_row_once(n, floats):
    rows = np.concatenate([np.arange(n)[rows] for rows in row_slices(n, floats)])
    np.testing.assert_array_equal(rows, np.arange(n))
    longest = max(s.stop - s.start for s in row_slices(n, floats))
    assert longest <= max(256, table_module.BLOCK_BYTES // (8 * max(floats, 1)))


def test_a_table_that_travels_again_finds_what_was_found_before():
    table = Table.standardize(np.random.default_rng(5).standard_normal((50, 3)))
    sent = pickle.dumps(table)
    first, second = pickle.loads(sent), pickle.loads(sent)
    basis_columns(first, 1)
    assert second.memo is first.memo
    assert second.memo is not table.memo
    assert second.cached is first.cached
    others = [pickle.loads(pickle.dumps(Table.standardize(table.X))) for _ in range(5)]
    assert all(not other.memo for other in others)
    assert not pickle.loads(sent).memo  # only the last few tables are remembered
