"""Maximum likelihood of conditional Gaussians, many targets at once (step 2 of Algorithm 1).

Minimises, for each target, the mean loss of a row plus a ridge and a bound on runaway rows (`free_swing`), both of
which vanish with the number of rows. The objective is not jointly concave in the coefficients (the paper's
concavity is in `eta1` and `eta2` themselves, not in the coefficients of `ln(-2 eta2)`) and regressors can be
extremely heavy-tailed, so the steps are damped (Levenberg-Marquardt): on the expected (Fisher) information, positive
semi-definite everywhere, far from the optimum; on the observed one, which converges quadratically, once the predicted
gain is small. The targets share every matrix product, but each has its own damping and stops on its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from heterodag.core.design import Block, Regression, combine
from heterodag.core.gaussian import Array, Index, Mask, RowTerms, location_scale_terms, natural_terms, residuals
from heterodag.core.steps import damped_step, damped_steps

#: A target has converged when the predicted gain in mean log-likelihood falls below this.
GAIN_TOLERANCE = 1e-9
#: Predicted gain below which the observed information replaces the expected one.
NEWTON_BELOW = 0.3
MAX_ITERATIONS = 1000
#: Longest step in the average log precision: beyond, on the plateau of far too small precisions, no way leads back.
_LONGEST_MOVE = 3.0
#: Steps of models with at most this many coefficients are found for all targets together.
_SMALL = 15
_DAMPING_START, _DAMPING_LOW, _DAMPING_HIGH = 1e-1, 1e-12, 1e9


@dataclass(frozen=True)
class Coefficients:
    """Shape of a coefficient vector: `a` (for A), `b` (for s), and `m` in natural form.

    Vectors are stacked as columns: `theta[:p]` is `a`, `theta[p:2p]` is `b`, `theta[2p]` is `m`.
    """

    form: str
    width: int

    @property
    def size(self) -> int:
        """Number of coefficients of one target."""
        return 2 * self.width + (self.form == "natural")

    def predictors(self, theta: Array, Z: Array) -> tuple[Array, Array, Array | float]:
        """Return `A`, `s` (targets, observations) and `m` (targets, 1); `Z` is as `core.design.combine` says."""
        p = self.width
        location = theta[2 * p][:, None] if self.form == "natural" else 0.0
        return combine(theta[:p], Z), combine(theta[p : 2 * p], Z), location

    def ridge(self, strength: float) -> Array:
        """Return the ridge (size, 1): intercepts are free, except the one that competes with `m`."""
        weights = np.full((self.size, 1), strength)
        weights[self.width] = 0.0
        weights[2 * self.width if self.form == "natural" else 0] = 0.0
        return weights

    def of_predecessor(self, k: int) -> list[int]:
        """Return the coefficients of the k-th predecessor of a linear design: its slope in each predictor."""
        return [k + 1, self.width + k + 1]

    def of_block(self, rows: slice) -> Index:
        """Return the coefficients of some rows of the design, those in `A` before those in `s`."""
        own = np.arange(rows.start, rows.stop)
        return np.concatenate([own, self.width + own])

    def embed(self, rows: Index) -> Index:
        """Return where the coefficients of a design with only these rows sit among all coefficients."""
        last = np.arange(2 * self.width, self.size)
        return np.concatenate([rows, self.width + rows, last])


@dataclass(frozen=True)
class Solution:
    """Fitted coefficients, one column a target.

    Attributes
    ----------
    theta : (size, m) coefficients.
    objective : (m,) minimised mean loss plus ridge term.
    converged : (m,) whether the target met the tolerance.
    iterations : (m,) steps tried.
    information : (m, size, size) second derivatives at the end, expected or observed.
    """

    theta: Array
    objective: Array
    converged: Mask
    iterations: Index
    information: Array

    def take(self, which: Index) -> Solution:
        """Return the solutions of some targets."""
        return Solution(
            self.theta[:, which], self.objective[which], self.converged[which], self.iterations[which],
            self.information[which],
        )  # fmt: skip


def free_swing(n_rows: int) -> float:
    """Return how far a row's log precision may stray from the average before it is held back.

    A row of extreme leverage could otherwise be fitted exactly with a precision that grows without bound. Beyond
    this swing the squared excess (half of it) is added to the loss; the swing widens with the logarithm of the
    number of rows, so the penalty vanishes as data accumulate.
    """
    return max(float(np.log(n_rows)) - 2.0, 2.0)


def _excess_loss(s: Array, centre: Array, limit: float) -> Array:
    excess = np.maximum(np.abs(s - centre[:, None]) - limit, 0.0)
    total: Array = 0.5 * np.einsum("ij,ij->i", excess, excess)
    return total


@dataclass
class _Barrier:
    """Loss, gradient and information in `b` of the rows whose log precision strays too far (see `free_swing`)."""

    limit: float
    loss: Array
    gradient: Array
    information: Array

    def add(self, swing: Array, block: Block, symmetric: Index) -> None:
        """Add a block of rows; `swing` (targets, rows) is how far their log precision is from the average."""
        if swing.size == 0 or max(swing.max(), -swing.min()) <= self.limit:
            return
        beyond = np.abs(swing) > self.limit
        excess = np.where(beyond, swing - np.copysign(self.limit, swing), 0.0)
        self.loss += 0.5 * np.einsum("ij,ij->i", excess, excess)
        self.gradient[1:] += block.sums(excess[None])[0].T[1:]
        if len(swing) == 1 and block.Z.ndim == 2:  # few rows are beyond: no need of the others
            few = block.Z[1:, beyond[0]]
            self.information[0, 1:, 1:] += few @ few.T
        else:
            self.information[:, 1:, 1:] += block.weigh(beyond[None].astype(float))[0][:, symmetric[1:, 1:]]


@dataclass
class _State:
    """Objective, gradient and information of the targets still being worked on."""

    objective: Array
    gradient: Array
    information: Array

    def put(self, where: Mask, other: _State, which: Mask) -> None:
        self.objective[where] = other.objective[which]
        self.gradient[:, where] = other.gradient[:, which]
        self.information[where] = other.information[which]

    def keep(self, mask: Mask) -> _State:
        return _State(self.objective[mask], self.gradient[:, mask], self.information[mask])


def objective(design: Regression, shape: Coefficients, theta: Array, ridge: Array) -> Array:
    """Return the penalised mean loss of each target; infinite where an observation overflows."""
    total, limit = np.zeros(theta.shape[1]), free_swing(design.n_rows)
    with np.errstate(all="ignore"):
        for block in design.blocks():
            A, s, m = shape.predictors(theta, block.Z)
            e = residuals(shape.form, block.Y, A, s, m)
            total += _excess_loss(s, theta[shape.width], limit)
            total += 0.5 * (np.einsum("ij,ij->i", e, e) - s.sum(axis=1))
        total = total / design.n_rows + 0.5 * (ridge * theta * theta).sum(axis=0)
    return np.where(np.isfinite(total), total, np.inf)


def derivatives(
    design: Regression, shape: Coefficients, theta: Array, ridge: Array, observed: Array, active: Index
) -> tuple[Array, Array, Array]:
    """Return objective (m,), gradient (size, m) and information (m, size, size) of the active targets.

    `observed` (m,) is 1 for the observed and 0 for the expected information.
    """
    with np.errstate(all="ignore"):
        n = design.n_rows
        state = _accumulate(design.blocks(active), design, shape, theta, observed)
        state.objective = state.objective / n + 0.5 * (ridge * theta * theta).sum(axis=0)
    state.gradient = state.gradient / n + ridge * theta
    state.information /= n
    # A point whose derivatives overflow is as bad as one whose objective does: the step is refused.
    finite = np.isfinite(state.information).all(axis=(1, 2)) & np.isfinite(state.gradient).all(axis=0)
    state.objective[~(finite & np.isfinite(state.objective))] = np.inf
    diagonal = np.arange(shape.size)
    state.information[:, diagonal, diagonal] += ridge.T
    return state.objective, state.gradient, state.information


def _accumulate(
    blocks: Iterable[Block], design: Regression, shape: Coefficients, theta: Array, observed: Array
) -> _State:
    k, p = theta.shape[1], shape.width
    stacked = 3 if shape.form == "natural" else 2
    loss, first = np.zeros(k), np.zeros((stacked * k, p))
    second = np.zeros((3 * k, design.n_products))
    barrier = _Barrier(free_swing(design.n_rows), np.zeros(k), np.zeros((p, k)), np.zeros((k, p, p)))
    slope, corner, column_sums = np.zeros(k), np.zeros(k), np.zeros((k, p))
    for block in blocks:
        terms = row_terms(shape, theta, block, observed[:, None])
        loss += terms.loss.sum(axis=1)
        barrier.add(terms.s - theta[p][:, None], block, design.symmetric)
        first += block.sums(terms.first).reshape(stacked * k, p)
        second += block.weigh(terms.second).reshape(3 * k, design.n_products)
        if terms.m is not None and terms.mm is not None:
            slope += terms.m.sum(axis=1)
            corner += terms.mm.sum(axis=1)
            column_sums += block.Z.sum(axis=-1)
    gradient, information = _assemble(first, second, design, shape)
    if shape.form == "natural":
        gradient[2 * p] = -slope
        information[:, :p, 2 * p] = information[:, 2 * p, :p] = column_sums
        information[:, p : 2 * p, 2 * p] = information[:, 2 * p, p : 2 * p] = first[2 * k :]
        information[:, 2 * p, 2 * p] = corner
    gradient[p : 2 * p] += barrier.gradient
    information[:, p : 2 * p, p : 2 * p] += barrier.information
    return _State(0.5 * loss + barrier.loss, gradient, information)


def row_terms(shape: Coefficients, theta: Array, block: Block, observed: Array) -> RowTerms:
    """Return what every row of a block contributes at `theta`; `observed` is (targets, 1)."""
    A, s, m = shape.predictors(theta, block.Z)
    if shape.form == "natural":
        return natural_terms(block.Y, A, s, np.asarray(m), observed)
    return location_scale_terms(block.Y, A, s, observed)


def row_scores(shape: Coefficients, theta: Array, block: Block) -> tuple[Array, Array]:
    """Return the derivatives of the rows' losses by `A` and `s`, and their expected squares.

    Both have shape (2, targets, observations).
    """
    terms = row_terms(shape, theta, block, np.zeros((theta.shape[1], 1)))
    return terms.first[:2], terms.second[[0, 2]]


def row_losses(shape: Coefficients, theta: Array, block: Block) -> Array:
    """Return the rows' losses (targets, observations); all targets are the block's only one, or one each."""
    A, s, m = shape.predictors(theta, block.Z)
    e = residuals(shape.form, block.Y, A, s, m)
    return 0.5 * (e * e - s)


def _assemble(first: Array, second: Array, design: Regression, shape: Coefficients) -> tuple[Array, Array]:
    """Spread the sums over columns and over products of columns into a gradient and a matrix per target."""
    p, k = shape.width, len(second) // 3
    gradient = np.empty((shape.size, k))
    gradient[:p], gradient[p : 2 * p] = first[:k].T, first[k : 2 * k].T
    information = np.empty((k, shape.size, shape.size))
    AA, As, ss = (second[i * k : (i + 1) * k][:, design.symmetric] for i in range(3))
    information[:, :p, :p], information[:, p : 2 * p, p : 2 * p] = AA, ss
    information[:, :p, p : 2 * p] = information[:, p : 2 * p, :p] = As
    return gradient, information


def minimize(
    design: Regression,
    shape: Coefficients,
    start: Array,
    ridge: Array,
    free: Mask | None = None,
    max_iterations: int = MAX_ITERATIONS,
    tolerance: float = GAIN_TOLERANCE,
) -> Solution:
    """Minimise every target's objective from its own starting point.

    Parameters
    ----------
    design : Design
        Regressors and targets.
    shape : Coefficients
        Form and width.
    start : (size, m) starting points; entries that are not free are taken as they are.
    ridge : (size, 1) or (size, m) ridge per coefficient.
    free : (size, m) bool, optional
        Coefficients that may move; all of them by default.
    max_iterations : int
        Limit on the steps tried.
    tolerance : float
        Predicted gain at which a target has converged.
    """
    return _Minimizer(design, shape, start, ridge, free, tolerance).run(max_iterations)


class _Minimizer:
    """The loop of `minimize`: arrays of the active targets, written back as targets finish."""

    def __init__(
        self,
        design: Regression,
        shape: Coefficients,
        start: Array,
        ridge: Array,
        free: Mask | None,
        tolerance: float,
    ) -> None:
        m = start.shape[1]
        self.design, self.shape, self.ridge, self.tolerance = design, shape, ridge, tolerance
        self.free = free
        information = np.zeros((m, shape.size, shape.size))
        self.result = Solution(start.copy(), np.full(m, np.inf), np.zeros(m, bool), np.zeros(m, int), information)
        self.active = np.arange(m)
        self.theta = start.copy()
        self.damping = np.full(m, _DAMPING_START)
        self.stride = np.ones(m)
        self.newton = np.zeros(m, bool)
        self.state = self._evaluate(self.theta, self.active, self.newton)

    def run(self, max_iterations: int) -> Solution:
        for _ in range(max_iterations):
            if not len(self.active):
                break
            self._iterate()
        self._write_back(np.ones(len(self.active), bool))
        return self.result

    def _evaluate(self, theta: Array, active: Index, newton: Mask) -> _State:
        ridge = self.ridge if self.ridge.shape[1] == 1 else self.ridge[:, active]
        return _State(*derivatives(self.design, self.shape, theta, ridge, newton.astype(float), active))

    def _try(self, trial: Array, newton: Mask) -> _State:
        return self._evaluate(trial, self.active, newton)

    def _iterate(self) -> None:
        step, gain, saddle = self._propose()
        trial = self.theta + step
        newton_next = self.newton | (gain < NEWTON_BELOW)
        found = self._try(trial, newton_next)
        # At the optimum the objective cannot fall any more: rounding decides the sign of the actual gain.
        noise = 1e-14 * (1.0 + np.abs(self.state.objective))
        accepted = found.objective <= self.state.objective + noise
        with np.errstate(all="ignore"):
            ratio = (self.state.objective - found.objective) / np.maximum(gain, 1e-300)
        self.theta[:, accepted] = trial[:, accepted]
        self.state.put(accepted, found, accepted)
        self.newton = np.where(accepted, newton_next, self.newton)
        shrink = np.where(ratio > 0.75, 0.1, np.where(ratio < 0.25, 4.0, 1.0))
        self.damping = np.maximum(self.damping * np.where(accepted, shrink, 8.0), _DAMPING_LOW)
        self.stride = np.where(saddle & accepted & (ratio > 0.75), 2.0 * self.stride, 1.0)
        self.result.iterations[self.active] += 1
        done = self._settled(accepted, gain)
        stuck = ~accepted & (self.damping > _DAMPING_HIGH)
        self.result.converged[self.active[done]] = True
        if (finished := done | stuck).any():
            self._write_back(finished)

    def _settled(self, accepted: Mask, gain: Array) -> Mask:
        """Return which targets are at their optimum; `core.smoothing` moves the ridge first."""
        return accepted & (gain < self.tolerance)

    def _propose(self) -> tuple[Array, Array, Mask]:
        """Return every active target's step, the fall it predicts, and whether the target is near a saddle."""
        if self.free is None and self.shape.size <= _SMALL:
            return self._propose_together()
        k = len(self.active)
        step, gain, saddle = np.zeros((self.shape.size, k)), np.zeros(k), np.zeros(k, bool)
        for i, target in enumerate(self.active):
            matrix, gradient = self.state.information[i], self.state.gradient[:, i]
            moving = np.arange(self.shape.size)
            if self.free is not None:
                moving = np.flatnonzero(self.free[:, target])
                matrix = matrix[np.ix_(moving, moving)]
            step[moving, i], gain[i], saddle[i] = damped_step(
                matrix, gradient[moving], self.damping[i], self.stride[i]
            )
            if (overshoot := abs(step[self.shape.width, i]) / _LONGEST_MOVE) > 1.0:
                step[:, i] /= overshoot
                moved = step[moving, i]
                gain[i] = -(gradient[moving] @ moved) - 0.5 * moved @ (matrix @ moved)
        return step, gain, saddle

    def _propose_together(self) -> tuple[Array, Array, Mask]:
        """Do the same for all active targets in one go; worth it for small matrices."""
        matrix, gradient = self.state.information, self.state.gradient.T
        step, saddle = damped_steps(matrix, gradient, self.damping, self.stride)
        step /= np.maximum(np.abs(step[:, self.shape.width]) / _LONGEST_MOVE, 1.0)[:, None]
        gain = -np.einsum("ki,ki->k", gradient, step) - 0.5 * np.einsum("ki,kij,kj->k", step, matrix, step)
        return step.T, gain, saddle

    def _write_back(self, finished: Mask) -> None:
        where = self.active[finished]
        self.result.theta[:, where] = self.theta[:, finished]
        self.result.objective[where] = self.state.objective[finished]
        self.result.information[where] = self.state.information[finished]
        rest = ~finished
        self.active, self.theta = self.active[rest], self.theta[:, rest]
        self.damping, self.newton, self.stride = self.damping[rest], self.newton[rest], self.stride[rest]
        self.state = self.state.keep(rest)
