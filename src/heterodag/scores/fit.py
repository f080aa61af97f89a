"""The fitted model of one variable given its parents, and the interface that all kinds of models share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from scipy.special import ndtri

from heterodag.core.densities import LOG_ROOT_2PI, Density
from heterodag.core.design import Basis, Design, linear_basis
from heterodag.core.gaussian import Array, Form
from heterodag.core.layout import Coefficients
from heterodag.core.owned import OwnArrays
from heterodag.core.table import Table, row_slices

#: Probabilities are kept this far from 0 and 1 before they become normal numbers.
_TINY = 1e-12
#: Columns, in increasing order.
Parents = tuple[int, ...]
#: A variable and its parents: the name of a model.
Key = tuple[int, Parents]


class Effort(IntEnum):
    """How hard a fit tries. If more is needed later, fitting continues from the earlier result."""

    #: From one start; accurate enough for a normality statistic.
    ROUND = 0
    #: From several starts; accurate enough to compare orders.
    SEARCH = 1
    #: As `SEARCH`, but until it has converged.
    FINAL = 2


@dataclass(frozen=True, eq=False)
class Fit(OwnArrays, ABC):
    """The fitted model of one variable.

    Attributes
    ----------
    form : the form of its predictors.
    target, parents : columns of the table.
    loss : penalised negative log-likelihood over all rows (nats, without constants), including the price of curves.
    converged : whether the optimum was reached.
    contributions : approximately how much each parent lowers the loss (nats).
    effort : how hard the fit tried.
    noise : density of the residuals; None if it is the normal one.
    """

    form: Form
    target: int
    parents: Parents
    loss: float
    converged: bool
    contributions: Array
    effort: Effort
    noise: Density | None = field(default=None, kw_only=True)

    @property
    def key(self) -> Key:
        """The name of the model."""
        return self.target, self.parents

    @abstractmethod
    def predictors(self, table: Table, rows: slice) -> tuple[Array, Array, Array | float]:
        """Return `A`, `s` and `m` on some rows, each (1, rows)."""

    def residuals(self, table: Table) -> Array:
        """Return the standardised residuals `U` of Algorithm 1, (n,)."""
        U = np.empty(table.shape[0])
        for rows in row_slices(len(U), len(self.parents) + 6):
            U[rows] = self.form.residuals(table.take([self.target], rows), *self.predictors(table, rows))[0]
        return U

    def latents(self, table: Table) -> Array:
        """Return the residuals (n,), transformed to be standard normal if the density of the noise is right."""
        U = self.residuals(table)
        return U if self.noise is None else np.asarray(ndtri(np.clip(self.noise.cdf(U), _TINY, 1.0 - _TINY)))

    def losses(self, table: Table, rows: slice) -> Array:
        """Return the loss of every row: minus the log density of the standardised value, without its constant."""
        A, s, m = self.predictors(table, rows)
        e = self.form.residuals(table.take([self.target], rows), A, s, m)[0]
        normal = 0.5 * (e * e - s[0])
        return np.asarray(normal if self.noise is None else -self.noise.log_density(e) - LOG_ROOT_2PI - 0.5 * s[0])


@dataclass(frozen=True, eq=False)
class LinearFit(Fit):
    """A model whose predictors are linear in its coefficients: lines, or curves that are sums of basis columns.

    Attributes
    ----------
    theta : (size,) coefficients in standardised units, in the layout of `core.layout.Coefficients`.
    basis : from standardised parents to the design: `linear_basis`, or their splines.
    strengths : (2, parents) penalty strengths of each parent's curves in `A` and in `s`, infinite for parents without
        curves; None if all are lines.
    edf : (2, parents) effective coefficients of each parent's curves in `A` and in `s`; None if unknown.
    spread_gain : approximately how much the effects on the spread lower the loss (nats, Wald); infinite if unknown.
    """

    theta: Array
    basis: Basis = linear_basis
    strengths: Array | None = None
    edf: Array | None = None
    spread_gain: float = np.inf

    @property
    def shape(self) -> Coefficients:
        """The layout of the coefficients."""
        return Coefficients(self.form, (len(self.theta) - self.form.locations) // 2)

    def predictors(self, table: Table, rows: slice) -> tuple[Array, Array, Array | float]:
        """Return `A`, `s` and `m` on some rows."""
        design = Design(table, self.parents, (self.target,), self.basis)
        return self.shape.predictors(self.theta[:, None], design.regressors(rows))
