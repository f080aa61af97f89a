"""Figures of a fitted model, with matplotlib's object interface: nothing is shown, no backend is switched."""

from heterodag.viz.frequencies import plot_frequencies
from heterodag.viz.plots import plot_graph, plot_qq, plot_scores

__all__ = ["plot_frequencies", "plot_graph", "plot_qq", "plot_scores"]
