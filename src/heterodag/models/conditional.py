"""Algorithm 1: the conditional Gaussian of each target given its predecessors, and its latents `U`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from heterodag.core.design import Design
from heterodag.core.gaussian import FORMS, Array, Mask
from heterodag.core.solver import Coefficients, Solution, minimize, objective
from heterodag.core.starts import constant_start, least_squares_starts
from heterodag.core.table import Table
from heterodag.errors import check_choice
from heterodag.models.fitted import Conditionals, Fitted
from heterodag.models.mlp import NeuralConditionals, fit_networks
from heterodag.models.spline import fit_splines

__all__ = ["PARAMETRIZATIONS", "TEST_RIDGE", "ConditionalModel", "Conditionals", "Fitted", "extend", "order_ridge"]

PARAMETRIZATIONS = ("linear", "spline", "mlp")

#: Ridge strength (prior precision of a coefficient in standardised units; divided by n it becomes the ridge) for
#: likelihoods that are compared with each other. A strong ridge biases them: true coefficients can exceed 100.
TEST_RIDGE = 1e-3


def order_ridge(n: int) -> float:
    """Return the ridge strength for the order: 0.3 at 500 rows, falling with the square root of the rows.

    Between 0.1 and 1 the order hardly changes and a stronger ridge is faster; fewer rows preferred the stronger and
    more rows the weaker end in simulations with seeds below 1000.
    """
    return 0.3 * float(np.sqrt(500.0 / n))


#: Fits on more rows than this start from a fit on every eighth row (and so on downwards).
_COARSE_ROWS = 5000
_COARSE_STEP = 8
_COARSE_TOLERANCE = 1e-5


@dataclass(frozen=True)
class ConditionalModel:
    """Which conditional Gaussian to fit.

    Attributes
    ----------
    parametrization, form : how the parameters depend on the predecessors, and which parameters.
    ridge : strength of the vanishing ridge (not for "mlp").
    hidden, seed : hidden units and seed of "mlp".
    """

    parametrization: str = "linear"
    form: str = "natural"
    ridge: float = TEST_RIDGE
    hidden: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("parametrization", self.parametrization, PARAMETRIZATIONS)
        check_choice("form", self.form, FORMS)

    def fit(
        self,
        table: Table,
        predecessors: Sequence[int],
        targets: Sequence[int],
        *,
        warm: Array | None = None,
        free: Mask | None = None,
        thorough: bool = False,
    ) -> Fitted:
        """Fit every target given the same predecessors by penalised maximum likelihood.

        Parameters
        ----------
        table : Table
            Standardised data.
        predecessors, targets : sequences of column indices
            `targets` may repeat a column, to fit it under several restrictions at once.
        warm : (size, m) array, optional
            Starting points; the constant model otherwise. Linear parametrisation only.
        free : (size, m) bool array, optional
            Coefficients that may move; the others stay at zero. Linear parametrisation only.
        thorough : bool
            Also start from least squares and from log squared residuals, and keep the best optimum found. The
            order by W gains nothing from it; likelihoods that are compared with each other do.
        """
        if self.parametrization == "spline":
            return fit_splines(self._lines(), table, predecessors, targets, thorough=thorough)
        if self.parametrization == "mlp":
            return fit_networks(self.form, self.hidden, self.seed, table, predecessors, targets)
        return self.fit_lines(table, predecessors, targets, warm, free, thorough)

    def _lines(self) -> ConditionalModel:
        return replace(self, parametrization="linear")

    def fit_lines(
        self,
        table: Table,
        predecessors: Sequence[int],
        targets: Sequence[int],
        warm: Array | None = None,
        free: Mask | None = None,
        thorough: bool = False,
    ) -> Conditionals:
        """Fit the linear parametrisation; parameters as in `fit`."""
        design = Design(table, tuple(predecessors), tuple(targets))
        shape = Coefficients(self.form, design.width)
        start = constant_start(shape, len(targets)) if warm is None else warm
        solve = self._solve_from_all if thorough and len(predecessors) else self._solve
        solution = solve(design, shape, start, free)
        return Conditionals(
            self.form,
            tuple(predecessors),
            tuple(targets),
            solution.theta,
            solution.objective,
            solution.converged,
        )

    def proceed(self, table: Table, previous: Fitted, predecessors: Sequence[int], targets: Sequence[int]) -> Fitted:
        """Fit again when predecessors have been added to the end: `previous` holds the fits before that."""
        if isinstance(previous, NeuralConditionals):
            return fit_networks(self.form, self.hidden, self.seed, table, predecessors, targets, previous)
        assert isinstance(previous, Conditionals)
        if self.parametrization == "spline":
            return fit_splines(self._lines(), table, predecessors, targets, previous)
        kept = [previous.targets.index(i) for i in targets]
        warm = extend(previous.theta[:, kept], self.form, len(predecessors) - len(previous.predecessors))
        return self.fit(table, predecessors, targets, warm=warm)

    def _solve(self, design: Design, shape: Coefficients, start: Array, free: Mask | None) -> Solution:
        """Minimise from `start`, on a coarse sample of the rows first when there are many."""
        if design.n_rows > _COARSE_ROWS * 2:
            coarse = self._solve_coarse(design.thin(_COARSE_STEP), shape, start, free)
            start = self._better(design, shape, start, coarse)
        return minimize(design, shape, start, self._penalty(design, shape), free)

    def _solve_coarse(self, design: Design, shape: Coefficients, start: Array, free: Mask | None) -> Array:
        if design.n_rows > _COARSE_ROWS * 2:
            start = self._solve_coarse(design.thin(_COARSE_STEP), shape, start, free)
        ridge = self._penalty(design, shape)
        return minimize(design, shape, start, ridge, free, tolerance=_COARSE_TOLERANCE).theta

    def _penalty(self, design: Design, shape: Coefficients) -> Array:
        return shape.ridge(self.ridge / design.n_rows)

    def _better(self, design: Design, shape: Coefficients, one: Array, other: Array) -> Array:
        ridge = self._penalty(design, shape)
        first, second = (objective(design, shape, theta, ridge) for theta in (one, other))
        return np.where(second < first, other, one)

    def _solve_from_all(self, design: Design, shape: Coefficients, start: Array, free: Mask | None) -> Solution:
        """Minimise from `start` and from the least-squares starts in one batch; keep the best of each target."""
        m, starts = len(design.targets), [start, *least_squares_starts(design, shape)]
        batch = Design(design.table, design.predecessors, tuple(design.targets) * len(starts))
        theta, freedom = np.hstack(starts), None
        if free is not None:
            freedom = np.tile(free, len(starts))
            theta = np.where(freedom, theta, 0.0)
        found = self._solve(batch, shape, theta, freedom)
        best = found.objective.reshape(len(starts), m).argmin(axis=0) * m + np.arange(m)
        return found.take(best)


def extend(theta: Array, form: str, added: int) -> Array:
    """Return `theta` with zeros for `added` new predecessors: the warm start of the next round."""
    natural = form == "natural"
    p = (len(theta) - natural) // 2
    zeros = np.zeros((added, theta.shape[1]))
    return np.concatenate([theta[:p], zeros, theta[p : 2 * p], zeros, theta[2 * p :]])
