"""
An edge test of your own
========================

Any function of ``(x, y, Z)`` that returns a p-value can decide which edges stay. ``x`` is the candidate cause, ``y``
the candidate effect, both of shape (n,). ``Z`` holds the other columns before ``y`` in the causal order, of shape (n, k),
with k = 0 for the second variable.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr

from heterodag import HOST, metrics, recover_dag, simulate

# %%
# This one regresses linearly, and asks by rank correlation whether ``x`` moves the mean or the size of the
# residuals of ``y``. Two questions at once: the smaller p-value is doubled (Bonferroni).


def residuals(target: np.ndarray, Z: np.ndarray) -> np.ndarray:
    design = np.column_stack([np.ones(len(target)), Z])
    return target - design @ np.linalg.lstsq(design, target, rcond=None)[0]


def mean_or_spread(x: np.ndarray, y: np.ndarray, Z: np.ndarray) -> float:
    """Ask whether x moves the mean or the spread of y, given Z."""
    rest_x, rest_y = residuals(x, Z), residuals(y, np.column_stack([x, Z]))
    mean = spearmanr(rest_x, residuals(y, Z)).pvalue
    spread = spearmanr(rest_x, np.abs(rest_y)).pvalue
    return float(min(1.0, 2.0 * min(mean, spread)))


# %%
# Use it in place of the default, the likelihood. Here causes act along straight lines, on the mean and on the
# spread.
WORLD = {"degree": 1, "mechanism": "straight", "spread": "straight"}
data = simulate(1000, 5, random_state=1, **WORLD)
for name, selection in (("likelihood", "likelihood"), ("my own test", mean_or_spread)):
    model = HOST(selection=selection).fit(data.X)
    distance = metrics.shd(model.adjacency_, data.adjacency)
    print(f"{name}: {int(model.adjacency_.sum())} edges, structural Hamming distance {distance}")

# %%
# One table proves little. Does the test keep its level? Give it the true order of a hundred tables with a
# known graph, and look at its p-values where there is no edge: they should be uniform, that is follow the
# diagonal. Then the same where causes act along curves.


def absent_edges(**world: str) -> np.ndarray:
    """Return the p-values of pairs without an edge, in increasing order."""
    pvalues = []
    for seed in range(1000, 1100):
        data = simulate(300, 5, random_state=seed, **WORLD | world)
        found = recover_dag(data.X, data.order, selection=mean_or_spread).pvalues
        pvalues.append(found[~np.isnan(found) & (data.adjacency == 0)])
    return np.sort(np.concatenate(pvalues))


figure, ax = plt.subplots(figsize=(5, 4.5), layout="constrained")
ax.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
for name in ("straight", "curved"):
    p = absent_edges(mechanism=name)
    print(f"{name}: p < 0.05 in {(p < 0.05).mean():.0%} of {len(p)} pairs without an edge")
    ax.step(p, (np.arange(len(p)) + 1) / len(p), where="post", label=name)
ax.set(xlabel="p-value", ylabel="share of absent edges below it")
ax.legend()
plt.show()

# %%
# **How far to trust this.** Along straight lines the test does what it says. Along curves it finds far too
# many edges: a straight regression leaves part of the other causes in the residuals, and ``x`` gets the
# credit. A test is only as good as the regression in it. Measure yours on tables like your own before you use
# it.
#
# **Try next:** replace ``residuals`` by a regression with squares of ``Z``; ``selection="gam"``, which fits
# curves.
#
# **More:** the tests that are there, and what each one misses, in :doc:`edge tests </edge-tests>`.
