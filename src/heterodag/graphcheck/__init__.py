"""Check a graph without the truth: one that an expert drew or another tool learned, against a table."""

from heterodag.graphcheck.check import check_graph
from heterodag.graphcheck.result import GraphCheck

__all__ = ["GraphCheck", "check_graph"]
