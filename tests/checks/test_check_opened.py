"""The check of a table on disk: what it finds, in the words of the check in memory, whatever the cut."""

from __future__ import annotations

import re
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest

from heterodag import check_table, open_table
from heterodag.checks import opened, passing
from heterodag.checks.autocorrelation import RUN, stretch_starts
from heterodag.checks.opened import opened_findings
from heterodag.checks.passing import Passed
from heterodag.errors import ParameterError

N = 120_000


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def values(n=N, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def clean(n=N):
    return pd.DataFrame(values(n), columns=list("abcd"))


def check(table, **options):
    table.to_parquet("data.parquet", row_group_size=50_000)
    return check_table(open_table("data.parquet", rows_per_part=17_000), **options)


def told(findings):
    """Return the findings without the distances in robust standard deviations, which the sample tells."""
    distance = re.compile(r"[\d.e+]+(?= robust standard| times as far)")
    return [
        (one.severity, one.check, distance.sub("#", one.sentence)) for one in findings if one.check != "looked-at"
    ]


def set_cells(column, rows, value):
    def change(table):
        table.loc[rows, column] = value
        return table

    return change


#: Every defect with the check that tells it; of these the whole table on disk and in memory is told in the same words.
EXACT = {
    "few-rows": lambda t: t,
    "missing": set_cells("b", [5, 77_777], np.nan),
    "infinite": set_cells("c", [77_777], np.inf),
    "constant": lambda t: t.assign(b=3.0),
    "running-number": lambda t: t.assign(b=np.arange(N) * 0.5),
    "random-walk": lambda t: t.cumsum(),
    "autocorrelation": lambda t: t.ewm(alpha=0.7, adjust=False).mean(),
    "drift": lambda t: t.add(np.linspace(0, 2, N), axis=0),
    "sorted": lambda t: t.sort_values("b", ignore_index=True),
    "extreme-values": set_cells("a", [99_999], 1e5),
    "repeated-rows": lambda t: pd.concat([t.head(N - 9), t.head(9)], ignore_index=True),
    "copies": lambda t: t.assign(b=2 * t["a"] + 1),
    "repeated-units": lambda t: (
        t.assign(unit=np.arange(N) // 5 % 24_000) + np.repeat(values(N // 5, 5, 9), 5, axis=0) * [1, 1, 1, 1, 0]
    ),
}


@pytest.mark.parametrize("name", EXACT)
def test_the_words_are_those_of_the_check_in_memory(name):
    table = EXACT[name](clean())
    found, expected = check(table), check_table(table)
    assert name in [one.check for one in found]
    assert told(found) == told(expected)
    # Positions are exact, too.
    rows = {one.check: one.rows for one in expected}
    assert all(one.rows == rows[one.check] for one in found if one.check != "looked-at")


#: Defects whose figures come from the sample: found, at the same columns and severity.
FOUND = {
    "two-values": lambda t: t.assign(b=(t["a"] > 0) * 1.0),
    "labels": lambda t: t.assign(b=np.arange(N) % 5),
    "counts": lambda t: t.assign(b=np.random.default_rng(1).poisson(4, N)),
    "rounding": lambda t: t.assign(b=(2.5 * t["b"]).round() * 0.7),
    "limit": lambda t: t.assign(b=t["b"].clip(lower=-1)),
    "repeated-value": lambda t: t.assign(b=t["b"].mask(np.arange(N) % 10 == 0, 0.123)),
    "identifier": lambda t: t.assign(b=np.random.default_rng(1).permutation(N)),
    "codes": set_cells("b", list(range(0, N, 50)), -999.0),
    "near-copies": lambda t: t.assign(b=t["a"] + 0.001 * t["b"]),
    "near-collinear": lambda t: t.assign(b=t["a"] + t["c"] + 0.01 * t["b"]),
}


@pytest.mark.parametrize("name", FOUND)
def test_columns_and_values_are_found_in_the_sample(name):
    table = FOUND[name](clean())
    found, expected = check(table), check_table(table)
    alarms = [(one.severity, one.check, one.columns) for one in found.of("amber", "red")]
    assert alarms == [(one.severity, one.check, one.columns) for one in expected.of("amber", "red")]
    assert name in [check for _, check, _ in alarms]


def test_a_code_in_few_rows_is_found_and_counted_though_the_sample_has_none():
    found = {one.check: one for one in check(set_cells("b", [11, 70_001, 70_003], -999.0)(clean()))}
    assert "-999 in 3 rows of 'b'" in found["codes"].sentence


def test_clean_tables_are_green_and_tell_how_many_rows_were_looked_at():
    for seed in range(5):
        table = pd.DataFrame(values(seed=seed) ** (1 + 2 * (seed % 2)), columns=list("abcd"))
        found = check(table)
        assert found.worst == "green", str(found)
    sentence = next(one.sentence for one in found if one.check == "looked-at")
    assert sentence == (
        "Columns and values were looked at in 100000 rows drawn from all over the table, dependence of rows in 20 stretches "
        "of neighbours, 20000 rows; gaps, constant columns, copies and extreme values in all 120000."
    )


def test_the_cut_does_not_matter():
    table = clean()
    table.iloc[::1000, 1] = np.nan
    table.to_parquet("data.parquet", row_group_size=30_000)
    one, other = (check_table(open_table("data.parquet", rows_per_part=k)) for k in (999, 120_000))
    assert one == other


def test_few_rows_are_read_whole():
    table = clean(5000).assign(e=1)
    assert told(check(table)) == told(check_table(table))
    assert told(check(clean(3))) == told(check_table(clean(3)))


def test_text_gaps_and_nothing_left_are_findings():
    table = clean().assign(city="Ulm")
    table.to_parquet("data.parquet")
    found = check_table(open_table("data.parquet", strict=False))
    assert (
        found[0].sentence == "Column 'city' holds something other than numbers ('Ulm' in 'city'); a fit refuses that."
    )
    empty = check(clean().assign(b=np.nan))
    assert [one.check for one in empty] == ["missing"]
    assert check(set_cells("b", [5], np.nan)(clean()), missing="drop")[0].sentence.endswith("and are left out.")


def test_lazy_frames_are_checked_and_groups_are_refused():
    assert check_table(pl.from_pandas(clean(2000)).lazy()).worst == "green"
    with pytest.raises(ParameterError, match="`groups` must not be given with a table on disk"):
        check_table(open_table(clean(2000)), groups=[0] * 2000)


def test_copies_of_very_long_tables_are_estimated(monkeypatch):
    """Half of the rows are copies; 1,000 keys of 60,000 are kept, so the count has a standard deviation of about 4 %."""
    monkeypatch.setattr(passing, "_KEYS", 2_000)
    half = clean().head(N // 2)
    finding = {one.check: one for one in check(pd.concat([half, half], ignore_index=True))}["repeated-rows"]
    count = int(finding.sentence.removeprefix("About ").split()[0])
    assert abs(count - N / 2) < 0.2 * N
    assert set(finding.rows) <= set(range(N // 2, N))


def test_a_pass_keeps_the_extremes_with_their_positions(monkeypatch):
    monkeypatch.setattr(passing, "_ENDS", 7)
    X = values(1000, 3)
    X[10, 1] = X[500, 1] = X[:, 1].max() + 1
    passed = Passed(3)
    for start in range(0, 1000, 77):
        passed.add(X[start : start + 77])
    order = np.argsort(X, axis=0, kind="stable")
    np.testing.assert_array_equal(passed.at[0], order[:7].T)
    assert passed.at[1, 1, :2].tolist() == [10, 500]
    assert passed.value_range(2) == (X[:, 2].min(), X[:, 2].max())
    assert passed.count(1, X[10, 1]) == 2
    assert (passed.n, passed.complete, passed.lost) == (1000, 1000, 0)


def test_the_kernel_needs_no_pass_and_no_positions():
    X = np.cumsum(values(60_000), axis=0)
    starts = stretch_starts(len(X), 4)
    found = opened_findings(X[::7], [X[s : s + RUN] for s in starts], len(X), list("abcd"))
    assert "random-walk" in [one.check for one in found]
    assert next(one for one in found if one.check == "random-walk").sentence == next(
        one for one in check_table(X) if one.check == "random-walk"
    ).sentence.replace("x0", "a").replace("x1", "b").replace("x2", "c").replace("x3", "d")
    assert next(one for one in found if one.check == "looked-at").sentence.endswith("20000 rows.")


def test_memory_does_not_grow_with_the_rows(monkeypatch):
    """Twice the rows: the peak stays, where reading them all would add 19 MB."""
    monkeypatch.setattr(opened, "SAMPLE_ROWS", 20_000)
    monkeypatch.setattr(passing, "_KEYS", 20_000)
    peaks = []
    for n in (600_000, 1_200_000):
        clean(n).to_parquet("data.parquet", row_group_size=30_000)
        table = open_table("data.parquet", rows_per_part=30_000)
        tracemalloc.start()
        check_table(table)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
    assert peaks[1] < 60e6
