"""The comparison of parametrisations: the right one wins, and bad input is refused in one sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from heterodag import ParameterError, compare_parametrizations


def table(n=600):
    rng = np.random.default_rng(0)
    a = rng.standard_normal(n)
    b = np.cos(2 * a) + 0.3 * rng.standard_normal(n)
    return pd.DataFrame({"a": a, "b": b, "c": 0.8 * a + rng.standard_normal(n)})


def test_splines_win_where_the_mean_is_a_wave_and_not_where_it_is_a_line():
    found = compare_parametrizations(table(), ["a", "b", "c"])
    wide = found.table()
    assert wide.index.tolist() == ["b", "c"]
    assert wide.loc["b", "spline"] > wide.loc["b", "linear"] + 0.3
    assert wide.loc["c", "spline"] == pytest.approx(wide.loc["c", "linear"], abs=0.05)
    best = found.frame[found.frame["best"]].set_index("variable")
    assert best.loc["b", "parametrization"] == "spline"
    assert (found.frame.loc[found.frame["best"], "stderr"] == 0).all()


def test_a_graph_gives_every_variable_its_parents():
    graph = np.zeros((3, 3))
    graph[0, 1] = 1
    frame = compare_parametrizations(table(), graph, parametrizations=("linear",)).frame
    assert frame[["variable", "predecessors"]].to_numpy().tolist() == [["b", 1]]


@pytest.mark.parametrize(
    "convert", [list, tuple, lambda rows: [np.array(row) for row in rows]], ids=["lists", "tuples", "arrays"]
)
def test_a_graph_may_be_nested_lists(convert):
    graph = [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    nested = compare_parametrizations(table(200), convert(graph), parametrizations=("linear",)).frame
    plain = compare_parametrizations(table(200), np.array(graph), parametrizations=("linear",)).frame
    pd.testing.assert_frame_equal(nested, plain)


def test_the_seed_decides_the_cut():
    one, two, other = (
        compare_parametrizations(table(200), [0, 1, 2], parametrizations=("linear",), random_state=seed).frame
        for seed in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(one, two)
    assert not np.allclose(one["loglik"], other["loglik"])


def test_the_picture_has_a_row_per_variable():
    axes = compare_parametrizations(table(200), [0, 1, 2], parametrizations=("linear",)).plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["b", "c"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parametrizations": ("cubic",)}, "one of 'auto', 'linear', 'spline', 'mlp'"),
        ({"folds": 1}, "at least 2"),
        ({"folds": 50}, "at least 10 rows"),
        ({"form": "other"}, "form"),
        ({"order_or_graph": np.zeros((2, 2))}, "`order_or_graph` must have shape"),
        ({"order_or_graph": [[0, 1], [0, 0]]}, "`order_or_graph` must have shape"),
        ({"order_or_graph": [[0, 1, 0], [0, 0, 1], [1, 0, 0]]}, "`order_or_graph`"),
        ({"order_or_graph": [[0, 1, 0], [0, 0], [0, 0, 0]]}, "`order_or_graph`"),
        ({"order_or_graph": [[0, "b", 0], [0, 0, 0], [0, 0, 0]]}, "`order_or_graph`"),
    ],
)
def test_bad_input_is_refused(changes, message):
    arguments = {"order_or_graph": [0, 1, 2]} | changes
    with pytest.raises(ParameterError, match=message):
        compare_parametrizations(table(200), **arguments)
