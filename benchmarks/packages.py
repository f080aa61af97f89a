"""What benchmarks that compare methods share: methods of this and other packages, their measures, and a limit of time.

A method goes from a table to (graph, order). Edges both ways have no direction; the order is None where a method has none.
Packages are imported only when a method of theirs is run.
"""

import logging
import signal
import time
import warnings
import zlib
from functools import cache

import numpy as np

from heterodag.simulation import simulate

GRAPHS = ("ER-1", "ER-2", "SF-1", "SF-2")


def standardised(X):
    """Return the table with mean 0 and variance 1 in all columns.

    In simulated tables the raw variances grow along the causal order and give it away, which real units do not.
    """
    return (X - X.mean(axis=0)) / X.std(axis=0)


def rival(name):
    def fit(X):
        import heterodag

        model = getattr(heterodag, name)().fit(X)
        return model.adjacency_, model.order_

    return fit


def direct_lingam(X):
    from lingam import DirectLiNGAM

    model = DirectLiNGAM().fit(X)
    return (model.adjacency_matrix_.T != 0).astype(int), np.array(model.causal_order_)


def from_endpoints(graph):
    """Return causal-learn's graph as a matrix; edges without one direction are in it both ways."""
    return ((graph.T == 1) | ((graph == -1) & (graph.T == -1))).astype(int)


def pc(X):
    from causallearn.search.ConstraintBased.PC import pc as search

    return from_endpoints(search(X, show_progress=False).G.graph), None


def ges(X):
    from causallearn.search.ScoreBased.GES import ges as search

    return from_endpoints(search(X)["G"].graph), None


def notears(X):
    from castle.algorithms import Notears

    logging.disable(logging.INFO)
    model = Notears()
    model.learn(X)
    return np.asarray(model.causal_matrix), None


class TooLongError(Exception):
    """The time limit of one fit is over."""


def timed(fit, X, limit):
    """Return (graph, order) and seconds of processor time; stop after `limit` such seconds."""

    def stop(*_):
        raise TooLongError

    before = signal.signal(signal.SIGPROF, stop)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            signal.setitimer(signal.ITIMER_PROF, limit)
            start = time.process_time()
            found = fit(X.copy())
            seconds = time.process_time() - start
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return found, seconds


@cache
def import_all_of(fit):
    """Fit a small table, so that no time of a row is that of imports."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit(standardised(simulate(100, 3, random_state=0).X))


def measures(found, truth):
    """Return the measures of a graph in which undirected edges stand both ways and count as right if the pair is joined."""
    both = (found == 1) & (found.T == 1)
    directed = np.where(both, truth, found)
    # An undirected edge between columns that are not joined in truth is one edge too many.
    extra = int(np.triu(both & (truth == 0) & (truth.T == 0)).sum())
    differing = (directed != truth) | (directed.T != truth.T)
    shd = int(np.triu(differing).sum()) + extra
    one, other = (np.triu((matrix + matrix.T) > 0) for matrix in (found, truth))
    f1 = 2 * (one & other).sum() / max(1, one.sum() + other.sum())
    return {"shd": shd, "skeleton_f1": f"{f1:.4f}", "undirected": int(np.triu(both).sum())}


def order_divergence(order, truth):
    """Return the number of true edges that go against the order."""
    place = np.argsort(order)
    return int(sum(place[i] > place[j] for i, j in np.argwhere(truth)))


def checksum(X, truth):
    """Return a short mark of a table that other versions of NumPy agree on."""
    return f"{zlib.crc32(truth.astype(np.int8).tobytes()):08x}-{np.abs(X).sum():.6g}"
