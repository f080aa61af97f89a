"""One self-contained HTML page about a fitted model, for people who never see the code."""

from heterodag.report.html import render_report

__all__ = ["render_report"]
