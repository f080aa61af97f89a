"""Models of long tables: the optimum of all rows, whatever the parts, from a sample."""

import numpy as np
import pytest

from heterodag import simulate
from heterodag.core import blocks as blocks_module
from heterodag.core.blocks import Blocks, LongTable
from heterodag.core.densities import SHARP, ResidualSums
from heterodag.core.gaussian import LOCATION_SCALE, NATURAL
from heterodag.core.parts import array_parts
from heterodag.core.splines import LINE, column_spline, powers
from heterodag.core.survey import survey
from heterodag.core.table import Table
from heterodag.runtime.work import Work
from heterodag.scores import local as local_scores
from heterodag.scores import long as long_scores
from heterodag.scores.block_sums import end_sums, gradient_sums, second_sums
from heterodag.scores.competition import CompetingFitter
from heterodag.scores.fit import Effort
from heterodag.scores.lines import LineFitter
from heterodag.scores.local import LocalScores, parents_of
from heterodag.scores.long import LongScores
from heterodag.scores.newton import penalty_of
from heterodag.scores.noise_choice import edge_gains

WORLDS = {
    "lines": {"mechanism": "linear"},
    "curves": {"mechanism": "curved", "spread": "curved", "noise": "laplace"},
    "noise": {"mechanism": "straight", "spread": "constant", "noise": "exponential"},
}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Let tables be long from 2,000 rows on."""
    monkeypatch.setattr(long_scores, "CHOSEN_ON", 2000)


def scores_of(X, fitter, per_part=1700, sample=4000):
    parts = tuple(array_parts(X, per_part))
    with Work() as work:
        found = survey(parts, sample, np.random.default_rng(0), work.map)
    return LongScores(LongTable(parts, found), fitter)


@pytest.fixture(scope="module", params=sorted(WORLDS))
def data(request):
    return simulate(12_000, 5, degree=1, random_state=4, **WORLDS[request.param])


def keys_of(data):
    return [(j, parents_of(data.adjacency[:, j])) for j in range(data.X.shape[1])]


def test_fits_are_at_the_optimum_of_all_rows(data):
    scores = scores_of(data.X, CompetingFitter())
    fits = scores.fits(keys_of(data))
    table = Table.standardize(data.X)
    for fit in fits:
        assert fit.converged
        (sums,) = second_sums(Blocks(scores.long.parts, 12_000, table.location, table.scale), [fit])
        gradient, second = (
            sums.gradient + penalty_of(fit, 12_000) * fit.theta,
            sums.second + np.diag(penalty_of(fit, 12_000)),
        )
        assert (
            0.5 * gradient @ np.linalg.solve(second, gradient) < 2.0
        )  # nats; a third of the rows told how far to go


def test_losses_are_those_of_all_rows(data):
    scores = scores_of(data.X, CompetingFitter(noise="gaussian"))
    whole = LocalScores(Table.standardize(data.X), CompetingFitter(noise="gaussian"))
    for fit in scores.fits(keys_of(data)):
        price = 0.0 if fit.edf is None else 0.5 * np.log(12_000) * fit.edf.sum()
        penalty = 0.5 * penalty_of(fit, 12_000) @ fit.theta**2
        assert fit.loss == pytest.approx(fit.losses(whole.table, slice(None)).sum() + price + penalty, abs=1.0)
        assert fit.loss < whole.losses([(fit.target, ())])[0] + 1e-6


@pytest.mark.parametrize(("form", "mechanism"), [(NATURAL, "linear"), (LOCATION_SCALE, "straight")])
def test_lines_have_the_loss_of_the_solver(form, mechanism):
    data = simulate(8000, 4, degree=1, mechanism=mechanism, random_state=2)
    fitter = LineFitter(form)
    long, whole = scores_of(data.X, fitter), LocalScores(Table.standardize(data.X), fitter)
    for one, other in zip(long.fits(keys_of(data)), whole.fits(keys_of(data), Effort.FINAL), strict=True):
        assert one.loss == pytest.approx(other.loss, abs=1.0)


def test_the_answer_does_not_depend_on_the_parts(data):
    keys = keys_of(data)
    one, other = (scores_of(data.X, CompetingFitter(), per_part) for per_part in (900, 12_000))
    np.testing.assert_allclose(one.losses(keys), other.losses(keys), rtol=1e-9)
    for key in keys:
        np.testing.assert_allclose(one.gains(key), other.gains(key), rtol=1e-6, atol=1e-6)


def test_a_tenth_of_a_very_long_table_is_asked_first_and_changes_nothing(data, monkeypatch):
    keys = keys_of(data)
    plain = scores_of(data.X, CompetingFitter())
    assert plain.between() == ()
    monkeypatch.setattr(blocks_module, "_VERY_LONG", 10_000)
    monkeypatch.setattr(blocks_module, "_ONE_IN", 3)
    monkeypatch.setattr(blocks_module, "_STRETCH", 500)
    stepped = scores_of(data.X, CompetingFitter())
    (fewer,) = stepped.between()
    assert fewer.n_rows == 4000
    for one, other in zip(plain.fits(keys), stepped.fits(keys), strict=True):
        assert other.converged
        assert other.loss == pytest.approx(one.loss, abs=20.0)  # which curves are tried is decided on fewer rows
    gaps = np.insert(data.X, [10], np.nan, axis=0)
    assert scores_of(gaps, CompetingFitter()).between() == ()  # how many rows stretches have is not known


def test_gradients_in_powers_are_those_of_the_designs(data):
    scores = scores_of(data.X, CompetingFitter())
    fits = [fit for fit in scores.sample(2000).fits(keys_of(data)) if fit.parents]
    blocks = scores.long.in_memory[0]
    for second, first, end in zip(
        second_sums(blocks, fits), gradient_sums(blocks, fits), end_sums(blocks, fits), strict=True
    ):
        size = np.sqrt(np.diag(second.second))
        np.testing.assert_allclose(first.gradient / size, second.gradient / size, atol=1e-5)
        np.testing.assert_array_equal(first.gradient, end.gradient)
        assert first.loss == pytest.approx(second.loss, rel=1e-10)


@pytest.mark.parametrize("width", [1, 2, 5, 8, 24])
def test_powers_make_the_basis(width):
    x = np.random.default_rng(0).standard_t(4, 3000)
    x = (x - x.mean()) / x.std()
    spline = column_spline(x, 24)
    np.testing.assert_allclose(spline.in_powers(width).T @ powers(spline, x, width), spline(x, width), atol=1e-7)
    np.testing.assert_allclose(LINE.in_powers(1).T @ powers(LINE, x, 1), x[None])


def test_promises_of_true_parents_are_large_and_those_of_others_small():
    chain = [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    data = simulate(12_000, 3, mechanism="straight", spread="straight", adjacency=chain, random_state=1)
    scores = scores_of(data.X, CompetingFitter())
    gains = scores.gains((1, ()))
    assert gains[0] > 1000.0
    assert gains[2] < 15.0
    assert gains[1] == 0.0


def test_rows_with_gaps_are_left_out():
    data = simulate(9000, 3, degree=1, mechanism="straight", random_state=3)
    gaps = np.insert(data.X, [10, 5000], np.nan, axis=0)
    keys = keys_of(data)
    whole, holed = (scores_of(X, CompetingFitter(), sample=10_000) for X in (data.X, gaps))
    assert holed.n_rows == 9000
    np.testing.assert_allclose(holed.losses(keys), whole.losses(keys), rtol=1e-6)


def weakly_caused(n=40_000):
    """Return x with a weak cause and noise with an edge, its cause, and a column that has nothing to do with them."""
    rng = np.random.default_rng(8)
    cause, other = rng.standard_normal((2, n))
    return np.column_stack([rng.exponential(size=n) - 1.0 + 0.03 * cause, cause, other])


def test_a_variable_with_edges_can_have_a_weak_cause():
    X = weakly_caused()
    scores = scores_of(X, CompetingFitter(), 10_000)
    alone, caused, needless = scores.losses([(0, ()), (0, (1,)), (0, (2,))])
    assert alone - caused > 6.9
    assert alone - needless < 6.9


def test_edges_of_noise_are_credited_up_to_what_they_gain_the_variable_alone():
    rng = np.random.default_rng(8)
    table = Table.standardize(np.column_stack([rng.exponential(size=5000), rng.standard_normal(5000)]))
    alone = edge_gains(ResidualSums.of(table.take([0]), SHARP))[0]
    assert alone > 20.0
    assert edge_gains(ResidualSums.of(table.take([1]), SHARP))[0] == 0.0
    plain, credited = (
        LocalScores(table, CompetingFitter(credit_edges=credit)).losses([(0, (1,)), (0, ())])
        for credit in (False, True)
    )
    assert plain[1] == credited[1]
    assert plain[0] - credited[0] == pytest.approx(min(alone, plain[0] - credited[0]))
    assert plain[0] - credited[0] > 0.5 * alone
    assert credited[0] - credited[1] < plain[0] - plain[1]


def test_a_needless_parent_neither_gains_nor_loses(data):
    scores = scores_of(data.X, CompetingFitter(noise="gaussian"))
    order = data.order.tolist()
    for target, parents in keys_of(data):
        others = [j for j in order[: order.index(target)] if j not in parents]
        small = scores.losses([(target, parents)])[0]
        for j in others:
            large = scores.losses([(target, tuple(sorted((*parents, j))))])[0]
            # Both fits are right to half a nat. Laplace noise multiplies what chance gains in the spread by 2.5.
            assert -2.0 < small - large < 20.0


def gently_bent(n=60_000):
    """Return a cause, its effect, whose spread it bends gently, and an offspring of the cause that moves with its spread."""
    rng = np.random.default_rng(12)
    cause, e, other = rng.standard_normal((3, n))
    effect = 0.5 * cause + np.exp(0.3 * np.tanh(cause)) * e
    return np.column_stack([cause, effect, cause**3 + other])


def test_all_rows_bend_what_a_sample_takes_for_a_line():
    scores = scores_of(gently_bent(), CompetingFitter(noise="gaussian"), 10_000, sample=6000)
    (chosen,) = scores.sample(2000).fits([(1, (0,))])
    assert chosen.edf is None or chosen.edf.sum() < 1.0  # 2,000 rows see a line
    (fit,) = scores.fits([(1, (0,))])
    assert fit.edf[1, 0] > 3.0
    assert fit.edf[0, 0] < 0.1  # the mean follows a line
    without = LocalScores(Table.standardize(gently_bent()), LineFitter(LOCATION_SCALE))
    assert without.losses([(1, (0,))])[0] - fit.loss > 100.0
    # What a line misses, the other child of the cause would explain.
    lines = without.losses([(1, (0,)), (1, (0, 2))])
    curves = scores.losses([(1, (0,)), (1, (0, 2))])
    assert lines[0] - lines[1] > 20.0
    assert curves[0] - curves[1] < 6.9


def test_gains_that_later_models_replaced_are_made_again(monkeypatch):
    """Gains of few models are kept; before, asking for those of an earlier one ended in a KeyError."""
    monkeypatch.setattr(local_scores, "_GAIN_FLOATS", 1)
    X = simulate(6_000, 4, degree=1, mechanism="straight", random_state=4).X
    scores = scores_of(X, CompetingFitter(noise="gaussian"))
    first, *others = [(j, ()) for j in range(4)]
    before = scores.gains(first).copy()
    scores.fits([*others, (0, (1,)), (1, (0,))])
    assert first not in scores._gains
    np.testing.assert_array_equal(scores.gains(first), before)
