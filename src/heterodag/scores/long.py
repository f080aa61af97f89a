"""`LongScores`: local scores of a table that is too long to fit every model on all of its rows, or to be in memory.

Models are chosen on samples, as everywhere; a question about all rows is answered by the model of the largest sample, taken
to its optimum on all rows (`scores.newton`). A model that differs by one parent from one that is known already is made from
that (`scores.nested`). Whoever asks need not know: it is the interface of `LocalScores`.
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
from heterodag.scores.block_sums import EndSums, second_sums
from heterodag.scores.competition import CompetingFitter
from heterodag.scores.drop_one import DropOne
from heterodag.scores.fit import Effort, Fit, Key, LinearFit, Parents
from heterodag.scores.local import Fitter, LocalScores
from heterodag.scores.nested import expected_with, expected_without, relative, with_parent
from heterodag.scores.newton import Start, fit_all_rows, fit_sample, penalty_of
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
        if isinstance(fitter, CompetingFitter):
            fitter = replace(fitter, credit_edges=True)
        super().__init__(long.survey.table(), fitter, work)
        self.long = long
        #: The scores that models are chosen on.
        self._local = LocalScores(self.table, fitter, self.work)
        self._samples = {self.n_rows: self}
        #: What all rows said of the models in the end.
        self._ends = dict[Key, EndSums]()
        #: What edges gain variables without parents (nats).
        self._alone = dict[int, float]()

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
        # Models with parents are compared with those without: what the noise of a variable gains by edges is known there.
        asked = [*keys, *((target, ()) for target, _ in keys)]
        missing = [key for key in dict.fromkeys(asked) if key not in self._fits]
        if missing:
            for fit, end in self._on_all_rows(self._starts(missing, after)):
                self._fits[fit.key], self._ends[fit.key] = fit, end
                self._keep_gains([fit.key], end.promises().sum(axis=0)[None])
        return [self._fits[key] for key in keys]

    def _starts(self, keys: Sequence[Key], after: Parents | None) -> list[Start]:
        """Return where models begin: at the optimum that a known relative tells, else at that of the sample."""
        base, known = self.sample(CHOSEN_ON), {key: relative(key, self._fits.values()) for key in keys}
        larger = [key for key, near in known.items() if near is not None and len(near.parents) < len(key[1])]
        asked = [*(key for key, near in known.items() if near is None), *larger]
        fits = {fit.key: fit for fit in base.fits(asked, Effort.FINAL, after) if isinstance(fit, LinearFit)}
        fresh = [_start(fits[key]) for key, near in known.items() if near is None]
        share = self.n_rows / len(self.long.survey.sample)
        starts = [Start(_start(fit), second * share) for fit, second in self._on_sample(fresh)]
        pairs = [(near, fits.get(key), key) for key, near in known.items() if near is not None]
        return starts + (self._nested(pairs, share) if pairs else [])

    def _nested(self, pairs: Sequence[tuple[LinearFit, LinearFit | None, Key]], share: float) -> list[Start]:
        """Return where models with one parent more or less than a known one begin.

        `share` turns sums over the sample into those over all rows.
        """
        begun = list[LinearFit]()
        for near, chosen, key in pairs:
            begun.append(near if chosen is None else with_parent(near, chosen, self._bent(near, key)))
        seconds = self._summed(self.long.in_memory())(second_sums, begun)
        starts = list[Start]()
        for (near, chosen, key), fit, sums in zip(pairs, begun, seconds, strict=True):
            second, penalty = sums.second * share, np.diag(penalty_of(fit, self.n_rows))
            if chosen is None:
                fit, second = expected_without(near, key[1], second + penalty)
                starts.append(Start(fit, second - np.diag(penalty_of(fit, self.n_rows)), expected=True))
            elif self._bent(near, key):
                starts.append(Start(fit, second))
            else:
                new = _new(near, key)
                scores = self._ends[near.key].scores[:, new]
                starts.append(Start(expected_with(fit, new, second + penalty, scores), second, expected=True))
        return starts

    def _bent(self, near: LinearFit, key: Key) -> bool:
        """Return whether all rows ask for a curve of a new parent: it must pay for a coefficient in mean and spread."""
        return bool(self._ends[near.key].promises()[1, _new(near, key)] > np.log(self.n_rows))

    def _on_all_rows(self, starts: Sequence[Start]) -> list[tuple[LinearFit, EndSums]]:
        """Return models at their optimum, with what all rows say of them."""
        noise = self.fitter.noise if isinstance(self.fitter, CompetingFitter) else "gaussian"
        return fit_all_rows(starts, self._summed(self.long.groups()), self.n_rows, noise, self._alone)

    def _on_sample(self, starts: Sequence[LinearFit]) -> list[tuple[LinearFit, Array]]:
        """Return models at the optimum of the sample; curves that take all their columns get more if that helps."""
        if not starts:
            return []
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


def _new(near: LinearFit, key: Key) -> int:
    (new,) = set(key[1]).difference(near.parents)
    return new


def _start(fit: LinearFit) -> LinearFit:
    """Return where a model begins: that of a variable without parents is known, as the table is standardised."""
    return fit if fit.parents else replace(fit, theta=np.zeros_like(fit.theta))
