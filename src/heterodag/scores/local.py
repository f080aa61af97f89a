"""`LocalScores`: every question about a variable and its parents, answered once and remembered.

Orders and graphs are compared by sums of these models' losses, and neighbouring orders share most of them, so no model is
fitted twice on the same rows. A fit starts from the best of what is known: the same model on fewer rows, else the best
model with one parent less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from heterodag.core.gaussian import Array, Form
from heterodag.core.table import Table
from heterodag.runtime.work import Work
from heterodag.scores.drop_one import DropOne
from heterodag.scores.fit import Effort, Fit, Key, Parents

#: Residuals are served so many numbers at a time.
_RESIDUAL_FLOATS = 2**19


class Fitter(Protocol):
    """A kind of model: lines, curves, networks. A fitter holds settings only, so it travels to workers."""

    @property
    def form(self) -> Form:
        """The form of its predictors."""

    @property
    def comparable(self) -> bool:
        """Whether orders can be refined by these models: they have gains, and losses that can be compared."""

    @property
    def estimates(self) -> bool:
        """Whether gains and contributions tell about what a move of the order changes, without any fit."""

    def batches(self, table: Table, keys: Iterable[Key]) -> Iterator[list[Key]]:
        """Cut models into batches that are fitted together."""

    def gain_batches(self, table: Table, keys: Iterable[Key]) -> Iterator[list[Key]]:
        """Cut models into batches for `gains`."""

    def fit(self, table: Table, keys: Sequence[Key], starts: Sequence[Fit | None], effort: Effort) -> list[Fit]:
        """Fit models, each from a start or none."""

    def gains(self, table: Table, fits: Sequence[Fit]) -> Array:
        """Return (models, d) what every column promises to a model."""

    def residuals(self, table: Table, fits: Sequence[Fit]) -> Array:
        """Return the standardised residuals (models, n)."""

    def without(self, table: Table, key: Key, tested: Sequence[int]) -> DropOne:
        """Test, one at a time, the parents numbered `tested` of a model."""


class LocalScores:
    """The models of the variables of one table, fitted on demand.

    Parameters
    ----------
    table : Table
        Standardised data.
    fitter : Fitter
        The kind of models.
    work : Work, optional
        Workers, clock and progress; one process and no limit by default.
    """

    def __init__(self, table: Table, fitter: Fitter, work: Work | None = None) -> None:
        self.table, self.fitter, self.work = table, fitter, Work() if work is None else work
        self._fits: dict[Key, Fit] = {}
        self._gains: dict[Key, Array] = {}
        self._samples: dict[int, LocalScores] = {table.shape[0]: self}

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.shape[0]

    @property
    def d(self) -> int:
        """Number of variables."""
        return self.table.shape[1]

    def sample(self, rows: int) -> LocalScores:
        """Return the scores on so many rows, evenly spread; these ones if the table has no more.

        Samples of one table know of each other: a fit starts from the same model on the next fewer rows.
        """
        rows = min(rows, self.n_rows)
        if rows not in self._samples:
            small = LocalScores(self.table.sample(rows), self.fitter, self.work)
            small._samples = self._samples
            self._samples[rows] = small
        return self._samples[rows]

    def fits(self, keys: Iterable[Key], effort: Effort = Effort.SEARCH, after: Parents | None = None) -> list[Fit]:
        """Return the models of several variables given their parents, fitting what is not known well enough.

        `after`, if given, are the parents of models of the same variables to start from.
        """
        keys = list(keys)
        missing = [key for key in dict.fromkeys(keys) if not self._suffices(key, effort)]
        batches = list(self.fitter.batches(self.table, missing))
        jobs = [(self.table, batch, [self._start(key, after) for key in batch], effort) for batch in batches]
        for batch, found in zip(batches, self.work.map(self.fitter.fit, jobs), strict=True):
            self._fits.update(zip(batch, found, strict=True))
        return [self._fits[key] for key in keys]

    def losses(self, keys: Iterable[Key], effort: Effort = Effort.SEARCH) -> list[float]:
        """Return the loss of every variable given its parents."""
        return [fit.loss for fit in self.fits(keys, effort)]

    def at_hand(self, key: Key) -> Fit | None:
        """Return a model if it has been fitted already."""
        return self._fits.get(key)

    def best_known(self, keys: Iterable[Key]) -> LocalScores:
        """Return the scores on the largest sample of these rows that has all the models."""
        keys = list(keys)
        for rows in sorted(self._samples, reverse=True):
            if all(key in self._samples[rows]._fits for key in keys):
                return self._samples[rows]
        return self

    def gains(self, key: Key) -> Array:
        """Return (d,) the estimated gain of every further parent (score test); 0 for the variable and its parents."""
        if key not in self._gains:
            self.prepare_gains([key])
        return self._gains[key]

    def prepare_gains(self, keys: Iterable[Key], effort: Effort = Effort.SEARCH) -> None:
        """Make the score tests of several models at once."""
        missing = [key for key in dict.fromkeys(keys) if key not in self._gains]
        self.fits(missing, effort)
        batches = list(self.fitter.gain_batches(self.table, missing))
        jobs = [(self.table, [self._fits[key] for key in batch]) for batch in batches]
        for batch, found in zip(batches, self.work.map(self.fitter.gains, jobs), strict=True):
            for (target, parents), row in zip(batch, found, strict=True):
                row[[target, *parents]] = 0.0
                self._gains[target, parents] = row

    def residuals(self, keys: Sequence[Key], effort: Effort = Effort.SEARCH) -> Iterator[tuple[slice, Array]]:
        """Yield blocks `(models, U)` of standardised residuals, few enough at a time to bound memory."""
        fits = self.fits(keys, effort)
        at_once = max(1, _RESIDUAL_FLOATS // (8 * self.n_rows))
        for start in range(0, len(fits), at_once):
            part = slice(start, start + at_once)
            yield part, self.fitter.residuals(self.table, fits[part])

    def without(self, tests: Sequence[tuple[Key, Sequence[int]]]) -> list[DropOne]:
        """Test, for several models, the parents with the given positions, one at a time given the others."""
        return self.work.map(self.fitter.without, [(self.table, key, positions) for key, positions in tests])

    def _suffices(self, key: Key, effort: Effort) -> bool:
        known = self._fits.get(key)
        if known is None:
            return False
        return known.effort >= effort or (known.effort is Effort.SEARCH and known.converged)

    def _start(self, key: Key, after: Parents | None) -> Fit | None:
        target, parents = key
        if after is not None and (target, after) in self._fits:
            return self._fits[target, after]
        for rows in sorted((r for r in self._samples if r <= self.n_rows), reverse=True):
            if key in self._samples[rows]._fits:
                return self._samples[rows]._fits[key]
        smaller = [(target, parents[:i] + parents[i + 1 :]) for i in range(len(parents))]
        known = [self._fits[k] for k in smaller if k in self._fits]
        return min(known, key=lambda fit: fit.loss) if known else None


def parents_of(column: npt.NDArray[Any]) -> Parents:
    """Return the parents that a column of an adjacency matrix marks."""
    return tuple(np.flatnonzero(column).tolist())
