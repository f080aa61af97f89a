"""Which of the allowed variables are the parents of a target: stepwise choice by penalised likelihood.

A variable is tried if its score test promises a gain, enters if the refitted model's score falls, and leaves if the
score falls without it. Many targets are worked on in step, so that their fits run in shared batches.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from heterodag.core.gaussian import Mask
from heterodag.runtime.work import Progress
from heterodag.scores.fit import Key, Parents
from heterodag.scores.local import LocalScores

#: At most this many of the most promising variables are tried at a time.
TRIALS = 3
#: To be tried in place of a parent, another variable must promise (score test) this share of what the parent gains.
#: If fits are cheap (lines, curves of one form), all are tried.
MADE_UP = 0.2
#: Share of the remaining work of choosing that is still left after a step.
_STEP_LEFT = 0.6
#: Scores closer than this (nats) count as equal.
EQUAL = 0.05

#: A choice in progress: it asks for models and their score tests, and returns its score and parents.
_Choosing = Generator["_Wanted", None, tuple[float, Parents]]


@dataclass(frozen=True)
class _Wanted:
    """What a choice needs before it continues: fitted models, some of them with score tests."""

    models: Sequence[Key]
    tested: Sequence[Key] = ()


def entry_gain(d: int) -> float:
    """Return the gain (nats) that a variable's score test must promise for it to be tried.

    On average half a variable per model passes by chance, whatever the number of variables d. Of true gains above 9
    nats, 2 % have score tests below 3 nats, the threshold at d = 10.
    """
    return float(np.log(d)) + 0.7


def as_bits(columns: Iterable[int]) -> int:
    """Return a set of columns as the bits of an integer."""
    listed = list(columns)
    marked = np.zeros(max(listed, default=-1) + 1, dtype=np.uint8)
    marked[listed] = 1
    return int.from_bytes(np.packbits(marked, bitorder="little").tobytes(), "little")


@dataclass(frozen=True)
class Choice:
    """Choose parents of `target` among `allowed` (one bit per column), starting from `start`."""

    target: int
    allowed: int
    start: Parents = ()


@dataclass(frozen=True)
class Limits:
    """Prior knowledge about parents: for every target, those it must have and, as bits, those it cannot have."""

    required: tuple[Parents, ...]
    forbidden: tuple[int, ...]

    @classmethod
    def of(cls, required: Mask, forbidden: Mask) -> Limits:
        """Make the limits from (d, d) tables in which [i, j] is about the edge from i to j."""
        return cls(
            tuple(tuple(np.flatnonzero(column).tolist()) for column in required.T),
            tuple(as_bits(np.flatnonzero(column).tolist()) for column in forbidden.T),
        )


class ParentChoices:
    """Scores of variables given their allowed parents: loss plus penalty of the chosen parents. Lower is better."""

    def __init__(
        self, scores: LocalScores, penalty: float, limits: Limits | None = None, trials: int | None = None
    ) -> None:
        self.scores, self.penalty = scores, penalty
        self.entry = max(entry_gain(scores.d), penalty if scores.tests_hold else 0.0)
        self.trials = TRIALS if trials is None else trials
        self.limits = Limits(((),) * scores.d, (0,) * scores.d) if limits is None else limits
        self._promising: dict[Key, tuple[int, ...]] = {}
        self._done: dict[tuple[int, int], tuple[float, Parents]] = {}

    def choose(self, choices: Iterable[Choice], progress: Progress | None = None) -> list[tuple[float, Parents]]:
        """Return the score and the parents of every choice; all of them are worked on in step.

        `progress`, if given, is called with the share of the work that is done.
        """
        choices = list(choices)
        running = {
            (c.target, c.allowed): self._choosing(c) for c in choices if (c.target, c.allowed) not in self._done
        }
        wanted, left = {name: next(choosing) for name, choosing in running.items()}, 1.0
        while wanted:
            self.scores.fits(key for want in wanted.values() for key in want.models)
            self.scores.prepare_gains(key for want in wanted.values() for key in want.tested)
            for name in list(wanted):
                try:
                    wanted[name] = next(running[name])
                except StopIteration as end:
                    self._done[name] = end.value
                    del wanted[name]
            if progress is not None:
                left = min(left * _STEP_LEFT, len(wanted) / len(running))
                progress(1.0 - left)
        return [self._done[c.target, c.allowed] for c in choices]

    def promising(self, key: Key) -> Sequence[int]:
        """Return the columns whose score test promises a gain to the model, the most promising first."""
        if key not in self._promising:
            some = [(-gain, i) for i, gain in self.scores.promised(key).items() if gain > self.entry]
            self._promising[key] = tuple(i for _, i in sorted(some))
        return self._promising[key]

    def _choosing(self, choice: Choice) -> _Choosing:
        j, allowed = choice.target, choice.allowed & ~self.limits.forbidden[choice.target]
        parents = tuple(sorted({*(i for i in choice.start if allowed >> i & 1), *self.limits.required[j]}))
        while True:
            yield _Wanted([(j, parents)], [(j, parents)])
            larger = self._larger(j, parents, allowed)
            yield _Wanted([(j, some) for some in larger])
            better = self._best_of(j, parents, larger)
            if better == parents:
                smaller = self._smaller(j, parents)
                yield _Wanted([(j, some) for some in smaller], [(j, some) for some in smaller[:TRIALS]])
                better = self._best_of(j, parents, smaller)
                if better == parents:
                    exchanged = self._exchanged(j, parents, smaller[:TRIALS], allowed)
                    yield _Wanted([(j, some) for some in exchanged])
                    better = self._best_of(j, parents, exchanged)
            if better == parents:
                return self._score(j, parents), parents
            parents = better

    def _score(self, j: int, parents: Parents) -> float:
        return self.scores.losses([(j, parents)])[0] + self.penalty * len(parents)

    def _best_of(self, j: int, parents: Parents, others: Sequence[Parents]) -> Parents:
        """Return the best of other sets of parents if it is clearly better, else the current one."""
        ranked = sorted((self._score(j, some), some) for some in others)
        return ranked[0][1] if ranked and ranked[0][0] < self._score(j, parents) - EQUAL else parents

    def _tried(self, j: int, parents: Parents, allowed: int) -> list[int]:
        return [i for i in self.promising((j, parents)) if allowed >> i & 1][: self.trials]

    def _larger(self, j: int, parents: Parents, allowed: int) -> list[Parents]:
        return [tuple(sorted((*parents, i))) for i in self._tried(j, parents, allowed)]

    def _smaller(self, j: int, parents: Parents) -> list[Parents]:
        """Return the sets that lack one of the parents that contribute least."""
        ranked = np.argsort(self.scores.fits([(j, parents)])[0].contributions, kind="stable")
        free = [i for i in ranked if parents[i] not in self.limits.required[j]]
        return [parents[:i] + parents[i + 1 :] for i in free[: self.trials]]

    def _exchanged(self, j: int, parents: Parents, smaller: list[Parents], allowed: int) -> list[Parents]:
        """Return sets in which one parent is replaced by a variable that promises a share of its gain."""
        share = 0.0 if self.scores.fitter.estimates else MADE_UP
        sets, (now, *without) = set[Parents](), self.scores.losses((j, some) for some in (parents, *smaller))
        for some, loss in zip(smaller, without, strict=True):
            gains = self.scores.promised((j, some))
            made_up = [i for i in self._tried(j, some, allowed)[:TRIALS] if gains[i] > share * (loss - now)]
            sets |= {tuple(sorted((*some, i))) for i in made_up}
        return sorted(sets - {parents})
