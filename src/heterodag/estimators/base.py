"""What every graph-learning estimator offers after `fit`: names, edges and exports of the learned graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from heterodag.core.gaussian import Array
from heterodag.errors import check_choice, check_integer, check_max_seconds, check_number, check_workers
from heterodag.independence.recover import CORRECTIONS
from heterodag.independence.registry import get_selection
from heterodag.io.exports import CERTAINTY
from heterodag.io.inputs import MISSING, check_data, column_labels
from heterodag.knowledge import as_knowledge

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


def check_graph_parameters(model: Any) -> None:
    """Check the parameters of a method that tests edges."""
    check_choice("correction", model.correction, CORRECTIONS)
    check_number("alpha", model.alpha, low=0.0, high=1.0, open_low=True)
    check_choice("missing", model.missing, MISSING)
    get_selection(model.selection)
    as_knowledge(model.prior_knowledge)
    check_run_parameters(model)


def check_run_parameters(model: Any) -> None:
    """Check `verbose`, `max_seconds` and, where there is one, `n_jobs`."""
    check_integer("verbose", int(model.verbose) if isinstance(model.verbose, bool) else model.verbose, low=0)
    check_max_seconds(model.max_seconds)
    check_workers(getattr(model, "n_jobs", None))


class GraphEstimator(BaseEstimator):  # type: ignore[misc]
    """Shared surface: subclasses set `adjacency_` (entry [i, j] is 1 for i -> j) and, if they have one, `order_`."""

    def _read(self, X: Any) -> tuple[Array, list[str] | None]:
        """Check `X`, remember its width and names, and return the array and the names."""
        array, names = check_data(X, getattr(self, "missing", "refuse"))
        self._remember(array.shape[1], names)
        return array, names

    def _remember(self, d: int, names: list[str] | None) -> None:
        self.n_features_in_ = d
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def names(self) -> list[str]:
        """Return the column names, x0, x1, ... if the table had none."""
        check_is_fitted(self, "adjacency_")
        names = getattr(self, "feature_names_in_", None)
        return column_labels(self.n_features_in_, None if names is None else list(names))

    def edges(self) -> pd.DataFrame:
        """Return the learned edges, strongest evidence first: columns cause, effect, pvalue.

        Where the method knows them (see `HOST`), also nats, the evidence for the edge; direction_nats, by how many nats
        the best graph with the edge turned round is worse; interventional_nats, how much of that is due to interventions
        (if there were some); and open, whether the evidence is so little that the direction is open. Edges of
        equal p-value are sorted by nats, largest first.

        Where the method tells them apart (see `HOST`), also mean_pvalue and variance_pvalue: does the cause move the
        mean of the effect, does it move its spread.
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
        for column, attribute in matrices.items():
            if hasattr(self, attribute):
                columns[column] = getattr(self, attribute)[causes, effects]
        frame = pd.DataFrame(columns)
        if "nats" in columns:
            return frame.sort_values(["pvalue", "nats"], ascending=[True, False], kind="stable", ignore_index=True)
        return frame.sort_values("pvalue", kind="stable", ignore_index=True)

    def to_networkx(self) -> nx.DiGraph:
        """Return the learned graph with the column names as nodes and `pvalue` on the edges.

        The edges have nats, direction_nats and open as well, where the method knows them; see `edges`.
        """
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(self.names())
        edges = self.edges()
        known = {name: edges[name].tolist() for name in ("pvalue", *CERTAINTY) if name in edges}
        for row, ends in enumerate(zip(edges["cause"], edges["effect"], strict=True)):
            graph.add_edge(*ends, **{name: values[row] for name, values in known.items()})
        return graph

    def to_pdag(self) -> nx.DiGraph:
        """Return the learned graph with every edge whose direction is open in both directions.

        Returns
        -------
        networkx.DiGraph
            As from `to_networkx`, and for every open edge i -> j also j -> i, both with ``open=True``; the added edge
            has no other attributes. Where the method does not know which edges are open, no edge is added.

        Notes
        -----
        This is the usual way to write a partially directed graph: two arrows between the same variables stand for one
        edge of undecided direction. The result has cycles; `to_networkx` is always a DAG.

        Examples
        --------
        >>> from heterodag import HOST, simulate
        >>> model = HOST().fit(simulate(1000, 5, degree=1, random_state=1).to_frame())
        >>> graph = model.to_pdag()
        >>> undecided = [{i, j} for i, j in graph.edges if i < j and graph.has_edge(j, i)]
        >>> bool(graph.number_of_edges() - len(undecided) == model.adjacency_.sum())
        True
        """
        graph = self.to_networkx()
        undecided = [(cause, effect) for cause, effect, data in graph.edges(data=True) if data.get("open")]
        graph.add_edges_from(((effect, cause) for cause, effect in undecided), open=True)
        return graph
