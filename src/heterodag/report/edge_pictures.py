"""Draw the picture of an edge: effect against cause, with the fitted mean and the band of the moving spread.

This module makes the numbers for the page's script, and drawings of the few strongest edges for readers without a
script. Both use the same integers: every axis runs from 0 to `SCALE`. Points are stored once per variable and shared
by all its edges, so that the page stays small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from heterodag.core.gaussian import Array, Index
from heterodag.report.rows import DrawnRows
from heterodag.scm.mechanism import Mechanism
from heterodag.scm.model import HeteroscedasticSCM
from heterodag.viz.names import fitting

#: Points per picture, from evenly spaced rows: more points would only hide each other.
MAX_POINTS = 500
#: Number of edges with a picture, strongest first; 400 edges of 100 variables take about 1 MB.
MAX_PICTURES = 400
#: Integer steps of an axis: finer than the pixels of any screen it is drawn on.
SCALE = 1000
#: Points of a curve: enough that the straight lines between them look smooth.
CURVE_POINTS = 41
#: The band is the central interval of this level.
LEVEL = 0.9
#: Axes end a sixth of their length beyond these quantiles, so that single rows far out do not squeeze the rest.
_TAIL, _BEYOND = 0.005, 1 / 6
#: The size of a picture, and the frame in it: left, top, width, height.
SIZE = (420, 296)
PLOT = (64, 10, 346, 240)
#: The largest size of its labels, in the page's style sheet.
FONT = 14.0

Edge = tuple[int, int]


@dataclass(frozen=True)
class Axis:
    """The part of a variable's values that is drawn."""

    low: float
    high: float

    @classmethod
    def of(cls, values: Array) -> Axis:
        """Return an axis from robust limits of the values."""
        low, high = np.quantile(values, [_TAIL, 1 - _TAIL])
        beyond = _BEYOND * (high - low)
        low, high = max(values.min(), low - beyond), min(values.max(), high + beyond)
        if not high > low:
            low, high = values.min(), values.max()
        margin = 0.03 * (high - low) or abs(high) or 1.0
        return cls(float(low - margin), float(high + margin))

    def scaled(self, values: Array) -> list[int]:
        """Return values as integers, from 0 (low end) to `SCALE` (high end), at most one axis length beyond."""
        shares = (np.asarray(values) - self.low) / (self.high - self.low)
        return [int(share) for share in np.rint(np.clip(shares, -1, 2) * SCALE)]

    def ticks(self) -> list[tuple[int, str]]:
        """Return three to six ticks at round numbers, with their labels."""
        span = self.high - self.low
        power = 10.0 ** math.floor(math.log10(span / 3))
        step = next(m * power for m in (5, 2, 1) if span / (m * power) >= 3 or m == 1)
        first = math.ceil(self.low / step)
        values = step * np.arange(first, math.floor(self.high / step) + 1, dtype=np.float64)
        return list(zip(self.scaled(values), [_label(value, step) for value in values], strict=True))


def _label(value: float, step: float) -> str:
    if value and (abs(value) >= 1e5 or step < 1e-4):
        return f"{value:.3g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")
    decimals = max(0, -math.floor(math.log10(step) + 1e-9)) if step >= 1e-4 else 0
    return f"{value + 0.0:,.{decimals}f}"


def picture_data(
    rows: DrawnRows,
    scm: HeteroscedasticSCM | None,
    names: Sequence[str],
    edges: Sequence[Edge],
    facts: Sequence[list[str]],
) -> dict[str, Any]:
    """Return the data from which the pictures of these edges are drawn, as plain values for JSON.

    Parameters
    ----------
    rows : DrawnRows
        The rows; at most `MAX_POINTS` of them become points.
    scm : HeteroscedasticSCM or None
        Its mechanisms make the curves; without a model there are only points.
    names : sequence of str
        Names of the variables.
    edges : sequence of (int, int)
        Strongest first; those after `MAX_PICTURES` get no picture.
    facts : sequence of list of str
        The sentences about every edge.
    """
    pictured = list(edges[:MAX_PICTURES])
    sample = np.linspace(0, len(rows.array) - 1, min(MAX_POINTS, len(rows.array))).astype(int)
    used = sorted({node for edge in pictured for node in edge})
    axes = {node: Axis.of(rows.array[:, node]) for node in used}
    variables = {
        node: {
            "across": fitting(names[node], PLOT[2], FONT),
            "upward": fitting(names[node], PLOT[3], FONT),
            "ticks": axes[node].ticks(),
            "points": axes[node].scaled(rows.array[sample, node]),
            "set": np.flatnonzero(~rows.free[sample, node]).tolist(),
        }
        for node in used
    }
    curves = [None if scm is None else _curve(scm.mechanisms[j], i, axes, rows, sample) for i, j in pictured]
    told = [list(facts[k]) for k in range(len(pictured))]
    pictures = [{"facts": words} | (curve or {}) for words, curve in zip(told, curves, strict=True)]
    return {"variables": variables, "pictures": pictures, "plot": PLOT, "size": SIZE, "scale": SCALE}


def _curve(
    mechanism: Mechanism, cause: int, axes: dict[int, Axis], rows: DrawnRows, sample: Index
) -> dict[str, Any] | None:
    """Return mean and band along the cause with the other parents at their medians, and the points moved there."""
    if cause not in mechanism.parents:
        return None
    own = rows.array[rows.free[:, mechanism.target]]
    values = own if len(own) else rows.array
    # No further than the values of the cause: where there are no rows, a curve would show only the model.
    low, high = np.quantile(values[:, cause], [_TAIL, 1 - _TAIL])
    columns, at = list(mechanism.parents), mechanism.parents.index(cause)

    def along(points: Array) -> Array:
        parents = np.tile(np.median(values[:, columns], axis=0), (len(points), 1))
        parents[:, at] = points
        return parents

    parents = along(np.linspace(low, high, CURVE_POINTS))
    drawn = rows.array[sample]
    noise = mechanism.noise(drawn[:, columns], drawn[:, mechanism.target])
    moved = mechanism.value(along(drawn[:, cause]), noise) if len(columns) > 1 else np.empty(0)
    effect, (lower, upper) = axes[mechanism.target], mechanism.interval(parents, LEVEL)
    return {
        "from": axes[cause].scaled(np.array([low, high])),
        "mean": effect.scaled(mechanism.moments(parents)[0]),
        "lower": effect.scaled(lower),
        "upper": effect.scaled(upper),
        "moved": effect.scaled(moved),
        "others": len(columns) - 1,
    }


# --- without a script ---------------------------------------------------------------------------------------


def draw_picture(data: dict[str, Any], number: int, edge: Edge, names: Sequence[str]) -> Markup:
    """Return the picture of one edge as SVG; the page's script draws the same (`script/picture.js`)."""
    cause, effect = (data["variables"][node] for node in edge)
    picture = data["pictures"][number]
    body = Markup('<path class="dots" d="{}"/>').format(_dots(cause, effect))
    if "mean" in picture:
        first, last = picture["from"]
        xs = np.linspace(first, last, CURVE_POINTS)
        band = _line(xs, picture["upper"]) + "L" + _line(xs[::-1], picture["lower"][::-1])[1:] + "z"
        line = Markup('<path class="band" d="{}"/>{}<path class="mean" d="{}"/>')
        body = line.format(band, body, _line(xs, picture["mean"]))
    frame = Markup('x="{}" y="{}" width="{}" height="{}"').format(*PLOT)
    return Markup(
        '<svg class="picture" viewBox="0 0 {} {}" role="img" aria-label="{title}"><rect class="field" {frame}/>{texts}'
        '<svg {frame} viewBox="0 0 {s} {s}" preserveAspectRatio="none">{body}</svg></svg>'
    ).format(
        *SIZE,
        title=f"{names[edge[1]]} against {names[edge[0]]}",
        frame=frame,
        s=SCALE,
        texts=Markup("").join(_texts(cause, effect)),
        body=body,
    )


def _texts(cause: dict[str, Any], effect: dict[str, Any]) -> list[Markup]:
    """Return the labels of the ticks and of the axes."""
    (left, top, width, height), across, upward = PLOT, cause["ticks"], effect["ticks"]
    tick = Markup('<text class="{cls}" x="{x:.0f}" y="{y:.0f}">{text}</text>')
    texts = [tick.format(cls="x", x=left + width * at / SCALE, y=top + height + 16, text=text) for at, text in across]
    texts += [
        tick.format(cls="y", x=left - 6, y=top + height * (1 - at / SCALE) + 4, text=text) for at, text in upward
    ]
    texts.append(tick.format(cls="axis", x=left + width / 2, y=SIZE[1] - 6, text=cause["across"]))
    turned = Markup('<text class="axis" transform="translate(13 {y:.0f}) rotate(-90)">{text}</text>')
    return [*texts, turned.format(y=top + height / 2, text=effect["upward"])]


def _dots(cause: dict[str, Any], effect: dict[str, Any]) -> str:
    hidden = set(effect["set"])
    pairs = enumerate(zip(cause["points"], effect["points"], strict=True))
    return "".join(f"M{x} {SCALE - y}h0" for k, (x, y) in pairs if k not in hidden and _inside(x) and _inside(y))


def _inside(value: int) -> bool:
    return 0 <= value <= SCALE


def _line(xs: Array, ys: Sequence[int]) -> str:
    # Halves are rounded up, as in the script.
    return "M" + "L".join(f"{math.floor(x + 0.5)} {SCALE - y}" for x, y in zip(xs, ys, strict=True))
