"""Noise that is not normal in the causal model: sampled, predicted, weighed and averaged as its density says."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats
from scipy.special import ndtr

from heterodag import HOST, HeteroscedasticSCM, ParameterError, simulate
from heterodag.core.densities import SHARP, SMOOTH, fit_densities
from heterodag.scm.noise import central_interval, from_normal, log_density, mean_and_sd

N = 4000
CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
NAMES = ["x0", "x1", "x2"]


@pytest.fixture(scope="module")
def tables():
    """Rows to fit and rows to judge by, of one world with exponential noise."""
    made = simulate(
        2 * N, 3, mechanism="straight", spread="straight", noise="exponential", adjacency=CHAIN, random_state=1
    )
    frame = made.to_frame()
    return frame.head(N), frame.tail(N)


@pytest.fixture(scope="module")
def skewed(tables):
    return HeteroscedasticSCM.from_dag(CHAIN, tables[0])


@pytest.fixture(scope="module")
def normal(tables):
    return HeteroscedasticSCM.from_dag(CHAIN, tables[0], noise="gaussian")


def density(size=SMOOTH, shift=0.0, scale=1.0, n=4000):
    """Return a density fitted to exponential numbers, whose mean and standard deviation can be far from 0 and 1."""
    residuals = shift + scale * (np.random.default_rng(0).exponential(size=n) - 1.0)
    return fit_densities(residuals[None], size).one(0)


def with_noise(scm, noise):
    """Return the model with the same noise in all its mechanisms, whatever was fitted."""
    mechanisms = [replace(m, fit=replace(m.fit, noise=noise)) for m in scm.mechanisms]
    return HeteroscedasticSCM(scm.names, mechanisms, scm.settings)


def skewness_and_error(x, seed=0):
    """Return the skewness of a sample and its standard error (bootstrap)."""
    drawn = np.random.default_rng(seed).choice(x, (200, len(x)))
    return stats.skew(x), stats.skew(drawn, axis=1).std()


# --- the density itself ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [SMOOTH, SHARP])
def test_mean_and_standard_deviation_are_integrals_of_the_density(size):
    own = density(size, shift=0.5, scale=1.3)

    def integral(function):
        def integrand(x):
            return function(x) * float(np.exp(own.log_density(np.array([x]))[0]))

        return integrate.quad(integrand, -own.reach, own.reach, limit=2000)[0]

    assert own.total == pytest.approx(integral(lambda x: 1.0), abs=1e-6)
    assert own.total == pytest.approx(1.0, abs=1e-3)
    mean = integral(lambda x: x) / own.total
    assert own.mean == pytest.approx(mean, abs=1e-5)
    assert own.sd == pytest.approx(np.sqrt(integral(lambda x: (x - mean) ** 2) / own.total), abs=1e-5)
    assert (own.mean, own.sd) == pytest.approx((0.5, 1.3), abs=0.05)


def test_noise_without_a_density_is_standard_normal():
    x = np.linspace(-3, 3, 7)
    assert from_normal(None, x) is x
    assert mean_and_sd(None, x, x) == (x, x)
    assert np.allclose(log_density(None, x), stats.norm.logpdf(x))
    assert central_interval(None, 0.9) == pytest.approx(stats.norm.interval(0.9))


def test_noise_of_a_density_is_made_from_normal_numbers():
    own, z = density(SHARP), np.random.default_rng(1).standard_normal(10_000)
    noise = from_normal(own, z)
    assert np.array_equal(np.argsort(noise), np.argsort(z))
    assert np.allclose(own.cdf(noise), ndtr(z), atol=1e-9)
    low, high = central_interval(own, 0.8)
    assert own.cdf(np.array([low, high])) == pytest.approx([0.1, 0.9], abs=1e-9)
    # Four standard errors of a mean of 10,000 numbers.
    assert noise.mean() == pytest.approx(own.mean, abs=0.04)


@pytest.mark.parametrize("kind", ["exponential", "t", "bimodal", "uniform"])
def test_far_values_are_never_likely(kind):
    """Beyond the reach the features can grow without bound: at four times the reach a density was above exp(800)."""
    noise = simulate(2000, 1, mechanism="straight", degree=0, noise=kind, random_state=0).X.T
    for size in (SMOOTH, SHARP):
        own = fit_densities((noise - noise.mean()) / noise.std(), size).one(0)
        steps = own.reach * np.array([1.0, 1.0 + 1e-9, 1.5, 2.0, 4.0, 100.0])
        for side in (-1.0, 1.0):
            values = own.log_density(side * steps)
            assert values[1] == pytest.approx(values[0], abs=1e-3)
            assert (np.diff(values) < 0).all()
            assert values[-1] < -99


# --- the model ---------------------------------------------------------------------------------------------


def test_samples_are_as_skewed_as_the_data(skewed, normal, tables):
    """The skewness of exponential numbers is 2; its standard error at n = 4000 is 8.5 / sqrt(n), more for products."""
    drawn, plain = (model.sample(N, random_state=0) for model in (skewed, normal))
    for name in NAMES:
        (wanted, error), (found, other) = (skewness_and_error(t[name].to_numpy()) for t in (tables[0], drawn))
        assert abs(found - wanted) < 4 * np.hypot(error, other)
    wanted, error = skewness_and_error(tables[0]["x0"].to_numpy())
    assert abs(stats.skew(plain["x0"]) - wanted) > 10 * error


def test_samples_look_like_the_data(skewed, normal, tables):
    drawn, plain = (model.sample(N, random_state=0) for model in (skewed, normal))
    for name in NAMES:
        assert stats.ks_2samp(drawn[name], tables[0][name]).pvalue > 1e-3
    assert stats.ks_2samp(plain["x0"], tables[0]["x0"]).pvalue < 1e-20


@pytest.mark.parametrize("target", NAMES)
def test_prediction_intervals_miss_as_often_above_as_below(skewed, normal, tables, target):
    """New rows: 5 % on either side. Normal intervals end below the least value that such noise has."""

    def missed(model):
        found = model.predict_interval(tables[1], target, level=0.9)
        return np.array([(tables[1][target] < found["lower"]).mean(), (tables[1][target] > found["upper"]).mean()])

    # Binomial errors of the new rows, and of the rows that the quantiles were estimated from.
    tolerance = 4 * np.sqrt(0.05 * 0.95 * (1 / N + 1 / N))
    sides = missed(skewed)
    assert np.all(np.abs(sides - 0.05) < tolerance)
    assert abs(sides.sum() - 0.1) < 4 * np.sqrt(0.1 * 0.9 * 2 / N)
    assert missed(normal)[0] < 0.05 - tolerance


def test_new_rows_are_likelier(skewed, normal, tables):
    gain = skewed.log_likelihood(tables[1]) - normal.log_likelihood(tables[1])
    assert gain.mean() > 4 * gain.std() / np.sqrt(N)
    # Exponential noise has 0.42 nats of negentropy; three variables have it.
    assert 0.6 < gain.mean() < 1.4
    parts = skewed.log_likelihood(tables[1], per_variable=True)
    assert np.allclose(parts.sum(axis=1), skewed.log_likelihood(tables[1]))


def test_a_density_of_values_has_the_integral_one(skewed):
    row = np.zeros((1, 1))
    own = skewed.mechanisms[1]
    mu, sigma = (float(part[0]) for part in own.predict(row))
    reach = own.density.reach

    def integrand(value):
        return float(np.exp(own.log_density(row, np.array([value]))[0]))

    found = integrate.quad(integrand, mu - reach * sigma, mu + reach * sigma, limit=2000)[0]
    assert found == pytest.approx(1.0, abs=1e-3)


def test_counterfactuals_recover_the_row(skewed, tables):
    rows = tables[1].head(50)
    assert skewed.counterfactual(rows, {}).equals(rows)
    assert np.allclose(skewed.counterfactual(rows, {"x0": rows["x0"].to_numpy()}), rows, rtol=1e-12, atol=1e-12)
    moved = skewed.counterfactual(rows, {"x0": 1.0})
    assert np.allclose(skewed.noise(moved)[["x1", "x2"]], skewed.noise(rows)[["x1", "x2"]], rtol=1e-9, atol=1e-9)
    assert np.allclose(skewed.counterfactual(moved, {"x0": rows["x0"].to_numpy()}), rows, rtol=1e-9, atol=1e-9)


def test_the_same_seed_gives_the_same_numbers_behind_the_noise(skewed, normal):
    plain, other = skewed.sample(500, random_state=3), skewed.sample_do({"x1": 2.0}, 500, random_state=3)
    assert plain["x0"].equals(other["x0"])
    assert np.allclose(skewed.noise(plain)["x2"], skewed.noise(other)["x2"], atol=1e-9)
    below = normal.noise(normal.sample(500, random_state=3)).apply(ndtr)
    for j, name in enumerate(NAMES):
        own = skewed.mechanisms[j].density.cdf(skewed.noise(plain)[name].to_numpy())
        assert np.allclose(own, below[name], atol=1e-9)


# --- averages over the noise -------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [None, 0.5])
@pytest.mark.parametrize("do", [{}, {"x0": 1.0}])
def test_effects_agree_with_large_samples(skewed, shift, do):
    """Mean and variance are averaged exactly; a density of mean 0.5 would move a mean by half a standard deviation."""
    scm = skewed if shift is None else with_noise(skewed, density(shift=shift, scale=1.3))
    n = 200_000
    drawn = scm.sample_do(do, n, random_state=1)["x2"].to_numpy()
    found = scm.describe_do(do, "x2", n=50_000, random_state=2)["value"]
    # Both sides have simulation errors; those of n = 50,000 are twice the others.
    assert abs(found["mean"] - drawn.mean()) < 4 * np.sqrt(5) * drawn.std() / np.sqrt(n)
    fourth = np.mean((drawn - drawn.mean()) ** 4)
    error = np.sqrt((fourth - drawn.var() ** 2) / n)
    assert abs(found["variance"] - drawn.var()) < 4 * np.sqrt(5) * error
    assert found["sd"] == pytest.approx(np.sqrt(found["variance"]))


def test_predicted_moments_are_those_of_the_noise(skewed):
    noise = density(shift=0.5, scale=1.3)
    own = with_noise(skewed, noise).mechanisms[1]
    rows = np.array([[-1.0], [0.0], [2.0]])
    (mu, sigma), (mean, sd) = own.predict(rows), own.moments(rows)
    assert (noise.mean, noise.sd) == pytest.approx((0.5, 1.3), abs=4 * 1.3 / np.sqrt(4000))
    assert np.allclose(mean, mu + noise.mean * sigma)
    assert np.allclose(sd, noise.sd * sigma)
    drawn = own.value(np.repeat(rows, 20_000, axis=0), np.tile(from_normal(noise, normal_numbers(20_000)), 3))
    assert np.allclose(drawn.reshape(3, -1).mean(axis=1), mean, atol=4 * sd.max() / np.sqrt(20_000))


def normal_numbers(n):
    return np.random.default_rng(4).standard_normal(n)


@pytest.mark.parametrize("shift", [None, 0.5])
def test_shares_of_the_variance_add_up_to_that_of_samples(skewed, shift):
    scm = skewed if shift is None else with_noise(skewed, density(shift=shift, scale=1.3))
    found = scm.attribute_spread("x2", n=50_000, random_state=0)
    drawn = scm.sample(200_000, random_state=1)["x2"].to_numpy()
    error = np.sqrt((np.mean((drawn - drawn.mean()) ** 4) - drawn.var() ** 2) / 50_000)
    assert abs(found["variance"].sum() - drawn.var()) < 5 * error
    assert (found["variance"] > 0).all()


def test_linear_shares_do_not_depend_on_the_shape_of_the_noise():
    """y = 2 a + E with constant spread: 4 parts of 5 come from a, whatever the noise."""
    rng = np.random.default_rng(0)
    a = rng.exponential(size=4000) - 1.0
    frame = pd.DataFrame({"a": a, "y": 2 * a + rng.exponential(size=4000) - 1.0})
    scm = HeteroscedasticSCM.from_dag([[0, 1], [0, 0]], frame)
    assert scm.summary()["noise"].tolist() == ["flexible", "flexible"]
    shares = scm.attribute_spread("y", n=20_000, random_state=0)["share"]
    assert shares.to_numpy() == pytest.approx([0.8, 0.2], abs=0.03)


def test_intervals_hold_the_truth_with_skewed_noise():
    """90 % intervals of a mean and a spread, 40 tables: 28 or fewer of 40 has chance 0.0002 if they are right."""
    covered, true = np.zeros(2), np.array([1.5, np.exp(0.15)])
    for seed in range(40):
        rng = np.random.default_rng(seed)
        a = rng.exponential(size=500) - 1.0
        y = 1.0 + a + np.exp(0.3 * a) * (rng.exponential(size=500) - 1.0)
        scm = HeteroscedasticSCM.from_dag([[0, 1], [0, 0]], np.column_stack([a, y]), parametrization="linear")
        found = scm.describe_do({0: 0.5}, 1, quantiles=(), n=500, random_state=0).loc[["mean", "sd"]]
        covered += (found["lower"].to_numpy() < true) & (true < found["upper"].to_numpy())
    assert (covered > 28).all()


# --- a mechanism for every variable ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixed():
    """a normal; b by a curve; c by lines with skewed noise; d in natural form, its mean falling with its precision."""
    rng = np.random.default_rng(0)
    a, b, c, d = rng.standard_normal((4, 3000))
    sigma = np.exp(-0.6 * a)
    table = pd.DataFrame({"a": a, "b": np.sin(2 * a) + 0.3 * b, "c": a + np.exp(0.4 * a) * (-np.log(ndtr(-c)) - 1)})
    graph = np.zeros((4, 4))
    graph[0, 1:] = 1
    return graph, table.assign(d=(2 + 1.5 * a) * sigma**2 + sigma * d)


def test_every_variable_has_its_own_mechanism(mixed):
    graph, table = mixed
    scm = HeteroscedasticSCM.from_dag(graph, table)
    found = scm.summary().set_index("variable")
    assert found["noise"].tolist() == ["normal", "normal", "flexible", "normal"]
    assert found["curves"].tolist() == ["", "a", "", ""]
    assert found.loc["d", "form"] == "natural"
    assert found["parents"].tolist() == ["", "a", "a", "a"]
    assert (scm.form, scm.parametrization, scm.settings.noise) == ("auto", "auto", "auto")
    mu, sigma = scm.mechanisms[3].moments(np.array([[0.0], [1.0]]))
    assert np.allclose(mu, [2.0, 3.5 * np.exp(-1.2)], atol=0.15)
    assert np.allclose(sigma, [1.0, np.exp(-0.6)], rtol=0.1)


def test_what_is_asked_for_is_what_all_get(mixed):
    graph, table = mixed
    scm = HeteroscedasticSCM.from_dag(graph, table, form="natural", parametrization="linear", noise="flexible")
    assert (scm.summary()["noise"] == "flexible").all()
    assert (scm.summary()["curves"] == "").all()
    assert scm.summary()["form"].tolist()[1:] == ["natural"] * 3


def test_a_learned_graph_brings_its_settings(tables):
    rows = tables[0].head(500)
    host = HOST(noise="flexible", parametrization="linear", form="location-scale").fit(rows)
    scm = HeteroscedasticSCM.from_host(host, rows)
    assert (scm.form, scm.parametrization, scm.settings.noise) == ("location-scale", "linear", "flexible")
    assert np.array_equal(scm.adjacency, host.adjacency_)
    assert (scm.summary()["noise"] == "flexible").all()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"noise": "cauchy"}, "`noise` must be one of 'auto', 'gaussian', 'flexible'"),
        ({"noise": None}, "`noise` must be one of"),
        ({"form": "cubic"}, "`form` must be one of"),
        ({"parametrization": "mlp"}, "be 'auto', 'linear' or 'spline' in a causal model"),
        ({"parametrization": "mlp", "noise": "flexible"}, "'auto' or 'gaussian' with parametrization 'mlp'"),
    ],
)
def test_wrong_settings_get_one_sentence(tables, wrong, said):
    with pytest.raises(ParameterError) as caught:
        HeteroscedasticSCM.from_dag(CHAIN, tables[0], **wrong)
    assert said in str(caught.value)
