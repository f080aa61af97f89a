"""List the methods of the paper's evaluation by name: how each is made, and its label in tables and figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from heterodag.errors import ParameterError
from heterodag.estimators import CAM, GOLEM, HOST, DiffAN, EqVar, GraNDAG, NPVar, VarSort


@dataclass(frozen=True)
class Method:
    """A method of an experiment.

    Attributes
    ----------
    name : the name in cells and on the command line.
    label : the name in tables and figures.
    make : function from a budget ("full" or "small") to the estimator.
    own_edges : whether the method also decides the edges; otherwise it only makes an order.
    in_process : whether it runs in the process that calls it (gcastle's methods start another one).
    """

    name: str
    label: str
    make: Callable[[str], Any]
    own_edges: bool = False
    in_process: bool = True


def _diffan(budget: str) -> Any:
    return DiffAN() if budget == "full" else DiffAN(hidden=8, noise_steps=10, max_steps=30, patience=30)


def _spline(budget: str) -> Any:
    return HOST(parametrization="spline", form="natural", noise="gaussian", refine=budget == "full")


def _golem(budget: str) -> Any:
    return GOLEM() if budget == "full" else GOLEM(max_steps=100)


def _grandag(budget: str) -> Any:
    return GraNDAG() if budget == "full" else GraNDAG(hidden_layers=1, hidden=2, max_steps=20)


METHODS = {
    method.name: method
    for method in (
        Method("HOST", "HOST (heterodag)", lambda budget: HOST(), own_edges=True),
        Method("HOST-paper", "HOST (paper)", lambda budget: HOST.paper()),
        Method("HOST-mlp", "HOST (paper, MLP)", lambda budget: HOST.paper(parametrization="mlp")),
        Method("HOST-spline", "HOST (heterodag, natural splines)", _spline, own_edges=True),
        Method("DiffAN", "DiffAN", _diffan),
        Method("EqVar", "EqVar", lambda budget: EqVar()),
        Method("NPVar", "NPVar", lambda budget: NPVar()),
        Method("VarSort", "VarSort", lambda budget: VarSort()),
        Method("CAM", "CAM", lambda budget: CAM(), own_edges=True),
        Method("GOLEM", "GOLEM", _golem, own_edges=True, in_process=False),
        Method("GraN-DAG", "GraN-DAG", _grandag, own_edges=True, in_process=False),
    )
}


def get_method(name: str) -> Method:
    """Return a method by its name, in upper or lower case; raise `ParameterError` with all names if there is none."""
    found = {method.name.lower(): method for method in METHODS.values()}.get(str(name).lower())
    if found is None:
        raise ParameterError("methods", f"be among {', '.join(METHODS)}", name)
    return found
