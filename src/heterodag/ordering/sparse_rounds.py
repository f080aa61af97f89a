"""Sparse conditioning: rounds of Algorithm 2 in which a variable is fitted only given its chosen parents.

A newly placed variable enters the models of the remaining ones by score test; only the targets whose models change
are refitted and tested for normality again. All score tests of a model are made once, when it is fitted. A round then
costs little more than looking up which of them passed, and ordering d variables costs about n d^2.
"""

from __future__ import annotations

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.core.normality import Statistic
from heterodag.scores.fit import Effort, Fit, Parents
from heterodag.scores.parent_choice import ParentChoices

#: Most parents of a model while ordering; those that contribute most stay. A wrong order would collect false parents.
MAX_PARENTS = 6


class SparseRounds:
    """Scores of the remaining variables given the parents chosen for them among the placed ones."""

    def __init__(self, choices: ParentChoices, statistic: Statistic) -> None:
        self.scores, self.penalty, self.statistic = choices.scores, choices.penalty, statistic
        d = self.scores.d
        self.parents: dict[int, Parents] = dict.fromkeys(range(d), ())
        self._enters = np.zeros((d, d), dtype=bool)
        self._scores = np.ones(d)

    def __call__(self, placed: list[int], newest: list[int], remaining: list[int]) -> Array:
        """Return the scores of the remaining variables."""
        if newest:
            enters = self._enters[np.ix_(remaining, newest)]
            touched = np.flatnonzero(enters.any(axis=1))
            changed = []
            for at in touched:
                j = remaining[at]
                enter = [newest[i] for i in np.flatnonzero(enters[at])]
                self.parents[j] = tuple(sorted({*self.parents[j], *enter}))
                changed.append(j)
            self._update(changed)
        elif not placed:
            self._update(remaining)
        return self._scores[remaining]

    def _update(self, targets: list[int]) -> None:
        fits = self.scores.fits(((j, self.parents[j]) for j in targets), Effort.ROUND)
        keys = [(fit.target, self._cleared(fit)) for fit in fits]
        self.parents |= dict(keys)
        self.scores.prepare_gains(keys, Effort.ROUND)
        for key in keys:
            self._enters[key[0]] = False
            some = [i for i, gain in self.scores.promised(key).items() if gain > self.penalty]
            self._enters[key[0], some] = True
        for part, U in self.scores.residuals(keys, Effort.ROUND):
            self._scores[np.asarray(targets)[part]] = self.statistic(U)

    def _cleared(self, fit: Fit) -> Parents:
        """Return the parents of a fitted model that contribute at least half of their penalty."""
        ranked = sorted(zip(fit.contributions, fit.parents, strict=True), reverse=True)[:MAX_PARENTS]
        return tuple(sorted(i for value, i in ranked if value > 0.5 * self.penalty))
