"""The fitted causal model: sample, intervene, compute counterfactuals, and ask where a spread comes from."""

from heterodag.scm.interventions import Draw, Set, Shift
from heterodag.scm.model import HeteroscedasticSCM

__all__ = ["Draw", "HeteroscedasticSCM", "Set", "Shift"]
