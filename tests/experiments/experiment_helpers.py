"""Small methods and comparisons that the tests of experiments share; worker processes import them from here."""

import os
import time

import numpy as np
from sklearn.base import BaseEstimator

from heterodag.experiments.cells import Cell, DataSet
from heterodag.experiments.run_cell import CellTask


class Reversed(BaseEstimator):
    """Columns from the last to the first, an edge between neighbours; prints, as some methods do."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        print("a method that prints")  # noqa: T201
        d = X.shape[1]
        self.order_ = np.arange(d)[::-1]
        self.adjacency_ = np.eye(d, k=-1, dtype=np.int8)
        self.seed_ = self.random_state
        return self


class Sleeper(Reversed):
    """Never looks at a clock."""

    def fit(self, X, y=None):
        time.sleep(600)


class Failing(Reversed):
    def fit(self, X, y=None):
        raise ZeroDivisionError("too\nbad")


class Killed(Reversed):
    """Ends its process the way the kernel does when memory runs out."""

    def fit(self, X, y=None):
        os.kill(os.getpid(), 9)


def data_set(n=60, d=4, repeat=0):
    return DataSet("simulated", n, d, repeat, "ER-1", "linear", "text")


def task(estimator, tests=(), **options):
    return CellTask(Cell(data_set(**options), type(estimator).__name__, tests, digest="x"), estimator)


def without_times(rows):
    """Rows by cell, without what differs between two runs of the same thing."""
    return {row["cell"]: {k: v for k, v in row.items() if not k.endswith("seconds")} for row in rows}
