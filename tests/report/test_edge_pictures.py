"""The picture of an edge: points, fitted mean and band, the same for the script and without it."""

import re

import numpy as np
import pytest

from heterodag import HOST, HeteroscedasticSCM, simulate
from heterodag.report import render_report
from heterodag.report.edge_pictures import (
    CURVE_POINTS,
    LEVEL,
    MAX_PICTURES,
    MAX_POINTS,
    SCALE,
    Axis,
    draw_picture,
    picture_data,
)
from heterodag.report.rows import causal_model, drawn_rows

NAMES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def fitted():
    adjacency = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    table = simulate(900, 3, mechanism="curved", spread="straight", adjacency=adjacency, random_state=2).X * 50
    return table, HeteroscedasticSCM.from_dag(adjacency, table, names=NAMES)


def pictured(table, scm, edges=((0, 2), (1, 2)), interventions=None, names=NAMES):
    return picture_data(drawn_rows(table, interventions, NAMES), scm, names, list(edges), [["said"]] * len(edges))


def test_points_are_evenly_spaced_rows_on_shared_axes(fitted):
    table, scm = fitted
    data = pictured(table, scm)
    assert sorted(data["variables"]) == [0, 1, 2]
    assert {len(variable["points"]) for variable in data["variables"].values()} == {MAX_POINTS}
    axis = Axis.of(table[:, 2])
    assert data["variables"][2]["points"][0] == axis.scaled(table[:1, 2])[0]
    assert data["variables"][2]["points"][-1] == axis.scaled(table[-1:, 2])[0]
    assert data == pictured(table, scm)


def test_the_curve_is_the_mechanism_with_the_other_parent_at_its_median(fitted):
    table, scm = fitted
    picture = pictured(table, scm)["pictures"][0]
    low, high = np.quantile(table[:, 0], [0.005, 0.995])
    rows = {"a": np.linspace(low, high, CURVE_POINTS), "b": np.full(CURVE_POINTS, np.median(table[:, 1]))}
    expected, axis = scm.predict_interval(rows, "c", LEVEL), Axis.of(table[:, 2])
    for name in ("mean", "lower", "upper"):
        assert picture[name] == axis.scaled(expected[name].to_numpy())
    assert picture["from"] == Axis.of(table[:, 0]).scaled(np.array([low, high]))
    drawn = table[np.linspace(0, 899, MAX_POINTS).astype(int)]
    moved = scm.counterfactual(drawn, {"b": np.median(table[:, 1])})["c"].to_numpy()
    assert picture["moved"] == axis.scaled(moved)
    assert (picture["others"], picture["facts"]) == (1, ["said"])


def test_without_mechanisms_there_are_points_only(fitted):
    data = pictured(fitted[0], None)
    assert data["pictures"] == [{"facts": ["said"]}] * 2
    assert 'class="dots"' in draw_picture(data, 0, (0, 2), NAMES)
    assert 'class="mean"' not in draw_picture(data, 0, (0, 2), NAMES)


def test_rows_in_which_the_effect_was_set_are_not_drawn(fitted):
    table, scm = fitted
    told = np.zeros(table.shape, dtype=bool)
    told[:100, 2] = True
    data = pictured(table, scm, interventions=told)
    assert len(data["variables"][2]["set"]) == sum(row < 100 for row in np.linspace(0, 899, 500).astype(int))
    assert data["variables"][0]["set"] == []
    drawn = [draw_picture(d, 0, (0, 2), NAMES).count("h0") for d in (pictured(table, scm), data)]
    assert drawn[0] - drawn[1] == pytest.approx(len(data["variables"][2]["set"]), abs=5)


def test_the_drawing_shows_what_the_data_say(fitted):
    table, scm = fitted
    data = pictured(table, scm, names=["<a>", "b", "c"])
    svg = str(draw_picture(data, 0, (0, 2), ["<a>", "b", "c"]))
    inside = sum(
        0 <= x <= SCALE and 0 <= y <= SCALE
        for x, y in zip(data["variables"][0]["points"], data["variables"][2]["points"], strict=True)
    )
    assert svg.count("h0") == inside > 480
    ends = [int(y) for y in re.search(r'class="mean" d="M\d+ (-?\d+).* (-?\d+)"', svg).groups()]
    assert ends == [SCALE - data["pictures"][0]["mean"][0], SCALE - data["pictures"][0]["mean"][-1]]
    assert "&lt;a&gt;" in svg
    assert "url(" not in svg


def test_one_row_far_out_does_not_squeeze_the_others():
    values = np.append(np.random.default_rng(0).standard_normal(500), 1e6)
    axis = Axis.of(values)
    assert axis.high < 10
    assert axis.scaled(values)[-1] == 2 * SCALE
    normal = np.random.default_rng(1).standard_normal((200, 500))
    outside = [sum(not 0 <= at <= SCALE for at in Axis.of(sample).scaled(sample)) for sample in normal]
    assert 0 < np.mean(outside) < 1  # expected: 0.3
    uniform = np.linspace(0, 1, 500)
    assert Axis.of(uniform).low < 0 < 1 < Axis.of(uniform).high < 1.1


@pytest.mark.parametrize(
    "values", [np.full(20, 3.0), np.zeros(20), np.append(np.zeros(999), 1.0), np.array([1e300, -1e300])]
)
def test_odd_columns_have_an_axis(values):
    axis = Axis.of(values)
    assert axis.low < axis.high
    assert all(0 <= at <= SCALE for at, _ in axis.ticks())


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (-2.2, 3.1, ["-2", "-1", "0", "1", "2", "3"]),
        (0.0, 0.07, ["0.00", "0.02", "0.04", "0.06"]),
        (100.0, 3100.0, ["1,000", "2,000", "3,000"]),
        (0.0, 3.2e6, ["0", "1e6", "2e6", "3e6"]),
        (-3e-6, 1e-6, ["-3e-6", "-2e-6", "-1e-6", "0", "1e-6"]),
    ],
)
def test_ticks_are_round(low, high, labels):
    assert [label for _, label in Axis(low, high).ticks()] == labels


def test_few_pictures_of_many_edges():
    edges = [(0, 2)] * (MAX_PICTURES + 1)
    assert len(pictured(np.random.default_rng(1).standard_normal((50, 3)), None, edges)["pictures"]) == MAX_PICTURES


def test_the_causal_model_is_that_of_the_fit():
    data = simulate(300, 3, degree=1, random_state=1)
    model = HOST().fit(data.X)
    scm = causal_model(model)
    assert np.array_equal(scm.adjacency, model.adjacency_)
    del model._mechanisms
    assert causal_model(model) is None
    assert causal_model(object()) is None


def test_a_model_draws_the_rows_it_kept():
    data = simulate(300, 3, degree=1, random_state=1)
    model = HOST().fit(data.X)
    page = render_report(model)
    assert "3 variables, 300 rows" in page
    assert 'class="mean"' in page
    assert 'class="qq"' in page


def test_rows_with_missing_values_are_left_out():
    table = np.random.default_rng(1).standard_normal((60, 3))
    table[5, 1] = np.nan
    rows = drawn_rows(table, None, NAMES)
    assert rows.array.shape == rows.free.shape == (59, 3)
    assert rows.n_rows == 60
