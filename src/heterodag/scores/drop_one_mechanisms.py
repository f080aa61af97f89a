"""Drop-one tests if mechanisms compete: the best mechanism without a parent is compared with the best one with it.

"both" compares the best mechanisms with and without the parent. A parent has at least two coefficients, and curves
and densities are priced, so a difference of g nats has a p-value of at most exp(-g).

"mean" and "variance" are score tests of the parent's line and smoothest curves in one predictor of the location-scale
model that lacks them there. The variance of the scores is the one observed in the rows, which is right whatever the
noise; how many curves are tested does not depend on the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import chi2

from heterodag.core.design import Design
from heterodag.core.gaussian import LOCATION_SCALE, Array, row_derivatives
from heterodag.core.splines import SplineBasis
from heterodag.core.table import Table
from heterodag.scores.drop_one import DropOne
from heterodag.scores.fit import Effort, Key, LinearFit
from heterodag.scores.ridge import ridge_strength
from heterodag.scores.smooth import Batch, smooth_basis
from heterodag.scores.spline_design import curve_penalties

#: Basis columns of a parent, its line included, that are tested in one predictor.
_TESTED = 4

if TYPE_CHECKING:
    from heterodag.scores.competition import CompetingFitter


def drop_mechanisms(fitter: CompetingFitter, table: Table, key: Key, tested: Sequence[int]) -> DropOne:
    """Test, one at a time, the parents numbered `tested` of a model."""
    target, parents = key
    smaller = [(target, parents[:k] + parents[k + 1 :]) for k in tested]
    full = fitter.fit(table, [key], [None], Effort.FINAL)[0]
    reduced = fitter.fit(table, smaller, [None] * len(smaller), Effort.FINAL) if smaller else []
    gains = np.array([fit.loss - full.loss for fit in reduced])
    pvalues = {"both": np.exp(-np.maximum(gains, 0.0))}
    if fitter.forms == (LOCATION_SCALE,):
        batch = Batch.of(table, [key], [None])
        for side, name in enumerate(("mean", "variance")):
            pvalues[name] = np.array([_without_side(batch, k, side, fitter.curves) for k in tested])
    done = full.converged and all(fit.converged for fit in reduced)
    return DropOne(target, [parents[k] for k in tested], pvalues, done)


def _without_side(batch: Batch, place: int, side: int, curves: bool) -> float:
    """Return the p-value of the hypothesis that a parent does not act on the mean (side 0) or the spread (1)."""
    fit = batch.curves(Effort.FINAL, closed=(side, place)).fits[0]
    tested = smooth_basis(batch.table, fit.parents[place])[1][: _TESTED if curves else 1]
    scores = efficient_rows(fit, batch.table, tested, side, place)
    total = scores.sum(axis=1)
    statistic = float(total @ np.linalg.pinv(scores @ scores.T, hermitian=True) @ total)
    return float(chi2.sf(statistic, len(tested)))


def efficient_rows(fit: LinearFit, table: Table, tested: Array, side: int, place: int) -> Array:
    """Return the rows' scores of columns that one predictor lacks, minus what the coefficients in use account for.

    In location-scale form mean and spread do not share information, so only the columns of the same predictor do.
    """
    assert isinstance(fit.basis, SplineBasis)
    every, block = slice(None), fit.basis.blocks[place]
    rows = row_derivatives(fit.form, table.take([fit.target], every), *fit.predictors(table, every))
    first, second = (rows.A, rows.AA) if side == 0 else (rows.s, rows.ss)
    Z = Design(table, fit.parents, (fit.target,), fit.basis).regressors(every)
    used = np.delete(np.arange(len(Z)), np.arange(block.start, block.stop))
    penalty = np.maximum(curve_penalties(fit), ridge_strength(table.shape[0]))[used + side * len(Z)]
    nuisance = (Z[used] * second) @ Z[used].T + np.diag(penalty)
    explained = np.linalg.solve(nuisance, (Z[used] * second) @ tested.T)
    return np.asarray((tested - explained.T @ Z[used]) * first)
