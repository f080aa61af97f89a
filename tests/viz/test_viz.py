"""The layout keeps its promises on random DAGs; the figures show every variable and touch no global state."""

import io
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heterodag.core.graph import topological_layers
from heterodag.errors import ParameterError
from heterodag.viz import plot_graph, plot_qq, plot_scores
from heterodag.viz.layout import bezier, crossings, layered_layout, node_ranks
from heterodag.viz.summaries import closeness, edge_strength, normal_quantiles, rounds, straightness


def random_dag(seed, d, density):
    rng = np.random.default_rng(seed)
    adjacency = np.triu(rng.random((d, d)) < density, k=1).astype(np.int8)
    shuffled = rng.permutation(d)
    return adjacency[np.ix_(shuffled, shuffled)]


dags = st.builds(random_dag, st.integers(0, 10_000), st.integers(1, 14), st.floats(0, 1))


class Model:
    """A fitted model as far as figures look at it: x0 -> x1 -> x2, x3 alone, x0 and x3 placed together."""

    tolerance = 1e-4
    order_ = np.array([0, 3, 1, 2])
    adjacency_ = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]], dtype=np.int8)
    pvalues_ = np.where(adjacency_ == 1, 1e-9, np.nan)
    scores_ = np.array([[0.99995, 0.9, 0.8, 0.99990], [np.nan, 0.99, 0.95, np.nan], [np.nan, np.nan, 0.97, np.nan]])

    def names(self):
        return ["dose", "level $x$", "a very long name indeed", "age"]

    def latents(self, X):
        return X


@settings(deadline=None, max_examples=60)
@given(dags)
def test_layout_points_down_and_never_overlaps(adjacency):
    sizes = np.linspace(1, 3, len(adjacency))
    layout = layered_layout(adjacency, sizes, row_length=4)
    for cause, effect in np.argwhere(adjacency):
        assert layout.rank[cause] < layout.rank[effect]
    for rank in range(layout.n_ranks):
        members = np.flatnonzero(layout.rank == rank)
        members = members[np.argsort(layout.across[members])]
        gaps = np.diff(layout.across[members])
        assert np.all(gaps >= (sizes[members][:-1] + sizes[members][1:]) / 2 - 1e-9)
    assert set(layout.rank) <= set(range(layout.n_ranks))
    assert layout.span[0] <= layout.across.min()
    assert layout.span[1] >= layout.across.max()


@settings(deadline=None, max_examples=40)
@given(dags)
def test_routes_join_the_ends_layer_by_layer(adjacency):
    layout = layered_layout(adjacency)
    assert set(layout.routes) == {(int(i), int(j)) for i, j in np.argwhere(adjacency)}
    for (cause, effect), route in layout.routes.items():
        assert tuple(route[0]) == (layout.rank[cause], layout.across[cause])
        assert tuple(route[-1]) == (layout.rank[effect], layout.across[effect])
        assert np.all(np.diff(route[:, 0]) == 1)
        curve = bezier(route)
        np.testing.assert_allclose(curve[1:, 0], curve[:-1, 3])
        assert curve[:, :, 1].min() >= route[:, 1].min() - 1e-9
        assert curve[:, :, 1].max() <= route[:, 1].max() + 1e-9


@settings(deadline=None, max_examples=40)
@given(dags)
def test_ranks_are_longest_paths_except_that_roots_move_down(adjacency):
    rank = node_ranks(adjacency)
    for depth, layer in enumerate(topological_layers(adjacency)):
        for node in layer:
            assert rank[node] == depth or (depth == 0 and not adjacency[:, node].any())
    for root in np.flatnonzero(~adjacency.any(axis=0) & adjacency.any(axis=1)):
        assert rank[root] == rank[adjacency[root] == 1].min() - 1


def test_crossings_are_counted_and_removed():
    tangled = np.zeros((6, 6), dtype=np.int8)
    tangled[0, 5] = tangled[1, 4] = tangled[2, 3] = 1
    below = [[5], [4], [3], [], [], []]
    assert crossings([[0, 1, 2], [3, 4, 5]], below) == 3
    layout = layered_layout(tangled)
    causes, effects = np.argsort(layout.across[:3]), np.argsort(layout.across[3:][::-1])
    np.testing.assert_array_equal(causes, effects)


def test_layout_is_repeatable_and_gives_up_bends_in_a_hairball():
    dense = np.triu(np.ones((40, 40), dtype=np.int8), k=1)
    layout = layered_layout(dense)
    assert all(len(route) == 2 for route in layout.routes.values())
    again = layered_layout(dense)
    np.testing.assert_array_equal(layout.across, again.across)


def test_empty_and_single_graphs():
    assert layered_layout(np.zeros((1, 1))).n_ranks == 1
    layout = layered_layout(np.zeros((7, 7)), row_length=3)
    np.testing.assert_array_equal(np.bincount(layout.rank), [3, 3, 1])
    assert layout.routes == {}


def test_rounds_are_read_off_the_scores():
    first, second, third = rounds(Model.scores_)
    assert first.placed == (0, 3)
    assert (first.runner_up, first.score) == (1, 0.99995)
    assert first.margin == pytest.approx(0.09995)
    assert second.placed == (1,)
    assert second.margin == pytest.approx(0.04)
    assert third.placed == (2,)
    assert third.runner_up is None
    assert np.isnan(third.margin)


def test_closeness_is_one_for_the_best_and_falls_with_the_gap():
    near = closeness(Model.scores_, 1e-4)
    assert near[0, 0] == 1
    assert near[0, 0] > near[0, 3] > near[0, 1] > near[0, 2] == 0
    assert np.isnan(near[1, 0])
    assert closeness([[0.5, 0.5]], 0.0).tolist() == [[1.0, 1.0]]


def test_edge_strength_is_monotone_and_bounded():
    values = [edge_strength(p) for p in (1.0, 0.01, 1e-6, 1e-12, 1e-40, 0.0)]
    assert values == sorted(values)
    assert (values[0], values[-1]) == (0.0, 1.0)
    assert 0 < edge_strength(float("nan")) < 1


def test_normal_quantiles_thin_but_keep_the_ends():
    sample = np.random.default_rng(0).standard_normal(100_000)
    theory, observed = normal_quantiles(sample, points=100)
    assert len(theory) <= 100
    assert (observed[0], observed[-1]) == (sample.min(), sample.max())
    assert np.all(np.diff(theory) > 0)
    assert straightness(theory, observed) > 0.99
    assert straightness(*normal_quantiles(np.exp(2 * sample))) < 0.7
    assert normal_quantiles([np.nan, np.inf])[0].size == 0
    assert np.isnan(straightness(*normal_quantiles(np.ones(10))))


def test_plot_graph_draws_every_node_and_edge():
    ax = plot_graph(Model())
    shown = [text.get_text() for text in ax.texts]
    assert shown == ["dose", "level $x$", "a very l… indeed", "age"]
    assert len(ax.patches) == 2
    ax.figure.savefig(io.BytesIO(), format="png")


def test_open_edges_have_no_arrowhead():
    def looks(model):
        return [(patch.get_arrowstyle().arrow, patch.get_linestyle()) for patch in plot_graph(model).patches]

    model = Model()
    assert looks(model) == [("-|>", "solid")] * 2
    model.open_ = np.zeros((4, 4), dtype=bool)
    assert looks(model) == [("-|>", "solid")] * 2
    model.open_[1, 2] = True
    assert looks(model) == [("-|>", "solid"), ("-", (0, (4, 2)))]
    plot_graph(model).figure.savefig(io.BytesIO(), format="png")


def test_plot_graph_takes_matrices_names_and_axes():
    from matplotlib.figure import Figure

    given_ax = Figure().add_subplot()
    ax = plot_graph(Model.adjacency_, names=list("abcd"), ax=given_ax)
    assert ax is given_ax
    assert [text.get_text() for text in ax.texts] == list("abcd")
    assert plot_graph(Model.adjacency_).texts[0].get_text() == "x0"


def test_plot_scores_and_qq_draw_all_variables():
    ax = plot_scores(Model())
    assert [text.get_text() for text in ax.texts] == ["dose, age", "level $x$", "a very long name indeed"]
    ax.figure.savefig(io.BytesIO(), format="png")
    figure = plot_qq(Model(), np.random.default_rng(0).standard_normal((60, 4)))
    titles = [panel.get_title() for panel in figure.axes if panel.get_title()]
    assert titles == ["dose", "age", "level $x$", "a very long name indeed"]
    figure.savefig(io.BytesIO(), format="png")


def test_bad_arguments_are_named():
    with pytest.raises(ParameterError, match="model_or_adjacency"):
        plot_graph(np.zeros((2, 3)))
    with pytest.raises(ParameterError, match="`names` must"):
        plot_graph(np.zeros((2, 2)), names=["a"])
    with pytest.raises(ParameterError, match="scores_"):
        plot_scores(object())


def test_pyplot_and_the_backend_are_left_alone():
    code = (
        "import sys, numpy as np; from heterodag.viz import plot_graph;"
        "assert 'matplotlib' not in sys.modules;"
        "plot_graph(np.eye(3, k=1)); assert 'matplotlib' in sys.modules;"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
