"""Which of the variables allowed to a target are its parents: stepwise choice by penalised likelihood.

A variable is tried when its score test promises a gain, enters when the refitted model's score falls, and leaves when the
score falls without it. Many targets are worked on in step, so that their fits run in shared batches.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .node_fits import Key, NodeFits, Parents

#: A variable is tried if its score test promises this gain (nats); 2 % of gains above 9 nats hide below it.
ENTRY = 3.0
#: At most this many of the most promising variables are tried at a time.
TRIALS = 3
#: Scores closer than this (nats) count as equal.
EQUAL = 0.05

#: A choice under way: asks for losses of models, gets them, and returns its score and parents.
_Choosing = Generator[list[Key], list[float], tuple[float, Parents]]


def parent_penalty(n: int, d: int) -> float:
    """Return what a parent must gain: the extended BIC, ln n for its two coefficients and ln d for the choice."""
    return float(np.log(n) + np.log(d))


def as_bits(columns: Iterable[int]) -> int:
    """Return a set of columns as the bits of an integer."""
    return sum(1 << j for j in columns)


@dataclass(frozen=True)
class Task:
    """Choose parents of `target` among `allowed` (a bit per column), starting from `start`."""

    target: int
    allowed: int
    start: Parents = ()


class ParentChoice:
    """Scores of variables given what is allowed to them: loss plus penalty of the parents chosen. Lower is better."""

    def __init__(self, fits: NodeFits, penalty: float) -> None:
        self.fits, self.penalty = fits, penalty
        self._done: dict[tuple[int, int, bool], tuple[float, Parents]] = {}

    def choose(self, tasks: Iterable[Task], thorough: bool = True) -> list[tuple[float, Parents]]:
        """Return the score and the parents of every task; `thorough` also exchanges parents one for one."""
        tasks = list(tasks)
        running = {
            (t.target, t.allowed, thorough): self._choosing(t, thorough)
            for t in tasks
            if (t.target, t.allowed, thorough) not in self._done
        }
        asked = {name: next(choosing) for name, choosing in running.items()}
        while asked:
            self.fits.losses(key for keys in asked.values() for key in keys)
            for name, keys in list(asked.items()):
                try:
                    asked[name] = running[name].send(self.fits.losses(keys))
                except StopIteration as end:
                    self._done[name] = end.value
                    del asked[name]
        return [self._done[t.target, t.allowed, thorough] for t in tasks]

    def wishes(self, key: Key) -> Sequence[int]:
        """Return the columns whose score test promises a gain to the model, the most promising first."""
        gains = self.fits.gains(key)
        wished = np.flatnonzero(gains > ENTRY)
        return [int(i) for i in wished[np.argsort(-gains[wished], kind="stable")]]

    def _choosing(self, task: Task, thorough: bool) -> _Choosing:
        j = task.target
        parents = tuple(i for i in task.start if task.allowed >> i & 1)
        (loss,) = yield [(j, parents)]
        score = loss + self.penalty * len(parents)
        while True:
            entered = yield from self._best_of(j, score, self._larger(j, parents, task.allowed))
            if entered is not None:
                score, parents = entered
                continue
            left = yield from self._best_of(j, score, self._smaller(j, parents))
            if left is None and thorough:
                left = yield from self._best_of(j, score, self._exchanged(j, parents, task.allowed))
            if left is None:
                return score, parents
            score, parents = left

    def _larger(self, j: int, parents: Parents, allowed: int) -> list[Parents]:
        tried = [i for i in self.wishes((j, parents)) if allowed >> i & 1][:TRIALS]
        return [tuple(sorted((*parents, i))) for i in tried]

    def _smaller(self, j: int, parents: Parents) -> list[Parents]:
        """Return the sets without one of the parents that contribute least."""
        weakest = np.argsort(self.fits.known[j, parents].worth, kind="stable")[:TRIALS]
        return [parents[:i] + parents[i + 1 :] for i in weakest]

    def _exchanged(self, j: int, parents: Parents, allowed: int) -> list[Parents]:
        """Return sets in which one parent gives way to another variable."""
        smaller = self._smaller(j, parents)
        self.fits.prepare_gains((j, some) for some in smaller)
        sets = {larger for some in smaller for larger in self._larger(j, some, allowed)}
        return sorted(sets - {parents})

    def _best_of(
        self, j: int, score: float, trials: list[Parents]
    ) -> Generator[list[Key], list[float], tuple[float, Parents] | None]:
        if not trials:
            return None
        losses = yield [(j, parents) for parents in trials]
        best = min((loss + self.penalty * len(p), p) for loss, p in zip(losses, trials, strict=True))
        return best if best[0] < score - EQUAL else None
