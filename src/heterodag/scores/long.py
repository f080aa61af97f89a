"""`LongScores`: local scores of a table that is too long to fit every model on all of its rows, or to be in memory.

Models are chosen on samples, as everywhere; a question about all rows is answered by the model of the largest sample, taken
to its optimum on all rows (`scores.newton`). A model that differs by one parent from one that is known already is made from
that (`scores.nested`). Whoever asks need not know: it is the interface of `LocalScores`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heterodag.core.blocks import Blocks, LongTable
from heterodag.core.gaussian import LOCATION_SCALE, Array, Index
from heterodag.core.table import Table
from heterodag.runtime.work import ALMOST, Work
from heterodag.scores.block_sums import EndSums, promises, score_variances, second_sums
from heterodag.scores.competition import CompetingFitter
from heterodag.scores.drop_one import DropOne
from heterodag.scores.fit import Effort, Fit, Key, LinearFit, Parents
from heterodag.scores.local import Fitter, LocalScores
from heterodag.scores.nested import (
    curved,
    curves_of,
    expected_with,
    expected_without,
    relative,
    straightened,
    with_parent,
)
from heterodag.scores.newton import Start, fit_all_rows, fit_sample, near_optimum, penalty_of
from heterodag.scores.smooth import Batch, basis_width
from heterodag.scores.spline_design import spline_of

#: Tables with more rows are long: models are chosen on a sample of this size, and fitted to all rows by Newton's steps.
CHOSEN_ON = 50_000
#: Rows of the sample that is kept in memory. Models are taken to its optimum before all rows are read.
SAMPLE_ROWS = 200_000
#: Passes over this many rows take as long as the search for an order, and those of a very long table this share at most.
_ROWS_LIKE_SEARCH, _MOST_PASSING = 2_500_000, 0.9
#: Reading the rows costs as much as measuring two models, and a fit needs about this much per variable. These numbers come
#: from tables of 3 and 30 million rows, tuning seed 701 of benchmarks/long_tables.py.
_COST_OF_READING, _COST_PER_VARIABLE = 2.0, 11.5


def passes_from(rows: int) -> float:
    """Return the share of a fit of a long table that is done before models are fitted to all its rows."""
    return 1.0 - min(rows / (rows + _ROWS_LIKE_SEARCH), _MOST_PASSING)


class _Passed:
    """How much of the passes over a long table is done, as far as one can know: reported after every pass."""

    def __init__(self, work: Work, rows: int, d: int) -> None:
        self._work, self._from, self._expected = work, passes_from(rows), _COST_PER_VARIABLE * d * rows
        self._done = 0.0

    def add(self, rows: int, models: int) -> None:
        """Report a pass."""
        self._done += rows * (_COST_OF_READING + models)
        self._work.reach(self._from + (ALMOST - self._from) * min(1.0, self._done / self._expected))


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
    passed : _Passed, optional
        Counts passes over the rows; that of a longer table if these rows are some of it.
    """

    def __init__(
        self, long: LongTable, fitter: Fitter, work: Work | None = None, passed: _Passed | None = None
    ) -> None:
        if isinstance(fitter, CompetingFitter):
            fitter = replace(fitter, credit_edges=True)
        super().__init__(long.survey.table(), fitter, work)
        self.long = long
        #: The scores that models are chosen on.
        self._local = LocalScores(self.table, fitter, self.work)
        self._samples = {self.n_rows: self}
        self._passed = _Passed(self.work, self.n_rows, self.d) if passed is None else passed
        fewer = long.fewer()
        #: The scores on a tenth of a very long table, where fits to all rows start.
        self._fewer = None if fewer is None else LongScores(fewer, fitter, self.work, self._passed)
        #: What all rows said of the models in the end.
        self._ends = dict[Key, EndSums]()
        #: What lines and bends of every column promise to the models (nats).
        self._promises = dict[Key, Array]()
        #: What edges gain variables without parents (nats).
        self._alone = dict[int, float]()

    #: Score tests use variances that hold whatever the noise. Differences of losses do not: where noise has a sharp edge,
    #: they vary by tens of nats, because mean and spread are those of a Gaussian likelihood.
    tests_hold = True

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

    def between(self) -> tuple[LocalScores, ...]:
        """Return the scores on a tenth of a very long table."""
        return () if self._fewer is None else (self._fewer,)

    def fits(self, keys: Iterable[Key], effort: Effort = Effort.SEARCH, after: Parents | None = None) -> list[Fit]:
        """Return models on all rows; each begins where the same model on the largest sample ended."""
        keys = list(keys)
        # Models with parents are compared with those without: what the noise of a variable gains by edges is known there.
        asked = [*keys, *((target, ()) for target, _ in keys)]
        missing = [key for key in dict.fromkeys(asked) if key not in self._fits]
        if missing:
            known = {key: relative(key, self._fits.values()) for key in missing}
            new = [key for key, near in known.items() if near is None]
            self._keep(self._on_all_rows([*self._fresh(new, after), *self._nested(known, after)]))
            if self._fewer is not None:  # where its models lead nowhere, those of the sample may lead further
                stuck = self.sample(CHOSEN_ON).fits(
                    [key for key in new if not self._fits[key].converged], Effort.FINAL
                )
                self._keep(self._on_all_rows(self._from_sample(stuck)))
            # A parent that entered by a line may turn out to need a curve.
            to_bend = {key: self._asking_for_curve(key, near) for key, near in known.items() if near is not None}
            bent = [self._curved(self._known(key), parents) for key, parents in to_bend.items() if parents]
            self._keep(self._on_all_rows(self._judged(self._begun(bent))))
        return [self._fits[key] for key in keys]

    def _known(self, key: Key) -> LinearFit:
        fit = self._fits[key]
        assert isinstance(fit, LinearFit)
        return fit

    def _keep(self, found: Iterable[tuple[LinearFit, EndSums]]) -> None:
        """Store models that are better than those known, with what every further parent promises them.

        That is what its line promises, and its bends if they pay for a curve.
        """
        better = dict[Key, LinearFit]()
        for fit, end in sorted(found, key=lambda one: one[0].loss, reverse=True):
            if fit.key not in self._fits or fit.loss < self._fits[fit.key].loss:
                better[fit.key] = self._fits[fit.key] = fit
                self._ends[fit.key] = end
        variances = self._summed(self.long.in_memory)(score_variances, list(better.values())) if better else []
        for key, own in zip(better, variances, strict=True):
            self._promises[key] = promises(self._ends[key].scores, own.variance * self._share)
            self._keep_promised(key)

    def _keep_promised(self, key: Key) -> None:
        line, bends = self._promises[key]
        self._keep_gains([key], (line + np.where(bends > np.log(self.n_rows), bends, 0.0))[None])

    def gains(self, key: Key) -> Array:
        """Return what every further parent promises a model; made again if the gains of later models replaced it."""
        self.fits([key])
        if key not in self._gains:
            self._keep_promised(key)
        return self._gains[key]

    def _chosen(self, keys: Iterable[Key], after: Parents | None) -> dict[Key, LinearFit]:
        """Return the models that fewer rows choose."""
        fewer = self.sample(CHOSEN_ON) if self._fewer is None else self._fewer
        return {fit.key: fit for fit in fewer.fits(keys, Effort.FINAL, after) if isinstance(fit, LinearFit)}

    def _fresh(self, keys: Sequence[Key], after: Parents | None) -> list[Start]:
        """Return where models without a known relative begin: near their optimum, with the curves that all rows need."""
        fits = self._chosen(keys, after).values()
        if self._fewer is None:
            return self._from_sample(fits)
        bent = [self._curves and fit.form is LOCATION_SCALE for fit in fits]
        starts = [self._curved(fit, fit.parents) if curves else fit for fit, curves in zip(fits, bent, strict=True)]
        return self._judged(self._begun([*map(_start, starts)]))

    def _from_sample(self, fits: Iterable[Fit]) -> list[Start]:
        """Return the same for models of the sample."""
        rivals = [rival for fit in fits if isinstance(fit, LinearFit) for rival in self._rivals(fit)]
        if not rivals:
            return []
        settled = fit_sample(rivals, self._summed(self.long.in_memory), len(self.long.survey.sample))
        return self._judged([Start(_start(fit), second * self._share) for fit, second in settled])

    def _begun(self, fits: Sequence[LinearFit]) -> list[Start]:
        """Return starts with the second derivatives that the sample tells."""
        seconds = self._summed(self.long.in_memory)(second_sums, fits) if fits else []
        return [Start(fit, sums.second * self._share) for fit, sums in zip(fits, seconds, strict=True)]

    def _judged(self, starts: Sequence[Start]) -> list[Start]:
        """Return models near their optimum, without the curves that all rows do not need."""
        straight, bent = ([start for start in starts if bool(curves_of(start.fit)) is has] for has in (False, True))
        near = near_optimum(bent, self._summed(self.long.groups), self.n_rows)
        return [*straight, *map(self._straightened, near)]

    @property
    def _share(self) -> float:
        """What turns sums over the sample into those over all rows."""
        return self.n_rows / len(self.long.survey.sample)

    def _rivals(self, fit: LinearFit) -> list[LinearFit]:
        """Return the models of a key that all rows choose from: in location-scale form with curves, and natural ones."""
        if not fit.parents or not self._curves:
            return [_start(fit)]
        if fit.form is LOCATION_SCALE:
            return [self._curved(fit, fit.parents)]
        (other,) = Batch.of(self.sample(CHOSEN_ON).table, [fit.key], [None]).curves(Effort.FINAL).fits
        return [fit, self._curved(other, fit.parents)]

    @property
    def _curves(self) -> bool:
        """Whether curves in location-scale form compete."""
        fitter = self.fitter
        return isinstance(fitter, CompetingFitter) and fitter.curves and LOCATION_SCALE in fitter.forms

    def _straightened(self, start: Start) -> Start:
        """Return a model without the curves that all rows do not need."""
        penalty = np.diag(penalty_of(start.fit, self.n_rows))
        found = straightened(start.fit, start.second + penalty, self.n_rows)
        return start if found is None else Start(found[0], start.second[np.ix_(found[1], found[1])], expected=True)

    def _nested(self, known: Mapping[Key, LinearFit | None], after: Parents | None) -> list[Start]:
        """Return where models with one parent more, or with some less, than a known one begin: at their expected optimum."""
        related = [(key, near) for key, near in known.items() if near is not None]
        first = self._chosen([key for key, near in related if not near.parents], after)
        larger = [(key, near) for key, near in related if len(near.parents) < len(key[1])]
        grown = {
            key: with_parent(near, key[1], first[key].form if key in first else near.form) for key, near in larger
        }
        starts = list[Start]()
        for (key, near), begun in zip(
            related, self._begun([grown.get(key, near) for key, near in related]), strict=True
        ):
            second = begun.second + np.diag(penalty_of(begun.fit, self.n_rows))
            if key in grown:
                (new,) = set(key[1]).difference(near.parents)
                fit = expected_with(begun.fit, new, second, self._ends[near.key].scores[:, new])
                starts.append(Start(fit, begun.second, expected=True))
            else:
                fit, second = expected_without(near, key[1], second)
                starts.append(Start(fit, second - np.diag(penalty_of(fit, self.n_rows)), expected=True))
        return starts

    def _curved(self, fit: LinearFit, parents: Iterable[int]) -> LinearFit:
        """Return a model in which the given parents have curves."""
        table = self.sample(CHOSEN_ON).table
        return curved(fit, {j: spline_of(table, j, basis_width(table.shape[0])) for j in parents})

    def _asking_for_curve(self, key: Key, near: LinearFit) -> set[int]:
        """Return the parent that `near` does not have, if its bends promise to pay for a coefficient in mean and spread."""
        if not self._curves or self._known(key).form is not LOCATION_SCALE:
            return set()
        return {j for j in set(key[1]).difference(near.parents) if self._promises[key][1, j] > np.log(self.n_rows)}

    def _on_all_rows(self, starts: Sequence[Start]) -> list[tuple[LinearFit, EndSums]]:
        """Return models at their optimum, with what all rows say of them."""
        if not starts:
            return []
        noise = self.fitter.noise if isinstance(self.fitter, CompetingFitter) else "gaussian"
        return fit_all_rows(starts, self._summed(self.long.groups), self.n_rows, noise, self._alone)

    def _summed(self, groups: Sequence[Blocks]) -> Callable[..., list[Any]]:
        """Return what sums a function of parts and models over groups of parts, wherever the workers are."""

        def summed(function: Callable[..., list[Any]], fits: Sequence[LinearFit]) -> list[Any]:
            total, *others = self.work.map(function, [(blocks, fits) for blocks in groups])
            for other in others:
                for mine, theirs in zip(total, other, strict=True):
                    mine += theirs
            self._passed.add(sum(blocks.rows for blocks in groups), len(fits))
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
