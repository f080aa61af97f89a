"""
A benchmark of your own method
==============================

Any class with ``fit`` that sets ``adjacency_`` can be compared with HOST and other methods, on the same simulated tables.
Every table and method runs in a process of its own, with a time limit.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import BaseEstimator

from heterodag import recover_dag
from heterodag.experiments import benchmark

# %%
# The method: order the columns by how heavy their tails are, then test edges.


class SpreadSort(BaseEstimator):
    """Order columns by their fourth moments: effects of causes that move the spread have heavier tails."""

    def __init__(self, selection="likelihood"):
        self.selection = selection

    def fit(self, X, y=None):
        """Learn the order and the graph."""
        centred = (X - X.mean(axis=0)) / X.std(axis=0)
        self.order_ = np.argsort((centred**4).mean(axis=0))
        graph = recover_dag(X, self.order_, selection=self.selection)
        self.adjacency_, self.pvalues_ = graph.adjacency, graph.pvalues
        return self


# %%
# Two kinds of graphs, three tables of each. ``tests`` gives every order to the same edge test, so that orders
# can be compared. ``out="my-benchmark"`` would keep the rows in a folder, and a run that was stopped would go
# on from there.
result = benchmark(
    {"SpreadSort": SpreadSort(), "HOST": "HOST", "NPVar": "NPVar"},
    [{"n": 300, "d": 5, "graph": graph} for graph in ("ER", "SF")],
    repeats=3, tests=["likelihood"], max_seconds=60,
)  # fmt: skip
print(result.to_markdown("order_divergence"))
print(result.to_markdown("likelihood_shd"))

# %%
# The rows are a table: one per data set and method, with times.
rows = result.rows
figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
for ax, measure in zip(axes, ("order_divergence", "likelihood_shd"), strict=True):
    for place, (method, part) in enumerate(rows.groupby("method")):
        ax.plot(part[measure], np.linspace(place - 0.15, place + 0.15, len(part)), "o", label=method)
    ax.set_yticks(range(3), sorted(rows["method"].unique()))
    ax.set_xlabel(measure)
plt.show()

# %%
# **How far to trust this.** Three tables of each kind show that it runs, not which method is better: look at
# the intervals. And simulated tables favour the method that resembles the simulator.
#
# **Try next:** ``{"n": 1000, "d": 10, "mechanism": "nonlinear"}``; a table of your own with a known graph,
# ``{"mine": (table, graph)}``.
#
# **More:** stores, clusters and tables of your own, in :doc:`own benchmark </own-benchmark>`.
