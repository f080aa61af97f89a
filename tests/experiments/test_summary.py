"""Summaries against other code and numbers written down; growth exponents of exact powers; tables."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from heterodag._version import __version__
from heterodag.experiments.catalogue import EXPERIMENTS, ORDER, SHD
from heterodag.experiments.growth import exponent, growth_table, runtime_summary
from heterodag.experiments.outputs import summary_of, tables_of, write_outputs
from heterodag.experiments.series import STYLES, series_of
from heterodag.experiments.summary import interval, summarise
from heterodag.experiments.summary_tables import PAPER_SACHS


def row(cell, status="done", **columns):
    return cell.settings() | {"status": status, "message": ""} | columns


def invented(name, scale="full", seed=0):
    """Rows of an experiment with made-up measures, different for every cell."""
    rng = np.random.default_rng(seed)
    rows = []
    for cell in EXPERIMENTS[name].cells(scale):
        columns = {"order_divergence": int(rng.poisson(3)), "order_cpu_seconds": float(rng.gamma(5))}
        for test in ("own", "lcit", "gam-classical"):
            columns |= {f"{test}_shd": int(rng.poisson(9)), f"{test}_f1": rng.uniform(), f"{test}_auc": rng.uniform()}
        rows.append(row(cell, **columns))
    return rows


def test_intervals_agree_with_scipy():
    values = [1.0, 2.0, 4.0, 9.0, 2.5]
    mean, error, low, high = interval(values)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (mean, error) == pytest.approx((3.7, stats.sem(values)))
    assert (low, high) == pytest.approx((expected.low, expected.high))
    assert interval([2.0])[0] == 2.0
    assert math.isnan(interval([2.0])[2])
    assert math.isnan(interval([])[0])


def test_a_summary_is_the_mean_over_the_repeats_of_a_kind():
    experiment, rows = EXPERIMENTS["sample-size"], invented("sample-size")
    summary = summarise(rows, experiment)
    frame = pd.DataFrame(rows)
    for measure, label, column in (
        (ORDER.title, "NPVar", "order_divergence"), (SHD.title, "NPVar", "lcit_shd"),
        (SHD.title, "HOST (heterodag)", "own_shd"), (SHD.title, "HOST (heterodag), LCIT", "lcit_shd"),
    ):  # fmt: skip
        mine = summary[(summary["measure"] == measure) & (summary["label"] == label)]
        means = frame[frame["method"] == mine["method"].iloc[0]].groupby(["graph", "n"])[column].mean()
        assert mine.set_index(["graph", "n"])["mean"].to_dict() == pytest.approx(means.to_dict())
        assert set(mine["runs"]) == {5}


def test_unfinished_cells_are_counted_and_their_finished_parts_used():
    experiment = EXPERIMENTS["sample-size"]
    cells = [c for c in experiment.cells() if (c.method, c.data.n, c.data.graph) == ("NPVar", 500, "ER-1")]
    rows = [row(cell, order_divergence=1, lcit_shd=4) for cell in cells[:2]]
    rows += [row(cells[2], "timeout", order_divergence=7), row(cells[3], "timeout"), row(cells[4], "error")]
    summary = summarise(rows, experiment).set_index("measure")
    order, shd = summary.loc[ORDER.title], summary.loc[SHD.title]
    assert (order["runs"], order["timeouts"], order["errors"], order["mean"]) == (3, 1, 1, 3.0)
    assert (shd["runs"], shd["timeouts"], shd["errors"], shd["mean"]) == (2, 2, 1, 4.0)
    text = tables_of(experiment, summarise(rows, experiment))
    assert "| NPVar | 4 [4, 4] (2 timeout, 1 error) |" in text


def test_every_method_has_one_line_and_ours_two_where_edges_count():
    experiment = EXPERIMENTS["sample-size"]
    orders, graphs = (series_of(experiment, measure) for measure in experiment.measures)
    assert [s.method for s in orders] == list(experiment.methods)
    assert [(s.method, s.test) for s in graphs if s.method == "HOST"] == [("HOST", "own"), ("HOST", "lcit")]
    assert {s.test for s in graphs if s.method != "HOST"} == {"lcit"}
    own = series_of(EXPERIMENTS["non-polynomial"], SHD)
    assert {s.method: s.test for s in own}["HOST-paper"] == "lcit"
    assert {s.method: s.test for s in own}["CAM"] == "own"


def test_looks_differ_in_more_than_colour():
    for experiment in EXPERIMENTS.values():
        for measure in experiment.measures:
            looks = [s.style() for s in series_of(experiment, measure)]
            if experiment.axis != "table":
                assert len({style.hatch for style in looks}) == len(looks)
                assert len({(style.marker, style.dashes, style.width) for style in looks}) == len(looks)
    assert STYLES["HOST"].width > 1.5 * max(s.width for name, s in STYLES.items() if name != "HOST")


def test_exponents_of_exact_powers_come_out():
    x = np.array([500.0, 1000.0, 5000.0, 50000.0])
    assert exponent(x, 3e-5 * x**1.3) == pytest.approx((1.3, 0.0), abs=1e-7)
    experiment = EXPERIMENTS["runtime"]
    rows = [
        row(cell, order_cpu_seconds=1e-3 * cell.data.n**0.8 if cell.data.d == 10 else cell.data.d**2)
        for cell in experiment.cells() if cell.method == "HOST"
    ]  # fmt: skip
    summary = runtime_summary(rows, experiment)
    assert set(summary.loc[summary["axis"] == "n", "runs"]) == {20}
    growth = growth_table(summary).set_index("axis")
    assert growth.loc["n", "exponent"] == pytest.approx(0.8)
    assert growth.loc["n", "from"] == 500
    assert growth.loc["n", "to"] == 50_000
    assert growth.loc["d", "upper_exponent"] == pytest.approx(2.0)


def test_the_sachs_table_stands_beside_the_papers():
    experiment = EXPERIMENTS["sachs"]
    rows = [row(c, order_divergence=c.data.repeat, lcit_shd=13) for c in experiment.cells() if c.method == "EqVar"]
    rows += [row(c, "timeout") for c in experiment.cells() if c.method == "GraN-DAG"]
    lines = tables_of(experiment, summary_of(experiment, rows)).splitlines()
    error = np.std(range(10), ddof=1) / math.sqrt(10)
    assert f"| EqVar | 10 | 4.5 ± {error:.2f} | {PAPER_SACHS['EqVar'][0]} | 13.0 ± 0.00 |" in "\n".join(lines)
    assert any(line.startswith("| GraN-DAG | 0 | none of 10 finished |") for line in lines)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_can_be_written_also_from_no_rows(tmp_path, name):
    experiment = EXPERIMENTS[name]
    kinds = {"csv", "md"} | (set() if name == "sachs" else {"svg", "png"})
    files = write_outputs(experiment, invented(name, "smoke"), tmp_path)
    assert {file.suffix[1:] for file in files} == kinds
    assert all(file.stat().st_size > 100 for file in files)
    page = (tmp_path / f"{name}.md").read_text()
    assert page.endswith(f"\n\nRows made by heterodag {__version__}.\n")
    assert f"\n\nAt full scale: {experiment.setting}.\n\nThese numbers are of a smaller run: " in page
    write_outputs(experiment, invented(name, "full"), tmp_path / "full")
    assert f"\n\n{experiment.setting}.\n\n" in (tmp_path / "full" / f"{name}.md").read_text()
    empty = write_outputs(experiment, [], tmp_path / "empty")
    assert {file.suffix for file in empty} == {".csv", ".md"}
