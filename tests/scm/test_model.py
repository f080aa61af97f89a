"""The fitted causal model against closed forms and the simulator's own mechanisms."""

import warnings

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from heterodag import HOST, DataError, DataWarning, HeteroscedasticSCM, ParameterError, simulate
from heterodag.scm import Draw, Set, Shift

PAPER = {"form": "natural", "parametrization": "linear", "noise": "gaussian"}
CHAIN = pd.DataFrame([[0, 1, 0], [0, 0, 1], [0, 0, 0]], index=list("abc"), columns=list("abc"))


def chain(n=4000, seed=0):
    """a ~ N(1, 2^2); b = 3 + 0.5 a + exp(0.3 a) E; c = -b + E: mean linear, log spread linear, location-scale."""
    rng = np.random.default_rng(seed)
    a = 1 + 2 * rng.standard_normal(n)
    b = 3 + 0.5 * a + np.exp(0.3 * a) * rng.standard_normal(n)
    return pd.DataFrame({"a": a, "b": b, "c": rng.standard_normal(n) - b})


@pytest.fixture(scope="module")
def table():
    return chain()


@pytest.fixture(scope="module")
def scm(table):
    return HeteroscedasticSCM.from_dag(CHAIN, table, **PAPER | {"form": "location-scale"})


@pytest.fixture(
    scope="module",
    params=[PAPER, PAPER | {"form": "location-scale"}, {}, {"noise": "flexible"}],
    ids=["natural", "location-scale", "auto", "flexible"],
)
def either(request, table):
    return HeteroscedasticSCM.from_dag(CHAIN, table, **request.param)


def test_the_mechanism_is_the_one_that_made_the_data(scm):
    mu, sigma = scm.mechanisms[1].moments(np.array([[0.0], [2.0]]))
    # Standard errors of these means and log spreads at n = 4000 are about 0.03 and 0.015.
    assert np.allclose(mu, [3.0, 4.0], atol=0.15)
    assert np.allclose(np.log(sigma), [0.0, 0.6], atol=0.07)


def test_noise_reproduces_the_rows(either, table):
    noise = either.noise(table)
    assert abs(float(noise.to_numpy().mean())) < 0.02
    again = np.empty(table.shape)
    for mechanism in (either.mechanisms[j] for j in either.order):
        own = noise.to_numpy()[:, mechanism.target]
        again[:, mechanism.target] = mechanism.value(again[:, list(mechanism.parents)], own)
    assert np.allclose(again, table, rtol=1e-12, atol=1e-12)


def test_a_counterfactual_without_change_is_the_row_itself(either, table):
    rows = table.iloc[[5, 17]]
    assert either.counterfactual(rows, {}).equals(rows)
    same = either.counterfactual(rows, {"a": rows["a"].to_numpy()})
    assert np.allclose(same, rows, rtol=1e-12)
    assert same.index.tolist() == [5, 17]


def test_a_counterfactual_keeps_noise_and_what_is_not_reached(scm, table):
    rows = table.head(20)
    changed = scm.counterfactual(rows, {"b": Shift(2.0)})
    assert changed["a"].equals(rows["a"])
    assert np.allclose(changed["b"], rows["b"] + 2.0)
    slope = (changed["c"] - rows["c"]) / 2.0
    assert np.allclose(slope, -1.0, atol=0.05)
    assert np.allclose(scm.noise(changed)["c"], scm.noise(rows)["c"])


def test_counterfactual_errors_shrink_with_n():
    """Rows of the true model, b of each set to what a = 2 would have made it."""
    rows = chain(50, seed=9)
    true = 4.0 + np.exp(0.6) * (rows["b"] - 3 - 0.5 * rows["a"]) / np.exp(0.3 * rows["a"])
    errors = []
    for n in (250, 4000):
        fitted = HeteroscedasticSCM.from_dag(CHAIN, chain(n, seed=3), form="location-scale")
        errors.append(float(np.median(np.abs(fitted.counterfactual(rows, {"a": 2.0})["b"] - true))))
    assert errors[1] < 0.1
    assert errors[1] < errors[0]


def test_samples_look_like_the_data(either, table):
    drawn = either.sample(4000, random_state=1)
    for name in "abc":
        assert stats.ks_2samp(drawn[name], table[name]).pvalue > 1e-3
    assert not drawn.equals(either.sample(4000, random_state=2))
    assert drawn.equals(either.sample(4000, random_state=1))


def test_the_three_kinds_of_intervention(scm):
    n = 4000
    natural = scm.sample(n, random_state=0)
    hard = scm.sample_do({"b": 7.0}, n, random_state=0)
    assert (hard["b"] == 7.0).all()
    assert hard["a"].equals(natural["a"])
    assert abs(hard["c"].mean() + 7.0) < 4 / np.sqrt(n) + 0.1
    shifted = scm.sample_do({"b": Shift(1.5)}, n, random_state=0)
    assert np.allclose(shifted["b"], natural["b"] + 1.5)
    for source in (stats.norm(5, 1), lambda rng, size: rng.normal(5, 1, size), Draw(np.linspace(3, 7, 101)), Set(5)):
        drawn = scm.sample_do({"b": source}, n, random_state=0)
        assert abs(drawn["b"].mean() - 5) < 5 * 1.2 / np.sqrt(n)
        # A stochastic intervention cuts b off its cause.
        if drawn["b"].std() > 0:
            assert abs(np.corrcoef(drawn["a"], drawn["b"])[0, 1]) < 5 / np.sqrt(n)


def test_effects_on_mean_and_spread(scm):
    found = scm.effect("a", "b", (0.0, 2.0), random_state=0)
    assert found.index.tolist()[:3] == ["mean", "sd", "variance"]
    truth = {"mean": 1.0, "sd": np.exp(0.6) - 1, "variance": np.exp(1.2) - 1}
    truth["quantile 0.9"] = 1.0 + stats.norm.ppf(0.9) * (np.exp(0.6) - 1)
    for name, value in truth.items():
        row = found.loc[name]
        assert row["difference"] == pytest.approx(row["at_high"] - row["at_low"])
        # The 90 % interval widened to 5 standard errors.
        half = (row["upper"] - row["lower"]) / 2
        assert 0 < half < 0.4
        assert abs(row["difference"] - value) < 5 / 1.645 * half
    assert found.equals(scm.effect("a", "b", (0.0, 2.0), random_state=0))


def test_there_is_no_effect_against_the_arrows(scm):
    found = scm.effect("c", "b", random_state=0)
    assert (found["difference"] == 0).all()


def test_effect_of_a_variable_on_itself(scm):
    found = scm.effect("b", "b", (1.0, 3.0), random_state=0)
    assert found.loc["mean", "difference"] == 2.0
    assert found.loc["sd", "at_low"] == 0.0


def test_describe_a_shift(scm):
    plain, moved = (scm.describe_do(do, "b", random_state=0) for do in ({}, {"b": Shift(1.0)}))
    assert moved.loc["mean", "value"] == pytest.approx(plain.loc["mean", "value"] + 1.0)
    assert moved.loc["sd", "value"] == pytest.approx(plain.loc["sd", "value"])
    assert (plain["lower"] < plain["upper"]).all()


def test_intervals_narrow_with_n():
    widths = []
    for n in (300, 4800):
        scm = HeteroscedasticSCM.from_dag(CHAIN, chain(n), form="location-scale")
        row = scm.describe_do({"a": 1.0}, "b", random_state=0).loc["mean"]
        widths.append(row["upper"] - row["lower"])
    # Sixteen times the rows: a quarter of the width.
    assert 2.5 < widths[0] / widths[1] < 6.5


def test_log_likelihood_is_that_of_the_normal_density(scm, table):
    mu, sigma = scm.mechanisms[1].moments(table[["a"]].to_numpy())
    parts = scm.log_likelihood(table, per_variable=True)
    assert np.allclose(parts["b"], stats.norm.logpdf(table["b"], mu, sigma))
    assert np.allclose(parts.sum(axis=1), scm.log_likelihood(table))


def test_prediction_intervals_cover_as_they_say(scm):
    fresh = chain(3000, seed=5)
    found = scm.predict_interval(fresh[["a"]], "b", level=0.8)
    covered = np.mean((found["lower"] < fresh["b"]) & (fresh["b"] < found["upper"]))
    assert abs(covered - 0.8) < 4 * np.sqrt(0.8 * 0.2 / 3000) + 0.01


def test_sigma_is_held_within_what_was_seen(either, table):
    far = np.array([[table["a"].max()], [1e6]])
    sigma = either.mechanisms[1].moments(far)[1]
    seen = either.mechanisms[1].moments(table[["a"]].to_numpy())[1]
    assert np.all(sigma <= seen.max() * (1 + 1e-12))


def test_from_host_uses_its_graph_and_form(table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        host = HOST(form="location-scale").fit(table)
        scm = HeteroscedasticSCM.from_host(host, table)
    assert np.array_equal(scm.adjacency, host.adjacency_)
    assert (scm.form, scm.names) == ("location-scale", ["a", "b", "c"])
    with pytest.raises(DataError, match="fitted to"):
        HeteroscedasticSCM.from_host(host, table[["b", "a", "c"]])


def test_graphs_come_in_three_kinds(table):
    graph = nx.DiGraph([("a", "b"), ("b", "c")])
    shuffled = CHAIN.loc[list("cab"), list("cab")]
    models = [HeteroscedasticSCM.from_dag(g, table) for g in (graph, shuffled, CHAIN.to_numpy())]
    assert all(np.array_equal(model.adjacency, CHAIN) for model in models)
    assert nx.is_isomorphic(models[0].to_networkx(), graph)
    assert HeteroscedasticSCM.from_dag(CHAIN.to_numpy(), table.to_numpy(), names=list("xyz")).names == list("xyz")


def test_rows_are_matched_by_name(scm, table):
    one = scm.counterfactual({"c": -1.0, "a": 0.5, "b": 1.0}, {"a": 1.0})
    row = pd.Series({"a": 0.5, "b": 1.0, "c": -1.0})
    assert one.equals(scm.counterfactual(row, {"a": 1.0}))
    mixed = table.head(2)[["c", "a", "b"]].assign(extra=16)
    assert scm.noise(mixed).equals(scm.noise(table.head(2)))
    lists = {name: table[name].head(2).tolist() for name in "abc"}
    assert np.array_equal(scm.noise(lists), scm.noise(table.head(2)))
    assert np.array_equal(scm.noise(pl.DataFrame(lists)), scm.noise(table.head(2)))


def test_rows_with_gaps_are_left_out_of_the_fit_on_request(table):
    gappy = table.copy()
    gappy.loc[::100, "b"] = np.nan
    with pytest.raises(DataError, match="missing='drop'"):
        HeteroscedasticSCM.from_dag(CHAIN, gappy)
    with pytest.warns(DataWarning, match="40 of 4000 rows"):
        scm = HeteroscedasticSCM.from_dag(CHAIN, gappy, missing="drop")
    whole = HeteroscedasticSCM.from_dag(CHAIN, gappy.dropna())
    assert scm.sample(5, random_state=0).equals(whole.sample(5, random_state=0))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda s: s.sample(0), "`n` must be a whole number of at least 1"),
        (lambda s: s.sample_do({"d": 1.0}, 5), "name columns of the table"),
        (lambda s: s.sample_do({"a": 1.0, 0: 2.0}, 5), "'a' appears twice"),
        (lambda s: s.sample_do({"a": "high"}, 5), "`do` must give a number"),
        (lambda s: s.sample_do({"a": np.nan}, 5), "`do` must give a number"),
        (lambda s: s.sample_do({"a": [1.0, 2.0]}, 5), "5 values for 5 rows"),
        (lambda s: s.sample_do({"a": Draw(lambda rng, n: np.zeros(2))}, 5), "draw values of shape (5,)"),
        (lambda s: s.sample_do([("a", 1.0)], 5), "`do` must be a mapping"),
        (lambda s: s.effect("a", "z"), "name columns of the table"),
        (lambda s: s.effect("a", "b", (1.0, 2.0, 3.0)), "be two numbers"),
        (lambda s: s.effect("a", "b", level=1.0), "`level` must be a number in (0, 1)"),
        (lambda s: s.effect("a", "b", quantiles=[2]), "`quantiles`"),
        (lambda s: s.counterfactual({"a": 1.0}, {}), "lacks the column 'b'"),
        (lambda s: s.noise(np.zeros((2, 2))), "has 2 columns; the model has 3"),
        (lambda s: s.noise({"a": 1.0, "b": np.nan, "c": 0.0}), "Column 'b' of `rows` has missing"),
        (lambda s: s.predict_interval(np.zeros((2, 3)), "b", level=2), "`level`"),
    ],
)
def test_wrong_questions_get_one_sentence(scm, call, said):
    with pytest.raises((ParameterError, DataError)) as caught:
        call(scm)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (np.ones((3, 3)) - np.eye(3), "no directed cycle"),
        (np.zeros((2, 2)), "have shape (3, 3)"),
        (nx.DiGraph([("a", "q")]), "nodes"),
        (nx.Graph([("a", "b")]), "directed graph"),
        (pd.DataFrame(np.zeros((3, 3)), index=list("abd"), columns=list("abd")), "rows and columns"),
    ],
)
def test_wrong_graphs_are_refused(table, graph, said):
    with pytest.raises(ParameterError) as caught:
        HeteroscedasticSCM.from_dag(graph, table)
    assert said in str(caught.value)


def test_interventions_on_the_simulator(monkeypatch):
    """True graph, n = 5000: most 90 % intervals hold the truth; with 16 of them, 10 or fewer has chance 0.002."""
    from pathlib import Path

    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "benchmarks"))
    import interventions

    monkeypatch.setattr(interventions, "TRUTH_ROWS", 50_000)
    covered = 0
    for seed in range(8):
        (row,) = interventions.effect_row(seed, "true form", n=10_000)
        assert row["misfit"] < 1e-6
        covered += sum(row[f"{q}_lower"] <= row[f"{q}_true"] <= row[f"{q}_upper"] for q in ("mean", "sd"))
    assert covered > 10


def test_a_simulated_model_of_many_parents_is_fitted():
    data = simulate(800, 6, "ER", 2, random_state=2)
    scm = HeteroscedasticSCM.from_dag(data.adjacency, data.to_frame())
    # The true noise comes back, up to the error of the estimates.
    assert np.median(np.abs(scm.noise(data.X).to_numpy() - data.noise)) < 0.1


def test_normal_data_get_normal_noise_and_lines(table):
    scm = HeteroscedasticSCM.from_dag(CHAIN, table)
    assert scm.summary()["noise"].tolist() == ["normal"] * 3
    assert scm.summary()["form"].tolist()[1] == "location-scale"
    assert scm.summary()["curves"].tolist() == [""] * 3


def test_the_covariance_of_a_plain_regression():
    """Constant spread, location-scale form: means have the covariance of least squares, log precisions 2 / n."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(5000)
    frame = pd.DataFrame({"x": x, "y": 0.5 * x + rng.standard_normal(5000)})
    scm = HeteroscedasticSCM.from_dag([[0, 1], [0, 0]], frame, **PAPER | {"form": "location-scale"})
    mechanism = scm.mechanisms[1]
    residual = 1.0 / mechanism.scale[-1] ** 2  # variance of the noise in standardised units
    expected = np.array([residual, residual, 2.0, 2.0]) / 5000
    assert np.allclose(np.diag(mechanism.covariance), expected, rtol=0.15)


def test_intervals_stay_sensible_where_location_and_intercept_trade_off():
    """A spread that hardly moves, natural form: the slope's interval is near that of least squares, 3.3 / sqrt(n)."""
    rng = np.random.default_rng(2)
    a = rng.standard_normal(2000)
    frame = pd.DataFrame({"a": a, "b": a + np.exp(0.05 * a) * rng.standard_normal(2000)})
    scm = HeteroscedasticSCM.from_dag([[0, 1], [0, 0]], frame, **PAPER)
    row = scm.effect("a", "b", (0.0, 1.0), n=200, random_state=0).loc["mean"]
    assert 0.9 < (row["upper"] - row["lower"]) / (2 * 1.645 / np.sqrt(2000)) < 1.6
