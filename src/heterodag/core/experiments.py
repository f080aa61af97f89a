"""Which rows count for which variable, when some rows come from experiments.

Where a variable was set from outside, its causes did not act on it: such rows say nothing about its mechanism, and
everything about its effects. So the model of a variable is fitted to the rows in which it was not set, whatever its
parents: losses of one variable always count the same rows, and sums over variables stay comparable. A variable that
was set in all rows (a column that says which experiment a row belongs to) has no model and no loss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heterodag.core.gaussian import Array, Index, Mask
from heterodag.core.table import Table, location_and_scale

#: A sample keeps up to this many rows per condition; with many conditions, up to an equal share of half the sample.
LEAST_ROWS = 100


@dataclass(frozen=True, eq=False)
class Experiments:
    """The experiments behind the rows of a table.

    Attributes
    ----------
    fixed : (n, d) bool; True where the variable was set from outside in that row.
    condition : (n,) number of the condition that each row belongs to.
    observed : (n,) bool; True where nothing was done.
    """

    fixed: Mask
    condition: Index
    observed: Mask

    @classmethod
    def of(cls, fixed: Mask) -> Experiments:
        """Return experiments in which rows with the same variables set are one condition."""
        condition = np.unique(fixed, axis=0, return_inverse=True)[1].reshape(-1)
        return cls(fixed, condition, np.asarray(~fixed.any(axis=1)))

    def take(self, rows: Index) -> Experiments:
        """Return the experiments of some rows."""
        return Experiments(self.fixed[rows], self.condition[rows], self.observed[rows])

    def sample_rows(self, table: Table, rows: int) -> Index:
        """Return the rows of an even sample, plus those that rare conditions need to keep `LEAST_ROWS`."""
        even = table.sample_rows(rows)
        names, counts = np.unique(self.condition, return_counts=True)
        least = max(1, min(LEAST_ROWS, rows // (2 * len(names))))
        kept = np.bincount(self.condition[even], minlength=int(names[-1]) + 1)
        more = [even]
        for name, count in zip(names, counts, strict=True):
            if kept[name] < min(count, least):
                own = np.flatnonzero(self.condition == name)
                more.append(own[np.arange(min(count, least)) * count // min(count, least)])
        return np.unique(np.concatenate(more))


def scaling(X: Array, table: Table) -> tuple[Array, Array]:
    """Return location and scale of some rows of a table; columns that are constant in them keep the table's scale."""
    location, scale = location_and_scale(X)
    return location, np.where(scale > 1e-9 * table.scale, scale, table.scale)
