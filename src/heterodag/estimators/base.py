"""What every graph-learning estimator offers after `fit`: names, edges, exports and views of the learned graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from heterodag.checks.findings import Finding, Findings
from heterodag.checks.refused import FEWEST_ROWS
from heterodag.checks.tables import refusal, table_findings
from heterodag.checks.trust import LEFT_OUT
from heterodag.core.gaussian import Array
from heterodag.errors import (
    DataError,
    DataWarning,
    check_choice,
    check_integer,
    check_max_seconds,
    check_number,
    check_workers,
    said_so_far,
    warn,
)
from heterodag.estimators.long_study import long_findings
from heterodag.estimators.showing import model_html, model_trust
from heterodag.independence.recover import CORRECTIONS
from heterodag.independence.registry import get_selection
from heterodag.io.exports import CERTAINTY, STRENGTHS, graph_result
from heterodag.io.inputs import MISSING, check_data, column_labels, read_data
from heterodag.knowledge import ResolvedKnowledge, Study, as_knowledge
from heterodag.report.text import Text, summary_text

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from heterodag.resampling.result import BootstrapResult


#: A fitted model keeps at most 2,000 evenly spaced rows for pictures, fewer of a wide table, so that it stays small.
MAX_SAMPLE, MIN_SAMPLE, SAMPLE_FLOATS = 2000, 200, 2**18


def check_graph_parameters(model: Any) -> None:
    """Check the parameters of a method that tests edges."""
    check_choice("correction", model.correction, CORRECTIONS)
    check_number("alpha", model.alpha, low=0.0, high=1.0, open_low=True)
    check_choice("missing", model.missing, MISSING)
    get_selection(model.selection)
    as_knowledge(model.prior_knowledge)
    check_run_parameters(model)


def check_run_parameters(model: Any) -> None:
    """Check `verbose`, `max_seconds` and, if the method has it, `n_jobs`."""
    check_integer("verbose", int(model.verbose) if isinstance(model.verbose, bool) else model.verbose, low=0)
    check_max_seconds(model.max_seconds)
    check_workers(getattr(model, "n_jobs", None))


class GraphEstimator(BaseEstimator):  # type: ignore[misc]
    """Shared interface: subclasses set `adjacency_` (entry [i, j] is 1 for i -> j) and, if they have one, `order_`."""

    table_findings_: Findings

    def _read(self, X: Any) -> tuple[Array, list[str] | None]:
        """Check `X`, remember its width, names and a sample of rows, and return the array and the names."""
        array, names = check_data(X, getattr(self, "missing", "refuse"))
        self._remember(array.shape[1], names)
        self._look_at(X, Study(array, names, array.shape[1], None))
        return array, names

    def _look_at(self, X: Any, study: Study, data_check: str = "warn") -> None:
        """Keep some rows, what was left out and what the table check finds; forget an earlier bootstrap."""
        self._forget_bootstrap()
        array, told = study.array[:, : study.d], study.told
        self.n_rows_ = study.n_rows
        self.left_out_ = [Finding("amber", LEFT_OUT, "left out", sentence) for sentence in said_so_far()]
        few = max(MIN_SAMPLE, min(MAX_SAMPLE, SAMPLE_FLOATS // array.shape[1]))
        rows = np.arange(0, len(array), max(1, -(-len(array) // few)))
        self.sample_ = array[rows].copy()
        self.sample_free_ = np.ones(self.sample_.shape, dtype=bool)
        if told is not None:
            self.sample_free_ = np.column_stack([told.undisturbed(j)[rows] for j in range(study.d)])
        self._check_table(X, study, data_check)

    def _check_table(self, X: Any, study: Study, data_check: str) -> None:
        """Check the table as `data_check` says: warn of findings, refuse tables from which nothing can be learned."""
        if hasattr(self, "table_findings_"):
            del self.table_findings_
        if data_check == "ignore" or study.n_rows < FEWEST_ROWS:
            return
        found = self._findings(X, study)
        worst = refusal(found)
        if worst is not None and data_check == "refuse":
            raise DataError(
                f"{worst.text} To fit this table all the same, pass data_check='warn' (--data-check warn)."
            )
        self.table_findings_ = found
        for finding in found.of("amber", "red"):
            warn(finding.text, DataWarning, stacklevel=5)

    def _findings(self, X: Any, study: Study) -> Findings:
        labels, told = column_labels(study.d, self._own_names()), study.told
        if study.long is not None:
            return long_findings(study.long, labels)
        told_of: dict[str, Any] = {} if told is None else {"groups": told.condition, "fixed": told.fixed}
        kept = None if not self.left_out_ else np.flatnonzero(~np.isnan(read_data(X)[0]).any(axis=1))
        return table_findings(study.array[:, : study.d], labels, positions=kept, **told_of)

    def _remember(self, d: int, names: list[str] | None) -> None:
        self.n_features_in_ = d
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _remember_required(self, knowledge: ResolvedKnowledge | None) -> None:
        """Keep which edges prior knowledge required, as `required_`; nothing if it required none."""
        d = self.n_features_in_
        if knowledge is not None and knowledge.required[:d, :d].any():
            self.required_ = knowledge.required[:d, :d].copy()
        elif hasattr(self, "required_"):
            del self.required_

    def names(self) -> list[str]:
        """Return the column names.

        Returns
        -------
        list of str
            The names of the table, or x0, x1, ... if it had none.

        Examples
        --------
        >>> from heterodag import VarSort, simulate
        >>> VarSort().fit(simulate(100, 3, random_state=1).X).names()
        ['x0', 'x1', 'x2']
        """
        check_is_fitted(self, "adjacency_")
        return column_labels(self.n_features_in_, self._own_names())

    def _own_names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    def edges(self) -> pd.DataFrame:
        """Return the learned edges, strongest evidence first.

        Returns
        -------
        pandas.DataFrame
            One row per edge: cause, effect and pvalue, and whatever else the method knows; see Notes.

        Notes
        -----
        Evidence, where the method measures it (see `HOST`): nats, the evidence for the edge, which still differs
        between edges whose p-values are all 0; direction_nats, by how many nats the best graph with the edge turned
        round is worse; interventional_nats, how much of that is due to interventions, if there were any; open,
        whether the evidence is too weak to decide the direction. Edges of equal p-value are sorted by nats, largest
        first.

        Strength, where known: mean_effect, the average slope of the effect's mean (standard deviations of the effect
        per standard deviation of the cause, signed), with its 95 % interval mean_effect_lower, mean_effect_upper;
        mean_change, the same in units of the effect; mean_range, how far the mean moves along the central 95 % of the
        cause; spread_effect, the factor on the effect's spread per standard deviation of the cause, with
        spread_effect_lower, spread_effect_upper; spread_range, the largest over the smallest spread along the central
        95 % of the cause; and share, how much of what all causes explain (in nats) is lost without this one.

        After `bootstrap`: frequency and reversed_frequency, the share of resamples with the edge and with its
        reverse. If prior knowledge requires edges: required, True for those; they were not tested, so their p-value
        is NaN. Where the method tests mean and spread separately (see `HOST`): mean_pvalue and variance_pvalue, the
        p-values of whether the cause moves the mean of the effect and whether it moves its spread.

        Examples
        --------
        >>> from heterodag import HOST, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> data = simulate(500, 3, mechanism="straight", spread="straight", adjacency=chain, random_state=1)
        >>> edges = HOST().fit(data.to_frame()).edges()
        >>> edges[["cause", "effect", "open"]]
          cause effect   open
        0    x1     x2  False
        1    x0     x1  False
        """
        import pandas as pd

        names = self.names()
        pvalues = getattr(self, "pvalues_", np.full(self.adjacency_.shape, np.nan))
        causes, effects = np.nonzero(self.adjacency_)
        columns: dict[str, Any] = {
            "cause": [names[i] for i in causes],
            "effect": [names[j] for j in effects],
            "pvalue": pvalues[causes, effects],
        }
        matrices = {name: f"{name}_" for name in CERTAINTY}
        matrices |= {f"{part}_pvalue": f"{part}_pvalues_" for part in ("mean", "variance")}
        known = {column: getattr(self, name) for column, name in matrices.items() if hasattr(self, name)}
        known |= getattr(self, "strengths_", {})
        columns |= {column: matrix[causes, effects] for column, matrix in known.items()}
        frame = pd.DataFrame(columns)
        if "nats" in columns:
            return frame.sort_values(["pvalue", "nats"], ascending=[True, False], kind="stable", ignore_index=True)
        return frame.sort_values("pvalue", kind="stable", ignore_index=True)

    def to_networkx(self) -> nx.DiGraph:
        """Return the learned graph for networkx.

        Returns
        -------
        networkx.DiGraph
            The nodes are the column names. Every edge has its `pvalue`, and evidence and strength if the method knows
            them; see `edges`.

        Examples
        --------
        >>> from heterodag import VarSort, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> model = VarSort().fit(simulate(500, 3, mechanism="straight", adjacency=chain, random_state=1).to_frame())
        >>> sorted(model.to_networkx().edges)
        [('x0', 'x1'), ('x1', 'x2')]
        """
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(self.names())
        edges = self.edges()
        known = {name: edges[name].tolist() for name in ("pvalue", *CERTAINTY, *STRENGTHS) if name in edges}
        for row, ends in enumerate(zip(edges["cause"], edges["effect"], strict=True)):
            graph.add_edge(*ends, **{name: values[row] for name, values in known.items()})
        return graph

    def to_pdag(self) -> nx.DiGraph:
        """Return the learned graph as a PDAG: an open edge is there in both directions.

        Returns
        -------
        networkx.DiGraph
            As from `to_networkx`, and for every open edge i -> j also j -> i, both with ``open=True``; the added edge
            has no other attributes. If the method does not know which edges are open, no edge is added.

        Notes
        -----
        This is the usual way to write a partially directed graph: two arrows between the same variables stand for one
        edge of undecided direction. The result has cycles; `to_networkx` is always a DAG.

        Examples
        --------
        >>> from heterodag import HOST, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> table = simulate(500, 3, mechanism="straight", adjacency=chain, random_state=1).to_frame()
        >>> sorted(HOST().fit(table).to_pdag().edges)
        [('x0', 'x1'), ('x1', 'x0'), ('x1', 'x2'), ('x2', 'x1')]

        The mean moves along straight lines and the noise is normal, so both directions of each edge explain the table
        equally well.
        """
        graph = self.to_networkx()
        undecided = [(cause, effect) for cause, effect, data in graph.edges(data=True) if data.get("open")]
        graph.add_edges_from(((effect, cause) for cause, effect in undecided), open=True)
        return graph

    def trust(self) -> Findings:
        """Return the box "Can I trust this?".

        It answers: are the rows independent, are the columns continuous, are there outliers, does the model fit, how
        sure are the directions, and what was left out? The same lines appear on the terminal, in the report and in
        graph.json.

        Returns
        -------
        Findings
            One finding per question, each with a severity and a remedy.

        Examples
        --------
        >>> from heterodag import HOST, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> table = simulate(500, 3, mechanism="straight", adjacency=chain, random_state=1).to_frame()
        >>> for finding in HOST().fit(table).trust():
        ...     print(finding.severity, finding.topic)
        green rows
        green columns
        green values
        green model fit
        amber directions
        green left out
        """
        check_is_fitted(self, "adjacency_")
        return model_trust(self)

    def summary(self) -> Text:
        r"""Return the result on one screen: order, edges with evidence and strength, and the box of `trust`.

        Returns
        -------
        str
            The text. At the end of a notebook cell it is shown without quotes.

        Examples
        --------
        >>> from heterodag import HOST, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> data = simulate(500, 3, mechanism="straight", spread="straight", adjacency=chain, random_state=1)
        >>> print("\n".join(HOST().fit(data.to_frame()).summary().splitlines()[:2]))
        HOST: 3 variables, 500 rows, 2 edges at alpha 0.001.
        Causal order, causes first: x0 -> x1 -> x2.
        """
        return summary_text(graph_result(self), getattr(self, "n_rows_", None))

    def plot(self, ax: Any = None) -> Any:
        """Draw the graph, causes on top; edges whose direction is open have no arrowhead.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The drawing; save it with ``ax.figure.savefig("graph.png")``.

        Examples
        --------
        >>> from heterodag import VarSort, simulate
        >>> ax = VarSort().fit(simulate(300, 4, random_state=1).X).plot()
        >>> ax.figure.savefig("graph.png")
        """
        from heterodag.viz import plot_graph

        check_is_fitted(self, "adjacency_")
        return plot_graph(self, ax=ax)

    def report(
        self, path: str | Path, X: Any = None, *, title: str = "Causal graph", interventions: Any = None
    ) -> Path:
        """Write the report, one HTML file that works without a network.

        Parameters
        ----------
        path : str or Path
            The file, such as "report.html".
        X : table of shape (n, d), optional
            The rows to draw; by default those that the model kept, at most 2,000.
        title : str
            The heading.
        interventions : optional
            With `X`: which variables were set or changed in its rows, as in `HOST.fit`.

        Returns
        -------
        pathlib.Path
            The file.

        Examples
        --------
        >>> from heterodag import HOST, simulate
        >>> model = HOST().fit(simulate(300, 3, random_state=1).to_frame())
        >>> model.report("report.html", title="Three variables").name
        'report.html'
        """
        from heterodag.io.writing import write_all
        from heterodag.report import render_report

        page = render_report(self, X, title=title, interventions=interventions)
        write_all({Path(path).name: page}, Path(path).parent)
        return Path(path)

    def bootstrap(self, X: Any, n_resamples: int = 100, **options: Any) -> BootstrapResult:
        """Learn the graph on resampled rows, and remember how often every edge came back.

        From then on `edges`, `trust`, the files and the report include the frequencies.

        Parameters
        ----------
        X : table of shape (n, d)
            The data the model was fitted to.
        n_resamples : int, default=100
            How many resamples to draw.
        **options
            Further arguments of `heterodag.bootstrap`, such as `n_jobs`, `random_state` and `store`.

        Returns
        -------
        BootstrapResult
            Frequencies, a consensus graph, the stability of the order.

        Examples
        --------
        >>> from heterodag import VarSort, simulate
        >>> table = simulate(300, 3, random_state=1).to_frame()
        >>> model = VarSort().fit(table)
        >>> model.bootstrap(table, 5, random_state=0).n_resamples
        5
        >>> list(model.edges().columns)
        ['cause', 'effect', 'pvalue', 'frequency', 'reversed_frequency']
        """
        from heterodag.resampling import bootstrap

        check_is_fitted(self, "adjacency_")
        self.bootstrap_ = bootstrap(self, X, n_resamples, **options)
        self.frequency_, self.reversed_frequency_ = self.bootstrap_.directed, self.bootstrap_.directed.T
        return self.bootstrap_

    def _forget_bootstrap(self) -> None:
        for name in ("bootstrap_", "frequency_", "reversed_frequency_"):
            if hasattr(self, name):
                delattr(self, name)

    def _repr_html_(self) -> str:
        """Show graph, order and trust in a notebook; before a fit, what scikit-learn shows."""
        if not hasattr(self, "adjacency_"):
            from sklearn.utils import estimator_html_repr

            return str(estimator_html_repr(self))
        return model_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
