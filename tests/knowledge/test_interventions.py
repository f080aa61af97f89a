"""Interventions as users write them: the ways to say the same, references, and what is refused."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from heterodag import HeterodagError, Interventions, ParameterError, PriorKnowledge
from heterodag.knowledge.interventions import LEAST_ROWS, read_interventions
from heterodag.knowledge.study import read_study

NAMES = ["a", "b", "c"]
N = 60


def table(n=N, seed=0):
    return pd.DataFrame(np.random.default_rng(seed).normal(size=(n, 3)), columns=NAMES)


def mask():
    fixed = np.zeros((N, 3), dtype=bool)
    fixed[30:40, 0] = fixed[40:60, 1] = True
    fixed[50:60, 2] = True
    return fixed


CONDITION = ["none"] * 30 + ["on a"] * 10 + ["on b"] * 10 + ["on both"] * 10
TARGETS = {"none": None, "on a": "a", "on b": ["b"], "on both": ["b", "c"]}


@pytest.mark.parametrize(
    "told",
    [
        mask(),
        mask().astype(int),
        mask().tolist(),
        pd.DataFrame(mask(), columns=NAMES)[["c", "a", "b"]],
        [None] * 30 + ["a"] * 10 + ["b"] * 10 + [("c", "b")] * 10,
        [None] * 30 + [0] * 10 + [[1]] * 10 + [["b", 2]] * 10,
        pd.Series([None] * 30 + ["a"] * 10 + ["b"] * 10 + [("c", "b")] * 10, index=range(7, 67), dtype=object),
        Interventions(CONDITION, TARGETS),
        Interventions(np.array(CONDITION), {"none": [], "on a": 0, "on b": 1, "on both": [1, 2]}),
    ],
    ids=["array", "numbers", "lists", "frame", "names", "indices", "series", "conditions", "conditions by index"],
)
def test_all_ways_to_write_it_say_the_same(told):
    found = read_interventions(told, NAMES, N)
    np.testing.assert_array_equal(found.fixed, mask())
    assert len(np.unique(found.condition)) == 4
    assert not found.changed


def test_a_frame_may_leave_out_columns_that_were_never_set():
    found = read_interventions(pd.DataFrame({"b": mask()[:, 1]}), NAMES, N)
    np.testing.assert_array_equal(found.fixed, mask() & [False, True, False])


def test_a_column_of_the_table_can_hold_the_conditions():
    X = table().assign(batch=CONDITION)
    study = read_study(X, Interventions("batch", TARGETS), None)
    assert study.own_names == NAMES
    np.testing.assert_array_equal(study.array, table().to_numpy())
    np.testing.assert_array_equal(study.experiments.fixed, mask())
    np.testing.assert_array_equal(study.experiments.observed, np.arange(N) < 30)


def test_shifts_and_unknown_targets_become_columns_that_precede_the_variables():
    targets = {"none": None, "on a": "a", "on b": "unknown", "on both": ["b", "c"]}
    study = read_study(table(), Interventions(CONDITION, targets, kind="shift"), PriorKnowledge(tiers=[["a"], ["c"]]))
    assert [context.targets for context in study.contexts] == [(0,), None, (1, 2)]
    np.testing.assert_array_equal(study.array[:, 3], np.array(CONDITION) == "on a")
    assert study.experiments.fixed[:, 3:].all()
    assert not study.experiments.fixed[:, :3].any()
    known = study.knowledge
    assert known.must_precede[3:, :3].all()
    assert known.must_precede[0, 2]
    assert known.forbidden[:, 3:].all()
    np.testing.assert_array_equal(known.required[3:, :3], [[1, 0, 0], [0, 0, 0], [0, 1, 1]])
    np.testing.assert_array_equal(known.forbidden[3:, :3], [[0, 1, 1], [0, 0, 0], [1, 0, 0]])


def test_set_and_unknown_conditions_go_together():
    study = read_study(table(), Interventions(CONDITION, TARGETS | {"on b": "unknown"}), None)
    np.testing.assert_array_equal(study.experiments.fixed[:, :3], mask() & (np.arange(N) // 10 != 4)[:, None])
    assert [(context.condition, context.targets) for context in study.contexts] == [("on b", None)]


@pytest.mark.parametrize(
    ("targets", "others"),
    [("unknown", {"on a", "on b", "on both"}), (dict.fromkeys(TARGETS, "unknown"), {"on a", "on b", "on both"})],
)
def test_where_every_condition_has_targets_the_largest_is_the_reference(targets, others):
    study = read_study(table(), Interventions(CONDITION, targets), None)
    assert {context.condition for context in study.contexts} == others


def test_what_a_shifted_reference_acts_on_differs_in_all_other_conditions():
    targets = {"none": "c", "on a": "a", "on b": "b", "on both": ["a", "b"]}
    study = read_study(table(), Interventions(CONDITION, targets, kind="shift"), None)
    assert {context.condition: context.targets for context in study.contexts} == {
        "on a": (0, 2), "on b": (1, 2), "on both": (0, 1, 2),
    }  # fmt: skip


def test_several_conditions_without_targets_are_one_reference():
    study = read_study(table(), Interventions(CONDITION, TARGETS | {"on a": None}, kind="shift"), None)
    assert [context.condition for context in study.contexts] == ["on b", "on both"]


def test_rows_that_are_dropped_take_their_interventions_along():
    X = table()
    X.iloc[[2, 35], 1] = np.nan
    with pytest.warns(UserWarning, match="2 of 60 rows"):
        study = read_study(X, mask(), None, "drop")
    np.testing.assert_array_equal(study.experiments.fixed, np.delete(mask(), [2, 35], axis=0))


def test_targets_are_read_from_a_file(tmp_path):
    path = tmp_path / "targets.json"
    path.write_text(json.dumps(TARGETS))
    found = read_interventions(Interventions.from_json(CONDITION, path), NAMES, N)
    np.testing.assert_array_equal(found.fixed, mask())
    path.write_text(json.dumps({"1": None, "2": "a"}))  # JSON knows no other keys than text
    found = read_interventions(Interventions.from_json([1] * 50 + [2] * 10, path), NAMES, N)
    np.testing.assert_array_equal(np.flatnonzero(found.fixed[:, 0]), np.arange(50, 60))


ALL = np.ones((N, 3), dtype=bool) & [True, False, False]
FEW = ALL & (np.arange(N) > 4)[:, None]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (mask()[:50], "`interventions` must have shape (60, 3), as the table; got (50, 3)."),
        (mask()[:, :2], "`interventions` must have shape (60, 3), as the table; got (60, 2)."),
        (mask() * 0.5, "60 x 3 values True and False"),
        (3, "`interventions` must be None, Interventions(...), one entry per row"),
        ([None] * 59, "`interventions` must have one entry per row, 60; got '59 entries'."),
        ([None] * 59 + ["d"], "`interventions` must name columns of the table; got 'd'."),
        ([None] * 59 + [7], "use column names, or indices from 0 to 2; got 7."),
        (pd.DataFrame(mask(), columns=["a", "b", "x"]), "`interventions` must name columns of the table; got 'x'."),
        (ALL, "Variable 'a' was set in all rows"),
        (FEW, "Variable 'a' was left alone in 5 row(s) only; its model needs at least 6"),
        (Interventions(CONDITION[:50], TARGETS), "`conditions` must have one entry per row, 60; got '50 entries'."),
        (Interventions(CONDITION, {"none": None}), "`targets` must have every condition of the rows; got 'on a'."),
        (Interventions(CONDITION, TARGETS | {"on a": "z"}), "`targets` must name columns of the table; got 'z'."),
        (Interventions("batch", TARGETS), "`conditions` must name columns of the table; got 'batch'."),
        (Interventions(["x"] * 57 + ["y"] * 3), "Condition 'y' has 3 row(s)"),
        (Interventions(["x"] * 57 + ["y"] * 3, {"x": None, "y": "a"}, "shift"), f"needs at least {LEAST_ROWS}"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_sentence(told, said):
    with pytest.raises(HeterodagError, match=re.escape(said)):
        read_study(table(), told, None)


def test_a_table_without_names_has_no_column_of_conditions():
    with pytest.raises(
        HeterodagError, match="`conditions` must be one condition per row, as `X` has no column names"
    ):
        read_study(table().to_numpy(), Interventions("batch", TARGETS), None)


def test_three_rows_of_a_variable_that_was_set_are_welcome():
    read_study(table(), Interventions(["x"] * 57 + ["y"] * 3, {"x": None, "y": "a"}), None)


@pytest.mark.parametrize(("kind", "targets"), [("push", TARGETS), ("set", "a"), ("set", ["a"])])
def test_wrong_arguments_are_refused_when_the_object_is_made(kind, targets):
    with pytest.raises(HeterodagError):
        Interventions(CONDITION, targets, kind)


def test_knowledge_and_interventions_that_exclude_each_other_are_refused():
    X = table()
    X.loc[:39, "b"] = 1.5  # wherever c was not set, b had one value
    fixed = np.zeros((N, 3), dtype=bool)
    fixed[40:, 2] = True
    with pytest.raises(HeterodagError, match="'b' has one value in all rows in which 'c' was not set"):
        read_study(X, fixed, PriorKnowledge(required=[("b", "c")]))
    X = table()
    X.loc[:39, "c"] = 1.5
    with pytest.raises(HeterodagError, match="Variable 'c' is constant in the rows in which it was not set"):
        read_study(X, fixed, None)


@pytest.mark.parametrize(
    ("content", "said"), [("{", "is not JSON"), ("[1]", "must hold one JSON object"), (None, "cannot be opened")]
)
def test_files_that_do_not_fit_are_refused(tmp_path, content, said):
    path = tmp_path / "targets.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(HeterodagError, match=said):
        Interventions.from_json("batch", path)


def test_a_condition_that_stands_twice_in_the_file_is_refused(tmp_path):
    """The JSON parser would keep the last and lose the first without a word."""
    path = tmp_path / "targets.json"
    path.write_text('{"drug": "x0", "drug": "x1"}', encoding="utf-8")
    with pytest.raises(HeterodagError, match="the key 'drug' appears more than once"):
        Interventions.from_json(["drug"], path)


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, pd.NA, pd.NaT])
def test_a_missing_condition_is_refused(missing):
    told = Interventions(["a", "b", missing] * 4, {"a": None, "b": "x1"})
    with pytest.raises(ParameterError, match=r"`conditions` must say for every row .* row 2 is missing"):
        read_interventions(told, ["x0", "x1"], 12)
    if missing is None:  # said to be a condition
        known = Interventions(told.conditions, {"a": None, "b": "x1", None: "x0"})
        assert read_interventions(known, ["x0", "x1"], 12).fixed.sum() == 8


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ([{"x0": 1}] * 12, "interventions"),
        (Interventions([["a"]] * 12, {}), "conditions"),
        (Interventions(5.5, {}), "conditions"),
        (Interventions(None, {}), "conditions"),
    ],
)
def test_entries_of_other_kinds_are_refused(value, name):
    with pytest.raises(ParameterError, match=f"`{name}` must"):
        read_interventions(value, ["x0", "x1"], 12)
