"""Kinds of columns, codes, piles, extreme values and overlap: each defect is named, and nothing else is."""

import numpy as np
import pytest

from heterodag import simulate
from heterodag.checks.tables import table_findings


def names(X):
    return [f"x{j}" for j in range(X.shape[1])]


def alarms(X, **options):
    return {one.check: one for one in table_findings(X, names(X), **options).of("amber", "red")}


@pytest.fixture
def clean():
    X = simulate(400, 5, "ER", 1, "straight", spread="straight", random_state=3).X
    assert alarms(X) == {}
    return X.copy()


RNG = np.random.default_rng(0)
COLUMNS = {
    "two-values": lambda x: (x > 0).astype(float),
    "labels": lambda x: np.searchsorted(np.quantile(x, [0.3, 0.6]), x).astype(float),
    "counts": lambda x: RNG.poisson(np.exp(1 + 0.3 * x / x.std())).astype(float),
    "few-values": lambda x: np.round(x / x.std()).clip(-3, 3) * 0.37,
    "rounding": lambda x: np.round(x / x.std() * 2).clip(-9, 9) * 0.517,
    "running-number": lambda x: 17.0 - 0.25 * np.arange(len(x)),
    "identifier": lambda x: RNG.permutation(len(x)) + 5000.0,
    "limit": lambda x: np.minimum(x, np.quantile(x, 0.9)),
    "repeated-value": lambda x: np.where(RNG.random(len(x)) < 0.1, 0.123, x),
}


@pytest.mark.parametrize("check", COLUMNS)
def test_a_column_of_another_kind_is_named(clean, check):
    clean[:, 2] = COLUMNS[check](clean[:, 2])
    found = alarms(clean)
    assert set(found) == {check}
    assert found[check].columns == ("x2",)
    assert found[check].remedy
    assert found[check].severity == ("red" if check == "running-number" else "amber")


def test_columns_of_one_kind_share_a_finding(clean):
    for j in (0, 3):
        clean[:, j] = clean[:, j] > 0
    found = alarms(clean)
    assert found["two-values"].columns == ("x0", "x3")
    assert found["two-values"].sentence == "Columns 'x0' and 'x3' hold two values only (0, 1 in 'x0')."


def test_fine_rounding_and_large_whole_numbers_are_continuous(clean):
    clean[:, 0] = np.round(clean[:, 0] / clean[:, 0].std(), 1)
    clean[:, 1] = np.round(1000 * clean[:, 1])
    clean[:, 2] = RNG.poisson(np.exp(6 + clean[:, 2] / clean[:, 2].std()))
    assert alarms(clean) == {}


@pytest.mark.parametrize("code", [-999.0, -99.0, 9999.0, 99999.0])
@pytest.mark.parametrize("times", [1, 6])
def test_codes_are_red_with_their_number(clean, code, times):
    clean[RNG.choice(400, times, replace=False), 3] = code
    found = alarms(clean)
    assert set(found) == {"codes"}
    assert found["codes"].severity == "red"
    assert found["codes"].columns == ("x3",)
    assert f"{code:.0f} in {times} row" in found["codes"].sentence


def test_several_codes_of_a_column_are_all_told(clean):
    clean[:4, 1], clean[4:9, 1], clean[9:12, 1] = -999.0, -998.0, 9999.0
    sentence = alarms(clean)["codes"].sentence
    assert all(text in sentence for text in ("-999 in 4 rows", "-998 in 5 rows", "9999 in 3 rows"))


def test_a_measured_value_that_looks_like_a_code_is_none(clean):
    clean[:, 1] = 985.0 + 14.0 * np.searchsorted(np.sort(clean[:, 1]), clean[:, 1]) / 399  # up to 999, in hPa
    assert clean[:, 1].max() == 999.0
    assert alarms(clean) == {}


def test_a_sign_gives_a_code_away(clean):
    clean[:, 1] = np.exp(0.2 * clean[:, 1])
    clean[[5, 50, 200], 1] = -1.0
    assert alarms(clean)["codes"].columns == ("x1",)
    below_zero = np.round(clean)
    below_zero[:, 1] = np.abs(np.round(3 * clean[:, 2])) - 1  # whole numbers from -1 on: no gap, no code
    assert "codes" not in alarms(below_zero)


@pytest.mark.parametrize(("size", "severity"), [(40.0, "amber"), (1e6, "red"), (1e300, "red")])
def test_one_wild_value_is_found_with_row_and_column(clean, size, severity):
    clean[17, 2] = size * clean[:, 2].std()
    found = alarms(clean)
    assert set(found) == {"extreme-values"}
    assert found["extreme-values"].severity == severity
    assert (found["extreme-values"].rows, found["extreme-values"].columns) == ((17,), ("x2",))
    assert "'x2' is" in found["extreme-values"].sentence
    assert "in row 17" in found["extreme-values"].sentence


def test_several_wild_values_do_not_hide_each_other(clean):
    clean[[3, 99], 0] = 1e5, 1.1e5
    clean[250, 4] = -1e4
    found = alarms(clean)["extreme-values"]
    assert found.rows == (3, 99, 250)
    assert set(found.columns) == {"x0", "x4"}


def test_an_effect_far_out_with_its_cause_is_no_mistake(clean):
    clean[:, 1] = 0.1 * clean[:, 1] + clean[:, 0] ** 3
    clean[7, 0] = 30 * clean[:, 0].std()
    clean[7, 1] = clean[7, 0] ** 3
    assert alarms(clean) == {}


def test_a_row_that_was_set_says_nothing_about_the_column(clean):
    fixed = np.zeros(clean.shape, dtype=bool)
    fixed[300:, 2] = True
    clean[300:, 2] = 50.0
    assert alarms(clean) != {}
    groups = fixed[:, 2].astype(int)
    assert alarms(clean, groups=groups, fixed=fixed) == {}
    clean[17, 2] = 1e6
    assert alarms(clean, groups=groups, fixed=fixed)["extreme-values"].rows == (17,)


def test_rows_are_named_by_where_they_stood(clean):
    clean[17, 2] = 1e6
    found = alarms(clean, positions=np.arange(400) + 1000)["extreme-values"]
    assert found.rows == (1017,)
    assert "in row 1017" in found.sentence


def test_near_copies_are_grouped_also_if_they_are_bent(clean):
    twice = np.column_stack([clean, np.exp(clean[:, 1] / clean[:, 1].std()), -clean[:, 1]])
    found = alarms(twice)
    assert set(found) == {"near-copies"}
    assert found["near-copies"].columns == ("x1", "x5", "x6")


def test_a_near_sum_is_told_with_its_parts(clean):
    total = clean[:, 0] + clean[:, 2] + 0.01 * RNG.standard_normal(400)
    found = alarms(np.column_stack([clean, total]))
    assert set(found) == {"near-collinear"}
    assert set(found["near-collinear"].columns) == {"x0", "x2", "x5"}


def test_one_shared_far_row_makes_no_copies(clean):
    clean[9] = 1e9 * (1 + np.arange(5))
    assert "near-copies" not in alarms(clean)
    assert "near-collinear" not in alarms(clean)


@pytest.mark.parametrize("mechanism", ["linear", "nonlinear"])
def test_the_heavy_tails_of_the_paper_raise_no_red(mechanism):
    amber = 0
    for seed in range(25):
        found = table_findings(
            simulate(300, 8, mechanism=mechanism, random_state=seed).X, [f"x{j}" for j in range(8)]
        )
        assert found.of("red") == []
        amber += bool(found.of("amber"))
    # At most 1 of 100 clean tables: three of 25 have a chance of 0.002.
    assert amber <= 2
