"""Natural cubic splines of one column: cubic between knots at quantiles, straight lines outside them.

The straight tails keep an outlier from swinging the fit, as it could with a polynomial or a free cubic end.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicSpline

from heterodag.core.gaussian import Array
from heterodag.core.table import location_and_scale

#: The outer knots lie at this quantile and its mirror image.
OUTER = 0.003
#: Singular values of a block below this share of its largest are rounding errors. The limit is far below that for
#: whole designs: one outlier can make the straight tails a million times larger than the curve between the knots.
BLOCK_TOLERANCE = 1e-10


def columns_per_block(n: int, blocks: int, most: int, rows_per_column: int) -> int:
    """Return how many columns each of `blocks` splines gets, from `most` down to 1 (a straight line)."""
    return min(most, max(1, n // rows_per_column // max(blocks, 1)))


def knots(x: Array, size: int) -> Array:
    """Return at most `size` distinct knots.

    Notes
    -----
    Knots are quantiles of x, denser towards both ends: in this field means and variances often bend most where
    there are few rows. If a curve misses the effect of a cause there, correlated variables step in as false causes.
    Where ties make quantiles coincide, quantiles of the distinct values are taken; a column with no more than
    `size` distinct values has these as its knots.
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
    """Return columns as `spline_block` does, from the straight line to the roughest curve, and their roughness.

    Notes
    -----
    The Demmler-Reinsch basis: columns are orthonormal, and their second derivatives are orthogonal, so that
    penalising the integral of the squared second derivative is a ridge with one weight per column.
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
    (location,), (scale,) = location_and_scale(x[:, None])
    z = (x - location) / (np.inf if scale <= 1e-14 * abs(location) else scale)
    places = knots(z, width + 1)
    if len(places) <= 2:
        return z[:, None], None, places
    spline = CubicSpline(places, np.eye(len(places)), bc_type="natural")
    return _with_straight_tails(spline, z), spline, places


def _with_straight_tails(spline: CubicSpline, z: Array) -> Array:
    """Evaluate a spline that continues beyond its outer knots as a straight line with the slope found there."""
    inside = np.clip(z, spline.x[0], spline.x[-1])
    values: Array = spline(inside)
    outside = np.flatnonzero(inside != z)
    values[outside] += (z[outside] - inside[outside])[:, None] * spline(inside[outside], 1)
    return values


def _centred_svd(values: Array) -> tuple[Array, Array, Array]:
    left, sizes, right = np.linalg.svd(values - values.mean(axis=0), full_matrices=False)
    rank = int(np.sum(sizes > BLOCK_TOLERANCE * max(sizes[0], BLOCK_TOLERANCE)))
    return left[:, :rank], sizes[:rank], right[:rank]


def _curvature_root(spline: CubicSpline, places: Array) -> Array:
    """Return C such that |C b|^2 is the integral of the squared second derivative for knot values b."""
    gaps = np.diff(places)
    # The second derivative is piecewise linear: Simpson's rule is exact for its square.
    middles = places[:-1] + gaps / 2
    weights = np.sqrt(np.concatenate([gaps, 4 * gaps, gaps]) / 6)
    points = np.concatenate([places[:-1], middles, places[1:]])
    return np.asarray(weights[:, None] * spline(points, 2))


@dataclass(frozen=True, eq=False)
class ColumnSpline:
    """The basis of one standardised column: the column itself, then curves, from the smoothest to the roughest.

    Attributes
    ----------
    curves : the curves as one vector-valued spline of the column, or None if the column allows only a line.
    roughness : (k,) penalty weight per basis column: 0 for the line, 1 for the smoothest curve.

    Notes
    -----
    On the rows it was made from, the columns have mean 0 and mean square 1 and are uncorrelated, and their second
    derivatives are orthogonal (Demmler and Reinsch): penalising the integral of the squared second derivative is a
    ridge with one weight per column. Knots are quantiles, so the span and the weights do not change with the unit or
    the sign of the column (a curve may change its sign).
    """

    curves: CubicSpline | None
    roughness: Array

    @property
    def width(self) -> int:
        """Number of basis columns."""
        return len(self.roughness)

    @cached_property
    def places(self) -> bytes:
        """The knots, as a key: bases with the same knots have the same powers."""
        return b"" if self.curves is None else self.curves.x.tobytes()

    def __call__(self, x: Array, width: int | None = None) -> Array:
        """Return the basis columns (k, rows) at values `x`; only the first `width` if given."""
        curves = self.width - 1 if width is None else min(width, self.width) - 1
        if self.curves is None or curves < 1:
            return x[None, :]
        some = self.curves if curves == self.width - 1 else _leading(self.curves, curves)
        return np.vstack([x[None, :], _with_straight_tails(some, x).T])

    def leading(self, width: int) -> ColumnSpline:
        """Return the basis of the first `width` columns."""
        if self.curves is None or width >= self.width:
            return self
        return ColumnSpline(_leading(self.curves, width - 1), self.roughness[:width]) if width > 1 else LINE

    def combined(self, weights: Array) -> ColumnSpline:
        """Return the basis of the line and of weighted sums of the first curves; weights are (curves, sums)."""
        if self.curves is None or not len(weights):
            return LINE
        pieces = self.curves.c[:, :, : len(weights)] @ weights
        return ColumnSpline(CubicSpline.construct_fast(pieces, self.curves.x), np.r_[0.0, np.ones(weights.shape[1])])

    def in_powers(self, width: int) -> Array:
        """Return weights (powers, width) such that the first basis columns are `weights.T @ powers(...)`."""
        if self.curves is None or width < 2:
            return np.array([[0.0], [1.0]])
        c, x = self.curves.c[:, :, : width - 1], self.curves.x
        weights = np.zeros((len(x) + 4, width))
        weights[1, 0] = 1.0
        weights[0, 1:], weights[2, 1:], weights[3, 1:] = c[3, 0], c[2, 0], c[0, 0]
        weights[4:-2, 1:] = np.diff(c[0], axis=0)  # only the third derivative jumps at knots
        weights[-2, 1:], weights[-1, 1:] = self.curves(x[0], 1)[: width - 1], self.curves(x[-1], 1)[: width - 1]
        return weights


def powers(column: ColumnSpline, x: Array, width: int) -> Array:
    """Return the truncated powers (powers, rows) that the basis of a column is made of.

    With them, sums of basis columns, and sums over rows weighted by basis columns, cost a fraction of what the basis
    itself costs. They do not serve for products of two basis columns: they are too nearly collinear.
    """
    if column.curves is None or width < 2:
        return np.stack([np.ones_like(x), x])
    knots = column.curves.x
    out = np.empty((len(knots) + 4, len(x)))
    inside = np.clip(x, knots[0], knots[-1])
    out[0], out[1], out[2] = 1.0, x, inside - knots[0]
    out[3] = out[2] ** 3
    np.maximum(inside - knots[1:-1, None], 0.0, out=out[4:-2])
    out[4:-2] *= out[4:-2] * out[4:-2]
    np.minimum(x - knots[0], 0.0, out=out[-2])
    np.maximum(x - knots[-1], 0.0, out=out[-1])
    return out


#: The basis of a column without curves.
LINE = ColumnSpline(None, np.zeros(1))


def _leading(curves: CubicSpline, count: int) -> CubicSpline:
    """Return the first functions of a vector-valued spline."""
    return CubicSpline.construct_fast(np.ascontiguousarray(curves.c[:, :, :count]), curves.x)


def column_spline(x: Array, width: int) -> ColumnSpline:
    """Return the basis of a column with mean 0 and standard deviation 1, with at most `width` basis columns.

    If the column has few distinct values, its basis is smaller; it always has the line.
    """
    places = knots(x, width + 1)
    if len(places) <= 2:
        return LINE
    cardinal = CubicSpline(places, np.eye(len(places)), bc_type="natural")
    values = _with_straight_tails(cardinal, x)
    mean = values.mean(axis=0)
    _, sizes, right = np.linalg.svd(values - mean, full_matrices=False)
    rank = int(np.sum(sizes > BLOCK_TOLERANCE * sizes[0]))
    # Knot values of functions with mean 0 and mean square 1, the line among them.
    unit = right[:rank].T * (np.sqrt(len(x)) / sizes[:rank])
    bend = _curvature_root(cardinal, places) @ unit
    roughness, turn = np.linalg.eigh(bend.T @ bend)
    heights = unit @ turn[:, 1:]
    curves = CubicSpline(places, heights - mean @ heights, bc_type="natural")
    return ColumnSpline(curves, np.r_[0.0, roughness[1:] / roughness[1]])


@dataclass(frozen=True, eq=False)
class SplineBasis:
    """A design for several predecessors: a row of ones, then each predecessor's basis columns (a `Basis`).

    Attributes
    ----------
    columns : one `ColumnSpline` per predecessor.
    widths : how many basis columns of each predecessor are in the design; 1 is the line only.
    """

    columns: tuple[ColumnSpline, ...]
    widths: tuple[int, ...]

    @property
    def width(self) -> int:
        """Number of design rows."""
        return 1 + sum(self.widths)

    @property
    def blocks(self) -> list[slice]:
        """The design rows of each predecessor, the line first."""
        ends = np.cumsum([1, *self.widths])
        return [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]

    @property
    def roughness(self) -> Array:
        """The penalty weight of every design row: 0 for the constant and the lines."""
        own = [column.roughness[:width] for column, width in zip(self.columns, self.widths, strict=True)]
        return np.concatenate([np.zeros(1), *own])

    def __call__(self, predecessors: Array) -> Array:
        """Return the design (p, rows) of standardised predecessors (k, rows)."""
        Z = np.ones((self.width, predecessors.shape[1]))
        for x, column, width, block in zip(predecessors, self.columns, self.widths, self.blocks, strict=True):
            Z[block] = column(x, width)
        return Z
