"""Where the coefficients of a conditional Gaussian are in a vector."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from heterodag.core.design import combine
from heterodag.core.gaussian import Array, Form, Index


@dataclass(frozen=True)
class Coefficients:
    """Layout of a coefficient vector: `a` (for A), `b` (for s), and `m` if the form has a location.

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
        """Return the positions of `a` and `m`: the coefficients that are a weighted regression given `b`."""
        return np.asarray(np.r_[: self.width, 2 * self.width : self.size])

    @cached_property
    def spread(self) -> slice:
        """Return the positions of `b`."""
        return slice(self.width, 2 * self.width)

    def predictors(self, theta: Array, Z: Array) -> tuple[Array, Array, Array | float]:
        """Return `A`, `s` (targets, observations) and `m` (targets, 1); `Z` is as in `core.design.combine`."""
        p = self.width
        location = theta[2 * p][:, None] if self.form.locations else 0.0
        return combine(theta[:p], Z), combine(theta[p : 2 * p], Z), location

    def ridge(self, strength: float) -> Array:
        """Return the ridge (size, 1): intercepts are not penalised, except the one that competes with `m`."""
        weights = np.full((self.size, 1), strength)
        weights[[self.width, 2 * self.width if self.form.locations else 0]] = 0.0
        return weights

    def of_rows(self, rows: Index | slice) -> Index:
        """Return the positions of the coefficients of some rows of the design, those in `A` before those in `s`."""
        own = np.arange(self.width)[rows]
        return np.concatenate([own, self.width + own])

    def embed(self, rows: Index) -> Index:
        """Return the positions, among all coefficients, of those of a design with only these rows."""
        return np.concatenate([rows, self.width + rows, np.arange(2 * self.width, self.size)])
