"""Data with a known graph: the cells of Sachs et al. (2005), and a simulated trial that follows the model."""

from heterodag.datasets.sachs import Dataset, load_sachs
from heterodag.datasets.trial import simulate_trial

__all__ = ["Dataset", "load_sachs", "simulate_trial"]
