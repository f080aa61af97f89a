"""The bootstrap: graphs learned on resampled rows, and what they have in common."""

from heterodag.resampling.bootstrap import bootstrap
from heterodag.resampling.result import BootstrapResult

__all__ = ["BootstrapResult", "bootstrap"]
