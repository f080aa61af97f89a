"""Rows that depend on each other: the statistics keep their level, see what they should, and tell series from sorting."""

import numpy as np
import pytest

from heterodag.checks.autocorrelation import FEWEST, alike, inflation, roughness, runs, sorted_columns
from heterodag.checks.repeats import repeated_rows
from heterodag.checks.tables import refusal, table_findings


def labels(X):
    return [f"x{j}" for j in range(X.shape[1])]


def alarms(X, **options):
    return {one.check: one for one in table_findings(X, labels(X), **options).of("amber", "red")}


def series(n, d, rho, seed, burn=200):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n + burn, d))
    for i in range(1, len(x)):
        x[i] += rho * x[i - 1]
    return x[burn:]


def walk(n, d, seed):
    return np.cumsum(np.random.default_rng(seed).standard_normal((n, d)), axis=0)


def related(n, seed, noise=0.5):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    y = np.tanh(x) + noise * rng.standard_normal(n)
    return np.column_stack([x, y, x * y + noise * rng.standard_normal(n), rng.standard_normal(n)])


def test_independent_rows_are_rarely_doubted_however_heavy_their_tails():
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(300):
        X = rng.standard_cauchy((60, 6)) @ rng.standard_normal((6, 6))
        wrong += bool(alike(runs(X, None))[0].size)
    # The level is 0.0005 per table; three alarms in 300 tables have a chance below 0.001.
    assert wrong <= 2


@pytest.mark.parametrize(("rho", "severity"), [(0.5, "amber"), (0.95, "red")])
def test_autoregression_is_seen_in_small_tables(rho, severity):
    for seed in range(10):
        found = [one for one in alarms(series(150, 4, rho, seed)).values() if one.topic == "rows"]
        assert found, seed
        if rho > 0.9:
            assert found[0].severity == severity


def test_a_random_walk_is_red_and_a_reason_to_refuse():
    X = walk(1000, 5, 0)
    found = table_findings(X, labels(X))
    assert found.worst == "red"
    assert refusal(found).check == "random-walk"
    assert refusal(found).columns == ("x0", "x1", "x2", "x3", "x4")
    assert "independent ones" in refusal(found).sentence


def test_two_walks_among_many_columns_are_amber_and_named():
    X = np.column_stack([np.random.default_rng(2).standard_normal((500, 8)), walk(500, 2, 3)])
    found = alarms(X)
    assert found["autocorrelation"].severity == "amber"
    assert set(found["autocorrelation"].columns) == {"x8", "x9"}


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8])
def test_inflation_is_that_of_theory(rho):
    X = series(20_000, 4, rho, 5)
    expected = (1 + rho**2) / (1 - rho**2)  # Bartlett, for two autoregressions
    # Ranks correlate a little less than values, which matters most for strong dependence.
    assert inflation(runs(X, None), np.arange(4), local=False) == pytest.approx(expected, rel=0.12)


def test_roughness_has_the_spread_that_is_claimed():
    rng = np.random.default_rng(6)
    values, sd = roughness(runs(rng.standard_normal((400, 600)), None), np.arange(600))
    assert abs(values.mean()) < 4 * sd / np.sqrt(600)
    # 600 columns tell the standard deviation to about 3 %.
    assert values.std() == pytest.approx(sd, rel=0.12)


@pytest.mark.parametrize("noise", [1.0, 0.1])
def test_a_sorted_table_is_no_series(noise):
    for seed in range(5):
        X = related(400, seed, noise)
        found = alarms(X[np.argsort(X[:, 0])])
        assert set(found) <= {"sorted", "near-copies"}
        assert found["sorted"].severity == "amber"
        assert found["sorted"].columns == ("x0",)


def test_a_series_stays_one_when_its_time_is_a_column():
    X = np.column_stack([np.arange(400.0), walk(400, 4, 7)])
    assert {"random-walk", "running-number"} <= set(alarms(X))
    uneven = np.column_stack([np.sort(np.random.default_rng(8).random(400)), walk(400, 4, 7)])
    assert {name: one.severity for name, one in alarms(uneven).items()} == {
        "sorted": "amber",
        "autocorrelation": "red",
    }


def test_few_ones_at_the_end_are_not_sorted_on_purpose():
    X = related(200, 9)
    last = np.zeros(200)
    last[-1] = 1.0
    assert sorted_columns(np.column_stack([X, last]), None) == []
    last[-40:] = 1.0
    assert sorted_columns(np.column_stack([X, last]), None) == [4]
    assert sorted_columns(np.column_stack([X, -last]), None) == [4]


def test_batches_one_after_the_other_are_a_drift():
    X = related(600, 10) + np.repeat([[0.0], [1.5], [-1.5]], 200, axis=0)
    found = alarms(X)
    assert set(found) == {"drift"}
    groups = np.repeat([2, 0, 1], 200)
    assert alarms(X, groups=groups) == {}


def test_conditions_do_not_hide_a_series():
    X = walk(600, 4, 11)
    assert "random-walk" in alarms(X, groups=np.repeat([0, 1], 300))


def test_a_rare_yes_tells_nothing_about_the_rows():
    rng, wrong = np.random.default_rng(12), 0
    for _ in range(200):
        X = np.column_stack([rng.standard_normal(300), rng.random(300) < 0.02])
        wrong += bool(alike(runs(X.astype(float), None))[0].size)
    assert wrong <= 1


def units(n, size, shared, seed):
    rng = np.random.default_rng(seed)
    unit = np.arange(n) // size
    own = rng.standard_normal((unit.max() + 1, 4))[unit]
    return rng.permutation(5000)[unit], np.sqrt(shared) * own + np.sqrt(1 - shared) * rng.standard_normal((n, 4))


def test_units_are_seen_in_a_row_or_by_their_number():
    for seed in range(5):
        number, X = units(500, 5, 0.6, seed)
        shuffled = np.random.default_rng(seed).permutation(500)
        assert "autocorrelation" in alarms(X)
        assert alarms(X[shuffled]) == {}  # out of reach, and said to be
        found = alarms(np.column_stack([number, X])[shuffled])
        assert found["repeated-units"].columns == ("x0",)
        together = np.column_stack([np.sort(number), X])
        assert "repeated-units" in alarms(together)
        assert "sorted" not in alarms(together)


def test_whole_numbers_that_cause_something_are_no_units():
    rng = np.random.default_rng(13)
    age = np.round(rng.uniform(18, 80, 500))
    X = np.column_stack([age, (age - 50) ** 2 / 300 + rng.standard_normal(500), rng.standard_normal(500)])
    assert alarms(X) == {}


def test_copied_rows_are_counted_and_placed():
    X = related(200, 14)
    found = alarms(np.vstack([X, X[:3]]))["repeated-rows"]
    assert found.rows == (200, 201, 202)
    assert found.severity == "amber"
    assert alarms(np.vstack([X, X]))["repeated-rows"].severity == "red"
    assert repeated_rows(np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0]])).tolist() == [1]


def test_equal_rows_of_coarse_columns_are_chance():
    rng = np.random.default_rng(15)
    X = np.column_stack([rng.integers(0, 4, 500), rng.integers(0, 3, 500), rng.poisson(2, 500)]).astype(float)
    assert "repeated-rows" not in alarms(X)


def test_too_few_rows_say_so():
    X = walk(FEWEST - 1, 2, 16)
    texts = [one.sentence for one in table_findings(X, labels(X)) if one.topic == "rows"]
    assert texts == [f"{FEWEST - 1} rows are too few to tell whether rows depend on each other."]


def test_long_tables_are_judged_by_samples():
    X = walk(60_000, 3, 17)
    assert "random-walk" in alarms(X)
    assert alarms(np.random.default_rng(18).standard_normal((60_000, 3))) == {}
