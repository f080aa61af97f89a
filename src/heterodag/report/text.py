"""Show the result as plain text, for terminals and notebooks: order, edges, and whether it can be trusted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from heterodag.io.exports import GraphResult, ordered_layers, ranked_edges
from heterodag.viz.directions import Directions, describe_nats

#: A text shows at most this many edges and variables, the first ones.
SHOWN_EDGES, SHOWN_NAMES = 30, 40


class Text(str):
    """A text that is shown without quotes, also at the end of a notebook cell."""

    def __repr__(self) -> str:
        return str(self)


def order_text(result: GraphResult, shown: int = SHOWN_NAMES) -> str:
    """Return ``a -> {b, c} -> d``; if there are many variables, only the first."""
    texts, count = [], 0
    for layer in ordered_layers(result):
        texts.append(f"{{{', '.join(layer)}}}" if len(layer) > 1 else layer[0])
        count += len(layer)
        if count >= shown:
            break
    rest = len(result.names) - count
    return " -> ".join(texts) + (f" -> ... ({rest} more in graph.json)" if rest else "")


def headline(result: GraphResult) -> str:
    """Return the number of edges and the level they were tested at."""
    edges, alpha = len(result.edges()), result.settings.get("alpha")
    return f"{edges} edge{'' if edges == 1 else 's'}" + ("" if alpha is None else f" at alpha {alpha:g}")


def edge_table(
    result: GraphResult, reference: Any = None, called: str = "consensus graph"
) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the table of edges, strongest evidence first, without columns that would be empty.

    `reference` is an adjacency matrix to compare with, and `called` the heading of its column.
    """
    edges, directions = ranked_edges(result), Directions(result.direction_nats, result.open)
    known = result.certainty()
    columns: dict[str, list[str]] = {
        "cause": [result.names[i] for i, _, _ in edges],
        "effect": [result.names[j] for _, j, _ in edges],
        "p-value": [_p_cell(result, *edge) for edge in edges],
    }
    if "nats" in known:
        columns["evidence (nats)"] = [describe_nats(float(known["nats"][i, j])) for i, j, _ in edges]
    if directions.known:
        columns["direction (nats)"] = [directions.cell((i, j)) for i, j, _ in edges]
    for name, (title, style) in _NUMBERS.items():
        if name in known:
            columns[title] = [_styled(float(known[name][i, j]), style) for i, j, _ in edges]
    if reference is not None:
        words = ["yes" if reference[i, j] else "reversed" if reference[j, i] else "no" for i, j, _ in edges]
        columns[called] = words
    return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]


_NUMBERS = {
    "frequency": ("came back", "{:.0%}"),
    "mean_effect": ("mean", "{:+.2f}"),
    "spread_effect": ("spread", "x{:.2f}"),
    "share": ("share", "{:.2f}"),
}


def _p_cell(result: GraphResult, cause: int, effect: int, p: float) -> str:
    if result.is_required(cause, effect):
        return "required"
    return _styled(p, "{:.2g}")


def _styled(value: float, style: str) -> str:
    return "" if math.isnan(value) else style.format(value)


def legend(result: GraphResult) -> list[str]:
    """Return what the columns of strengths mean, if there are any."""
    if not result.edges() or "mean_effect" not in result.strengths:
        return []
    return [
        "mean: standard deviations that the effect's mean moves per standard deviation of the cause; spread: factor on its "
        "spread; share: part of what all causes explain that is lost without this one."
    ]


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table in columns of equal width."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(header))]
    return [
        "   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    ]


def trust_lines(result: GraphResult) -> list[str]:
    """Return the lines of the box "Can I trust this?"; none if the result has no box."""
    if result.trust is None:
        return []
    from heterodag.checks.findings import from_records
    from heterodag.checks.trust import titled

    return str(titled(from_records(result.trust))).splitlines()


def summary_text(result: GraphResult, n_rows: int | None = None) -> Text:
    """Return the result on one screen: size, order, edges, trust."""
    size = f"{len(result.names)} variables" + ("" if n_rows is None else f", {n_rows:,} rows")
    header, rows = edge_table(result)
    lines = [f"{result.settings['estimator']}: {size}, {headline(result)}."]
    if result.order is not None:
        lines.append(f"Causal order, causes first: {order_text(result)}.")
    if rows:
        lines += ["", *aligned(header, rows[:SHOWN_EDGES])]
        lines += [f"... and {len(rows) - SHOWN_EDGES} more."] if len(rows) > SHOWN_EDGES else []
        lines += legend(result)
    return Text("\n".join([*lines, "", *trust_lines(result)]).rstrip())
