"""The table of what experimental conditions act on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from heterodag.independence.recover import DAGResult
from heterodag.knowledge import Study
from heterodag.scores.competition import CompetingFitter
from heterodag.scores.local import LocalScores, parents_of

if TYPE_CHECKING:
    import pandas as pd


def judging(scores: LocalScores, study: Study) -> LocalScores:
    """Return the scores by which edges are judged in a table with conditions that change variables.

    A condition is a column, and so a parent. Noise with edges would give a variable without parents a bonus, which it
    loses to any parent: a condition that shifts such a variable would not be found.
    """
    if not study.contexts or not isinstance(scores.fitter, CompetingFitter):
        return scores
    return scores.with_fitter(replace(scores.fitter, edges=False))


def target_table(scores: LocalScores, graph: DAGResult, study: Study) -> pd.DataFrame:
    """Return what every condition acts on: one row per condition and variable that it may act on.

    The evidence is how much the condition reduces the variable's loss, given the variable's parents.
    """
    import pandas as pd

    rows = []
    for column, context in enumerate(study.contexts, start=study.d):
        for j in range(study.d) if context.targets is None else context.targets:
            parents = set(parents_of(graph.adjacency[:, j]))
            keys = [(j, tuple(sorted(some))) for some in (parents - {column}, parents | {column})]
            nats = max(scores.fits(keys)[0].loss - scores.fits(keys)[1].loss, 0.0)
            kind = "unknown" if context.targets is None else "shift"
            acts = bool(graph.adjacency[column, j])
            rows.append((context.condition, study.labels[j], kind, float(np.exp(-nats)), nats, acts))
    return pd.DataFrame(rows, columns=["condition", "variable", "kind", "pvalue", "nats", "acts"])
