"""Show whether the model fits: normal Q-Q panels of the residuals of every variable."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from heterodag.core.gaussian import Array
from heterodag.io.exports import GraphResult
from heterodag.report.rows import DrawnRows
from heterodag.scm.model import HeteroscedasticSCM
from heterodag.viz.summaries import normal_quantiles, straightness

MAX_PANELS = 40


def fit_panels(
    model: Any, scm: HeteroscedasticSCM | None, rows: DrawnRows, result: GraphResult
) -> tuple[dict[str, Any], list[float]]:
    """Return Q-Q panels in the learned order (the least normal variables if there are many), and how well all fit.

    Parameters
    ----------
    model : fitted estimator
        Provides the latents if it has no causal model.
    scm : HeteroscedasticSCM or None
        The causal model of the fit.
    rows : DrawnRows
        Rows to draw.
    result : GraphResult
        Gives the order and the names.
    """
    latents = _latents(model, scm, rows)
    if latents is None:
        return {"panels": [], "panels_left": 0, "qq_rows": 0}, []
    quantiles = [normal_quantiles(column[~np.isnan(column)]) for column in latents.T]
    fits = [straightness(*pair) for pair in quantiles]
    least = set(sorted(range(len(fits)), key=lambda k: (math.isfinite(fits[k]), fits[k]))[:MAX_PANELS])
    order = result.order if result.order is not None else range(len(fits))
    panels = [
        {"name": result.names[k], "svg": draw_qq(*quantiles[k]), "fit": f"{fits[k]:.3f}"} for k in order if k in least
    ]
    return {"panels": panels, "panels_left": len(fits) - len(panels), "qq_rows": len(latents)}, fits


def _latents(model: Any, scm: HeteroscedasticSCM | None, rows: DrawnRows) -> Array | None:
    """Return the latents of every variable given its causes; NaN where the variable was set or changed."""
    if scm is not None:
        found = np.full(rows.array.shape, np.nan)
        for j, mechanism in enumerate(scm.mechanisms):
            own = rows.array[rows.free[:, j]]
            found[rows.free[:, j], j] = mechanism.latents(own[:, list(mechanism.parents)], own[:, j])
        return found
    if rows.table is None or not hasattr(model, "latents"):
        return None
    options = {} if rows.told is None else {"interventions": rows.told}
    return np.asarray(model.latents(rows.table, **options), dtype=np.float64)


def draw_qq(theory: NDArray[np.float64], observed: NDArray[np.float64], limit: float = 4.5) -> Markup:
    """Return one normal Q-Q panel as SVG, both axes from -limit to limit; points beyond lie on the border.

    Parameters
    ----------
    theory, observed : ndarray of shape (k,)
        Quantiles, as from `heterodag.viz.summaries.normal_quantiles`.
    limit : float, default=4.5
        The end of both axes, in standard deviations.
    """
    side = 150.0

    def scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return (np.clip(values, -limit, limit) / limit + 1) / 2 * (side - 8) + 4

    xs, ys = scaled(theory), side - scaled(observed)
    dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in zip(xs, ys, strict=True))
    return Markup(
        '<svg class="qq" viewBox="0 0 {s:.0f} {s:.0f}" width="{s:.0f}" height="{s:.0f}" aria-hidden="true">'
        '<rect class="field" x="0.5" y="0.5" width="{inner:.0f}" height="{inner:.0f}"/>'
        '<path class="diagonal" d="M4 {low:.0f}L{low:.0f} 4"/><path class="dots" d="{dots}"/></svg>'
    ).format(s=side, inner=side - 1, low=side - 4, dots=dots)
