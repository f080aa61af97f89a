"""Experiments in simulated tables: some variables are set, or shifted, in some rows.

The mechanisms are scaled by a sample without experiments: a second table with the same noise in which nothing was
done. So an experiment changes its targets and their descendants, and nothing else, as in
`HeteroscedasticSCM.sample_do`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from heterodag.errors import ParameterError, check_integer, check_number

FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Plan:
    """What is done to which cells of a table; in its first rows, nothing is done.

    Attributes
    ----------
    plain : the rows by which mechanisms are scaled.
    fixed : (rows, d) cells that are acted on; None for a table without experiments.
    drawn : (rows, d) standard normal numbers from which set values are made.
    shift : standard deviations by which the cells are shifted; None if they are set.
    """

    plain: slice = field(default_factory=lambda: slice(None))
    fixed: Mask | None = None
    drawn: FloatArray | None = None
    shift: float | None = None

    def act(self, x: FloatArray, column: int, mean: FloatArray, scale: FloatArray) -> FloatArray:
        """Return a column after the experiments; where it was set, `mean` and `scale` (rows, d) change in place."""
        if self.fixed is None or self.drawn is None:
            return x
        usual, sd, rows = float(x[self.plain].mean()), float(x[self.plain].std()), self.fixed[:, column]
        if self.shift is not None:
            mean[rows, column] += self.shift * sd
            return np.where(rows, x + self.shift * sd, x)
        mean[rows, column], scale[rows, column] = usual + sd * self.drawn[rows, column], 0.0
        return np.where(rows, mean[:, column], x)


#: No experiments at all.
NOTHING = Plan()


def read_plan(interventions: Any, shift: float | None, shape: tuple[int, int], rng: Generator) -> Plan:
    """Return the plan for two tables of that shape, the first without experiments; for one if nothing is done."""
    amount = None if shift is None else check_number("shift", shift)
    if interventions is None:
        if shift is not None:
            raise ParameterError("shift", "come with `interventions`, which say what is shifted", shift)
        return NOTHING
    fixed = cells(interventions, shape)
    both = np.vstack([np.zeros(shape, dtype=bool), fixed])
    return Plan(slice(0, shape[0]), both, np.vstack([np.zeros(shape), rng.standard_normal(shape)]), amount)


def cells(interventions: Any, shape: tuple[int, int]) -> Mask:
    """Return which cells are acted on, from a number of rows per variable, a mapping of such numbers, or a mask."""
    n, d = shape
    if isinstance(interventions, Mapping):
        counts = {
            _column(name, d): check_integer("interventions", rows, low=1) for name, rows in interventions.items()
        }
    elif np.ndim(interventions) == 0:
        counts = dict.fromkeys(range(d), check_integer("interventions", interventions, low=1))
    else:
        mask = np.asarray(interventions)
        if mask.shape != shape or not np.isin(mask, [0, 1]).all():
            rule = f"be rows per variable, a mapping from columns to rows, or {n} x {d} values True and False"
            raise ParameterError("interventions", rule, mask.shape if mask.shape != shape else mask.dtype.name)
        return mask.astype(bool)
    total = sum(counts.values())
    if total >= n:
        raise ParameterError("interventions", f"leave some of the n = {n} rows alone", f"{total} rows", "Raise `n`.")
    fixed, start = np.zeros(shape, dtype=bool), n - total
    for column, rows in counts.items():
        fixed[start : start + rows, column] = True
        start += rows
    return fixed


def _column(name: Any, d: int) -> int:
    """Return the index of a column given as 3 or as "x3"."""
    text = name[1:] if isinstance(name, str) and name[:1] == "x" else ""
    index = int(text) if text.isdigit() else name
    if isinstance(index, bool) or not isinstance(index, int | np.integer) or not 0 <= index < d:
        raise ParameterError("interventions", f"use columns 0 to {d - 1}, or x0 to x{d - 1}", name)
    return int(index)
