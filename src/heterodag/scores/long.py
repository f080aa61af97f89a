"""`LongScores`: local scores of a table that is too long to fit every model on all of its rows, or to be in memory.

Models are chosen on samples, as everywhere; a question about all rows is answered by the model of the largest sample, taken
to its optimum on all rows (`scores.newton`). Whoever asks need not know: it is the interface of `LocalScores`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heterodag.core.blocks import Blocks, LongTable
from heterodag.core.gaussian import Array, Index
from heterodag.core.table import Table
from heterodag.runtime.work import Work
from heterodag.scores.competition import CompetingFitter
from heterodag.scores.drop_one import DropOne
from heterodag.scores.fit import Effort, Fit, Key, LinearFit, Parents
from heterodag.scores.local import Fitter, LocalScores
from heterodag.scores.newton import fit_all_rows, fit_sample
from heterodag.scores.smooth import widened

#: Tables with more rows are long: models are chosen on a sample of this size, and fitted to all rows by Newton's steps.
CHOSEN_ON = 50_000
#: Rows of the sample that is kept in memory. Models are taken to its optimum before all rows are read.
SAMPLE_ROWS = 200_000


class LongScores(LocalScores):
    """The models of the variables of a long table.

    Parameters
    ----------
    long : LongTable
        The rows.
    fitter : Fitter
        The kind of models; their predictors must be linear in the coefficients.
    work : Work, optional
        Workers, clock and progress.
    """

    def __init__(self, long: LongTable, fitter: Fitter, work: Work | None = None) -> None:
        super().__init__(long.survey.table(), fitter, work)
        self.long = long
        #: The scores that models are chosen on.
        self._local = LocalScores(self.table, fitter, self.work)
        self._samples = {self.n_rows: self}

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.long.shape[0]

    def with_fitter(self, fitter: Fitter) -> LongScores:
        """Return the scores of the same rows by another kind of models."""
        return LongScores(self.long, fitter, self.work)

    def table_of(self, target: int) -> Table:
        """Return a sample of the rows."""
        return self.table

    def rows_of(self, target: int) -> int:
        """Return the number of rows that the models of a variable are fitted on."""
        return self.n_rows

    def only(self, rows: Index) -> LocalScores:
        """Return the scores on some rows of the sample alone."""
        return self._local.only(rows)

    def sample(self, rows: int) -> LocalScores:
        """Return the scores on a sample that is in memory."""
        rows = min(rows, CHOSEN_ON)
        if rows not in self._samples:
            self._samples[rows] = self._local.sample(rows)
        return self._samples[rows]

    def fits(self, keys: Iterable[Key], effort: Effort = Effort.SEARCH, after: Parents | None = None) -> list[Fit]:
        """Return models on all rows; each begins where the same model on the largest sample ended."""
        keys = list(keys)
        missing = [key for key in dict.fromkeys(keys) if key not in self._fits]
        if missing:
            base = self.sample(CHOSEN_ON)
            starts = [_start(fit) for fit in base.fits(missing, Effort.FINAL, after) if isinstance(fit, LinearFit)]
            base.prepare_gains(missing, whole=True)
            for fit, promised in self._on_all_rows(starts):
                self._fits[fit.key] = fit
                # Lines are tested on all rows; curves of a new parent only on the sample.
                self._keep_gains([fit.key], np.maximum(promised, base.gains(fit.key))[None])
        return [self._fits[key] for key in keys]

    def _on_all_rows(self, starts: Sequence[LinearFit]) -> list[tuple[LinearFit, Array]]:
        noise = self.fitter.noise if isinstance(self.fitter, CompetingFitter) else "gaussian"
        sampled, n = len(self.long.survey.sample), self.n_rows
        known = self._on_sample(starts)
        scaled = [(_start(fit), second * (n / sampled)) for fit, second in known]
        return fit_all_rows(scaled, self._summed(self.long.groups()), n, noise)

    def _on_sample(self, starts: Sequence[LinearFit]) -> list[tuple[LinearFit, Array]]:
        """Return models at the optimum of the sample; curves that take all their columns get more if that helps."""
        summed, rows = self._summed(self.long.in_memory()), len(self.long.survey.sample)
        known = fit_sample(starts, summed, rows)
        places, wider = [], list[LinearFit]()
        for place, (fit, _) in enumerate(known):
            wide = widened(self.sample(CHOSEN_ON).table, fit)
            if wide is not None:
                places.append(place)
                wider.append(wide)
        for place, found in zip(places, fit_sample(wider, summed, rows) if wider else [], strict=True):
            if found[0].loss < known[place][0].loss:
                known[place] = found
        return known

    def _summed(self, groups: Sequence[Blocks]) -> Callable[..., list[Any]]:
        """Return what sums a function of parts and models over groups of parts, wherever the workers are."""

        def summed(function: Callable[..., list[Any]], fits: Sequence[LinearFit]) -> list[Any]:
            total, *others = self.work.map(function, [(blocks, fits) for blocks in groups])
            for other in others:
                for mine, theirs in zip(total, other, strict=True):
                    mine += theirs
            return total

        return summed

    def prepare_gains(self, keys: Iterable[Key], effort: Effort = Effort.SEARCH, whole: bool = False) -> None:
        """Make the score tests of several models at once: their fits do."""
        self.fits(keys, effort)

    def residuals(self, keys: Sequence[Key], effort: Effort = Effort.SEARCH) -> Iterator[tuple[Index, Array]]:
        """Yield blocks of residuals on the largest sample."""
        return self.sample(CHOSEN_ON).residuals(keys, effort)

    def without(self, tests: Sequence[tuple[Key, Sequence[int]]]) -> list[DropOne]:
        """Test parents one at a time, on the largest sample."""
        return self.sample(CHOSEN_ON).without(tests)


def _start(fit: LinearFit) -> LinearFit:
    """Return where a model begins: that of a variable without parents is known, as the table is standardised."""
    return fit if fit.parents else replace(fit, theta=np.zeros_like(fit.theta))
