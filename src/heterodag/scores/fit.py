"""The fitted model of one variable given its parents, and what every kind of it can be asked."""

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
from heterodag.core.table import Table, row_slices

#: Probabilities are held this far from 0 and 1 before they become normal numbers.
_TINY = 1e-12
#: Columns, in increasing order.
Parents = tuple[int, ...]
#: A variable and its parents: the name of a model.
Key = tuple[int, Parents]


class Effort(IntEnum):
    """How hard a fit tries. What was fitted with less is fitted again, from there, when more is asked for."""

    #: From one start; as accurate as a normality statistic can see.
    ROUND = 0
    #: From several starts; as accurate as comparisons of orders need.
    SEARCH = 1
    #: The same, and on until it has converged.
    FINAL = 2


@dataclass(frozen=True, eq=False)
class Fit(ABC):
    """The fitted model of one variable.

    Attributes
    ----------
    form : of its predictors.
    target, parents : columns of the table.
    loss : penalised negative log-likelihood over all rows (nats, without constants), curves priced.
    converged : whether the optimum was reached.
    contributions : about how much loss each parent takes away (nats).
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
        """Return the residuals as standard normal numbers, if the noise is as the density says; (n,)."""
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
    theta : (size,) coefficients in standardised units, as `core.layout.Coefficients` lays them out.
    basis : the design of standardised parents; `linear_basis`, or their splines.
    strengths : (2, parents) penalty strengths of each parent's curves in `A` and in `s`, infinite where there are
        none; None if all are lines.
    edf : (2, parents) effective coefficients of each parent's curves in `A` and in `s`; None if that is not known.
    spread_gain : about how much loss the effects on the spread take away (nats, Wald); infinite if that is not known.
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
