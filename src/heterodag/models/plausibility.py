"""Is the noise of fitted models normal? Likelihoods are compared only where it is for at least one variable.

In a heteroscedastic causal model the residuals of every variable are normal given its causes, and those of roots always. If
those of all variables are far from it, differences of likelihood tell how badly normal noise fits, not who causes whom.
"""

from __future__ import annotations

from collections.abc import Sequence

from scipy.stats import shapiro

from heterodag.models.node_fits import Key, NodeFits

#: Residuals are far from normal when the Shapiro-Wilk statistic is below this and its p-value below the next.
FAR_FROM_NORMAL, FAR_LEVEL = 0.99, 1e-3
#: Rows that are looked at; with more, tiny deviations would count.
_ROWS = 5000


def best_normality(fits: NodeFits, keys: Sequence[Key]) -> tuple[float, bool]:
    """Return the largest Shapiro-Wilk statistic among the models' residuals, and whether all are far from normal."""
    fits.losses(keys)
    best, far = 0.0, True
    for _, U in fits.latents(keys):
        for row in U[:, :: -(-U.shape[1] // _ROWS)]:
            W, p = shapiro(row)
            best, far = max(best, float(W)), far and W < FAR_FROM_NORMAL and p < FAR_LEVEL
    return best, bool(far)
