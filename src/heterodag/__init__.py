"""Causal graphs from tables in which the spread of a variable depends on its causes as much as its mean.

The public names load when they are first used, so that `import heterodag` stays fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import metrics
    from .comparison import ParametrizationComparison, compare_parametrizations
    from .datasets import load_sachs
    from .errors import AssumptionWarning, DataError, FitWarning, HeterodagError, ParameterError
    from .estimators import HOST
    from .independence import DAGResult, recover_dag
    from .ordering import OrderResult, causal_order
    from .simulation import simulate, simulate_graph

_HOMES = {
    "HOST": "estimators",
    "causal_order": "ordering",
    "OrderResult": "ordering",
    "recover_dag": "independence",
    "DAGResult": "independence",
    "compare_parametrizations": "comparison",
    "ParametrizationComparison": "comparison",
    "simulate": "simulation",
    "simulate_graph": "simulation",
    "load_sachs": "datasets",
    "HeterodagError": "errors",
    "ParameterError": "errors",
    "DataError": "errors",
    "AssumptionWarning": "errors",
    "FitWarning": "errors",
}

__all__ = [
    "HOST",
    "AssumptionWarning",
    "DAGResult",
    "DataError",
    "FitWarning",
    "HeterodagError",
    "OrderResult",
    "ParameterError",
    "ParametrizationComparison",
    "__version__",
    "causal_order",
    "compare_parametrizations",
    "load_sachs",
    "metrics",
    "recover_dag",
    "simulate",
    "simulate_graph",
]


def __getattr__(name: str) -> Any:
    if name == "metrics":
        return import_module(".metrics", __name__)
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module 'heterodag' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
