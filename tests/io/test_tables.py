"""Good files come back as numbers; every bad file gives one sentence that names the right thing."""

import gzip
import os
import sys

import numpy as np
import pandas as pd
import pytest

from heterodag.errors import DataError, MissingExtraError, ParameterError
from heterodag.io.tables import read_table

GOOD = "a,b,c\n1,2.5,3\n4,5.5,6\n"


def write(tmp_path, content, name="data.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "name", "options"),
    [
        (GOOD, "data.csv", {}),
        (GOOD.replace(",", "\t"), "data.tsv", {}),
        (GOOD.replace(",", ";"), "data.txt", {}),
        (GOOD.replace(",", "|"), "data.dat", {}),
        (GOOD.replace(",", ", "), "blank-after-comma.csv", {}),
        (GOOD.replace("\n", "\r\n"), "windows.csv", {}),
        (GOOD.replace("\n", "\n\n"), "blank-lines.csv", {}),
        (GOOD.replace(",", "  "), "data.txt", {"delimiter": " "}),
        (GOOD.replace(",", "\t"), "data.txt", {"delimiter": "tab"}),
        (GOOD.replace(",", ";").replace(".", ","), "europe.csv", {"decimal": ","}),
        ('"a","b","c"\n1,"2,5",3\n4,"5,5",6\n', "quoted-decimals.csv", {"decimal": ","}),
        ('"a","b","c"\n"1","2.5","3"\n4,5.5,6\n', "quoted.csv", {}),
        (b"\xef\xbb\xbf" + GOOD.encode(), "bom8.csv", {}),
        (b"\xef\xbb\xbf" + GOOD.encode(), "bom8.csv", {"encoding": "utf-8"}),
        (GOOD.encode("utf-16"), "bom16.csv", {}),
        (GOOD.encode("utf-16-le"), "no-bom16.csv", {"encoding": "utf-16-le"}),
        (gzip.compress(GOOD.encode(), mtime=0), "data.csv.gz", {}),
        ("id,a,b,c\nr1,1,2.5,3\nr2,4,5.5,6\n", "rows.csv", {"index_column": "id"}),
        (",a,b,c\n0,1,2.5,3\n1,4,5.5,6\n", "pandas.csv", {"index_column": "Unnamed: 0"}),
        (",a,b,c\n0,1,2.5,3\n1,4,5.5,6\n", "pandas.csv", {"index_column": ""}),
        (",a,b,c\n0,1,2.5,3\n1,4,5.5,6\n", "pandas.csv", {"drop": ["Unnamed: 0"]}),
        ("c,t,b,a\n3,x,2.5,1\n6,y,5.5,4\n", "picked.csv", {"columns": ["a", "b", "c"]}),
        ("a,b,c,t\n1,2.5,3,x\n4,5.5,6,y\n", "dropped.csv", {"drop": ["t"]}),
    ],
)
def test_good_files_all_read_the_same(tmp_path, content, name, options):
    frame = read_table(write(tmp_path, content, name), **options)
    assert list(frame.columns) == ["a", "b", "c"]
    np.testing.assert_array_equal(frame.to_numpy(dtype=float), [[1, 2.5, 3], [4, 5.5, 6]])
    assert [dtype.kind for dtype in frame.dtypes] == ["i", "f", "i"]


def test_no_header_names_the_columns(tmp_path):
    frame = read_table(write(tmp_path, "1,5;2,5\n3,5;4,5\n"), header=False, decimal=",")
    assert list(frame.columns) == ["x0", "x1"]
    np.testing.assert_array_equal(frame.to_numpy(), [[1.5, 2.5], [3.5, 4.5]])


def test_header_of_numbers_is_taken_when_asked(tmp_path):
    frame = read_table(write(tmp_path, "0,1\n5,6\n"), header=True)
    assert list(frame.columns) == ["0", "1"]
    assert frame.shape == (1, 2)


def test_numbers_survive_the_round_trip_exactly(tmp_path):
    values = pd.DataFrame(np.random.default_rng(0).standard_normal((50, 3)), columns=list("abc"))
    values.to_csv(tmp_path / "x.csv", index=False)
    pd.testing.assert_frame_equal(read_table(tmp_path / "x.csv"), values, check_exact=True)


def test_parquet_reads_numbers_and_booleans(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "flag": [True, False]})
    frame.to_parquet(tmp_path / "x.parquet")
    back = read_table(tmp_path / "x.parquet")
    np.testing.assert_array_equal(back.to_numpy(dtype=float), [[1, 0.5, 1], [2, 1.5, 0]])


def test_large_unsigned_numbers_do_not_wrap(tmp_path):
    frame = read_table(write(tmp_path, f"a,b\n{2**64 - 1},1\n{10**30},2\n"))
    assert (frame["a"] > 1e19).all()


BAD = {
    "empty": (b"", {}, ["data.csv", "empty"]),
    "blank": ("\n\n  \n", {}, ["data.csv", "empty"]),
    "header only": ("a,b\n", {}, ["data.csv", "no rows"]),
    "no header": ("1.5,2\n3,4\n", {}, ["no header row", "1.5,2", "--no-header"]),
    "no header, decimal comma": ("1,5;2\n3;4\n", {"decimal": ","}, ["no header row", "--no-header"]),
    "repeated name": ("a,b,a\n1,2,3\n", {}, ["'a'", "more than once"]),
    "wrong delimiter": (GOOD, {"delimiter": ";"}, ["a,b,c", "';'", "--delimiter ','"]),
    "wrong delimiter, tab": (
        GOOD.replace(",", "\t"),
        {"delimiter": ","},
        ["single column", "--delimiter tab"],
    ),
    "blanks": (GOOD.replace(",", " "), {}, ["single column 'a b c'", "--delimiter ' '"]),
    "short row": ("a,b,c\n1,2,3\n4,5\n6,7,8\n", {}, ["Line 3", "2 fields", "3 are expected"]),
    "one field": ("a,b,c\n1,2,3\n4\n", {}, ["Line 3", "1 field ", "3 are expected"]),
    "long row": ("a,b\n1,2\n1,2\n4,5,6\n", {}, ["Line 4", "3 fields", "2 are expected"]),
    "long first row": ("a,b\n1,2,3\n1,2\n", {}, ["Line 2", "3 fields", "2 are expected"]),
    "short row, no header": ("1,2,3\n4,5\n", {"header": False}, ["Line 2", "2 fields"]),
    "R row names": ('"a" "b"\n"1" 1.5 2\n"2" 3 4\n', {"delimiter": " "}, ["3 fields", "2", "row names"]),
    "open quote": ('a,b\n1,2\n"3,4\n5,6\n', {}, ["data.csv"]),
    "unnamed first": (",a,b\n0,1,2\n1,3,4\n", {}, ["Column 1", "no name", "--index-column 'Unnamed: 0'"]),
    "unnamed last": ("a,b,\n1,2,\n3,4,\n", {}, ["Column 3", "no name", "--drop 'Unnamed: 2'"]),
    "text": ("a,sex\n1,male\n2,female\n", {}, ["'sex'", "'male'", "data row 1", "--drop 'sex'"]),
    "text below": ("a,b\n1,2\n2,?\n", {}, ["'b'", "'?'", "data row 2"]),
    "two text columns": ("s,a,t\nx,1,y\n", {}, ["'s' ('x'", "and 't' ('y'", "--drop 's,t'"]),
    "dates": ("a,day\n1,2020-01-01\n", {}, ["'day'", "2020-01-01"]),
    "decimal comma": ("a;b\n1,5;2,5\n3,5;4,5\n", {}, ["'a'", "'1,5'", "--decimal ,"]),
    "quoted decimal comma": ('a,b\n"1,5","2,5"\n', {}, ["'a'", "'1,5'", "--decimal ,"]),
    "empty cells": ("a,b,c\n1,,3\n4,,6\n7,8,NA\n", {}, ["'b' (2)", "'c' (1)", "empty"]),
    "infinite": ("a,b\n1,inf\n2,3\n", {}, ["'b' (1)", "infinite"]),
    "latin-1": ("a,caf\xe9\n1,2\n".encode("latin-1"), {}, ["not UTF-8", "0xe9", "line 1", "--encoding"]),
    "latin-1 below": (b"a,b\n" + b"1,2\n" * 3000 + b"3,\xff\n", {}, ["0xff", "line 3002", "--encoding"]),
    "wrong encoding": ("a,\xe9\n1,2\n".encode(), {"encoding": "ascii"}, ["not ascii", "--encoding"]),
    "binary": (b"PK\x03\x04\0\0\0\0", {}, ["NUL bytes", "--encoding"]),
    "unknown column": (GOOD, {"columns": ["a", "zz"]}, ["--columns", "'zz'", "a, b, c"]),
    "near miss": ("alpha,beta\n1,2\n", {"drop": ["alhpa"]}, ["--drop", "'alhpa'", "did you mean 'alpha'?"]),
    "unknown index": (GOOD, {"index_column": "id"}, ["--index-column", "'id'"]),
    "twice": (GOOD, {"columns": ["a", "a"]}, ["--columns", "'a'", "more than once"]),
    "nothing left": ("a,b\n1,2\n", {"drop": ["a", "b"]}, ["No column", "data.csv"]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_file_gives_one_sentence(tmp_path, case):
    content, options, fragments = BAD[case]
    with pytest.raises(DataError) as caught:
        read_table(write(tmp_path, content), **options)
    message = str(caught.value)
    for fragment in fragments:
        assert fragment in message
    assert "\n" not in message
    assert message.endswith((".", "?"))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"delimiter": "ab"}, "delimiter"),
        ({"delimiter": "", "decimal": "."}, "delimiter"),
        ({"decimal": ";"}, "decimal"),
        ({"encoding": "klingon"}, "encoding"),
    ],
)
def test_bad_option_is_named(tmp_path, options, name):
    with pytest.raises(ParameterError, match=f"`{name}` must"):
        read_table(write(tmp_path, GOOD), **options)


def test_missing_file_suggests_the_near_one(tmp_path):
    write(tmp_path, GOOD, "measurements.csv")
    with pytest.raises(DataError, match=r"no file .*measurments.csv'; did you mean '.*measurements.csv'"):
        read_table(tmp_path / "measurments.csv")
    with pytest.raises(DataError, match=r"no file .*check the name"):
        read_table(tmp_path / "nowhere" / "x.csv")


def test_folder_and_foreign_kinds_are_refused(tmp_path):
    with pytest.raises(DataError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(DataError, match=r"\.xlsx.*CSV or Parquet"):
        read_table(write(tmp_path, b"PK", "book.xlsx"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a POSIX thing")
def test_pipe_is_refused_without_waiting_for_it(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match="not a regular file"):
        read_table(tmp_path / "pipe.csv")


@pytest.mark.parametrize("content", [b"not packed at all", gzip.compress(GOOD.encode() * 50, mtime=0)[:40]])
def test_damaged_gzip(tmp_path, content):
    with pytest.raises(DataError, match="cannot be unpacked"):
        read_table(write(tmp_path, content, "x.csv.gz"))


def test_damaged_and_empty_parquet(tmp_path):
    with pytest.raises(DataError, match="not a readable Parquet file"):
        read_table(write(tmp_path, GOOD, "x.parquet"))
    pd.DataFrame({"a": []}).to_parquet(tmp_path / "empty.parquet")
    with pytest.raises(DataError, match="no rows"):
        read_table(tmp_path / "empty.parquet")


def test_parquet_dates_are_not_numbers(tmp_path):
    pd.DataFrame({"a": [1.0], "day": pd.to_datetime(["2020-01-01"])}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(DataError, match=r"'day' .*2020-01-01"):
        read_table(tmp_path / "x.parquet")


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    path = write(tmp_path, b"PAR1", "x.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'heterodag\[parquet\]'"):
        read_table(path)
