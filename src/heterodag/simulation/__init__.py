"""Simulated tables: the paper's (`tables`), and worlds with mean, spread and noise by name (`worlds`)."""

from heterodag.simulation.tables import (
    BOUND,
    GRAPHS,
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
