"""Real data with a known graph."""

from heterodag.datasets.sachs import Dataset, load_sachs

__all__ = ["Dataset", "load_sachs"]
