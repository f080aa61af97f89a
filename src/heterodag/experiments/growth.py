"""Summarise how the time to find an order grows: means over all graph types, and exponents of n and d."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from heterodag.experiments.catalogue import SECONDS, Experiment
from heterodag.experiments.run_cell import Row
from heterodag.experiments.series import series_of
from heterodag.experiments.summary import summary_line

if TYPE_CHECKING:
    import pandas as pd


def runtime_summary(rows: Iterable[Row], experiment: Experiment) -> pd.DataFrame:
    """Return the lines of the runtime figure: like `summarise`, over all graph types, with the axis each belongs to.

    The axes are the rows n, at the number of columns that most sizes share, and the columns d, at the shared n.
    """
    import pandas as pd

    found = list(rows)
    lines: list[dict[str, Any]] = []
    for axis, fixed in (("n", "d"), ("d", "n")):
        shared = _most_shared(found, axis, fixed)
        for series in series_of(experiment, SECONDS):
            mine = [row for row in found if row["method"] == series.method and row[fixed] == shared]
            for value in sorted({row[axis] for row in mine}):
                part = [row for row in mine if row[axis] == value]
                place = {"axis": axis, "graph": "all", "n": part[0]["n"], "d": part[0]["d"]}
                lines.append({"measure": SECONDS.title} | place | summary_line(part, SECONDS, series))
    return pd.DataFrame(lines)


def _most_shared(rows: list[Row], axis: str, fixed: str) -> Any:
    """Return the value of `fixed` at which most values of `axis` were tried; the smallest if there are several."""
    values = sorted({row[fixed] for row in rows})
    return max(values, key=lambda value: len({row[axis] for row in rows if row[fixed] == value}), default=None)


def growth_table(summary: pd.DataFrame) -> pd.DataFrame:
    """Return, per method and axis, the exponent of the mean time: over all sizes, and over the upper half alone.

    Parameters
    ----------
    summary : DataFrame
        From `runtime_summary`.

    Returns
    -------
    DataFrame
        label, axis, from, to, seconds at both ends, exponent and its standard error, exponent of the upper half. The
        exponent is the slope of log time on log size; that of the upper half says more about large tables.
    """
    import pandas as pd

    lines = []
    for label, axis in summary[["label", "axis"]].drop_duplicates().itertuples(index=False):
        part = summary[(summary["label"] == label) & (summary["axis"] == axis)]
        usable = part[part["mean"].notna()].sort_values(str(axis))
        x, y = usable[axis].to_numpy(dtype=float), usable["mean"].to_numpy(dtype=float)
        if len(x) < 2:
            continue
        upper = len(x) // 2 if len(x) > 2 else 0
        slope, error = exponent(x, y)
        lines.append({
            "label": label, "axis": axis, "from": int(x[0]), "to": int(x[-1]), "seconds_from": y[0], "seconds_to": y[-1],
            "exponent": slope, "error": error, "upper_exponent": exponent(x[upper:], y[upper:])[0],
        })  # fmt: skip
    return pd.DataFrame(lines)


def exponent(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return the least-squares slope of log y on log x and its standard error (NaN for two points)."""
    from scipy.stats import linregress

    if len(x) < 2:
        return float("nan"), float("nan")
    line = linregress(np.log(x), np.log(y))
    return float(line.slope), float(line.stderr) if len(x) > 2 else float("nan")
