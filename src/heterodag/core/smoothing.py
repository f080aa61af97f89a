"""Minimise the penalised loss and choose the strength of its penalties from the data, in one run of the solver.

Coefficients come in blocks, each with one strength `lam`: the penalty of coefficient k is `lam * weight_k / n`. Seen
as normal priors, the strengths have a marginal likelihood (Laplace's approximation, as REML), whose fixed point is

    lam = edf / sum(weight_k * theta_k^2),     edf = number of coefficients - trace(posterior covariance * penalty),

(MacKay 1992; Fellner and Schall; Wood and Fasiolo 2017 for general likelihoods). Each time a target has reached the
optimum for its present strengths, these move one step of that iteration, which needs no pass over the data, and the
solver goes on from where it is. A block that the data do not support is driven to a strength at which it is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from heterodag.core.design import Design
from heterodag.core.gaussian import Array, Index, Mask
from heterodag.core.solver import Coefficients, Solution, _Minimizer, _State, objective

#: Strengths stay between these; a block at the upper end is zero for every purpose.
WEAKEST, STRONGEST = 1e-6, 1e9
#: Longest step of a strength, as a factor.
_LONGEST = 100.0
#: Strengths of blocks with fewer effective coefficients than this have settled.
_EMPTY = 0.05
_MOVES = 8
#: Least damping after strengths have moved.
_RESTART = 1e-3
#: Strengths move as soon as the predicted gain in mean log-likelihood falls below this.
_NEAR = 1e-2


@dataclass(frozen=True)
class PenaltyBlock:
    """Coefficients that share a strength, and the relative weights of their penalties."""

    index: Index
    weights: Array


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
    """Minimise every target's objective and choose the strengths of its penalties.

    Parameters
    ----------
    design, shape, start, tolerance, max_iterations : see `core.solver.minimize`.
    ridge : (size, 1) ridge per coefficient that comes on top of the penalties.
    blocks : the penalties, not overlapping.
    strengths : (blocks, m) strengths to start from.
    shortest : a strength has settled when its next step would be shorter than this factor.

    Returns
    -------
    solution, strengths (blocks, m), effective coefficients (blocks, m)
    """
    solver = _SmoothingMinimizer(design, shape, start, ridge, blocks, strengths, tolerance, shortest)
    return solver.run(max_iterations), solver.strengths, solver.edf


class _SmoothingMinimizer(_Minimizer):
    """`minimize` with strengths (blocks, m) that are found on the way."""

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
        m = start.shape[1]
        self.blocks, self.strengths, self.shortest = blocks, strengths.copy(), shortest
        self.edf = np.array([[float(len(b.index))] * m for b in blocks]).reshape(len(blocks), m)
        self.moves = np.zeros(m, int)
        full = np.repeat(ridge, m, axis=1) if ridge.shape[1] == 1 else ridge.copy()
        for number, block in enumerate(blocks):
            full[block.index] += np.outer(block.weights, strengths[number]) / design.n_rows
        super().__init__(design, shape, start, full, None, tolerance)

    def _try(self, trial: Array, newton: Mask) -> _State:
        """Evaluate trial points; wide designs make derivatives expensive, so none are made of points to be refused."""
        if len(self.active) == self.ridge.shape[1]:
            value = objective(self.design, self.shape, trial, self.ridge)
            if (value > self.state.objective + 1e-12).all():
                return _State(value, self.state.gradient, self.state.information)
        return self._evaluate(trial, self.active, newton)

    def _settled(self, accepted: Mask, gain: Array) -> Mask:
        near = accepted & (gain < _NEAR)
        for i in np.flatnonzero(near & (self.moves[self.active] < _MOVES)):
            target = int(self.active[i])
            moved = self._move(int(i), target)
            if moved is None:  # not at a minimum yet: ask again after the next step
                continue
            self.moves[target] = self.moves[target] + 1 if moved else _MOVES
            near[i] &= not moved
        return near & (gain < self.tolerance)

    def _move(self, i: int, target: int) -> bool | None:
        """Move the strengths of one target; return whether the optimum moves with them, None if it cannot be told."""
        n = self.design.n_rows
        factor, failed = lapack.dpotrf(self.state.information[i])[:2]
        if failed:
            return None
        spread = np.asarray(lapack.dpotri(factor)[0]).diagonal()
        theta, ridge, change, moving = self.theta[:, i], self.ridge[:, target], np.zeros(self.shape.size), False
        wishes = self.strengths[:, target].copy()
        for number, block in enumerate(self.blocks):
            own, lam = block.index, self.strengths[number, target]
            penalty = lam * block.weights / n
            edf = max(float(len(own) - penalty @ spread[own]), 1e-3)
            wanted = edf / max(float(block.weights @ theta[own] ** 2), 1e-300)
            new = float(np.clip(np.clip(wanted, lam / _LONGEST, lam * _LONGEST), WEAKEST, STRONGEST))
            self.edf[number, target] = edf
            moving |= (abs(np.log(new / lam)) > np.log(self.shortest)) and not (new > lam and edf < _EMPTY)
            change[own] += (new - lam) * block.weights / n
            wishes[number] = new
        if not moving:
            return False
        self.strengths[:, target] = wishes
        self.damping[i] = max(self.damping[i], _RESTART)
        ridge += change
        self.state.objective[i] += 0.5 * float(change @ theta**2)
        self.state.gradient[:, i] += change * theta
        self.state.information[i].ravel()[:: self.shape.size + 1] += change
        return True
