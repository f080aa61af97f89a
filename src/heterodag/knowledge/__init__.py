"""Prior knowledge: required and forbidden edges, tiers, roots and leaves.

`PriorKnowledge` is what a user writes. `resolve` turns it into `ResolvedKnowledge`, index matrices for one table, or
raises one sentence that names what contradicts what. Methods that build an order ask the resolved object which columns
may come next (or last); methods that test edges ask it which pairs to test.
"""

from heterodag.knowledge.prior import PriorKnowledge, as_knowledge, resolved
from heterodag.knowledge.resolved import ResolvedKnowledge, last_columns, next_columns

__all__ = ["PriorKnowledge", "ResolvedKnowledge", "as_knowledge", "last_columns", "next_columns", "resolved"]
