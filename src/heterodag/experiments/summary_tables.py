"""Summary tables in Markdown."""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from heterodag.experiments.catalogue import Experiment

if TYPE_CHECKING:
    import pandas as pd

#: The paper's table of the Sachs data: order divergence, SHD by LCIT, SHD by GAM; mean and standard error.
PAPER_SACHS = {
    "DiffAN": ("9.4 ± 0.70", "15.0 ± 1.05", "15.6 ± 0.84"),
    "EqVar": ("7.2 ± 0.42", "13.5 ± 0.71", "12.0 ± 0.47"),
    "NPVar": ("7.2 ± 0.42", "13.5 ± 0.71", "12.0 ± 0.47"),
    "VarSort": ("7.2 ± 0.42", "13.7 ± 0.95", "12.0 ± 0.47"),
    "HOST-paper": ("4.4 ± 0.70", "13.5 ± 0.97", "13.3 ± 0.95"),
}


def markdown(header: list[str], lines: list[list[str]]) -> str:
    """Return a Markdown table."""
    rule = ["---"] * len(header)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *lines)) + "\n"


def number(value: float, digits: int = 3) -> str:
    """Return a number with a few digits, or an empty text for NaN."""
    if math.isnan(value):
        return ""
    return f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def mean_and_interval(line: Any) -> str:
    """Return "mean [low, high]" with the number of runs that did not finish."""
    text = number(line["mean"]) or "-"
    if not math.isnan(line["low"]):
        text += f" [{number(line['low'])}, {number(line['high'])}]"
    lost = [f"{line[key]} {word}" for key, word in (("timeouts", "timeout"), ("errors", "error")) if line[key]]
    return text + (f" ({', '.join(lost)})" if lost else "")


def summary_tables(summary: pd.DataFrame, experiment: Experiment) -> str:
    """Return one table per measure and graph type, with a line per method and a column per size."""
    parts = []
    axis = experiment.axis if experiment.axis in ("n", "d") else ""
    for measure in dict.fromkeys(summary["measure"]):
        of_measure = summary[summary["measure"] == measure]
        across = axis or "graph"
        groups = [(graph, of_measure[of_measure["graph"] == graph]) for graph in dict.fromkeys(of_measure["graph"])]
        for title, part in groups if axis else [("", of_measure)]:
            values = sorted(set(part[across]))
            header = ["method", *(f"{axis} = {value:,}" if axis else str(value) for value in values)]
            lines = [[label, *_cells(part[part["label"] == label], across, values)] for label in _labels(part)]
            heading = f"**{measure}{f', {title}' if title else ''}**"
            parts.append(f"{heading}\n\n{markdown(header, lines)}")
    return "\n".join(parts)


def _labels(part: pd.DataFrame) -> list[str]:
    return [str(label) for label in dict.fromkeys(part["label"])]


def _cells(part: pd.DataFrame, across: str, values: list[Any]) -> list[str]:
    found = {line[across]: mean_and_interval(line) for line in part.to_dict("records")}
    return [found.get(value, "") for value in values]


def growth_markdown(growth: pd.DataFrame) -> str:
    """Return the table of growth exponents."""
    header = ["method", "axis", "from", "to", "seconds", "exponent", "exponent of the upper half"]
    lines = [
        [
            line["label"], line["axis"], f"{line['from']:,}", f"{line['to']:,}",
            f"{number(line['seconds_from'], 2)} to {number(line['seconds_to'], 2)}",
            f"{line['exponent']:.2f}" + ("" if math.isnan(line["error"]) else f" ± {line['error']:.2f}"),
            f"{line['upper_exponent']:.2f}",
        ]
        for line in growth.to_dict("records")
    ]  # fmt: skip
    return markdown(header, lines)


def sachs_markdown(summary: pd.DataFrame) -> str:
    """Return the table of the real data: mean and standard error, next to the paper's if it has the method."""
    measures = list(dict.fromkeys(summary["measure"]))
    header = ["method", "runs"]
    for measure, printed in zip_longest(measures, PAPER_SACHS["HOST-paper"]):
        header += [measure] if printed is None else [measure, "the paper's"]
    lines = []
    for label in _labels(summary):
        mine = {line["measure"]: line for line in summary[summary["label"] == label].to_dict("records")}
        first = mine[measures[0]]
        cells = [label, str(first["runs"])]
        for measure, printed in zip_longest(measures, PAPER_SACHS.get(first["method"], ("", "", ""))):
            cells += (
                [_mean_and_error(mine[measure])] if printed is None else [_mean_and_error(mine[measure]), printed]
            )
        lines.append(cells)
    return markdown(header, lines)


def _mean_and_error(line: Any) -> str:
    if not line["runs"]:
        lost = line["timeouts"] + line["errors"]
        return f"none of {lost} finished" if lost else ""
    error = "" if math.isnan(line["error"]) else f" ± {line['error']:.2f}"
    return f"{line['mean']:.1f}{error}"
