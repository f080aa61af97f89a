"""Tables that stay on disk: what they read, how they are cut, what they draw, and what is left behind."""

from __future__ import annotations

import gc
import os
import pickle
from pathlib import Path

import cloudpickle
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heterodag import open_table
from heterodag.errors import DataError, HeterodagError, MissingExtraError, ParameterError
from heterodag.io import opened
from heterodag.io.opened import OpenTable, as_open_table, needs_opening, row_place, stratified_rows
from heterodag.io.tables import read_table

N, D = 1000, 4


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder in which temporary folders are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def frame(n=N, seed=0):
    values = np.random.default_rng(seed).standard_normal((n, D))
    return pd.DataFrame(values, columns=list("abcd"))


def write(table, name="data.parquet", rows=None, **options):
    pq.write_table(pa.Table.from_pandas(table, **options), name, row_group_size=rows or len(table))


def rows_of(table: OpenTable):
    return np.vstack([part.read() for part in table.parts])


# --- Parquet -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("group", [1, 7, 100, 333, 1000])
@pytest.mark.parametrize("per_part", [1, 10, 150, 1000, None])
def test_any_cut_reads_the_same_rows(group, per_part):
    table = frame().iloc[: 200 if per_part == 1 else N]  # a row at a time is slow in large row groups
    write(table, rows=group)
    opened_ = open_table("data.parquet", rows_per_part=per_part)
    assert (opened_.shape, opened_.names) == ((len(table), D), list("abcd"))
    assert max(part.rows for part in opened_.parts) <= (per_part or N)
    np.testing.assert_array_equal(rows_of(opened_), table)
    backwards = np.vstack([part.read() for part in opened_.parts[::-1]][::-1])
    np.testing.assert_array_equal(backwards, table)


def test_parts_are_contiguous_floats_with_nan_for_nulls():
    table = pa.table(
        {
            "whole": pa.array([1, None, 2**60 + 1], pa.int64()),
            "yes": pa.array([True, None, False]),
            "nothing": pa.nulls(3),
            "money": pa.array([1, None, 2], pa.decimal128(6, 2)),
            "half": pa.array([np.float16(0.5), None, np.float16(1.0)], pa.float16()),
            "level": pa.array([10, None, 30], pa.int32()).dictionary_encode(),
            "small": pa.array([1.5, None, 2.5], pa.float32()),
        }
    )
    pq.write_table(table, "data.parquet")
    X = rows_of(open_table("data.parquet"))
    assert (X.dtype, X.flags.f_contiguous) == (
        np.float64,
        True,
    )  # columns are written, standardised and used one by one
    assert np.isnan(X[1]).all()
    np.testing.assert_array_equal(X[0], [1, 1, np.nan, 1, 0.5, 10, 1.5])
    np.testing.assert_array_equal(X[2], [2.0**60, 0, np.nan, 2, 1, 30, 2.5])


def test_slices_in_turn_decode_a_row_group_once(monkeypatch):
    write(frame())
    parts = open_table("data.parquet", rows_per_part=100).parts
    calls = []
    own = pq.ParquetFile.iter_batches
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", lambda *a, **k: calls.append(k) or own(*a, **k))
    for part in parts:
        part.read()
    assert len(calls) == 1
    assert calls[0]["use_threads"] is False
    parts[0].read()
    assert len(calls) == 2


def test_the_size_of_parts_follows_from_the_columns_alone():
    write(frame(), rows=10)
    assert [part.rows for part in open_table("data.parquet").parts] == [N]
    assert opened.Choice().rows(20) * 20 * 8 <= 16 * 2**20 < (opened.Choice().rows(20) + 1) * 20 * 8


def test_columns_are_chosen_by_name():
    write(frame())
    table = open_table("data.parquet", columns=["d", "a"])
    assert table.names == ["d", "a"]
    np.testing.assert_array_equal(rows_of(table), frame()[["d", "a"]])
    assert open_table("data.parquet", drop=["b"]).names == ["a", "c", "d"]
    assert open_table("data.parquet", columns=["d", "a"], drop=["a"]).names == ["d"]


def test_names_with_points_are_no_paths_into_nested_columns():
    table = pd.DataFrame({"a": [1.0, 2.0], "a.b": [3.0, 4.0]})
    write(table)
    np.testing.assert_array_equal(rows_of(open_table("data.parquet", columns=["a.b"])), [[3.0], [4.0]])
    np.testing.assert_array_equal(rows_of(open_table("data.parquet", columns=["a"])), [[1.0], [2.0]])


def test_the_index_of_pandas_is_no_column():
    frame().set_index("d").to_parquet("data.parquet")
    assert open_table("data.parquet").names == list(read_table("data.parquet").columns) == list("abc")


def test_numbers_that_stand_for_missing_values():
    table = frame()
    table.loc[3, "b"] = -999
    write(table)
    X = rows_of(open_table("data.parquet", na_values=["-999", "?"]))
    assert np.argwhere(np.isnan(X)).tolist() == [[3, 1]]


def test_labels_tell_file_row_group_and_rows():
    write(frame(), rows=300)
    parts = open_table("data.parquet", rows_per_part=200).parts
    assert [part.label for part in parts[:3]] == [
        "file 'data.parquet', row group 0 (rows 0 to 149)",
        "file 'data.parquet', row group 0 (rows 150 to 299)",
        "file 'data.parquet', row group 1 (rows 300 to 449)",
    ]
    assert row_place(parts[2], 7) == "row 307 of file 'data.parquet', row group 1"
    joined = open_table("data.parquet", rows_per_part=600).parts
    assert joined[0].label == "file 'data.parquet', row groups 0 to 1 (rows 0 to 599)"
    assert row_place(open_table(np.eye(6), rows_per_part=2).parts[1], 1) == "row 3"


# --- several files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["m", "m/*.parquet", Path("m"), "m/**/part*.parquet"])
def test_folders_and_patterns_in_the_order_of_their_numbers(source):
    Path("m").mkdir()
    Path("m/_SUCCESS").touch()
    for k in range(12):
        write(frame(10, seed=k), f"m/part.{k}.parquet")
    table = open_table(source)
    np.testing.assert_array_equal(rows_of(table), np.vstack([frame(10, seed=k) for k in range(12)]))
    assert table.parts[2].label.startswith(f"file '{os.path.join('m', 'part.2.parquet')}'")


def test_a_list_keeps_its_order_and_columns_go_by_name():
    write(frame(10, 1), "b.parquet")
    write(frame(5, 2)[list("dcba")], "a.parquet")
    frame(3, 3).to_csv("c.csv", index=False)
    table = open_table(["b.parquet", "a.parquet", "c.csv"])
    np.testing.assert_array_equal(rows_of(table), np.vstack([frame(10, 1), frame(5, 2), frame(3, 3)]))


def test_a_name_with_a_star_may_be_a_file():
    write(frame(10), "a*.parquet")
    write(frame(10, 1), "ab.parquet")
    assert open_table("a*.parquet").n_rows == 10


# --- rows --------------------------------------------------------------------------------------------------


def test_a_sample_depends_on_the_seed_and_not_on_the_cut():
    table = frame()
    write(table, rows=90)
    one, other = (open_table("data.parquet", rows_per_part=k) for k in (13, 500))
    first = one.sample(100, random_state=3)
    pd.testing.assert_frame_equal(first, other.sample(100, random_state=3))
    pd.testing.assert_frame_equal(first, table.loc[first.index])
    assert not first.equals(one.sample(100, random_state=4))
    assert (first.index // 10).tolist() == list(range(100))
    pd.testing.assert_frame_equal(one.sample(5000), table, check_index_type=False)
    pd.testing.assert_frame_equal(one.head(3), table.head(3), check_index_type=False)


def test_every_row_is_drawn_equally_often():
    """1,000 draws of 3 of 10 rows, in stretches of 3, 3 and 4: each count has a standard deviation of at most 15."""
    rng = np.random.default_rng(0)
    times = sum(np.bincount(stratified_rows(10, 3, rng), minlength=10) for _ in range(1000))
    expected = 1000 / np.array([3, 3, 3, 3, 3, 3, 4, 4, 4, 4])
    assert np.abs(times - expected).max() < 70


@pytest.mark.parametrize("rows", [0, -1, 2.5, "3"])
def test_a_sample_has_some_rows(rows):
    with pytest.raises(ParameterError, match="`rows` must be a whole number"):
        open_table(np.eye(5)).sample(rows)


def test_a_wrong_seed_gets_a_sentence():
    with pytest.raises(ParameterError, match="`random_state` must be"):
        open_table(np.eye(5)).sample(2, random_state="a")


# --- other sources -----------------------------------------------------------------------------------------


def test_tables_in_memory_have_the_same_interface():
    table = open_table(frame().rename(columns={"a": 7}), rows_per_part=400)
    assert (table.names, [part.rows for part in table.parts]) == (["7", "b", "c", "d"], [400, 400, 200])
    assert table.head(2).columns.tolist() == [7, "b", "c", "d"]
    assert open_table(np.eye(5)).names == ["x0", "x1", "x2", "x3", "x4"]
    assert open_table(table) is table
    with pytest.raises(ParameterError, match="not be open already"):
        open_table(table, drop=["b"])


def test_a_lazy_frame_is_computed_into_a_folder_that_goes(temporary):
    lazy = pl.from_pandas(frame()).lazy().with_columns(e=pl.col("a") > 0, f=pl.lit(None)).select("d", "e", "f")
    with open_table(lazy, rows_per_part=300) as table:
        assert (table.names, len(table.parts)) == (["d", "e", "f"], 4)
        X = rows_of(table)
        np.testing.assert_array_equal(X[:, 0], frame()["d"])
        np.testing.assert_array_equal(X[:, 1], frame()["a"] > 0)
        assert np.isnan(X[:, 2]).all()
        assert table.parts[1].label.startswith("the lazy frame, rows ")
        assert len(list(temporary.iterdir())) == 1
    assert list(temporary.iterdir()) == []


def test_a_lazy_frame_that_fails_leaves_nothing(temporary):
    lazy = pl.from_pandas(frame()).lazy()
    with pytest.raises(DataError, match=r"The lazy frame cannot be computed \("):
        open_table(lazy.select(pl.col("no")))
    with pytest.raises(DataError, match="Column 'when' of the lazy frame holds Date and no numbers"):
        open_table(lazy.with_columns(when=pl.date(2020, 1, 1)))
    assert list(temporary.iterdir()) == []


def test_partitions_of_a_dask_frame_travel_with_their_own_tasks():
    dd = pytest.importorskip("dask.dataframe")
    write(frame(), rows=100)
    lazy = dd.read_parquet("data.parquet", split_row_groups=True)
    lazy["e"] = lazy["a"] * 2
    table = open_table(lazy, drop=["b"])
    assert (table.shape, len(table.parts)) == ((N, 4), 10)
    np.testing.assert_array_equal(rows_of(table), frame().assign(e=frame()["a"] * 2).drop(columns="b"))
    part = cloudpickle.loads(cloudpickle.dumps(table.parts[3]))
    np.testing.assert_array_equal(part.read(), table.parts[3].read())
    assert part.label == "partition 3 of the Dask DataFrame"
    assert len(cloudpickle.dumps(part)) < 20_000
    assert as_open_table(lazy).names == ["a", "b", "c", "d", "e"]


def test_a_dask_frame_says_what_is_wrong():
    dd = pytest.importorskip("dask.dataframe")
    lazy = dd.from_pandas(
        frame().assign(city="Ulm", gap=pd.array([None, *range(N - 1)], dtype="Int64")), npartitions=3
    )
    with pytest.raises(DataError, match="Column 'city' of the Dask DataFrame holds"):
        open_table(lazy)
    assert np.isnan(open_table(lazy, drop=["city"]).head(1)["gap"]).all()

    def broken(part):
        raise RuntimeError("the disk is gone")

    bad = lazy.map_partitions(broken, meta=lazy._meta)
    with pytest.raises(DataError, match=r"cannot be computed \(.*the disk is gone"):
        open_table(bad, drop=["city"])


def test_which_tables_are_not_in_memory():
    write(frame())
    table = open_table("data.parquet")
    assert as_open_table(table) is table
    assert as_open_table(pl.from_pandas(frame()).lazy()).n_rows == N
    for memory in (frame(), frame().to_numpy(), pl.from_pandas(frame()), [[1.0, 2.0]], None, "data.parquet"):
        assert as_open_table(memory) is None


# --- life of a table ---------------------------------------------------------------------------------------


def test_tables_of_files_can_be_pickled():
    write(frame())
    table = pickle.loads(pickle.dumps(open_table("data.parquet", rows_per_part=100)))
    np.testing.assert_array_equal(rows_of(table), frame())
    os.chdir("/")  # a worker runs elsewhere
    np.testing.assert_array_equal(rows_of(table), frame())


def test_converted_files_live_as_long_as_their_table_and_not_its_copies(temporary):
    frame().to_csv("data.csv", index=False)
    table = open_table("data.csv")
    copy = pickle.loads(pickle.dumps(table))
    copy.close()
    del copy
    gc.collect()
    np.testing.assert_array_equal(rows_of(table), frame())
    del table
    gc.collect()
    assert list(temporary.iterdir()) == []


def test_a_forked_process_removes_nothing(temporary):
    frame().to_csv("data.csv", index=False)
    with open_table("data.csv") as table:
        child = os.fork()
        if child == 0:
            table.close()
            os._exit(0)
        os.waitpid(child, 0)
        np.testing.assert_array_equal(rows_of(table), frame())


def test_a_table_shows_its_size():
    write(frame())
    assert repr(open_table("data.parquet")) == "OpenTable of 1000 rows and 4 columns in 1 part, from 'data.parquet'"


def test_parquet_is_an_extra(monkeypatch):
    write(frame())
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="parquet"):
        open_table("data.parquet")


# --- what is opened on the command line -------------------------------------------------------------------


def test_large_and_many_files_need_opening(monkeypatch):
    write(frame())
    frame().to_csv("data.csv", index=False)
    assert not needs_opening("data.parquet")
    assert not needs_opening("data.csv")
    assert not needs_opening("-")
    assert needs_opening("*.parquet")
    assert needs_opening(".")
    monkeypatch.setattr(opened, "IN_MEMORY_ROWS", N - 1)
    monkeypatch.setattr(opened, "IN_MEMORY_BYTES", 1000)
    assert needs_opening("data.parquet")
    assert needs_opening("data.csv")


# --- functions that need a table in memory -----------------------------------------------------------------


def test_functions_that_need_rows_in_memory_say_what_to_pass():
    from heterodag import VarSort, bootstrap, check_graph, compare_parametrizations
    from heterodag.scm import HeteroscedasticSCM

    write(frame())
    table = open_table("data.parquet")
    calls = [
        lambda X: VarSort().fit(X),
        lambda X: bootstrap(VarSort(), X),
        lambda X: check_graph([("a", "b")], X),
        lambda X: compare_parametrizations(X, [0, 1, 2, 3]),
        lambda X: HeteroscedasticSCM.from_dag(np.zeros((D, D), dtype=int), X),
    ]
    dd = pytest.importorskip("dask.dataframe")
    for call in calls:
        with pytest.raises(HeterodagError, match=r"is a table on disk.* pass X\.sample\(100_000\)\."):
            call(table)
        with pytest.raises(
            HeterodagError, match=r"is a lazy frame.*pass X\.collect\(\), or heterodag\.open_table\(X\)"
        ):
            call(pl.from_pandas(frame()).lazy())
        with pytest.raises(
            HeterodagError, match=r"is a Dask DataFrame.*pass X\.compute\(\), or heterodag\.open_table"
        ):
            call(dd.from_pandas(frame(), npartitions=2))


def test_columns_may_be_called_as_what_tells_other_tables_apart():
    from heterodag.io.inputs import read_data

    names = ["parts", "sample", "collect", "npartitions"]
    assert read_data(frame().set_axis(names, axis=1))[1] == names
