"""Normality statistics against SciPy's, their invariance, and functions handed in by users."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

from heterodag.core.normality import STATISTICS, get_statistic, shapiro_wilk, shapiro_wilk_weights
from heterodag.errors import ParameterError

every_statistic = pytest.mark.parametrize("name", list(STATISTICS))


def samples(n, rng):
    return np.array(
        [
            rng.normal(3, 2, n),
            rng.exponential(size=n),
            rng.standard_t(3, n),
            rng.uniform(size=n),
            rng.normal(size=n) ** 3,
        ]
    )


def anderson(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return -stats.anderson(x).statistic


def francia(x):
    n = len(x)
    scores = stats.norm.ppf((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    return np.corrcoef(np.sort(x), scores)[0, 1] ** 2


DIRECT = {
    "shapiro": lambda x: stats.shapiro(x).statistic,
    "shapiro-francia": francia,
    "anderson-darling": anderson,
    "dagostino": lambda x: -(stats.skewtest(x).statistic ** 2) - stats.kurtosistest(x).statistic ** 2,
    "jarque-bera": lambda x: -len(x) / 6 * (stats.skew(x) ** 2 + stats.kurtosis(x) ** 2 / 4),
}


@every_statistic
@pytest.mark.parametrize("n", [20, 21, 500, 4999])
def test_statistics_equal_independent_implementations(name, n):
    table = samples(n, np.random.default_rng(n))
    expected = [DIRECT[name](row) for row in table]
    tolerance = 1e-8 if name.startswith("shapiro") else 1e-7
    np.testing.assert_allclose(STATISTICS[name](table), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, 8, 12])
def test_shapiro_wilk_of_few_rows(n):
    table = samples(n, np.random.default_rng(n))
    np.testing.assert_allclose(shapiro_wilk(table), [stats.shapiro(row).statistic for row in table], atol=1e-7)


@pytest.mark.parametrize("n", [3, 5, 6, 50, 1001])
def test_shapiro_wilk_weights_are_an_antisymmetric_unit_vector(n):
    weights = shapiro_wilk_weights(n)
    assert weights @ weights == pytest.approx(1.0)
    np.testing.assert_allclose(weights, -weights[::-1], atol=1e-12)
    assert (np.diff(weights) > 0).all()
    with pytest.raises(ValueError):
        weights[0] = 1.0


@every_statistic
def test_statistics_do_not_depend_on_shift_scale_and_sign(name):
    table = samples(300, np.random.default_rng(1))
    plain = STATISTICS[name](table)
    for shift, scale in [(100.0, 1.0), (0.0, 1e-5), (-7.0, 1e4), (2.0, -3.0)]:
        np.testing.assert_allclose(STATISTICS[name](shift + scale * table), plain, rtol=1e-6)


@every_statistic
def test_larger_means_more_normal(name):
    rng = np.random.default_rng(2)
    normal, skewed = (STATISTICS[name](draw(size=(100, 100))) for draw in (rng.normal, rng.exponential))
    assert (normal > skewed).sum() >= 95


@every_statistic
def test_statistics_leave_their_samples_alone_and_treat_rows_alone(name):
    table = samples(50, np.random.default_rng(3))
    kept = table.copy()
    together = STATISTICS[name](table)
    assert together.shape == (5,)
    assert (table == kept).all()
    np.testing.assert_allclose(together, [STATISTICS[name](row[None])[0] for row in table], rtol=1e-10)


@every_statistic
@pytest.mark.parametrize("n", [5, 6, 7, 8, 9])
def test_statistics_are_finite_on_the_smallest_tables_that_are_accepted(name, n):
    if name == "dagostino" and n < 8:
        with pytest.raises(ParameterError, match="fewer than 8 rows"):
            STATISTICS[name](samples(n, np.random.default_rng(4)))
        return
    assert np.isfinite(STATISTICS[name](samples(n, np.random.default_rng(4)))).all()


def test_named_statistics_are_found():
    for name, function in STATISTICS.items():
        assert get_statistic(name) is function


@pytest.mark.parametrize("wrong", ["kolmogorov", "", None, 3])
def test_an_unknown_name_is_answered_with_the_known_ones(wrong):
    with pytest.raises(ParameterError) as caught:
        get_statistic(wrong)
    assert "normality" in str(caught.value)
    assert all(f"'{name}'" in str(caught.value) for name in STATISTICS)


def test_a_function_of_one_sample_is_applied_to_every_row():
    table = samples(40, np.random.default_rng(5))
    wrapped = get_statistic(lambda x: stats.shapiro(x).statistic)
    np.testing.assert_allclose(wrapped(table), shapiro_wilk(table), atol=1e-8)


def test_a_function_that_changes_its_sample_does_no_harm():
    table = samples(40, np.random.default_rng(6))
    kept = table.copy()

    def careless(x):
        x.sort()
        return x[0]

    np.testing.assert_array_equal(get_statistic(careless)(table), kept.min(axis=1))
    np.testing.assert_array_equal(table, kept)


@pytest.mark.parametrize(
    "function",
    [lambda x: np.nan, lambda x: np.inf, lambda x: x, lambda x: (0.9, 0.1), lambda x: None, lambda x: []],
    ids=["nan", "inf", "array", "pair", "none", "empty"],
)
def test_a_function_must_return_one_finite_number(function):
    with pytest.raises(ParameterError, match=r"normality.*one finite number"):
        get_statistic(function)(np.zeros((2, 9)))


def test_a_function_that_returns_text_is_named():
    with pytest.raises(ValueError) as caught:
        get_statistic(lambda x: "very")(np.zeros((2, 9)))
    assert isinstance(caught.value, ParameterError)


def test_one_number_in_an_array_will_do():
    assert get_statistic(lambda x: np.array([[2.0]]))(np.zeros((3, 9))).tolist() == [2.0, 2.0, 2.0]
