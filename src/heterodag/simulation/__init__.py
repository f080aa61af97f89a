"""Simulated tables: graphs by name (`graphs`), the paper's data (`tables`), other worlds by name (`worlds`)."""

from heterodag.simulation.graphs import GRAPHS
from heterodag.simulation.tables import (
    BOUND,
    MECHANISMS,
    VERSIONS,
    SimulatedData,
    simulate,
    simulate_graph,
)
from heterodag.simulation.worlds import MEANS, NOISES, SPREADS

__all__ = [
    "BOUND",
    "GRAPHS",
    "MEANS",
    "MECHANISMS",
    "NOISES",
    "SPREADS",
    "VERSIONS",
    "SimulatedData",
    "simulate",
    "simulate_graph",
]
