"""How the page of the reproduction decides about the paper's claims."""

from pathlib import Path

import pandas as pd
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"

pytestmark = pytest.mark.skipif(not BENCHMARKS.exists(), reason="needs a clone")


def test_claims_are_decided_by_the_rows(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from reproduction_claims import best_counts, paired, verdict

    lines = [
        {"measure": "m", "graph": g, "n": n, "d": 1, "label": label, "mean": mean}
        for g, n, means in (("a", 1, (1, 2)), ("a", 2, (2, 1)), ("b", 1, (1, 1)))
        for label, mean in zip(("HOST (paper)", "NPVar"), means, strict=True)
    ]  # fmt: skip
    summary = pd.DataFrame(lines)
    assert best_counts(summary, "m", "HOST (paper)", higher=False) == (2, 3)
    assert best_counts(summary, "m", "HOST (paper)", higher=True) == (2, 3)
    assert [verdict(k, 20) for k in (20, 15, 10, 9)] == [
        "as claimed", "mostly as claimed", "only in part as claimed", "not as claimed",
    ]  # fmt: skip
    rows = [
        {"graph": "a", "n": 1, "d": 1, "repeat": k, "method": method, "x": k + (method == "B") * (1 + k)}
        for k in range(3) for method in "AB"
    ]  # fmt: skip
    mean, low, high, count = paired(rows, "A", "B", "x", lambda row: True)
    assert (mean, count) == (2.0, 3)
    assert low < 2.0 < high
