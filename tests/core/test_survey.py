"""One pass over a table in parts: exact moments, a sample that does not depend on the parts, gaps with their place."""

import numpy as np
import pytest

from heterodag.core.parts import array_parts, part_rows
from heterodag.core.survey import stratified_rows, survey


def run(function, jobs):
    return [function(*job) for job in jobs]


def look_at(X, rows=500, per_part=700, **options):
    return survey(tuple(array_parts(X, per_part)), rows, np.random.default_rng(0), run, **options)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    return rng.standard_normal((5000, 4)) * [1.0, 1e-9, 1e9, 3.0] + [0.0, 5.0, 1e10, -2.0]


@pytest.mark.parametrize("per_part", [1, 700, 5000])
def test_moments_and_ranges_are_those_of_all_rows(table, per_part):
    table = table[: 50 if per_part == 1 else 5000]
    found = look_at(table, per_part=per_part)
    np.testing.assert_allclose(found.location, table.mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.scale, table.std(axis=0), rtol=1e-6)
    np.testing.assert_array_equal(found.low, table.min(axis=0))
    np.testing.assert_array_equal(found.high, table.max(axis=0))
    assert (found.n_rows, found.dropped, found.gap) == (len(table), 0, None)


def test_values_near_the_largest_number_do_not_overflow():
    X = np.random.default_rng(0).standard_normal((3000, 2)) * 1e300
    np.testing.assert_allclose(look_at(X).scale, (X / 1e300).std(axis=0) * 1e300, rtol=1e-10)


def test_the_sample_does_not_depend_on_the_parts_and_has_a_row_of_every_stretch(table):
    one, other = look_at(table, per_part=700), look_at(table, per_part=111)
    np.testing.assert_array_equal(one.sample, other.sample)
    np.testing.assert_array_equal(one.positions // 10, np.arange(500))
    np.testing.assert_array_equal(table[one.positions], one.sample)


def test_a_sample_as_large_as_the_table_is_the_table(table):
    np.testing.assert_array_equal(look_at(table, rows=9999).sample, table)
    np.testing.assert_array_equal(stratified_rows(7, 7, np.random.default_rng(0)), np.arange(7))


def test_gaps_are_found_with_their_place_and_left_out_of_everything(table):
    X = table.copy()
    X[[1500, 4000], 2] = np.nan
    found = look_at(X)
    assert (found.n_rows, found.dropped) == (4998, 2)
    assert (found.gap.column, found.gap.row, found.gap.infinite, found.gap.rows) == (2, 1500, False, 2)
    assert (found.gap.part.label, found.gap.within) == ("rows 1400 to 2099", 100)
    assert np.isfinite(found.sample).all()
    np.testing.assert_allclose(found.location, np.delete(X, [1500, 4000], axis=0).mean(axis=0), rtol=1e-10)


def test_infinite_values_are_named_before_missing_ones(table):
    X = table.copy()
    X[100, 0], X[3000, 1] = np.nan, np.inf
    gap = look_at(X).gap
    assert (gap.column, gap.row, gap.infinite, gap.rows) == (1, 3000, True, 1)


class Count:
    def __init__(self, X):
        self.rows = [len(X)]

    def join(self, later):
        self.rows += later.rows


def test_stretches_and_looks_are_those_asked_for(table):
    found = look_at(table, stretches=np.array([[650, 760], [4990, 5000]]), look=Count)
    np.testing.assert_array_equal(found.stretches[0], table[650:760])
    np.testing.assert_array_equal(found.stretches[1], table[4990:])
    assert found.seen.rows == [*[700] * 7, 100]


def test_parts_have_a_bounded_size():
    assert part_rows(20) * 20 * 8 <= 2**24
    assert part_rows(10**9) == 1
