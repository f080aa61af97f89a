"""The causal model inside the real DoWhy: its own functions run on it and agree with ours."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

pytest.importorskip("dowhy")

from dowhy import gcm
from dowhy.gcm.util.general import set_random_seed

from heterodag import HeteroscedasticSCM

# Not in alphabetical order: DoWhy sorts parents by name, we keep them in column order.
NAMES = ["z", "b", "a", "y"]


def table(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(n)
    b = 1 + 0.5 * z + rng.standard_normal(n)
    a = rng.standard_normal(n) * np.exp(0.4 * z)
    y = 2 * a - b + 0.3 * z + np.exp(0.3 * b) * rng.standard_normal(n)
    return pd.DataFrame({"z": z, "b": b, "a": a, "y": y})


@pytest.fixture(
    scope="module", params=[("natural", "linear"), ("location-scale", "linear"), ("location-scale", "spline")]
)
def scm(request):
    form, parametrization = request.param
    graph = pd.DataFrame(0, index=NAMES, columns=NAMES)
    graph.loc["z", ["b", "a", "y"]] = graph.loc[["b", "a"], "y"] = 1
    return HeteroscedasticSCM.from_dag(graph, table(), form=form, parametrization=parametrization, noise="gaussian")


@pytest.fixture
def model(scm):
    set_random_seed(0)
    gcm.config.disable_progress_bars()
    return scm.to_dowhy()


def test_interventional_samples(scm, model):
    drawn = gcm.interventional_samples(model, {"b": lambda value: 2.0}, num_samples_to_draw=4000)
    ours = scm.describe_do({"b": 2.0}, "y", random_state=0)["value"]
    assert (drawn["b"] == 2.0).all()
    assert abs(drawn["y"].mean() - ours["mean"]) < 5 * ours["sd"] / np.sqrt(4000)
    assert drawn["y"].std() == pytest.approx(ours["sd"], rel=0.1)


def test_counterfactual_samples(scm, model):
    rows = table(20, seed=1)
    theirs = gcm.counterfactual_samples(model, {"z": lambda value: value + 1.0}, observed_data=rows)
    ours = scm.counterfactual(rows, {"z": rows["z"].to_numpy() + 1.0})
    assert np.allclose(theirs[NAMES], ours[NAMES], rtol=1e-10)


def test_attribute_anomalies(scm, model):
    rows = table(1, seed=2)
    rows["a"] += 12.0
    rows["y"] += 24.0
    found = gcm.attribute_anomalies(model, "y", anomaly_samples=rows, num_distribution_samples=1000)
    assert set(found) == set(NAMES)
    assert all(np.isfinite(found[name]).all() for name in NAMES)
    # The disturbance entered at a and was passed on by an unchanged mechanism; its mean is linear, as in that form.
    if scm.form == "location-scale":
        assert max(found, key=lambda name: float(found[name][0])) == "a"


def test_distribution_change(model):
    """The mechanism of y has changed between two tables; that of its causes has not."""
    old, new = table(300, seed=3), table(300, seed=4)
    new["y"] += 3.0
    found = gcm.distribution_change(model, old, new, "y", num_samples=300)
    assert max(found, key=lambda name: abs(found[name])) == "y"


def test_samples_and_refits(scm, model):
    drawn = gcm.draw_samples(model, 4000)
    ours = scm.describe_do({}, "y", random_state=0)["value"]
    assert abs(drawn["y"].mean() - ours["mean"]) < 5 * ours["sd"] / np.sqrt(4000)
    clone = model.clone()
    with pytest.raises(RuntimeError):
        clone.causal_mechanism("y").draw_samples(np.zeros((3, 3)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gcm.fit(clone, table())
    rows = table(5, seed=6)
    parents = rows[["a", "b", "z"]].to_numpy()
    again, first = (m.causal_mechanism("y").estimate_noise(rows["y"].to_numpy(), parents) for m in (clone, model))
    assert np.allclose(again, first, atol=1e-4)


def skewed_table(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    z, y = rng.exponential(size=(2, n)) - 1.0
    return pd.DataFrame({"z": z, "y": 2 * z + np.exp(0.4 * z) * y})


def test_skewed_noise_of_roots_and_others():
    """Normal noise would leave the skewness 2 of z, and intervals of y that reach below all its values."""
    rows = skewed_table()
    scm = HeteroscedasticSCM.from_dag([[0, 1], [0, 0]], rows)
    assert scm.summary()["noise"].tolist() == ["flexible", "flexible"]
    set_random_seed(0)
    model, new = scm.to_dowhy(), skewed_table(seed=1)
    drawn = gcm.draw_samples(model, 4000)
    for name in ("z", "y"):
        assert stats.ks_2samp(drawn[name], new[name]).pvalue > 1e-3
    theirs = gcm.counterfactual_samples(model, {"z": lambda value: value + 1.0}, observed_data=new)
    ours = scm.counterfactual(new, {"z": new["z"].to_numpy() + 1.0})
    assert np.allclose(theirs[["z", "y"]], ours, rtol=1e-10)
    # Fitted again to other rows, a root follows them.
    clone = model.clone()
    with pytest.raises(RuntimeError):
        clone.causal_mechanism("z").draw_samples(3)
    gcm.fit(clone, new + 10.0)
    moved = gcm.draw_samples(clone, 4000)
    assert stats.ks_2samp(moved["z"], new["z"] + 10.0).pvalue > 1e-3
