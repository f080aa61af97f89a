"""Where the coefficients of a conditional Gaussian stand in a vector."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from heterodag.core.design import combine
from heterodag.core.gaussian import Array, Form, Index


@dataclass(frozen=True)
class Coefficients:
    """Layout of a coefficient vector: `a` (for A), `b` (for s), and `m` where the form has a location.

    Vectors are stacked as columns: `theta[:p]` is `a`, `theta[p:2p]` is `b`, `theta[2p]` is `m`.
    """

    form: Form
    width: int

    @property
    def size(self) -> int:
        """Number of coefficients of one target."""
        return 2 * self.width + self.form.locations

    @cached_property
    def mean(self) -> Index:
        """Return where `a` and `m` stand: the coefficients that are a weighted regression given `b`."""
        return np.asarray(np.r_[: self.width, 2 * self.width : self.size])

    @cached_property
    def spread(self) -> slice:
        """Return where `b` stands."""
        return slice(self.width, 2 * self.width)

    def predictors(self, theta: Array, Z: Array) -> tuple[Array, Array, Array | float]:
        """Return `A`, `s` (targets, observations) and `m` (targets, 1); `Z` is as `core.design.combine` says."""
        p = self.width
        location = theta[2 * p][:, None] if self.form.locations else 0.0
        return combine(theta[:p], Z), combine(theta[p : 2 * p], Z), location

    def ridge(self, strength: float) -> Array:
        """Return the ridge (size, 1): intercepts are free, except the one that competes with `m`."""
        weights = np.full((self.size, 1), strength)
        weights[[self.width, 2 * self.width if self.form.locations else 0]] = 0.0
        return weights

    def of_rows(self, rows: Index | slice) -> Index:
        """Return the coefficients of some rows of the design, those in `A` before those in `s`."""
        own = np.arange(self.width)[rows]
        return np.concatenate([own, self.width + own])

    def embed(self, rows: Index) -> Index:
        """Return where the coefficients of a design with only these rows sit among all coefficients."""
        return np.concatenate([rows, self.width + rows, np.arange(2 * self.width, self.size)])
