"""The paper's synthetic data: graphs, mechanisms, seeds, and the data sets of the published generator."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from heterodag.core.graph import is_dag, respects_order
from heterodag.errors import ParameterError
from heterodag.simulation import simulate, simulate_graph
from heterodag.simulation import tables as simulation
from heterodag.simulation.graphs import erdos_renyi

REFERENCE = Path(__file__).resolve().parents[2] / "shared" / "data" / "reference" / "sets"
COMBINATIONS = list(itertools.product(("ER", "SF"), ("linear", "nonlinear"), ("text", "code")))


# --- graphs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "degree"), [(1, 0), (2, 0), (3, 1), (10, 1), (10, 2), (10, 4), (9, 4)])
def test_er_has_exactly_degree_edges_per_variable(d, degree):
    for seed in range(10):
        adjacency = simulate_graph(d, "ER", degree, seed)
        assert adjacency.dtype == np.int8
        assert adjacency.sum() == degree * d
        assert is_dag(adjacency)


@pytest.mark.parametrize(("d", "degree"), [(2, 1), (10, 1), (10, 2), (10, 4), (5, 4)])
def test_sf_has_the_edges_of_barabasi_albert(d, degree):
    for seed in range(10):
        adjacency = simulate_graph(d, "SF", degree, seed)
        assert adjacency.sum() == degree * (d - degree)
        assert adjacency.sum() == nx.barabasi_albert_graph(d, degree, seed=0).number_of_edges()
        assert is_dag(adjacency)
        assert adjacency.sum(axis=0).max() <= degree
        assert (adjacency.sum(axis=0) == 0).sum() == 1


def test_er_pairs_are_equally_likely_before_the_columns_are_permuted():
    rng = np.random.default_rng(0)
    counts = sum(erdos_renyi(5, 1, rng).astype(int) for _ in range(2000))
    assert not np.tril(counts).any()
    # Each of the 10 pairs is drawn with probability 1/2: 1000 times, standard deviation 22.
    assert np.abs(counts[np.triu_indices(5, 1)] - 1000).max() < 110


def test_sf_hubs_are_as_large_as_those_of_networkx():
    ours = [simulate_graph(40, "SF", 2, seed).sum(axis=1).max() for seed in range(150)]
    theirs = [
        np.triu(nx.to_numpy_array(nx.barabasi_albert_graph(40, 2, seed=seed))).sum(axis=1).max()
        for seed in range(150)
    ]
    error = math.sqrt((np.var(ours) + np.var(theirs)) / 150)
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * error


def test_columns_are_permuted():
    roots = {int(np.flatnonzero(simulate_graph(10, "SF", 1, seed).sum(axis=0) == 0)[0]) for seed in range(40)}
    assert len(roots) >= 8


def test_simulate_draws_the_graph_of_simulate_graph():
    np.testing.assert_array_equal(simulate(5, 8, "SF", 2, random_state=3).adjacency, simulate_graph(8, "SF", 2, 3))


# --- the model ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("graph", "mechanism", "version"), COMBINATIONS)
@pytest.mark.parametrize("n", [2, 3, 300])
def test_the_table_is_mean_plus_scale_times_noise(n, graph, mechanism, version):
    for seed in range(5):
        data = simulate(n, 9, graph, 2, mechanism, seed, version=version)
        np.testing.assert_array_equal(data.X, data.mean + data.scale * data.noise)
        assert data.X.dtype == np.float64
        assert np.isfinite(data.X).all()
        assert respects_order(data.adjacency, data.order)
        roots = data.adjacency.sum(axis=0) == 0
        assert not data.mean[:, roots].any()
        np.testing.assert_array_equal(data.scale[:, roots], math.sqrt(0.5))


@pytest.mark.parametrize(("graph", "mechanism", "version"), COMBINATIONS)
def test_natural_parameters_fill_their_range(graph, mechanism, version):
    data = simulate(400, 10, graph, 2, mechanism, 4, version=version)
    children = data.adjacency.sum(axis=0) > 0
    eta2 = -1 / (2 * data.scale[:, children] ** 2)
    for exponent in (np.log(-eta2), -2 * eta2 * data.mean[:, children]):
        np.testing.assert_allclose(exponent.min(axis=0), -4, rtol=1e-9)
        np.testing.assert_allclose(exponent.max(axis=0), 4, rtol=1e-9)


def test_linear_natural_parameters_are_linear_with_slopes_of_their_own():
    data = simulate(200, 6, "ER", 2, "linear", 1)
    node = int(np.argmax(data.adjacency.sum(axis=0)))
    parents = data.X[:, data.adjacency[:, node] == 1]
    design = np.column_stack([np.ones(200), (parents - parents.mean(axis=0)) / parents.std(axis=0)])
    target = -2 * np.log(data.scale[:, node])
    coefficients, residuals, *_ = np.linalg.lstsq(design, target, rcond=None)
    assert residuals.max() < 1e-18 * len(target)
    magnitudes = np.abs(coefficients[1:])
    assert magnitudes.max() / magnitudes.min() < 0.5 / 0.2
    assert np.ptp(magnitudes) > 1e-3


def test_version_code_gives_all_parents_of_a_node_one_slope():
    data = simulate(200, 6, "ER", 2, "linear", 1, version="code")
    node = int(np.argmax(data.adjacency.sum(axis=0)))
    parents = data.X[:, data.adjacency[:, node] == 1]
    total = ((parents - parents.mean(axis=0)) / parents.std(axis=0)).sum(axis=1)
    correlation = np.corrcoef(total, np.log(data.scale[:, node]))[0, 1]
    assert abs(correlation) == pytest.approx(1)


def test_noise_is_standard_normal_and_roots_have_variance_one_half():
    data = simulate(20000, 5, "ER", 0, random_state=2)
    np.testing.assert_allclose(data.noise.mean(axis=0), 0, atol=0.03)
    np.testing.assert_allclose(data.noise.std(axis=0), 1, atol=0.03)
    np.testing.assert_allclose(data.X.var(axis=0), 0.5, atol=0.02)
    assert np.abs(np.corrcoef(data.noise.T) - np.eye(5)).max() < 0.04


def test_a_sum_that_does_not_vary_is_scaled_to_zero():
    inputs = simulation._inputs(np.array([[1.0], [2.0]]), "text")
    slope = np.array([0.3])
    # Squares of two standardised values are both 1, and their sines both 0 up to rounding.
    for index in (1, 2):
        assert not simulation._scaled_sum(inputs, slope, np.array([index])).any()
    constant = simulation._inputs(np.full((5, 2), 3.0), "code")
    assert not simulation._scaled_sum(constant, np.array([0.3, 0.3]), np.array([0, 0])).any()


# --- a graph of one's own -----------------------------------------------------------------------------------


def test_a_given_graph_is_used_as_it_is():
    chain = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    data = simulate(50, 3, adjacency=chain, random_state=1)
    np.testing.assert_array_equal(data.adjacency, chain)
    assert data.order.tolist() == [2, 1, 0]
    assert (data.graph, data.degree) == (None, None)
    assert data.scale[:, 2].std() == 0
    assert data.scale[:, 0].std() > 0


@pytest.mark.parametrize(
    ("adjacency", "message"),
    [
        ([[0, 1], [1, 0]], r"`adjacency` must have no directed cycle; got \[0, 1, 0\]"),
        (np.zeros((3, 3)), r"`adjacency` must have shape \(2, 2\), as d = 2; got \(3, 3\)"),
        ([[0, 2], [0, 0]], "`adjacency` must hold only zeros and ones; got 2"),
    ],
)
def test_a_given_graph_must_be_a_dag_of_the_right_size(adjacency, message):
    with pytest.raises(ParameterError, match=message):
        simulate(10, 2, adjacency=adjacency)


# --- seeds --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", ["linear", "nonlinear"])
def test_the_same_seed_gives_the_same_data(mechanism):
    one, two, other = (simulate(30, 6, "ER", 2, mechanism, seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(one.X, two.X)
    assert not np.array_equal(one.X, other.X)
    assert (one.seed, one.mechanism, one.graph, one.degree) == (5, mechanism, "ER", 2)


def test_a_larger_sample_keeps_graph_mechanisms_and_first_noise():
    small, large = (simulate(n, 8, "ER", 2, "linear", 5) for n in (40, 400))
    np.testing.assert_array_equal(small.adjacency, large.adjacency)
    np.testing.assert_array_equal(small.noise, large.noise[:40])
    child = int(np.argmax(small.adjacency.sum(axis=0)))
    assert small.adjacency[:, child].sum() >= 3
    np.testing.assert_allclose(slopes(small, child), slopes(large, child), rtol=1e-6)


def slopes(data, node):
    """Read the slopes of a node back from its scale, up to one common factor."""
    parents = data.X[:, data.adjacency[:, node] == 1]
    design = np.column_stack([np.ones(len(parents)), (parents - parents.mean(axis=0)) / parents.std(axis=0)])
    coefficients = np.linalg.lstsq(design, np.log(data.scale[:, node]), rcond=None)[0][1:]
    return coefficients / np.abs(coefficients).sum()


def test_every_kind_of_random_state():
    plain = simulate(20, 5, random_state=7).X
    np.testing.assert_array_equal(simulate(20, 5, random_state=np.int64(7)).X, plain)
    np.testing.assert_array_equal(simulate(20, 5, random_state=np.random.default_rng(7)).X, plain)
    sequence = np.random.SeedSequence(7)
    for _ in range(2):
        np.testing.assert_array_equal(simulate(20, 5, random_state=sequence).X, plain)
    old = [simulate(20, 5, random_state=np.random.RandomState(7)).X for _ in range(2)]
    np.testing.assert_array_equal(*old)
    assert not np.array_equal(simulate(20, 5, random_state=None).X, simulate(20, 5, random_state=None).X)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_moves_on(make):
    rng = make(7)
    assert not np.array_equal(simulate(20, 5, random_state=rng).X, simulate(20, 5, random_state=rng).X)


def test_the_global_state_is_left_alone():
    before = np.random.get_state()  # noqa: NPY002
    simulate(20, 5, "SF", 2, "nonlinear", None)
    simulate(20, 5, random_state=3)
    np.testing.assert_array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002


# --- what users get wrong -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 1}, "`n` must be a whole number of at least 2; got 1"),
        ({"d": 0}, "`d` must be a whole number of at least 1; got 0"),
        ({"n": 10.5}, "`n` must be a whole number"),
        (
            {"graph": "BA"},
            "`graph` must be one of 'ER', 'SF', 'small-world', 'bipartite', 'hubs', 'chain', 'dense'; got 'BA'",
        ),
        ({"mechanism": "cubic"}, "`mechanism` must be one of"),
        ({"version": "new"}, "`version` must be one of 'text', 'code'"),
        (
            {"degree": 5},
            r"`degree` must be at most 4 for ER graphs with d = 10; got 5. Lower it, raise `d`, or take another kind",
        ),
        ({"degree": -1}, "`degree` must be a whole number of at least 0"),
        ({"degree": 1.5}, "`degree` must be a whole number"),
        ({"graph": "SF", "degree": 0}, "`degree` must be a whole number of at least 1"),
        ({"graph": "SF", "degree": 10}, "`degree` must be at most 9 for SF graphs with d = 10; got 10"),
        ({"graph": "SF", "d": 1}, "`d` must be at least 2 for SF graphs; got 1"),
        ({"d": 1}, "`degree` must be at most 0 for ER graphs with d = 1; got 1"),
        ({"random_state": -1}, "`random_state` must be a whole number of at least 0; got -1"),
        ({"random_state": "seven"}, "`random_state` must be"),
    ],
)
def test_errors_are_one_sentence(arguments, message):
    with pytest.raises(ParameterError, match=message):
        simulate(**{"n": 10, "d": 10, **arguments})


def test_to_frame():
    data = simulate(10, 3, degree=1)
    frame = data.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == data.feature_names == ["x0", "x1", "x2"]
    np.testing.assert_array_equal(frame.to_numpy(), data.X)


# --- the data sets of the published generator ---------------------------------------------------------------


def reference(name):
    path = REFERENCE / f"{name}.npz"
    if not path.exists():
        pytest.skip("the reference data sets are not here")
    stored = np.load(path)
    return stored["X"], stored["A"]


@pytest.mark.parametrize(
    ("name", "mechanism"),
    [
        ("ER2_n5000_d10_lin_s0", "linear"),
        ("SF2_n500_d10_lin_s1", "linear"),
        ("ER1_n5000_d10_nonlin_s2", "nonlinear"),
        ("SF2_n5000_d10_nonlin_s1", "nonlinear"),
    ],
)
def test_version_code_explains_every_node_of_the_reference_sets(name, mechanism):
    X, adjacency = reference(name)
    for node in np.flatnonzero(adjacency.sum(axis=0)):
        parents = X[:, adjacency[:, node] == 1]
        noise = min((noises(X[:, node], parents, mechanism)), key=lambda e: abs(np.mean(e**2) - 1))
        assert abs(noise.mean()) < 5 / math.sqrt(len(X))
        assert abs(noise.std() - 1) < 5 / math.sqrt(2 * len(X))
        assert np.abs(noise).max() < 6


def noises(child, parents, mechanism):
    """Yield the noise of a node under every sign and function it may have drawn."""
    inputs = simulation._inputs(parents, "code")
    kinds = [(0, -1.0), (0, 1.0)] + ([(index, 1.0) for index in range(1, 5)] if mechanism != "linear" else [])
    width = parents.shape[1]
    sums = [simulation._scaled_sum(inputs, np.full(width, sign), np.full(width, k)) for k, sign in kinds]
    for e1, e2 in itertools.product(sums, repeat=2):
        mean, scale = simulation._moments(e2, -np.exp(e1))
        yield (child - mean) / scale


@pytest.mark.parametrize("version", ["text", "code"])
@pytest.mark.parametrize(("graph", "degree"), [("ER", 1), ("ER", 2), ("SF", 1), ("SF", 2)])
def test_our_data_look_like_the_reference_sets(graph, degree, version):
    theirs = [reference(f"{graph}{degree}_n500_d50_lin_s{seed}") for seed in range(3)]
    ours = [simulate(500, 50, graph, degree, random_state=seed, version=version) for seed in range(5)]
    their_shape = np.mean([shape(*pair) for pair in theirs], axis=0)
    our_shape = np.mean([shape(data.X, data.adjacency) for data in ours], axis=0)
    assert our_shape[0] == their_shape[0]
    assert our_shape[1] == pytest.approx(their_shape[1], rel=0.15)
    assert np.abs(our_shape[2:] - their_shape[2:]).max() < 0.5


def shape(X, adjacency):
    """Return the number of edges, the variance of the roots, and median log10 variance and kurtosis."""
    roots = adjacency.sum(axis=0) == 0
    variance = X.var(axis=0)
    kurtosis = ((X - X.mean(axis=0)) ** 4).mean(axis=0) / variance**2
    logs = [np.median(np.log10(values[~roots])) for values in (variance, kurtosis)]
    return np.array([adjacency.sum(), variance[roots].mean(), *logs])


@pytest.mark.parametrize("make", [lambda: simulate(10, 100_000), lambda: simulate_graph(100_000)])
def test_a_graph_that_does_not_fit_in_memory_is_refused_before_it_is_made(make, monkeypatch):
    monkeypatch.setattr(simulation, "available_memory", lambda: 16 * 10**9)
    with pytest.raises(
        ParameterError,
        match=r"`d` must be smaller: .* need about [23] min and 30 GB .* 16 GB are free.*fewer columns",
    ):
        make()


def test_rows_that_do_not_fit_in_memory_are_refused_as_rows(monkeypatch):
    monkeypatch.setattr(simulation, "available_memory", lambda: 10**9)
    with pytest.raises(ParameterError, match=r"`n` must be smaller.*fewer rows"):
        simulate(10**8, 3)


def test_what_fits_is_not_refused_nor_where_the_system_does_not_say(monkeypatch):
    for free in (10**9, None):
        monkeypatch.setattr(simulation, "available_memory", lambda free=free: free)
        assert simulate(10, 300).X.shape == (10, 300)
