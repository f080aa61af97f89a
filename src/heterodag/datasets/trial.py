"""A simulated drug trial that follows the model: a first table to try, with six variables and a known graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterodag.core.graph import Adjacency
from heterodag.datasets.sachs import Dataset
from heterodag.errors import check_integer

__all__ = ["simulate_trial"]

NAMES = ["age", "weight", "dose", "level", "relief", "complaints"]
EDGES = [
    ("age", "weight"),
    ("weight", "dose"),
    ("dose", "level"),
    ("age", "level"),
    ("level", "relief"),
    ("level", "complaints"),
]
DESCRIPTION = """\
A made-up drug trial, simulated: no real patients. Age (years) acts on weight (kg), and the doctor chooses the dose (mg) by
weight. Dose and age raise the blood level, and the higher the dose, the wider the levels spread. The level brings relief
along a curve that flattens, and complaints along a straight line with a growing spread. The noise of age, weight and dose is
not normal.
"""


def simulate_trial(n: int = 1000, random_state: Any = 0) -> Dataset:
    """Simulate a small drug trial whose graph is known and whose variables follow the model of heterodag.

    Parameters
    ----------
    n : int, default=1000
        Number of patients, one per row.
    random_state : int, Generator or None, default=0
        Seed of the random numbers.

    Returns
    -------
    Dataset
        `n` rows of 6 columns (age, weight, dose, level, relief, complaints) and 6 edges.

    Examples
    --------
    >>> from heterodag.datasets import simulate_trial
    >>> trial = simulate_trial()
    >>> trial.X.shape, trial.edges[2]
    ((1000, 6), ('dose', 'level'))
    """
    rows = check_integer("n", n, low=2)
    if random_state is not None and not isinstance(random_state, np.random.Generator):
        random_state = check_integer("random_state", random_state, low=0)
    return Dataset(_draw(rows, np.random.default_rng(random_state)), _adjacency(), NAMES[:], EDGES[:], DESCRIPTION)


def _draw(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw the columns, causes first; every line is mean + spread * noise."""
    age = 30 + 50 * rng.beta(2, 2, n)
    weight = 72 - 0.25 * age + rng.gamma(4, 5, n)
    dose = 1.2 * weight + rng.uniform(-20, 20, n)
    high = (dose - 95) / 20  # 0 for an ordinary dose, 1 for a high one
    level = 12 + 3 * high + 0.08 * (age - 55) + 1.6 * np.exp(0.6 * high) * rng.standard_normal(n)
    relief = 60 / (1 + np.exp((12 - level) / 3)) + 5 * rng.standard_normal(n)
    complaints = 5 + 0.4 * level + 1.5 * np.exp(0.08 * (level - 12)) * rng.standard_normal(n)
    return np.column_stack([age, weight, dose, level, relief, complaints])


def _adjacency() -> Adjacency:
    adjacency = np.zeros((len(NAMES), len(NAMES)), dtype=np.int8)
    for cause, effect in EDGES:
        adjacency[NAMES.index(cause), NAMES.index(effect)] = 1
    return adjacency
