"""`check_table`: any table, what a fit refuses, the same words whatever the units and the order of the columns."""

import json
import string

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine

import heterodag
from heterodag import DataError, Finding, Findings, ParameterError, check_table, load_sachs, simulate
from heterodag.checks.tables import REFUSED, refusal


def frame(n=150, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    return pd.DataFrame({"a": x, "b": np.exp(0.5 * x) * rng.standard_normal(n), "c": rng.standard_normal(n)})


def told(found):
    return {(one.check, one.severity, tuple(sorted(one.columns)), one.rows) for one in found.of("amber", "red")}


def test_the_four_tables_of_a_new_user():
    walk = np.cumsum(np.random.default_rng(0).standard_normal((1000, 5)), axis=0)
    assert check_table(walk).worst == "red"
    wild = frame()
    wild.loc[42, "b"] = 1e6
    assert ("extreme-values", "red", ("b",), (42,)) in told(check_table(wild))
    wine = check_table(load_wine(as_frame=True).frame)
    assert ("labels", "amber", ("target",), ()) in told(wine)
    assert check_table(simulate(1000, 5, random_state=0).X).worst == "green"


def test_sachs_is_green_in_every_topic():
    found = check_table(load_sachs().data)
    assert found.worst == "green"
    assert [one.topic for one in found] == ["size", "rows", "columns", "values", "overlap"]


def test_every_frame_is_read_and_names_are_kept():
    table = frame()
    table.loc[3, "b"] = -999.0
    expected = told(check_table(table))
    assert expected == {("codes", "red", ("b",), ())}
    assert told(check_table(pl.from_pandas(table))) == expected
    assert told(check_table(table.to_numpy())) == {("codes", "red", ("x1",), ())}
    assert isinstance(check_table(table), Findings)
    assert isinstance(check_table(table)[0], Finding)


def test_what_a_fit_refuses_is_red_and_does_not_stop_the_check():
    table = frame().assign(city="Ulm", k=2.0, twice=lambda t: 2 * t.a)
    table.loc[[5, 6], "a"] = np.nan
    table.loc[7, "b"] = np.inf
    table.loc[100, "c"] = 1e6
    found = {one.check: one for one in check_table(table).of("red")}
    assert set(found) == {"text", "missing", "infinite", "constant", "copies", "extreme-values"}
    assert found["text"].columns == ("city",)
    assert "'Ulm'" in found["text"].sentence
    assert "2 of 150 rows (1.3 %)" in found["missing"].sentence
    assert "keeps 148." in found["missing"].remedy
    assert found["infinite"].rows == (7,)
    assert found["extreme-values"].rows == (100,)
    assert "in row 100 " in found["extreme-values"].sentence
    with pytest.raises(DataError):
        heterodag.HOST().fit(table[["a", "b", "c", "twice"]].dropna().replace(np.inf, 0.0))


@pytest.mark.parametrize(("lost", "severity"), [(3, "green"), (40, "amber")])
def test_dropped_rows_matter_if_they_are_many(lost, severity):
    table = frame()
    table.loc[: lost - 1, "b"] = np.nan
    found = next(one for one in check_table(table, missing="drop") if one.check == "missing")
    assert found.severity == severity
    assert "left out" in found.sentence


@pytest.mark.parametrize(
    ("table", "text"),
    [
        (frame().iloc[:0], "The table is empty"),
        (frame().iloc[:1], "Too few rows: 1 sample"),
        (frame().iloc[:4], "Too few rows: 4 rows"),
        (pd.DataFrame({"t": ["a", "b"]}), "something other than numbers"),
        (frame().assign(a=np.nan), "leave out the columns that have most of them"),
        (np.empty((5, 0)), "the table is empty"),
    ],
)
def test_tables_without_anything_to_check_get_a_sentence(table, text):
    found = check_table(table)
    assert found.worst == "red"
    assert any(text in one.text for one in found)


@pytest.mark.parametrize("n", [5, 8, 20, 30, 60])
def test_small_tables_are_checked(n):
    found = check_table(frame(n))
    assert found.of("red") == [] or n < 6
    assert "few-rows" in {one.check for one in found.of("amber", "red")}


def test_one_and_two_columns_are_tables():
    assert check_table(frame()[["a"]]).worst == "green"
    assert check_table(frame()[["a", "b"]]).worst == "green"


@pytest.mark.parametrize(("arguments", "name"), [({"missing": "keep"}, "missing"), ({"groups": [1, 2, 3]}, "groups")])
def test_bad_arguments_get_one_sentence(arguments, name):
    with pytest.raises(ParameterError, match=name):
        check_table(frame(), **arguments)


def test_conditions_are_compared_within():
    table = frame(300) + np.repeat([[0.0], [4.0]], 150, axis=0)
    assert "drift" in {check for check, *_ in told(check_table(table))}
    assert told(check_table(table, groups=["a"] * 150 + ["b"] * 150)) == set()
    table.loc[10, "a"] = np.nan
    assert "drift" not in {c for c, *_ in told(check_table(table, missing="drop", groups=["a"] * 150 + ["b"] * 150))}


def defective(seed=0):
    rng, table = np.random.default_rng(seed + 1), frame(300, seed)
    table["yes"] = (table.c > 0).astype(float)
    table["near"] = table.a + 0.005 * rng.standard_normal(300)
    table["limit"] = np.maximum(rng.standard_normal(300), -1.0)
    table.loc[33, "c"] = 500.0
    return table


def test_the_same_table_gets_the_same_words():
    assert str(check_table(defective())) == str(check_table(defective()))
    assert {check for check, *_ in told(check_table(defective()))} == {
        "two-values", "near-copies", "limit", "extreme-values",
    }  # fmt: skip


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.floats(-1e3, 1e3), min_size=6, max_size=6),
    st.lists(st.floats(1e-3, 1e3), min_size=6, max_size=6),
    st.permutations(range(6)),
)
def test_units_and_the_order_of_columns_do_not_matter(shift, scale, order):
    table = defective()
    changed = (table * scale + shift).iloc[:, list(order)]
    assert told(check_table(changed)) == told(check_table(table))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_the_order_of_rows_matters_only_for_dependence(seed):
    table = defective()
    order = np.random.default_rng(seed).permutation(len(table))
    found = {(check, severity, columns) for check, severity, columns, _ in told(check_table(table.iloc[order]))}
    assert found == {(check, severity, columns) for check, severity, columns, _ in told(check_table(table))}


@pytest.mark.parametrize("name", ["", "a'b", 'a"b', "<script>", "\x1b[31m", "{0}", "%s", "列", "a\nb", "x" * 300])
def test_hostile_names_go_through(name):
    table = defective().rename(columns={"yes": name})
    found = check_table(table)
    two = next(one for one in found if one.check == "two-values")
    assert two.columns == (name,)
    assert json.loads(json.dumps(found.records()))[0]["severity"]
    assert "<script>" not in found._repr_html_()


def test_sentences_end_and_remedies_too():
    table = defective().assign(id=np.arange(300), city="Ulm", **{"c": lambda t: t.c.where(t.index > 5, -999.0)})
    for one in check_table(table):
        assert one.sentence[-1] == "."
        assert one.sentence[0] in string.ascii_uppercase + string.digits
        assert not one.remedy or one.remedy[-1] == "."
        assert one.severity == "green" or one.remedy


def test_refusals_are_few_and_certain():
    assert {"random-walk"} == REFUSED
    assert refusal(check_table(defective())) is None
    walk = np.cumsum(np.random.default_rng(1).standard_normal((300, 4)), axis=0)
    assert refusal(check_table(walk)).check in REFUSED


@pytest.mark.parametrize("value", [1e308, -1e308, 1e-310])
def test_values_at_the_ends_of_what_floats_hold_raise_no_warning(value):
    table = frame()
    table["a"] = table["a"] * abs(value) / 10 if abs(value) < 1 else table["a"]
    table.loc[4, "b"] = value
    with np.errstate(all="raise", under="ignore"):
        found = check_table(table)
    assert found.worst in ("green", "amber", "red")
