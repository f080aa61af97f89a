"""Causal orders: Algorithm 2 of the paper and its refinement."""

from .causal_order import causal_order
from .result import OrderResult

__all__ = ["OrderResult", "causal_order"]
