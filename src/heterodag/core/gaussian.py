"""The conditional Gaussian of Algorithm 1, row by row: both forms of its two predictors.

Two linear predictors describe a target `y` given its predecessors: `s`, the log precision, and `A`. With
`h = exp(s/2) = 1/sigma`:

* **natural** (the paper's Eqn. for `ln p(X_i | X_C)`): `eta1 = A + m exp(s)`, `eta2 = -exp(s)/2`, hence
  `mu = m + A exp(-s)` and the residual `e = h (y - m) - A/h`. The free location `m` is ours: without it the
  model class is not closed under shifting `y` (`eta1` would pick up a multiple of `eta2`, which is not linear),
  and the paper's invariance theorem is false for linear `eta1`.
* **location-scale** (Harvey's multiplicative heteroscedasticity): `mu = A`, `e = h (y - A)`.

The loss of a row is `(e^2 - s)/2`, the negative log-likelihood without its constant `ln(2 pi)/2`. Arrays have one
row a target and one column an observation: sums over observations then run over contiguous memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

FORMS = ("natural", "location-scale")


@dataclass(frozen=True)
class RowTerms:
    """What each row contributes to the loss and its derivatives: arrays of shape (targets, rows).

    `s` is the log precision. `loss` is twice the loss and `m` minus its derivative by the free location (the factors
    are applied to the sums). `first` stacks the first derivatives of the loss by `A` and `s`, and in natural form the
    mixed second derivative by `s` and `m`; `second` stacks the second derivatives `AA`, `As`, `ss` (expected or
    observed). `mm` is the second derivative by the location; `m` and `mm` are None in location-scale form; `Am` is
    always 1.
    """

    s: Array
    loss: Array
    first: Array
    second: Array
    m: Array | None = None
    mm: Array | None = None


def natural_terms(y: Array, A: Array, s: Array, m: Array, observed: Array) -> RowTerms:
    """Return the row terms of the natural form.

    `observed` (targets, 1) is 1 for a target whose observed second derivatives are wanted (Newton) and 0 for
    the expected ones (Fisher), which are positive semi-definite everywhere.
    """
    first, second = np.empty((3, *y.shape)), np.empty((3, *y.shape))
    h = np.exp(0.5 * s)
    sigma = 1.0 / h
    r = A * sigma
    e = y - m
    e *= h
    e -= r
    square = e * e
    grad_s = np.subtract(square, 1.0, out=first[1])
    grad_s *= 0.5
    grad_s += e * r
    np.multiply(e, sigma, out=first[0])
    np.negative(first[0], out=first[0])
    he = h * e
    np.multiply(he, -observed, out=first[2])
    first[2] -= A
    np.multiply(sigma, sigma, out=second[0])
    np.multiply(r, -sigma, out=second[1])
    np.multiply(r, r, out=second[2])
    second[2] += 0.5
    second[2] += observed * grad_s
    square -= s
    return RowTerms(s, square, first, second, m=he, mm=np.multiply(h, h, out=h))


def location_scale_terms(y: Array, A: Array, s: Array, observed: Array) -> RowTerms:
    """Return the row terms of the location-scale form; `observed` as in `natural_terms`."""
    first, second = np.empty((2, *y.shape)), np.empty((3, *y.shape))
    h = np.exp(0.5 * s)
    e = (y - A) * h
    square = e * e
    np.multiply(h, -e, out=first[0])
    np.subtract(square, 1.0, out=first[1])
    first[1] *= 0.5
    np.multiply(h, h, out=second[0])
    np.multiply(first[0], observed, out=second[1])
    np.multiply(first[1], observed, out=second[2])
    second[2] += 0.5
    square -= s
    return RowTerms(s, square, first, second)


def residuals(form: str, y: Array, A: Array, s: Array, m: Array | float = 0.0) -> Array:
    """Return the standardised residual `U = (y - mu)/sigma` of Algorithm 1."""
    h = np.exp(0.5 * s)
    if form == "natural":
        return h * (y - m) - A / h
    return h * (y - A)


def mean_and_scale(form: str, A: Array, s: Array, m: Array | float = 0.0) -> tuple[Array, Array]:
    """Return `(mu, sigma)` of the conditional Gaussian."""
    sigma = np.exp(-0.5 * s)
    return (m + A * sigma * sigma if form == "natural" else A), sigma
