"""The causal model with spline mechanisms: both forms, every question, against a nonlinear model's own truth."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

from heterodag import HOST, DataError, HeteroscedasticSCM, ParameterError
from heterodag.core.layout import Coefficients
from heterodag.scm.mechanism import summed_curves
from heterodag.scores.fit import Effort
from heterodag.scores.make import score_settings
from heterodag.scores.spline_design import curve_penalties

FORMS = ["natural", "location-scale"]
GRAPH = np.triu(np.ones((3, 3)), 1)
VALUES = (-1.0, 0.5, 1.5)


def run(noise, form, a=None):
    """a -> b, and a, b -> y: additive curves in both predictors of the form; a can be set."""
    a = noise[0] if a is None else np.full_like(noise[0], a)
    b = 0.5 * a**2 - 0.5 + 0.7 * noise[1]
    if form == "natural":
        sigma = np.exp(-0.4 * np.sin(2 * a))
        mu = (np.cos(1.5 * a) + 0.5 * b) * sigma**2
    else:
        mu, sigma = np.sin(2 * a) + 0.5 * b, np.exp(0.8 * np.cos(a) - 0.4)
    return np.column_stack([a, b, mu + sigma * noise[2]])


def table(form, n, seed=0):
    return run(np.random.default_rng(seed).standard_normal((3, n)), form)


def fitted(form, n, parametrization="spline", seed=0):
    asked = {"form": form, "parametrization": parametrization, "noise": "gaussian"}
    return HeteroscedasticSCM.from_dag(GRAPH, table(form, n, seed), names=list("aby"), **asked)


@pytest.fixture(scope="module", params=FORMS)
def large(request):
    return fitted(request.param, 5000)


@pytest.fixture(scope="module", params=FORMS)
def small(request):
    return fitted(request.param, 800)


def test_interventions_come_close_to_the_truth(large):
    """n = 5000: mean and sd of y under do(a) are within 5 standard errors of the truth, far closer than with lines."""
    noise = np.random.default_rng(1).standard_normal((3, 200_000))
    lines = fitted(large.form, 5000, "linear")
    errors = {"spline": [], "linear": []}
    for value in VALUES:
        y = run(noise, large.form, value)[:, 2]
        true = np.array([y.mean(), y.std()])
        found = large.describe_do({"a": value}, "y", n=1000, random_state=0).loc[["mean", "sd"]]
        error = np.abs(found["value"] - true) / true[1]
        # The half width of a 90 % interval is 1.645 standard errors.
        assert np.all(np.abs(found["value"] - true) < 5 / 1.645 * (found["upper"] - found["value"]))
        assert np.all(error < 0.15)
        errors["spline"].append(error)
        straight = lines.describe_do({"a": value}, "y", n=1000, random_state=0)["value"]
        errors["linear"].append(np.abs(straight[["mean", "sd"]] - true) / true[1])
    assert np.mean(errors["spline"]) < 0.5 * np.mean(errors["linear"])


def test_curves_fit_better_than_lines(large):
    fresh = table(large.form, 2000, seed=7)
    gain = large.log_likelihood(fresh) - fitted(large.form, 5000, "linear").log_likelihood(fresh)
    assert gain.mean() > 4 * gain.std() / np.sqrt(len(gain))


def test_noise_reproduces_the_rows(small):
    rows = table(small.form, 800)
    noise = small.noise(rows).to_numpy()
    again = np.empty_like(rows)
    for mechanism in (small.mechanisms[j] for j in small.order):
        own = noise[:, mechanism.target]
        again[:, mechanism.target] = mechanism.value(again[:, list(mechanism.parents)], own)
    assert np.allclose(again, rows, rtol=1e-12, atol=1e-12)
    assert np.array_equal(small.counterfactual(rows, {}), rows)
    assert np.allclose(small.counterfactual(rows, {"a": rows[:, 0]}), rows, rtol=1e-12, atol=1e-12)


def test_every_other_question_is_answered(small):
    rows = table(small.form, 3000, seed=3)
    found = small.predict_interval(rows, "y", level=0.8)
    covered = np.mean((found["lower"] < rows[:, 2]) & (rows[:, 2] < found["upper"]))
    assert abs(covered - 0.8) < 4 * np.sqrt(0.8 * 0.2 / 3000) + 0.03
    shares = small.attribute_spread("y", n=1000, random_state=0)
    assert shares["share"].sum() == pytest.approx(1.0)
    assert shares["log_spread"].sum() == pytest.approx(1.0)
    effect = small.effect("a", "y", (0.0, 1.0), n=300, random_state=0)
    assert (effect["lower"] < effect["upper"]).all()


def test_far_outside_the_data_everything_stays_finite(small):
    far = small.sample_do({"a": 1e4}, 50, random_state=0).to_numpy()
    assert np.isfinite(far).all()
    mechanism = small.mechanisms[2]
    parents = table(small.form, 800)[:, :2]
    seen = mechanism.moments(parents)[1]
    sigma = mechanism.moments(far[:, :2])[1]
    assert seen.min() * (1 - 1e-9) <= sigma.min() <= sigma.max() <= seen.max() * (1 + 1e-9)


def test_what_comes_back_from_a_file_is_the_same_to_the_last_bit(small, tmp_path):
    small.save(tmp_path / "model.json")
    again = HeteroscedasticSCM.load(tmp_path / "model.json")
    assert again.parametrization == "spline"
    assert again.sample(200, random_state=3).equals(small.sample(200, random_state=3))
    ask = {"n": 100, "random_state": 0}
    assert again.effect("a", "b", **ask).equals(small.effect("a", "b", **ask))
    for one, other in zip(small.mechanisms, again.mechanisms, strict=True):
        assert np.array_equal(one.fit.strengths, other.fit.strengths)
        assert np.array_equal(curve_penalties(one.fit), curve_penalties(other.fit))


def in_curves(**values):
    def apply(content):
        content["mechanisms"][1]["curves"][0] |= values

    return apply


def without_curves(content):
    del content["mechanisms"][1]["curves"]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (in_curves(knots=[0.0, 1.0]), "knots of 'b'"),
        (in_curves(knots=[2.0, 1.0, 0.0]), "knots of 'b', which must increase"),
        (in_curves(pieces=[[1.0]]), "pieces of 'b'"),
        (in_curves(roughness=[]), "roughness of 'b'"),
        (in_curves(strengths=[1.0]), "strengths of 'b'"),
        (in_curves(strengths=[-1.0, 1.0]), "strengths of 'b'"),
        (lambda content: content["mechanisms"][1].update(curves=[]), "one entry per parent"),
        (lambda content: content["mechanisms"][1].update(curves=[3]), "not a complete heterodag model"),
        (lambda content: content["mechanisms"][1].update(theta=[0.0]), "theta of 'b'"),
        (without_curves, "not a complete heterodag model"),
        (lambda content: content["mechanisms"][1].update(curves=None), "theta of 'b'"),
        (lambda content: content.update(parametrization="linear"), "curves of 'b' in a model of lines"),
        (lambda content: content.update(format_version=0), "has format version 0"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(small, tmp_path, spoil, said):
    path = tmp_path / "model.json"
    small.save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    spoil(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        HeteroscedasticSCM.load(path)
    assert said in str(caught.value)


@pytest.mark.parametrize("form", FORMS)
def test_from_host_takes_its_splines(form):
    rows = table(form, 400)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        host = HOST(form=form, parametrization="spline", refine=False).fit(rows)
        scm = HeteroscedasticSCM.from_host(host, rows)
    assert (scm.form, scm.parametrization) == (form, "spline")
    assert np.array_equal(scm.adjacency, host.adjacency_)
    assert np.isfinite(scm.log_likelihood(rows)).all()


def test_networks_are_refused_before_any_fit():
    with pytest.raises(ParameterError, match="'linear' or 'spline' in a causal model"):
        HeteroscedasticSCM.from_dag(GRAPH, table("natural", 100), parametrization="mlp")


def curves_of(form):
    """Return local scores and the model of y given a and b."""
    scores = score_settings("spline", form).make(table(form, 800), np.random.SeedSequence(0))
    return scores.table, scores.fits([(2, (0, 1))], Effort.FINAL)[0]


@pytest.mark.parametrize("form", FORMS)
def test_a_shorter_design_has_the_same_predictors(form):
    data, fit = curves_of(form)
    quick = summed_curves(fit)
    assert len(fit.theta) > len(quick.theta)
    for left, right in zip(fit.predictors(data, slice(None)), quick.predictors(data, slice(None)), strict=True):
        assert np.allclose(left, right, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_the_penalties_are_those_of_the_fit(form):
    """Where the penalised loss is least, the slope of the loss is minus penalty times coefficient."""
    data, fit = curves_of(form)
    theta, penalty = fit.theta, curve_penalties(fit)
    curved = np.flatnonzero(penalty)
    assert len(curved)
    assert not penalty[Coefficients(fit.form, fit.basis.width).ridge(1.0)[:, 0] == 0.0].any()

    def loss(step):
        return float(replace(fit, theta=theta + step).losses(data, slice(None)).sum())

    units = 1e-4 * np.eye(len(theta))[curved]
    slopes = np.array([loss(unit) - loss(-unit) for unit in units]) / 2e-4
    pull = penalty[curved] * theta[curved]
    assert np.linalg.norm(slopes + pull) < 0.05 * np.linalg.norm(pull)
