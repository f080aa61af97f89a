"""Simulated experiments: what they change and what not, and that a causal model under interventions says the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ks_2samp

from heterodag import HeterodagError, HeteroscedasticSCM, simulate
from heterodag.core.graph import descendants
from heterodag.scm import Draw, Shift

WORLDS = [
    {"mechanism": "linear"},
    {"mechanism": "nonlinear"},
    {"mechanism": "nonlinear", "version": "code"},
    {"mechanism": "straight"},
    {"mechanism": "curved", "spread": "straight", "noise": "mixed"},
]
of_worlds = pytest.mark.parametrize("world", WORLDS, ids=lambda world: "-".join(map(str, world.values())))


@of_worlds
@pytest.mark.parametrize("shift", [None, 2.0])
def test_only_what_follows_from_the_experiment_changes(world, shift):
    plain = simulate(500, 6, degree=2, random_state=4, **world)
    done = simulate(500, 6, degree=2, random_state=4, interventions={"x2": 100, 4: 50}, shift=shift, **world)
    np.testing.assert_array_equal(done.adjacency, plain.adjacency)
    assert np.argwhere(done.interventions).tolist() == [
        *([r, 2] for r in range(350, 450)),
        *([r, 4] for r in range(450, 500)),
    ]
    after = descendants(plain.adjacency)
    same = ~(done.interventions | (done.interventions.astype(int) @ after.astype(int) > 0))
    assert same[:350].all()
    np.testing.assert_allclose(done.X[same], plain.X[same], rtol=1e-9, atol=1e-9)
    assert (done.X[~same] != plain.X[~same]).mean() > 0.99
    np.testing.assert_allclose(done.X, done.mean + done.scale * done.noise, rtol=1e-12)


@of_worlds
def test_what_is_set_has_its_usual_mean_and_spread_and_ignores_its_causes(world):
    data = simulate(4000, 5, degree=1, random_state=3, interventions=400, **world)
    plain = simulate(4000, 5, degree=1, random_state=3, **world)
    assert data.interventions.sum(axis=0).tolist() == [400] * 5
    for j in range(5):
        rows = data.interventions[:, j]
        values = (data.X[rows, j] - plain.X[:, j].mean()) / plain.X[:, j].std()
        assert abs(values.mean()) < 4 / 20
        assert abs(values.std() - 1.0) < 0.15
        for parent in np.flatnonzero(data.adjacency[:, j]):
            assert abs(np.corrcoef(values, data.X[rows, parent])[0, 1]) < 0.2
    assert (data.scale[data.interventions] == 0.0).all()


def test_shifts_are_by_standard_deviations_and_keep_the_noise():
    plain = simulate(2000, 4, degree=1, mechanism="straight", random_state=1)
    done = simulate(2000, 4, degree=1, mechanism="straight", random_state=1, interventions={0: 500}, shift=1.5)
    np.testing.assert_allclose(done.X[1500:, 0] - plain.X[1500:, 0], 1.5 * plain.X[:, 0].std())
    np.testing.assert_array_equal(done.noise, plain.noise)
    np.testing.assert_array_equal(done.scale[:, 0], plain.scale[:, 0])


@pytest.mark.parametrize("shift", [None, 1.0])
@pytest.mark.parametrize("world", [WORLDS[0], WORLDS[3], {"mechanism": "curved", "spread": "straight"}], ids=str)
def test_a_causal_model_under_the_same_intervention_has_the_same_distribution(world, shift):
    """The model is fitted to rows without experiments; what it says of experiments is compared with the simulator."""
    graph = np.zeros((4, 4), dtype=np.int8)
    graph[0, 1] = graph[1, 2] = graph[0, 3] = 1
    plain = simulate(6000, 4, adjacency=graph, random_state=7, **world)
    done = simulate(6000, 4, adjacency=graph, random_state=7, interventions={1: 3000}, shift=shift, **world)
    scm = HeteroscedasticSCM.from_dag(graph, plain.X)
    mean, sd = plain.X[:, 1].mean(), plain.X[:, 1].std()
    action = Draw(lambda rng, n: rng.normal(mean, sd, n)) if shift is None else Shift(shift * sd)
    told = scm.sample_do({1: action}, 3000, random_state=0).to_numpy()
    for j in range(4):
        assert ks_2samp(done.X[3000:, j], told[:, j]).statistic < 0.06  # 1 % of equal samples exceed 0.042
    usual = scm.sample(3000, random_state=1).to_numpy()
    assert max(ks_2samp(usual[:, j], told[:, j]).statistic for j in (1, 2)) > 0.06 or shift is None


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (50, "`interventions` must leave some of the n = 100 rows alone; got '200 rows'"),
        (0, "whole number of at least 1"),
        ({"x9": 5}, "`interventions` must use columns 0 to 3, or x0 to x3; got 'x9'"),
        ({"y": 5}, "must use columns 0 to 3"),
        (np.zeros((100, 3), dtype=bool), r"100 x 4 values True and False; got \(100, 3\)"),
    ],
)
def test_bad_experiments_are_refused(told, said):
    with pytest.raises(HeterodagError, match=said):
        simulate(100, 4, interventions=told)


def test_a_shift_needs_something_to_shift():
    with pytest.raises(HeterodagError, match="`shift` must come with `interventions`"):
        simulate(100, 4, shift=1.0)
