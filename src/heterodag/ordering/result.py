"""What an ordering method returns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from heterodag.core.gaussian import Array


@dataclass(frozen=True, eq=False)
class OrderResult:
    """A causal order and how it came about.

    Attributes
    ----------
    order : ndarray of shape (d,)
        Column indices, causes first.
    layers : list of list of int
        Joined, they are the order. Without refinement, the layers of Algorithm 2; with refinement, stretches of the
        order in which no variable is a chosen parent of another.
    scores : ndarray of shape (rounds, d)
        Normality statistic of every variable that was still to be placed in that round of Algorithm 2, larger = more
        normal, NaN for those already placed (and those that prior knowledge holds back). Close scores at the top of a
        round mean a close call.
    names : list of str or None
        Column names, or None if the table had none.
    start : list of list of int
        The order by normality that refinement started from, as layers; equal to `layers` without refinement.
    score, start_score : float or None
        Penalised negative log-likelihood (nats) of the refined order and of the one it started from, or None without
        refinement. Lower is better.
    complete : bool
        False if the time for refinement ran out.

    Examples
    --------
    >>> from heterodag import causal_order, simulate
    >>> result = causal_order(simulate(500, 3, random_state=1).X)
    >>> result.order, result.complete
    (array([1, 2, 0]), True)
    """

    order: npt.NDArray[np.intp]
    layers: list[list[int]]
    scores: Array
    names: list[str] | None = None
    start: list[list[int]] = field(default_factory=list)
    score: float | None = None
    start_score: float | None = None
    complete: bool = True

    def __post_init__(self) -> None:
        if not self.start:
            object.__setattr__(self, "start", self.layers)

    def of_first(self, d: int, names: list[str] | None) -> OrderResult:
        """Return the order of the first d columns alone; the others stand for experiments and come first."""
        if len(self.order) == d:
            return self
        layers, start = (
            [own for layer in some if (own := [j for j in layer if j < d])] for some in (self.layers, self.start)
        )
        scores = self.scores[~np.isnan(self.scores[:, :d]).all(axis=1), :d]
        return replace(self, order=self.order[self.order < d], layers=layers, start=start, scores=scores, names=names)

    def margins(self) -> Array:
        """Return how clear each round of Algorithm 2 was.

        Returns
        -------
        ndarray of shape (rounds,)
            By how much the new layer beat the best of the rest; NaN if there was no rest.

        Examples
        --------
        >>> from heterodag import causal_order, simulate
        >>> causal_order(simulate(500, 3, random_state=1).X, refine=False).margins().round(1)
        array([0.5, 0.6, nan])
        """
        out = np.full(len(self.start), np.nan)
        placed: list[int] = []
        for r, layer in enumerate(self.start):
            placed += layer
            rest = np.delete(self.scores[r], placed)
            rest = rest[~np.isnan(rest)]
            if rest.size:
                out[r] = self.scores[r][layer].min() - rest.max()
        return out


@dataclass(frozen=True, eq=False)
class Refinement:
    """What refinement changed.

    Attributes
    ----------
    start : the order by normality, as layers.
    start_score, score : penalised negative log-likelihood (nats) before and after; lower is better.
    complete : False if the time ran out while further moves might still have helped.
    """

    start: list[list[int]]
    start_score: float
    score: float
    complete: bool

    @classmethod
    def of(cls, result: OrderResult) -> Refinement:
        """Return the refinement in the result of a refined ordering."""
        return cls(result.start, float(result.start_score or 0.0), float(result.score or 0.0), result.complete)
