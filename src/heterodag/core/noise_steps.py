"""Maximum likelihood under noise that is not normal: a few scoring steps from the Gaussian estimate.

The Gaussian estimate of mean and spread is consistent whatever the noise, but not efficient, and its likelihood ratios are
not chi-square. Given a density f of the noise, the loss of a row is `-ln f(e) - s/2`. With `psi = -f'/f`, `chi = e psi - 1`
and `r = de/ds - e/2` (0 in location-scale form, `A/h` in the natural one), its derivatives are `psi de/dA` and
`chi/2 + psi r`, and their expected products need three numbers of the density (`Density.informations`). Steps and fits of
the density alternate; after two rounds both have settled for all purposes.
"""

from __future__ import annotations

import numpy as np

from heterodag.core.densities import Density, fit_densities
from heterodag.core.gaussian import Array
from heterodag.core.layout import Coefficients

#: Rounds of steps and densities, and halvings of a step before it is given up.
ROUNDS, _HALVINGS = 2, 3


def refine_under_noise(
    shape: Coefficients, Z: Array, y: Array, theta: Array, penalty: Array, density: Density, rounds: int = ROUNDS
) -> tuple[Array, Density, float]:
    """Return coefficients, density and penalised loss after some rounds; the loss never rises.

    Parameters
    ----------
    shape : layout and form.
    Z : (p, n) design.
    y : (n,) target.
    theta : (size,) coefficients to start from.
    penalty : (size,) quadratic penalty per coefficient, on the scale of sums over rows.
    density : of the residuals at `theta`.
    """
    with np.errstate(all="ignore"):
        best = _loss(shape, Z, y, theta, penalty, density)
        for _ in range(rounds):
            step = _step(shape, Z, y, theta, penalty, density)
            for length in 0.5 ** np.arange(_HALVINGS):
                new = theta + length * step
                e = _residuals(shape, Z, y, new)[0]
                if not np.isfinite(e).all() or np.abs(e).max() > 1e3:
                    continue
                fitted = fit_densities(e[None]).one(0)
                value = _loss(shape, Z, y, new, penalty, fitted)
                if value < best:
                    theta, density, best = new, fitted, value
                    break
            else:
                break
    return theta, density, best


def _residuals(shape: Coefficients, Z: Array, y: Array, theta: Array) -> tuple[Array, Array, Array]:
    A, s, m = shape.predictors(theta[:, None], Z)
    return shape.form.residuals(y[None], A, s, m)[0], A[0], s[0]


def _loss(shape: Coefficients, Z: Array, y: Array, theta: Array, penalty: Array, density: Density) -> float:
    e, _, s = _residuals(shape, Z, y, theta)
    rows = 0.5 * (e @ e - s.sum()) - density.log_ratio(e).sum()
    return float(rows + 0.5 * penalty @ theta**2)


def _step(shape: Coefficients, Z: Array, y: Array, theta: Array, penalty: Array, density: Density) -> Array:
    """Return the scoring step for all coefficients together."""
    e, A, s = _residuals(shape, Z, y, theta)
    h = np.exp(0.5 * s)
    on_mean, r = (-1.0 / h, A / h) if shape.form.locations else (-h, np.zeros_like(h))
    psi = density.slope(e)
    location, scale, both = density.informations()
    mixed = on_mean * (location * r + 0.5 * both)
    spread = 0.25 * scale + location * r * r + both * r
    gradient = [Z @ (psi * on_mean), Z @ (0.5 * (e * psi - 1.0) + psi * r)]
    As = (Z * mixed) @ Z.T
    information = np.block([[(Z * (location * on_mean**2)) @ Z.T, As], [As.T, (Z * spread) @ Z.T]])
    if shape.form.locations:
        gradient.append(np.array([-(psi * h).sum()]))
        border = np.concatenate([Z @ (-h * on_mean * location), Z @ (-h * (location * r + 0.5 * both))])[:, None]
        corner = np.array([[location * (h * h).sum()]])
        information = np.block([[information, border], [border.T, corner]])
    total = np.concatenate(gradient) + penalty * theta
    diagonal = information.diagonal() + penalty
    root = np.sqrt(np.maximum(diagonal, 1e-300))
    scaled = information / np.outer(root, root)
    np.fill_diagonal(scaled, 1.0 + 1e-8)
    return -np.linalg.solve(scaled, total / root) / root
