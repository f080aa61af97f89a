"""The mechanisms of a fitted graph as a table: which form, which curves, which noise every variable got."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from heterodag.core.splines import SplineBasis
from heterodag.scores.fit import Fit, LinearFit

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("variable", "parents", "form", "curves", "spread", "noise", "rows")


def mechanism_table(fits: Sequence[Fit], names: Sequence[str], rows: Sequence[int]) -> pd.DataFrame:
    """Return one row per variable: parents, form, which parents act by curves, spread, noise and number of rows.

    Parents without a name (columns that stand for conditions) are left out.
    """
    import pandas as pd

    described = [
        (
            names[fit.target], ", ".join(names[j] for j in fit.parents if j < len(names)), fit.form.name,
            ", ".join(names[j] for j in curved_parents(fit)), "moving" if moving_spread(fit, n) else "constant",
            "normal" if fit.noise is None else "flexible", n,
        )
        for fit, n in zip(fits, rows, strict=True)
    ]  # fmt: skip
    return pd.DataFrame(described, columns=list(COLUMNS))


def curved_parents(fit: Fit) -> list[int]:
    """Return the parents that act by curves."""
    if not isinstance(fit, LinearFit) or not isinstance(fit.basis, SplineBasis):
        return []
    return [j for j, width in zip(fit.parents, fit.basis.widths, strict=True) if width > 1]


def moving_spread(fit: Fit, n: int) -> bool:
    """Return whether the effects on the spread gain more than half of ln n per coefficient (BIC)."""
    if not fit.parents:
        return False
    curves = 0.0 if not isinstance(fit, LinearFit) or fit.edf is None else float(fit.edf[1].sum())
    gain = fit.spread_gain if isinstance(fit, LinearFit) else np.inf
    return bool(gain > 0.5 * np.log(n) * (len(fit.parents) + curves))
