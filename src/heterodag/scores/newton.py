"""Models fitted on all rows of a long table, from their optimum on a sample, with sums that are made block by block.

A sample fixes what a model is: form, curves, their smoothness. It also tells the second derivatives up to a percent or so,
and its optimum is near that of all rows. So a gradient over all rows gives a step that leads there up to a nat or so; the
next pass measures loss, residuals and score tests, and the gradient that is left. Where that promises more than `ACCURACY`,
another step follows, later with second derivatives over all rows (a few rows far out can hold most of the information).
Steps that do not lower the loss are repeated with more damping.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from heterodag.core.densities import ResidualSums, orthonormal_means
from heterodag.core.gaussian import Array, Index
from heterodag.core.splines import SplineBasis
from heterodag.core.steps import damped_steps
from heterodag.core.wald import wald_gains
from heterodag.scores.block_sums import EndSums, Sums, end_sums, gradient_sums, pass_sums, second_sums
from heterodag.scores.fit import Effort, LinearFit
from heterodag.scores.noise_choice import edge_gains, with_described_noise
from heterodag.scores.ridge import ridge_strength
from heterodag.scores.spline_design import curve_penalties

#: A model is done when the gradient that is left promises less than this (nats, all rows together). That step is then taken
#: without another look at the rows: what is left after it is a fraction of a nat.
ACCURACY = 0.5
#: Steps before a model counts as not converged, and how many of them trust the second derivatives of the sample.
_STEPS, _TRUSTING = 5, 2
#: A step that promises less than this (nats) is likely the last: a sample's second derivatives are right to 1 or 2 percent.
_LIKELY_LAST = 25.0
#: Curves are judged where the next step promises less than this (nats).
_NEAR = 5.0
#: Damping of the first step, after a step that did not help, its factor after the next ones, and where a model is given up.
_NO_DAMPING, _SOME_DAMPING, _MORE_DAMPING, _MOST_DAMPING = 1e-8, 1e-2, 10.0, 1e4

#: Sums a function of parts and models over all rows.
Summed = Callable[[Callable[..., list[Any]], Sequence[LinearFit]], list[Any]]


@dataclass
class _Climb:
    """Where one model stands: loss and gradient at its coefficients, and second derivatives there or nearby."""

    fit: LinearFit
    penalty: Array
    second: Array
    here: Sums | None = None
    fresh: bool = False
    damping: float = _NO_DAMPING
    converged: bool = False
    over: bool = False

    def objective(self, sums: Sums, theta: Array) -> float:
        """Return the penalised loss."""
        return sums.loss + 0.5 * float(self.penalty @ theta**2)

    def step(self) -> tuple[Array, float]:
        """Return the next step, and the fall of the objective that it promises."""
        assert self.here is not None
        gradient = self.here.gradient + self.penalty * self.fit.theta
        step = damped_steps(self._penalised()[None], gradient[None], np.array([self.damping]))[0]
        return step, -0.5 * float(gradient @ step)

    def judge(self, moved: LinearFit, sums: Sums) -> None:
        """Take a step if it helped, and see whether another is needed."""
        assert self.here is not None
        before = self.objective(self.here, self.fit.theta)
        if not self.objective(sums, moved.theta) <= before + 1e-9 * abs(before):
            self.damping = max(_MORE_DAMPING * self.damping, _SOME_DAMPING)
            self.over = self.damping > _MOST_DAMPING
            return
        self.fit, self.here, self.fresh = moved, sums, False
        self.damping = max(self.damping / _MORE_DAMPING, _NO_DAMPING)
        self.settle()

    def settle(self) -> None:
        """See whether the next step is worth taking."""
        self.converged = self.over = self.step()[1] < ACCURACY

    def _penalised(self) -> Array:
        return np.asarray(self.second + np.diag(self.penalty))

    def effective(self) -> Array | None:
        """Return (2, parents) the effective coefficients of the curves; None if the model has lines only."""
        fit, width = self.fit, self.fit.shape.width
        if fit.edf is None or not isinstance(fit.basis, SplineBasis):
            return None
        # Each coefficient counts by the share of its information that comes from the rows.
        share = 1.0 - self.penalty * np.diag(np.linalg.pinv(self._penalised(), hermitian=True))
        own = [[share[side * width + block[1:]].sum() for block in _blocks(fit)] for side in (0, 1)]
        return np.clip(np.array(own).reshape(2, len(fit.parents)), 0.0, None)

    def last(self) -> LinearFit:
        """Return the model after a step that promises little, which is taken without another look at the rows."""
        step, promise = self.step()
        return replace(self.fit, theta=self.fit.theta + step) if promise < _NEAR else self.fit

    def ended(self, n: int) -> LinearFit:
        """Return the fitted model with its loss, priced as those of samples are, and what its parents contribute."""
        second, promise = self._penalised(), self.step()[1]
        fit = self.last()
        assert self.here is not None
        value = self.objective(self.here, self.fit.theta) - (promise if self.converged else 0.0)
        shape, blocks, edf = fit.shape, _blocks(fit), self.effective()
        price = 0.0 if edf is None else 0.5 * float(np.log(n) * edf.sum())
        groups, theta = [shape.of_rows(block) for block in blocks], fit.theta[None]
        spread = [np.arange(shape.width + 1, 2 * shape.width)] if blocks else []
        return replace(
            fit, loss=value + price, converged=self.converged, effort=Effort.FINAL,
            contributions=wald_gains(second[None], theta, groups)[0], edf=edf, noise=None,
            spread_gain=float(wald_gains(second[None], theta, spread).sum()),
        )  # fmt: skip


def fit_sample(starts: Sequence[LinearFit], summed: Summed, n: int) -> list[tuple[LinearFit, Array]]:
    """Fit models on the n rows of a sample that is in memory; return each with its second derivatives."""
    climbs = [_Climb(fit, penalty_of(fit, n), np.empty(0)) for fit in starts]
    for _ in range(_STEPS):
        _refresh(climbs, summed)
        active = [climb for climb in climbs if not climb.over]
        if not active:
            break
        _move(active, summed(gradient_sums, [_moved(climb) for climb in active]))
    return [(climb.ended(n), climb.second) for climb in climbs]


@dataclass(frozen=True)
class Start:
    """Where a model begins, and about its second derivatives over all rows there.

    An `expected` optimum comes from a model that differs by one parent. If that parent is weak, it is right to a nat or so.
    """

    fit: LinearFit
    second: Array
    expected: bool = False

    @property
    def settled(self) -> bool:
        """Whether one pass over the rows is likely enough; models without parents are at their optimum."""
        return self.expected or not self.fit.parents


def near_optimum(starts: Sequence[Start], summed: Summed, n: int) -> list[Start]:
    """Take models near the optimum of all n rows, and find out how many coefficients their curves effectively have there."""
    climbs = _begun(starts, summed, n, 0)
    _climb(climbs, summed, _NEAR, lambda climb: False)
    return [Start(replace(climb.last(), edf=climb.effective()), climb.second, expected=True) for climb in climbs]


def _climb(climbs: Sequence[_Climb], summed: Summed, enough: float, ending: Callable[[_Climb], bool]) -> None:
    """Take steps until they promise less than `enough`; models that are `ending` are measured on the way."""
    for number in range(_STEPS):
        if number >= _TRUSTING:
            _refresh([climb for climb in climbs if climb.step()[1] > enough], summed)
        active = [climb for climb in climbs if not climb.over and climb.step()[1] > enough]
        if not active:
            break
        active.sort(key=lambda climb: not ending(climb))
        ends = sum(map(ending, active))
        _move(active, summed(partial(pass_sums, ends=ends), [_moved(climb) for climb in active]))


def _begun(starts: Sequence[Start], summed: Summed, n: int, ends: int) -> list[_Climb]:
    """Look at models where they begin; the first `ends` of them may be near their optimum."""
    climbs = [_Climb(start.fit, penalty_of(start.fit, n), start.second) for start in starts]
    found = summed(partial(pass_sums, ends=ends), [climb.fit for climb in climbs]) if climbs else []
    for climb, sums in zip(climbs, found, strict=True):
        climb.here = sums
        climb.settle()
    return climbs


def fit_all_rows(
    starts: Sequence[Start], summed: Summed, n: int, noise: str, alone: dict[int, float]
) -> list[tuple[LinearFit, EndSums]]:
    """Fit models on all n rows from their starts; return each with what all rows say of it.

    `alone` holds what edges gain variables without parents (nats); those of models that are among the starts are added.
    """
    starts = sorted(starts, key=lambda start: not start.settled)
    climbs = _begun(starts, summed, n, sum(start.settled for start in starts))
    _climb(climbs, summed, ACCURACY, lambda climb: climb.step()[1] < _LIKELY_LAST)
    _measure(climbs, summed)
    return _with_noise(climbs, n, noise, alone)


def _moved(climb: _Climb) -> LinearFit:
    return replace(climb.fit, theta=climb.fit.theta + climb.step()[0])


def _move(climbs: Sequence[_Climb], sums: Sequence[Sums]) -> None:
    for climb, own in zip(climbs, sums, strict=True):
        climb.judge(_moved(climb), own)


def _refresh(climbs: Sequence[_Climb], summed: Summed) -> None:
    """Find the second derivatives where models stand that are not done and have moved."""
    moved = [climb for climb in climbs if not climb.over and not climb.fresh]
    for climb, sums in zip(moved, summed(second_sums, [climb.fit for climb in moved]) if moved else [], strict=True):
        climb.second, climb.fresh = sums.second, True
        if climb.here is None:
            climb.here = sums
        climb.settle()


def _measure(climbs: Sequence[_Climb], summed: Summed) -> None:
    """Measure the models whose last step was not known to be the last."""
    left = [climb for climb in climbs if not isinstance(climb.here, EndSums)]
    if left:
        for climb, end in zip(left, summed(end_sums, [climb.fit for climb in left]), strict=True):
            climb.here = end


def _with_noise(
    climbs: Sequence[_Climb], n: int, noise: str, alone: dict[int, float]
) -> list[tuple[LinearFit, EndSums]]:
    ends = [climb.here for climb in climbs if isinstance(climb.here, EndSums)]
    E = ResidualSums(
        orthonormal_means(np.array([end.features for end in ends]) / n),
        np.array([end.least for end in ends]), np.array([end.largest for end in ends]), n,
    )  # fmt: skip

    def described(some: Index, size: int) -> ResidualSums:
        return replace(E.take(some), features=E.features[some, :size])

    roots = np.array([k for k, climb in enumerate(climbs) if not climb.fit.parents], dtype=np.intp)
    if len(roots) and noise != "gaussian":
        gains = edge_gains(E.take(roots))
        alone |= {climbs[k].fit.target: float(gain) for k, gain in zip(roots, gains, strict=True)}
    ended = [climb.ended(n) for climb in climbs]
    fits = with_described_noise(ended, described, noise, np.arange(len(ends)), alone.__getitem__)
    return list(zip(fits, ends, strict=True))


def penalty_of(fit: LinearFit, n: int) -> Array:
    """Return the penalty of every coefficient, on the scale of sums over rows."""
    curves = curve_penalties(fit)
    return np.where(curves > 0.0, curves, fit.shape.ridge(ridge_strength(n))[:, 0])


def _blocks(fit: LinearFit) -> list[Index]:
    """Return the rows of the design that belong to every parent."""
    if isinstance(fit.basis, SplineBasis):
        return [np.arange(block.start, block.stop) for block in fit.basis.blocks]
    return [np.array([k + 1]) for k in range(len(fit.parents))]
