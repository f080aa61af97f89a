"""Minimise the penalised loss and choose the strength of its penalties from the data, in one run of the solver.

Coefficients come in blocks, each with one strength `lam`: the penalty of coefficient k is `lam * weight_k / n`. Seen
as normal priors, the strengths have a marginal likelihood (Laplace's approximation, as REML), whose fixed point is

    lam = edf / sum(weight_k * theta_k^2),     edf = number of coefficients - trace(posterior covariance * penalty),

(MacKay 1992; Fellner and Schall; Wood and Fasiolo 2017 for general likelihoods). Each time the target comes close to
the optimum for its current strengths, the strengths take one step of that iteration, and the solver continues from
where it is. A block that the data do not support is driven to a strength at which it is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from heterodag.core.design import Design
from heterodag.core.gaussian import Array, Index, Mask
from heterodag.core.layout import Coefficients
from heterodag.core.solver import Minimizer, Objective, Solution

#: Bounds of the strengths; a block at the upper bound is zero for all practical purposes.
WEAKEST, STRONGEST = 1e-6, 1e9
#: Longest step of a strength, as a factor.
_LONGEST = 100.0
#: A block with fewer effective coefficients than this has settled if its strength would only grow.
_EMPTY = 0.05
_MOVES = 8
#: Least damping of the solver after strengths have moved.
_RESTART = 1e-3
#: Strengths move as soon as the predicted gain in mean log-likelihood falls below this.
_NEAR = 1e-2


@dataclass(frozen=True)
class PenaltyBlock:
    """Coefficients that share a strength, and the relative weights of their penalties."""

    index: Index
    weights: Array


def penalty_ridge(ridge: Array, blocks: Sequence[PenaltyBlock], strengths: Array, n: int) -> Array:
    """Return a ridge (size, 1) plus the penalties of blocks with given strengths."""
    full = ridge.copy()
    for block, strength in zip(blocks, strengths, strict=True):
        full[block.index, 0] += strength * block.weights / n
    return full


def minimize_smoothly(
    design: Design,
    shape: Coefficients,
    start: Array,
    ridge: Array,
    blocks: Sequence[PenaltyBlock],
    strengths: Array,
    tolerance: float,
    max_iterations: int,
    shortest: float = 1.5,
) -> tuple[Solution, Array, Array]:
    """Minimise the objective of one target and choose the strengths of its penalties.

    Parameters
    ----------
    design, shape, start, tolerance, max_iterations
        As in `core.solver.minimize`.
    ridge : (size, 1) ridge per coefficient, added to the penalties.
    blocks : the penalties, without overlap.
    strengths : (blocks,) strengths to start from.
    shortest : a strength has settled when its next step would be shorter than this factor.

    Returns
    -------
    solution, strengths (blocks,), effective coefficients (blocks,)
    """
    solver = _SmoothingMinimizer(design, shape, start, ridge, blocks, strengths, tolerance, shortest)
    return solver.run(max_iterations), solver.strengths, solver.edf


class _SmoothingMinimizer(Minimizer):
    """`minimize` for one target, with strengths that are chosen along the way."""

    def __init__(
        self,
        design: Design,
        shape: Coefficients,
        start: Array,
        ridge: Array,
        blocks: Sequence[PenaltyBlock],
        strengths: Array,
        tolerance: float,
        shortest: float,
    ) -> None:
        self.blocks, self.base, self.shortest = blocks, ridge, shortest
        self.strengths, self.edf = strengths.copy(), np.array([float(len(b.index)) for b in blocks])
        self.moves = 0
        super().__init__(Objective(design, shape, self._ridge(design.n_rows)), start, tolerance)

    def _ridge(self, n: int) -> Array:
        return penalty_ridge(self.base, self.blocks, self.strengths, n)

    def _settled(self, gain: Array) -> Mask:
        if gain[0] < _NEAR and self.moves < _MOVES:
            moved = self._move()
            if moved is not None:  # else not at a minimum yet: ask again after the next step
                self.moves = self.moves + 1 if moved else _MOVES
            if moved:
                return np.zeros(1, bool)
        return np.asarray(gain < self.tolerance)

    def _move(self) -> bool | None:
        """Move the strengths; return whether that moves the optimum, or None if the state is no minimum yet."""
        n, state = self.objective.design.n_rows, self.state
        factor, failed = lapack.dpotrf(state.information(self.shape)[0])[:2]
        if failed:
            return None
        spread = np.asarray(lapack.dpotri(factor)[0]).diagonal()
        theta, moving, wanted = state.theta(self.shape)[:, 0], False, self.strengths.copy()
        for number, block in enumerate(self.blocks):
            own, strength = block.index, self.strengths[number]
            edf = max(float(len(own) - strength * block.weights / n @ spread[own]), 1e-3)
            fixed_point = edf / max(float(block.weights @ theta[own] ** 2), 1e-300)
            new = float(np.clip(fixed_point, max(strength / _LONGEST, WEAKEST), min(strength * _LONGEST, STRONGEST)))
            self.edf[number], wanted[number] = edf, new
            far = abs(np.log(new / strength)) > np.log(self.shortest)
            moving |= far and not (new > strength and edf < _EMPTY)
        if not moving:
            return False
        self.strengths = wanted
        self.damping[:] = np.maximum(self.damping, _RESTART)
        self.objective.set_ridge(self._ridge(n))
        self.state = self.objective(state.b, self.active)
        return True
