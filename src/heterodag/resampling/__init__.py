"""The bootstrap: graphs of resampled tables, and what they share."""

from heterodag.resampling.bootstrap import bootstrap
from heterodag.resampling.result import BootstrapResult

__all__ = ["BootstrapResult", "bootstrap"]
