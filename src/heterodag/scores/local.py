"""`LocalScores`: every question about a variable and its parents, answered once and remembered.

Orders and graphs are compared by sums of the models' losses. Neighbouring orders share most models, so no model is
fitted twice to the same rows. A fit starts from the best that is known: the same model on fewer rows, or else the
best model with one parent less.

With experiments, the models of a variable are fitted to the rows in which it was not set (`core.experiments`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from heterodag.core.experiments import Experiments, scaling
from heterodag.core.gaussian import Array, Form, Index
from heterodag.core.table import Table
from heterodag.runtime.work import Work
from heterodag.scores.drop_one import DropOne
from heterodag.scores.fit import Effort, Fit, Key, LinearFit, Parents

#: Residuals are computed in batches of at most this many numbers.
_RESIDUAL_FLOATS = 2**19
#: Models whose gains for all columns are computed together have at most this many gains. As many are kept, or those
#: of one model per column if that is more.
_GAIN_FLOATS = 2**22
#: Tables of the rows of single targets are kept while they hold at most this many numbers together.
_KEPT_FLOATS = 2**26


def least_promise(d: int) -> float:
    """Return the gain (nats) above which promised gains are kept for every model: one per model by chance."""
    return float(np.log(d))


class Fitter(Protocol):
    """A kind of model: lines, curves, networks. A fitter holds only settings, so it can be sent to workers."""

    @property
    def form(self) -> Form:
        """The form of its predictors."""

    @property
    def comparable(self) -> bool:
        """Whether orders can be refined with these models: they have gains, and losses that can be compared."""

    @property
    def estimates(self) -> bool:
        """Whether gains and contributions predict what a move in the order changes, without any fit."""

    def batches(self, table: Table, keys: Iterable[Key]) -> Iterator[list[Key]]:
        """Cut models into batches that are fitted together."""

    def gain_batches(self, table: Table, keys: Iterable[Key]) -> Iterator[list[Key]]:
        """Cut models into batches for `gains`."""

    def fit(self, table: Table, keys: Sequence[Key], starts: Sequence[Fit | None], effort: Effort) -> list[Fit]:
        """Fit models, each from its start if it has one."""

    def gains(self, table: Table, fits: Sequence[Fit]) -> Array:
        """Return (models, d) the gain that every column promises to a model."""

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
        Workers, time limit and progress; one process and no limit by default.
    experiments : Experiments, optional
        Which variables were set in which rows; none by default.
    """

    def __init__(
        self, table: Table, fitter: Fitter, work: Work | None = None, experiments: Experiments | None = None
    ) -> None:
        self.table, self.fitter, self.work = table, fitter, Work() if work is None else work
        self.experiments = experiments
        self._fits: dict[Key, Fit] = {}
        self._gains: dict[Key, Array] = {}
        self._promised: dict[Key, dict[int, float]] = {}
        self._samples: dict[int, LocalScores] = {table.shape[0]: self}
        self._whole, self._scalings = self, dict[bytes, tuple[Array, Array]]()
        self._tables: dict[bytes, Table] = {}

    #: Whether gains are tests that hold whatever the noise.
    tests_hold = False

    def with_fitter(self, fitter: Fitter) -> LocalScores:
        """Return the scores of the same rows with another kind of model."""
        return LocalScores(self.table, fitter, self.work, self.experiments)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.shape[0]

    @property
    def d(self) -> int:
        """Number of variables."""
        return self.table.shape[1]

    @cached_property
    def targets(self) -> list[int]:
        """The variables that have models: all except those that were set in every row."""
        fixed = None if self.experiments is None else self.experiments.fixed
        return [j for j in range(self.d) if fixed is None or not fixed[:, j].all()]

    def table_of(self, target: int) -> Table:
        """Return the rows in which a variable was not set, standardised; all rows without experiments."""
        if self.experiments is None or not self.experiments.fixed[:, target].any():
            return self.table
        free = ~self.experiments.fixed[:, target]
        name = np.packbits(free).tobytes()
        if name not in self._tables:
            if sum(table.X.size for table in self._tables.values()) > _KEPT_FLOATS:
                self._tables.clear()
            self._tables[name] = Table.with_scaling(self.table.X[free], *self._whole._scaling_of(target))
        return self._tables[name]

    def rows_of(self, target: int) -> int:
        """Return the number of rows that the models of a variable are fitted to."""
        return self.table_of(target).shape[0]

    def _scaling_of(self, target: int) -> tuple[Array, Array]:
        """Return the location and scale of a target's rows; samples use those of the whole table."""
        assert self.experiments is not None
        free = ~self.experiments.fixed[:, target]
        name = np.packbits(free).tobytes()
        if name not in self._scalings:
            self._scalings[name] = scaling(self.table.X[free], self.table)
        return self._scalings[name]

    def only(self, rows: Index) -> LocalScores:
        """Return the scores on some of the rows alone, with the scaling of all rows."""
        table = Table.with_scaling(self.table.X[rows], self.table.location, self.table.scale)
        own = None if self.experiments is None else self.experiments.take(rows)
        found = LocalScores(table, self.fitter, self.work, own)
        found._whole = self._whole
        return found

    def sample(self, rows: int) -> LocalScores:
        """Return the scores on a sample of evenly spaced rows; these scores if the table has no more rows.

        A few more rows of rare conditions are kept (`Experiments.sample_rows`).
        Samples of one table know each other: a fit starts from the same model on the next smaller sample.
        """
        rows = min(rows, self.n_rows)
        if rows not in self._samples:
            small = self._sampled(rows)
            small._samples = self._samples
            self._samples[rows] = small
        return self._samples[rows]

    def between(self) -> tuple[LocalScores, ...]:
        """Return scores on fewer rows that are asked after the samples, before all rows."""
        return ()

    def _sampled(self, rows: int) -> LocalScores:
        if self.experiments is None:
            return LocalScores(self.table.sample(rows), self.fitter, self.work)
        return self.only(self.experiments.sample_rows(self.table, rows))

    def fits(self, keys: Iterable[Key], effort: Effort = Effort.SEARCH, after: Parents | None = None) -> list[Fit]:
        """Return the models of several variables given their parents; fit those not yet known accurately enough.

        `after`, if given, are the parents in models of the same variables to start from.
        """
        keys = list(keys)
        missing = [key for key in dict.fromkeys(keys) if not self._suffices(key, effort)]
        missing = self._without_rows(missing)
        batches = self._batches(self.fitter.batches, missing)
        jobs = [(table, batch, [self._start(key, after) for key in batch], effort) for table, batch in batches]
        for (_, batch), found in zip(batches, self.work.map(self.fitter.fit, jobs), strict=True):
            self._fits.update(zip(batch, found, strict=True))
        return [self._fits[key] for key in keys]

    def losses(self, keys: Iterable[Key], effort: Effort = Effort.SEARCH) -> list[float]:
        """Return the loss of every variable given its parents."""
        return [fit.loss for fit in self.fits(keys, effort)]

    def at_hand(self, key: Key) -> Fit | None:
        """Return a model if it has already been fitted."""
        return self._fits.get(key)

    def best_known(self, keys: Iterable[Key]) -> LocalScores:
        """Return the scores on the largest sample of these rows that has all the models."""
        keys = list(keys)
        for rows in sorted(self._samples, reverse=True):
            if all(key in self._samples[rows]._fits for key in keys):
                return self._samples[rows]
        return self

    def gains(self, key: Key) -> Array:
        """Return the estimated gain (d,) of every further parent (score test); 0 for the variable and its parents."""
        if key not in self._gains:
            self.prepare_gains([key], whole=True)
        return self._gains[key]

    def promised(self, key: Key) -> Mapping[int, float]:
        """Return the gains above `least_promise` by column; unlike `gains`, they are kept for all models."""
        if key not in self._promised:
            self.prepare_gains([key])
        return self._promised[key]

    def prepare_gains(self, keys: Iterable[Key], effort: Effort = Effort.SEARCH, whole: bool = False) -> None:
        """Make the score tests of several models at once; pass `whole` if `gains` is needed, not only `promised`.

        If there are many columns, and more models than columns, only the last models keep all their gains.
        """
        known: Mapping[Key, Any] = self._gains if whole else self._promised
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        self.fits(missing, effort)
        missing = self._without_rows(missing)
        at_once = max(1, _GAIN_FLOATS // self.d)
        for start in range(0, len(missing), at_once):
            batches = self._batches(self.fitter.gain_batches, missing[start : start + at_once])
            jobs = [(table, [self._fits[key] for key in batch]) for table, batch in batches]
            for (_, batch), found in zip(batches, self.work.map(self.fitter.gains, jobs), strict=True):
                self._keep_gains(batch, found)

    def _keep_gains(self, keys: Sequence[Key], found: Array) -> None:
        """Keep the promised gains of all models, and all gains of the latest."""
        least, most = least_promise(self.d), max(self.d, _GAIN_FLOATS // self.d)
        for (target, parents), row in zip(keys, found, strict=True):
            own = row.copy()  # a view would keep the whole batch, and what comes from workers may be read-only
            own[[target, *parents]] = 0.0
            some = np.flatnonzero(own > least)
            self._promised[target, parents] = dict(zip(some.tolist(), own[some].tolist(), strict=True))
            self._gains[target, parents] = own
        while len(self._gains) > most:
            del self._gains[next(iter(self._gains))]

    def residuals(self, keys: Sequence[Key], effort: Effort = Effort.SEARCH) -> Iterator[tuple[Index, Array]]:
        """Yield blocks `(models, U)` of standardised residuals, small enough to bound memory.

        Each block has the rows of its targets; models of variables that were set in all rows are left out.
        """
        fits, places = self.fits(keys, effort), dict[int, list[int]]()
        own = {j: self.table_of(j) for j in {key[0] for key in keys}.intersection(self.targets)}
        for k, fit in enumerate(fits):
            if fit.target in own:
                places.setdefault(id(own[fit.target]), []).append(k)
        for some in places.values():
            table = own[fits[some[0]].target]
            at_once = max(1, _RESIDUAL_FLOATS // (8 * table.shape[0]))
            for start in range(0, len(some), at_once):
                part = some[start : start + at_once]
                yield np.array(part), self.fitter.residuals(table, [fits[k] for k in part])

    def without(self, tests: Sequence[tuple[Key, Sequence[int]]]) -> list[DropOne]:
        """Test, for several models, the parents at the given positions, one at a time given the others."""
        jobs = [(self.table_of(key[0]), key, positions) for key, positions in tests]
        return self.work.map(self.fitter.without, jobs)

    def _batches(
        self, cut: Callable[[Table, Iterable[Key]], Iterator[list[Key]]], keys: Sequence[Key]
    ) -> list[tuple[Table, list[Key]]]:
        """Cut models into batches, each with the table of its targets' rows."""
        groups: dict[int, tuple[Table, list[Key]]] = {}
        for key in keys:
            table = self.table_of(key[0])
            groups.setdefault(id(table), (table, []))[1].append(key)
        return [(table, batch) for table, some in groups.values() for batch in cut(table, some)]

    def _without_rows(self, keys: list[Key]) -> list[Key]:
        """Store models with loss 0 for variables that were set in all rows; return the keys of the others."""
        if self.experiments is None:
            return keys
        modelled = set(self.targets)
        for key in keys:
            if key[0] not in modelled:
                form, none = self.fitter.form, np.zeros(len(key[1]))
                theta = np.zeros(2 * (1 + len(key[1])) + form.locations)
                self._fits[key] = LinearFit(form, *key, 0.0, True, none, Effort.FINAL, theta)
                self._gains[key], self._promised[key] = np.zeros(self.d), {}
        return [key for key in keys if key[0] in modelled]

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
