"""What a fit of Algorithm 1 returns: conditional Gaussians of several targets, and their latents `U`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from heterodag.core.design import Basis, Design, linear_basis
from heterodag.core.gaussian import Array, Index, Mask, residuals
from heterodag.core.solver import Coefficients
from heterodag.core.table import Table, row_slices


class Fitted(ABC):
    """Fitted conditional Gaussians of several targets given the same predecessors, however they were fitted."""

    form: str
    predecessors: tuple[int, ...]
    targets: tuple[int, ...]
    objective: Array
    converged: Mask

    @abstractmethod
    def predictors(self, table: Table, rows: slice) -> tuple[Array, Array, Array | float]:
        """Return `A`, `s` and `m` of every target on some rows."""

    @abstractmethod
    def part(self, which: slice) -> Fitted:
        """Return the fits of some of the targets."""

    def losses(self, table: Table, rows: slice) -> Array:
        """Return the loss of every target and row: minus the log density of the standardised value, no constant."""
        A, s, m = self.predictors(table, rows)
        e = residuals(self.form, table.take(self.targets, rows), A, s, m)
        return 0.5 * (e * e - s)

    def latents(self, table: Table) -> Iterator[tuple[slice, Array]]:
        """Yield blocks `(targets, U)` of standardised residuals, few enough at a time to bound memory."""
        n = table.shape[0]
        at_once = max(1, 2**22 // n)
        for start in range(0, len(self.targets), at_once):
            part = slice(start, start + at_once)
            yield part, self._latents_of(table, part)

    def _latents_of(self, table: Table, part: slice) -> Array:
        some = self.part(part)
        n = table.shape[0]
        U = np.empty((len(some.targets), n))
        for rows in row_slices(n, len(self.predecessors) + 6 * len(some.targets)):
            A, s, m = some.predictors(table, rows)
            U[:, rows] = residuals(self.form, table.take(some.targets, rows), A, s, m)
        return U


@dataclass(frozen=True)
class Conditionals(Fitted):
    """Fits by the solver: linear or splines.

    Attributes
    ----------
    form : "natural" or "location-scale".
    predecessors, targets : column indices.
    theta : (size, m) coefficients in standardised units, laid out as `core.solver.Coefficients` says.
    objective : (m,) mean loss plus ridge term, the negative penalised log-likelihood per row without constants.
    converged : (m,) bool.
    basis : the design of standardised predecessors; `linear_basis`, or the splines of the predecessors.
    strengths : (2, k, m) penalty strengths of the curves of each predecessor in `A` and in `s`, infinite where there
        are none; None in the linear parametrisation.
    widths : (k, m) basis columns of each predecessor that are in use, 1 for the line only; None if linear.
    """

    form: str
    predecessors: tuple[int, ...]
    targets: tuple[int, ...]
    theta: Array
    objective: Array
    converged: Mask
    basis: Basis = linear_basis
    strengths: Array | None = None
    widths: Index | None = None

    def predictors(self, table: Table, rows: slice) -> tuple[Array, Array, Array | float]:
        """Return `A`, `s` and `m` of every target on some rows."""
        design = Design(table, self.predecessors, self.targets, self.basis)
        return Coefficients(self.form, design.width).predictors(self.theta, design.regressors(rows))

    def part(self, which: slice) -> Conditionals:
        """Return the fits of some of the targets."""
        return replace(
            self, targets=self.targets[which], theta=self.theta[:, which], objective=self.objective[which],
            converged=self.converged[which],
            strengths=None if self.strengths is None else self.strengths[:, :, which],
            widths=None if self.widths is None else self.widths[:, which],
        )  # fmt: skip
