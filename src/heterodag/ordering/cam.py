"""CAM: the order that maximises the likelihood of additive models with Gaussian noise, searched greedily.

Buehlmann, Peters and Ernest (2014). Every variable has a block of centred orthonormal columns that span its curves; a
regression on several variables uses their blocks side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from heterodag.core.gaussian import Array
from heterodag.knowledge import ResolvedKnowledge

Flags = npt.NDArray[np.bool_]

#: A column is rounding error if the others leave less than this share of it.
LEAST_REST = 1e-10
#: Step length and number of steps of the boosting that selects neighbours.
STEP_LENGTH, STEPS = 0.1, 200


def boosted_neighbours(Y: Array, blocks: Sequence[Array], most: int, possible: Flags | None = None) -> Flags:
    """Select the columns that may cause each column, by boosting an additive regression on all others.

    Parameters
    ----------
    Y : (n, d) standardised columns.
    blocks : per column, its orthonormal regressors.
    most : int
        The largest number of candidates per target.
    possible : (d, d) bool, optional
        The regression of i uses j only where [j, i] is True; by default it uses all other columns.

    Returns
    -------
    (d, d) bool array
        Entry [j, i] is True where j may cause i.

    Notes
    -----
    Every step fits the best single block to the residuals and goes a tenth of the way; columns are ranked by how
    much their steps reduced the sum of squares. All products come from the Gram matrix, so the rows are read only
    once.
    """
    d = Y.shape[1]
    D, owner = np.hstack(blocks), np.repeat(np.arange(d), [block.shape[1] for block in blocks])
    gram, products = D.T @ D, D.T @ Y
    allowed = np.zeros((d, d), dtype=bool)
    possible = ~np.eye(d, dtype=bool) if possible is None else possible & ~np.eye(d, dtype=bool)
    for target in range(d):
        gains = _boost(gram, products[:, target].copy(), owner, possible[:, target])
        chosen = np.argsort(-gains, kind="stable")[:most]
        allowed[chosen[gains[chosen] > 0], target] = True
    return allowed


def _boost(gram: Array, products: Array, owner: npt.NDArray[np.intp], possible: Flags) -> Array:
    """Return by how much each possible cause reduced the target's sum of squares."""
    gains = np.zeros(len(possible))
    for _ in range(STEPS):
        reductions = np.where(possible, np.bincount(owner, products**2, minlength=len(possible)), 0.0)
        best = int(np.argmax(reductions))
        if not reductions[best] > 0:
            break
        own = np.flatnonzero(owner == best)
        gains[best] += (2 * STEP_LENGTH - STEP_LENGTH**2) * reductions[best]
        products -= gram[:, own] @ (STEP_LENGTH * products[own])
    return gains


class AdditiveFit:
    """The additive regression of one target, growing block by block.

    Attributes
    ----------
    residual : (n,) what the blocks so far leave of the target.
    basis : (n, p) orthonormal columns that span the blocks.
    """

    def __init__(self, target: Array) -> None:
        self.residual = target
        self.basis = np.zeros((len(target), 0))

    def gain(self, block: Array) -> float:
        """Return by how much the block would raise the log-likelihood; -inf if too few rows are left.

        Variances are sums of squares divided by the remaining degrees of freedom, so a block of noise gains nothing
        on average.
        """
        new = self._rest(block)
        n, p = self.basis.shape
        before, after = n - p - 1, n - p - new.shape[1] - 1
        if new.shape[1] == 0 or after < n // 2:
            return -np.inf
        total = max(float(self.residual @ self.residual), LEAST_REST)
        left = max(total - float(np.sum((new.T @ self.residual) ** 2)), LEAST_REST * total)
        return float(n / 2 * (np.log(total / before) - np.log(left / after)))

    def add(self, block: Array) -> None:
        """Add a block to the regression."""
        new = self._rest(block)
        self.residual = self.residual - new @ (new.T @ self.residual)
        self.basis = np.hstack([self.basis, new])

    def _rest(self, block: Array) -> Array:
        """Return orthonormal columns that span what the block adds to the basis."""
        rest = block - self.basis @ (self.basis.T @ block)
        rest -= self.basis @ (self.basis.T @ rest)  # once more: the first pass leaves rounding errors
        left, sizes, _ = np.linalg.svd(rest, full_matrices=False)
        return np.asarray(left[:, sizes > np.sqrt(LEAST_REST)])


def greedy_graph(
    Y: Array,
    blocks: Sequence[Array],
    allowed: Flags,
    report: Callable[[float], None] | None = None,
    knowledge: ResolvedKnowledge | None = None,
) -> Flags:
    """Repeatedly add the edge that raises the likelihood most and closes no cycle.

    Parameters
    ----------
    Y : (n, d) standardised columns.
    blocks : per column, its orthonormal regressors.
    allowed : (d, d) bool; [j, i] is True where j -> i may be added.
    report : callable, optional
        Called with a lower bound of the share of work done.
    knowledge : ResolvedKnowledge, optional
        Required edges are there from the start; forbidden edges, and paths against the required order, are never
        added.

    Returns
    -------
    (d, d) bool array
        A DAG in which no further edge would raise the likelihood.
    """
    d = Y.shape[1]
    fits = [AdditiveFit(Y[:, i]) for i in range(d)]
    graph, reach = np.zeros((d, d), dtype=bool), np.eye(d, dtype=bool)
    open_edges = allowed & ~np.eye(d, dtype=bool)
    if knowledge is not None:
        graph |= knowledge.required
        # Treat every required order as a path: then no path can arise in the opposite direction.
        reach |= knowledge.must_precede
        open_edges &= ~knowledge.forbidden & ~knowledge.required & ~reach.T
        for cause, effect in np.argwhere(graph).tolist():
            fits[effect].add(blocks[cause])
    total, gains = max(int(open_edges.sum()), 1), np.full((d, d), -np.inf)

    def refresh(target: int) -> None:
        for cause in np.flatnonzero(open_edges[:, target]).tolist():
            gains[cause, target] = fits[target].gain(blocks[cause])
            if report is not None:
                report(1 - open_edges.sum() / total)

    for target in range(d):
        refresh(target)
    while True:
        gains[~open_edges] = -np.inf
        cause, effect = divmod(int(np.argmax(gains)), d)
        if not gains[cause, effect] > 0:
            return graph
        graph[cause, effect] = True
        fits[effect].add(blocks[cause])
        # What reaches the cause now also reaches what the effect reaches: no edge may lead back from there.
        reach |= np.outer(reach[:, cause], reach[effect])
        open_edges &= ~reach.T
        open_edges[cause, effect] = False
        refresh(effect)
