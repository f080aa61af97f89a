"""`GraphCheck`: the answers of `check_graph`, in words and as tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heterodag.checks import Findings
from heterodag.core.graph import Adjacency
from heterodag.graphcheck.changes import Change

if TYPE_CHECKING:
    import pandas as pd

#: Rows of the tables that the summary shows.
_SHOWN = 10
_TABLES = ("edges", "missing", "variables", "pairs", "scores", "changes")


@dataclass(frozen=True, eq=False, repr=False)
class GraphCheck:
    """What a table says about a graph.

    Attributes
    ----------
    names : tuple of str
        The variables, in the column order of the table.
    adjacency : ndarray of shape (d, d), int8
        The graph that was checked; `adjacency[i, j] == 1` means column i -> column j.
    findings : Findings
        The answers in words, green, amber or red, with remedies.
    edges : pandas.DataFrame
        The least needed edge first: cause, effect, nats (loss without the edge), pvalue, adjusted (Holm), needed ("yes",
        "weak" or "no"), turned_nats (by how much the graph with this arrow turned is better; negative if it is worse, NaN
        if it has a cycle), direction ("as drawn", "open", "turned", "not needed" if dropping the edge helps more than
        turning it, or "not tested") and, if there is a learned graph, learned ("same", "turned" or "absent" there).
    missing : pandas.DataFrame
        The pairs without an edge, strongest evidence first: cause, effect (the better direction), nats (gain with the
        edge), pvalue, adjusted, missing (bool), other_nats (of the other direction; NaN if that has a cycle).
    variables : pandas.DataFrame
        One row per variable: its parents and mechanism, misfit_pvalue (do the residuals follow the fitted noise, and
        are they independent of the causes?), adjusted, described (bool), closest (the variable whose residuals depend
        most on its own) and closest_pvalue.
    pairs : pandas.DataFrame
        Pairs of residuals: first, second, pvalue, adjusted, dependent (bool).
    scores : pandas.DataFrame
        Graphs: graph, edges, rows, score (nats, less is better, edges priced), better_than_empty.
    pvalue : float
        Share of graphs with shuffled names that explain the table at least as well; NaN if none were made.
    changes : pandas.DataFrame
        The changes that would help most, at most five, each made after those above it: change ("add", "drop" or
        "turn"), cause, effect, nats (by how much the score falls), nats_so_far.
    alpha : float
        Level of the tests.

    Examples
    --------
    >>> from heterodag import check_graph, simulate
    >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> data = simulate(500, 3, mechanism="straight", spread="straight", adjacency=chain, random_state=1)
    >>> check_graph(chain, data.X, learn=False, n_shuffles=0)
    GraphCheck(3 variables, 2 edges, worst finding: green, changes proposed: 0)
    """

    names: tuple[str, ...]
    adjacency: Adjacency
    findings: Findings
    edges: pd.DataFrame
    missing: pd.DataFrame
    variables: pd.DataFrame
    pairs: pd.DataFrame
    scores: pd.DataFrame
    pvalue: float
    changes: pd.DataFrame
    alpha: float

    @property
    def worst(self) -> str:
        """The highest severity among the findings."""
        return self.findings.worst

    def improved(self, changes: int | None = None) -> pd.DataFrame:
        """Return the graph after the first proposed changes.

        Parameters
        ----------
        changes : int, optional
            How many; all by default.

        Returns
        -------
        pandas.DataFrame of shape (d, d)
            The adjacency matrix, with the names on rows and columns.

        Examples
        --------
        >>> from heterodag import check_graph, simulate
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> data = simulate(500, 3, mechanism="straight", spread="straight", adjacency=chain, random_state=1)
        >>> turned = [[0, 1, 0], [0, 0, 0], [0, 1, 0]]
        >>> check_graph(turned, data.X, learn=False, n_shuffles=0).improved()
            x0  x1  x2
        x0   0   1   0
        x1   0   0   1
        x2   0   0   0
        """
        import pandas as pd

        graph = self.adjacency
        proposed = self.changes[["change", "cause", "effect"]].iloc[:changes]
        for kind, cause, effect in proposed.itertuples(index=False):
            graph = Change(kind, self.names.index(cause), self.names.index(effect)).applied(graph)
        return pd.DataFrame(graph, index=list(self.names), columns=list(self.names))

    def summary(self) -> str:
        """Return findings, edges, missing edges, scores and proposed changes as text.

        Returns
        -------
        str
            The text.
        """
        parts = [str(self.findings)]
        parts += [f"{title}\n{_text(frame)}" for title, frame in self.shown()]
        return "\n\n".join(parts)

    def shown(self) -> list[tuple[str, pd.DataFrame]]:
        """Return the tables of the summary, without rows and columns that say nothing.

        Returns
        -------
        list of (str, pandas.DataFrame)
            Titles and tables.
        """
        gaps = self.missing[self.missing["missing"]]
        tables = [
            ("Edges, the least needed first (nats):", self.edges.drop(columns=["pvalue", "adjusted"])),
            ("Edges that are missing (nats):", gaps[["cause", "effect", "nats", "other_nats"]]),
            ("Scores (nats, less is better):", self.scores),
            ("Changes that would help most, one after the other (nats):", self.changes),
        ]
        return [(title, frame) for title, frame in tables if len(frame)]

    def record(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON.

        Returns
        -------
        dict
            What is not known is None.
        """
        names = list(self.names)
        return {
            "format": "heterodag-graph-check",
            "names": names,
            "graph": [[names[i], names[j]] for i, j in np.argwhere(self.adjacency).tolist()],
            "worst": self.worst,
            "findings": self.findings.records(),
            "pvalue": _plain(self.pvalue),
            "alpha": self.alpha,
        } | {name: _records(getattr(self, name)) for name in _TABLES}

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        size = f"{len(self.names)} variables, {len(self.edges)} edges"
        return f"GraphCheck({size}, worst finding: {self.worst}, changes proposed: {len(self.changes)})"

    def _repr_html_(self) -> str:
        from html import escape

        tables = [
            f"<p>{escape(title)}</p>{frame.to_html(index=False, float_format=_number, na_rep='', max_rows=_SHOWN)}"
            for title, frame in self.shown()
        ]
        return f"<div>{self.findings._repr_html_()}{''.join(tables)}</div>"


def _text(frame: pd.DataFrame) -> str:
    text = frame.head(_SHOWN).to_string(index=False, float_format=_number, na_rep="")
    return text + (f"\n... and {len(frame) - _SHOWN} more" if len(frame) > _SHOWN else "")


def _number(value: float) -> str:
    return f"{value:.1f}"


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): _plain(value) for key, value in row.items()} for row in frame.to_dict("records")]


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold: NaN and infinite numbers become None."""
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
