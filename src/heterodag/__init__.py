"""Causal graphs from tables in which the spread of a variable depends on its causes as much as its mean.

The public names load when they are first used, so that `import heterodag` stays fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from heterodag._version import __version__

if TYPE_CHECKING:
    from heterodag import metrics
    from heterodag.checks import Finding, Findings, check_table
    from heterodag.comparison import ParametrizationComparison, compare_parametrizations
    from heterodag.datasets import load_sachs
    from heterodag.errors import (
        AssumptionWarning,
        DataError,
        DataWarning,
        FitWarning,
        HeterodagError,
        ParameterError,
        TimeLimitError,
    )
    from heterodag.estimators import CAM, GOLEM, HOST, DiffAN, EqVar, GraNDAG, NPVar, VarSort
    from heterodag.graphcheck import GraphCheck, check_graph
    from heterodag.independence import DAGResult, recover_dag
    from heterodag.io.conventions import (
        adjacency_from_causal_learn,
        adjacency_from_lingam,
        adjacency_to_causal_learn,
        adjacency_to_lingam,
    )
    from heterodag.io.graphformats import write_graph
    from heterodag.io.opened import OpenTable, open_table
    from heterodag.knowledge import Interventions, PriorKnowledge
    from heterodag.ordering import OrderResult, causal_order
    from heterodag.resampling.bootstrap import bootstrap
    from heterodag.resampling.result import BootstrapResult
    from heterodag.scm import HeteroscedasticSCM
    from heterodag.simulation import simulate, simulate_graph

_HOMES = {
    "HOST": "estimators",
    "VarSort": "estimators",
    "EqVar": "estimators",
    "NPVar": "estimators",
    "DiffAN": "estimators",
    "CAM": "estimators",
    "GOLEM": "estimators",
    "GraNDAG": "estimators",
    "causal_order": "ordering",
    "OrderResult": "ordering",
    "PriorKnowledge": "knowledge",
    "Interventions": "knowledge",
    "check_graph": "graphcheck",
    "GraphCheck": "graphcheck",
    "recover_dag": "independence",
    "DAGResult": "independence",
    "HeteroscedasticSCM": "scm",
    "adjacency_from_causal_learn": "io.conventions",
    "adjacency_to_causal_learn": "io.conventions",
    "adjacency_from_lingam": "io.conventions",
    "adjacency_to_lingam": "io.conventions",
    "write_graph": "io.graphformats",
    "open_table": "io.opened",
    "OpenTable": "io.opened",
    "check_table": "checks",
    "Finding": "checks",
    "Findings": "checks",
    "bootstrap": "resampling",
    "BootstrapResult": "resampling",
    "compare_parametrizations": "comparison",
    "ParametrizationComparison": "comparison",
    "simulate": "simulation",
    "simulate_graph": "simulation",
    "load_sachs": "datasets",
    "HeterodagError": "errors",
    "ParameterError": "errors",
    "DataError": "errors",
    "TimeLimitError": "errors",
    "AssumptionWarning": "errors",
    "DataWarning": "errors",
    "FitWarning": "errors",
}

__all__ = [
    "CAM",
    "GOLEM",
    "HOST",
    "AssumptionWarning",
    "BootstrapResult",
    "DAGResult",
    "DataError",
    "DataWarning",
    "DiffAN",
    "EqVar",
    "Finding",
    "Findings",
    "FitWarning",
    "GraNDAG",
    "GraphCheck",
    "HeterodagError",
    "HeteroscedasticSCM",
    "Interventions",
    "NPVar",
    "OpenTable",
    "OrderResult",
    "ParameterError",
    "ParametrizationComparison",
    "PriorKnowledge",
    "TimeLimitError",
    "VarSort",
    "__version__",
    "adjacency_from_causal_learn",
    "adjacency_from_lingam",
    "adjacency_to_causal_learn",
    "adjacency_to_lingam",
    "bootstrap",
    "causal_order",
    "check_graph",
    "check_table",
    "compare_parametrizations",
    "load_sachs",
    "metrics",
    "open_table",
    "recover_dag",
    "simulate",
    "simulate_graph",
    "write_graph",
]


def __getattr__(name: str) -> Any:
    if name == "metrics":
        return import_module("heterodag.metrics")
    if name in _HOMES:
        return getattr(import_module(f"heterodag.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'heterodag' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
