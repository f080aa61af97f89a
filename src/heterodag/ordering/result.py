"""What an ordering method returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..core.gaussian import Array


@dataclass(frozen=True, eq=False)
class OrderResult:
    """A causal order and how it came about.

    Attributes
    ----------
    order : (d,) column indices, causes first.
    layers : list of lists of column indices, in the order they were placed.
    scores : (rounds, d) normality statistic of every variable that was still to be placed in that round, larger
        = more normal, NaN for those already placed (and those that prior knowledge holds back). Close scores at the
        top of a round mean a close call.
    names : column names, or None if the table had none.
    """

    order: npt.NDArray[np.intp]
    layers: list[list[int]]
    scores: Array
    names: list[str] | None = None

    def margins(self) -> Array:
        """Return, per round, by how much the worst of the new layer beat the best of the rest (NaN if none)."""
        out = np.full(len(self.layers), np.nan)
        placed: list[int] = []
        for r, layer in enumerate(self.layers):
            placed += layer
            rest = np.delete(self.scores[r], placed)
            rest = rest[~np.isnan(rest)]
            if rest.size:
                out[r] = self.scores[r][layer].min() - rest.max()
        return out
