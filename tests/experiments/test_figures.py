"""Figures show what the summaries say: panels, lines, intervals and bars read back from matplotlib."""

import numpy as np
import pandas as pd
import pytest
from test_summary import invented, row

from heterodag.experiments.catalogue import EXPERIMENTS
from heterodag.experiments.figures import draw
from heterodag.experiments.outputs import picture, summary_of


def drawn(name, rows):
    experiment = EXPERIMENTS[name]
    summary = summary_of(experiment, rows)
    return draw(summary, experiment), summary


def check_lines(figure, summary, axis_of):
    """Compare every line and shade of the figure with the summary."""
    columns = len({ax.get_subplotspec().colspan.start for ax in figure.axes})
    measures = list(dict.fromkeys(summary["measure"]))
    checked = 0
    for place, ax in enumerate(figure.axes):
        title, axis = figure.axes[place % columns].get_title(), axis_of(place % columns)
        part = summary[summary["measure"] == measures[place // columns]]
        part = part[part["graph"] == title] if "axis" not in summary else part[part["axis"] == axis]
        for line, shade in zip(ax.get_lines(), ax.collections, strict=True):
            mine = part[(part["label"] == line.get_label()) & part["mean"].notna()].sort_values(axis)
            assert np.array_equal(line.get_xdata(), mine[axis])
            assert np.array_equal(line.get_ydata(), mine["mean"])
            assert shade.get_paths()[0].vertices[:, 1].max() == pytest.approx(mine["high"].max())
            assert ax.get_ylim()[0] <= mine["mean"].min()
            assert mine["mean"].max() <= ax.get_ylim()[1]
            assert not mine.loc[mine["runs"] > 2, "high"].max() > ax.get_ylim()[1]
            checked += 1
        assert len(ax.get_lines()) == part.loc[part["mean"].notna(), "label"].nunique()
    return checked


@pytest.mark.parametrize("name", ["sample-size", "dimensionality-f1-auc", "sample-size-gam"])
def test_lines_are_the_summary(name):
    figure, summary = drawn(name, invented(name))
    axis = EXPERIMENTS[name].axis
    rows = len(EXPERIMENTS[name].measures)
    assert len(figure.axes) == 4 * rows
    assert [ax.get_title() for ax in figure.axes[:4]] == ["ER-1", "ER-2", "SF-1", "SF-2"]
    assert check_lines(figure, summary, lambda column: axis) >= 6 * 4 * rows
    assert all(ax.get_xscale() == ("log" if axis == "n" else "linear") for ax in figure.axes)


def test_the_runtime_has_two_panels_with_logarithmic_time():
    figure, summary = drawn("runtime", invented("runtime"))
    assert check_lines(figure, summary, lambda column: "nd"[column]) == 12
    assert [ax.get_yscale() for ax in figure.axes] == ["log", "log"]
    assert [ax.get_title() for ax in figure.axes] == ["d = 10", "n = 500"]


@pytest.mark.parametrize("name", ["dense", "nonlinear", "non-polynomial"])
def test_bars_are_the_summary(name):
    figure, summary = drawn(name, invented(name))
    graphs = sorted(set(summary["graph"]))
    for place, ax in enumerate(figure.axes):
        measure = list(dict.fromkeys(summary["measure"]))[place // len(graphs)]
        part = summary[(summary["measure"] == measure) & (summary["graph"] == graphs[place % len(graphs)])]
        heights = [bar.patches[0].get_height() for bar in ax.containers if hasattr(bar, "patches")]
        assert heights == list(part["mean"])
        assert ax.get_ylim()[0] == 0
        assert part["high"].max() <= ax.get_ylim()[1]


def test_a_method_that_never_finished_is_named_in_its_place():
    rows = [r if r["method"] != "GraN-DAG" else r | {"status": "timeout", "own_shd": None, "own_f1": None}
            for r in invented("non-polynomial")]  # fmt: skip
    figure, _ = drawn("non-polynomial", rows)
    labels = [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    assert labels[-1] == "GraN-DAG\n(none finished)"


def test_missing_sizes_leave_gaps_not_zeros():
    rows = [r for r in invented("sample-size") if r["method"] != "DiffAN" or r["n"] <= 1000]
    figure, summary = drawn("sample-size", rows)
    line = next(line for line in figure.axes[0].get_lines() if line.get_label() == "DiffAN")
    assert list(line.get_xdata()) == [500, 1000]
    assert check_lines(figure, summary, lambda column: "n") > 0


def test_our_host_stands_out_and_pictures_are_the_same_every_time():
    figure, summary = drawn("dimensionality", invented("dimensionality", "quick"))
    widths = {line.get_label(): line.get_linewidth() for line in figure.axes[0].get_lines()}
    assert widths["HOST (heterodag)"] > 1.5 * max(w for label, w in widths.items() if label != "HOST (heterodag)")
    again = draw(summary, EXPERIMENTS["dimensionality"])
    assert picture(figure, "svg") == picture(again, "svg")


def test_one_repeat_draws_points_without_a_shade():
    cells = [c for c in EXPERIMENTS["sample-size"].cells() if c.data.repeat == 0]
    figure, _ = drawn("sample-size", [row(c, order_divergence=1, lcit_shd=2, own_shd=2) for c in cells])
    assert isinstance(figure.axes[0].get_lines()[0].get_ydata(), np.ndarray | pd.Series)
    assert picture(figure, "png").startswith(b"\x89PNG")


def test_the_interval_of_two_runs_does_not_flatten_the_rest():
    rows = [r for r in invented("sample-size") if r["method"] != "DiffAN" or r["repeat"] < 2]
    rows = [r | {"order_divergence": 20 * r["repeat"]} if r["method"] == "DiffAN" else r for r in rows]
    figure, summary = drawn("sample-size", rows)
    order = summary[summary["measure"] == "Order divergence"]
    assert order["high"].max() > 100
    assert 10 < figure.axes[0].get_ylim()[1] < 30
    assert check_lines(figure, summary, lambda column: "n") > 0
