"""Prior knowledge: required and forbidden edges, tiers, roots and leaves; and interventions.

`PriorKnowledge` is what a user writes. `resolve` turns it into `ResolvedKnowledge`, index matrices for one table, or
raises an error that names what contradicts what. Methods that build an order ask the resolved object which columns
may come next (or last); methods that test edges ask it which pairs to test.

`Interventions` is what a user writes about experiments; `read_study` joins table, interventions and knowledge in a
`Study`.
"""

from heterodag.knowledge.interventions import Interventions
from heterodag.knowledge.prior import PriorKnowledge, as_knowledge, resolved
from heterodag.knowledge.resolved import ResolvedKnowledge, last_columns, next_columns
from heterodag.knowledge.study import Study, read_study

__all__ = [
    "Interventions",
    "PriorKnowledge",
    "ResolvedKnowledge",
    "Study",
    "as_knowledge",
    "last_columns",
    "next_columns",
    "read_study",
    "resolved",
]
