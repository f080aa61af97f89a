"""Families of simulated tables for benchmarks/alternatives.py: one that fits HOST, three that fit other methods.

All columns are scaled to mean 0 and variance 1: in simulated tables the raw variances grow along the causal order and give
it away, which real units do not.
"""

import numpy as np

from heterodag.simulation import simulate, simulate_graph

GRAPHS = ("ER-1", "ER-2", "SF-1", "SF-2")
#: Key -> (heading, what the tables are).
FAMILIES = {
    "text": ("Spread moves with the causes", "the paper's simulation as its text has it, `simulate(version=\"text\")`"),
    "code": (
        "Spread moves with the causes, as in the authors' code",
        "the paper's simulation as the published code has it, `simulate(version=\"code\")`",
    ),
    "linear-gaussian": (
        "Linear, Gaussian, constant spread",
        "weights of magnitude 0.5 to 1 and either sign, Gaussian noise whose standard deviation, 0.5 to 1.5, differs "
        "between variables: the data hold the graph only up to its equivalence class",
    ),
    "linear-exponential": (
        "Linear, not Gaussian, constant spread",
        "the same weights and standard deviations, the noise exponential: what LiNGAM assumes",
    ),
    "nonlinear-gaussian": (
        "Curved, Gaussian, constant spread",
        "each edge one of 2 sin(x), 2 tanh(x) and x^2 - 1 of the standardised cause with a random sign, "
        "the same Gaussian noise: what CAM assumes",
    ),
}  # fmt: skip
CURVES = (lambda x: 2 * np.sin(x), lambda x: 2 * np.tanh(x), lambda x: x**2 - 1)


def sample(family, graph, n, d, seed):
    """Return a standardised table and its true graph."""
    kind, degree = graph.split("-")
    if family in ("text", "code"):
        data = simulate(n, d, kind, int(degree), random_state=seed, version=family)
        return standardised(data.X), data.adjacency
    truth = simulate_graph(d, kind, int(degree), random_state=seed)
    rng = np.random.default_rng([seed, list(FAMILIES).index(family)])
    return standardised(constant_spread(truth, family, n, rng)), truth


def constant_spread(truth, family, n, rng):
    """Return a table in which causes move the mean alone."""
    d = len(truth)
    draw = rng.standard_exponential if family == "linear-exponential" else rng.standard_normal
    X = draw((n, d)) * rng.uniform(0.5, 1.5, d)
    weights = rng.uniform(0.5, 1, (d, d)) * rng.choice([-1, 1], (d, d))
    curves = rng.integers(len(CURVES), size=(d, d))
    for j in topological(truth):
        for i in np.flatnonzero(truth[:, j]):
            if family == "nonlinear-gaussian":
                X[:, j] += np.sign(weights[i, j]) * CURVES[curves[i, j]](standardised(X[:, i]))
            else:
                X[:, j] += weights[i, j] * X[:, i]
    return X


def topological(truth):
    order = []
    while len(order) < len(truth):
        order += [j for j in range(len(truth)) if j not in order and set(np.flatnonzero(truth[:, j])) <= set(order)]
    return order


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)
