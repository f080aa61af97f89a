"""Orders by networks: `refine` has no effect, and that is said once."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from heterodag import HOST, FitWarning, causal_order, simulate

pytest.importorskip("torch")
SENTENCE = "Orders by networks are not refined: `refine` has no effect with parametrization 'mlp'."


@pytest.mark.parametrize(
    "fit", [lambda X, **s: causal_order(X, **s), lambda X, **s: HOST(**s).fit(X)], ids=["causal_order", "HOST"]
)
def test_that_networks_are_not_refined_is_said_once(fit):
    X = simulate(100, 3, "ER", 1, random_state=0).X
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asked = fit(X, parametrization="mlp", random_state=0)
    assert [str(w.message) for w in caught if issubclass(w.category, FitWarning)] == [SENTENCE]
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", FitWarning)
        plain = fit(X, parametrization="mlp", random_state=0, refine=False)
        fit(X, parametrization="linear")
        HOST.paper(parametrization="mlp", random_state=0, selection="gam").fit(X)
    orders = (np.asarray(getattr(found, "order_", getattr(found, "order", None))) for found in (asked, plain))
    assert np.array_equal(*orders)
