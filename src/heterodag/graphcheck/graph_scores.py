"""Scores of whole graphs: the sum of the local scores of all variables given their parents, and a price per edge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from heterodag.core.graph import Adjacency
from heterodag.knowledge import Study
from heterodag.ordering.search import parent_penalty
from heterodag.scores.fit import Effort, Key, Parents
from heterodag.scores.local import LocalScores, parents_of


@dataclass(frozen=True, eq=False)
class GraphScores:
    """Scores of graphs over the variables of a study.

    Attributes
    ----------
    scores : local scores of the variables and of the columns that stand for conditions.
    contexts : for every variable, the columns of conditions that are its parents in every graph.
    """

    scores: LocalScores
    contexts: tuple[Parents, ...]

    @classmethod
    def of(cls, study: Study, scores: LocalScores) -> GraphScores:
        """Return the scores of graphs over a study; a condition whose targets are unknown may act on every variable."""
        acting = [
            tuple(
                study.d + k
                for k, context in enumerate(study.contexts)
                if context.targets is None or j in context.targets
            )
            for j in range(study.d)
        ]
        return cls(scores, tuple(acting))

    def on(self, scores: LocalScores) -> GraphScores:
        """Return the same with other local scores of the same columns, such as those of fewer rows."""
        return replace(self, scores=scores)

    @property
    def d(self) -> int:
        """Number of variables."""
        return len(self.contexts)

    @property
    def price(self) -> float:
        """What an edge must gain (nats): the penalty per edge with which HOST compares orders."""
        return parent_penalty(self.scores.n_rows, self.d)

    def key(self, adjacency: Adjacency, target: int) -> Key:
        """Return the key of the model of a variable given its parents in a graph."""
        return target, (*parents_of(adjacency[:, target]), *self.contexts[target])

    def keys(self, adjacency: Adjacency) -> list[Key]:
        """Return the keys of the models of all variables in a graph."""
        return [self.key(adjacency, j) for j in range(self.d)]

    def totals(self, graphs: Iterable[Adjacency], effort: Effort = Effort.FINAL) -> list[float]:
        """Return the score of every graph in nats, less is better; all models are fitted in one batch."""
        graphs = list(graphs)
        keys = [self.keys(adjacency) for adjacency in graphs]
        losses = iter(self.scores.losses((key for some in keys for key in some), effort))
        return [
            sum(next(losses) for _ in some) + self.price * int(g.sum()) for some, g in zip(keys, graphs, strict=True)
        ]
