"""The location-scale model with smooth curves, many models at once, and the smoothness of every curve chosen on the way.

`mu = Z'a`, `s = Z'b` (log precision), loss of a row `(e^2 - s)/2` with `e = exp(s/2)(y - mu)`. In this form the expected
information of `a` and `b` is block diagonal and that of `b`, `Z Z'/2`, does not depend on the coefficients. So a fit
alternates between a weighted regression for `a` (exact given `b`) and a scoring step for `b` whose matrix is inverted only
when penalties change (Harvey 1976). One weighted product `Z W Z'` per step is all that a row costs; the general solver
(`core.solver`) needs three.

Penalties are one strength per curve and predictor, times the roughness of its columns. Strengths move with every step
towards the fixed point of the marginal likelihood (see `core.smoothing`). A column that a model must not use has the
penalty `CLOSED`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heterodag.core.gaussian import Array, Index, Mask
from heterodag.core.solver import free_swing

#: The penalty of a coefficient that stays zero.
CLOSED = 1e12
#: Strengths stay between these; a curve at the upper end is flat.
_WEAKEST, _STRONGEST = 1e-4, 1e9
#: Strength that curves start with, and the longest step of a strength, as a factor.
FIRST_STRENGTH, _LONGEST = 1.0, 30.0
#: A strength has settled when its next step is shorter than this factor, or its curve has fewer coefficients than this.
_SHORTEST, _EMPTY = 1.5, 0.1
#: Longest move of a row's log precision in one step.
_LONGEST_MOVE = 3.0
#: Times that the strengths of a model move, and that a step is shortened before it is given up.
_MOVES, _HALVINGS = 12, 6
#: Least share of a coefficient's information that the others must leave; below, it counts as theirs.
_SINGULAR, _TINY = 1e-10, 1e-12


@dataclass
class SmoothProblem:
    """Models that are fitted together; all have the same number of parents and basis columns.

    Attributes
    ----------
    Z : (m, p, n) designs: a row of ones, then the basis columns of each parent, its line first; zeros where a parent has
        fewer columns than others.
    Y : (m, n) standardised targets.
    ridge : (m, 2, p) penalties beside those of curves, for `a` and `b`, on the scale of sums over rows.
    roughness : (m, p) of the basis columns: 0 for the constant and lines.
    parents : number of parents.
    """

    Z: Array
    Y: Array
    ridge: Array
    roughness: Array
    parents: int

    @property
    def blocks(self) -> Array:
        """Return (m, parents, columns) the roughness of the curves of each parent."""
        m, p = self.roughness.shape
        return self.roughness[:, 1:].reshape(m, self.parents, (p - 1) // max(self.parents, 1))

    def penalties(self, strengths: Array, some: Index | slice = slice(None)) -> Array:
        """Return the penalties (m, 2, p) of strengths (m, 2, parents) for some models."""
        total, rough = self.ridge[some].copy(), self.blocks[some][:, None]
        curves = np.where(rough > 0.0, strengths[..., None] * rough, 0.0)
        total[:, :, 1:] += curves.reshape(total[:, :, 1:].shape)
        return np.minimum(total, CLOSED)

    def take(self, some: Index | Mask) -> SmoothProblem:
        """Return some of the models."""
        return SmoothProblem(self.Z[some], self.Y[some], self.ridge[some], self.roughness[some], self.parents)


@dataclass
class SmoothSolution:
    """Fitted models, one entry of the first axis each.

    Attributes
    ----------
    a, b : (m, p) coefficients of mean and log precision.
    strengths : (m, 2, parents) of the curves in either.
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


def fit_smoothly(
    problem: SmoothProblem, b: Array, strengths: Array, tolerance: float, max_steps: int
) -> SmoothSolution:
    """Fit all models from coefficients `b` (m, p) and strengths (m, 2, parents); infinite strengths stay.

    A model is done when its next step promises less than `tolerance` nats and its strengths have settled.
    """
    m, p, k = len(b), b.shape[1], problem.parents
    found = SmoothSolution(
        np.zeros((m, p)), np.zeros((m, p)), strengths.copy(), np.full(m, np.inf), np.zeros((m, 2, k)),
        np.zeros((m, p, p)), np.zeros((m, p, p)), np.zeros(problem.Y.shape), np.zeros(m, bool),
    )  # fmt: skip
    with np.errstate(all="ignore"):
        _Fit(problem, b, strengths, found, tolerance).run(max_steps)
    return found


#: What `_Fit` holds for every model still being worked on.
_PER_MODEL = (
    "gram", "strengths", "moves", "edf", "penalty", "inverse_a", "inverse_b", "a", "b", "normal", "residual", "square",
    "excess", "row_loss", "value",
)  # fmt: skip


class _Fit:
    """The loop of `fit_smoothly`: the models still being worked on, written to `found` as they finish."""

    def __init__(
        self, problem: SmoothProblem, b: Array, strengths: Array, found: SmoothSolution, tolerance: float
    ) -> None:
        self.problem, self.found, self.tolerance = problem, found, tolerance
        self.where = np.arange(len(b))
        self.gram = 0.5 * np.matmul(problem.Z, problem.Z.transpose(0, 2, 1))
        self.strengths, self.swing = strengths.copy(), free_swing(problem.Y.shape[1])
        self.moves, self.edf = np.zeros(len(b), int), np.zeros(strengths.shape)
        self._set_penalties()
        self.b = b * (self.penalty[:, 1] < CLOSED)
        self._evaluate(self.b)
        worse: Mask = ~np.isfinite(self.value) | (self.value > 0.5 * problem.Y.shape[1] + 1.0)
        if worse.any():  # a start from other rows can be worse than none here
            self.b[worse] = 0.0
            self._evaluate(self.b)

    def run(self, max_steps: int) -> None:
        for step in range(max_steps):
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
        self.inverse_b[some] = _inverse(self.gram[some] + self.penalty[some][:, 1][:, :, None] * eye)

    def _evaluate(self, b: Array) -> None:
        """Find the best mean for `b`, and the loss there."""
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
        self.inverse_a = _inverse(normal)
        a = np.matmul(self.inverse_a, moment[:, :, None])[:, :, 0]
        residual = np.exp(0.5 * s) * (Y - np.matmul(a[:, None, :], Z)[:, 0])
        square = residual * residual
        self.excess = s - b[:, :1]
        self.excess = self.excess - np.clip(self.excess, -self.swing, self.swing)
        self.a, self.normal, self.residual, self.square = a, normal, residual, square
        self.row_loss = 0.5 * (square.sum(axis=1) - s.sum(axis=1) + np.einsum("mn,mn->m", self.excess, self.excess))
        self.row_loss[bad] = np.inf
        self.value = self.row_loss + self._penalty_value(a, b)
        self.value[~np.isfinite(self.value)] = np.inf

    def _penalty_value(self, a: Array, b: Array) -> Array:
        return 0.5 * np.asarray(
            np.einsum("mp,mp,mp->m", self.penalty[:, 0], a, a) + np.einsum("mp,mp,mp->m", self.penalty[:, 1], b, b)
        )

    def _gradient(self) -> Array:
        Z = self.problem.Z
        gradient = 0.5 * np.matmul(Z, (self.square - 1.0)[:, :, None])[:, :, 0] + self.penalty[:, 1] * self.b
        if self.excess.any():
            held = np.matmul(Z, self.excess[:, :, None])[:, :, 0]
            held[:, 0] = 0.0
            gradient += held
        return np.asarray(gradient)

    def _step(self, move: Array) -> None:
        """Move `b`, less far where the loss would rise."""
        reach = np.abs(np.matmul(move[:, None, :], self.problem.Z)[:, 0]).max(axis=1)
        move = move * np.minimum(1.0, _LONGEST_MOVE / np.maximum(reach, 1e-300))[:, None]
        before, value, length = self.b, self.value.copy(), np.ones(len(move))
        for attempt in range(_HALVINGS + 1):
            self.b = before + length[:, None] * move
            self._evaluate(self.b)
            worse = ~(self.value <= value + 1e-9 * np.abs(value))
            if not worse.any():
                break
            length[worse] *= 0.3 if attempt < _HALVINGS - 1 else 0.0

    def _move_strengths(self) -> Mask:
        """Move the strengths one step towards the fixed point; return for which models that changes the optimum."""
        old = self.strengths
        if not self.problem.blocks.size:
            return np.zeros(len(old), bool)
        inverse = np.stack([np.einsum("mpp->mp", self.inverse_a), np.einsum("mpp->mp", self.inverse_b)], axis=1)
        count = (self.problem.blocks > 0.0).sum(axis=2)[:, None]
        chosen = np.isfinite(old) & (count > 0)
        edf = np.maximum(count - old * self._weighted(inverse), 1e-3)
        fixed = edf / np.maximum(self._weighted(np.stack([self.a, self.b], axis=1) ** 2), 1e-300)
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

    def _weighted(self, values: Array) -> Array:
        """Return (m, 2, parents) the sums of values (m, 2, p) of curves, weighted by their roughness."""
        rough = self.problem.blocks
        return np.asarray(
            np.einsum("mck,msck->msc", rough, values[:, :, 1:].reshape(len(rough), 2, *rough.shape[1:]))
        )

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
        rest = ~done
        self.problem, self.where = self.problem.take(rest), self.where[rest]
        for name in _PER_MODEL:
            setattr(self, name, getattr(self, name)[rest])


def _inverse(matrices: Array) -> Array:
    """Return the inverses of information matrices; directions that hardly any row informs about stay where they are."""
    scale = 1.0 / np.sqrt(np.maximum(np.einsum("mpp->mp", matrices), _TINY))
    both = scale[:, :, None] * scale[:, None, :]
    scaled = matrices * both
    p = scaled.shape[1]
    scaled.reshape(len(scaled), -1)[:, :: p + 1] = 1.0 + _SINGULAR
    return np.asarray(np.linalg.inv(scaled) * both)
