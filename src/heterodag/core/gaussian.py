"""The conditional Gaussian of Algorithm 1, row by row: the two forms of its two predictors.

Two linear predictors describe a target `y` given its parents: `s`, the log precision, and `A`. With
`h = exp(s/2) = 1/sigma`:

* **natural** (the paper's Eqn. for `ln p(X_i | X_C)`): `eta1 = A + m exp(s)`, `eta2 = -exp(s)/2`, hence
  `mu = m + A exp(-s)` and the residual `e = h (y - m) - A/h`. The free location `m` is ours: without it the
  model class is not closed under shifting `y` (`eta1` would pick up a multiple of `eta2`, which is not linear),
  and the paper's invariance theorem is false for linear `eta1`.
* **location-scale** (Harvey's multiplicative heteroscedasticity): `mu = A`, `e = h (y - A)`.

The loss of a row is `(e^2 - s)/2`, the negative log-likelihood without its constant `ln(2 pi)/2`. Given `s`, either
form is a weighted least-squares regression for `A` (and `m`), which the solver makes use of. Arrays have one row per
target and one column per observation: sums over observations then run over contiguous memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class MeanTerms:
    """The weighted regression that remains when `s` is given, row by row.

    Attributes
    ----------
    h : root precision `exp(s/2)`.
    root : square root of the weight of a row, which is the second derivative of its loss by `A`.
    response : the right-hand side of the normal equations is `Z @ response`.
    precision : weight of a row in the equation for the location `m`; None if the form has no location.
    """

    h: Array
    root: Array
    response: Array
    precision: Array | None


class Form(ABC):
    """How mean and spread follow from the two predictors."""

    name: str
    #: 1 if there is a free location `m` besides the predictors, else 0.
    locations: int

    @abstractmethod
    def mean_terms(self, y: Array, s: Array) -> MeanTerms:
        """Return the weighted regression of `y` that remains when `s` is given."""

    @abstractmethod
    def standardized(self, mean: MeanTerms, y: Array, A: Array, m: Array) -> Array:
        """Return the residuals `e`, given the result of `mean_terms`."""

    @abstractmethod
    def spread_terms(self, mean: MeanTerms, e: Array, A: Array, observed: bool, first: Array, second: Array) -> None:
        """Fill in the derivatives of the rows' losses that involve `s`, at residuals `e`.

        `first` (1 or 2, targets, rows) gets those by `s` and, if the form has a location, those by `s` and `m`;
        `second` (2, targets, rows) gets those by `A` and `s` and those by `s` twice. Second derivatives are the
        observed ones (Newton) or the expected ones (Fisher), which are positive semi-definite everywhere.
        """

    @abstractmethod
    def residuals(self, y: Array, A: Array, s: Array, m: Array | float) -> Array:
        """Return the standardised residual `U = (y - mu)/sigma` of Algorithm 1."""

    @abstractmethod
    def mean_and_scale(self, A: Array, s: Array, m: Array | float) -> tuple[Array, Array]:
        """Return `(mu, sigma)` of the conditional Gaussian."""

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle a form by its name, so that it is the same object in every process."""
        return _named, (self.name,)


def _named(name: str) -> Form:
    return FORMS[name]


class _Natural(Form):
    name, locations = "natural", 1

    def mean_terms(self, y: Array, s: Array) -> MeanTerms:
        h = np.exp(0.5 * s)
        return MeanTerms(h, 1.0 / h, y, h * h)

    def standardized(self, mean: MeanTerms, y: Array, A: Array, m: Array) -> Array:
        e = y - m
        e *= mean.h
        e -= A * mean.root
        return e

    def spread_terms(self, mean: MeanTerms, e: Array, A: Array, observed: bool, first: Array, second: Array) -> None:
        slope, location = first
        mixed, square = second
        r = A * mean.root
        np.multiply(e, e, out=slope)
        slope -= 1.0
        slope *= 0.5
        slope += e * r
        np.multiply(r, mean.root, out=mixed)
        np.negative(mixed, out=mixed)
        np.negative(A, out=location)
        np.multiply(r, r, out=square)
        square += 0.5
        if observed:
            location -= mean.h * e
            square += slope

    def residuals(self, y: Array, A: Array, s: Array, m: Array | float) -> Array:
        h = np.exp(0.5 * s)
        return h * (y - m) - A / h

    def mean_and_scale(self, A: Array, s: Array, m: Array | float) -> tuple[Array, Array]:
        sigma = np.exp(-0.5 * s)
        return m + A * sigma * sigma, sigma


class _LocationScale(Form):
    name, locations = "location-scale", 0

    def mean_terms(self, y: Array, s: Array) -> MeanTerms:
        h = np.exp(0.5 * s)
        return MeanTerms(h, h, h * h * y, None)

    def standardized(self, mean: MeanTerms, y: Array, A: Array, m: Array) -> Array:
        return mean.h * (y - A)

    def spread_terms(self, mean: MeanTerms, e: Array, A: Array, observed: bool, first: Array, second: Array) -> None:
        np.multiply(e, e, out=first[0])
        first[0] -= 1.0
        first[0] *= 0.5
        second[0], second[1] = 0.0, 0.5
        if observed:
            second[0] -= mean.h * e
            second[1] += first[0]

    def residuals(self, y: Array, A: Array, s: Array, m: Array | float) -> Array:
        return np.exp(0.5 * s) * (y - A)

    def mean_and_scale(self, A: Array, s: Array, m: Array | float) -> tuple[Array, Array]:
        return A, np.exp(-0.5 * s)


NATURAL, LOCATION_SCALE = _Natural(), _LocationScale()
#: The forms by the names that users give them.
FORMS: dict[str, Form] = {form.name: form for form in (NATURAL, LOCATION_SCALE)}


@dataclass(frozen=True)
class RowDerivatives:
    """Derivatives of the rows' losses by `A`, `s` and the location `m`, if the form has one; each (targets, rows).

    Second derivatives are the expected ones; that by `A` and `m` is 1 everywhere.
    """

    A: Array
    s: Array
    AA: Array
    As: Array
    ss: Array
    m: Array | None = None
    sm: Array | None = None
    mm: Array | None = None


def row_derivatives(form: Form, y: Array, A: Array, s: Array, m: Array | float) -> RowDerivatives:
    """Return what every row contributes to the gradient and the expected information."""
    mean = form.mean_terms(y, s)
    e = form.standardized(mean, y, A, np.asarray(m))
    first, second = np.empty((1 + form.locations, *e.shape)), np.empty((2, *e.shape))
    form.spread_terms(mean, e, A, False, first, second)
    own = RowDerivatives(-e * mean.root, first[0], mean.root**2, second[0], second[1])
    return own if mean.precision is None else replace(own, m=-mean.h * e, sm=first[1], mm=mean.precision)
