"""Lines: both predictors are linear in the parents (the paper's linear parametrisation).

Models are fitted in batches that share every matrix product: with one design if they have the same parents, as in the
rounds of Algorithm 2, otherwise with one design per model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from heterodag.core.design import Design
from heterodag.core.gaussian import Array, Form
from heterodag.core.layout import Coefficients
from heterodag.core.parents import ParentDesign
from heterodag.core.score_test import entry_gains
from heterodag.core.solver import MAX_ITERATIONS, minimize
from heterodag.core.starts import log_squares_start
from heterodag.core.table import Table, row_slices
from heterodag.core.wald import wald_gains
from heterodag.scores.drop_one import DropOne, drop_lines
from heterodag.scores.fit import Effort, Fit, Key, LinearFit, Parents
from heterodag.scores.ridge import ridge_strength

#: A fit has converged when its next step predicts a smaller gain in log-likelihood than this (nats, all rows
#: together).
ACCURACY = {Effort.ROUND: 0.1, Effort.SEARCH: 0.1, Effort.FINAL: 0.03}
#: Most steps of a fit.
_STEPS = {Effort.ROUND: 40, Effort.SEARCH: 40, Effort.FINAL: MAX_ITERATIONS}
#: Designs of one batch together hold at most this many numbers.
_BATCH_FLOATS = 2**20
_SMALL_BATCH = 2**16


@dataclass(frozen=True)
class LineFitter:
    """Fits straight lines; has the fitter interface that `LocalScores` uses."""

    form: Form
    #: Whether orders can be refined with these models: they have gains, and losses that can be compared.
    comparable = True
    estimates = True

    def batches(self, table: Table, keys: Iterable[Key]) -> Iterator[list[Key]]:
        """Cut models into batches of bounded memory."""
        n = table.shape[0]
        return cut(keys, lambda parents: (len(parents) + 2) * (len(parents) + 3) * n)

    def fit(self, table: Table, keys: Sequence[Key], starts: Sequence[Fit | None], effort: Effort) -> list[Fit]:
        """Fit models from their starts; if these know no parents, also from a regression of log squared residuals."""
        targets, parents = [j for j, _ in keys], [some for _, some in keys]
        shape, n = Coefficients(self.form, 1 + max(map(len, parents))), table.shape[0]
        b, copies = np.zeros((shape.width, len(keys))), 1
        for i, (key, start) in enumerate(zip(keys, starts, strict=True)):
            if isinstance(start, LinearFit):
                b[_places(start.parents, key[1]), i] = start.theta[start.shape.spread]
        if effort > Effort.ROUND and not all(map(_has_start, keys, starts)):
            copies = 2
            b = np.hstack([b, log_squares_start(_design(table, parents, targets))])
        found = minimize(
            _design(table, parents * copies, targets * copies), shape, b, shape.ridge(ridge_strength(n) / n),
            max_iterations=_STEPS[effort], tolerance=ACCURACY[effort] / n, starts=copies,
        )  # fmt: skip
        found = found.take(found.objective.reshape(copies, -1).argmin(axis=0) * len(keys) + np.arange(len(keys)))
        own = [shape.of_rows(slice(k, k + 1)) for k in range(1, shape.width)]
        contributions = n * wald_gains(found.information, found.theta.T, own)
        spread = [np.arange(shape.width + 1, 2 * shape.width)] if shape.width > 1 else []
        moved = n * wald_gains(found.information, found.theta.T, spread).sum(axis=1)
        return [
            LinearFit(
                self.form, target, some, n * float(found.objective[i]), bool(found.converged[i]),
                contributions[i, : len(some)], effort, found.theta[shape.embed(np.arange(len(some) + 1)), i],
                spread_gain=float(moved[i]),
            )
            for i, (target, some) in enumerate(keys)
        ]  # fmt: skip

    def gains(self, table: Table, fits: Sequence[Fit]) -> Array:
        """Return (models, d): the gain that the score test of every column promises."""
        theta, _ = stacked(fits)
        targets, parents = [fit.target for fit in fits], [fit.parents for fit in fits]
        return entry_gains(
            table, self.form, targets, parents, theta, range(table.shape[1]), ridge_strength(table.shape[0])
        )

    def gain_batches(self, table: Table, keys: Iterable[Key]) -> Iterator[list[Key]]:
        """Cut models into batches for `gains`."""
        return cut(keys, lambda parents: (2 * len(parents) + 3) * 2 * table.shape[1])

    def residuals(self, table: Table, fits: Sequence[Fit]) -> Array:
        """Return the standardised residuals (models, n)."""
        targets, parents = [fit.target for fit in fits], [fit.parents for fit in fits]
        theta, shape = stacked(fits)
        design, U = _design(table, parents, targets), np.empty((len(fits), table.shape[0]))
        for rows in row_slices(table.shape[0], (shape.width + 6) * len(fits)):
            U[:, rows] = self.form.residuals(
                table.take(targets, rows), *shape.predictors(theta, design.regressors(rows))
            )
        return U

    def without(self, table: Table, key: Key, tested: Sequence[int]) -> DropOne:
        """Test, one at a time, the parents numbered `tested` of a model."""
        return drop_lines(self.form, table, key, tested)


def _has_start(key: Key, start: Fit | None) -> bool:
    """Return whether a model has parents and a start that knows some of them: then it needs no other start."""
    return not key[1] or (start is not None and len(start.parents) > 0)


def _design(table: Table, parents: Sequence[Parents], targets: Sequence[int]) -> Design | ParentDesign:
    if len(set(parents)) == 1:
        return Design(table, parents[0], tuple(targets))
    return ParentDesign(table, parents, targets)


def stacked(fits: Sequence[Fit]) -> tuple[Array, Coefficients]:
    """Return the coefficients of several models as the columns of one array, and their layout."""
    shape = Coefficients(fits[0].form, 1 + max(len(fit.parents) for fit in fits))
    theta = np.zeros((shape.size, len(fits)))
    for i, fit in enumerate(fits):
        assert isinstance(fit, LinearFit)
        theta[shape.embed(np.arange(len(fit.parents) + 1)), i] = fit.theta
    return theta, shape


def _places(some: Parents, among: Parents) -> list[int]:
    """Return the positions of the intercept and the slopes of some parents among those of more parents."""
    return [0, *(among.index(j) + 1 for j in some)]


def cut(keys: Iterable[Key], floats: Callable[[Parents], int]) -> Iterator[list[Key]]:
    """Cut models into batches of bounded memory; a large batch does not mix models of very different sizes."""
    batch: list[Key] = []
    for key in sorted(keys, key=lambda key: len(key[1])):
        if batch:
            padded, first = (len(batch) + 1) * floats(key[1]), floats(batch[0][1])
            if padded > _BATCH_FLOATS or (floats(key[1]) > 2 * first and len(batch) * first > _SMALL_BATCH):
                yield batch
                batch = []
        batch.append(key)
    if batch:
        yield batch
