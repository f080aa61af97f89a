"""What the pages on using the graph claim, asserted on the stored rows that they are made from."""

import csv
from pathlib import Path

import numpy as np
import pytest

RESULTS = Path(__file__).resolve().parents[1] / "results"


def rows(name):
    with (RESULTS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def column(some, name):
    return np.array([float(row[name]) for row in some])


def test_knowledge_is_never_broken_and_helps():
    found = rows("knowledge")
    assert len({row["seed"] for row in found}) >= 200
    assert column(found, "violations").max() == 0
    # Without being told, HOST breaks it often enough: that it is obeyed is no accident.
    assert np.mean(column(found, "violations_without") > 0) > 0.3
    none, some, all_of_it = (column(found, f"divergence_{share}") for share in ("0", "0.3", "1"))
    # At least in proportion to the edges told, less three standard errors of the mean fall.
    fall = none - some
    assert fall.mean() > 0.3 * none.mean() - 3 * fall.std() / np.sqrt(len(fall))
    assert all_of_it.max() == 0


@pytest.mark.parametrize("model", ["default", "true form"])
@pytest.mark.parametrize("quantity", ["mean", "sd"])
def test_interventional_quantities_lie_within_sampling_error(quantity, model):
    found = [row for row in rows("interventions_effects") if row["model"] == model]
    assert len(found) >= 50
    assert column(found, "misfit").max() < 1e-6
    true, value, lower, upper = (column(found, f"{quantity}_{key}") for key in ("true", "value", "lower", "upper"))
    covered = np.mean((lower <= true) & (true <= upper))
    assert abs(covered - 0.9) < 3 * np.sqrt(0.9 * 0.1 / len(found))
    assert np.median(np.abs(value - true) / column(found, "sd_true")) < 0.03


def test_counterfactual_errors_shrink_and_factual_rows_come_back():
    found = rows("interventions_counterfactuals")
    medians = {n: np.median(column([r for r in found if r["n"] == n], "error")) for n in ("500", "2000", "8000")}
    # Sixteen times the rows: errors fall to a quarter if they fall with the square root; at least to a half.
    assert medians["8000"] < medians["2000"] < medians["500"] < 0.05
    assert medians["8000"] < 0.5 * medians["500"]
    assert column(found, "factual").max() < 1e-12
