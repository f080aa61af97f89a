"""Does the model fit the table at all? Three signs that it does not, each told in one sentence after a fit.

The models looked at are those of the final graph: every variable given its parents.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import chi2

from heterodag.core.gaussian import Array
from heterodag.core.graph import Adjacency
from heterodag.core.table import Table
from heterodag.models.node_fits import Key, NodeFits
from heterodag.models.plausibility import best_normality
from heterodag.ordering.result import OrderResult
from heterodag.ordering.search import SEARCH_ROWS, search_ridge

#: Level, over all variables together, at which an effect on the spread counts as found.
SPREAD_LEVEL = 0.01
#: Scores of the first round closer than this count as a tie.
TIE = 1e-3


def doubts(
    array: Array, form: str, order: OrderResult, adjacency: Adjacency, labels: Sequence[str], fits: NodeFits | None
) -> list[str]:
    """Return what speaks against the model, one sentence each; an empty list if nothing does."""
    if fits is None:
        table = Table.standardize(array)
        n = table.shape[0]
        sample = table if n <= SEARCH_ROWS else table.thin(-(-n // SEARCH_ROWS))
        fits = NodeFits(sample, form, search_ridge(sample.shape[0]))
    keys = [(j, tuple(np.flatnonzero(adjacency[:, j]).tolist())) for j in range(adjacency.shape[0])]
    fits.losses(keys)
    found = [_not_normal(fits, keys), _no_spread(fits, keys), _tied(order, adjacency, labels)]
    return [sentence for sentence in found if sentence is not None]


def _not_normal(fits: NodeFits, keys: list[Key]) -> str | None:
    best, far = best_normality(fits, keys)
    if not far:
        return None
    return (
        f"The residuals of all {len(keys)} variables stay far from normal (the best Shapiro-Wilk statistic is "
        f"{best:.3f}): the order was not refined by likelihood, and may mean little."
    )


def _no_spread(fits: NodeFits, keys: list[Key]) -> str | None:
    """Compare every model with the one of constant spread; the ratio is chi-square under homoscedasticity."""
    tested = [key for key in keys if key[1]]
    smallest = 1.0
    for key in tested:
        gain = _constant_spread_loss(fits, key) - fits.known[key].loss
        smallest = min(smallest, float(chi2.sf(2.0 * max(gain, 0.0), len(key[1]))))
    if not tested or smallest * len(tested) < SPREAD_LEVEL:
        return None
    return (
        "No effect of any variable on the spread of another was found: if noise is normal and effects are linear, "
        "no method can tell cause from effect in such a table, and the directions of the edges are guesses."
    )


def _constant_spread_loss(fits: NodeFits, key: Key) -> float:
    """Return the loss of least squares with constant spread on the same parents."""
    target, parents = key
    table = fits.table
    y, Z = table.take([target])[0], np.vstack([np.ones(table.shape[0]), table.take(parents)])
    residual = y - np.linalg.lstsq(Z.T, y, rcond=None)[0] @ Z
    n = len(y)
    return 0.5 * n * (1.0 + float(np.log(max(residual @ residual / n, 1e-300))))


def _tied(order: OrderResult, adjacency: Adjacency, labels: Sequence[str]) -> str | None:
    """Look for variables that were equally good first choices although one is a cause of the other."""
    first = order.scores[0]
    best = np.nanmax(first)
    near = np.flatnonzero(best - np.nan_to_num(first, nan=-np.inf) <= TIE)
    joined = [(int(i), int(j)) for i in near for j in near if adjacency[i, j]]
    if not joined:
        return None
    i, j = joined[0]
    more = f" (and {len(joined) - 1} more pairs)" if len(joined) > 1 else ""
    return (
        f"'{labels[i]}' and '{labels[j]}'{more} depend on each other but were equally normal in the first round: "
        "the direction between them rests on a close call."
    )
