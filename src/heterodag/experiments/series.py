"""The lines of a figure: which column of which method's rows, under which name, and how it looks."""

from __future__ import annotations

from dataclasses import dataclass

from heterodag.experiments.catalogue import Experiment, Measure
from heterodag.experiments.methods import METHODS

TEST_LABELS = {"lcit": "LCIT", "gam-classical": "GAM", "gam": "robust GAM", "likelihood": "likelihood"}


@dataclass(frozen=True)
class Style:
    """One look for a method in all figures; marker, dashes and hatching tell them apart in grey."""

    color: str
    marker: str
    dashes: str
    hatch: str
    width: float = 1.4


STYLES = {
    "HOST": Style("#D55E00", "o", "-", "", 3.0),
    "HOST-spline": Style("#D55E00", "o", "-", "", 3.0),
    "HOST-paper": Style("#000000", "s", "--", "xx", 1.8),
    "HOST-mlp": Style("#000000", "s", "--", "xx", 1.8),
    "DiffAN": Style("#CC79A7", "^", ":", ".."),
    "EqVar": Style("#0072B2", "D", "-.", "//"),
    "NPVar": Style("#009E73", "v", "-", "\\\\"),
    "VarSort": Style("#E69F00", "X", ":", "--"),
    "CAM": Style("#56B4E9", "P", "-.", "++"),
    "GOLEM": Style("#8C6D31", "<", ":", "oo"),
    "GraN-DAG": Style("#882255", ">", "--", "**"),
}
#: Our order with the paper's edge test: the same colour, thin, hollow.
SECOND = Style("#D55E00", "o", "--", "||", 1.2)
#: For methods of users, in turn.
OTHERS = (
    Style("#332288", "h", "-", "//"), Style("#117733", "p", "--", "xx"), Style("#882255", "*", "-.", ".."),
    Style("#44AA99", "d", ":", "++"),
)  # fmt: skip


@dataclass(frozen=True)
class Series:
    """A method with an edge test, as one line or bar."""

    method: str
    test: str
    label: str

    @property
    def own(self) -> bool:
        """Whether the edges are the method's own."""
        return self.test == "own"

    def style(self) -> Style:
        """Return how it looks."""
        if self.method in ("HOST", "HOST-spline") and not self.own:
            return SECOND
        return STYLES.get(self.method) or OTHERS[sum(map(ord, self.method)) % len(OTHERS)]


def series_of(experiment: Experiment, measure: Measure) -> list[Series]:
    """Return the lines of a measure: every method once; ours also with the edge test of the others.

    Measures of the order alone do not depend on the edges: there is one line a method.
    """
    lines = []
    for name in experiment.methods:
        method = METHODS[name]
        own = method.own_edges
        test = experiment.test if experiment.test != "own" or own else "lcit"
        if "TEST" not in measure.column or test == "own" or not (own and name.startswith("HOST")):
            lines.append(Series(name, "own" if own and name.startswith("HOST") else test, method.label))
            continue
        lines.append(Series(name, "own", method.label))
        lines.append(Series(name, test, f"{method.label}, {TEST_LABELS[test]}"))
    return lines
