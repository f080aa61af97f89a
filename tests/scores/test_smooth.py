"""Batches of smooth location-scale models: their designs, what they cost, who asks for curves, where they start."""

from __future__ import annotations

import numpy as np
import pytest

from heterodag import simulate
from heterodag.core.gaussian import LOCATION_SCALE, NATURAL, row_derivatives
from heterodag.core.location_scale import CLOSED
from heterodag.core.solver import free_swing
from heterodag.core.splines import SplineBasis
from heterodag.core.table import Table
from heterodag.scores import smooth
from heterodag.scores.curves import CurveFitter
from heterodag.scores.fit import Effort
from heterodag.scores.lines import LineFitter
from heterodag.scores.ridge import ridge_strength
from heterodag.scores.smooth import ASKED, Batch, basis_width, fast_waves, promises, smooth_basis

KEY = (3, (0, 1))


def table_of(kind, seed=0, n=800):
    """Four columns; the first moves the last (mean and spread), the second and third do nothing."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 3))
    z = x[:, 0] if kind == "straight" else np.sin(2 * x[:, 0])
    y = z + np.exp(0.4 * z) * rng.standard_normal(n)
    return Table.standardize(np.column_stack([x, y]))


def batch_of(table, keys=(KEY,), starts=None):
    return Batch.of(table, list(keys), [None] * len(keys) if starts is None else starts)


def written_out(fit, table):
    """Return the loss of a model: its rows', what holds back runaway rows, ridge and roughness, and the price of curves."""
    n, (_, s, _) = table.shape[0], fit.predictors(table, slice(None))
    a, b = fit.theta[fit.shape.mean], fit.theta[fit.shape.spread]
    total = fit.losses(table, slice(None)).sum()
    total += 0.5 * np.sum(np.maximum(np.abs(s[0] - b[0]) - free_swing(n), 0.0) ** 2)
    for k, block in enumerate(fit.basis.blocks):
        total += 0.5 * ridge_strength(n) * (a[block.start] ** 2 + b[block.start] ** 2)
        if block.stop - block.start > 1:
            curves, rough = slice(block.start + 1, block.stop), fit.basis.columns[k].roughness[1:]
            for side, coefficients in enumerate((a, b)):
                total += 0.5 * np.sum(np.minimum(fit.strengths[side, k] * rough, CLOSED) * coefficients[curves] ** 2)
    return total + 0.5 * np.log(n) * fit.edf.sum()


# --- designs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "width"), [(5, 3), (20, 3), (50, 4), (100, 6), (200, 7), (10**6, 8)])
def test_few_rows_have_few_basis_columns(n, width):
    assert basis_width(n) == width


def test_a_basis_is_made_once_per_table_and_begins_with_the_line():
    table = table_of("curved")
    spline, columns = smooth_basis(table, 1)
    assert smooth_basis(table, 1)[1] is columns
    assert columns.shape == (spline.width, 800) == (8, 800)
    np.testing.assert_array_equal(columns[0], table.take([1])[0])
    np.testing.assert_allclose(columns @ columns.T / 800, np.eye(8), atol=1e-8)
    np.testing.assert_allclose(columns.mean(axis=1), 0.0, atol=1e-10)
    assert spline.roughness[0] == 0.0
    assert (np.diff(spline.roughness) > 0.0).all()


def test_designs_hold_each_parent_in_its_place():
    rng = np.random.default_rng(1)
    coarse = rng.integers(0, 3, 800).astype(float)  # three values: a line and one curve
    table = Table.standardize(np.column_stack([table_of("curved").X, coarse]))
    problem = batch_of(table, [(3, (0, 4)), (2, (4, 1))]).problem
    assert problem.Z.shape == (2, 17, 800)
    assert problem.roughness.shape == (2, 2, 17)
    np.testing.assert_array_equal(problem.Y, table.take([3, 2]))
    for i, parents in enumerate([(0, 4), (4, 1)]):
        np.testing.assert_array_equal(problem.Z[i, 0], 1.0)
        for place, parent in enumerate(parents):
            spline, columns = smooth_basis(table, parent)
            own = slice(1 + 8 * place, 1 + 8 * place + len(columns))
            np.testing.assert_array_equal(problem.Z[i, own], columns)
            np.testing.assert_array_equal(problem.roughness[i, place, own], spline.roughness)
            assert np.count_nonzero(problem.roughness[i, place]) == len(columns) - 1
    assert smooth_basis(table, 4)[0].width == 2
    assert not problem.Z[0, 11:].any()
    # Only lines have a ridge; curves have penalties of their own.
    ridge = np.zeros(17)
    ridge[[1, 9]] = ridge_strength(800)
    np.testing.assert_array_equal(problem.ridge, np.broadcast_to(ridge, (2, 2, 17)))


# --- fits ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["straight", "curved"])
def test_lines_are_those_of_the_general_solver(kind):
    table, keys = table_of(kind), [(3, (0, 1)), (0, (1, 3)), (1, (2, 3))]
    found = batch_of(table, keys).lines(Effort.FINAL)
    others = LineFitter(LOCATION_SCALE).fit(table, keys, [None] * 3, Effort.FINAL)
    for fit, other in zip(found.fits, others, strict=True):
        assert fit.key == other.key
        assert fit.loss == pytest.approx(other.loss, abs=0.02)
        np.testing.assert_allclose(fit.theta, other.theta, atol=0.01)
        # Wald's test by expected second derivatives, there by observed ones.
        np.testing.assert_allclose(fit.contributions, other.contributions, rtol=0.3, atol=1.0)
        assert (fit.edf == 0.0).all()
        assert fit.basis.widths == (1, 1)


@pytest.mark.parametrize("kind", ["straight", "curved"])
def test_the_loss_is_that_of_the_rows_penalties_and_prices(kind):
    """Without the price of curves it would be off by tens; flat curves that a model leaves out cost a fraction of a nat."""
    for seed in range(4):
        table, keys = table_of(kind, seed), [(3, (0, 1)), (0, (1, 3)), (2, (0, 1))]
        batch = batch_of(table, keys)
        for fit in batch.lines(Effort.FINAL).fits:
            assert fit.loss == pytest.approx(written_out(fit, table), abs=1e-6)
        for fit in batch.curves(Effort.FINAL).fits:
            # A curve of less than 0.2 coefficients is priced, but not told.
            assert fit.loss == pytest.approx(written_out(fit, table), abs=2 * 2 * 0.2 * 0.5 * np.log(800))


def test_residuals_and_log_precisions_are_those_of_the_models():
    table = table_of("curved")
    batch = batch_of(table, [(3, (0, 1)), (0, (1, 3))])
    for found in (batch.lines(Effort.SEARCH), batch.curves(Effort.SEARCH)):
        for fit, e, s in zip(found.fits, found.residuals, found.log_precision, strict=True):
            np.testing.assert_allclose(fit.residuals(table), e, atol=0.15)  # flat curves are left out of the model
            np.testing.assert_allclose(fit.predictors(table, slice(None))[1][0], s, atol=0.15)
            assert np.corrcoef(fit.residuals(table), e)[0, 1] > 0.999


def test_some_of_the_models_may_get_curves():
    table, keys = table_of("curved"), [(2, (0, 1)), (3, (0, 1)), (1, (0, 2))]
    batch = batch_of(table, keys)
    (some,) = batch.take([1]).curves(Effort.FINAL).fits
    (alone,) = batch_of(table, keys[1:2]).curves(Effort.FINAL).fits
    assert some.key == alone.key == keys[1]
    assert some.loss == pytest.approx(alone.loss, abs=1e-6)
    assert batch.take([0, 1, 2]) is batch


def test_curves_are_found_where_they_are():
    table = table_of("curved")
    batch = batch_of(table)
    (line,), (curve,) = batch.lines(Effort.FINAL).fits, batch.curves(Effort.FINAL).fits
    assert curve.loss < line.loss - 100
    assert curve.basis.widths[0] == 8
    assert curve.edf[:, 0].min() > 2.0
    assert curve.contributions[0] > 100 > 10 > curve.contributions[1]
    other = CurveFitter(LOCATION_SCALE).fit(table, [KEY], [None], Effort.FINAL)[0]
    # Bases and prices differ; the world is the same.
    assert curve.loss == pytest.approx(other.loss, abs=25.0)
    assert np.corrcoef(curve.residuals(table), other.residuals(table))[0, 1] > 0.98


@pytest.mark.parametrize("side", [0, 1], ids=["mean", "spread"])
def test_a_parent_may_be_kept_out_of_one_predictor(side):
    table = table_of("curved")
    batch = batch_of(table)
    (full,), (closed,) = (batch.curves(Effort.FINAL, closed=c).fits for c in (None, (side, 0)))
    block = closed.basis.blocks[0]
    part = closed.theta[closed.shape.mean if side == 0 else closed.shape.spread]
    assert np.abs(part[block]).max() < 1e-9
    other = closed.theta[closed.shape.spread if side == 0 else closed.shape.mean]
    assert np.abs(other[block]).max() > 0.05
    assert closed.loss > full.loss + 20


@pytest.mark.parametrize("side", [0, 1], ids=["mean", "spread"])
def test_what_is_kept_out_has_no_effective_coefficients(side):
    """Closed curves were counted as seven, and the model without them paid for all."""
    (closed,) = batch_of(table_of("curved")).curves(Effort.FINAL, closed=(side, 0)).fits
    assert closed.edf[side, 0] < 0.01


# --- who asks -----------------------------------------------------------------------------------------------


def test_curves_are_asked_for_where_effects_bend():
    asked = {"straight": 0, "curved": 0}
    for kind in asked:
        for seed in range(20):
            batch = batch_of(table_of(kind, seed, 500), [KEY])
            asked[kind] += (batch.bent(batch.lines(Effort.SEARCH)).max(axis=1) > ASKED).sum()
    assert asked["curved"] == 20
    # Three standard deviations of squares above chance: few per cent for each of two parents and two predictors.
    assert asked["straight"] <= 8


def test_curves_worth_having_are_asked_for():
    """Lines that fit badly have scores of large variance: waves of mean and spread together, worth 100 to 300 nats."""
    graph = [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    for noise, seed in (("normal", 157), ("laplace", 103), ("laplace", 189)):
        data = simulate(500, 3, mechanism="curved", spread="curved", noise=noise, adjacency=graph, random_state=seed)
        batch = batch_of(Table.standardize(data.X), [(2, (0,))])
        lines = batch.lines(Effort.FINAL)
        (curve,) = batch.curves(Effort.FINAL).fits
        assert lines.fits[0].loss - curve.loss < 20 or (batch.bent(lines).max(axis=1) > ASKED).all()


def test_curves_of_the_spread_alone_ask_as_well():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((800, 2))
    y = np.exp(0.6 * np.cos(2 * x[:, 0])) * rng.standard_normal(800)
    batch = batch_of(Table.standardize(np.column_stack([x, y])), [(2, (0,)), (2, (1,))])
    assert (batch.bent(batch.lines(Effort.SEARCH)).max(axis=1) > ASKED).tolist() == [True, False]


@pytest.mark.parametrize("noise", ["normal", "t"])
def test_wide_bases_are_asked_for_by_fast_waves_alone(noise):
    """Sixteen columns more, at five standard deviations: hardly ever by chance, whatever the tails of the noise."""
    rng = np.random.default_rng(4)
    asked = np.zeros(3)
    for _ in range(10):
        x = rng.standard_normal((800, 3))
        e = rng.standard_normal(800) if noise == "normal" else rng.standard_t(5, 800)
        y = np.sin(2 * np.pi * x[:, 0]) + np.cos(x[:, 1]) + 0.5 * e
        keys = [(3, (0, 1, 2))]
        table = Table.standardize(np.column_stack([x, y]))
        rows = [first for first, _ in batch_of(table, keys).lines(Effort.SEARCH).derivatives()]
        asked += fast_waves(table, keys, rows)[0]
    assert asked[0] == 10
    assert asked[1:].max() <= 1


def test_wide_bases_follow_fast_waves():
    rng = np.random.default_rng(5)
    x = rng.standard_normal((800, 2))
    y = np.sin(2 * np.pi * x[:, 0]) + 0.5 * x[:, 1] + 0.3 * rng.standard_normal(800)
    table, keys = Table.standardize(np.column_stack([x, y])), [(2, (0, 1)), (2, (0, 1))]
    narrow, mixed = (
        Batch.of(table, keys, [None] * 2),
        Batch.of(table, keys, [None] * 2, np.array([[22, 8], [22, 22]])),
    )
    assert mixed.problem.Z.shape == (2, 45, 800)
    assert not mixed.problem.Z[0, 31:].any()
    (short, _), (one, both) = narrow.curves(Effort.FINAL).fits, mixed.curves(Effort.FINAL).fits
    assert max(one.loss, both.loss) < short.loss - 200
    # A wide basis where none is needed makes little difference.
    assert one.loss == pytest.approx(both.loss, abs=5.0)
    (natural, _) = mixed.natural_curves(Effort.FINAL).fits
    assert natural.form is NATURAL
    assert np.corrcoef(natural.residuals(table), one.residuals(table))[0, 1] > 0.9


def test_promises_of_lines_are_score_tests():
    """Half of u^2 / v for mean and spread, v the smaller of what is expected and what is seen."""
    table = table_of("straight")
    (fit,) = LineFitter(LOCATION_SCALE).fit(table, [(3, ())], [None], Effort.FINAL)
    rows = row_derivatives(LOCATION_SCALE, table.take([3]), *fit.predictors(table, slice(None)))
    first, second = np.concatenate([rows.A, rows.s]), np.concatenate([rows.AA, rows.ss])
    found = promises(table, first, second, curves=False)
    for j in range(4):
        x = table.take([j])[0]
        u = np.array([g @ x for g in first])
        v = np.minimum(first**2 @ x**2, second @ x**2)
        assert found[0, j] == pytest.approx(np.sum(0.5 * u**2 / v), rel=1e-9)
    assert found[0, 0] > 50
    assert found[0, 1:3].max() < 6


def test_promises_of_curves_see_what_lines_do_not():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((800, 2))
    y = np.cos(2 * x[:, 0]) + 0.7 * rng.standard_normal(800)
    table = Table.standardize(np.column_stack([x, y]))
    (fit,) = LineFitter(LOCATION_SCALE).fit(table, [(2, ())], [None], Effort.FINAL)
    rows = row_derivatives(LOCATION_SCALE, table.take([2]), *fit.predictors(table, slice(None)))
    first, second = np.concatenate([rows.A, rows.s]), np.concatenate([rows.AA, rows.ss])
    by_lines, by_curves = (promises(table, first, second, curves)[0] for curves in (False, True))
    assert by_lines[0] < 8 < 30 < by_curves[0]
    assert by_curves[1] < 8


def test_promises_of_nothing_are_small():
    """Lines promise half a chi-square with two degrees of freedom, 1 nat; curves add half a nat on the average.

    Plain sums of the curves' scores, not less their expectation, would add seven.
    """
    rng = np.random.default_rng(5)
    found = []
    for _ in range(15):
        table = Table.standardize(rng.standard_normal((400, 6)))
        (fit,) = LineFitter(LOCATION_SCALE).fit(table, [(5, ())], [None], Effort.SEARCH)
        rows = row_derivatives(LOCATION_SCALE, table.take([5]), *fit.predictors(table, slice(None)))
        first, second = np.concatenate([rows.A, rows.s]), np.concatenate([rows.AA, rows.ss])
        found.append([promises(table, first, second, curves)[0, :5] for curves in (False, True)])
    lines, curves = np.array(found).transpose(1, 0, 2).reshape(2, -1)
    assert lines.mean() == pytest.approx(1.0, abs=0.4)  # the standard error of 75 is 0.12
    assert (curves >= lines - 1e-9).all()
    assert curves.mean() < lines.mean() + 1.2


# --- starts -------------------------------------------------------------------------------------------------


def test_a_start_with_fewer_parents_puts_everything_in_its_place():
    table = table_of("curved")
    (smaller,) = batch_of(table, [(3, (0,))]).curves(Effort.FINAL).fits
    batch = batch_of(table, [(3, (0, 2)), (3, (1, 2))], [smaller, smaller])
    own = smaller.theta[smaller.shape.spread]
    np.testing.assert_allclose(batch.b[0, :9], own)
    assert not batch.b[0, 9:].any()
    np.testing.assert_allclose(batch.strengths[0, :, 0], smaller.strengths[:, 0])
    # A parent that is no longer there leaves only the average spread behind.
    assert batch.b[1, 0] == own[0]
    assert not batch.b[1, 1:].any()


@pytest.mark.parametrize("form", [LOCATION_SCALE, NATURAL], ids=str)
def test_lines_of_either_form_tell_where_the_spread_begins(form):
    table = table_of("straight")
    (line,) = LineFitter(form).fit(table, [(3, (0,))], [None], Effort.FINAL)
    batch = batch_of(table, [(3, (0, 1))], [line])
    np.testing.assert_allclose(batch.b[0, [0, 1]], line.theta[line.shape.spread])
    assert not batch.b[0, 2:].any()
    fresh = batch_of(table).lines(Effort.FINAL).fits[0]
    assert batch.lines(Effort.FINAL).fits[0].loss == pytest.approx(fresh.loss, abs=0.05)


def test_a_model_of_curves_has_the_basis_of_its_parents():
    table = table_of("curved")
    (fit,) = batch_of(table, [(3, (0, 1, 2))]).curves(Effort.FINAL).fits
    assert isinstance(fit.basis, SplineBasis)
    assert fit.basis.widths[0] == 8
    assert len(fit.theta) == 2 * fit.basis.width
    flat = np.array(fit.basis.widths) == 1
    assert np.isinf(fit.strengths[:, flat]).all()
    assert (fit.edf[:, flat] == 0.0).all()
    assert np.isfinite(fit.strengths[:, ~flat]).all()


@pytest.mark.parametrize("curves", [True, False])
def test_promises_do_not_depend_on_how_many_columns_are_looked_at_at_once(curves, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 7))
    X[:, 2] = np.round(X[:, 2])  # fewer basis columns than the others
    table, first, second = Table.standardize(X), rng.standard_normal((6, 300)), rng.random((6, 300))
    found = []
    for floats in (1, 300 * 8 * 3, 2**17):
        monkeypatch.setattr(smooth, "_BLOCK_FLOATS", floats)
        found.append(promises(table, first, second, curves))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_in_wide_tables_chance_promises_far_less(monkeypatch):
    """A likelihood ratio of unrelated columns exceeds g nats in exp(-g) of the pairs; promises do so more often."""
    rng = np.random.default_rng(4)
    table, e = Table.standardize(rng.standard_normal((500, 400))), rng.standard_normal((20, 500))
    first = np.stack([e, 0.5 * (e * e - 1.0)], axis=1).reshape(40, 500)
    second = np.stack([np.ones_like(e), np.full_like(e, 0.5)], axis=1).reshape(40, 500)
    rule = np.mean(promises(table, first, second, True) > 7.0) / np.exp(-7.0)
    monkeypatch.setattr(smooth, "WIDE", 400)
    narrow = np.mean(promises(table, first, second, True) > 7.0) / np.exp(-7.0)
    assert rule < 10.0 < 25.0 < narrow  # measured: 6.4 and 37.6, of 8,000 pairs
