"""Figures of a fitted model, with matplotlib's object interface: nothing is shown, no backend is switched."""

from heterodag.viz.plots import plot_graph, plot_qq, plot_scores

__all__ = ["plot_graph", "plot_qq", "plot_scores"]
