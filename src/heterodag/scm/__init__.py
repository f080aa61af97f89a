"""The fitted causal model: sample, intervene, imagine otherwise, and ask where a spread comes from."""

from .interventions import Draw, Set, Shift
from .model import HeteroscedasticSCM

__all__ = ["Draw", "HeteroscedasticSCM", "Set", "Shift"]
