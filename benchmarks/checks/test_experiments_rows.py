"""The page on experiments has the tables its stored rows make, and what it is there to show holds in them."""

import numpy as np
import pytest

from experiments import DEGREES, METHODS, PAGE, READINGS, SUBSAMPLES, VARIANTS, WORLDS, page, stored


def mean(rows, key, by=None):
    return np.mean([float(r[key]) / (float(r[by]) if by else 1.0) for r in rows])


def of(table, /, **values):
    return [r for r in table if all(r[key] == str(value) for key, value in values.items())]


def test_the_page_has_the_tables_that_these_rows_make():
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text
    assert "(no rows yet)" not in text


@pytest.mark.parametrize("degree", DEGREES)
def test_interventions_tell_directions_that_observation_cannot(degree):
    told, alone, gies = (of(stored("linear"), degree=degree, method=METHODS[k]) for k in (2, 0, 3))
    assert len(told) == len(alone) == len(gies) == 20
    assert mean(told, "divergence", "edges") <= 0.02
    assert mean(alone, "divergence", "edges") > 0.05
    assert mean(told, "shd") <= mean(gies, "shd")


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("variant", VARIANTS[1:3])
def test_targets_wrongly_declared_cost_no_more_than_their_rows_where_directions_can_be_seen(world, variant):
    """Where they cannot, a variable that is said to have been set and was not points to its causes."""
    seen = variant == VARIANTS[2] or world != "linear Gaussian"
    told, without = (
        sorted(of(stored("wrong"), world=world, rows=name), key=lambda r: r["seed"])
        for name in (variant, VARIANTS[3])
    )
    difference = np.array([float(a["shd"]) - float(b["shd"]) for a, b in zip(told, without, strict=True)])
    assert len(difference) == 20
    assert (difference.mean() <= 2 * difference.std(ddof=1) / np.sqrt(20)) == seen


@pytest.mark.parametrize("world", WORLDS)
def test_unknown_targets_are_found_without_false_alarms(world):
    for rows in (of(stored("unknown"), world=world, shift=1.0), of(stored("unknown"), world=world, shift=0.0)):
        assert sum(int(r["false_alarms"]) for r in rows) <= 0.05 * sum(int(r["pairs"]) for r in rows)
        assert sum(int(r["found"]) for r in rows) >= 0.9 * sum(int(r["conditions"]) for r in rows)
        assert rows


def test_every_reading_of_the_proteins_has_its_subsamples():
    have = {(r["reading"], int(r["subsample"])) for r in stored("sachs")}
    assert have >= {(reading, k) for reading in READINGS for k in range(SUBSAMPLES)}
