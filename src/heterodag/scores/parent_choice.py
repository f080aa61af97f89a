"""Which of the variables allowed to a target are its parents: stepwise choice by penalised likelihood.

A variable is tried when its score test promises a gain, enters when the refitted model's score falls, and leaves when the
score falls without it. Many targets are worked on in step, so that their fits run in shared batches.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from heterodag.core.gaussian import Mask
from heterodag.scores.fit import Key, Parents
from heterodag.scores.local import LocalScores

#: At most this many of the most promising variables are tried at a time.
TRIALS = 3
#: Scores closer than this (nats) count as equal.
EQUAL = 0.05

#: A choice under way: asks for losses of models, gets them, and returns its score and parents.
_Choosing = Generator[list[Key], list[float], tuple[float, Parents]]


def entry_gain(d: int) -> float:
    """Return the gain (nats) that a variable's score test must promise for it to be tried.

    Half a variable per model passes by chance, whatever the number of variables d. Of true gains above 9 nats, 2 %
    hide below 3 nats, the threshold at d = 10.
    """
    return float(np.log(d)) + 0.7


def as_bits(columns: Iterable[int]) -> int:
    """Return a set of columns as the bits of an integer."""
    return sum(1 << j for j in columns)


@dataclass(frozen=True)
class Choice:
    """Choose parents of `target` among `allowed` (a bit per column), starting from `start`."""

    target: int
    allowed: int
    start: Parents = ()


@dataclass(frozen=True)
class Limits:
    """What is known beforehand: for every target the parents it must have and, as bits, those it cannot have."""

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
    """Scores of variables given what is allowed to them: loss plus penalty of the parents chosen. Lower is better."""

    def __init__(
        self, scores: LocalScores, penalty: float, limits: Limits | None = None, trials: int = TRIALS
    ) -> None:
        self.scores, self.penalty, self.trials, self.entry = scores, penalty, trials, entry_gain(scores.d)
        self.limits = Limits(((),) * scores.d, (0,) * scores.d) if limits is None else limits
        self._promising: dict[Key, tuple[int, ...]] = {}
        self._done: dict[tuple[int, int, bool], tuple[float, Parents]] = {}

    def choose(self, choices: Iterable[Choice], thorough: bool = True) -> list[tuple[float, Parents]]:
        """Return the score and the parents of every choice.

        Not `thorough`, only the most promising variable is tried at each step and none leaves: a quick estimate.
        """
        choices = list(choices)
        running = {
            (t.target, t.allowed, thorough): self._choosing(t, thorough)
            for t in choices
            if (t.target, t.allowed, thorough) not in self._done
        }
        asked = {name: next(choosing) for name, choosing in running.items()}
        while asked:
            self.scores.losses(key for keys in asked.values() for key in keys)
            for name, keys in list(asked.items()):
                try:
                    asked[name] = running[name].send(self.scores.losses(keys))
                except StopIteration as end:
                    self._done[name] = end.value
                    del asked[name]
        return [self._done[t.target, t.allowed, thorough] for t in choices]

    def promising(self, key: Key) -> Sequence[int]:
        """Return the columns whose score test promises a gain to the model, the most promising first."""
        if key not in self._promising:
            gains = self.scores.gains(key)
            some = np.flatnonzero(gains > self.entry)
            self._promising[key] = tuple(some[np.argsort(-gains[some], kind="stable")].tolist())
        return self._promising[key]

    def _choosing(self, choice: Choice, thorough: bool) -> _Choosing:
        j, allowed = choice.target, choice.allowed & ~self.limits.forbidden[choice.target]
        fixed = self.limits.required[j]
        parents = tuple(sorted({*(i for i in choice.start if allowed >> i & 1), *fixed}))
        (loss,) = yield [(j, parents)]
        score = loss + self.penalty * len(parents)
        while True:
            trials = self._larger(j, parents, allowed)
            better = yield from self._best_of(j, score, trials if thorough else trials[:1])
            if better is None and thorough:
                better = yield from self._best_of(j, score, self._smaller(j, parents))
            if better is None and thorough:
                better = yield from self._best_of(j, score, self._exchanged(j, parents, allowed))
            if better is None:
                return score, parents
            score, parents = better

    def _larger(self, j: int, parents: Parents, allowed: int) -> list[Parents]:
        tried = [i for i in self.promising((j, parents)) if allowed >> i & 1][: self.trials]
        return [tuple(sorted((*parents, i))) for i in tried]

    def _smaller(self, j: int, parents: Parents) -> list[Parents]:
        """Return the sets without one of the parents that contribute least."""
        ranked = np.argsort(self.scores.fits([(j, parents)])[0].contributions, kind="stable")
        free = [i for i in ranked if parents[i] not in self.limits.required[j]]
        return [parents[:i] + parents[i + 1 :] for i in free[: self.trials]]

    def _exchanged(self, j: int, parents: Parents, allowed: int) -> list[Parents]:
        """Return sets in which one parent gives way to another variable."""
        smaller = self._smaller(j, parents)[:TRIALS]
        self.scores.prepare_gains((j, some) for some in smaller)
        sets = {larger for some in smaller for larger in self._larger(j, some, allowed)[:TRIALS]}
        return sorted(sets - {parents})

    def _best_of(
        self, j: int, score: float, trials: list[Parents]
    ) -> Generator[list[Key], list[float], tuple[float, Parents] | None]:
        if not trials:
            return None
        losses = yield [(j, parents) for parents in trials]
        best = min((loss + self.penalty * len(p), p) for loss, p in zip(losses, trials, strict=True))
        return best if best[0] < score - EQUAL else None
