"""The likelihood test as a statistic: level, power, and agreement of its two forms."""

import numpy as np
import pytest

from heterodag import recover_dag, simulate
from heterodag.independence.likelihood import likelihood


def rejections(draw, runs, level, **options):
    pvalues = np.array([likelihood(*draw(np.random.default_rng([77, run])), **options) for run in range(runs)])
    return (pvalues < level).mean()


def heteroscedastic_null(rng, n=500):
    cause = rng.normal(size=n)
    x = 0.6 * cause + 0.8 * rng.normal(size=n)
    precision = np.exp(0.8 * cause)
    y = (1.0 + cause) / precision + rng.normal(size=n) / np.sqrt(precision)
    return x, y, cause[:, None]


def heavy_tailed_null(rng, n=500):
    return rng.standard_t(1.5, size=n), rng.normal(size=n), np.empty((n, 0))


@pytest.mark.parametrize("draw", [heteroscedastic_null, heavy_tailed_null])
def test_level(draw):
    runs, level = 150, 0.05
    rate = rejections(draw, runs, level)
    error = np.sqrt(level * (1 - level) / runs)
    # 0.03 for the approximation itself, three standard errors for the number of runs.
    assert level - 0.03 - 3 * error <= rate <= level + 0.03 + 3 * error


def test_power_against_a_cause_of_the_spread_alone():
    def draw(rng, n=500):
        x = rng.normal(size=n)
        return x, np.exp(0.35 * x) * rng.normal(size=n), rng.normal(size=(n, 2))

    assert rejections(draw, 40, 0.001) > 0.9
    assert rejections(draw, 40, 0.001, form="location-scale") > 0.9


@pytest.mark.parametrize("value", [0.0, 1.0, 3.0])
def test_a_row_of_extreme_leverage_makes_no_edge(value):
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(2, 400))
    x[0], y[0] = 1e6, value
    assert likelihood(x, y, np.empty((400, 0))) > 0.01


NAMES = ("parametrization", "form", "noise")


def test_pairwise_equals_batched():
    data = simulate(300, 4, degree=1, random_state=8)
    *before, last = data.order
    for settings in (
        {"parametrization": "linear", "form": "natural", "noise": "gaussian"},
        dict.fromkeys(NAMES, "auto"),
    ):
        batched = recover_dag(data.X, data.order, selection="likelihood-full", **settings).pvalues
        for j in before:
            rest = [k for k in before if k != j]
            single = likelihood(data.X[:, j], data.X[:, last], data.X[:, rest], **settings)
            assert single == pytest.approx(batched[j, last], rel=1e-2, abs=1e-6)


@pytest.mark.parametrize(("unit", "shift"), [(1e4, -3.0), (-1e-4, 1e3)])
def test_units_do_not_matter(unit, shift):
    x, y, Z = heteroscedastic_null(np.random.default_rng(4))
    plain = likelihood(x, y, Z)
    assert likelihood(unit * x + shift, y, Z) == pytest.approx(plain, rel=1e-4)
    assert likelihood(x, unit * y + shift, Z) == pytest.approx(plain, rel=1e-4)
