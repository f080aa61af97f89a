"""HOST on tables that are not in memory: the same graph as in memory, and one sentence where something is wrong."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest

from heterodag import HOST, check_table, open_table, simulate
from heterodag.errors import DataError, DataWarning, ParameterError
from heterodag.estimators import host as host_module
from heterodag.estimators import long_study
from heterodag.scores import long as long_scores
from heterodag.scores import make

pq = pytest.importorskip("pyarrow.parquet")
pl = pytest.importorskip("polars")


@pytest.fixture(autouse=True)
def long_from_5000_rows(monkeypatch):
    for module in (long_scores, make, host_module):
        monkeypatch.setattr(module, "CHOSEN_ON", 5000)


@pytest.fixture(scope="module")
def data():
    return simulate(16_000, 4, degree=1, mechanism="straight", spread="straight", noise="laplace", random_state=6)


@pytest.fixture
def folder(data, tmp_path):
    frame = data.to_frame()
    for k in range(4):
        frame.iloc[k * 4000 : (k + 1) * 4000].to_parquet(tmp_path / f"part{k}.parquet", row_group_size=900)
    return tmp_path


def fitted(X, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return HOST(**settings).fit(X)


def assert_same(one, other):
    np.testing.assert_array_equal(one.adjacency_, other.adjacency_)
    np.testing.assert_array_equal(one.order_, other.order_)
    np.testing.assert_allclose(one.nats_, other.nats_, rtol=1e-6, atol=1e-4)
    np.testing.assert_allclose(one.direction_nats_, other.direction_nats_, rtol=1e-6, atol=1e-4)
    for name in ("mean_effect", "spread_effect", "mean_effect_lower"):
        np.testing.assert_allclose(one.strengths_[name], other.strengths_[name], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("rows_per_part", [None, 777])
def test_a_table_on_disk_gives_the_graph_of_the_table_in_memory(data, folder, rows_per_part):
    in_memory = fitted(data.to_frame())
    on_disk = fitted(open_table(str(folder / "*.parquet"), rows_per_part=rows_per_part))
    assert_same(on_disk, in_memory)
    np.testing.assert_array_equal(on_disk.adjacency_, data.adjacency)
    assert on_disk.n_rows_ == 16_000
    assert on_disk.rows_.tolist() == [16_000] * 4
    assert list(on_disk.feature_names_in_) == ["x0", "x1", "x2", "x3"]


def test_two_workers_give_the_same_answer(folder):
    table = open_table(str(folder), rows_per_part=1500)
    one, two = fitted(table, n_jobs=1), fitted(table, n_jobs=2)
    np.testing.assert_array_equal(one.nats_, two.nats_)
    np.testing.assert_array_equal(one.adjacency_, two.adjacency_)


def test_lazy_frames_and_dask_frames_are_read_part_by_part(data, folder):
    dask = pytest.importorskip("dask.dataframe")
    in_memory = fitted(data.to_frame())
    assert_same(fitted(pl.scan_parquet(str(folder / "*.parquet"))), in_memory)
    assert_same(fitted(dask.read_parquet(str(folder))), in_memory)


def test_short_tables_on_disk_are_read_whole(data, tmp_path):
    frame = data.to_frame().iloc[:1000]
    frame.to_parquet(tmp_path / "short.parquet")
    assert_same(fitted(open_table(tmp_path / "short.parquet")), fitted(frame))


def test_the_sample_follows_random_state_and_is_fixed_without(data, monkeypatch):
    monkeypatch.setattr(long_study, "SAMPLE_ROWS", 6000)
    table = open_table(data.X)
    assert_same(fitted(table), fitted(table))
    assert_same(fitted(table, random_state=3), fitted(table, random_state=3))
    assert not np.array_equal(fitted(table).sample_, fitted(table, random_state=3).sample_)


def test_results_can_be_used_without_the_table(folder, tmp_path):
    model = fitted(open_table(str(folder)))
    assert len(model.edges()) == model.adjacency_.sum()
    assert model.to_scm().sample(10, random_state=0).shape == (10, 4)
    model.report(tmp_path / "report.html")
    assert "16,000" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "16,000 rows" in str(model.trust())


def test_gaps_deep_inside_are_named_by_file_and_row_group(data, folder):
    frame = data.to_frame().iloc[8000:12_000].copy()
    frame.iloc[2500, 2] = np.nan
    frame.to_parquet(folder / "part2.parquet", row_group_size=900)
    table = open_table(str(folder))
    with pytest.raises(
        DataError, match=r"Missing values \(NaN\) in 1 row, the first in column 'x2' of row 10500"
    ) as error:
        HOST().fit(table)
    assert "part2.parquet" in str(error.value)
    assert "row group 2" in str(error.value)
    with pytest.warns(DataWarning, match="1 of 16000 rows have missing values and were left out"):
        model = HOST(missing="drop").fit(table)
    assert model.n_rows_ == 15_999
    assert "left out" in str(model.trust())


def test_infinite_values_are_refused_even_if_gaps_are_dropped(data):
    X = data.X.copy()
    X[9000, 1] = np.inf
    with pytest.raises(DataError, match=r"Infinite values \(inf\) in 1 row, the first in column 'x1' of row 9000"):
        HOST(missing="drop").fit(open_table(X))


def test_constant_and_copied_columns_are_refused(data):
    X = np.column_stack([data.X, np.ones(16_000)])
    with pytest.raises(DataError, match="'x4' is constant"):
        HOST().fit(open_table(X))
    with pytest.raises(DataError, match="x0"):
        HOST().fit(open_table(np.column_stack([data.X, 2.0 * data.X[:, 0]])))


def test_what_needs_all_rows_at_once_is_refused_before_any_is_read(data):
    table = open_table(data.X)
    for settings, name in (
        ({"selection": "gcm"}, "selection"),
        ({"parametrization": "mlp"}, "parametrization"),
        ({"parametrization": "spline", "form": "natural", "noise": "gaussian"}, "parametrization"),
    ):
        with pytest.raises(ParameterError, match=f"`{name}` must be .* with a table on disk"):
            HOST(**settings).fit(table)
    with pytest.raises(ParameterError, match="interventions"):
        HOST().fit(table, interventions=np.zeros((16_000, 4), dtype=bool))


def test_the_check_of_the_table_is_part_of_the_fit(data):
    walk = np.cumsum(data.X, axis=0)
    with pytest.raises(DataError, match="data_check='warn'"):
        HOST().fit(open_table(walk))
    wild = data.X.copy()
    wild[12_345, 2] = 1e6
    with pytest.warns(DataWarning, match="12345"):
        model = HOST().fit(open_table(wild))
    assert model.table_findings_.worst == check_table(open_table(wild)).worst
    assert not hasattr(fitted(open_table(data.X), data_check="ignore"), "table_findings_")


def test_prior_knowledge_is_obeyed(data, folder):
    i, j = np.argwhere(data.adjacency)[0]
    names = data.to_frame().columns
    known = {"forbidden": [(names[i], names[j])]}
    assert fitted(open_table(str(folder)), prior_knowledge=known).adjacency_[i, j] == 0


@pytest.mark.parametrize(
    "settings", [{"parametrization": "linear", "form": "natural", "noise": "gaussian"}, {"refine": False}]
)
def test_other_settings_work_too(folder, data, settings):
    model = fitted(open_table(str(folder)), **settings)
    joined = (model.adjacency_ + model.adjacency_.T) > 0
    assert joined[np.nonzero(data.adjacency)].all()


def test_all_rows_settle_the_directions_that_a_sample_leaves_in_doubt():
    # 5,000 rows show this edge, but not its direction; 60,000 do.
    right = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        cause, noise = rng.laplace(size=(2, 60_000))
        X = np.column_stack([0.04 * cause + noise, cause])  # the effect comes first: no tie favours the truth
        few, all_rows = fitted(X[:5000]), fitted(X)
        assert few.direction_nats_.max(initial=0.0, where=few.adjacency_ == 1) < 9.0
        right += bool(all_rows.adjacency_[1, 0] and not all_rows.open_[1, 0] and all_rows.direction_nats_[1, 0] > 9.0)
    assert right == 4


def test_every_pass_over_a_long_table_moves_the_bar(data, monkeypatch):
    """Where rows are many, passes take the time: a bar that is nearly full before the first of them says nothing."""
    shares = []

    @contextmanager
    def bar(label, enabled):
        yield shares.append

    monkeypatch.setattr(host_module, "progress_bar", bar)
    monkeypatch.setattr(long_scores, "_ROWS_LIKE_SEARCH", 4000)
    fitted(data.to_frame())
    begin = long_scores.passes_from(16_000)
    assert begin == pytest.approx(0.2)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert max(shares[:-1]) < 0.99
    assert len({share for share in shares if begin < share < 0.97}) >= 5
