"""One pair of columns: the right answer where it can be seen, open where it cannot, and the same answer as HOST."""

import numpy as np
import pandas as pd
import pytest

from heterodag import HOST
from heterodag.errors import DataError, DataWarning
from heterodag.pairs import direction


def curved(seed, n=400):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, n)
    return x, np.tanh(2 * x) + np.exp(0.4 * x) * 0.4 * rng.standard_normal(n)


def normal_line(seed, n=400):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    return x, x + rng.standard_normal(n)


def skewed_line(seed, n=400):
    rng = np.random.default_rng(seed)
    x = rng.exponential(size=n)
    return x, x + rng.exponential(size=n)


def test_directions_that_can_be_seen_are_right_and_decided():
    """A coin would be right in all twenty cases once in a million times."""
    found = [direction(*make(seed)) for seed in range(10) for make in (curved, skewed_line)]
    assert [answer.direction for answer in found] == ["->"] * 20
    assert not any(answer.open for answer in found)
    assert min(answer.link_nats for answer in found) > 20


def test_directions_that_cannot_be_seen_are_left_open():
    """Both directions of a straight line with normal noise fit equally well; a method that is sure there is wrong."""
    found = [direction(*normal_line(seed)) for seed in range(20)]
    assert sum(answer.open for answer in found) >= 19
    assert np.median([answer.nats for answer in found]) < 3


@pytest.mark.parametrize("noise", ["standard_normal", "exponential", "uniform", "laplace"])
def test_unrelated_columns_have_no_direction(noise):
    """Whatever their shapes: an edge that is not there must not be evidence against the direction that fits it worse."""
    rng = np.random.default_rng(5)
    found = [direction(rng.standard_normal(300), getattr(rng, noise)(size=300)) for _ in range(10)]
    assert all(answer.open for answer in found)
    assert sum(answer.link_nats > 0.0 for answer in found) <= 1
    assert sum(str(answer).endswith("no sign of a link") for answer in found) >= 9


def test_evidence_if_a_link_is_certain_leaves_out_that_there_may_be_none():
    rng = np.random.default_rng(0)
    unrelated = direction(rng.standard_normal(300), rng.exponential(size=300))
    assert unrelated.nats == 0.0 < unrelated.nats_if_linked
    for make in (curved, normal_line, skewed_line, coarse):
        answer = direction(*make(1))
        assert answer.nats == pytest.approx(max(min(answer.nats_if_linked, answer.link_nats), 0.0))


@pytest.mark.parametrize("make", [curved, normal_line, skewed_line])
def test_swapping_scaling_and_shifting_change_nothing_else(make):
    x, y = make(1)
    one, other, scaled = direction(x, y), direction(y, x), direction(5 - 3 * x, 1e4 * y)
    assert {one.direction, other.direction} == {"->", "<-"}
    assert (one.nats, one.link_nats) == pytest.approx((other.nats, other.link_nats), abs=1e-6)
    assert scaled.direction == one.direction
    # The families of densities contain their mirror images, so only rounding is left.
    assert scaled.nats == pytest.approx(one.nats, abs=0.05)


def coarse(seed, n=300):
    """Without any edge these columns are explained better than with the edge turned round."""
    x, y = curved(seed, n)
    return np.round(x), np.round(2 * y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [curved, normal_line, skewed_line, coarse])
def test_the_answer_is_that_of_host(make):
    """The same losses; HOST fits them with less effort, and may leave the edge out instead of turning it."""
    for seed in range(5):
        x, y = make(seed)
        answer, model = direction(x, y), HOST().fit(np.column_stack([x, y]))
        assert model.adjacency_.any()
        nats = float(np.nanmax(model.direction_nats_))
        assert nats == pytest.approx(answer.nats, abs=max(1.0, 0.05 * answer.nats))
        if not answer.open:
            assert int(model.order_[0]) == (answer.direction == "<-")


def test_missing_rows_are_refused_or_left_out():
    x, y = curved(2)
    x[:3] = np.nan
    with pytest.raises(DataError, match=r"Missing values \(NaN\) in 'x' \(3\)"):
        direction(x, y)
    with pytest.raises(DataError, match=r"Missing values \(NaN\) in 'dose' \(3\)"):
        direction(pd.Series(x, name="dose"), pd.Series(y, name="level"))
    with pytest.raises(DataError, match=r"Missing values \(NaN\) in 'x' \(3\)"):
        direction(np.ma.masked_equal(np.nan_to_num(x, nan=-999.0), -999.0), y)
    with pytest.warns(DataWarning, match="3 of 400 rows"):
        answer = direction(x, y, missing="drop")
    assert (answer.direction, answer.rows) == ("->", 397)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1.0, 2, 3], [1.0, 2], "`x` has 3 rows and `y` has 2"),
        ([[1.0], [2]], [1.0, 2], r"`x` must be one column of numbers; its shape is \(2, 1\)"),
        (range(20), [4.0] * 20, "'y' is constant"),
        (range(20), range(0, 40, 2), "'x' and 'y' are duplicates"),
        ([1.0, 2, 3], [3.0, 1, 4], "Too few rows"),
        (list("abcdefgh"), range(8), "Column 'x' is not numeric"),
        (range(8), pd.date_range("2026-01-01", periods=8), "Column 'y' is not numeric"),
        ([[1.0], [1.0, 2.0]], [1.0, 2.0], "`x` must be one column of numbers; its rows are no numbers"),
        (np.zeros(8, dtype=[("a", float)]), range(8), "`x` must be one column of numbers; its rows are records"),
    ],
)
def test_bad_columns_get_one_sentence(x, y, message):
    with pytest.raises(DataError, match=message):
        direction(x, y)
