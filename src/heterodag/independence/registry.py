"""Edge tests by name. To add one, write its module to the contract and add a line here."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from heterodag.errors import ParameterError
from heterodag.independence.contract import BatchedTest, EdgeProblem, EdgeTests
from heterodag.independence.pairwise import run_pairwise

#: name -> (module, batched function, keyword arguments).
_BATCHED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "likelihood": ("stepwise", "stepwise_edges", {}),
    "likelihood-full": ("likelihood", "likelihood_edges", {}),
    "partial-correlation": ("partial_correlation", "partial_correlation_edges", {}),
    "rank-correlation": ("partial_correlation", "partial_correlation_edges", {"method": "spearman"}),
    "gam": ("gam", "gam_edges", {}),
    "gam-classical": ("gam", "gam_edges", {"covariance": "classical"}),
    "lcit": ("lcit", "lcit_edges", {}),
}

#: name -> (module, pairwise function or factory, keyword arguments of the factory or None, seeded).
_PAIRWISE: dict[str, tuple[str, str, dict[str, Any] | None, bool]] = {
    "gcm": ("gcm", "gcm", None, True),
    "kci": ("adapters", "causal_learn", {"name": "kci"}, False),
    "fisherz": ("adapters", "causal_learn", {"name": "fisherz"}, False),
}

SELECTIONS = (*_BATCHED, *_PAIRWISE)


def get_selection(selection: str | Callable[..., Any], names: list[str] | None = None) -> BatchedTest:
    """Return the batched form of a named test, or of a user's pairwise function `(x, y, Z) -> p`.

    A function marked with a true attribute `batched` is taken to be a batched test itself.
    """
    if callable(selection):
        if getattr(selection, "batched", False):
            return selection
        user = selection
        return lambda problem: run_pairwise(user, problem, names=names)
    if isinstance(selection, str) and selection in _BATCHED:
        module, function, options = _BATCHED[selection]
        test = getattr(import_module(f"heterodag.independence.{module}"), function)
        return lambda problem: _call(test, problem, options)
    if isinstance(selection, str) and selection in _PAIRWISE:
        module, function, arguments, seeded = _PAIRWISE[selection]
        pairwise = getattr(import_module(f"heterodag.independence.{module}"), function)
        test = pairwise if arguments is None else pairwise(**arguments)
        return lambda problem: run_pairwise(test, problem, seeded=seeded, names=names)
    known = ", ".join(f"'{name}'" for name in SELECTIONS)
    raise ParameterError("selection", f"be one of {known}, or a function (x, y, Z) -> p-value", selection)


def _call(test: Callable[..., EdgeTests], problem: EdgeProblem, options: dict[str, Any]) -> EdgeTests:
    return test(problem, **options)
