"""Use an edge test of your own: any function of (x, y, Z) that returns a p-value.

x is the candidate cause, y the candidate effect, both of shape (n,); Z holds the other columns before y in the
causal order, of shape (n, k), with k = 0 for the second variable. This one
regresses linearly: simpler than the default test, not better.
"""

import numpy as np
from scipy.stats import spearmanr

from heterodag import HOST, metrics, simulate


def residuals(target: np.ndarray, Z: np.ndarray) -> np.ndarray:
    design = np.column_stack([np.ones(len(target)), Z])
    return target - design @ np.linalg.lstsq(design, target, rcond=None)[0]


def mean_or_spread(x: np.ndarray, y: np.ndarray, Z: np.ndarray) -> float:
    """Ask whether x moves the mean or the size of the residuals of y; Bonferroni over the two questions."""
    rest_x, rest_y = residuals(x, Z), residuals(y, np.column_stack([x, Z]))
    mean = spearmanr(rest_x, residuals(y, Z)).pvalue
    spread = spearmanr(rest_x, np.abs(rest_y)).pvalue
    return float(min(1.0, 2.0 * min(mean, spread)))


def main() -> None:
    data = simulate(1000, 5, degree=1, random_state=1)
    for name, selection in (("likelihood", "likelihood"), ("my own test", mean_or_spread)):
        model = HOST(selection=selection).fit(data.X)
        distance = metrics.shd(model.adjacency_, data.adjacency)
        print(f"{name}: {int(model.adjacency_.sum())} edges, structural Hamming distance {distance}")


if __name__ == "__main__":
    main()
