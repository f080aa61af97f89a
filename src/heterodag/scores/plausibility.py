"""Is the noise of fitted models normal? Likelihoods are compared only if it is for at least one variable.

In a heteroscedastic causal model with normal noise, the residuals of every variable given its causes are normal, and
roots always are. If the residuals of all variables are far from normal, differences of likelihood say how badly
normal noise fits, not which variable causes which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import shapiro

from heterodag.scores.fit import Parents
from heterodag.scores.local import LocalScores

#: Residuals are far from normal if the Shapiro-Wilk statistic is below the first number and its p-value below the
#: second.
FAR_FROM_NORMAL, FAR_LEVEL = 0.99, 1e-3
#: Most rows that are tested; with more, tiny deviations would count.
_ROWS = 5000


@dataclass(frozen=True)
class Plausibility:
    """How normal the residuals of a graph's models are; decided once per fit.

    Attributes
    ----------
    best : the largest Shapiro-Wilk statistic among the variables.
    far : whether the residuals of all variables are far from normal.
    """

    best: float
    far: bool


def judge(scores: LocalScores, parents: Mapping[int, Parents]) -> Plausibility:
    """Return how normal the residuals of all variables are, given their parents."""
    best, far = 0.0, True
    for _, U in scores.residuals(list(parents.items())):
        n = U.shape[1]
        for row in U[:, np.arange(min(n, _ROWS)) * n // min(n, _ROWS)]:
            W, p = shapiro(row)
            best, far = max(best, float(W)), far and W < FAR_FROM_NORMAL and p < FAR_LEVEL
    return Plausibility(best, bool(far))
