"""The lines of a figure: which column of which method's rows each shows, its label and its style."""

from __future__ import annotations

from dataclasses import dataclass

from heterodag.experiments.catalogue import Experiment, Measure
from heterodag.experiments.methods import METHODS

TEST_LABELS = {"lcit": "LCIT", "gam-classical": "GAM", "gam": "robust GAM", "likelihood": "likelihood"}


@dataclass(frozen=True)
class Style:
    """The style of a method in all figures; marker, dashes and hatching tell methods apart in greyscale."""

    color: str
    marker: str
    dashes: str
    hatch: str
    width: float = 1.4


STYLES = {
    "HOST": Style("#D55E00", "o", "-", "", 3.0),
    "HOST-spline": Style("#8B3A00", "h", "-.", "O."),
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
#: Our order with the paper's edge test: the same colour, but thin and hollow.
SECOND = Style("#D55E00", "o", "--", "||", 1.2)


@dataclass(frozen=True)
class Series:
    """A method with an edge test, as one line or bar."""

    method: str
    test: str
    label: str

    def style(self) -> Style:
        """Return how it looks."""
        if self.method == "HOST" and self.test != "own":
            return SECOND
        return STYLES[self.method]


def series_of(experiment: Experiment, measure: Measure) -> list[Series]:
    """Return the lines of a measure: every method once; HOST also with the edge test of the others.

    Measures of the order alone do not depend on the edges, so each method has one line.
    """
    lines = []
    for name in experiment.methods:
        method = METHODS[name]
        test = "lcit" if experiment.test == "own" and not method.own_edges else experiment.test
        ours = method.own_edges and name.startswith("HOST")
        lines.append(Series(name, "own" if ours else test, method.label))
        if name == "HOST" and measure.of_edges and test != "own":
            lines.append(Series(name, test, f"{method.label}, {TEST_LABELS[test]}"))
    return lines
