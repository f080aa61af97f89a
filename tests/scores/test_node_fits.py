"""Remembered fits of single variables: accuracy, starts, workers, and the approximations that come with them."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag.core.gaussian import FORMS
from heterodag.core.table import Table
from heterodag.models import node_fits
from heterodag.models.conditional import ConditionalModel
from heterodag.models.node_fits import NATS, NodeFits
from heterodag.simulation import simulate

both_forms = pytest.mark.parametrize("form", FORMS)
STRENGTH = 1e-2

#: Models of seven columns, of every size from none to four parents.
KEYS = [(0, ()), (1, (0,)), (2, (0, 1)), (3, (4,)), (4, (0, 2)), (5, (0, 1, 2)), (6, (1, 2, 3, 4)), (0, (5, 6))]


def table_of(seed, n=300, d=7):
    return Table.standardize(simulate(n, d, degree=2, random_state=seed).X)


def thorough(table, form, key, strength=STRENGTH):
    """Return the loss of all rows that the paper's model reaches from several starts."""
    fit = ConditionalModel(form=form, ridge=strength).fit(table, key[1], [key[0]], thorough=True)
    return table.shape[0] * float(fit.objective[0])


def count_fits(monkeypatch):
    fitted = []
    whole = node_fits.fit_batch

    def counting(*arguments):
        fitted.extend(arguments[4])
        return whole(*arguments)

    monkeypatch.setattr(node_fits, "fit_batch", counting)
    return fitted


@both_forms
def test_losses_are_those_of_thorough_fits_at_the_same_ridge(form):
    """A local optimum may be met now and then (about 1 %), so a few of 32 fits may be worse, none can be better."""
    excess = []
    for seed in range(4):
        table = table_of(seed, n=200)
        fits = NodeFits(table, form, STRENGTH)
        losses = fits.losses(KEYS)
        fits.polish(KEYS)
        assert all(fits.known[key].converged for key in KEYS)
        polished = np.array([fits.known[key].loss for key in KEYS])
        assert (polished <= np.array(losses) + 1e-6).all()
        excess.append(polished - [thorough(table, form, key) for key in KEYS])
    assert np.min(excess) > -3.0  # the starts differ, so either may find the deeper optimum, rarely by much
    assert (np.abs(excess) < 2 * NATS).mean() >= 0.95


@both_forms
def test_a_further_parent_never_raises_the_loss_by_more_than_the_tolerance(form):
    for seed in range(3):
        fits = NodeFits(table_of(10 + seed), form, STRENGTH)
        chain = [(6, tuple(range(k))) for k in range(6)]
        losses = [fits.losses([key])[0] for key in chain]
        assert (np.diff(losses) < 2 * NATS).all()
        assert losses[-1] < losses[0]


def test_no_model_is_fitted_twice(monkeypatch):
    fitted = count_fits(monkeypatch)
    fits = NodeFits(table_of(1), "natural", STRENGTH)
    first = fits.losses([*KEYS, *KEYS[:3]])
    again = fits.losses(KEYS)
    assert sorted(fitted) == sorted(KEYS)
    assert again == first[: len(KEYS)]
    assert first[len(KEYS) :] == first[:3]


@both_forms
def test_results_do_not_depend_on_what_is_fitted_together(form, monkeypatch):
    table = table_of(2)
    together = NodeFits(table, form, STRENGTH).losses(KEYS)
    monkeypatch.setattr(node_fits, "_BATCH_FLOATS", 1)  # every model a batch of its own
    fitted_alone = NodeFits(table, form, STRENGTH)
    np.testing.assert_allclose(fitted_alone.losses(KEYS), together, atol=2 * NATS)


def test_batches_hold_everything_once_within_bounds():
    keys = [(j, tuple(range(k))) for k in (0, 1, 2, 9, 30) for j in range(40, 75)]

    def floats(parents):
        return (len(parents) + 2) * (len(parents) + 3) * 500

    batches = list(node_fits._batches(keys, floats))
    assert sorted(key for batch in batches for key in batch) == sorted(keys)
    assert len(batches) > 3
    for batch in batches:
        widest = max(floats(parents) for _, parents in batch)
        assert len(batch) == 1 or len(batch) * widest <= node_fits._BATCH_FLOATS


def test_two_workers_give_exactly_the_same(monkeypatch):
    monkeypatch.setattr(node_fits, "_BATCH_FLOATS", 1)  # so that there is something to share out
    table = table_of(3)
    one, two = (NodeFits(table, "natural", STRENGTH, workers=workers) for workers in (1, 2))
    assert one.losses(KEYS) == two.losses(KEYS)
    one.prepare_gains(KEYS)
    two.prepare_gains(KEYS)
    for key in KEYS:
        np.testing.assert_array_equal(one.known[key].theta, two.known[key].theta)
        np.testing.assert_array_equal(one.known[key].worth, two.known[key].worth)
        np.testing.assert_array_equal(one.gains(key), two.gains(key))


@both_forms
def test_a_coarse_fit_is_the_start(form, monkeypatch):
    table = table_of(4, n=4000, d=5)
    keys = [(4, (0, 1, 2)), (3, (0,)), (2, (0, 1))]
    coarse = NodeFits(table.thin(8), form, STRENGTH)
    coarse.losses(keys)
    fits = NodeFits(table, form, STRENGTH, coarse=coarse)
    starts = []
    whole = node_fits.fit_batch
    monkeypatch.setattr(node_fits, "fit_batch", lambda *a: starts.append((a[4], a[5])) or whole(*a))
    warm = fits.losses(keys, squares=False)
    for batch, start in starts:
        for key, column in zip(batch, start.T, strict=True):
            np.testing.assert_array_equal(np.sort(column[column != 0]), np.sort(coarse.known[key].theta))
    # Rows that the sample lacks may be far out, so a coarse start alone can fail; the second start makes up for it.
    fits.known.clear()
    both = fits.losses(keys)
    assert (np.array(both) <= np.array(warm) + 1e-9).all()
    # From least squares alone the optimum can be another one; on 4000 rows the two differ by little.
    np.testing.assert_allclose(both, NodeFits(table, form, STRENGTH).losses(keys), rtol=5e-3)


def test_without_squares_the_start_is_the_best_smaller_model(monkeypatch):
    fits = NodeFits(table_of(5), "natural", STRENGTH)
    smaller = [(3, (0, 1)), (3, (0, 2)), (3, (1, 2))]
    losses = fits.losses(smaller)
    origin = smaller[int(np.argmin(losses))]
    starts = []
    whole = node_fits.fit_batch
    monkeypatch.setattr(node_fits, "fit_batch", lambda *a: starts.append(a[5]) or whole(*a))
    (loss,) = fits.losses([(3, (0, 1, 2))], squares=False)
    assert loss <= min(losses) + 1e-9
    (start,) = starts
    theta = fits.known[origin].theta
    (absent,) = {0, 1, 2} - set(origin[1])
    expected = np.insert(theta, [absent + 1, 3 + absent + 1], 0.0)
    np.testing.assert_array_equal(start[:, 0], expected)


@both_forms
def test_latents_are_those_of_the_papers_model(form, monkeypatch):
    table = table_of(6)
    fits = NodeFits(table, form, STRENGTH, nats=1e-6)
    keys = [(2, (0, 1)), (1, ()), (6, (1, 2, 3))]
    fits.losses(keys)
    fits.polish(keys)
    monkeypatch.setattr(node_fits, "_BATCH_FLOATS", 2 * 8 * 300)  # two models at a time
    parts, latents = zip(*fits.latents(keys), strict=True)
    assert [(part.start, len(U)) for part, U in zip(parts, latents, strict=True)] == [(0, 2), (2, 1)]
    for key, U in zip(keys, np.vstack(latents), strict=True):
        model = ConditionalModel(form=form, ridge=STRENGTH).fit(table, key[1], [key[0]], thorough=True)
        (expected,) = (U for _, U in model.latents(table))
        if abs(fits.known[key].loss - 300 * model.objective[0]) < 1e-3:  # the same optimum
            np.testing.assert_allclose(U, expected[0], atol=1e-2)
    np.testing.assert_allclose(np.vstack(latents)[1], table.take([1])[0], atol=1e-5)


@both_forms
def test_gains_leave_out_the_variable_and_its_parents(form):
    fits = NodeFits(table_of(7), form, STRENGTH)
    fits.prepare_gains(KEYS)
    for target, parents in KEYS:
        gains = fits.gains((target, parents))
        assert gains.shape == (7,)
        assert (gains[[target, *parents]] == 0.0).all()
        assert (gains >= 0.0).all()
    np.testing.assert_allclose(
        NodeFits(table_of(7), form, STRENGTH).gains((5, (0, 1, 2))), fits.gains((5, (0, 1, 2))), rtol=0.05, atol=0.05
    )


@both_forms
def test_worth_is_near_the_fall_of_the_loss_for_moderate_effects(form):
    """With a clear effect on the spread: without one, the natural form's two intercepts are not told apart."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(3000, 3))
    s = x @ [0.12, 0.0, -0.8]
    mean = x @ [0.1, 0.0, 0.1]
    y = (mean * np.exp(-s) if form == "natural" else mean) + np.exp(-s / 2) * rng.normal(size=3000)
    fits = NodeFits(Table.standardize(np.column_stack([x, y])), form, STRENGTH)
    key = (3, (0, 1, 2))
    fits.losses([key])
    worth = fits.known[key].worth
    falls = [fits.losses([(3, tuple(j for j in (0, 1, 2) if j != i))])[0] - fits.known[key].loss for i in range(3)]
    assert 10 < falls[0] < 100
    np.testing.assert_allclose(worth[:2], falls[:2], rtol=0.15, atol=0.3)
    assert worth[2] > 100
    assert falls[2] > 100


def test_cut_short_fits_are_marked_and_polished(monkeypatch):
    whole, table = node_fits.fit_batch, table_of(9)
    monkeypatch.setattr(node_fits, "fit_batch", lambda *a: whole(*a, 2) if len(a) == 7 else whole(*a))
    fits = NodeFits(table, "natural", STRENGTH)
    rough = fits.losses(KEYS)
    short = [key for key in KEYS if not fits.known[key].converged]
    assert len(short) > 3
    fits.polish(KEYS)
    assert all(fits.known[key].converged for key in KEYS)
    falls = np.array(rough) - fits.losses(KEYS)
    assert (falls > -1e-9).all()
    assert (falls > 1.0).any()
