"""A benchmark of your own method: HOST, NPVar and a class of yours on the same simulated tables."""

import numpy as np
from sklearn.base import BaseEstimator

from heterodag import recover_dag
from heterodag.experiments import benchmark


class SpreadSort(BaseEstimator):
    """Order columns by how heavy their tails are, then test edges: a method of your own needs `fit` and `adjacency_`."""

    def __init__(self, selection="likelihood"):
        self.selection = selection

    def fit(self, X, y=None):
        """Learn the order and the graph."""
        centred = (X - X.mean(axis=0)) / X.std(axis=0)
        self.order_ = np.argsort((centred**4).mean(axis=0))
        graph = recover_dag(X, self.order_, selection=self.selection)
        self.adjacency_, self.pvalues_ = graph.adjacency, graph.pvalues
        return self


def main():
    result = benchmark(
        {"SpreadSort": SpreadSort(), "HOST": "HOST", "NPVar": "NPVar"},
        [{"n": 300, "d": 5, "graph": graph} for graph in ("ER", "SF")],
        repeats=3, tests=["likelihood"], out="my-benchmark", max_seconds=60, verbose=1,
    )  # fmt: skip
    print(result.to_markdown("order_divergence"))
    print(result.to_markdown("likelihood_shd"))


if __name__ == "__main__":
    main()
