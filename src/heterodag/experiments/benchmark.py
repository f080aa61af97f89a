"""Run your own benchmark: your methods or ours, on your tables or simulated ones, with the same runner and store."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heterodag._version import __version__
from heterodag.errors import DataError, HeterodagError, ParameterError, check_choice, check_integer
from heterodag.experiments.cells import Cell, DataSet
from heterodag.experiments.methods import get_method
from heterodag.experiments.run_cell import CellTask, Row
from heterodag.experiments.runner import RunSettings, run_tasks
from heterodag.experiments.store import RowStore
from heterodag.experiments.summary import interval, versions
from heterodag.experiments.summary_tables import markdown, mean_and_interval
from heterodag.graphcheck.reading import match_graph
from heterodag.independence.registry import SELECTIONS
from heterodag.io.inputs import check_data
from heterodag.runtime.fingerprints import describe, short_digest, table_digest
from heterodag.simulation import GRAPHS, MECHANISMS, VERSIONS, simulate_graph

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class BenchmarkResult:
    """The rows of a benchmark.

    Attributes
    ----------
    rows : pandas.DataFrame
        One row per data set and method: settings, `status` ("done", "timeout" or "error") with a `message`, seconds,
        and the measures: `order_divergence`, and `shd`, `f1`, `auc` and `edges`, each for the method's own graph
        (`own_`) and for every edge test in `tests` (`lcit_`, ...).

    Examples
    --------
    >>> from heterodag import VarSort
    >>> from heterodag.experiments import benchmark
    >>> result = benchmark({"sorted": VarSort()}, [{"n": 100, "d": 3}], repeats=1, n_jobs=1)
    >>> result.rows[["method", "status", "n", "d"]]
       method status    n  d
    0  sorted   done  100  3
    """

    rows: pd.DataFrame

    def summary(
        self, measures: Sequence[str] = ("order_divergence", "own_shd", "own_f1", "fit_seconds")
    ) -> pd.DataFrame:
        """Return means with intervals.

        Parameters
        ----------
        measures : sequence of str
            Columns of `rows`.

        Returns
        -------
        pandas.DataFrame
            Mean, standard error and 95 % t interval per kind of data, method and measure.
        """
        import pandas as pd

        unknown = [measure for measure in measures if measure not in self.rows]
        if unknown:
            raise ParameterError(
                "measures", f"be columns of `rows` ({', '.join(map(str, self.rows.columns))})", unknown[0]
            )
        lines = []
        kind = ["graph", "mechanism", "n", "d", "method"]
        for place in self.rows[kind].drop_duplicates().to_dict("records"):
            part = self.rows[(self.rows[kind] == list(place.values())).all(axis=1)]
            lost = {f"{status}s": int((part["status"] == status).sum()) for status in ("timeout", "error")}
            for measure in measures:
                values = [float(value) for value in part[measure].dropna()]
                mean, error, low, high = interval(values)
                counts = {"measure": measure, "runs": len(values)} | lost
                lines.append(place | counts | {"mean": mean, "error": error, "low": low, "high": high})
        return pd.DataFrame(lines)

    def to_markdown(self, measure: str = "own_shd") -> str:
        """Return a measure as a Markdown table.

        Parameters
        ----------
        measure : str, default="own_shd"
            A column of `rows`.

        Returns
        -------
        str
            One line per method, one column per kind of data.
        """
        lines = self.summary([measure]).to_dict("records")
        kinds = list(dict.fromkeys(_kind(line) for line in lines))
        cells = {(line["method"], _kind(line)): mean_and_interval(line) for line in lines}
        methods = dict.fromkeys(line["method"] for line in lines)
        return markdown(["method", *kinds], [[m, *(cells.get((m, kind), "") for kind in kinds)] for m in methods])


def _kind(line: Mapping[Any, Any]) -> str:
    parts = [str(line["graph"]), str(line["mechanism"]), f"n = {line['n']}", f"d = {line['d']}"]
    return ", ".join(part for part in parts if part)


def benchmark(
    methods: Mapping[str, Any] | Sequence[str],
    data: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    repeats: int = 5,
    tests: Sequence[str] = (),
    out: str | Path | None = None,
    max_seconds: float | None = None,
    n_jobs: int | None = -1,
    backend: str = "local",
    scheduler: str | None = None,
    retry: bool = False,
    verbose: int = 0,
) -> BenchmarkResult:
    """Run methods on data sets whose graph is known, and measure how close they come.

    Parameters
    ----------
    methods : mapping from names to estimators, or sequence of names
        An estimator or its class: anything with `fit(X)` that sets `adjacency_`, causes in rows. `order_` and
        `pvalues_` are measured if the estimator sets them, and `random_state` is set if it is a parameter. The name
        of a method of the paper's evaluation ("HOST", "HOST-paper", "NPVar", ...) stands for that method.
    data : sequence of mappings, or mapping from names to tables
        Settings of `heterodag.simulate` (`n`, `d`, and optionally `graph`, `degree`, `mechanism`, `version`),
        simulated `repeats` times each. Or `{name: (X, truth)}` with your own tables and their true graphs (a matrix in
        the order of the columns, or a DataFrame, networkx graph or file with their names); a list of such pairs under
        one name counts as repeats.
    repeats : int, default=5
        Number of simulated data sets of each kind.
    tests : sequence of str, default=()
        Edge tests that are also applied to every order, so that orders are compared with the same edge test; see
        `recover_dag`.
    out : path, optional
        Folder for `rows.jsonl`, from which a benchmark that was stopped continues. None keeps nothing.
    max_seconds : float, optional
        Time limit of a method on a data set; beyond it the row says "timeout".
    n_jobs, backend, scheduler : int, {"local", "dask"}, str
        How many cells run in parallel (-1: all cores), on this machine or on a dask cluster.
    retry : bool, default=False
        Run again the cells that ended with an error or at the time limit.
    verbose : int, default=0
        1 shows a progress bar on a terminal.

    Returns
    -------
    BenchmarkResult
        With `rows`, `summary()` and `to_markdown()`.

    Notes
    -----
    Every seed is derived from the names of the data set and the method: all methods see the same tables, and adding a
    method does not change the results of the others. A stored row belongs to the class (including its code), its
    settings, the table and its graph, and the version of this package: rows of another version are run again, with a
    warning.

    Examples
    --------
    >>> from heterodag import VarSort
    >>> from heterodag.experiments import benchmark
    >>> result = benchmark({"sorted": VarSort()}, [{"n": 100, "d": 3}], repeats=2, n_jobs=1)
    >>> result.summary(["own_shd"])[["method", "measure", "runs"]]
       method  measure  runs
    0  sorted  own_shd     2
    """
    settings = RunSettings(max_seconds, n_jobs, backend, scheduler, retry)
    check_integer("verbose", verbose, low=0)
    chosen = tuple(check_choice("tests", test, SELECTIONS) for test in _listed("tests", tests))
    tables = _data_sets(data, check_integer("repeats", repeats, low=1))
    estimators = _methods(methods)
    tasks = [
        CellTask(Cell(kind, name, chosen, digest=digest), estimator, table)
        for kind, table in tables for name, estimator, digest in estimators
    ]  # fmt: skip
    _check_sendable(tasks)
    with tempfile.TemporaryDirectory() as scratch:
        rows = _run(tasks, Path(scratch if out is None else out), settings, bool(verbose))
    import pandas as pd

    return BenchmarkResult(pd.DataFrame(rows))


def _run(tasks: list[CellTask], folder: Path, settings: RunSettings, show: bool) -> list[Row]:
    store, cells = RowStore(folder, __version__), [task.cell for task in tasks]
    if outdated := store.outdated(cells):
        made = ", ".join(versions(outdated)) or "(version unknown)"
        said = f"{len(outdated)} stored rows were made by heterodag {made}, not {__version__}: they are run again."
        warnings.warn(said, UserWarning, stacklevel=3)
    run_tasks(tasks, store, settings, show=show)
    return store.rows(cells)


def _listed(name: str, value: Any) -> list[Any]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ParameterError(name, "be a list", value, f"Write [{value!r}].")
    return list(value)


def _methods(methods: Any) -> list[tuple[str, Any, str]]:
    """Return name, estimator and digest of every method; for registered methods the estimator is None."""
    given = dict(methods) if isinstance(methods, Mapping) else {name: name for name in _listed("methods", methods)}
    if not given:
        raise ParameterError("methods", "name at least one method", methods)
    found = []
    for name, value in given.items():
        if isinstance(value, str):
            found.append((get_method(value).name, None, ""))
            continue
        if not isinstance(name, str) or "/" in name or not name:
            raise ParameterError("methods", "have names without '/'", name)
        estimator = value() if isinstance(value, type) else value
        if not callable(getattr(estimator, "fit", None)):
            raise ParameterError("methods", "hold estimators with a method `fit`, or their classes", value)
        found.append((name, estimator, short_digest(describe(estimator))))
    return found


def _data_sets(data: Any, repeats: int) -> list[tuple[DataSet, Any]]:
    if isinstance(data, Mapping):
        found = [pair for name, value in data.items() for pair in _own_tables(str(name), value)]
    else:
        found = [(kind, None) for settings in _listed("data", data) for kind in _simulated(settings, repeats)]
    if not found:
        raise ParameterError("data", "hold at least one data set", data)
    return found


def _own_tables(name: str, value: Any) -> list[tuple[DataSet, Any]]:
    pairs = value if isinstance(value, list) else [value]
    found = []
    for repeat, pair in enumerate(pairs):
        if not isinstance(pair, tuple) or len(pair) != 2 or "/" in name:
            rule = "be {name: (X, truth)}, or a list of such pairs, with names without '/'"
            raise ParameterError("data", rule, name)
        try:
            array, names = check_data(pair[0])
            truth, _ = match_graph(_without_numbers_for_names(pair[1]), pair[0], "refuse", "truth")
        except (DataError, ParameterError) as error:
            raise DataError(f"Data set '{name}': {error}") from None
        digest = short_digest(table_digest(array, names) + describe(truth))
        found.append((DataSet("table", len(array), len(truth), repeat, name, digest=digest), (pair[0], truth)))
    return found


def _without_numbers_for_names(truth: Any) -> Any:
    """Return a data frame that pandas numbered as a plain matrix; other graphs as they are."""
    numbered = hasattr(truth, "columns") and list(truth.columns) == list(truth.index) == list(range(len(truth)))
    return truth.to_numpy() if numbered else truth


def _simulated(settings: Any, repeats: int) -> list[DataSet]:
    defaults = {"n": None, "d": None, "graph": "ER", "degree": 1, "mechanism": "linear", "version": "text"}
    if not isinstance(settings, Mapping) or not {"n", "d"} <= set(settings) <= set(defaults):
        rule = f"be a list of settings with n, d and, if need be, {', '.join(list(defaults)[2:])}"
        raise ParameterError("data", rule, settings)
    full = defaults | dict(settings)
    n, d = check_integer("n", full["n"], low=2), check_integer("d", full["d"], low=1)
    graph, degree = check_choice("graph", full["graph"], GRAPHS), check_integer("degree", full["degree"], low=0)
    check_choice("mechanism", full["mechanism"], MECHANISMS)
    check_choice("version", full["version"], VERSIONS)
    simulate_graph(d, graph=graph, degree=degree)  # refuses impossible degrees before anything runs
    kind = f"{graph}-{degree}"
    mechanism, version = str(full["mechanism"]), str(full["version"])
    return [DataSet("simulated", n, d, repeat, kind, mechanism, version) for repeat in range(repeats)]


def _check_sendable(tasks: list[CellTask]) -> None:
    """Refuse estimators that cannot be sent to another process, before any work is done."""
    import cloudpickle

    for task in {task.cell.method: task for task in tasks}.values():
        try:
            cloudpickle.dumps(task.estimator)
        except Exception as error:
            raise HeterodagError(
                f"Method '{task.cell.method}' cannot be sent to another process ({type(error).__name__}); make it "
                "picklable."
            ) from None
