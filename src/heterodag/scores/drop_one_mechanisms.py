"""Drop-one tests where mechanisms compete: a parent goes, and the best mechanism without it is compared.

"both" compares the best mechanisms with and without the parent; two coefficients are the least that a parent has, and
curves and densities are priced, so a difference of g nats has the p-value exp(-g) at most. "mean" and "variance" hold the
parent's columns in one predictor of the location-scale model at zero. As many degrees of freedom are tested as its line and
curves have effective coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import chi2

from heterodag.core.gaussian import LOCATION_SCALE
from heterodag.core.table import Table
from heterodag.scores.drop_one import DropOne
from heterodag.scores.fit import Effort, Key
from heterodag.scores.smooth import Batch

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
        for side, name in enumerate(("mean", "variance")):
            pvalues[name] = np.array([_without_side(fitter, table, key, k, side) for k in tested])
    done = full.converged and all(fit.converged for fit in reduced)
    return DropOne(target, [parents[k] for k in tested], pvalues, done)


def _without_side(fitter: CompetingFitter, table: Table, key: Key, place: int, side: int) -> float:
    """Return the p-value of the hypothesis that a parent has no part in the mean (side 0) or in the spread (1)."""
    from heterodag.scores.competition import with_noise

    batch = Batch.of(table, [key], [None])
    fitted = [batch.curves(Effort.FINAL, [0], closed=closed) for closed in (None, (side, place))]
    full, reduced = (with_noise(some.fits, some.residuals, fitter.noise)[0] for some in fitted)
    edf = 0.0 if full.edf is None or not fitter.curves else float(full.edf[side, place])
    gain = reduced.loss - full.loss + 0.5 * float(np.log(table.shape[0])) * edf
    return float(chi2.sf(2.0 * max(gain, 0.0), 1.0 + edf))
