"""Natural cubic splines of one column: cubic between knots at quantiles, straight lines outside them.

The straight tails keep an outlier from swinging the fit; a polynomial or a free cubic end would.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

from heterodag.independence._regression import standardized
from heterodag.independence.contract import Array

#: The outer knots lie at this quantile and its mirror image.
OUTER = 0.003
#: Directions of a block below this share of its largest are rounding errors. It is far below the tolerance
#: for whole designs: one outlier alone can make the straight tails a million times larger than what happens
#: between the knots.
BLOCK_TOLERANCE = 1e-10


def columns_per_block(n: int, blocks: int, most: int, rows_per_column: int) -> int:
    """Return how many columns each of `blocks` splines gets, from `most` down to 1 (a straight line)."""
    return min(most, max(1, n // rows_per_column // max(blocks, 1)))


def knots(x: Array, size: int) -> Array:
    """Return at most `size` distinct knots.

    Notes
    -----
    Knots are quantiles of x, denser towards both ends: the means and variances of this field often bend most
    where few rows are, and a curve that misses its cause there is made up for by whatever is correlated with
    it. Where ties make quantiles coincide, quantiles of the distinct values are taken; a column with no more
    than `size` distinct values has these as its knots.
    """
    levels = np.unique(x)
    if len(levels) <= size:
        return levels
    shares = OUTER + (1 - 2 * OUTER) * np.sin(np.linspace(0, np.pi / 2, size)) ** 2
    found = np.unique(np.quantile(x, shares))
    return found if len(found) == size else np.unique(np.quantile(levels, shares))


def spline_block(x: Array, width: int) -> Array:
    """Return centred orthonormal columns that span the natural splines of x.

    Parameters
    ----------
    x : ndarray of shape (n,)
        One column.
    width : int
        Number of columns wanted; 1 is a straight line.

    Returns
    -------
    ndarray of shape (n, w)
        w is `width`, or less if x has fewer distinct values: a constant column has none.
    """
    left, values, _ = _centred_svd(_values(x, width)[0])
    return np.asarray(left[:, : len(values)])


def smoothing_block(x: Array, width: int) -> tuple[Array, Array]:
    """Return columns as `spline_block` does, each with its roughness, from the straight line to the roughest.

    Notes
    -----
    The Demmler-Reinsch basis: columns are orthonormal and so are their second derivatives up to scale, so
    that penalising the integral of the squared second derivative is a ridge with one weight per column.
    Roughness is 0 for the line and 1 for the smoothest curve.
    """
    values, spline, places = _values(x, width)
    left, sizes, right = _centred_svd(values)
    if spline is None or len(sizes) < 2:
        return left, np.zeros(len(sizes))
    bend = _curvature_root(spline, places) @ (right.T / sizes)
    roughness, turn = np.linalg.eigh(bend.T @ bend)
    return left @ turn, np.maximum(roughness, 0.0) / np.maximum(roughness[1], np.finfo(float).eps)


def _values(x: Array, width: int) -> tuple[Array, CubicSpline | None, Array]:
    """Return the splines that are 1 at one knot and 0 at the others (columns), at every x."""
    z = standardized(x[:, None])[:, 0]
    places = knots(z, width + 1)
    if len(places) <= 2:
        return z[:, None], None, places
    spline = CubicSpline(places, np.eye(len(places)), bc_type="natural")
    inside = np.clip(z, places[0], places[-1])
    # The first derivative at the nearest knot continues the curve as a straight line.
    return np.asarray(spline(inside) + (z - inside)[:, None] * spline(inside, 1)), spline, places


def _centred_svd(values: Array) -> tuple[Array, Array, Array]:
    left, sizes, right = np.linalg.svd(values - values.mean(axis=0), full_matrices=False)
    rank = int(np.sum(sizes > BLOCK_TOLERANCE * max(sizes[0], BLOCK_TOLERANCE)))
    return left[:, :rank], sizes[:rank], right[:rank]


def _curvature_root(spline: CubicSpline, places: Array) -> Array:
    """Return C with |C b|^2 the integral of the squared second derivative, b the values at the knots."""
    gaps = np.diff(places)
    # The second derivative is piecewise linear: Simpson's rule is exact for its square.
    middles = places[:-1] + gaps / 2
    weights = np.sqrt(np.concatenate([gaps, 4 * gaps, gaps]) / 6)
    points = np.concatenate([places[:-1], middles, places[1:]])
    return np.asarray(weights[:, None] * spline(points, 2))
