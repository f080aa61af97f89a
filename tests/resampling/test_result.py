"""What many graphs have in common: exact on hand-made ones; a consensus that is always a DAG."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heterodag import BootstrapResult, ParameterError
from heterodag.core.graph import is_dag


def result(*edges, d=3, orders=None):
    adjacencies = np.zeros((len(edges), d, d), dtype=np.int8)
    for matrix, pairs in zip(adjacencies, edges, strict=True):
        for i, j in pairs:
            matrix[i, j] = 1
    return BootstrapResult([f"v{k}" for k in range(d)], adjacencies, None if orders is None else np.array(orders))


def test_the_strongest_edges_enter_first_and_close_no_cycle():
    found = result(*[[(0, 1), (1, 2)]] * 3, *[[(1, 2), (2, 0)]] * 3, [(0, 1), (2, 0)])
    # 1 -> 2 in 6 of 7; 0 -> 1 and 2 -> 0 in 4 of 7: the first of these two wins, by index.
    assert list(found.consensus(0.5).index) == list(found.consensus(0.5).columns) == found.names
    assert found.consensus(0.5).to_numpy().tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert found.consensus(0.8).to_numpy().tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert found.consensus(1.0).to_numpy().sum() == 0


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_the_consensus_of_anything_is_a_dag(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 7))
    matrices = (rng.random((5, d, d)) < 0.5) & ~np.eye(d, dtype=bool)
    found = BootstrapResult([str(k) for k in range(d)], matrices.astype(np.int8), None)
    assert is_dag(found.consensus(float(rng.random())))
    assert is_dag(found.consensus(0.0))


def test_before_and_stability():
    found = result([], [], [], [], orders=[[0, 1, 2], [0, 1, 2], [0, 2, 1], [1, 0, 2]])
    assert found.before[0].tolist() == [0.0, 0.75, 1.0]
    assert found.before[2, 1] == 0.25
    assert found.order_stability() == pytest.approx((0.5 + 1.0 + 0.5) / 3)
    assert found.mean_order().tolist() == [0, 1, 2]
    assert result([], orders=[[2, 0, 1]]).order_stability() == 1.0


def test_a_method_without_an_order():
    found = result([(0, 1)], [(1, 0)])
    assert found.directed[0, 1] == 0.5
    assert found.adjacent[0, 1] == 1.0
    assert "before" not in found.frame().columns
    with pytest.raises(ParameterError, match="have an order"):
        found.order_stability()


def test_the_frame_has_names_and_both_directions():
    frame = result([(0, 1)], [(1, 0)], [(0, 1)], orders=[[0, 1, 2]] * 3).frame()
    assert frame.iloc[0].tolist() == ["v0", "v1", 2 / 3, 1 / 3, 1.0, 1.0]
    assert len(frame) == 6


def test_the_picture_shows_the_shares():
    axes = result([(0, 1)], [(1, 0)], [(0, 1)]).plot()
    texts = [text.get_text() for text in axes.texts]
    assert "67" in texts
    assert {"v0", "v1", "v2"} <= set(texts)
    with pytest.raises(ParameterError, match="threshold"):
        result([(0, 1)]).plot(threshold=2)
