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
        self.n_features_in_ = array.shape[1]
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return array, names

    def names(self) -> list[str]:
        """Return the column names, x0, x1, ... if the table had none."""
        check_is_fitted(self, "adjacency_")
        names = getattr(self, "feature_names_in_", None)
        return column_labels(self.n_features_in_, None if names is None else list(names))

    def edges(self) -> pd.DataFrame:
        """Return the learned edges, strongest evidence first: columns cause, effect, pvalue.

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
        for part in ("mean", "variance"):
            if hasattr(self, f"{part}_pvalues_"):
                columns[f"{part}_pvalue"] = getattr(self, f"{part}_pvalues_")[causes, effects]
        frame = pd.DataFrame(columns)
        return frame.sort_values("pvalue", kind="stable", ignore_index=True)

    def to_networkx(self) -> nx.DiGraph:
        """Return the learned graph with the column names as nodes and `pvalue` on the edges."""
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(self.names())
        edges = self.edges()
        for cause, effect, pvalue in zip(edges["cause"], edges["effect"], edges["pvalue"], strict=True):
            graph.add_edge(cause, effect, pvalue=float(pvalue))
        return graph
