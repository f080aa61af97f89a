"""Designs of splines: the basis of every column of a table, and the part of it that one model uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heterodag.core.design import Design
from heterodag.core.gaussian import Array, Form, Index
from heterodag.core.layout import Coefficients
from heterodag.core.smoothing import PenaltyBlock
from heterodag.core.splines import ColumnSpline, SplineBasis, column_spline
from heterodag.core.table import BLOCK_BYTES, CACHE_BYTES, Table
from heterodag.scores.fit import LinearFit

#: Basis columns per parent, its line included: a multiple of the cube root of the rows, between these bounds. Fewer
#: than 20 miss the faster waves of the paper's simulation; the penalty keeps the rest smooth.
FEWEST_COLUMNS, MOST_COLUMNS, _PER_ROOT = 4, 20, 1.6
#: The basis columns kept for one table take at most this many bytes; others are recomputed when needed.
KEPT_BYTES = 2**26
#: At most this many evenly spaced rows decide on knots and curves.
_ROWS_FOR_KNOTS = 20_000


def basis_width(n: int) -> int:
    """Return the number of basis columns of a parent in a table of n rows, its line included."""
    return int(np.clip(round(_PER_ROOT * n ** (1 / 3)), FEWEST_COLUMNS, MOST_COLUMNS))


def spline_of(table: Table, column: int, width: int | None = None) -> ColumnSpline:
    """Return the spline basis of one standardised column: call it with values, (rows,) -> (k, rows), line first.

    Its `roughness` (k,) holds the relative penalty of every basis column. It has at most `width` columns, by default
    `basis_width`, and is computed once per table.
    """
    n = table.shape[0]
    width = basis_width(n) if width is None else width
    key = ("spline", column, width)
    if key not in table.memo:
        x = table.take([column], slice(None, None, max(1, n // _ROWS_FOR_KNOTS)))[0]
        table.memo[key] = column_spline(x, width)
    found: ColumnSpline = table.memo[key]
    return found


def spline_basis(table: Table, parents: Sequence[int], widths: Sequence[int] | None = None) -> SplineBasis:
    """Return the design of several parents, each with all its basis columns or only the first `widths`."""
    columns = tuple(spline_of(table, j) for j in parents)
    most = [column.width for column in columns]
    return SplineBasis(columns, tuple(most if widths is None else map(min, most, widths)))


def basis_columns(table: Table, column: int, width: int | None = None) -> Array:
    """Return the spline basis of one standardised column at its own rows, (k, rows).

    It is computed once per table as long as those kept take no more than `KEPT_BYTES`.
    """
    key, kept = ("spline columns", column, width), ("spline columns", "bytes")
    if key in table.memo:
        found: Array = table.memo[key]
        return found
    columns = spline_of(table, column, width)(table.take([column])[0])
    total = table.memo.get(kept, 0) + columns.nbytes
    if columns.nbytes <= BLOCK_BYTES and total <= KEPT_BYTES:
        table.memo[key], table.memo[kept] = columns, total
    return columns


def ready_design(table: Table, parents: Sequence[int], widths: Sequence[int]) -> Array | None:
    """Return the design of `spline_basis`, made from basis columns kept with the table; None if it is large."""
    n = table.shape[0]
    if table.cached is None or n * table.shape[1] * basis_width(n) * 8 > CACHE_BYTES:
        return None
    Z = np.ones((1 + sum(widths), n))
    end = 1
    for j, width in zip(parents, widths, strict=True):
        Z[end : end + width] = basis_columns(table, j)[:width]
        end += width
    return Z


@dataclass(frozen=True)
class SplineDesign:
    """The part of the full spline design that one model uses: all lines, and the curves that have joined.

    Attributes
    ----------
    design : rows `rows` of the full design, for this target alone.
    shape : layout of its coefficients.
    basis : the basis of the design.
    rows : the positions of its rows in the full design.
    curves : per parent with curves, its position and its design rows (curves only).
    """

    design: Design
    shape: Coefficients
    basis: SplineBasis
    rows: Index
    curves: dict[int, Index]

    @classmethod
    def make(
        cls, form: Form, table: Table, parents: Sequence[int], target: int, widths: Sequence[int]
    ) -> SplineDesign:
        """Return the design of a target with the first `widths` basis columns of each parent."""
        full, basis = spline_basis(table, parents), spline_basis(table, parents, widths)
        kept = [np.arange(b.start, b.start + w) for b, w in zip(full.blocks, basis.widths, strict=True)]
        ready = ready_design(table, parents, basis.widths)
        design = Design(table, tuple(parents), (target,), basis, wide=True, ready=ready)
        curves = {k: np.arange(b.start + 1, b.stop) for k, b in enumerate(basis.blocks) if b.stop - b.start > 1}
        rows = np.concatenate([[0], *kept]).astype(np.intp)
        return cls(design, Coefficients(form, design.width), basis, rows, curves)

    def line_ridge(self, strength: float) -> Array:
        """Return the ridge (size, 1) of the lines; curves have none."""
        ridge = self.shape.ridge(strength / self.design.n_rows)
        for rows in self.curves.values():
            ridge[self.shape.of_rows(rows)] = 0.0
        return ridge

    def penalties(self) -> list[PenaltyBlock]:
        """Return the penalties of the curves: for each parent that of `A`, then that of `s`."""
        p, weights = self.shape.width, self.basis.roughness
        return [PenaltyBlock(rows + part * p, weights[rows]) for rows in self.curves.values() for part in (0, 1)]


def curve_penalties(fit: LinearFit) -> Array:
    """Return the smoothness penalty of every coefficient of a model, on the scale of sums over rows.

    It is strength times roughness for curves, and 0 for lines, intercepts and the location.
    """
    out = np.zeros(len(fit.theta))
    if isinstance(fit.basis, SplineBasis) and fit.strengths is not None:
        for k, block in enumerate(fit.basis.blocks):
            rows = np.arange(block.start + 1, block.stop)
            for side, strength in enumerate(fit.strengths[:, k]):
                if np.isfinite(strength):
                    out[rows + side * fit.basis.width] = strength * fit.basis.roughness[rows]
    return out
