"""Maximum likelihood of conditional Gaussians, many targets at once (step 2 of Algorithm 1).

For each target, it minimises the mean loss of a row plus a ridge and a bound on runaway rows (`free_swing`), both of
which vanish as rows accumulate. Given the coefficients `b` of the log precision, those of the mean (`a` and `m`) are
a weighted regression with an exact solution, so the search runs over `b` alone (variable projection, Golub and
Pereyra 1973): half as many unknowns, and no crawling along the curved valley in which `a` follows `b`. The profile
objective is still not convex (the paper's concavity is in `eta1` and `eta2` themselves, not in the coefficients of
`ln(-2 eta2)`) and regressors can be extremely heavy-tailed, so the Newton steps are damped (Levenberg-Marquardt) and
lead away from saddle points. The targets share every matrix product, but each has its own damping and stops on its
own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from heterodag.core.design import Block, Regression, combine
from heterodag.core.gaussian import Array, Index, Mask, MeanTerms
from heterodag.core.layout import Coefficients
from heterodag.core.steps import damped_steps

#: A target has converged when the predicted gain in mean log-likelihood falls below this.
GAIN_TOLERANCE = 1e-9
MAX_ITERATIONS = 200
#: Mean loss of a standardised target under a constant model; starts that are worse are compared with a start at zero.
_CONSTANT = 0.5
#: Longest step in the average log precision: beyond lies a plateau of far too small precisions, with no way back.
_LONGEST_MOVE = 3.0
_DAMPING_START, _DAMPING_LOW, _DAMPING_HIGH = 1e-1, 1e-12, 1e9
#: A start is given up if it trails another start by more than this many times the gain that its next step predicts.
_BEHIND = 20.0
#: Smallest share of a mean coefficient's information that the others may leave before it counts as collinear.
_SINGULAR = 1e-11
#: Row terms are kept between the two passes of an evaluation if they hold at most this many numbers.
_KEPT = 2**20


@dataclass(frozen=True)
class Solution:
    """Fitted coefficients, one column per target.

    Attributes
    ----------
    theta : (size, m) coefficients.
    objective : (m,) minimised mean loss plus ridge term.
    converged : (m,) whether the target met the tolerance.
    iterations : (m,) steps tried.
    information : (m, size, size) second derivatives at the end.
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
    """Return how far a row's log precision may stray from the average before it is penalised.

    A row of extreme leverage could otherwise be fitted exactly with a precision that grows without bound. Beyond
    this swing, half of the squared excess is added to the loss; the swing widens with the logarithm of the number
    of rows, so the penalty vanishes as data accumulate.
    """
    return max(float(np.log(n_rows)) - 2.0, 2.0)


@dataclass
class _State:
    """The current state of the targets still being worked on, one per entry of the first axis.

    Attributes
    ----------
    b, c : coefficients of the log precision, and the best coefficients of the mean given `b`.
    objective : penalised mean loss.
    gradient, curvature : (k, p), (k, p, p) derivatives of the profile objective by `b`.
    mean, mixed, spread : second derivatives by `c`, by `c` and `b`, by `b`, per row and with the ridge.
    """

    b: Array
    c: Array
    objective: Array
    gradient: Array
    curvature: Array
    mean: Array
    mixed: Array
    spread: Array

    def arrays(self) -> tuple[Array, ...]:
        """Return all arrays, in the order of the attributes."""
        return (
            self.b, self.c, self.objective, self.gradient, self.curvature, self.mean, self.mixed, self.spread,
        )  # fmt: skip

    def put(self, where: Mask, other: _State) -> _State:
        """Return `other`, a state of the same targets, where the mask is True, and this state elsewhere."""
        if where.all():
            return other
        for mine, theirs in zip(self.arrays(), other.arrays(), strict=True):
            mine[where] = theirs[where]
        return self

    def keep(self, mask: Mask) -> _State:
        """Return the state of some targets."""
        return _State(*(array[mask] for array in self.arrays()))

    def theta(self, shape: Coefficients) -> Array:
        """Return the coefficients as columns."""
        out = np.empty((shape.size, len(self.b)))
        out[shape.spread], out[shape.mean] = self.b.T, self.c.T
        return out

    def information(self, shape: Coefficients) -> Array:
        """Return the second derivatives by all coefficients, (k, size, size)."""
        out = np.empty((len(self.b), shape.size, shape.size))
        mean = shape.mean
        out[:, shape.spread, shape.spread] = self.spread
        out[:, mean[:, None], mean] = self.mean
        out[:, mean, shape.spread] = self.mixed
        out[:, shape.spread, mean] = self.mixed.transpose(0, 2, 1)
        return out


#: The log precision of some rows and the weighted regression that it leaves; then the same with the rows themselves.
_RowTerms = tuple[Array, MeanTerms]
_Regression = tuple[Block, Array, MeanTerms]


class Objective:
    """The penalised likelihood of a design's targets as a function of `b`.

    Parameters
    ----------
    design : Regression
        Regressors and targets.
    shape : Coefficients
        Layout of the coefficients.
    ridge : (size, 1) or (size, m) ridge per coefficient.
    free : (size, m) bool, optional
        Coefficients that may differ from zero; all by default.
    """

    def __init__(self, design: Regression, shape: Coefficients, ridge: Array, free: Mask | None = None) -> None:
        self.design, self.shape, self.limit = design, shape, free_swing(design.n_rows)
        self.set_ridge(np.broadcast_to(ridge, (shape.size, len(design.targets))))
        self.free_mean = None if free is None else free[shape.mean].T
        self.free_spread = None if free is None else free[shape.spread].T

    def set_ridge(self, ridge: Array) -> None:
        """Replace the ridge by another one (size, m)."""
        self._mean_ridge, self._spread_ridge = ridge[self.shape.mean].T.copy(), ridge[self.shape.spread].T.copy()

    def __call__(self, b: Array, active: Index, observed: bool = True) -> _State:
        """Return the state of the active targets at `b` (k, p), with observed or expected second derivatives."""
        kept: list[_RowTerms] | None = [] if self.design.n_rows * len(active) <= _KEPT else None
        c, normal, inverse = self._best_mean(self._regressions(b, active, kept), active)
        k, p = b.shape
        sums = _Sums(
            np.zeros(k), np.zeros((1 + self.shape.form.locations, k, p)), np.zeros((2, k, self.design.n_products))
        )
        for regression in self._regressions(b, active, kept):
            self._add(sums, regression, b, c, observed)
        return self._state(sums, b, c, normal, inverse, active)

    def _regressions(self, b: Array, active: Index, kept: list[_RowTerms] | None) -> Iterator[_Regression]:
        """Yield the weighted regressions that `b` leaves, block by block; their terms are reused through `kept`."""
        known = iter(tuple(kept or ()))
        for block in self.design.blocks(active):
            terms = next(known, None)
            if terms is None:
                s = combine(b.T, block.Z)
                terms = s, self.shape.form.mean_terms(block.Y, s)
                if kept is not None:
                    kept.append(terms)
            yield block, *terms

    def _best_mean(self, regressions: Iterable[_Regression], active: Index) -> tuple[Array, Array, Array]:
        """Return the best coefficients of the mean, their normal matrix and its inverse, all per row."""
        k, p, n = len(active), self.shape.width, self.design.n_rows
        q = p + self.shape.form.locations
        products, normal, moment = np.zeros((k, self.design.n_products)), np.zeros((k, q, q)), np.zeros((k, q))
        for block, _, mean in regressions:
            products += block.weigh((mean.root * mean.root)[None])[0]
            moment[:, :p] += block.sums(mean.response[None])[0]
            if mean.precision is not None:
                normal[:, p, :p] += block.column_sums()
                normal[:, p, p] += mean.precision.sum(axis=1)
                moment[:, p] += np.einsum("kn,kn->k", mean.precision, block.Y)
        normal[:, :p, :p] = products[:, self.design.symmetric]
        normal[:, :p, p:] = normal[:, p:, :p].transpose(0, 2, 1)
        normal /= n
        diagonal = normal.reshape(k, -1)[:, :: q + 1]
        diagonal += self._mean_ridge[active]
        scale = 1.0 / np.sqrt(diagonal + 1e-300)
        if self.free_mean is not None:
            scale *= self.free_mean[active]
        both = scale[:, :, None] * scale[:, None, :]
        scaled = normal * both
        scaled.reshape(k, -1)[:, :: q + 1] += _SINGULAR if self.free_mean is None else _SINGULAR + (scale == 0.0)
        if not np.isfinite(scaled.sum()):
            scaled[~np.isfinite(scaled).all(axis=(1, 2))] = np.eye(q)
        inverse = np.asarray(np.linalg.inv(scaled), dtype=np.float64)
        inverse *= both
        moment /= n
        return np.matmul(inverse, moment[:, :, None])[:, :, 0], normal, inverse

    def _add(self, sums: _Sums, regression: _Regression, b: Array, c: Array, observed: bool) -> None:
        """Add a block's losses and derivatives at the coefficients `b` and `c`."""
        (block, s, mean), p = regression, self.shape.width
        A = combine(c[:, :p].T, block.Z)
        e = self.shape.form.standardized(mean, block.Y, A, c[:, p:])
        first, second = np.empty((len(sums.first), *e.shape)), np.empty((2, *e.shape))
        self.shape.form.spread_terms(mean, e, A, observed, first, second)
        sums.loss += np.einsum("kn,kn->k", e, e) - s.sum(axis=1)
        sums.first += block.sums(first)
        sums.second += block.weigh(second)
        swing = s - b[:, :1]
        if swing.size and max(swing.max(), -swing.min()) > self.limit:
            sums.hold_back(block, swing, self.limit, self.design.symmetric)

    def _state(self, sums: _Sums, b: Array, c: Array, normal: Array, inverse: Array, active: Index) -> _State:
        (k, p), n, places = b.shape, self.design.n_rows, self.design.symmetric
        ridge, on_mean = self._spread_ridge[active], self._mean_ridge[active]
        value = 0.5 * (
            sums.loss / n + np.einsum("kp,kp,kp->k", ridge, b, b) + np.einsum("kp,kp,kp->k", on_mean, c, c)
        )
        gradient = sums.first[0] / n + ridge * b
        mixed = np.empty((k, c.shape[1], p))
        mixed[:, :p] = sums.second[0][:, places]
        mixed[:, p:] = sums.first[1:].transpose(1, 0, 2)
        mixed /= n
        spread = sums.second[1][:, places] / n
        if sums.held_square is not None:
            gradient += sums.held_slope / n
            spread += sums.held_square / n
        spread.reshape(k, -1)[:, :: p + 1] += ridge
        curvature = spread - np.matmul(mixed.transpose(0, 2, 1), np.matmul(inverse, mixed))
        if self.free_spread is not None:
            free = self.free_spread[active]
            gradient = gradient * free
            curvature = curvature * (free[:, :, None] & free[:, None, :])
            curvature.reshape(k, -1)[:, :: p + 1] += ~free
        # A point whose derivatives overflow is as bad as one whose objective does: the step is refused.
        finite = np.isfinite(value + curvature.sum(axis=(1, 2)) + gradient.sum(axis=1))
        return _State(b, c, np.where(finite, value, np.inf), gradient, curvature, normal, mixed, spread)


def information(design: Regression, shape: Coefficients, theta: Array, ridge: Array) -> Array:
    """Return the expected information (m, size, size) of fitted coefficients (size, m), per row, with the ridge."""
    objective = Objective(design, shape, ridge)
    state = objective(np.ascontiguousarray(theta[shape.spread].T), np.arange(theta.shape[1]), observed=False)
    return state.information(shape)


@dataclass
class _Sums:
    """Sums over rows: twice the loss, first and second derivatives, and the bound on straying rows, if any stray."""

    loss: Array
    first: Array
    second: Array
    held_slope: Array | float = 0.0
    held_square: Array | None = None

    def hold_back(self, block: Block, swing: Array, limit: float, places: Index) -> None:
        """Add the bound on rows whose log precision strays too far (`free_swing`); the average is not penalised."""
        beyond = np.abs(swing) > limit
        excess = np.where(beyond, swing - np.copysign(limit, swing), 0.0)
        self.loss += np.einsum("kn,kn->k", excess, excess)
        slope = block.sums(excess[None])[0]
        square = block.weigh(beyond[None].astype(float))[0][:, places]
        slope[:, 0] = square[:, 0] = square[:, :, 0] = 0.0
        self.held_slope = self.held_slope + slope
        self.held_square = square if self.held_square is None else self.held_square + square


def minimize(
    design: Regression,
    shape: Coefficients,
    start: Array,
    ridge: Array,
    free: Mask | None = None,
    max_iterations: int = MAX_ITERATIONS,
    tolerance: float = GAIN_TOLERANCE,
    starts: int = 1,
) -> Solution:
    """Minimise every target's objective from its own starting point.

    Parameters
    ----------
    design : Regression
        Regressors and targets.
    shape : Coefficients
        Form and width.
    start : (p, m) starting points, the coefficients of the log precision.
    ridge : (size, 1) or (size, m) ridge per coefficient.
    free : (size, m) bool, optional
        Coefficients that may differ from zero; all of them by default.
    max_iterations : int
        Limit on the steps tried.
    tolerance : float
        Predicted gain at which a target has converged.
    starts : int
        How often the targets are repeated, each time with a different start; starts that fall behind are given up.
    """
    return Minimizer(Objective(design, shape, ridge, free), start, tolerance, starts).run(max_iterations)


class Minimizer:
    """The loop of `minimize`: the state of the active targets, written back as targets finish."""

    def __init__(self, objective: Objective, start: Array, tolerance: float, starts: int = 1) -> None:
        shape, m = objective.shape, start.shape[1]
        self.objective, self.shape, self.tolerance = objective, shape, tolerance
        self.starts, self.group = starts, np.arange(m) % max(m // starts, 1)
        self.result = Solution(
            np.zeros((shape.size, m)), np.full(m, np.inf), np.zeros(m, bool), np.zeros(m, int),
            np.zeros((m, shape.size, shape.size)),
        )  # fmt: skip
        self.active = np.arange(m)
        self.damping = np.full(m, _DAMPING_START)
        b = start.T.copy() if objective.free_spread is None else start.T * objective.free_spread
        with np.errstate(all="ignore"):
            self.state = objective(b, self.active)
            if not (self.state.objective <= _CONSTANT).all():  # a start found on other rows can be worse than zeros
                plain = objective(np.zeros_like(b), self.active)
                self.state = self.state.put(~(self.state.objective <= np.maximum(plain.objective, _CONSTANT)), plain)

    def run(self, max_iterations: int) -> Solution:
        """Step until all targets have finished or `max_iterations` is reached."""
        with np.errstate(all="ignore"):
            return self._run(max_iterations)

    def _run(self, max_iterations: int) -> Solution:
        for _ in range(max_iterations):
            step, gain = self._propose()
            settled = self._settled(gain)
            self.result.converged[self.active[settled]] = True
            finished = settled | (self.damping > _DAMPING_HIGH)
            if self.starts > 1:
                finished |= self._behind(gain)
            if finished.any():
                self._write_back(finished)
                step, gain = step[~finished], gain[~finished]
            if not len(self.active):
                return self.result
            self._step(step, gain)
        self._write_back(np.ones(len(self.active), bool))
        return self.result

    def _propose(self) -> tuple[Array, Array]:
        """Return every active target's step and the fall of the objective that it predicts."""
        state = self.state
        step = damped_steps(state.curvature, state.gradient, self.damping)
        step /= np.maximum(np.abs(step[:, 0]) / _LONGEST_MOVE, 1.0)[:, None]
        bend = np.matmul(state.curvature, step[:, :, None])[:, :, 0]
        return step, -np.einsum("ki,ki->k", state.gradient + 0.5 * bend, step)

    def _settled(self, gain: Array) -> Mask:
        """Return which targets are at their optimum; `core.smoothing` moves the ridge first."""
        return np.asarray(gain < self.tolerance)

    def _behind(self, gain: Array) -> Mask:
        """Return which starts are too far behind another start of the same target to overtake it."""
        group, value = self.group[self.active], self.state.objective
        best = np.full(len(self.group), np.inf)
        np.minimum.at(best, self.group, self.result.objective)
        np.minimum.at(best, group, value)
        return np.asarray(value - _BEHIND * np.maximum(gain, self.tolerance) > best[group])

    def _step(self, step: Array, gain: Array) -> None:
        found, before = self.objective(self.state.b + step, self.active), self.state.objective
        # At the optimum the objective cannot fall any more: rounding decides the sign of the actual gain.
        accepted = found.objective <= before + 1e-14 * (1.0 + np.abs(before))
        ratio = (before - found.objective) / np.maximum(gain, 1e-300)
        self.state = self.state.put(accepted, found)
        factor = np.where(ratio > 0.75, 0.1, np.where(ratio < 0.25, 4.0, 1.0))
        self.damping = np.maximum(self.damping * np.where(accepted, factor, 8.0), _DAMPING_LOW)
        self.result.iterations[self.active] += 1

    def _write_back(self, finished: Mask) -> None:
        where, done, rest = self.active[finished], self.state.keep(finished), ~finished
        self.result.theta[:, where] = done.theta(self.shape)
        self.result.objective[where] = done.objective
        self.result.information[where] = done.information(self.shape)
        self.active, self.state, self.damping = self.active[rest], self.state.keep(rest), self.damping[rest]
