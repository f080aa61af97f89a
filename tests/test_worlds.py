"""Worlds by name: noise with the distribution it is called by, mean and spread as they are called, streams that stay."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

from heterodag.errors import ParameterError
from heterodag.simulation import simulate, simulate_graph
from heterodag.simulation.worlds import MEANS, NOISES, SPREADS, draw_noise, world

KINDS = [(mean, spread) for mean in MEANS for spread in SPREADS]
every_world = pytest.mark.parametrize(("mechanism", "spread"), KINDS)
PAIR = np.array([[0, 1], [0, 0]])
MODE, PART = 0.9, np.sqrt(0.19)

#: Skewness, excess kurtosis, and distribution function of all kinds of noise but the mixed one.
SHAPES = {
    "normal": (0.0, 0.0, ndtr),
    "exponential": (2.0, 6.0, stats.expon(-1).cdf),
    "laplace": (0.0, 3.0, stats.laplace(scale=np.sqrt(0.5)).cdf),
    "t": (0.0, 6.0, stats.t(5, scale=np.sqrt(3 / 5)).cdf),
    "uniform": (0.0, -1.2, stats.uniform(-np.sqrt(3), 2 * np.sqrt(3)).cdf),
    "bimodal": (0.0, -1.3122, lambda x: 0.5 * (ndtr((x - MODE) / PART) + ndtr((x + MODE) / PART))),
    "gumbel": (1.1395, 2.4, stats.gumbel_r(-np.euler_gamma * np.sqrt(6) / np.pi, np.sqrt(6) / np.pi).cdf),
}
every_noise = pytest.mark.parametrize("noise", SHAPES)


def noise_of(name, n, d=1, seed=0):
    return draw_noise(name, (n, d), np.random.default_rng(seed), np.random.default_rng([seed, 1]))


def pair(mechanism, spread, seed, n=2000, noise="normal"):
    return simulate(n, 2, mechanism=mechanism, spread=spread, noise=noise, adjacency=PAIR, random_state=seed)


# --- noise --------------------------------------------------------------------------------------------------


def test_every_name_has_a_known_shape():
    assert {*SHAPES, "mixed"} == set(NOISES)


@every_noise
def test_noise_has_mean_zero_and_variance_one(noise):
    """Four standard errors of 200,000 rows; a scale of 1 for the Laplace distribution, say, would give a variance of 2."""
    n, x = 200_000, noise_of(noise, 200_000)[:, 0]
    assert abs(x.mean()) < 4 / np.sqrt(n)
    assert abs(x.var() - 1) < 4 * np.sqrt((SHAPES[noise][1] + 2) / n)


@every_noise
def test_noise_has_the_shape_of_its_name(noise):
    skewness, kurtosis, cdf = SHAPES[noise]
    x = noise_of(noise, 200_000, seed=1)[:, 0]
    assert stats.skew(x) == pytest.approx(skewness, abs=0.15)
    assert np.sign(np.round(stats.kurtosis(x), 1)) == np.sign(kurtosis)
    if noise != "t":  # whose eighth moment is infinite
        assert stats.kurtosis(x) == pytest.approx(kurtosis, abs=0.7)
    # Every other distribution of the same moments is off by 0.03 or more; 0.0044 has a probability of 1e-3.
    assert stats.kstest(x, cdf).statistic < 0.0044


def test_all_noises_are_increasing_functions_of_the_same_numbers():
    normal = noise_of("normal", 5000, 3)
    for name in SHAPES:
        other = noise_of(name, 5000, 3)
        for column in range(3):
            order = np.argsort(normal[:, column])
            assert (np.diff(other[order, column]) >= 0.0).all()


def test_mixed_noise_is_of_another_kind_in_every_column():
    """Each column is exactly one of the others, none normal; over 60 columns all six occur."""
    mixed = noise_of("mixed", 200, 60)
    alone = {name: noise_of(name, 200, 60) for name in SHAPES}
    kinds = [[name for name, x in alone.items() if np.array_equal(x[:, j], mixed[:, j])] for j in range(60)]
    assert all(len(names) == 1 for names in kinds)
    found = {names[0] for names in kinds}
    assert found == set(SHAPES) - {"normal"}


@pytest.mark.parametrize("noise", NOISES)
def test_extreme_numbers_stay_finite(noise):
    """Normal numbers of six standard deviations occur once in a billion."""

    class Extreme:
        def standard_normal(self, shape):
            return np.repeat(np.array([[-8.0], [8.0]]), shape[1], axis=1)

    x = draw_noise(noise, (2, 8), Extreme(), np.random.default_rng(0))
    assert np.isfinite(x).all()
    assert (x[0] < x[1]).all()


# --- mean and spread ----------------------------------------------------------------------------------------


@every_world
@pytest.mark.parametrize("noise", ["normal", "mixed"])
def test_observations_are_exactly_mean_plus_scale_times_noise(mechanism, spread, noise):
    data = simulate(300, 6, "ER", 2, mechanism, 3, spread=spread, noise=noise)
    np.testing.assert_array_equal(data.X, data.mean + data.scale * data.noise)
    assert np.isfinite(data.X).all()
    assert (data.scale > 0.0).all()
    roots = data.adjacency.sum(axis=0) == 0
    assert roots.any()
    assert not data.mean[:, roots].any()
    constant = np.ptp(data.scale, axis=0) == 0.0
    assert constant[roots].all()
    assert constant[~roots].all() if spread == "constant" else not constant[~roots].any()
    moved = data.mean.any(axis=0)
    assert not moved.any() if mechanism == "none" else moved[~roots].all()
    assert data.mechanism == mechanism


def test_where_the_spread_is_average_the_noise_has_a_scale_between_0_6_and_1_2():
    scales = np.concatenate([simulate(50, 8, "ER", 1, "curved", s, spread="constant").scale[0] for s in range(25)])
    assert 0.6 <= scales.min() < 0.63
    assert 1.17 < scales.max() <= 1.2
    for seed in range(3):
        data = pair("straight", "curved", seed)
        level = np.exp(np.log(data.scale[:, 1]).mean())
        assert 0.6 <= level <= 1.2


@pytest.mark.parametrize(
    ("mechanism", "spread", "on_mean", "on_spread"),
    [
        ("straight", "constant", (0.7, 1.3), (0.0, 0.0)),
        ("straight", "straight", (0.7, 1.3), (0.3, 0.6)),
        ("curved", "curved", (0.7, 1.3), (0.3, 0.6)),
        ("none", "straight", (0.0, 0.0), (0.6, 1.0)),
        ("none", "curved", (0.0, 0.0), (0.6, 1.0)),
    ],
)
def test_effects_have_the_size_that_is_said(mechanism, spread, on_mean, on_spread):
    signs = set()
    for seed in range(20):
        data = pair(mechanism, spread, seed, 500)
        mean, log_scale = data.mean[:, 1], np.log(data.scale[:, 1])
        assert on_mean[0] - 1e-9 <= mean.std() <= on_mean[1] + 1e-9
        assert on_spread[0] - 1e-9 <= log_scale.std() <= on_spread[1] + 1e-9
        assert abs(mean.mean()) < 1e-9
        signs.add(np.sign(np.corrcoef(data.X[:, 0], mean if mechanism != "none" else log_scale)[0, 1]))
    assert signs == {-1.0, 1.0}


def test_straight_is_straight_and_curved_is_not():
    for seed in range(12):
        straight, curved = (pair(kind, kind, seed) for kind in ("straight", "curved"))
        x = straight.X[:, 0]
        assert abs(np.corrcoef(x, straight.mean[:, 1])[0, 1]) == pytest.approx(1.0, abs=1e-12)
        # The spread moves no further than at three standard deviations of its parent.
        held = np.clip((x - x.mean()) / x.std(), -3, 3)
        assert abs(np.corrcoef(held, np.log(straight.scale[:, 1]))[0, 1]) == pytest.approx(1.0, abs=1e-12)
        for effect in (curved.mean[:, 1], np.log(curved.scale[:, 1])):
            assert abs(np.corrcoef(curved.X[:, 0], effect)[0, 1]) < 0.999


def test_a_parent_far_out_does_not_make_the_spread_explode():
    """Exponential parents reach eight standard deviations: unbounded, the spread would reach exp(0.6 * 8) = 120."""
    for seed in range(10):
        data = pair("straight", "straight", seed, 5000, "exponential")
        z = (data.X[:, 0] - data.X[:, 0].mean()) / data.X[:, 0].std()
        beyond = data.scale[z > 3, 1]
        assert len(beyond) > 10
        assert np.ptp(beyond) < 1e-9
        assert data.scale[:, 1].max() < 1.2 * np.exp(0.6 * 3.2)


def test_several_parents_share_the_spread_and_add_up_in_the_mean():
    """Log spreads are divided by the root of their number, so four parents move it no further than one."""
    graph = np.zeros((5, 5), int)
    graph[:4, 4] = 1
    for seed in range(10):
        data = simulate(2000, 5, mechanism="straight", spread="straight", adjacency=graph, random_state=seed)
        assert 0.3 * 0.85 < np.log(data.scale[:, 4]).std() < 0.6 * 1.15
        assert 2 * 0.7 * 0.85 < data.mean[:, 4].std() < 2 * 1.3 * 1.15
        # Each of them has a part in both.
        Z = np.column_stack([data.X[:, :4], np.ones(2000)])
        slopes = np.linalg.lstsq(Z, data.mean[:, 4], rcond=None)[0][:4] * data.X[:, :4].std(axis=0)
        assert ((np.abs(slopes) > 0.7 - 1e-6) & (np.abs(slopes) < 1.3 + 1e-6)).all()


def test_only_parents_matter():
    """Other noise in a column changes that column and its descendants, and no mean or scale of any other."""
    graph, order, rng = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]]), np.array([0, 2, 1]), np.random.default_rng
    noise = rng(0).standard_normal((300, 3))
    changed = {}
    for column in range(3):
        other = noise.copy()
        other[:, column] = rng(1).standard_normal(300)
        one, two = (world(graph, order, some, ("curved", "curved"), rng(2)) for some in (noise, other))
        changed[column] = [
            {j for j in range(3) if not np.array_equal(a[:, j], b[:, j])} for a, b in zip(one, two, strict=True)
        ]
    assert changed == {0: [{0, 1}, {1}, {1}], 1: [{1}, set(), set()], 2: [{1, 2}, {1}, {1}]}


# --- streams ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["normal", "exponential", "mixed"])
def test_more_rows_keep_the_noise_of_the_first(noise):
    few, many = (simulate(n, 5, "ER", 1, "curved", 4, spread="curved", noise=noise) for n in (200, 700))
    np.testing.assert_array_equal(many.noise[:200], few.noise)
    np.testing.assert_array_equal(many.adjacency, few.adjacency)
    assert np.ptp(few.noise, axis=0).min() > 0.0


def test_more_rows_keep_the_mechanisms():
    """Levels of the noise are the same; effects are, but for the sample's mean and deviation."""
    few, many = (simulate(n, 5, "ER", 1, "straight", 4, spread="constant") for n in (500, 2000))
    np.testing.assert_array_equal(few.scale[0], many.scale[0])
    np.testing.assert_allclose(few.mean.std(axis=0), many.mean.std(axis=0), rtol=0.25)


def test_the_same_seed_has_the_same_graph_in_all_worlds():
    for seed in range(4):
        graph = simulate_graph(7, "SF", 2, seed)
        for mechanism in ("linear", "nonlinear", *MEANS):
            for noise in NOISES:
                data = simulate(20, 7, "SF", 2, mechanism, seed, noise=noise)
                np.testing.assert_array_equal(data.adjacency, graph)
                assert data.seed == seed


@every_world
def test_the_same_seed_has_the_same_table_and_another_seed_another(mechanism, spread):
    one, again, other = (simulate(50, 4, mechanism=mechanism, spread=spread, random_state=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(one.X, again.X)
    assert not np.array_equal(one.X, other.X)


def test_tables_that_differ_in_the_noise_alone_have_the_same_mechanisms():
    """Levels of the noise, effects and their sizes are drawn before and beside it."""
    tables = [simulate(5000, 2, mechanism="straight", adjacency=PAIR, random_state=5, noise=n) for n in SHAPES]
    for data in tables[1:]:
        np.testing.assert_array_equal(data.scale[0], tables[0].scale[0])
        np.testing.assert_allclose(data.mean[:, 1].std(), tables[0].mean[:, 1].std(), rtol=1e-9)


def test_the_papers_worlds_take_other_noise_too():
    for noise in ("exponential", "mixed"):
        data = simulate(300, 5, "ER", 1, "linear", 2, noise=noise)
        np.testing.assert_allclose(data.X, data.mean + data.scale * data.noise)
        assert abs(stats.skew(data.noise).max()) > 0.5
    normal, code = (simulate(300, 5, "ER", 1, "linear", 2, version=version) for version in ("text", "code"))
    np.testing.assert_array_equal(normal.noise, code.noise)


# --- mistakes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mechanism": "cubic"}, "`mechanism` must be one of 'linear', 'nonlinear', 'none', 'straight', 'curved'"),
        ({"mechanism": None}, "`mechanism`"),
        ({"mechanism": "curved", "spread": "cubic"}, "`spread` must be one of 'constant', 'straight', 'curved'"),
        ({"mechanism": "curved", "spread": 1}, "`spread`"),
        ({"noise": "gaussian"}, "`noise` must be one of 'normal', 'exponential'"),
        ({"noise": None}, "`noise`"),
        ({"mechanism": "linear", "spread": "curved"}, "`spread` must not be given with the mechanism 'linear'"),
        (
            {"mechanism": "nonlinear", "spread": "constant"},
            "`spread` must not be given with the mechanism 'nonlinear'",
        ),
    ],
)
def test_bad_names_get_one_sentence(options, words):
    with pytest.raises(ParameterError) as caught:
        simulate(20, 3, **options)
    assert words in str(caught.value)
    assert "got " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_spread_is_constant_if_nothing_is_said():
    one, other = (
        simulate(50, 3, mechanism="curved", random_state=1, **options) for options in ({}, {"spread": "constant"})
    )
    np.testing.assert_array_equal(one.X, other.X)
