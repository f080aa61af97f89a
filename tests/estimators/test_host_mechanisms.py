"""What HOST tells about its result: the mechanism of every variable, evidence for edges and for their directions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from heterodag import HOST, HeterodagError, PriorKnowledge, recover_dag, simulate
from heterodag.core.gaussian import LOCATION_SCALE, NATURAL
from heterodag.core.table import Table
from heterodag.errors import AssumptionWarning
from heterodag.ordering.directions import OPEN_BELOW
from heterodag.scores.competition import CompetingFitter
from heterodag.scores.curves import CurveFitter
from heterodag.scores.describe import COLUMNS, curved_parents, mechanism_table, moving_spread
from heterodag.scores.fit import Effort, LinearFit
from heterodag.scores.lines import LineFitter
from heterodag.scores.local import LocalScores

pytestmark = pytest.mark.filterwarnings("ignore::heterodag.errors.AssumptionWarning")
PAIR = np.array([[0, 1], [0, 0]])
#: What a fit with refinement and likelihood ratios leaves behind, beside what every fit does.
TOLD = ("refinement_", "nats_", "direction_nats_", "open_", "mechanisms_")


@pytest.fixture(scope="module")
def easy():
    """Five columns with curves and a spread that moves, and HOST's result."""
    data = simulate(800, 5, "ER", 1, "curved", 1, spread="curved", noise="laplace")
    return data, HOST().fit(data.to_frame())


def line_fit(parents=(0,), spread_gain=np.inf, edf=None):
    return LinearFit(
        LOCATION_SCALE, 3, parents, 0.0, True, np.zeros(len(parents)), Effort.FINAL, np.zeros(2 * len(parents) + 2),
        spread_gain=spread_gain, edf=edf,
    )  # fmt: skip


# --- the table ----------------------------------------------------------------------------------------------


def test_every_variable_has_a_row_in_its_place(easy):
    data, model = easy
    table = model.mechanisms_
    assert list(table.columns) == list(COLUMNS)
    assert table["variable"].tolist() == data.feature_names
    assert (table["rows"] == 800).all()
    for j, row in table.iterrows():
        causes = [data.feature_names[i] for i in np.flatnonzero(model.adjacency_[:, j])]
        assert row["parents"] == ", ".join(causes)
        assert set(filter(None, row["curves"].split(", "))) <= set(causes)


def test_the_easy_world_is_described_as_it_is(easy):
    data, model = easy
    np.testing.assert_array_equal(model.adjacency_, data.adjacency)
    table = model.mechanisms_
    caused = table["parents"] != ""
    assert caused.sum() == (data.adjacency.sum(axis=0) > 0).sum()
    assert (table["noise"] == "flexible").all()
    assert (table.loc[caused, "curves"] != "").all()
    assert (table.loc[caused, "spread"] == "moving").mean() >= 0.75
    assert (table.loc[~caused, "spread"] == "constant").all()


@pytest.mark.parametrize(
    ("mechanism", "spread", "noise", "curves", "moving", "flexible"),
    [
        ("straight", "constant", "normal", False, False, False),
        ("straight", "straight", "normal", False, True, False),
        ("curved", "constant", "laplace", True, False, True),
        ("none", "straight", "bimodal", False, True, True),
    ],
)
def test_rows_say_what_made_the_column(mechanism, spread, noise, curves, moving, flexible):
    for seed in range(4):
        data = simulate(1000, 2, mechanism=mechanism, spread=spread, noise=noise, adjacency=PAIR, random_state=seed)
        fits = LocalScores(Table.standardize(data.X), CompetingFitter()).fits([(0, ()), (1, (0,))], Effort.FINAL)
        cause, effect = mechanism_table(fits, ["cause", "effect"], [1000, 1000]).to_dict("records")
        assert (cause["parents"], cause["curves"], cause["spread"]) == ("", "", "constant")
        assert effect["parents"] == "cause"
        assert effect["form"] == "location-scale" or mechanism == "none"  # where both forms are the same
        assert effect["noise"] == cause["noise"] == ("flexible" if flexible else "normal")
        assert (effect["spread"] == "moving") == moving
        assert (effect["curves"] == "cause") == curves


def test_only_parents_that_bend_act_by_curves():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((1000, 3))
    y = np.sin(2 * x[:, 1]) + x[:, 0] + rng.standard_normal(1000) * 0.5
    table = Table.standardize(np.column_stack([x, y]))
    for fitter in (CompetingFitter(), CurveFitter(LOCATION_SCALE)):
        (fit,) = fitter.fit(table, [(3, (0, 1))], [None], Effort.FINAL)
        assert 1 in curved_parents(fit)
    assert curved_parents(LineFitter(LOCATION_SCALE).fit(table, [(3, (0, 1))], [None], Effort.FINAL)[0]) == []


def test_the_spread_moves_if_its_coefficients_pay_for_themselves():
    """Half of ln n for each: of two lines at 1,000 rows, 6.9 nats; effective coefficients of curves are added."""
    price = 0.5 * np.log(1000)
    for parents in ((0,), (0, 1), (0, 1, 2)):
        for factor, moves in ((0.99, False), (1.01, True)):
            assert moving_spread(line_fit(parents, factor * price * len(parents)), 1000) == moves
    edf = np.array([[5.0, 5.0], [1.5, 0.5]])  # two in the spread; those of the mean do not count
    for factor, moves in ((0.99, False), (1.01, True)):
        assert moving_spread(line_fit((0, 1), factor * price * 4, edf), 1000) == moves
    assert not moving_spread(line_fit((), np.inf), 1000)


@pytest.mark.parametrize(
    "settings",
    [
        {"parametrization": "linear", "form": "location-scale", "noise": "gaussian"},
        {"parametrization": "linear", "form": "natural", "noise": "gaussian"},
        {"parametrization": "spline", "form": "location-scale", "noise": "gaussian"},
        {"form": "natural"},
    ],
)
def test_a_constant_spread_is_called_constant_whatever_the_settings(settings):
    data = simulate(800, 4, "ER", 1, "straight", 1, spread="constant")
    model = HOST(**settings).fit(data.X)
    assert model.adjacency_.any()
    assert (model.mechanisms_["spread"] == "constant").all()


# --- evidence -----------------------------------------------------------------------------------------------


def test_nats_are_the_logarithms_of_p_values(easy):
    _, model = easy
    assert model.nats_.shape == (5, 5)
    tested = ~np.isnan(model.pvalues_)
    np.testing.assert_array_equal(tested, ~np.isnan(model.nats_))
    np.testing.assert_allclose(np.exp(-model.nats_[tested]), model.pvalues_[tested])
    np.testing.assert_array_equal(model.adjacency_[tested], model.nats_[tested] > -np.log(model.alpha))


def test_every_edge_and_no_other_pair_has_evidence_for_its_direction(easy):
    _, model = easy
    edges = model.adjacency_ == 1
    np.testing.assert_array_equal(~np.isnan(model.direction_nats_), edges)
    assert (model.direction_nats_[edges] >= 0.0).all()
    assert model.open_.dtype == bool
    np.testing.assert_array_equal(model.open_, edges & (np.nan_to_num(model.direction_nats_) < OPEN_BELOW))
    assert not model.open_.any()  # directions of these curves are clear
    frame = model.edges()
    assert {"nats", "direction_nats", "open"} <= set(frame.columns)
    for row in frame.itertuples():
        i, j = model.names().index(row.cause), model.names().index(row.effect)
        assert row.nats == model.nats_[i, j]
        assert row.direction_nats == model.direction_nats_[i, j]
        assert row.open == model.open_[i, j]


def test_a_linear_gaussian_pair_is_open_and_knowledge_closes_it():
    X = simulate(600, 2, mechanism="straight", adjacency=PAIR, random_state=3).X
    with pytest.warns(AssumptionWarning, match="direction of 1 of 1 edges is open"):
        model = HOST().fit(X)
    assert model.open_.sum() == 1
    assert np.nanmax(model.direction_nats_) < 3.0
    for edge in ((0, 1), (1, 0)):
        known = HOST(prior_knowledge=PriorKnowledge(required=[edge])).fit(X)
        assert not known.open_.any()
        assert np.isposinf(known.direction_nats_[edge])


def test_evidence_and_mechanisms_do_not_depend_on_names_and_containers(easy):
    data, model = easy
    other = HOST().fit(data.X)
    np.testing.assert_array_equal(other.direction_nats_, model.direction_nats_)
    pd.testing.assert_frame_equal(other.mechanisms_, model.mechanisms_)
    renamed = HOST().fit(data.to_frame().rename(columns=str.upper))
    assert renamed.mechanisms_["variable"].tolist() == ["X0", "X1", "X2", "X3", "X4"]


# --- settings -----------------------------------------------------------------------------------------------


def test_refits_forget_what_other_settings_left(easy):
    data, _ = easy
    model = HOST(form="location-scale").fit(data.X)
    assert all(hasattr(model, name) for name in (*TOLD, "mean_pvalues_", "variance_pvalues_"))
    model.set_params(form="auto", refine=False).fit(data.X)
    assert not any(hasattr(model, f"{name}_") for name in ("refinement", "direction_nats", "open"))
    assert not any(hasattr(model, f"{name}_pvalues_") for name in ("mean", "variance"))
    assert hasattr(model, "nats_")
    assert "open" not in model.edges().columns
    model.set_params(refine=True, selection="gam").fit(data.X)
    np.testing.assert_array_equal(~np.isnan(model.nats_), model.adjacency_ == 1)
    assert hasattr(model, "direction_nats_")
    model.fit(data.X[:, :3])
    assert model.open_.shape == (3, 3)
    assert len(model.mechanisms_) == 3


def test_the_graph_follows_from_the_order(easy):
    data, model = easy
    again = recover_dag(data.X, model.order_)
    np.testing.assert_array_equal(again.adjacency, model.adjacency_)
    np.testing.assert_allclose(again.details["nats"], model.nats_, atol=2.0, rtol=0.02)


def test_the_papers_models_by_name():
    data = simulate(800, 5, "ER", 1, "linear", 3)
    settings = {"noise": "gaussian", "parametrization": "linear", "form": "natural"}
    model = HOST(**settings).fit(data.X)
    assert (model.mechanisms_["form"] == "natural").all()
    assert (model.mechanisms_["noise"] == "normal").all()
    assert (model.mechanisms_["curves"] == "").all()
    assert all(hasattr(model, name) for name in TOLD)
    np.testing.assert_array_equal(model.adjacency_, data.adjacency)
    # The mechanisms that compete by default come to the same graph, by the same models.
    auto = HOST().fit(data.X)
    np.testing.assert_array_equal(auto.adjacency_, model.adjacency_)
    caused = auto.mechanisms_["parents"] != ""
    assert (auto.mechanisms_.loc[caused, "form"] == NATURAL.name).all()


def test_the_papers_method_has_normal_noise():
    paper = HOST.paper(selection="gam-classical")
    assert (paper.noise, paper.parametrization, paper.form) == ("gaussian", "linear", "natural")
    data = simulate(300, 3, "ER", 1, "linear", 2)
    fitted = paper.fit(data.X)
    assert not any(hasattr(fitted, name) for name in ("refinement_", "direction_nats_", "open_"))


@pytest.mark.parametrize("noise", ["auto", "gaussian", "flexible"])
def test_noise_by_name(noise):
    data = simulate(500, 3, "ER", 1, "straight", 4, spread="constant", noise="exponential")
    table = HOST(noise=noise).fit(data.X).mechanisms_
    assert (table["noise"] == ("normal" if noise == "gaussian" else "flexible")).all()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (
            {"noise": "flexible", "parametrization": "mlp"},
            "`noise` must be 'auto' or 'gaussian' with parametrization 'mlp'",
        ),
        ({"noise": "normal"}, "`noise` must be one of 'auto', 'gaussian', 'flexible'"),
        ({"noise": None}, "`noise`"),
    ],
)
def test_bad_noise_gets_one_sentence(parameters, words):
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(HeterodagError) as caught:
        HOST(**parameters).fit(X)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_workers_tell_the_same(easy):
    data, model = easy
    two = HOST(n_jobs=2).fit(data.X)
    np.testing.assert_array_equal(two.direction_nats_, model.direction_nats_)
    np.testing.assert_array_equal(two.nats_, model.nats_)
    pd.testing.assert_frame_equal(two.mechanisms_, model.mechanisms_)
