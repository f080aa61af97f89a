"""What fitted models ask of rows that are read block by block: gradients, second derivatives, residuals, score tests.

Every function reads some parts of a table, wherever it runs, and returns sums over their rows that are small whatever the
number of rows. Gradients and residuals are found from truncated powers of the columns (`core.splines.powers`), which models
share and which cost less than their bases; only second derivatives need the designs themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from heterodag.core.blocks import Blocks
from heterodag.core.densities import SHARP, raw_features
from heterodag.core.gaussian import Array
from heterodag.core.row_sums import RowTerms, gradient_of, row_terms, step_sums
from heterodag.core.solver import free_swing
from heterodag.core.splines import SplineBasis, powers
from heterodag.core.table import Table
from heterodag.scores.fit import LinearFit

#: Mean of the even bend `sqrt(1 + x^2)` of a standard normal column, and the slope of its odd bend `x / sqrt(1 + x^2)`.
_BEND_MEAN, _BEND_SLOPE = 1.3545, 0.5649


@dataclass
class Sums:
    """Sums over rows that add up, field by field."""

    loss: float
    gradient: Array

    def __iadd__(self, other: Self) -> Self:
        """Add the sums of other rows."""
        for one in fields(self):
            setattr(self, one.name, self._joined(one.name, getattr(self, one.name), getattr(other, one.name)))
        return self

    def _joined(self, name: str, mine: Any, theirs: Any) -> Any:
        return mine + theirs


@dataclass
class SecondSums(Sums):
    """Loss, gradient (size,), and observed second derivatives (size, size)."""

    second: Array


@dataclass
class EndSums(Sums):
    """What is asked of a model at the end of its fit.

    Attributes
    ----------
    features : (SHARP,) raw features of the residuals.
    least, largest : residuals.
    scores : (2, 3 d) derivatives of the loss by a line and by two bends of every column, in `A` and in `s`.
    """

    features: Array
    least: float
    largest: float
    scores: Array

    def _joined(self, name: str, mine: Any, theirs: Any) -> Any:
        return {"least": min, "largest": max}[name](mine, theirs) if name in ("least", "largest") else mine + theirs


@dataclass
class Variances(Sums):
    """Variances of the scores (2, 3 d), whatever the noise: squares of the rows' derivatives."""

    variance: Array


def promises(scores: Array, variance: Array) -> Array:
    """Return (2, d) what lines and what bends of every column promise to a model (score tests, nats)."""
    line, *bends = 0.5 * (scores**2 / np.maximum(variance, 1e-300)).sum(axis=0).reshape(3, -1)
    return np.array([line, sum(bends)])


@np.errstate(all="ignore")  # a step that leads too far overflows, and is not taken
def second_sums(blocks: Blocks, fits: Sequence[LinearFit]) -> list[SecondSums]:
    """Return what a Newton step of every model needs."""
    limit, total = free_swing(blocks.n_rows), list[SecondSums]()
    for table in blocks.tables():
        columns = _Columns(table)
        found = [
            SecondSums(*step_sums(fit.form, fit.theta, columns.design(fit), columns.X[fit.target], limit))
            for fit in fits
        ]
        total = _added(total, found)
    return total


def gradient_sums(blocks: Blocks, fits: Sequence[LinearFit]) -> list[Sums]:
    """Return loss and gradient of every model."""
    return pass_sums(blocks, fits, 0)


def end_sums(blocks: Blocks, fits: Sequence[LinearFit]) -> list[Sums]:
    """Return loss, gradient, residuals and score tests of every model (`EndSums`)."""
    return pass_sums(blocks, fits, len(fits))


@np.errstate(all="ignore")
def pass_sums(blocks: Blocks, fits: Sequence[LinearFit], ends: int) -> list[Sums]:
    """Return what `end_sums` tells of the first `ends` models, and what `gradient_sums` tells of the others."""
    models, total = [_InPowers(fit, blocks.n_rows) for fit in fits], list[Sums]()
    for table in blocks.tables():
        columns = _Columns(table)
        rows = [model.rows(columns) for model in models]
        others = [Sums(own.loss, gradient) for own, gradient in rows[ends:]]
        total = _added(total, [*_ends(columns.X, rows[:ends]), *others])
    return _with_gradients(total, models)


@np.errstate(all="ignore")
def score_variances(blocks: Blocks, fits: Sequence[LinearFit]) -> list[Variances]:
    """Return the variances of the scores of every model."""
    models, total = [_InPowers(fit, blocks.n_rows) for fit in fits], list[Variances]()
    for table in blocks.tables():
        columns = _Columns(table)
        squares = np.square(_tested(columns.X)).T
        found = list[Variances]()
        for own, gradient in (model.rows(columns) for model in models):
            found.append(Variances(own.loss, gradient, np.square([own.by_A, own.by_s]) @ squares))
        total = _added(total, found)
    return total


def _tested(X: Array) -> Array:
    """Return what score tests try (3 d, rows): the columns, their even bends and their odd ones."""
    root = np.sqrt(1.0 + X * X)
    return np.concatenate([X, root - _BEND_MEAN, X / root - _BEND_SLOPE * X])


def _ends(X: Array, rows: Sequence[tuple[RowTerms, Array]]) -> list[EndSums]:
    if not rows:
        return []
    scores = np.stack([side for own, _ in rows for side in (own.by_A, own.by_s)]) @ _tested(X).T
    return [
        EndSums(
            own.loss, gradient, raw_features(own.residuals, SHARP).sum(axis=1), float(own.residuals.min()),
            float(own.residuals.max()), scores[2 * i : 2 * i + 2],
        )
        for i, (own, gradient) in enumerate(rows)
    ]  # fmt: skip


def _added(total: list[Any], found: list[Any]) -> list[Any]:
    for mine, other in zip(total, found, strict=False):
        mine += other
    return total or found


class _Columns:
    """The standardised columns of a block of rows; models with the same curves share their basis columns or powers."""

    def __init__(self, table: Table) -> None:
        self.X = table.take(range(table.shape[1])) if table.cached is None else table.cached
        self._made: dict[tuple[Any, ...], Array] = {}

    def pieces(self, fit: LinearFit, in_powers: bool) -> list[Array]:
        """Return what every parent contributes to the design of a model, or the same in powers."""
        if not isinstance(fit.basis, SplineBasis):
            return [self.X[list(fit.parents)]]
        pieces = list[Array]()
        for j, column, width in zip(fit.parents, fit.basis.columns, fit.basis.widths, strict=True):
            key: tuple[Any, ...] = (j, column.places) if in_powers and width > 1 else (j, id(column), width)
            if key not in self._made:
                x = self.X[j]
                self._made[key] = powers(column, x, width) if in_powers else column(x, width)
            pieces.append(self._made[key])
        return pieces

    def design(self, fit: LinearFit) -> Array:
        """Return the design of a model."""
        return np.concatenate([np.ones((1, self.X.shape[1])), *self.pieces(fit, in_powers=False)])


class _InPowers:
    """A model whose coefficients are those of powers of its parents; sums over rows are found there and turned back."""

    def __init__(self, fit: LinearFit, n_rows: int) -> None:
        self.fit, self.limit, p = fit, free_swing(n_rows), fit.shape.width
        self.turns: list[Array] | None = None
        self.theta = fit.theta
        if isinstance(fit.basis, SplineBasis):
            pairs = zip(fit.basis.columns, fit.basis.widths, strict=True)
            self.turns = [np.ones((1, 1)), *(column.in_powers(width) for column, width in pairs)]
            a, b = (np.concatenate(self._by_block(side, False)) for side in (fit.theta[:p], fit.theta[p : 2 * p]))
            self.theta = np.concatenate([a, b, fit.theta[2 * p :]])

    def rows(self, columns: _Columns) -> tuple[RowTerms, Array]:
        """Return the terms of the rows and the gradient by the coefficients of powers."""
        fit, pieces = self.fit, columns.pieces(self.fit, in_powers=True)
        p = 1 + sum(map(len, pieces))
        sides, m = self.theta[: 2 * p].reshape(2, p), float(self.theta[2 * p :].sum())
        A, s = predictors = np.repeat(sides[:, :1], columns.X.shape[1], axis=1)
        first = 1
        for piece in pieces:
            predictors += sides[:, first : first + len(piece)] @ piece
            first += len(piece)
        terms = row_terms(fit.form, A, s, m, float(sides[1, 0]), columns.X[fit.target], self.limit)
        return terms, gradient_of(fit.form, terms, pieces)

    def gradient(self, in_powers: Array) -> Array:
        """Return the gradient by the coefficients of the model."""
        if self.turns is None:
            return in_powers
        p = sum(map(len, self.turns))
        a, b = (np.concatenate(self._by_block(side, True)) for side in (in_powers[:p], in_powers[p : 2 * p]))
        return np.concatenate([a, b, in_powers[2 * p :]])

    def _by_block(self, side: Array, back: bool) -> list[Array]:
        """Turn the coefficients of every block of basis columns into those of powers, or a gradient back."""
        assert self.turns is not None
        turns = [turn.T for turn in self.turns] if back else self.turns
        ends = np.cumsum([turn.shape[1] for turn in turns])[:-1]
        return [turn @ own for turn, own in zip(turns, np.split(side, ends), strict=True)]


def _with_gradients(total: list[Any], models: Sequence[_InPowers]) -> list[Any]:
    for sums, model in zip(total, models, strict=True):
        sums.gradient = model.gradient(sums.gradient)
    return total
