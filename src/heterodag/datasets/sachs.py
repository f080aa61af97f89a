"""The protein-signalling data of Sachs et al. (2005): the paper's real data."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from heterodag.core.graph import Adjacency

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Dataset", "load_sachs"]

DESCRIPTION = """\
Single-cell flow cytometry of 11 phosphorylated proteins and phospholipids in human T cells: 853 cells, the
observational condition (cd3/cd28) alone, raw fluorescence (results on logarithms differ much).
Source: Sachs, Perez, Pe'er, Lauffenburger and Nolan, "Causal protein-signaling networks derived from
multiparameter single-cell data", Science 308:523 (2005). The rows equal the first 853 of
cyto_full_data.csv in cdt 0.6.0. Graph: the 17-edge consensus network, acyclic, as in sachs.bif of pgmpy
1.1.2. Other sources give 18 edges (with a cycle) or 20; say which one was used when comparing results.
"""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table of observations with the graph that is held to be true.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The observations.
    adjacency : ndarray of shape (d, d), int8
        `adjacency[i, j] == 1` means column i -> column j.
    feature_names : list of str
        The columns of `X`.
    edges : list of (str, str)
        The same graph as pairs of names, (cause, effect).
    description : str
        Where the data and the graph come from, and the scale of the values.
    """

    X: NDArray[np.float64]
    adjacency: Adjacency
    feature_names: list[str]
    edges: list[tuple[str, str]]
    description: str

    @property
    def data(self) -> pd.DataFrame:
        """The observations as a pandas DataFrame, built on every access."""
        import pandas as pd

        return pd.DataFrame(self.X, columns=self.feature_names)


def load_sachs() -> Dataset:
    """Load the observational protein-signalling data of Sachs et al. (2005) and their 17-edge graph.

    Returns
    -------
    Dataset
        853 rows and 11 columns of raw fluorescence, 17 edges; every call gives fresh arrays.

    Notes
    -----
    The table and the graph of the paper's section on real data, which takes subsamples of 700 rows. See
    `description` of the result for the sources of both and for the other graphs in use.

    Examples
    --------
    >>> from heterodag.datasets import load_sachs
    >>> sachs = load_sachs()
    >>> sachs.X.shape, len(sachs.edges)
    ((853, 11), 17)
    """
    names, *rows = _read("sachs_observational.csv")
    edges = [(cause, effect) for cause, effect in _read("sachs_edges.csv")[1:]]
    X = np.array(rows, dtype=np.float64)
    return Dataset(X, _adjacency(edges, names), names, edges, DESCRIPTION)


def _read(file_name: str) -> list[list[str]]:
    text = (files("heterodag.datasets") / "data" / file_name).read_text(encoding="utf-8")
    return list(csv.reader(text.splitlines()))


def _adjacency(edges: list[tuple[str, str]], names: list[str]) -> Adjacency:
    adjacency = np.zeros((len(names), len(names)), dtype=np.int8)
    for cause, effect in edges:
        adjacency[names.index(cause), names.index(effect)] = 1
    return adjacency
