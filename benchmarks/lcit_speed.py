"""Seconds, level and power of LCIT: `python benchmarks/lcit_speed.py [speed] [level] [power]`.

All flows run in this one process; set OMP_NUM_THREADS to choose its threads. "authors" is what their script
took on a 2-core machine for the same work.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable

import numpy as np

from heterodag.core.graph import full_dag
from heterodag.independence.contract import EdgeProblem
from heterodag.independence.lcit import Pair, lcit_edges, pair_pvalues
from heterodag.simulation import simulate

Sample = tuple[np.ndarray, np.ndarray, np.ndarray]
Draw = Callable[[int, int, np.random.Generator], Sample]
SPEED = [(500, 10, "9 s"), (2000, 10, "25 s"), (5000, 10, "54 s"), (50_000, 10, ""), (500, 50, "")]
REPETITIONS = 400


def linear(n: int, k: int, rng: np.random.Generator, slope: float = 0.0) -> Sample:
    Z = rng.standard_normal((n, k))
    x = Z @ rng.standard_normal(k) + rng.standard_normal(n)
    return x, Z @ rng.standard_normal(k) + slope * x + rng.standard_normal(n), Z


def scaled(n: int, k: int, rng: np.random.Generator, slope: float = 0.0) -> Sample:
    """Correlate x with a cause z of the mean and the logarithm of the standard deviation of y."""
    Z = rng.standard_normal((n, k))
    x = 0.6 * Z[:, 0] + 0.8 * rng.standard_normal(n)
    return x, Z[:, 0] + slope * x + np.exp(0.5 * Z[:, 0]) * rng.standard_normal(n), Z


def natural(n: int, k: int, rng: np.random.Generator, slope: float = 0.0) -> Sample:
    """Like `scaled`, with natural parameters linear in the cause z."""
    Z = rng.standard_normal((n, k))
    x = 0.6 * Z[:, 0] + 0.8 * rng.standard_normal(n)
    variance = np.exp(-Z[:, 0])
    return x, (Z[:, 0] + slope * x) * variance + np.sqrt(variance) * rng.standard_normal(n), Z


def curved(n: int, k: int, rng: np.random.Generator) -> Sample:
    """Let x and y follow the same sine of z closely: hard."""
    Z = rng.standard_normal((n, k))
    x = np.sin(2 * Z[:, 0]) + 0.5 * rng.standard_normal(n)
    return x, np.sin(2 * Z[:, 0]) + 0.5 * np.exp(0.5 * Z[:, 0]) * rng.standard_normal(n), Z


def quadratic(n: int, k: int, rng: np.random.Generator) -> Sample:
    """Let y depend on the square of x: no correlation to see."""
    x, y, Z = linear(n, k, rng)
    return x, y + 0.3 * (x - x.mean()) ** 2, Z


def variance(n: int, k: int, rng: np.random.Generator) -> Sample:
    """Let x move the spread of y alone."""
    x, _, Z = scaled(n, k, rng)
    return x, Z[:, 0] + np.exp(0.5 * x) * rng.standard_normal(n), Z


def pvalues(draw: Draw, n: int, k: int, **options: float) -> np.ndarray:
    """Test `REPETITIONS` samples side by side, as columns of one table."""
    rng = np.random.default_rng([n, k])
    X = np.hstack([np.column_stack(draw(n, k, rng, **options)) for _ in range(REPETITIONS)])
    starts = range(0, X.shape[1], k + 2)
    pairs = [Pair(s, s + 1, range(s + 2, s + 2 + k)) for s in starts]
    return pair_pvalues(X, pairs, np.random.SeedSequence(0))


def rates(title: str, p: np.ndarray) -> None:
    print(f"{title:52s} {np.mean(p < 0.05):8.3f} {np.mean(p < 0.001):8.4f}", flush=True)


def speed() -> None:
    importlib.import_module("torch")  # once per session, and not what is measured here
    print(f"{'all pairs':>20s} {'seconds':>9s} {'CPU s':>9s} {'authors':>9s}")
    for n, d, authors in SPEED:
        data = simulate(n, d, "ER", 2, random_state=0)
        wall, cpu = time.perf_counter(), time.process_time()
        lcit_edges(EdgeProblem(data.X, data.order, full_dag(data.order) == 1))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        print(f"{f'd = {d}, n = {n}':>20s} {wall:9.1f} {cpu:9.1f} {authors:>9s}", flush=True)


def level() -> None:
    print(f"{f'null rejected, {REPETITIONS} samples':52s} {'at 0.05':>8s} {'at 0.001':>8s}")
    for n in (500, 800, 2000):
        for k in (1, 2, 3, 5):
            rates(f"linear, n = {n}, k = {k}", pvalues(linear, n, k))
        for draw in (scaled, natural):
            for k in (1, 3):
                rates(f"{draw.__name__}, n = {n}, k = {k}", pvalues(draw, n, k))
        rates(f"curved, n = {n}, k = 1", pvalues(curved, n, 1))
    rates("linear, n = 500, k = 48", pvalues(linear, 500, 48))


def power() -> None:
    print(f"{f'alternative found, {REPETITIONS} samples':52s} {'at 0.05':>8s} {'at 0.001':>8s}")
    for n in (500, 2000):
        rates(f"linear, slope 0.15, n = {n}, k = 3", pvalues(linear, n, 3, slope=0.15))
        rates(f"scaled, slope 0.2, n = {n}, k = 3", pvalues(scaled, n, 3, slope=0.2))
        rates(f"natural, slope 0.2, n = {n}, k = 3", pvalues(natural, n, 3, slope=0.2))
        rates(f"quadratic, n = {n}, k = 1", pvalues(quadratic, n, 1))
        rates(f"variance alone, n = {n}, k = 1", pvalues(variance, n, 1))


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["speed", "level", "power"]
    for part in (speed, level, power):
        if part.__name__ in chosen:
            part()
