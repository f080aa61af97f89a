"""What every estimator says of its edges: columns and order of `edges`, and the graphs made of them."""

import networkx as nx
import numpy as np
import pytest

from heterodag.estimators.base import GraphEstimator
from heterodag.io.exports import edge_list, graph_result

NAMES = ["a", 'q"uote', "c", "d"]
NAN, INF = np.nan, np.inf


class Fixed(GraphEstimator):
    """It always finds a -> q -> c, a -> c and d -> c; with `certain` it also says how sure each edge is."""

    def __init__(self, certain=True):
        self.certain = certain

    def fit(self, X=None, y=None):
        self.n_features_in_, self.feature_names_in_ = 4, np.array(NAMES, dtype=object)
        self.adjacency_ = np.array([[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0]], dtype=np.int8)
        self.pvalues_ = np.where(self.adjacency_ == 1, 0.0, NAN)
        self.pvalues_[3, 2] = NAN
        if self.certain:
            self.nats_ = np.array([[NAN, 20.0, NAN, 1.0], [0.5, NAN, 300.0, NAN], [NAN] * 4, [NAN, NAN, 7.0, NAN]])
            self.direction_nats_ = np.full((4, 4), NAN)
            self.direction_nats_[0, 1], self.direction_nats_[1, 2], self.direction_nats_[3, 2] = 0.25, 40.0, INF
            self.open_ = self.direction_nats_ < 1
        return self


def test_without_certainty_the_columns_are_the_old_ones():
    model = Fixed(certain=False).fit()
    edges = model.edges()
    assert list(edges.columns) == ["cause", "effect", "pvalue"]
    pairs = [("a", 'q"uote'), ("a", "c"), ('q"uote', "c"), ("d", "c")]
    assert list(zip(edges["cause"], edges["effect"], strict=True)) == pairs
    graph = model.to_networkx()
    assert all(set(data) == {"pvalue"} for _, _, data in graph.edges(data=True))
    same = model.to_pdag()
    assert set(same.edges) == set(graph.edges)
    assert not any("open" in data for _, _, data in same.edges(data=True))


def test_equal_pvalues_are_sorted_by_nats_and_unknown_ones_come_last():
    edges = Fixed().fit().edges()
    assert list(edges.columns) == ["cause", "effect", "pvalue", "nats", "direction_nats", "open"]
    assert edges["cause"].tolist() == ['q"uote', "a", "a", "d"]
    np.testing.assert_array_equal(edges["nats"], [300.0, 20.0, NAN, 7.0])
    np.testing.assert_array_equal(edges["direction_nats"], [40.0, 0.25, NAN, INF])
    assert edges["open"].dtype == bool
    assert edges["open"].tolist() == [False, True, False, False]


def test_a_smaller_pvalue_counts_more_than_many_nats():
    model = Fixed().fit()
    model.pvalues_[1, 2] = 1e-5
    assert model.edges()["cause"].tolist() == ["a", "a", 'q"uote', "d"]


def test_files_list_the_edges_in_the_same_order():
    for model in (Fixed().fit(), Fixed(certain=False).fit()):
        frame = model.edges()
        pairs = [(cause, effect) for cause, effect, _ in edge_list(graph_result(model))]
        assert pairs == list(zip(frame["cause"], frame["effect"], strict=True))


@pytest.mark.parametrize("only", ["nats", "direction_nats", "open"])
def test_each_part_may_be_there_alone(only):
    model = Fixed().fit()
    for name in {"nats", "direction_nats", "open"} - {only}:
        delattr(model, f"{name}_")
    assert list(model.edges().columns) == ["cause", "effect", "pvalue", only]
    assert set(model.to_networkx().edges["a", 'q"uote']) == {"pvalue", only}


def test_certainty_stands_before_the_parts_of_the_pvalue():
    model = Fixed().fit()
    model.mean_pvalues_ = model.variance_pvalues_ = model.pvalues_
    assert model.edges().columns[3:].tolist() == ["nats", "direction_nats", "open", "mean_pvalue", "variance_pvalue"]


def test_networkx_edges_carry_plain_values():
    graph = Fixed().fit().to_networkx()
    assert nx.is_directed_acyclic_graph(graph)
    data = graph.edges["a", 'q"uote']
    assert data == {"pvalue": 0.0, "nats": 20.0, "direction_nats": 0.25, "open": True}
    assert [type(value) for value in data.values()] == [float, float, float, bool]
    assert graph.edges["d", "c"]["direction_nats"] == INF
    assert np.isnan(graph.edges["a", "c"]["nats"])


def test_pdag_has_open_edges_in_both_directions():
    model = Fixed().fit()
    graph = model.to_pdag()
    assert list(graph.nodes) == NAMES
    assert set(graph.edges) == {*model.to_networkx().edges, ('q"uote', "a")}
    assert graph.edges['q"uote', "a"] == {"open": True}
    assert graph.edges["a", 'q"uote'] == model.to_networkx().edges["a", 'q"uote']
    assert [edge for edge in graph.edges if graph.edges[edge]["open"]] == [("a", 'q"uote'), ('q"uote', "a")]
    assert model.adjacency_.sum() == 4
