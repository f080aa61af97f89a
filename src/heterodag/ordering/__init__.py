"""Causal orders: Algorithm 2 of the paper and its refinement."""

from heterodag.ordering.causal_order import causal_order
from heterodag.ordering.result import OrderResult

__all__ = ["OrderResult", "causal_order"]
