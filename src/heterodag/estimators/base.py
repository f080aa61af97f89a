"""What every graph-learning estimator offers after `fit`: names, edges and exports of the learned graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from heterodag.core.gaussian import Array
from heterodag.io.inputs import check_data, column_labels

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


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
