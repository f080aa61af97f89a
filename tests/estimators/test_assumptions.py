"""Warnings about tables that do not look like the model; results still come."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
import pytest

from heterodag import HOST, AssumptionWarning, load_sachs, recover_dag, simulate
from heterodag.independence import stepwise
from heterodag.scores import plausibility

#: The models of the paper, whose warnings are about normal noise and the spread.
GAUSSIAN = {"parametrization": "linear", "form": "natural", "noise": "gaussian"}


def seen(X, settings=GAUSSIAN):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = HOST(**settings).fit(X)
    assert sorted(model.order_.tolist()) == list(range(np.shape(X)[1]))
    return " ".join(str(w.message) for w in caught if issubclass(w.category, AssumptionWarning))


def linear(noise, seed, n=1000):
    rng = np.random.default_rng(seed)
    x, e, u = noise(rng, (3, n))
    y = 0.8 * x + e
    return np.column_stack([x, y, 0.8 * y + u])


def test_a_table_that_follows_the_model_gives_no_warning():
    assert [seen(simulate(500, 6, "ER", 2, random_state=740 + s).X) for s in range(8)] == [""] * 8


@pytest.mark.parametrize("seed", range(3))
def test_constant_spread_is_noticed(seed):
    assert "No effect of any variable on the spread" in seen(linear(lambda rng, size: rng.normal(size=size), seed))


def test_a_tie_between_dependent_variables_is_noticed():
    text = " ".join(seen(linear(lambda rng, size: rng.normal(size=size), seed)) for seed in range(4))
    assert "rests on a close call" in text


def test_residuals_far_from_normal_are_noticed_and_the_order_is_not_refined():
    X = linear(lambda rng, size: rng.exponential(size=size) ** 2, 0)
    assert "stay far from normal" in seen(X)
    with pytest.warns(AssumptionWarning):
        assert not hasattr(HOST(**GAUSSIAN).fit(X), "refinement_")


def test_sachs_is_such_a_table():
    with pytest.warns(AssumptionWarning, match="all 11 variables"):
        HOST(**GAUSSIAN).fit(load_sachs().data)


@pytest.fixture
def judged(monkeypatch):
    """Return the verdicts on normality that are asked for, whoever asks."""
    verdicts = []

    def judge(scores, parents):
        verdicts.append(plausibility.judge(scores, parents))
        return verdicts[-1]

    for module in (stepwise, import_module("heterodag.ordering.causal_order")):
        monkeypatch.setattr(module, "judge", judge)
    return verdicts


def exponential(n, seed=0):
    return linear(lambda rng, size: rng.exponential(size=size) ** 2, seed, n)


@pytest.mark.parametrize(
    ("X", "settings"),
    [
        (exponential(400), {}),
        (exponential(400), {"refine": False}),
        (exponential(400), {"parametrization": "spline"}),
        (load_sachs().data.to_numpy(), {}),
    ],
    ids=["exponential", "not refined", "spline", "sachs"],
)
def test_far_from_normal_is_decided_once_and_everything_agrees(X, settings, judged):
    """One verdict a fit: the order is not refined, pairs are tested given all predecessors, and the warning says so."""
    settings = GAUSSIAN | settings
    with pytest.warns(AssumptionWarning, match="stay far from normal") as caught:
        model = HOST(**settings).fit(X)
    assert [verdict.far for verdict in judged] == [True]
    assert any(f"statistic is {judged[0].best:.3f})" in str(w.message) for w in caught)
    assert not hasattr(model, "refinement_")
    same = {name: value for name, value in settings.items() if name != "refine"}
    full = recover_dag(X, model.order_, selection="likelihood-full", **same)
    np.testing.assert_allclose(model.pvalues_, full.pvalues, equal_nan=True)


@pytest.mark.parametrize("settings", [{}, {"refine": False}], ids=str)
def test_close_to_normal_is_decided_once_too(settings, judged):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)  # one variable of this table gets the wrong causes
        warnings.filterwarnings("error", message=".*far from normal", category=AssumptionWarning)
        model = HOST(**GAUSSIAN, **settings).fit(simulate(400, 5, "ER", 2, random_state=740).X)
    assert [verdict.far for verdict in judged] == [False]
    assert hasattr(model, "refinement_") == ("refine" not in settings)


def test_at_the_border_the_warning_and_what_was_done_agree():
    """Mixtures of normal and exponential noise, on both sides of the border: never a warning beside a refined order."""
    far = []
    for share in np.linspace(0.0, 1.0, 12):
        X = linear(lambda rng, size, s=share: rng.normal(size=size) + s * rng.exponential(size=size) ** 2, 3, 400)
        text, model = seen(X), HOST(**GAUSSIAN)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X)
        far.append("stay far from normal" in text)
        assert far[-1] != hasattr(model, "refinement_")
    assert len(set(far)) == 2


def test_noise_that_is_not_normal_is_no_reason_for_doubt():
    X = linear(lambda rng, size: rng.exponential(size=size), 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", AssumptionWarning)
        model = HOST().fit(X)
    assert hasattr(model, "refinement_")
    assert model.order_.tolist() == [0, 1, 2]


def test_open_arrows_are_counted():
    text = seen(linear(lambda rng, size: rng.normal(size=size), 0), {})
    assert "The direction of 2 of 2 edges is open" in text


def test_a_variable_that_no_mechanism_fits_is_named():
    """A product of two causes is no sum of effects: whatever is taken for the effect, what is left over depends on them."""
    rng = np.random.default_rng(5)
    x, z, e = rng.normal(size=(3, 2000))
    text = seen(np.column_stack([x, z, 2.0 * x * np.sign(z) * np.abs(z) ** 0.2 + 0.1 * e]), {})
    assert "No mechanism fits 'x" in text


def test_few_false_alarms_where_a_mechanism_fits():
    """Each table may be doubted with probability 0.001 at most: one of 20 by chance has probability 0.02."""
    worlds = [("straight", "straight", "laplace"), ("curved", "constant", "normal")]
    texts = [
        seen(simulate(500, 5, "ER", 1, mean, spread=spread, noise=noise, random_state=s).X, {})
        for s in range(10)
        for mean, spread, noise in worlds
    ]
    assert sum("No mechanism fits" in text for text in texts) <= 1


LOCATION_SCALE = {"parametrization": "linear", "form": "location-scale", "noise": "gaussian"}


def misfits_of(settings, seeds, **world):
    """Return what the trust box says of variables that a fixed model does not describe, per table."""
    found = []
    for seed in seeds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AssumptionWarning)
            box = HOST(**settings).fit(simulate(500, 5, "ER", 1, random_state=seed, **world).X).trust()
        found.append([line for line in box if line.check == "misfit"])
    return found


def test_fixed_models_name_the_variables_that_they_do_not_describe():
    """Lines fitted to curves with constant spread: nearly every table has such a variable."""
    found = misfits_of(LOCATION_SCALE, range(950, 958), mechanism="curved", spread="constant", noise="normal")
    assert sum(map(bool, found)) >= 6
    line = next(filter(None, found))[0]
    assert line.text.startswith("The model does not describe 'x")
    assert set(line.columns) <= {f"x{k}" for k in range(5)}
    assert line.severity in ("amber", "red")


@pytest.mark.parametrize(
    ("settings", "world"),
    [
        (LOCATION_SCALE, {"mechanism": "straight", "spread": "straight", "noise": "normal"}),
        (
            LOCATION_SCALE | {"parametrization": "spline"},
            {"mechanism": "curved", "spread": "constant", "noise": "normal"},
        ),
    ],
    ids=["lines", "curves"],
)
def test_fixed_models_that_fit_are_not_doubted(settings, world):
    """Each table may be doubted with probability 0.001 at most if the graph is right."""
    found = misfits_of(settings, range(960, 970), **world)
    assert sum(map(bool, found)) <= 1
