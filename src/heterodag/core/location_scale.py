"""The location-scale model with smooth curves, many models at once; fits choose the smoothness of every curve.

`mu = Z'a`, `s = Z'b` (log precision); the loss of a row is `(e^2 - s)/2` with `e = exp(s/2)(y - mu)`. In this form
the expected information of `a` and `b` is block diagonal, and that of `b`, `Z Z'/2`, does not depend on the
coefficients. So a fit alternates between a weighted regression for `a` (exact given `b`) and a scoring step for `b`
whose matrix is inverted only when penalties change (Harvey 1976). A step costs one weighted product `Z W Z'`; the
general solver (`core.solver`) needs three.

The penalty of a basis column is its roughness times the strength of its curve; each curve has one strength in the
mean and one in the log precision. With every step, strengths move towards the fixed point of the marginal likelihood
(see `core.smoothing`). A column that a model must not use has the penalty `CLOSED`.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Self

import numpy as np

from heterodag.core.gaussian import Array, Index, Mask
from heterodag.core.solver import free_swing

#: The penalty of a coefficient that must stay zero.
CLOSED = 1e12
#: Bounds of the strengths; a curve at the upper bound is flat.
_WEAKEST, _STRONGEST = 1e-4, 1e9
#: Initial strength of curves, and the longest step of a strength, as a factor.
FIRST_STRENGTH, _LONGEST = 1.0, 30.0
#: A strength has settled if its next step is shorter than this factor, or if it would grow while its curve has fewer
#: effective coefficients than this.
_SHORTEST, _EMPTY = 1.5, 0.1
#: Longest move of a row's log precision in one step.
_LONGEST_MOVE = 3.0
#: How often the strengths of a model move, and how often a step is shortened before it is given up.
_MOVES, _HALVINGS = 12, 6
#: Factors that shorten a step where the loss rises, and lengthen later steps again.
_SHORTER, _LONGER = 0.3, 2.0
#: Smallest share of a coefficient's information that the others may leave before it counts as collinear with them.
_SINGULAR, _TINY = 1e-10, 1e-12


@dataclass
class SmoothProblem:
    """Models that are fitted together; all have the same number of parents and basis columns.

    Attributes
    ----------
    Z : (m, p, n) designs: a row of ones, then the basis columns of each parent, its line first; zeros where a model
        has fewer columns than others.
    Y : (m, n) standardised targets.
    ridge : (m, 2, p) penalties on `a` and `b` besides those of curves, on the scale of sums over rows.
    roughness : (m, parents, p) of each parent's basis columns: 0 for the constant, lines and columns of others.
    """

    Z: Array
    Y: Array
    ridge: Array
    roughness: Array

    def penalties(self, strengths: Array, some: Index | slice = slice(None)) -> Array:
        """Return the penalties (m, 2, p) of strengths (m, 2, parents) for some models."""
        # An infinite strength belongs to a parent without curves: lines have no roughness.
        curves = np.matmul(np.minimum(strengths, CLOSED), self.roughness[some])
        return np.asarray(np.minimum(self.ridge[some] + curves, CLOSED))

    def take(self, some: Index | Mask) -> SmoothProblem:
        """Return some of the models."""
        return SmoothProblem(self.Z[some], self.Y[some], self.ridge[some], self.roughness[some])


@dataclass
class SmoothSolution:
    """Fitted models, one per entry of the first axis.

    Attributes
    ----------
    a, b : (m, p) coefficients of mean and log precision.
    strengths : (m, 2, parents) of the curves in mean and log precision.
    loss : (m,) penalised loss, all rows together.
    edf : (m, 2, parents) effective coefficients of the curves.
    mean, spread : (m, p, p) penalised information of `a` and of `b`.
    residuals : (m, n) standardised residuals.
    converged : (m,) whether the fit ended by itself.
    """

    a: Array
    b: Array
    strengths: Array
    loss: Array
    edf: Array
    mean: Array
    spread: Array
    residuals: Array
    converged: Mask

    @classmethod
    def empty(cls, problem: SmoothProblem, strengths: Array, in_mean: int, in_spread: int) -> SmoothSolution:
        """Return an empty solution with `in_mean` and `in_spread` coefficients."""
        m, k, _ = problem.roughness.shape
        return cls(
            np.zeros((m, in_mean)), np.zeros((m, in_spread)), strengths.copy(), np.full(m, np.inf),
            np.zeros((m, 2, k)), np.zeros((m, in_mean, in_mean)), np.zeros((m, in_spread, in_spread)),
            np.zeros(problem.Y.shape), np.zeros(m, bool),
        )  # fmt: skip


def fit_smoothly(
    problem: SmoothProblem, b: Array, strengths: Array, tolerance: float, max_steps: int
) -> SmoothSolution:
    """Fit all models, starting from coefficients `b` (m, p) and strengths (m, 2, parents); infinite ones are fixed.

    A model is done when its next step promises less than `tolerance` nats and its strengths have settled.
    """
    found = SmoothSolution.empty(problem, strengths, b.shape[1], b.shape[1])
    with np.errstate(all="ignore"):
        SmoothFit(problem, b, strengths, found, tolerance).run(max_steps)
    return found


class SmoothFit:
    """The loop of `fit_smoothly`: the models still being worked on, written to `found` as they finish."""

    #: What is stored per model still being worked on, and what `_evaluate` computes.
    per_model: tuple[str, ...] = ("gram", "strengths", "moves", "edf", "penalty", "inverse_b", "b", "length")
    found_at: tuple[str, ...] = ("inverse_a", "a", "normal", "residual", "square", "excess", "row_loss", "value")

    def __init__(
        self, problem: SmoothProblem, b: Array, strengths: Array, found: SmoothSolution, tolerance: float
    ) -> None:
        self.problem, self.found, self.tolerance = problem, found, tolerance
        self.where = np.arange(len(b))
        self.gram = 0.5 * np.matmul(problem.Z, problem.Z.transpose(0, 2, 1))
        self.strengths, self.swing = strengths.copy(), free_swing(problem.Y.shape[1])
        self.moves, self.edf, self.length = np.zeros(len(b), int), np.zeros(strengths.shape), np.ones(len(b))
        self._set_penalties()
        self._begin()
        self.b = b * (self.penalty[:, 1] < CLOSED)
        self._evaluate(self.b)
        worse: Mask = ~np.isfinite(self.value) | (self.value > 0.5 * problem.Y.shape[1] + 1.0)
        if worse.any():  # a start found on other rows can be worse than zeros here
            self.b[worse] = 0.0
            self._evaluate(self.b)

    def _begin(self) -> None:
        """Compute what does not depend on the coefficients."""

    def _inform(self) -> None:
        """Compute the information of `b` at the current coefficients; in this form it is the same everywhere."""

    def run(self, max_steps: int) -> None:
        """Take steps until all models are done."""
        for step in range(max_steps):
            self._inform()
            moved = self._move_strengths()
            gradient = self._gradient()
            move = -np.matmul(self.inverse_b, gradient[:, :, None])[:, :, 0]
            promise = -0.5 * np.einsum("mp,mp->m", gradient, move)
            done = (promise < self.tolerance) & ~moved
            if done.any() or step == max_steps - 1:
                self._write(done, True)
                if step == max_steps - 1:
                    self._write(np.ones(len(self.where), bool), False)
                if not len(self.where):
                    return
                move = move[~done]
            self._step(move)

    def _set_penalties(self, some: Index | slice = slice(None)) -> None:
        if isinstance(some, slice):
            p = self.problem.ridge.shape[2]
            self.penalty, self.inverse_b = np.empty(self.problem.ridge.shape), np.empty((len(self.where), p, p))
        self.penalty[some] = self.problem.penalties(self.strengths[some], some)
        eye = np.eye(self.problem.ridge.shape[2])
        self.inverse_b[some] = inverses(self.gram[some] + self.penalty[some][:, 1][:, :, None] * eye)

    def _evaluate(self, b: Array) -> None:
        """Compute the best mean given `b`, and the loss there."""
        Z, Y = self.problem.Z, self.problem.Y
        s = np.matmul(b[:, None, :], Z)[:, 0]
        precision = np.exp(s)
        weighted = Z * precision[:, None, :]
        normal = np.matmul(weighted, Z.transpose(0, 2, 1))
        moment = np.matmul(weighted, Y[:, :, None])[:, :, 0]
        p = b.shape[1]
        normal.reshape(len(b), -1)[:, :: p + 1] += self.penalty[:, 0]
        bad = ~np.isfinite(normal).all(axis=(1, 2))
        if bad.any():
            normal[bad] = np.eye(p)
        self.inverse_a = inverses(normal)
        a = np.matmul(self.inverse_a, moment[:, :, None])[:, :, 0]
        self.residual = np.exp(0.5 * s) * (Y - np.matmul(a[:, None, :], Z)[:, 0])
        self.a, self.normal = a, normal
        self._add_up(b, s, bad)

    def _add_up(self, b: Array, s: Array, bad: Mask) -> None:
        """Compute the losses from the residuals and the log precisions `s`."""
        self.square = self.residual * self.residual
        self.excess = s - b[:, :1]
        self.excess = self.excess - np.clip(self.excess, -self.swing, self.swing)
        held = np.einsum("mn,mn->m", self.excess, self.excess)
        self.row_loss = 0.5 * (self.square.sum(axis=1) - s.sum(axis=1) + held)
        self.row_loss[bad] = np.inf
        self.value = self.row_loss + self._penalty_value(self.a, b)
        self.value[~np.isfinite(self.value)] = np.inf

    def _penalty_value(self, a: Array, b: Array) -> Array:
        own = a[:, : b.shape[1]]  # the location after them, if there is one, has no penalty
        return 0.5 * np.asarray(
            np.einsum("mp,mp,mp->m", self.penalty[:, 0], own, own)
            + np.einsum("mp,mp,mp->m", self.penalty[:, 1], b, b)
        )

    def _slope(self) -> Array:
        """Return the derivatives of the rows' losses by the log precision."""
        return np.asarray(0.5 * (self.square - 1.0))

    def _gradient(self) -> Array:
        Z = self.problem.Z
        gradient = np.matmul(Z, self._slope()[:, :, None])[:, :, 0] + self.penalty[:, 1] * self.b
        if self.excess.any():
            held = np.matmul(Z, self.excess[:, :, None])[:, :, 0]
            held[:, 0] = 0.0
            gradient += held
        return np.asarray(gradient)

    def _step(self, move: Array) -> None:
        """Move `b`, with a shorter step where the loss would rise."""
        reach = np.abs(np.matmul(move[:, None, :], self.problem.Z)[:, 0]).max(axis=1)
        move = move * np.minimum(1.0, _LONGEST_MOVE / np.maximum(reach, 1e-300))[:, None]
        before, value = self.b, self.value
        # Where scoring overshoots once it does so again: a step begins at most twice as long as the last one.
        length = np.minimum(1.0, _LONGER * self.length)
        self.b = before + length[:, None] * move
        self._evaluate(self.b)
        for attempt in range(_HALVINGS):
            worse = np.flatnonzero(~(self.value <= value + 1e-9 * np.abs(value)))
            if not len(worse):
                break
            length[worse] *= _SHORTER if attempt < _HALVINGS - 1 else 0.0
            some = self._taken(worse)
            some._evaluate(before[worse] + length[worse, None] * move[worse])
            for name in self.found_at:
                getattr(self, name)[worse] = getattr(some, name)
            self.b[worse] = before[worse] + length[worse, None] * move[worse]
        self.length = np.maximum(length, _SHORTER**_HALVINGS)

    def _move_strengths(self) -> Mask:
        """Move the strengths one step towards the fixed point; return the models whose optimum that changes."""
        old = self.strengths
        if not self.problem.roughness.any():
            return np.zeros(len(old), bool)
        inverse = np.stack([self._variances(), np.einsum("mpp->mp", self.inverse_b)], axis=1)
        count = (self.problem.roughness > 0.0).sum(axis=2)[:, None]
        chosen = np.isfinite(old) & (count > 0)
        edf = np.maximum(count - old * self._weighted(inverse), 1e-3)
        fixed = edf / np.maximum(
            self._weighted(np.stack([self.a[:, : self.b.shape[1]], self.b], axis=1) ** 2), 1e-300
        )
        low, high = np.maximum(old / _LONGEST, _WEAKEST), np.minimum(old * _LONGEST, _STRONGEST)
        new, self.edf = np.where(chosen, np.clip(fixed, low, high), old), np.where(chosen, edf, 0.0)
        far = chosen & (np.abs(np.log(np.where(chosen, new / old, 1.0))) > np.log(_SHORTEST))
        far &= ~((new > old) & (edf < _EMPTY))
        moved: Mask = far.any(axis=(1, 2)) & (self.moves < _MOVES)
        if moved.any():
            some = np.flatnonzero(moved)
            self.moves[some] += 1
            self.strengths[some] = new[some]
            self._set_penalties(some)
            self.value = self.row_loss + self._penalty_value(self.a, self.b)
        return moved

    def _variances(self) -> Array:
        """Return the variances (m, p) of `a`."""
        return np.asarray(np.einsum("mpp->mp", self.inverse_a))

    def _weighted(self, values: Array) -> Array:
        """Return the sums (m, 2, parents) of values (m, 2, p) over the columns of curves, weighted by roughness."""
        return np.asarray(np.matmul(values, self.problem.roughness.transpose(0, 2, 1)))

    def _write(self, done: Mask, converged: bool) -> None:
        if not done.any():
            return
        to = self.where[done]
        found, p = self.found, self.b.shape[1]
        found.a[to], found.b[to], found.loss[to] = self.a[done], self.b[done], self.value[done]
        found.residuals[to] = self.residual[done]
        found.strengths[to], found.converged[to] = self.strengths[done], converged
        found.edf[to] = self.edf[done]
        found.mean[to] = self.normal[done]
        found.spread[to] = self.gram[done]
        found.spread.reshape(len(found.spread), -1)[to[:, None], np.arange(p) * (p + 1)] += self.penalty[done][:, 1]
        vars(self).update(vars(self._taken(np.flatnonzero(~done))))

    def _taken(self, some: Index) -> Self:
        """Return a copy of the loop with only some of the models."""
        other = copy(self)
        other.problem, other.where = self.problem.take(some), self.where[some]
        for name in (*self.per_model, *self.found_at):
            setattr(other, name, getattr(self, name)[some])
        return other


def inverses(matrices: Array) -> Array:
    """Return the inverses of information matrices, made finite where a coefficient has almost no information."""
    scale = 1.0 / np.sqrt(np.maximum(np.einsum("mpp->mp", matrices), _TINY))
    both = scale[:, :, None] * scale[:, None, :]
    scaled = matrices * both
    p = scaled.shape[1]
    scaled.reshape(len(scaled), -1)[:, :: p + 1] = 1.0 + _SINGULAR
    return np.asarray(np.linalg.inv(scaled) * both)
