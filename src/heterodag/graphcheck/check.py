"""`check_graph`: what a table says about a graph that somebody drew or another tool learned."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from heterodag.checks.findings import Finding, Findings
from heterodag.checks.refused import FEWEST_ROWS
from heterodag.checks.tables import table_findings
from heterodag.core.graph import Adjacency
from heterodag.errors import (
    ParameterError,
    TimeLimitError,
    check_choice,
    check_integer,
    check_max_seconds,
    check_number,
    check_workers,
)
from heterodag.estimators.host import HOST
from heterodag.graphcheck.changes import best_changes, evidence, single_changes
from heterodag.graphcheck.graph_scores import GraphScores
from heterodag.graphcheck.reading import OTHERS, match_graph
from heterodag.graphcheck.residuals import dependences, misfits
from heterodag.graphcheck.result import GraphCheck
from heterodag.graphcheck.sentences import findings
from heterodag.graphcheck.shuffles import Shuffles, shuffled
from heterodag.graphcheck.tables import (
    EMPTY,
    LEARNED,
    THIS,
    change_table,
    edge_table,
    missing_table,
    pair_table,
    score_table,
    variable_table,
    with_shuffles,
)
from heterodag.io.inputs import MISSING
from heterodag.knowledge import Study, read_study
from heterodag.knowledge.interventions import take_conditions
from heterodag.ordering.search import LEVELS, MECHANISM_LEVELS, with_natural_curves
from heterodag.runtime.progress import progress_bar
from heterodag.runtime.seeds import seed_sequence
from heterodag.runtime.work import OutOfTime, Work
from heterodag.scores.describe import mechanism_table
from heterodag.scores.fit import Effort
from heterodag.scores.local import LocalScores
from heterodag.scores.make import AUTO

if TYPE_CHECKING:
    import pandas as pd

#: Edges and changes are judged on at most this many rows, the most from which HOST learns directions.
ROWS = MECHANISM_LEVELS[-1]
#: Shuffles and residuals are judged on at most this many rows: shuffles need hundreds of models, and with more rows
#: residuals show deviations too small to matter.
FEW_ROWS = LEVELS[0]


def check_graph(
    graph: Any,
    X: Any,
    *,
    interventions: Any = None,
    learned: Any = None,
    learn: bool = True,
    alpha: float = 0.001,
    n_shuffles: int = 199,
    others: str = "refuse",
    missing: str = "refuse",
    max_seconds: float | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> GraphCheck:
    """Check a graph against a table: needed and missing edges, comparison with chance, and changes that would help.

    Every variable is modelled given its parents in the graph, with the mechanisms that compete in `HOST`. The true
    graph is not needed: the graph makes claims about the table, and these are tested.

    Parameters
    ----------
    graph : array, DataFrame, networkx.DiGraph, path, fitted estimator or graph read from a file
        Arrays have causes in rows: `graph[i, j] == 1` means column i -> column j. Graphs with names are matched with the
        columns by name. A path may be any graph file that heterodag reads: graph.json, GraphML, an edge list or a
        square table.
    X : table of shape (n, d)
        Continuous observations, one column per variable.
    interventions : optional
        Which variables were set or changed in which rows; see `HOST.fit`. A condition whose targets are unknown may act on
        every variable.
    learned : optional
        A graph to compare with, such as a fitted `HOST`; anything that `graph` can be.
    learn : bool, default=True
        Without `learned`, fit `HOST` to the table and compare with its graph.
    alpha : float, default=0.001
        Level of the tests. Each question (edges, missing edges, variables, pairs of residuals) is corrected for its
        number of tests by Holm's method.
    n_shuffles : int, default=199
        Number of graphs with shuffled names to compare with; 0 leaves this out. If the variables are so few that
        there are no more shuffles than that, every shuffle is made once.
    others : {"refuse", "drop", "keep"}, default="refuse"
        What to do with columns that the graph does not name: raise an error that names them, leave them out, or keep
        them as variables without edges. Edge lists cannot name variables without edges, so for them other columns are
        kept unless `others="drop"`.
    missing : {"refuse", "drop"}, default="refuse"
        What to do with rows that have missing values: raise an error that counts them, or leave them out with a warning.
    max_seconds : float, optional
        Time limit in seconds. Learning a graph gets half of it; the shuffles are left out if there is no time to
        finish them. If the rest does not finish, `TimeLimitError` is raised.
    n_jobs : int, optional
        Parallel workers, as joblib understands it; the result does not depend on it.
    random_state : int, Generator or None
        Seed of the shuffles; the rest is deterministic.
    verbose : int, default=0
        1 shows a progress bar on a terminal.

    Returns
    -------
    GraphCheck
        Findings in words, and the tables behind them.

    Notes
    -----
    Models of edges and changes use at most 10,000 rows, those of shuffles and residuals at most 2,000.

    Examples
    --------
    >>> from heterodag import check_graph, simulate
    >>> data = simulate(500, 5, degree=1, mechanism="curved", random_state=1)
    >>> check = check_graph(data.adjacency, data.X, learn=False)
    >>> check.edges["needed"].tolist(), len(check.changes)
    (['yes', 'yes', 'yes', 'yes', 'yes'], 0)
    """
    limit = _check_parameters(learn, alpha, n_shuffles, others, missing, max_seconds, n_jobs, verbose)
    seed = seed_sequence(random_state)
    X, interventions = take_conditions(X, interventions)
    adjacency, X = match_graph(graph, X, others)
    study = read_study(X, interventions, None, missing)
    with progress_bar("checking", enabled=bool(verbose)) as bar, Work(n_jobs, limit, bar, "check_graph") as work:
        scores = AUTO.make(study.array, seed, work, study.experiments)
        other = None if learned is None else match_graph(learned, X, others, "learned")[0]
        if learned is None and learn:
            half = None if limit is None else limit / 2
            other = _learn(X, interventions, alpha=alpha, missing=missing, n_jobs=n_jobs, max_seconds=half)
        work.report(0.4)
        tables = _tables(study, scores, adjacency, other, float(alpha))
        work.report(0.6)
        shuffles = _shuffles(study, scores, adjacency, n_shuffles, seed)
        work.report(1.0)
    if shuffles is not None:
        tables["scores"] = with_shuffles(tables["scores"], shuffles)
    found = findings(tables, shuffles, asked=n_shuffles > 0)
    return GraphCheck(
        names=tuple(study.labels[: study.d]),
        adjacency=adjacency,
        findings=Findings([*_of_the_table(study), *found], found.title),
        pvalue=np.nan if shuffles is None else shuffles.pvalue,
        alpha=float(alpha),
        **tables,
    )


def _of_the_table(study: Study) -> list[Finding]:
    """Return what is wrong with the table itself, which may make every answer about the graph meaningless."""
    told: dict[str, Any] = {} if study.told is None else {"groups": study.told.condition, "fixed": study.told.fixed}
    if len(study.array) < FEWEST_ROWS:
        return []
    return table_findings(study.array[:, : study.d], study.labels[: study.d], **told).of("amber", "red")


def _learn(X: Any, interventions: Any, **settings: Any) -> Adjacency | None:
    """Return the graph that HOST learns, without its warnings; None if the time is up before it has one."""
    with warnings.catch_warnings(), suppress(TimeLimitError):
        warnings.simplefilter("ignore")
        return np.asarray(HOST(data_check="ignore", **settings).fit(X, interventions=interventions).adjacency_)
    return None


def _tables(
    study: Study, scores: LocalScores, adjacency: Adjacency, other: Adjacency | None, alpha: float
) -> dict[str, pd.DataFrame]:
    """Answer every question except the one about chance, with one table each."""
    labels, graphs = study.labels[: study.d], {THIS: adjacency}
    if other is not None:
        graphs[LEARNED] = other
    graph = GraphScores.of(study, scores)
    for some in graphs.values():
        graph = graph.on(with_natural_curves(graph.scores, dict(graph.keys(some))))
    graph = graph.on(graph.scores.sample(ROWS))
    graphs[EMPTY] = np.zeros_like(adjacency)
    found = evidence(graph, adjacency, single_changes(adjacency))
    few = graph.on(graph.scores.sample(FEW_ROWS))
    pairs = pair_table(dependences(few, adjacency), labels, alpha)
    fits = graph.scores.fits(graph.keys(adjacency), Effort.FINAL)
    rows = [graph.scores.table_of(j).shape[0] for j in range(graph.d)]
    return {
        "edges": edge_table(found, adjacency, labels, alpha, graph.price, other),
        "missing": missing_table(found, labels, alpha),
        "variables": variable_table(mechanism_table(fits, labels, rows), misfits(few, adjacency), pairs, alpha),
        "pairs": pairs,
        "changes": change_table(best_changes(graph, adjacency), labels),
        "scores": score_table(graph, graphs),
    }


def _shuffles(
    study: Study, scores: LocalScores, adjacency: Adjacency, most: int, seed: np.random.SeedSequence
) -> Shuffles | None:
    """Compare with shuffled names; None if that is not wanted or the time is up.

    The models are fitted anew, without natural curves that the graph under test may have asked for: nothing may
    favour it.
    """
    if most == 0:
        return None
    fresh = scores.sample(FEW_ROWS).with_fitter(scores.fitter)
    with suppress(OutOfTime):
        return shuffled(GraphScores.of(study, fresh), adjacency, study.labels[: study.d], most, seed)
    return None


def _check_parameters(
    learn: Any, alpha: Any, n_shuffles: Any, others: Any, missing: Any, max_seconds: Any, n_jobs: Any, verbose: Any
) -> float | None:
    """Check every parameter except graph and table; return the time limit."""
    if not isinstance(learn, bool | np.bool_):
        raise ParameterError("learn", "be True or False", learn)
    check_number("alpha", alpha, low=0.0, high=1.0, open_low=True)
    check_integer("n_shuffles", n_shuffles, low=0)
    check_choice("others", others, OTHERS)
    check_choice("missing", missing, MISSING)
    check_integer("verbose", int(verbose) if isinstance(verbose, bool) else verbose, low=0)
    check_workers(n_jobs)
    return check_max_seconds(max_seconds)
