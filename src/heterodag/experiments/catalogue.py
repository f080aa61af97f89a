"""List the paper's ten figures and its table by name: which cells each needs, at which scale, and what it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

from heterodag.errors import ParameterError, check_choice
from heterodag.experiments.cells import Cell, DataSet

SPARSE = ("ER-1", "ER-2", "SF-1", "SF-2")
DENSE = ("ER-4", "SF-4")
#: The paper's methods; HOST twice, as the paper describes it and as implemented here.
PAPER = ("VarSort", "EqVar", "NPVar", "HOST-paper", "HOST", "DiffAN")
NONLINEAR = ("VarSort", "EqVar", "NPVar", "HOST-spline", "HOST", "DiffAN", "HOST-mlp")
SLOW = ("HOST-paper", "HOST", "CAM", "GOLEM", "GraN-DAG")
ALL = (*PAPER, "HOST-spline", "CAM", "GOLEM", "GraN-DAG")
#: The simulated data follow the authors' published generator; see `heterodag.simulate`.
VERSION = "code"
SACHS_COLUMNS = 11


@dataclass(frozen=True)
class Scale:
    """Sizes of an experiment; the paper's are those of "full"."""

    sizes: tuple[int, ...]
    dimensions: tuple[int, ...]
    d: int
    n: int
    repeats: int
    large_n: int
    dense_d: int
    sachs: tuple[int, int]
    graphs: tuple[str, ...] = SPARSE
    budget: str = "full"


SCALES = {
    "smoke": Scale((200, 300), (5, 6), 5, 200, 1, 200, 9, (1, 200), graphs=("ER-1",), budget="small"),
    "quick": Scale((500, 2000, 5000), (10, 20), 10, 500, 2, 5000, 10, (3, 700)),
    "full": Scale(
        (500, 1000, 2000, 5000, 10_000, 20_000, 50_000), (10, 20, 30, 40, 50), 10, 500, 5, 5000, 10, (10, 700)
    ),
}


@dataclass(frozen=True)
class Measure:
    """A measure, drawn as a row of panels: a column of the stored rows, its title, and which way is better."""

    column: str
    title: str
    better: str = "lower"

    @property
    def of_edges(self) -> bool:
        """Whether the measure depends on the edge test, not on the order alone."""
        return "TEST" in self.column

    def of(self, test: str) -> str:
        """Return the column for an edge test; measures of the order have the same column for all tests."""
        return self.column.replace("TEST", test)


ORDER = Measure("order_divergence", "Order divergence")
SHD = Measure("TEST_shd", "Structural Hamming distance")
F1 = Measure("TEST_f1", "F1 score", "higher")
AUC = Measure("TEST_auc", "AUC", "higher")
SECONDS = Measure("order_cpu_seconds", "Seconds for the order")
#: The table gives two edge tests side by side.
SACHS = (
    ORDER, Measure("lcit_shd", "SHD, LCIT"), Measure("gam-classical_shd", "SHD, GAM"), Measure("own_shd", "SHD, own edges"),
)  # fmt: skip


@dataclass(frozen=True)
class Experiment:
    """A figure or table of the paper.

    Attributes
    ----------
    name : its name on the command line.
    title, setting : what it shows, and on which data, in one line each.
    data : function from a scale to the data sets.
    methods : names of methods.
    measures : rows of panels, or columns of the table.
    test : the edge test behind the measures of graphs, for methods that make an order.
    axis : "n" or "d" on the horizontal axis of lines, "n and d" for both, "" for bars, "table" for a table alone.
    """

    name: str
    title: str
    setting: str
    data: Callable[[Scale], Iterable[DataSet]]
    methods: tuple[str, ...]
    measures: tuple[Measure, ...]
    test: str
    axis: str

    def cells(self, scale: str = "full", methods: Iterable[str] | None = None) -> list[Cell]:
        """Return the cells at a scale, for all methods or for those named."""
        sizes = SCALES[check_choice("scale", scale, SCALES)]
        chosen = [name for name in self.methods if methods is None or name in set(methods)]
        return [Cell(data, name, budget=sizes.budget) for data, name in product(list(self.data(sizes)), chosen)]


def _simulated(
    graphs: Iterable[str], sizes: Iterable[int], dimensions: Iterable[int], repeats: int, mechanism: str = "linear"
) -> list[DataSet]:
    return [
        DataSet("simulated", n, d, repeat, graph, mechanism, VERSION)
        for repeat, n, d, graph in product(range(repeats), sizes, dimensions, graphs)
    ]


def _by_size(scale: Scale) -> list[DataSet]:
    return _simulated(scale.graphs, scale.sizes, (scale.d,), scale.repeats)


def _by_dimension(scale: Scale) -> list[DataSet]:
    return _simulated(scale.graphs, (scale.n,), scale.dimensions, scale.repeats)


def _by_both(scale: Scale) -> list[DataSet]:
    return list(dict.fromkeys([*_by_size(scale), *_by_dimension(scale)]))


def _dense(scale: Scale) -> list[DataSet]:
    return _simulated(DENSE, (scale.large_n,), (scale.dense_d,), scale.repeats)


def _nonlinear(scale: Scale) -> list[DataSet]:
    return _simulated(scale.graphs, (scale.large_n,), (scale.d,), scale.repeats, "nonlinear")


def _small(scale: Scale) -> list[DataSet]:
    return _simulated(scale.graphs, (scale.n,), (scale.d,), scale.repeats)


def _sachs(scale: Scale) -> list[DataSet]:
    repeats, rows = scale.sachs
    return [DataSet("sachs", rows, SACHS_COLUMNS, repeat) for repeat in range(repeats)]


_SIZE, _WIDTH = "d = 10, n = 500 to 50,000, linear", "n = 500, d = 10 to 50, linear"
_FOUR = "ER-1, ER-2, SF-1, SF-2, five data sets each"

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment("sample-size", "Order divergence and SHD against the number of rows", f"{_SIZE}; {_FOUR}; LCIT edges",
                   _by_size, PAPER, (ORDER, SHD), "lcit", "n"),
        Experiment("dimensionality", "Order divergence and SHD against the number of columns",
                   f"{_WIDTH}; {_FOUR}; LCIT edges", _by_dimension, PAPER, (ORDER, SHD), "lcit", "d"),
        Experiment("sachs", "Table: protein signalling data", "ten subsamples of 700 of 853 rows, 11 columns, 17 edges",
                   _sachs, ALL, SACHS, "lcit", "table"),
        Experiment("sample-size-f1-auc", "F1 and AUC against the number of rows", f"{_SIZE}; {_FOUR}; LCIT edges",
                   _by_size, PAPER, (F1, AUC), "lcit", "n"),
        Experiment("dimensionality-f1-auc", "F1 and AUC against the number of columns", f"{_WIDTH}; {_FOUR}; LCIT edges",
                   _by_dimension, PAPER, (F1, AUC), "lcit", "d"),
        Experiment("dense", "Dense graphs", "ER-4, SF-4, n = 5000, d = 10, linear; five data sets each; LCIT edges",
                   _dense, PAPER, (ORDER, SHD), "lcit", ""),
        Experiment("runtime", "Time to find the order", f"{_SIZE}; and {_WIDTH}; all four graph types",
                   _by_both, PAPER, (SECONDS,), "lcit", "n and d"),
        Experiment("sample-size-gam", "SHD with GAM selection against the number of rows", f"{_SIZE}; {_FOUR}; GAM edges",
                   _by_size, PAPER, (SHD,), "gam-classical", "n"),
        Experiment("dimensionality-gam", "SHD with GAM selection against the number of columns",
                   f"{_WIDTH}; {_FOUR}; GAM edges", _by_dimension, PAPER, (SHD,), "gam-classical", "d"),
        Experiment("nonlinear", "Nonlinear data; HOST with MLPs, with splines and by default",
                   f"n = 5000, d = 10, nonlinear; {_FOUR}; LCIT edges", _nonlinear, NONLINEAR, (ORDER, SHD), "lcit", ""),
        Experiment("non-polynomial", "Methods that are not polynomial-time",
                   f"n = 500, d = 10, linear; {_FOUR}; edges of each method's own", _small, SLOW, (SHD, F1), "own", ""),
    )
}  # fmt: skip


def get_experiments(name: str) -> list[Experiment]:
    """Return the experiment of this name, or every one for "all"."""
    if name == "all":
        return list(EXPERIMENTS.values())
    if name not in EXPERIMENTS:
        raise ParameterError("NAME", f"be 'all' or one of {', '.join(EXPERIMENTS)}", name)
    return [EXPERIMENTS[name]]
