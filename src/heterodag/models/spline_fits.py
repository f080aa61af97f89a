"""Remembered fits with splines: the same questions as `node_fits`, asked of additive models with curves.

The loss of a model is its penalised loss plus half of ln n for every effective coefficient that its curves spend; lines are
paid for by the price per parent. New parents are screened by the scores of their lines and of their curves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.core.solver import derivatives, row_scores
from heterodag.core.table import Table
from heterodag.models.conditional import ConditionalModel, Conditionals, Fitted
from heterodag.models.node_fits import Key, NodeFit, NodeFits
from heterodag.models.spline import SplineDesign, basis_columns, fit_splines, spline_of

#: A curve's score counts from this many standard deviations above chance, so many nats for each.
_CHANCE, _NATS_PER_DEVIATION = 2.0, 2.0


class SplineFits(NodeFits):
    """Fits of the variables of one table by splines, made on demand."""

    def __init__(self, table: Table, form: str, strength: float, workers: int = 1) -> None:
        super().__init__(table, form, strength, workers=workers)
        self._models: dict[Key, Conditionals] = {}

    def losses(self, keys: Iterable[Key], squares: bool = True) -> list[float]:
        """Return the loss of every variable given its parents, fitting what is not known yet."""
        keys = list(keys)
        missing = [key for key in dict.fromkeys(keys) if key not in self.known]
        jobs = [(self.table, self.form, self.strength, key) for key in missing]
        for key, (fit, model) in zip(missing, self._map(fit_curves, jobs), strict=True):
            self.known[key], self._models[key] = fit, model
        return [self.known[key].loss for key in keys]

    def prepare_gains(self, keys: Iterable[Key]) -> None:
        """Make the score tests of several models."""
        missing = [key for key in dict.fromkeys(keys) if key not in self._wanted]
        self.losses(missing)
        for key in missing:
            self._wanted[key] = self._gains_of(key)

    def polish(self, keys: Iterable[Key]) -> None:
        """Do nothing: fits with splines are not cut short."""

    def latents(self, keys: Sequence[Key]) -> Iterator[tuple[slice, Array]]:
        """Yield blocks `(models, U)` of standardised residuals."""
        self.losses(keys)
        for at, key in enumerate(keys):
            yield slice(at, at + 1), np.concatenate([U for _, U in self._models[key].latents(self.table)])

    def _gains_of(self, key: Key) -> Array:
        """Return what lines and curves of every column promise to a model, not accounting for those it has."""
        target, parents = key
        part = _part(self._models[key], self.table)
        theta = self._models[key].theta[part.coefficients]
        slopes, squares = [], []
        for block in part.design.blocks():
            first, second = row_scores(part.shape, theta, block)
            slopes.append(first[:, 0])
            squares.append(second[:, 0])
        g, w = np.concatenate(slopes, axis=1), np.concatenate(squares, axis=1)
        every = range(self.table.shape[1])
        gains = np.array(
            [_promise(g, w, basis_columns(self.table, j), spline_of(self.table, j).roughness) for j in every]
        )
        gains[[target, *parents]] = 0.0
        return gains


def _promise(g: Array, w: Array, basis: Array, roughness: Array) -> float:
    """Return the gain (nats) that the scores of a column's line and curves promise, in both predictors."""
    u, square = g @ basis.T, basis * basis
    v = np.minimum(g**2 @ square.T, w @ square.T)
    total = float(np.sum(0.5 * u[:, 0] ** 2 / np.maximum(v[:, 0], 1e-300)))
    if basis.shape[0] > 1:
        weights = 1.0 / roughness[1:]
        spread = np.sqrt(2.0 * v[:, 1:] ** 2 @ weights**2)
        deviations = ((u[:, 1:] ** 2 - v[:, 1:]) @ weights) / np.maximum(spread, 1e-300)
        total += float(np.sum(_NATS_PER_DEVIATION * np.maximum(deviations - _CHANCE, 0.0)))
    return total


def fit_curves(table: Table, form: str, strength: float, key: Key) -> tuple[NodeFit, Conditionals]:
    """Fit one model and price its curves."""
    target, parents = key
    lines = ConditionalModel("linear", form, strength)
    model = fit_splines(lines, table, parents, [target], thorough=True)
    n = table.shape[0]
    loss = n * float(model.objective[0]) + _price(model, table)
    return NodeFit(model.theta[:, 0], loss, bool(model.converged[0]), _worth(model, table)), model


def _part(model: Conditionals, table: Table) -> SplineDesign:
    widths = np.asarray(model.widths)[:, 0].tolist()
    return SplineDesign.make(model.form, table, model.predecessors, model.targets[0], widths)


def priced_loss(models: Sequence[Fitted], table: Table) -> float:
    """Return the penalised negative log-likelihood (nats) of models of single targets, their curves priced as in BIC."""
    n = table.shape[0]
    return sum(
        n * float(model.objective[0]) + (_price(model, table) if model.strengths is not None else 0.0)
        for model in models
        if isinstance(model, Conditionals)
    )


def _price(model: Conditionals, table: Table) -> float:
    return 0.5 * float(np.log(table.shape[0])) * _effective(model, table)


def _effective(model: Conditionals, table: Table) -> float:
    """Return the effective number of coefficients of all curves of a model."""
    part, strengths = _part(model, table), np.asarray(model.strengths)[:, :, 0]
    if not part.curves:
        return 0.0
    theta = model.theta[part.coefficients]
    none, n = np.zeros((part.shape.size, 1)), table.shape[0]
    information = derivatives(part.design, part.shape, theta, none, np.zeros(1), np.zeros(1, np.intp))[2][0]
    ridge, curves = np.full(part.shape.size, 1e-10), []
    owners = [(k, side) for k in part.curves for side in (0, 1)]
    for (k, side), block in zip(owners, part.penalties(), strict=True):
        ridge[block.index] += strengths[side, k] / n * block.weights
        curves.extend(block.index.tolist())
    shares = np.linalg.solve(information + np.diag(ridge), information).diagonal()
    return float(shares[curves].sum())


def _worth(model: Conditionals, table: Table) -> Array:
    """Return what the loss rises by when a parent's coefficients become zero and the others stay."""
    basis, shape = model.basis, model.theta.shape[0]
    blocks = getattr(basis, "blocks", ())
    width = (shape - (model.form == "natural")) // 2
    every = slice(None)
    now = float(model.losses(table, every).sum())
    out = np.empty(len(blocks))
    for k, block in enumerate(blocks):
        theta = model.theta.copy()
        theta[block] = theta[slice(block.start + width, block.stop + width)] = 0.0
        out[k] = float(_with(model, theta).losses(table, every).sum()) - now
    return out


def _with(model: Conditionals, theta: Array) -> Conditionals:
    return Conditionals(
        model.form, model.predecessors, model.targets, theta, model.objective, model.converged, model.basis,
        model.strengths,
    )  # fmt: skip
