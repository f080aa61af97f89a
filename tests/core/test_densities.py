"""Densities of noise: they are densities, the best of their family, worth what they should be, and no more."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import integrate, optimize
from scipy.special import ndtr, ndtri

from heterodag.core import densities
from heterodag.core.densities import (
    NORMAL,
    SHARP,
    SKEWED,
    SMOOTH,
    Density,
    ResidualSums,
    features,
    fit_densities,
    fit_families,
    price,
    raw_features,
    raw_slopes,
    reach_of,
)

every_size = pytest.mark.parametrize("size", [SKEWED, SMOOTH, SHARP], ids=["skewed", "smooth", "sharp"])
#: Draws from a generator and a size; far from normal in every way that residuals can be.
SHAPES = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "skewed": lambda rng, n: rng.exponential(size=n),
    "bimodal": lambda rng, n: rng.normal(0.0, 0.3, n) + rng.choice([-1.0, 1.0], n),
    "flat": lambda rng, n: rng.uniform(size=n),
    "heavy": lambda rng, n: rng.standard_t(2, n),
    "Cauchy": lambda rng, n: rng.standard_cauchy(n),
    "log-normal": lambda rng, n: rng.lognormal(size=n),
}
LIGHT = ("normal", "skewed", "bimodal", "flat")
every_shape = pytest.mark.parametrize("shape", SHAPES)
light_shapes = pytest.mark.parametrize("shape", LIGHT)
heavy_shapes = pytest.mark.parametrize("shape", sorted(SHAPES.keys() - set(LIGHT)))


def standardised(x):
    return (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True)


def sample(shape, n=2000, seed=0):
    return standardised(SHAPES[shape](np.random.default_rng(seed), n))


def fitted(x, size=SMOOTH):
    return fit_densities(x[None, :], size).one(0)


def density_at(density, x):
    return np.exp(density.log_ratio(x) - 0.5 * x**2) / np.sqrt(2 * np.pi)


def integral(density, of=np.ones_like, between=None):
    """Integrate by Gauss and Legendre's rule on 400 pieces, small ones near 0, where densities can be sharpest."""
    low, high = (-density.reach, density.reach) if between is None else between
    far = np.geomspace(1e-4, density.reach, 200)
    places = np.unique(np.clip(np.concatenate([-far, [0.0], far]), low, high))
    return sum(
        integrate.fixed_quad(lambda x: density_at(density, x) * of(x), a, b, n=12)[0]
        for a, b in itertools.pairwise(places)
    )


class Penalised:
    """The penalised likelihood written out: integrals by Simpson's rule on a fine grid, no Newton steps."""

    def __init__(self, x, size, reach):
        t = np.linspace(-1.0, 1.0, 20_001) * np.arcsinh(reach)
        self.x = np.sinh(t)
        weight = integrate.simpson(np.eye(3), dx=t[1] - t[0])  # 1, 4, 1 thirds of the step
        simpson = np.full(len(t), 2.0 * weight[0])
        simpson[1::2], simpson[[0, -1]] = weight[1], weight[0]
        self.log_weight = np.log(simpson * np.cosh(t) / np.sqrt(2 * np.pi)) - 0.5 * self.x**2
        self.features, self.moments, self.ridge = features(self.x, size), features(x, size).mean(axis=0), 1.0 / len(x)

    def _probabilities(self, theta):
        exponent = self.features @ theta + self.log_weight
        mass = np.exp(exponent - exponent.max())
        return mass / mass.sum(), float(exponent.max() + np.log(mass.sum()))

    def value(self, theta):
        return self._probabilities(theta)[1] - theta @ self.moments + 0.5 * self.ridge * theta @ theta

    def gradient(self, theta):
        return self._probabilities(theta)[0] @ self.features - self.moments + self.ridge * theta

    def curvature(self, theta):
        mass, _ = self._probabilities(theta)
        mean = mass @ self.features
        return (self.features.T * mass) @ self.features - np.outer(mean, mean) + self.ridge * np.eye(len(theta))


# --- features -----------------------------------------------------------------------------------------------


def test_features_are_orthonormal_under_the_normal_distribution():
    """By Gauss and Legendre's rule, on pieces: the features are made with sums over a plain grid."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    pieces = np.arange(-10, 10)
    x = (pieces[:, None] + 0.5 + 0.5 * nodes).ravel()
    weight = np.tile(0.5 * weights, len(pieces)) * np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi)
    phi = features(x)
    assert phi.shape == (len(x), SHARP)
    np.testing.assert_allclose(phi.T @ weight, 0.0, atol=1e-8)
    np.testing.assert_allclose((phi.T * weight) @ phi, np.eye(SHARP), atol=1e-8)


def test_the_first_features_are_the_same_in_both_families():
    x = np.linspace(-5.0, 5.0, 11).reshape(1, 11)
    assert features(x, SMOOTH).shape == (1, 11, SMOOTH)
    np.testing.assert_allclose(features(x)[..., :SMOOTH], features(x, SMOOTH), atol=1e-10)
    # The first two are mean and variance, which a normal density has as well: standardised residuals have nothing there.
    np.testing.assert_allclose(features(x)[..., :2], np.stack([x, (x**2 - 1) / np.sqrt(2)], axis=-1), atol=1e-7)


def test_slopes_of_the_features_are_the_numerical_ones():
    x, step = np.linspace(-6.0, 6.0, 301), 1e-6
    numerical = (raw_features(x + step, SHARP) - raw_features(x - step, SHARP)) / (2 * step)
    np.testing.assert_allclose(raw_slopes(x), numerical.T, atol=1e-8)


@pytest.mark.parametrize(("farthest", "reach"), [(0.5, 8), (6.4, 8), (6.5, 16), (12.8, 16), (13.0, 32), (1000, 2048)])
def test_the_grid_reaches_a_quarter_beyond_the_farthest_residual(farthest, reach):
    assert reach_of(np.array([farthest])).tolist() == [reach]


# --- what is fitted -----------------------------------------------------------------------------------------


@every_shape
@every_size
def test_densities_integrate_to_one(shape, size):
    """Cut at the residuals, the tails of heavy samples would be free: integrals would miss their share.

    Densities of skewed and heavy-tailed samples can rise at the end of the grid, where its points are far apart: up to
    3.4e-4 is missing there.
    """
    for seed in range(4):
        assert integral(fitted(sample(shape, seed=seed), size)) == pytest.approx(1.0, abs=4e-4)


def shortfall(x, size):
    """Return by how many nats, all rows together, another optimiser on finer integrals finds better parameters."""
    found = fit_densities(x[None, :], size)
    problem = Penalised(x, size, found.reach[0])
    best = optimize.minimize(
        problem.value, found.theta[0], jac=problem.gradient, hess=problem.curvature, method="trust-exact",
        options={"gtol": 1e-6, "maxiter": 1000},
    )  # fmt: skip
    return len(x) * (problem.value(found.theta[0]) - best.fun)


@light_shapes
@every_size
def test_parameters_have_the_largest_penalised_likelihood(shape, size):
    """What integrals on 161 points miss is 0.2 nats at most. A Newton step less than needed costs tens."""
    for seed in range(2):
        assert shortfall(sample(shape, seed=seed), size) < 0.3


@heavy_shapes
def test_heavy_tails_have_the_largest_penalised_likelihood_too(shape):
    for seed in range(4):
        for size in (SKEWED, SMOOTH, SHARP):
            assert shortfall(sample(shape, seed=seed), size) < 1.5


@every_shape
@every_size
def test_the_gain_is_the_mean_log_density_less_that_of_the_normal_one(shape, size):
    x = sample(shape)
    found = fit_densities(x[None, :], size)
    normal = -0.5 * x**2 - 0.5 * np.log(2 * np.pi)
    assert found.gain[0] == pytest.approx(np.mean(np.log(density_at(found.one(0), x)) - normal), abs=1e-9)


@pytest.mark.parametrize("shape", ["normal", "bimodal", "flat"])
@every_size
def test_the_gradient_of_the_penalised_likelihood_vanishes(shape, size):
    x = sample(shape)
    density = fitted(x, size)
    assert np.abs(Penalised(x, size, density.reach).gradient(density.theta)).max() < 2e-3


@pytest.mark.parametrize("shape", ["bimodal", "flat", "skewed"])
def test_a_fitted_density_has_the_moments_of_its_sample(shape):
    """As its features do, up to the ridge: one row's weight of 20,000."""
    x = sample(shape, n=20_000)
    density = fitted(x, SHARP)
    for power in (1, 2):
        assert integral(density, lambda e, k=power: e**k) == pytest.approx(np.mean(x**power), abs=5e-3)
    assert integral(density, np.tanh) == pytest.approx(np.mean(np.tanh(x)), abs=5e-3)
    # No feature, but close to what several together can be.
    assert integral(density, lambda e: e * np.abs(e)) == pytest.approx(np.mean(x * np.abs(x)), abs=0.03)


@every_shape
@every_size
def test_the_slope_is_minus_the_derivative_of_the_log_density(shape, size):
    density, x, step = fitted(sample(shape), size), np.linspace(-5.0, 5.0, 201), 1e-5
    log_density = [density.log_ratio(at) - 0.5 * at**2 for at in (x - step, x + step)]
    np.testing.assert_allclose(density.slope(x), (log_density[0] - log_density[1]) / (2 * step), atol=1e-6)


def test_the_slope_of_a_normal_density_is_x():
    x = np.linspace(-4.0, 4.0, 9)
    np.testing.assert_allclose(Density(np.zeros(SHARP), 0.0, 8.0).slope(x), x)
    np.testing.assert_allclose(Density(np.zeros(SMOOTH), 0.0, 8.0).log_ratio(x), 0.0)


def test_several_samples_at_once_are_as_each_alone():
    """Samples of one batch differ in how far they reach and in how many steps they need."""
    E = np.array([sample(shape, 600, seed) for seed in range(2) for shape in SHAPES])
    for size in (SMOOTH, SHARP):
        together = fit_densities(E, size)
        assert len(set(together.reach)) > 2
        for i, x in enumerate(E):
            alone = fit_densities(x[None, :], size)
            np.testing.assert_allclose(together.theta[i], alone.theta[0], atol=1e-9)
            np.testing.assert_allclose(together.gain[i], alone.gain[0], atol=1e-9)
            assert (together.log_z[i], together.reach[i]) == pytest.approx((alone.log_z[0], alone.reach[0]))


@every_shape
@every_size
def test_rows_beyond_all_residuals_are_the_less_likely_the_farther_they_are(shape, size):
    """Held-out rows lie there. The features may say otherwise: x^2 can have a positive coefficient."""
    density = fitted(sample(shape), size)
    inside = np.linspace(-density.reach, density.reach, 101)
    np.testing.assert_allclose(np.exp(density.log_density(inside)), density_at(density, inside), rtol=1e-9)
    far = density.log_density(density.reach * np.array([-9.0, -4.0, -2.0, -1.0, 1.0, 2.0, 4.0, 9.0]))
    assert (np.diff(far[:4]) > 0.0).all()
    assert (np.diff(far[4:]) < 0.0).all()


@pytest.mark.parametrize("shape", ["skewed", "bimodal", "flat", "normal"])
def test_total_mean_and_deviation_are_integrals(shape):
    density = fitted(sample(shape, seed=2), SHARP)
    assert density.total == pytest.approx(integral(density), abs=1e-5)
    mean = integral(density, lambda e: e)
    assert density.mean == pytest.approx(mean, abs=1e-4)
    assert density.sd == pytest.approx(np.sqrt(integral(density, lambda e: (e - mean) ** 2)), abs=1e-3)


def test_mirrored_noise_has_the_mirrored_density():
    x, at = sample("skewed"), np.linspace(-5.0, 5.0, 41)
    for size in (SMOOTH, SHARP):
        plain, mirrored = fitted(x, size), fitted(-x, size)
        np.testing.assert_allclose(mirrored.log_ratio(-at), plain.log_ratio(at), atol=1e-6)


def test_a_single_far_residual_does_not_bend_the_rest():
    x = sample("normal")
    far = np.append(x, 60.0)
    probabilities = np.array([0.01, 0.1, 0.5, 0.9, 0.99])
    np.testing.assert_allclose(fitted(far).quantile(probabilities), fitted(x).quantile(probabilities), atol=0.15)


# --- edges --------------------------------------------------------------------------------------------------


def with_edges(x, size=NORMAL, high=None):
    ends = [None if edge is None else np.array([edge]) for edge in (x.min(), high)]
    return fit_densities(x[None, :], size, *ends)


@pytest.mark.parametrize("size", [NORMAL, SKEWED, SMOOTH])
@pytest.mark.parametrize(("shape", "both"), [("skewed", False), ("flat", True)])
def test_densities_with_edges_integrate_to_one_between_them(shape, both, size):
    for seed in range(4):
        x = sample(shape, seed=seed)
        density = with_edges(x, size, x.max() if both else None).one(0)
        assert (density.low, density.edges) == (x.min(), 1 + both)
        assert integral(density, between=density.range) == pytest.approx(1.0, abs=3e-4)
        assert density.cdf(np.array(density.range)) == pytest.approx([0.0, 1.0], abs=1e-12)


def test_a_density_with_an_edge_is_exact_where_noise_has_one():
    """Exponential and uniform noise are in the family: the gain is the negentropy, up to the error of its mean."""
    for shape, negentropy, error in (("skewed", 0.4189, 0.012), ("flat", 0.1764, 0.003)):
        x = sample(shape, n=20_000)
        found = with_edges(x, NORMAL, x.max() if shape == "flat" else None)
        assert found.gain[0] == pytest.approx(negentropy, abs=3 * error)


def test_rows_beyond_an_edge_are_so_unlikely_that_one_in_all_would_be_there():
    x = sample("skewed")
    density = with_edges(x).one(0)
    far = density.low - np.array([0.0, 1e-6, 0.01, 0.1, 3.0])
    values = density.log_density(far)
    assert (np.diff(values) < 0.0).all()
    beyond = integrate.quad(lambda e: np.exp(density.log_density(np.array([e]))[0]), density.low - 1.0, density.low)[
        0
    ]
    assert beyond == pytest.approx(1 / len(x), rel=1e-3)


def test_rows_expected_beyond_tell_edges():
    """Of normal samples, a density expects about one row beyond each end; of uniform ones, far more beyond both."""
    normal = fit_densities(np.array([sample("normal", seed=seed) for seed in range(20)])).beyond
    assert 0.3 < normal.mean() < 1.5
    assert (fit_densities(sample("flat")[None]).beyond > 10).all()
    left, right = fit_densities(sample("skewed")[None]).beyond[0]
    assert right < 5 < 20 < left


def test_an_edge_inside_a_cell_of_the_grid_counts_its_part():
    """The integral of the normal density from any edge on, between points of the grid too."""
    grid = densities._grid(8.0, NORMAL)
    low = np.linspace(-1.0, 1.0, 101)
    weights = densities._log_weights(grid, low, np.full(101, np.inf))
    np.testing.assert_allclose(np.exp(weights).sum(axis=1), ndtr(-low), atol=2e-5)
    both = densities._log_weights(grid, low, low + 1.0)
    np.testing.assert_allclose(np.exp(both).sum(axis=1), ndtr(low + 1.0) - ndtr(low), atol=4e-5)


def test_several_families_at_once_are_as_each_alone():
    E = np.array([sample(shape, 600) for shape in SHAPES])
    for size, found in zip(
        (SKEWED, SMOOTH, SHARP), fit_families(ResidualSums.of(E, SHARP), (SKEWED, SMOOTH, SHARP)), strict=True
    ):
        np.testing.assert_allclose(600 * found.gain, 600 * fit_densities(E, size).gain, atol=0.01)


# --- what it is worth ---------------------------------------------------------------------------------------


@every_size
def test_on_normal_samples_the_gain_is_half_a_chi_square(size):
    """Wilks: as many degrees of freedom as features beyond mean and variance. The average of 200 has a standard error of
    sqrt(df / 2 / 200); four of these are far less than the half nat that one more degree of freedom would add to it."""
    n, df = 1000, size - 2
    gains = n * fit_densities(standardised(np.random.default_rng(1).standard_normal((200, n))), size).gain
    error = np.sqrt(df / 2 / 200)
    assert 4 * error < 0.5 * np.sqrt(df)
    assert gains.mean() == pytest.approx(df / 2, abs=4 * error)
    assert gains.std() == pytest.approx(np.sqrt(df / 2), rel=0.25)
    # The price is exceeded by a chi-square with probability 2e-6 (smooth) and 3e-13: never in 200.
    assert price(n, size) == pytest.approx(0.5 * df * np.log(n))
    assert (gains < price(n, size)).all()


@pytest.mark.parametrize(
    ("shape", "negentropy", "smooth", "sharp"),
    [
        ("skewed", 0.4189, 0.65, 0.85),
        ("Laplace", 0.0724, 0.92, 0.95),
        ("flat", 0.1764, 0.78, 0.85),
        ("Gumbel", 0.0905, 0.96, 0.96),
    ],
)
def test_gains_approach_known_negentropies_from_below(shape, negentropy, smooth, sharp):
    """ln(2 pi e)/2 less the entropy of the standardised distribution, in samples of 20,000.

    Gumbel noise is skewed without an edge: one tail falls as a normal one does, the other far more slowly. The mean of ln f
    over a sample varies: by sqrt(var(ln f / normal) / n), at most 0.012 here (0.007 on the average of three). What fitting
    adds is 16 coefficients' worth, less than a thousandth of a nat per row.
    """
    draw = SHAPES.get(shape, lambda rng, n: rng.laplace(size=n) if shape == "Laplace" else rng.gumbel(size=n))
    E = np.array([standardised(draw(np.random.default_rng(seed), 20_000)) for seed in range(3)])
    for size, share in ((SMOOTH, smooth), (SHARP, sharp)):
        gain = fit_densities(E, size).gain.mean()
        assert share * negentropy < gain < negentropy + (0.015 if shape == "skewed" else 0.003)


def test_edges_are_what_the_sharp_family_is_for():
    for shape in ("skewed", "flat"):
        x = sample(shape, 5000)[None, :]
        smooth, sharp = (fit_densities(x, size).gain[0] for size in (SMOOTH, SHARP))
        assert 5000 * (sharp - smooth) > 2 * (price(5000, SHARP) - price(5000, SMOOTH))


@every_shape
@every_size
def test_a_density_is_never_worse_than_the_normal_one(shape, size):
    for n in (30, 2000):
        E = np.array([sample(shape, n, seed) for seed in range(8)])
        assert (fit_densities(E, size).gain >= 0.0).all()


def lost_by_more_features(shape):
    """Return the most nats that sharp densities have less than smooth ones, the ridge of both accounted for."""
    lost = []
    for n in (50, 2000):
        E = np.array([sample(shape, n, seed) for seed in range(4)])
        smooth, sharp = (fit_densities(E, size) for size in (SMOOTH, SHARP))
        ridge = 0.5 * np.sum(smooth.theta**2, axis=1)
        lost.append(n * (smooth.gain - sharp.gain) - ridge)
    return np.max(lost)


@light_shapes
def test_more_features_are_never_worse(shape):
    """The families are nested, so the maximum of the larger is the larger one; half a nat is for integrals."""
    assert lost_by_more_features(shape) < 0.5


@heavy_shapes
def test_more_features_are_never_worse_for_heavy_tails_either(shape):
    assert lost_by_more_features(shape) < 0.5


def test_a_few_equal_rows_are_survived():
    """Ten rows, and values that repeat: nothing is infinite, whatever it may be worth."""
    for x in (np.tile([-1.0, 1.0], 5), standardised(np.arange(10.0)), np.zeros(10)):
        for size in (SMOOTH, SHARP):
            found = fit_densities(x[None, :], size)
            assert np.isfinite(found.theta).all()
            assert np.isfinite([*found.gain, *found.log_z]).all()
            assert found.gain[0] >= 0.0


# --- probabilities ------------------------------------------------------------------------------------------


@every_shape
@every_size
def test_quantiles_and_probabilities_are_inverse_to_each_other(shape, size):
    density, p = fitted(sample(shape), size), np.linspace(0.001, 0.999, 57)
    x = density.quantile(p)
    assert (np.diff(x) > 0.0).all()
    np.testing.assert_allclose(density.cdf(x), p, atol=1e-9)
    assert density.cdf(np.array([-2 * density.reach, 2 * density.reach])).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("shape", ["skewed", "bimodal", "heavy"])
def test_probabilities_are_integrals_of_the_density(shape):
    density = fitted(sample(shape), SHARP)
    for low, high in ((-1.2, -0.4), (-0.4, 0.1), (0.1, 2.5)):
        between = float(np.diff(density.cdf(np.array([low, high])))[0])
        assert between == pytest.approx(integral(density, between=(low, high)), abs=1e-4)


def test_quantiles_are_those_of_the_sample():
    """Of a normal sample, those of the normal distribution: 0.05 is two standard errors of a sample's quantile at 1 %."""
    p = np.linspace(0.01, 0.99, 99)
    np.testing.assert_allclose(fitted(sample("normal", 20_000)).quantile(p), ndtri(p), atol=0.05)
    for shape in ("skewed", "bimodal", "flat"):
        x = sample(shape, 20_000)
        # A smooth density rounds the edges off; a normal one would be wrong by 0.3 or more.
        np.testing.assert_allclose(fitted(x, SHARP).quantile(p), np.quantile(x, p), atol=0.12)
        assert np.abs(ndtri(p) - np.quantile(x, p)).max() > 0.3


def test_one_grid_serves_all_samples_of_a_reach():
    densities._grid.cache_clear()
    fit_densities(np.array([sample("normal", seed=seed) for seed in range(5)]))
    assert densities._grid.cache_info().currsize == 1
