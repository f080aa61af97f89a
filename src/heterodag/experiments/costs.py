"""Guess how long a cell takes on one core, to run cheap cells first and to say how long a run will take."""

from __future__ import annotations

from collections.abc import Iterable

from heterodag.experiments.cells import Cell

#: seconds = first * (n / 500)^second * (d / 10)^third, read from measured rows.
ORDER_SECONDS = {
    "VarSort": (0.01, 0.2, 0.2),
    "EqVar": (0.02, 0.3, 1.0),
    "NPVar": (0.04, 0.9, 2.5),
    "HOST-paper": (0.07, 0.6, 2.0),
    "HOST": (1.2, 0.7, 1.9),
    "DiffAN": (4.0, 0.1, 1.6),
    "HOST-spline": (7.0, 0.8, 2.0),
    "HOST-mlp": (3.0, 0.5, 2.0),
    "CAM": (0.2, 0.7, 2.5),
    "GOLEM": (55.0, 0.0, 1.0),
    "GraN-DAG": (120.0, 0.3, 1.5),
}
TEST_SECONDS = {
    "gam-classical": (0.05, 0.7, 1.5),
    "gam": (0.05, 0.7, 1.5),
    "likelihood": (0.3, 0.8, 2.0),
    "lcit": (0.7, 0.4, 2.0),
}
#: Seconds of a cell with a small budget, and the three numbers of a method or test that is not listed.
SMALL, UNKNOWN = 0.5, (1.0, 1.0, 1.0)
SMALL_SECONDS = {"HOST-mlp": 6.0, "GOLEM": 8.0, "GraN-DAG": 8.0}


def expected_seconds(cell: Cell) -> float:
    """Return a guess at the seconds that a cell takes."""
    if cell.budget == "small":
        return SMALL_SECONDS.get(cell.method, SMALL)
    parts = [ORDER_SECONDS.get(cell.method, UNKNOWN), *(TEST_SECONDS.get(test, UNKNOWN) for test in cell.tests)]
    rows, columns = cell.data.n / 500, cell.data.d / 10
    return float(sum(seconds * rows**p * columns**q for seconds, p, q in parts))


def total_seconds(cells: Iterable[Cell], max_seconds: float | None = None) -> float:
    """Return a guess at the seconds that different cells take one after another, none longer than the time limit."""
    limit = float("inf") if max_seconds is None else max_seconds
    return sum(min(expected_seconds(cell), limit) for cell in {cell.name: cell for cell in cells}.values())


def in_words(seconds: float) -> str:
    """Return a rough duration in words."""
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}" if seconds < 10 * size else f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1.0):.0f} s"
