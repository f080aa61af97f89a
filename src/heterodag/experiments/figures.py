"""Draw the figures of the paper's evaluation: one column of panels per graph type, one row per measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heterodag.experiments.catalogue import Experiment
from heterodag.experiments.series import SECOND, Series

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

PANEL = (2.9, 2.3)
AXES = {"n": "Number of rows n", "d": "Number of columns d"}
#: Width of an entry of the legend, in inches.
LEGEND = 2.3
#: An interval from this few runs is a dozen standard errors wide: the axis need not show all of it.
FEW = 2
#: Hatching and error bars would not be seen on black bars.
BLACK, GREY = "#000000", "#BFBFBF"


def draw(summary: pd.DataFrame, experiment: Experiment) -> Figure | None:
    """Draw an experiment from its summary alone.

    Parameters
    ----------
    summary : DataFrame
        From `summary.summarise`, or `growth.runtime_summary` for the runtime.
    experiment : Experiment
        Decides the layout.

    Returns
    -------
    Figure or None
        None if there is nothing to draw. Every line and bar has the label of its series.
    """
    if experiment.axis == "table" or summary.empty:
        return None
    from matplotlib.figure import Figure as NewFigure

    columns = _columns(summary, experiment)
    measures = list(dict.fromkeys(summary["measure"]))
    size = (PANEL[0] * max(len(columns), 2), PANEL[1] * len(measures) + 0.9)
    figure = NewFigure(figsize=size, layout="constrained")
    panels = figure.subplots(len(measures), len(columns), squeeze=False, sharey="row")
    for i, measure in enumerate(measures):
        for j, (title, part, axis) in enumerate(columns):
            ax, lines = panels[i][j], part[part["measure"] == measure]
            if axis:
                _lines(ax, lines, axis, logarithmic=experiment.axis == "n and d")
            else:
                _bars(ax, lines)
            ax.set_title(title if i == 0 else "", fontsize=10)
            ax.set_ylabel(_y_label(experiment, measure) if j == 0 else "", fontsize=9)
            ax.set_xlabel(AXES[axis] if axis and i == len(measures) - 1 else "", fontsize=9)
            ax.tick_params(labelsize=8)
            ax.grid(True, axis="y", color="0.9", linewidth=0.6)
            ax.set_axisbelow(True)
    for row, measure in zip(panels, measures, strict=True):
        if row[0].get_yscale() == "linear":
            # The panels of a row share their axis, so its upper end is known only once all are drawn.
            row[0].set_ylim(bottom=0, top=_top(summary[summary["measure"] == measure]))
    _legend(figure, panels)
    return figure


def _top(lines: pd.DataFrame) -> float | None:
    """Return the end of the axis if intervals from `FEW` runs would otherwise flatten the rest, or None."""
    high = float(lines.loc[lines["runs"] > FEW, "high"].max())
    end = 1.05 * max(float(lines["mean"].max()), high if high == high else 0.0)
    return end if float(lines["high"].max()) > end > 0.0 else None


def _columns(summary: pd.DataFrame, experiment: Experiment) -> list[tuple[str, Any, str]]:
    """Return title, lines and axis of every column of panels."""
    if experiment.axis == "n and d":
        parts = ((axis, summary[summary["axis"] == axis]) for axis in ("n", "d"))
        titles = {"n": f"d = {_fixed(summary, 'n', 'd')}", "d": f"n = {_fixed(summary, 'd', 'n')}"}
        return [(titles[axis], part, axis) for axis, part in parts if len(part)]
    graphs = sorted(set(summary["graph"]))
    return [(graph, summary[summary["graph"] == graph], experiment.axis) for graph in graphs]


def _fixed(summary: pd.DataFrame, axis: str, other: str) -> str:
    """Return the size along the other axis, which is the same for all lines along this one."""
    values = summary.loc[summary["axis"] == axis, other]
    return f"{int(values.iloc[0]):,}" if len(values) else ""


def _y_label(experiment: Experiment, measure: str) -> str:
    better = {m.title: m.better for m in experiment.measures}.get(measure, "lower")
    return f"{measure}\n({better} is better)"


def _series(lines: pd.DataFrame) -> list[Series]:
    found = lines[["method", "edges", "label"]].drop_duplicates()
    return [Series(str(m), str(e) or "own", str(label)) for m, e, label in found.itertuples(index=False)]


def _lines(ax: Any, lines: pd.DataFrame, axis: str, logarithmic: bool) -> None:
    for series in _series(lines):
        mine = lines[(lines["label"] == series.label) & lines["mean"].notna()].sort_values(axis)
        if mine.empty:
            continue
        style, hollow = series.style(), series.style() == SECOND
        ax.plot(
            mine[axis], mine["mean"], label=series.label, color=style.color, linestyle=style.dashes,
            marker=style.marker, markersize=4.5, markerfacecolor="white" if hollow else style.color,
            linewidth=style.width, zorder=3 if series.method.startswith("HOST") else 2,
        )  # fmt: skip
        sure = mine[mine["low"].notna()]
        low = sure["low"].clip(lower=sure["mean"] / 10) if logarithmic else sure["low"]
        ax.fill_between(sure[axis], low, sure["high"], color=style.color, alpha=0.1, linewidth=0)
    values = sorted(set(lines[axis]))
    if axis == "n":
        ax.set_xscale("log")
    ax.set_xticks(values, [_short(value) for value in values])
    ax.minorticks_off()
    if logarithmic:
        ax.set_yscale("log")


def _short(value: int) -> str:
    return f"{value // 1000}k" if value >= 1000 and value % 1000 == 0 else str(value)


def _bars(ax: Any, lines: pd.DataFrame) -> None:
    names = []
    for series in _series(lines):
        line = lines[lines["label"] == series.label].iloc[0]
        if line["runs"] == 0:
            names.append(f"{series.label}\n(none finished)")
            continue
        style = series.style()
        reach = None if line["low"] != line["low"] else line["high"] - line["mean"]
        face = style.color if style.color != BLACK else GREY
        ax.bar(
            len(names), line["mean"], yerr=reach, label=series.label, facecolor=face, edgecolor="black",
            hatch=style.hatch, linewidth=0.8, error_kw={"linewidth": 1.0, "capsize": 2.5},
        )  # fmt: skip
        names.append("")
    ax.set_xticks(range(len(names)), names, rotation=90, fontsize=6)


def _legend(figure: Figure, panels: Any) -> None:
    found: dict[str, Any] = {}
    for ax in panels.flat:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if found:
        columns = max(1, min(len(found), int(figure.get_figwidth() / LEGEND)))
        figure.legend(
            list(found.values()), list(found), loc="outside lower center", ncols=columns, fontsize=8, frameon=False,
            handlelength=3.2,
        )  # fmt: skip
