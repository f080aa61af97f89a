"""Make the table and the true graph of a described data set."""

from __future__ import annotations

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.core.graph import Adjacency
from heterodag.datasets import load_sachs
from heterodag.experiments.cells import DataSet
from heterodag.simulation import simulate


def load_data(data: DataSet) -> tuple[Array, Adjacency]:
    """Return the table and the graph behind it: simulated, or a subsample of the real data."""
    if data.source == "sachs":
        sachs = load_sachs()
        rows = np.random.default_rng(data.seed).choice(len(sachs.X), data.n, replace=False)
        return sachs.X[np.sort(rows)], sachs.adjacency
    kind, degree = data.graph.split("-")
    drawn = simulate(
        data.n, data.d, graph=kind, degree=int(degree), mechanism=data.mechanism, version=data.version,
        random_state=data.seed,
    )  # fmt: skip
    return drawn.X, drawn.adjacency
