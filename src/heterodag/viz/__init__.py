"""Figures of a fitted model, with matplotlib's object interface: no window opens, and the backend stays the same."""

from heterodag.viz.frequencies import plot_frequencies
from heterodag.viz.plots import plot_graph, plot_qq, plot_scores

__all__ = ["plot_frequencies", "plot_graph", "plot_qq", "plot_scores"]
