"""Orders by variance against computations written out, and against orders that other code computed."""

import csv
from pathlib import Path

import numpy as np
import pytest

from heterodag import NPVar, VarSort, simulate
from heterodag.estimators.npvar import spline_design
from heterodag.ordering.variance_orders import (
    additive_log_variances,
    eqvar_bottom_up_order,
    growing_order,
    linear_log_variances,
    varsort_order,
)

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "data" / "reference"


def residual_variance(X, target, given):
    design = np.column_stack([np.ones(len(X)), X[:, given]])
    fitted = design @ np.linalg.lstsq(design, X[:, target], rcond=None)[0]
    return np.var(X[:, target] - fitted)


def eqvar_written_out(X):
    placed = []
    while len(placed) < X.shape[1]:
        remaining = [j for j in range(X.shape[1]) if j not in placed]
        placed.append(min(remaining, key=lambda j: residual_variance(X, j, placed)))
    return placed


def bottom_up_written_out(X):
    remaining, order = list(range(X.shape[1])), []
    while remaining:
        sink = max(remaining, key=lambda j: residual_variance(X, j, [k for k in remaining if k != j]))
        remaining.remove(sink)
        order.insert(0, sink)
    return order


def top_down(X):
    return growing_order(X.shape[1], linear_log_variances(X))[0]


def random_tables(count):
    for seed in range(count):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(2, 9))
        n = int(rng.integers(d + 3, 120))
        yield rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) * rng.uniform(0.5, 2, d) + rng.normal(size=d)


def test_orders_equal_those_written_out_on_100_tables():
    for X in random_tables(100):
        assert varsort_order(X).tolist() == np.argsort(np.var(X, axis=0)).tolist()
        assert top_down(X).tolist() == eqvar_written_out(X)
        assert eqvar_bottom_up_order(X).tolist() == bottom_up_written_out(X)


@pytest.mark.skipif(not REFERENCE.exists(), reason="needs the reference data sets beside the clone")
@pytest.mark.parametrize(("method", "find"), [("VarSort", varsort_order), ("EqVar", top_down)])
def test_orders_equal_the_stored_ones(method, find):
    with open(REFERENCE / "baselines.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["method"] == method]
    compared = 0
    for row in rows:
        kind = "lin" if row["linear"] == "1" else "nonlin"
        stem = f"{row['dag_type']}{row['k']}_n{row['n']}_d{row['d']}_{kind}_s{row['seed']}"
        path = REFERENCE / "sets" / f"{stem}.npz"
        if path.exists():
            assert " ".join(map(str, find(np.load(path)["X"]))) == row["order"], stem
            compared += 1
    assert compared >= 100


def test_equal_variances_keep_the_order_of_the_columns():
    column = np.random.default_rng(0).standard_normal(50)
    X = np.column_stack([column, column[::-1], 2 * column])
    assert varsort_order(X).tolist() == [0, 1, 2]
    assert VarSort().fit(X[:, [2, 1]]).order_.tolist() == [1, 0]


@pytest.mark.parametrize("unit", [1e150, 1e-150])
def test_the_unit_of_the_whole_table_changes_nothing(unit):
    X = simulate(200, 5, random_state=3).X
    for find in (varsort_order, top_down, eqvar_bottom_up_order):
        assert find(X * unit).tolist() == find(X).tolist()
    assert NPVar().fit(X * unit).order_.tolist() == NPVar().fit(X).order_.tolist()


def test_additive_variances_are_those_of_least_squares():
    X = simulate(300, 5, random_state=4).X
    design = spline_design(X)
    found = np.exp(additive_log_variances(X, design)([2, 0], [1, 3, 4]))
    D = np.column_stack([np.ones(300), design([2, 0])])
    for value, target in zip(found, (1, 3, 4), strict=True):
        rest = X[:, target] - D @ np.linalg.lstsq(D, X[:, target], rcond=None)[0]
        assert value == pytest.approx(rest @ rest / (300 - D.shape[1]))


def test_columns_within_the_margin_form_a_layer():
    variances = np.array([1.0, 1.3, 1.05, 4.0])
    calls = []

    def log_variances(placed, remaining):
        calls.append(list(placed))
        return np.log(variances[remaining])

    order, layers = growing_order(4, log_variances, margin=0.2)
    assert layers == [[0, 2], [1], [3]]
    assert order.tolist() == [0, 2, 1, 3]
    assert calls == [[], [0, 2], [0, 2, 1]]
    assert growing_order(4, log_variances)[1] == [[0], [2], [1], [3]]
    assert growing_order(4, log_variances, margin=100.0)[1] == [[0, 2, 1, 3]]
