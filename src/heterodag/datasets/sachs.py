"""The protein-signalling data of Sachs et al. (2005): the paper's real data."""

from __future__ import annotations

import csv
import gzip
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
observational condition (cd3/cd28) alone, raw fluorescence (results on logarithms differ a lot).
Source: Sachs, Perez, Pe'er, Lauffenburger and Nolan, "Causal protein-signaling networks derived from
multiparameter single-cell data", Science 308:523 (2005). The rows equal the first 853 of
cyto_full_data.csv in cdt 0.6.0. Graph: the 17-edge consensus network, acyclic, as in sachs.bif of pgmpy
1.1.2. Other sources give 18 edges (with a cycle) or 20; say which one was used when comparing results.
"""

CONDITIONS_DESCRIPTION = """\
Single-cell flow cytometry of 11 phosphorylated proteins and phospholipids in human T cells: 7,466 cells in nine
conditions, raw fluorescence. Source: Sachs, Perez, Pe'er, Lauffenburger and Nolan, "Causal protein-signaling
networks derived from multiparameter single-cell data", Science 308:523 (2005); the table is that of the public
collection cmu-phil/example-causal-datasets (licence CC0), its jittered reagent columns rounded and joined to the
condition. Graph: as in `load_sachs()`. Targets: as these data are usually read. Reagents change the activity of a
protein, not always its measured amount, so none of them is a perfect intervention; LY294002 inhibits PI3K, which is
not measured, and is read as acting on akt; PMA and beta2cAMP were given without the stimulation (cd3/cd28) of the
other conditions.
"""
#: What the reagents act on, as these data are usually interpreted.
TARGETS: dict[str, str | None] = {
    "cd3_cd28": None,
    "cd3_cd28+icam2": None,
    "cd3_cd28+aktinhib": "akt",
    "cd3_cd28+g0076": "pkc",
    "cd3_cd28+psitect": "pip2",
    "cd3_cd28+u0126": "mek",
    "cd3_cd28+ly": "akt",
    "pma": "pkc",
    "b2camp": "pka",
}


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table of observations with the graph that is taken to be true.

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
    conditions : ndarray of shape (n,) of str, or None
        The experimental condition of every row, if there are several.
    targets : dict or None
        The column that each condition acts on, or None; for `Interventions(conditions, targets)`.

    Examples
    --------
    >>> from heterodag import load_sachs
    >>> sachs = load_sachs()
    >>> sachs.edges[0]
    ('erk', 'akt')
    >>> sachs.data.shape
    (853, 11)
    """

    X: NDArray[np.float64]
    adjacency: Adjacency
    feature_names: list[str]
    edges: list[tuple[str, str]]
    description: str
    conditions: NDArray[np.str_] | None = None
    targets: dict[str, str | None] | None = None

    @property
    def data(self) -> pd.DataFrame:
        """The observations as a new pandas DataFrame; with a column "condition" if there are several conditions."""
        import pandas as pd

        frame = pd.DataFrame(self.X, columns=self.feature_names)
        return frame if self.conditions is None else frame.assign(condition=self.conditions)


def load_sachs(conditions: bool = False) -> Dataset:
    """Load the protein-signalling data of Sachs et al. (2005) and their 17-edge graph.

    Parameters
    ----------
    conditions : bool, default=False
        Load all nine experimental conditions, with what each acts on, instead of only the observational one.

    Returns
    -------
    Dataset
        853 rows (7,466 with all conditions), 11 columns of raw fluorescence, 17 edges; every call returns new arrays.

    Notes
    -----
    The table and the graph of the paper's section on real data, which uses subsamples of 700 rows. See
    `description` of the result for the sources of both and for other graphs in use.

    Examples
    --------
    >>> from heterodag import load_sachs
    >>> sachs = load_sachs()
    >>> sachs.X.shape, len(sachs.edges)
    ((853, 11), 17)
    >>> load_sachs(conditions=True).targets["pma"]
    'pkc'
    """
    edges = [(cause, effect) for cause, effect in _read("sachs_edges.csv")[1:]]
    if not conditions:
        names, *rows = _read("sachs_observational.csv")
        return Dataset(np.array(rows, dtype=np.float64), _adjacency(edges, names), names, edges, DESCRIPTION)
    (_, *names), *rows = _read("sachs_conditions.csv.gz")
    X, condition = np.array([row[1:] for row in rows], dtype=np.float64), np.array([row[0] for row in rows])
    return Dataset(X, _adjacency(edges, names), names, edges, CONDITIONS_DESCRIPTION, condition, dict(TARGETS))


def _read(file_name: str) -> list[list[str]]:
    content = (files("heterodag.datasets") / "data" / file_name).read_bytes()
    text = (gzip.decompress(content) if file_name.endswith(".gz") else content).decode("utf-8")
    return list(csv.reader(text.splitlines()))


def _adjacency(edges: list[tuple[str, str]], names: list[str]) -> Adjacency:
    adjacency = np.zeros((len(names), len(names)), dtype=np.int8)
    for cause, effect in edges:
        adjacency[names.index(cause), names.index(effect)] = 1
    return adjacency
