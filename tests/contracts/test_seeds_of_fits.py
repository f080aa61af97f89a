"""A user's generator: one draw per fit, whatever is fitted, so that runs in a row can be repeated one by one."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest

from heterodag import HOST, causal_order, compare_parametrizations, recover_dag, simulate

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
FITS = {
    "HOST": lambda X, rng: HOST(random_state=rng).fit(X),
    "HOST, gcm": lambda X, rng: HOST(random_state=rng, selection="gcm").fit(X),
    "HOST, lcit": lambda X, rng: HOST.paper(random_state=rng).fit(X),
    "HOST, spline": lambda X, rng: HOST(random_state=rng, parametrization="spline").fit(X),
    "causal_order": lambda X, rng: causal_order(X, random_state=rng),
    "recover_dag": lambda X, rng: recover_dag(X, [0, 1, 2], random_state=rng),
    "recover_dag, gcm": lambda X, rng: recover_dag(X, [0, 1, 2], selection="gcm", random_state=rng),
    "compare_parametrizations": lambda X, rng: compare_parametrizations(X, [0, 1, 2], random_state=rng),
}
NETWORKS = {
    "HOST": lambda X, rng: HOST(random_state=rng, parametrization="mlp", refine=False).fit(X),
    "compare_parametrizations": partial(
        compare_parametrizations, order_or_graph=[0, 1, 2], parametrizations=("mlp",)
    ),
}


@pytest.fixture(scope="module")
def X():
    return simulate(100, 3, "ER", 1, random_state=0).X


def one_draw(seed):
    rng = np.random.default_rng(seed)
    rng.integers(2**63)
    return rng.bit_generator.state


@pytest.mark.parametrize("name", [pytest.param(n, marks=needs_torch) if "lcit" in n else n for n in FITS])
def test_one_fit_draws_one_seed(name, X):
    """A fit that seeds its order and its edges separately leaves another state."""
    rng = np.random.default_rng(5)
    FITS[name](X, rng)
    assert rng.bit_generator.state == one_draw(5)


@needs_torch
def test_networks_draw_one_seed_too(X):
    rng = np.random.default_rng(5)
    NETWORKS["HOST"](X, rng)
    assert rng.bit_generator.state == one_draw(5)
    rng = np.random.default_rng(5)
    NETWORKS["compare_parametrizations"](X, random_state=rng)
    assert rng.bit_generator.state == one_draw(5)
