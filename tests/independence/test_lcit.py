"""LCIT: level and power on batches of samples, seeds, invariances, and the flows' own arithmetic."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from heterodag.core.graph import full_dag
from heterodag.errors import DataError, MissingExtraError, ParameterError
from heterodag.independence import lcit as module
from heterodag.independence.contract import EdgeProblem
from heterodag.independence.lcit import DEFAULTS, FlowSettings, Pair, lcit, lcit_edges, pair_pvalues
from heterodag.independence.partial_correlation import fisher_test, partial_correlation
from heterodag.simulation import simulate

torch = pytest.importorskip("torch")
flows = pytest.importorskip("heterodag.independence._flows")

QUICK = FlowSettings(max_steps=40)


# --- samples ------------------------------------------------------------------------------------------------


def linear(n, k, rng, slope=0.0):
    Z = rng.standard_normal((n, k))
    x = Z @ rng.standard_normal(k) + rng.standard_normal(n)
    return x, Z @ rng.standard_normal(k) + slope * x + rng.standard_normal(n), Z


def scaled(n, k, rng, slope=0.0):
    """Correlate x 0.6 with a cause z of the mean and of the spread of y."""
    Z = rng.standard_normal((n, k))
    x = 0.6 * Z[:, 0] + 0.8 * rng.standard_normal(n)
    return x, Z[:, 0] + slope * x + np.exp(0.5 * Z[:, 0]) * rng.standard_normal(n), Z


def variance_alone(n, k, rng):
    Z = rng.standard_normal((n, k))
    x = 0.6 * Z[:, 0] + 0.8 * rng.standard_normal(n)
    return x, Z[:, 0] + np.exp(0.5 * x) * rng.standard_normal(n), Z


def rate(draw, n, k, runs, level=0.05, **options):
    """Return the share of rejections in `runs` samples, tested side by side as columns of one table."""
    rng = np.random.default_rng(5)
    X = np.hstack([np.column_stack(draw(n, k, rng, **options)) for _ in range(runs)])
    pairs = [Pair(s, s + 1, range(s + 2, s + 2 + k)) for s in range(0, X.shape[1], k + 2)]
    return np.mean(pair_pvalues(X, pairs, np.random.SeedSequence(0)) < level)


def problem(n=120, d=5, seed=0, **options):
    data = simulate(n, d, "ER", 1, random_state=seed)
    return EdgeProblem(data.X, data.order, full_dag(data.order) == 1, **options)


# --- level and power ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draw", "n", "k", "runs"),
    [
        (linear, 500, 0, 100),
        (linear, 500, 1, 150),
        (linear, 500, 5, 150),
        (linear, 100, 40, 150),
        (scaled, 500, 1, 150),
        (scaled, 500, 3, 150),
        (scaled, 2000, 1, 60),
    ],
)
def test_level(draw, n, k, runs):
    # Three standard deviations of the share of rejections by a test of exact level.
    assert abs(rate(draw, n, k, runs) - 0.05) < 3 * math.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize(("draw", "slope", "least"), [(linear, 0.15, 0.8), (scaled, 0.2, 0.9)])
def test_power_against_dependence_in_the_mean(draw, slope, least):
    assert rate(draw, 500, 3, 100, slope=slope) > least


def test_a_cause_of_the_variance_alone_is_not_seen():
    assert rate(variance_alone, 500, 1, 100) < 0.2


# --- the flows ----------------------------------------------------------------------------------------------


def one_flow(x, Z, settings=DEFAULTS):
    start = flows.draw_start(np.random.default_rng(0), Z.shape[1], settings)
    return flows.flow_latents(x[None], Z.T[None], np.array([Z.shape[1]]), [start], settings)[0]


def test_latents_are_normal_and_free_of_the_conditioning_columns():
    _, y, Z = scaled(3000, 1, np.random.default_rng(1))
    z = Z[:, 0]
    latents = one_flow(y, Z)
    for moment, expected in ((latents, 0), (latents**2, 1), (latents * z, 0), (latents**2 * z, 0)):
        assert abs(moment.mean() - expected) < 0.1
    # The raw residual has both: its square grows with z.
    assert abs(np.mean((y - z) ** 2 * z)) > 1


def test_the_gradient_is_that_of_automatic_differentiation():
    rng = np.random.default_rng(0)
    shape = flows.NetworkShape(3, 5, 4)
    theta = torch.as_tensor(0.3 * rng.standard_normal((2, shape.size)))
    x, Z = torch.as_tensor(rng.standard_normal((2, 1, 30))), torch.as_tensor(rng.standard_normal((2, 3, 30)))
    by_hand = torch.zeros_like(theta)
    flows.write_gradient(shape.split(theta), shape.split(by_hand), x, Z)
    theta.requires_grad_()
    flows.negative_log_likelihood(shape.split(theta), x, Z).sum().backward()
    np.testing.assert_allclose(by_hand, theta.grad, rtol=1e-9, atol=1e-12)


def test_the_parameters_kept_are_the_best_on_held_out_rows():
    rng = np.random.default_rng(2)
    x, _, Z = linear(60, 3, rng)
    # So few rows and so many steps that training ends far beyond the best point.
    settings = FlowSettings(max_steps=400, patience=400)
    shape = flows.NetworkShape(3, settings.n_hidden, settings.n_components)
    data = torch.as_tensor(x)[None, None], torch.as_tensor(Z.T.copy())[None]
    start = flows.draw_start(rng, 3, settings)
    theta = flows.initial_parameters(*data, np.array([3]), [start], shape, 12)
    first = flows.negative_log_likelihood(shape.split(theta), data[0][:, :, :12], data[1][:, :, :12])
    kept = flows.train(shape, *data, theta, 12, settings)
    last = flows.negative_log_likelihood(shape.split(theta), data[0][:, :, :12], data[1][:, :, :12])
    best = flows.negative_log_likelihood(shape.split(kept), data[0][:, :, :12], data[1][:, :, :12])
    assert best <= first
    assert best < last - 0.1


def test_minibatches_cover_the_rows_that_are_not_held_out():
    for first, n in ((2, 10), (100, 500), (1000, 5000), (0, 1)):
        rows = [row for batch in flows.minibatches(first, n, 256) for row in range(n)[batch]]
        assert rows == list(range(first, n))


def test_partial_correlations_are_those_of_least_squares():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((4, 5, 40))
    latents = rng.standard_normal((4, 2, 40)) + Z[:, :2]
    Z[1, 3:] = 0  # columns that are not used
    Z[2, 4] = Z[2, 3] - 2 * Z[2, 0] + 1  # a column that adds nothing
    latents[3, 0] = Z[3].sum(axis=0) + 3  # a latent that Z explains
    r, ranks = flows.partial_correlations(latents, Z, rng.standard_normal(latents.shape))
    assert ranks.tolist() == [5, 3, 4, 5]
    expected = [partial_correlation(*pair, given.T) for pair, given in zip(latents, Z, strict=True)]
    np.testing.assert_allclose(fisher_test(r, 40 - 3 - ranks), expected, rtol=1e-9)
    assert r[3] == 0
    columns = rng.standard_normal(latents.shape)
    columns[0, 1] = Z[0, 2] - 5  # a column that Z explains, whatever the flow made of it
    columns[1, 0] = 2.0
    known, _ = flows.partial_correlations(latents, Z, columns)
    assert known.tolist() == [0, 0, r[2], 0]


# --- one computation for all pairs --------------------------------------------------------------------------


def test_chunks_do_not_matter(monkeypatch):
    # So impatient that some flows stop early, and the others go on without them.
    tested, settings = problem(150, 5), FlowSettings(max_steps=150, patience=20)
    together = lcit_edges(tested, settings).pvalues
    for name, value in (("CHUNK_PAIRS", 4), ("CHUNK_PAIRS", 1), ("CHUNK_BYTES", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, value)
            np.testing.assert_allclose(lcit_edges(tested, settings).pvalues, together, rtol=0, atol=1e-5)


def test_chunks_keep_every_pair_in_turn(monkeypatch):
    pairs = [Pair(0, 1, range(k % 5)) for k in range(50)]
    monkeypatch.setattr(module, "CHUNK_BYTES", 16 * 100 * 20)
    chunks = list(module._chunks(pairs, 100))
    assert [pair for chunk in chunks for pair in chunk] == pairs
    for chunk in chunks:
        width = max(1, *(len(pair.given) for pair in chunk))
        assert len(chunk) == 1 or width * len(chunk) <= 20


def test_the_batch_agrees_with_single_tests():
    tested = problem(200, 5, seed=3)
    table = lcit_edges(tested).pvalues
    for effect in tested.order:
        before = tested.predecessors(effect)
        for cause in before:
            Z = tested.X[:, before[before != cause]]
            alone = lcit(tested.X[:, cause], tested.X[:, effect], Z, random_state=tested.seed)
            assert table[cause, effect] == pytest.approx(alone, abs=1e-6)


def test_only_candidates_are_tested():
    full = problem()
    some = full.candidates.copy()
    some[full.order[0]] = False
    found = lcit_edges(EdgeProblem(full.X, full.order, some)).pvalues
    np.testing.assert_array_equal(np.isnan(found), ~some)
    np.testing.assert_allclose(found[some], lcit_edges(full).pvalues[some], atol=1e-6)
    nothing = lcit_edges(EdgeProblem(full.X, full.order, np.zeros_like(some)))
    assert np.isnan(nothing.pvalues).all()


def test_workers_and_progress(monkeypatch):
    monkeypatch.setattr(module, "CHUNK_PAIRS", 3)
    shares = []
    one = lcit_edges(problem(progress=shares.append), QUICK).pvalues
    two = lcit_edges(problem(n_jobs=2), QUICK).pvalues
    np.testing.assert_array_equal(one, two)
    assert shares == pytest.approx([0.3, 0.6, 0.9, 1])


# --- seeds and global state ---------------------------------------------------------------------------------


def test_seeds():
    x, y, Z = linear(100, 2, np.random.default_rng(0))
    plain = lcit(x, y, Z, random_state=7, settings=QUICK)
    sequence = np.random.SeedSequence(7)
    for state in (7, np.int64(7), sequence, sequence):
        assert lcit(x, y, Z, random_state=state, settings=QUICK) == plain
    assert lcit(x, y, Z, random_state=8, settings=QUICK) != plain
    made = [lcit(x, y, Z, random_state=np.random.default_rng(1), settings=QUICK) for _ in range(2)]
    assert made[0] == made[1]
    rng = np.random.default_rng(1)
    moving = [lcit(x, y, Z, random_state=rng, settings=QUICK) for _ in range(2)]
    assert moving[0] != moving[1]


def test_the_global_state_of_torch_and_numpy_is_left_alone():
    x, y, Z = linear(100, 2, np.random.default_rng(0))
    found = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        before = torch.get_rng_state(), torch.get_default_dtype(), torch.get_num_threads()
        numbers = np.random.get_state()[1].copy()  # noqa: NPY002
        found.append(lcit(x, y, Z, random_state=0, settings=QUICK))
        assert torch.equal(before[0], torch.get_rng_state())
        assert before[1:] == (torch.get_default_dtype(), torch.get_num_threads())
        assert not torch.is_inference_mode_enabled()
        np.testing.assert_array_equal(numbers, np.random.get_state()[1])  # noqa: NPY002
    assert found[0] == found[1]


def test_the_number_of_threads_changes_nothing():
    before = torch.get_num_threads()
    found = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(lcit_edges(problem(), QUICK).pvalues)
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(*found)


# --- invariances --------------------------------------------------------------------------------------------


def test_shift_scale_and_increasing_transformations_change_nothing():
    x, y, Z = scaled(150, 2, np.random.default_rng(4))
    plain = lcit(x, y, Z, random_state=0, settings=QUICK)
    assert lcit(3 * x - 8, 1e-6 * y + 2, 1e6 * Z + 5, random_state=0, settings=QUICK) == plain
    assert lcit(np.exp(x), y**3, np.sinh(Z), random_state=0, settings=QUICK) == plain


def test_a_permutation_of_the_columns_permutes_the_pvalues():
    tested = problem(150, 5)
    columns = np.array([3, 0, 4, 1, 2])
    order = np.argsort(columns)[tested.order]
    moved = lcit_edges(EdgeProblem(tested.X[:, columns], order, full_dag(order) == 1), QUICK).pvalues
    np.testing.assert_allclose(moved, lcit_edges(tested, QUICK).pvalues[np.ix_(columns, columns)], atol=1e-6)


# --- odd and wrong input ------------------------------------------------------------------------------------


def test_nothing_given():
    rng = np.random.default_rng(0)
    x, noise, nothing = rng.standard_normal(300), rng.standard_normal(300), np.empty((300, 0))
    assert lcit(x, noise, nothing, random_state=0) > 0.01
    assert lcit(x, x + noise, nothing, random_state=0) < 1e-6


def test_a_constant_tells_nothing():
    x, y, Z = linear(50, 2, np.random.default_rng(0))
    assert lcit(np.full(50, 3.0), y, Z, random_state=0, settings=QUICK) == 1
    assert lcit(x, np.full(50, 3.0), Z, random_state=0, settings=QUICK) == 1
    Z[:, 0] = 2.0
    assert 0 <= lcit(x, y, Z, random_state=0, settings=QUICK) < 1


def test_more_columns_than_rows_tell_nothing():
    x, y, Z = linear(30, 60, np.random.default_rng(0))
    assert lcit(x, y, Z, random_state=0, settings=QUICK) == 1


def test_collinear_columns_count_once():
    rng = np.random.default_rng(0)
    x, y, Z = linear(60, 2, rng, slope=1.0)
    many = np.column_stack([Z] * 40)
    assert lcit(x, y, many, random_state=0) < 0.001
    assert lcit(Z[:, 0], y, Z, random_state=0) == 1
    assert lcit(np.exp(Z[:, 0]), y, Z, random_state=0) == 1


def test_ties_and_heavy_tails():
    rng = np.random.default_rng(0)
    x, y, Z = linear(400, 2, rng)
    assert lcit(np.round(x), np.round(y), np.round(Z), random_state=0) > 0.001
    assert lcit(np.round(x), np.round(x + y), Z, random_state=0) < 0.001
    assert lcit(x > 0, y > 0, np.sign(Z) * np.exp(8 * np.abs(Z)), random_state=0) > 0.001


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite(bad):
    for place in range(3):
        samples = linear(50, 2, np.random.default_rng(0))
        samples[place].flat[3] = bad
        with pytest.raises(DataError, match=f"`{'xyZ'[place]}` has missing or infinite values"):
            lcit(*samples)
    tested = problem()
    tested.X[2, 1] = bad
    with pytest.raises(DataError, match="The table has missing or infinite values"):
        lcit_edges(tested)


def test_too_few_rows():
    x, y, Z = linear(9, 1, np.random.default_rng(0))
    with pytest.raises(DataError, match="LCIT needs at least 10 rows; got 9"):
        lcit(x, y, Z)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "`n_components` must be a whole number of at least 1; got 0"),
        ({"max_steps": 2.5}, "`max_steps` must be a whole number"),
        ({"learning_rate": 0}, r"`learning_rate` must be a number in \(0, inf\); got 0"),
    ],
)
def test_settings_are_checked(options, message):
    with pytest.raises(ParameterError, match=message):
        FlowSettings(**options)


def test_random_state_is_checked():
    x, y, Z = linear(50, 1, np.random.default_rng(0))
    with pytest.raises(ParameterError, match=r"`random_state` must be .* a non-negative whole number .*; got -1"):
        lcit(x, y, Z, random_state=-1)


def test_without_torch_one_sentence_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    sentence = r"^LCIT needs an optional dependency: pip install 'heterodag\[neural\]'\.$"
    with pytest.raises(MissingExtraError, match=sentence):
        lcit(np.arange(20.0), np.arange(20.0), np.empty((20, 0)))
    with pytest.raises(MissingExtraError, match=sentence):
        lcit_edges(problem())


def test_importing_the_module_does_not_import_torch():
    code = "import sys, heterodag.independence.lcit; print('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
