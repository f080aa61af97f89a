"""Conditional models of single variables given any set of parents, fitted in batches and remembered.

Orders and graphs are compared by sums of these fits' losses, and neighbouring orders share most of them, so no model is
ever fitted twice. Every fit is the better of two: from the best remembered model with one parent less, and from least
squares with constant variance: either alone misses the optimum more often.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed

from heterodag.core.gaussian import Array, residuals
from heterodag.core.parents import ParentDesign
from heterodag.core.score_test import entry_gains
from heterodag.core.solver import MAX_ITERATIONS, Coefficients, Solution, minimize
from heterodag.core.starts import constant_variance_start
from heterodag.core.table import Table, row_slices

_Result = TypeVar("_Result")
Parents = tuple[int, ...]
Key = tuple[int, Parents]

#: A fit has converged when no more than this much log-likelihood (nats, all rows together) is to be gained.
NATS = 3e-2
#: Fits of the search are cut short after so many steps; those that matter in the end are polished.
_MAX_ITERATIONS = 40
#: Designs of one batch together hold at most this many numbers.
_BATCH_FLOATS = 2**19
_SMALL_BATCH = 2**16


@dataclass(frozen=True)
class NodeFit:
    """The model of one variable.

    Attributes
    ----------
    theta : coefficients, as `core.solver.Coefficients` lays them out.
    loss : penalised loss over all rows.
    converged : bool.
    worth : what every parent contributes, by Wald's approximation (nats).
    """

    theta: Array
    loss: float
    converged: bool
    worth: Array


class NodeFits:
    """Fits of the variables of one table, made on demand. Parents are always sorted tuples.

    `strength` is that of the ridge, `nats` the accuracy, `coarse` are fits to a sample of the rows to
    start from, and `workers` is the number of processes.
    """

    def __init__(
        self,
        table: Table,
        form: str,
        strength: float,
        nats: float = NATS,
        coarse: NodeFits | None = None,
        workers: int = 1,
    ) -> None:
        self.table, self.form, self.strength, self.nats, self.workers = table, form, strength, nats, workers
        self.coarse = coarse
        self._parallel: Parallel | None = None
        self.known: dict[Key, NodeFit] = {}
        self._wanted: dict[Key, Array] = {}

    def losses(self, keys: Iterable[Key], squares: bool = True) -> list[float]:
        """Return the loss of every variable given its parents, fitting what is not known yet.

        Without `squares` the fits start from the best known smaller model only: twice as fast, less reliable.
        """
        keys = list(keys)
        n = self.table.shape[0]
        missing = [key for key in dict.fromkeys(keys) if key not in self.known]
        batches = list(_batches(missing, lambda parents: (len(parents) + 2) * (len(parents) + 3) * n))
        jobs = [
            (self.table, self.form, self.strength, self.nats, batch, self._starts(batch), squares)
            for batch in batches
        ]
        for batch, fits in zip(batches, self._map(fit_batch, jobs), strict=True):
            self.known.update(zip(batch, fits, strict=True))
        return [self.known[key].loss for key in keys]

    def polish(self, keys: Iterable[Key]) -> None:
        """Go on with models whose fit was cut short, as long as it takes."""
        n = self.table.shape[0]
        short = [key for key in dict.fromkeys(keys) if not self.known[key].converged]
        batches = list(_batches(short, lambda parents: (len(parents) + 2) * (len(parents) + 3) * n))
        settings = (self.table, self.form, self.strength, self.nats)
        jobs = [(*settings, batch, self._stacked(batch)[0], False, MAX_ITERATIONS) for batch in batches]
        for batch, fits in zip(batches, self._map(fit_batch, jobs), strict=True):
            self.known.update(zip(batch, fits, strict=True))

    def _map(self, function: Callable[..., _Result], jobs: list[tuple[Any, ...]]) -> list[_Result]:
        """Run jobs, in parallel if there are many; none depends on another, so the answer is the same."""
        if self.workers == 1 or len(jobs) < self.workers:
            return [function(*job) for job in jobs]
        found: list[_Result] = self._pool()(delayed(function)(*job) for job in jobs)
        return found

    def _pool(self) -> Parallel:
        """Return the pool, which is kept as long as these fits: it hands the table to its processes only once."""
        if self._parallel is None:
            self._parallel = Parallel(n_jobs=self.workers)
            self._parallel.__enter__()
            weakref.finalize(self, self._parallel.__exit__, None, None, None)
        return self._parallel

    def gains(self, key: Key) -> Array:
        """Return (d,) the estimated gain of every further parent (score test); 0 for the variable and its parents."""
        if key not in self._wanted:
            self.prepare_gains([key])
        return self._wanted[key]

    def prepare_gains(self, keys: Iterable[Key]) -> None:
        """Make the score tests of several models at once."""
        missing = [key for key in dict.fromkeys(keys) if key not in self._wanted]
        self.losses(missing)
        d = self.table.shape[1]
        batches = list(_batches(missing, lambda parents: (2 * len(parents) + 3) * 2 * d))
        jobs = [
            (self.table, self.form, [j for j, _ in batch], [parents for _, parents in batch], self._stacked(batch)[0],
             range(d), self.strength)
            for batch in batches
        ]  # fmt: skip
        for batch, found in zip(batches, self._map(entry_gains, jobs), strict=True):
            for key, row in zip(batch, found, strict=True):
                row[[key[0], *key[1]]] = 0.0
                self._wanted[key] = row

    def latents(self, keys: Sequence[Key]) -> Iterator[tuple[slice, Array]]:
        """Yield blocks `(models, U)` of standardised residuals, few enough at a time to bound memory."""
        n = self.table.shape[0]
        at_once = max(1, _BATCH_FLOATS // (8 * n))
        for start in range(0, len(keys), at_once):
            part = slice(start, start + at_once)
            targets, parents = [j for j, _ in keys[part]], [parents for _, parents in keys[part]]
            theta, shape = self._stacked(keys[part])
            design = ParentDesign(self.table, parents, targets)
            U = np.empty((len(targets), n))
            for rows in row_slices(n, (shape.width + 6) * len(targets)):
                A, s, m = shape.predictors(theta, design.regressors(rows))
                U[:, rows] = residuals(self.form, self.table.take(targets, rows), A, s, m)
            yield part, U

    def _stacked(self, keys: Sequence[Key]) -> tuple[Array, Coefficients]:
        """Return the coefficients of several models as the columns of one array."""
        shape = Coefficients(self.form, 1 + max(len(parents) for _, parents in keys))
        theta = np.zeros((shape.size, len(keys)))
        for i, key in enumerate(keys):
            theta[_kept(len(key[1]), shape), i] = self.known[key].theta
        return theta, shape

    def _starts(self, batch: Sequence[Key]) -> Array:
        shape = Coefficients(self.form, 1 + max(len(parents) for _, parents in batch))
        return np.column_stack([self._warm(key, shape) for key in batch])

    def _warm(self, key: Key, shape: Coefficients) -> Array:
        """Return a starting point: the coarse fit, or the best known model with one parent less, or the constant one."""
        if self.coarse is not None and key in self.coarse.known:
            theta = np.zeros(shape.size)
            theta[_kept(len(key[1]), shape)] = self.coarse.known[key].theta
            return theta
        target, parents = key
        smaller = [(target, parents[:i] + parents[i + 1 :]) for i in range(len(parents))]
        known = [k for k in smaller if k in self.known]
        theta = np.zeros(shape.size)
        if known:
            origin = min(known, key=lambda k: self.known[k].loss)
            theta[_positions(parents, origin[1], shape)] = self.known[origin].theta
        return theta


def fit_batch(
    table: Table,
    form: str,
    strength: float,
    nats: float,
    batch: Sequence[Key],
    start: Array,
    squares: bool,
    max_iterations: int = _MAX_ITERATIONS,
) -> list[NodeFit]:
    """Fit models from `start` and, if `squares`, also from least squares; keep the better of each."""
    k, n = len(batch), table.shape[0]
    targets, parents = [j for j, _ in batch], [parents for _, parents in batch]
    shape, copies = Coefficients(form, 1 + max(map(len, parents))), 1
    if squares and shape.width > 1:
        design = ParentDesign(table, parents, targets)
        start, copies = np.hstack([start, constant_variance_start(design, shape)]), 2
    design = ParentDesign(table, parents * copies, targets * copies)
    ridge = shape.ridge(strength / n)
    found = minimize(design, shape, start, ridge, max_iterations=max_iterations, tolerance=nats / n)
    found = found.take(found.objective.reshape(copies, k).argmin(axis=0) * k + np.arange(k))
    worth = _worth(found, shape, n)
    return [
        NodeFit(
            found.theta[_kept(len(some), shape), i], n * float(found.objective[i]), bool(found.converged[i]),
            worth[i, : len(some)],
        )
        for i, some in enumerate(parents)
    ]  # fmt: skip


def _worth(found: Solution, shape: Coefficients, n: int) -> Array:
    """Return (models, parents): the gain of each parent by Wald's approximation, in nats over all `n` rows."""
    scale = np.sqrt(np.abs(np.einsum("kii->ki", found.information)) + 1e-12)
    scaled = found.information / (scale[:, :, None] * scale[:, None, :])
    inverse = np.linalg.inv(scaled + 1e-9 * np.eye(shape.size))
    theta = found.theta.T * scale
    p, out = shape.width, np.empty((len(theta), shape.width - 1))
    for i in range(p - 1):
        own = np.array([1 + i, p + 1 + i])
        block = inverse[:, own[:, None], own]
        solved = np.linalg.solve(block + 1e-12 * np.eye(2), theta[:, own, None])[:, :, 0]
        out[:, i] = 0.5 * n * np.einsum("ki,ki->k", theta[:, own], solved)
    return out


def _batches(keys: Iterable[Key], floats: Callable[[Parents], int]) -> Iterator[list[Key]]:
    """Cut models into batches of bounded memory; a large batch does not mix models of very different size."""
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


def _kept(n_parents: int, shape: Coefficients) -> list[int]:
    """Return where the coefficients of a model with so many parents stand in a batch of wider ones."""
    slopes = list(range(n_parents + 1))
    return slopes + [shape.width + i for i in slopes] + list(range(2 * shape.width, shape.size))


def _positions(parents: Parents, among: Parents, shape: Coefficients) -> list[int]:
    """Return where the coefficients of a model with the parents `among` stand in one with `parents`."""
    slopes = [0, *(parents.index(j) + 1 for j in among)]
    return slopes + [shape.width + i for i in slopes] + list(range(2 * shape.width, shape.size))
