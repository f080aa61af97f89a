"""Spline mechanisms in the causal model: curves in mean and spread, kept on disk."""

import numpy as np
import pandas as pd
import pytest

from heterodag import HeteroscedasticSCM

NAMES = list("abc")
CHAIN = pd.DataFrame([[0, 1, 0], [0, 0, 1], [0, 0, 0]], index=NAMES, columns=NAMES)


@pytest.fixture(scope="module", params=["natural", "location-scale"])
def scm(request):
    rng = np.random.default_rng(0)
    a = rng.standard_normal(3000)
    b = np.sin(2 * a) + np.exp(0.4 * np.abs(a) - 1) * rng.standard_normal(3000)
    table = pd.DataFrame({"a": a, "b": b, "c": rng.standard_normal(3000) - b})
    return HeteroscedasticSCM.from_dag(CHAIN, table, form=request.param, parametrization="spline", noise="gaussian")


def test_curves_in_mean_and_spread_are_found(scm):
    points = np.array([-1.0, 0.0, 1.0])
    mu, sigma = scm.mechanisms[1].moments(points[:, None])
    # Standard errors of a curve with about six effective coefficients are near 0.02.
    assert np.allclose(mu, np.sin(2 * points), atol=0.1)
    assert np.allclose(np.log(sigma), 0.4 * np.abs(points) - 1, atol=0.15)


def test_intervals_hold_the_truth(scm):
    row = scm.effect("a", "b", (0.0, 1.0), n=500, random_state=0).loc["mean"]
    half = (row["upper"] - row["lower"]) / 2
    assert 0.01 < half < 0.2
    assert abs(row["difference"] - np.sin(2.0)) < 4 / 1.645 * half


def test_what_comes_back_is_the_same(scm, tmp_path):
    scm.save(tmp_path / "model.json")
    again = HeteroscedasticSCM.load(tmp_path / "model.json")
    assert again.parametrization == "spline"
    assert np.allclose(again.sample(200, random_state=0), scm.sample(200, random_state=0), rtol=1e-9, atol=1e-9)
    row = pd.DataFrame({"a": [0.3], "b": [0.1], "c": [0.0]})
    assert np.allclose(again.counterfactual(row, {"a": 1.0}), scm.counterfactual(row, {"a": 1.0}), rtol=1e-9)
