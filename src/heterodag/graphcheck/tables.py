"""Put the answers into tables with names: one row per edge, absent edge, variable, pair, graph and change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.core.graph import Adjacency
from heterodag.graphcheck.changes import LEAST_GAIN, Change, Step
from heterodag.graphcheck.graph_scores import GraphScores
from heterodag.graphcheck.shuffles import Shuffles
from heterodag.independence.correction import adjust
from heterodag.ordering.directions import OPEN_BELOW

if TYPE_CHECKING:
    import pandas as pd

EDGE_COLUMNS = ("cause", "effect", "nats", "pvalue", "adjusted", "needed", "turned_nats", "direction")
MISSING_COLUMNS = ("cause", "effect", "nats", "pvalue", "adjusted", "missing", "other_nats")
PAIR_COLUMNS = ("first", "second", "pvalue", "adjusted", "dependent")
SCORE_COLUMNS = ("graph", "edges", "rows", "score", "better_than_empty")
#: Names of graphs in the table of scores.
THIS, LEARNED, EMPTY = "this graph", "learned graph", "empty graph"
CHANGE_COLUMNS = ("change", "cause", "effect", "nats", "nats_so_far")


def edge_table(
    found: Mapping[Change, float],
    adjacency: Adjacency,
    labels: Sequence[str],
    alpha: float,
    price: float,
    learned: Adjacency | None = None,
) -> pd.DataFrame:
    """Return the edges of the graph, the least needed first; `price` is what an edge must gain."""
    import pandas as pd

    pairs = np.argwhere(adjacency).tolist()
    nats = np.array([-found[Change("drop", i, j)] for i, j in pairs])
    pvalues = np.exp(-np.maximum(nats, 0.0))
    adjusted = adjust(pvalues, "holm")
    turned = np.array([found.get(Change("turn", i, j), np.nan) for i, j in pairs])
    columns = (
        [labels[i] for i, _ in pairs], [labels[j] for _, j in pairs], nats, pvalues, adjusted,
        np.where(adjusted < alpha, "yes", np.where(nats < price - LEAST_GAIN, "no", "weak")), turned,
        [direction(value, price - loss) for value, loss in zip(turned, nats, strict=True)],
    )  # fmt: skip
    frame = pd.DataFrame(dict(zip(EDGE_COLUMNS, columns, strict=True)))
    if learned is not None:
        frame["learned"] = ["same" if learned[i, j] else "turned" if learned[j, i] else "absent" for i, j in pairs]
    return frame.sort_values("nats", kind="stable", ignore_index=True)


def direction(turned_nats: float, dropped_nats: float) -> str:
    """Return what is known about an edge's direction, from how much turning or dropping it improves the graph."""
    if np.isnan(turned_nats):
        return "not tested"
    if turned_nats > OPEN_BELOW:
        return "turned" if turned_nats > dropped_nats else "not needed"
    return "open" if turned_nats > -OPEN_BELOW else "as drawn"


def missing_table(found: Mapping[Change, float], labels: Sequence[str], alpha: float) -> pd.DataFrame:
    """Return the pairs without an edge, those with the strongest evidence first, each in its better direction."""
    import pandas as pd

    rows = []
    adds = {(change.cause, change.effect): nats for change, nats in found.items() if change.kind == "add"}
    for i, j in combinations(range(len(labels)), 2):
        both = sorted(((adds[pair], pair) for pair in ((i, j), (j, i)) if pair in adds), reverse=True)
        if both:
            (nats, (cause, effect)), other = both[0], both[1][0] if len(both) > 1 else np.nan
            # The p-value is corrected for taking the better of two tests.
            rows.append((labels[cause], labels[effect], nats, min(1.0, len(both) * np.exp(-max(nats, 0.0))), other))
    frame = pd.DataFrame(rows, columns=["cause", "effect", "nats", "pvalue", "other_nats"])
    frame["adjusted"] = adjust(frame["pvalue"].to_numpy(dtype=float), "holm")
    frame["missing"] = frame["adjusted"] < alpha
    return frame[list(MISSING_COLUMNS)].sort_values("nats", ascending=False, kind="stable", ignore_index=True)


def pair_table(pvalues: Array, labels: Sequence[str], alpha: float) -> pd.DataFrame:
    """Return the pairs of variables, those whose residuals depend most clearly on each other first."""
    import pandas as pd

    pairs = np.argwhere(~np.isnan(pvalues)).tolist()
    p = np.array([pvalues[i, j] for i, j in pairs])
    adjusted = adjust(p, "holm")
    columns = [labels[i] for i, _ in pairs], [labels[j] for _, j in pairs], p, adjusted, adjusted < alpha
    frame = pd.DataFrame(dict(zip(PAIR_COLUMNS, columns, strict=True)))
    return frame.sort_values("pvalue", kind="stable", ignore_index=True)


def variable_table(mechanisms: pd.DataFrame, misfits: Array, pairs: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Return what is known about every variable: mechanism, misfit, and whose residuals depend most on its own."""
    frame = mechanisms.copy()
    adjusted = adjust(misfits, "holm")
    frame["misfit_pvalue"], frame["adjusted"], frame["described"] = misfits, adjusted, adjusted >= alpha
    nearest, least = [], []
    for name in frame["variable"]:
        own = pairs[(pairs["first"] == name) | (pairs["second"] == name)]
        row = own.iloc[0] if len(own) else None
        nearest.append("" if row is None else row["second"] if row["first"] == name else row["first"])
        least.append(np.nan if row is None else float(row["pvalue"]))
    frame["closest"], frame["closest_pvalue"] = nearest, least
    return frame


def score_table(graph: GraphScores, graphs: Mapping[str, Adjacency]) -> pd.DataFrame:
    """Return the scores of graphs (nats, less is better), and by how much each is better than the empty graph."""
    import pandas as pd

    totals = dict(zip(graphs, graph.totals(graphs.values()), strict=True))
    rows, empty = graph.scores.n_rows, totals[EMPTY]
    lines = [(name, int(graphs[name].sum()), rows, score, empty - score) for name, score in totals.items()]
    return pd.DataFrame(lines, columns=list(SCORE_COLUMNS))


def with_shuffles(scores: pd.DataFrame, shuffles: Shuffles) -> pd.DataFrame:
    """Add the scores of shuffled graphs; if these used fewer rows, also that of the graph itself on the same rows."""
    import pandas as pd

    edges = int(scores["edges"].iloc[0])
    lines = [("shuffled, best", shuffles.scores.min()), ("shuffled, median", np.median(shuffles.scores))]
    if shuffles.rows != int(scores["rows"].iloc[0]):
        lines.insert(0, (f"{THIS}, rows of the shuffled", shuffles.own))
    more = [(name, edges, shuffles.rows, float(score), shuffles.empty - float(score)) for name, score in lines]
    return pd.concat([scores, pd.DataFrame(more, columns=list(SCORE_COLUMNS))], ignore_index=True)


def change_table(steps: Sequence[Step], labels: Sequence[str]) -> pd.DataFrame:
    """Return the proposed changes, the most helpful first, each made after those above it."""
    import pandas as pd

    so_far = np.cumsum([step.nats for step in steps])
    rows = [
        (step.change.kind, labels[step.change.cause], labels[step.change.effect], step.nats, float(total))
        for step, total in zip(steps, so_far, strict=True)
    ]
    return pd.DataFrame(rows, columns=list(CHANGE_COLUMNS))
