"""Good files come back as numbers; every bad file gives one sentence that names the right thing."""

import bz2
import gzip
import io
import lzma
import os
import sys

import numpy as np
import pandas as pd
import pytest

from heterodag.errors import DataError, DataWarning, MissingExtraError, ParameterError
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
        (GOOD.encode("utf-32"), "bom32.csv", {}),
        (gzip.compress(GOOD.encode(), mtime=0), "data.csv.gz", {}),
        (bz2.compress(GOOD.encode()), "data.csv.bz2", {}),
        (lzma.compress(GOOD.encode()), "data.tsv.xz", {}),
        (gzip.compress(GOOD.encode(), mtime=0), "packed-all-the-same.csv", {}),
        (bz2.compress(GOOD.encode()), "packed-all-the-same.csv", {}),
        ("# by hand\n#\n" + GOOD.replace("4,", "  # wrong\n4,"), "comments.csv", {"comment": "#"}),
        ("// by hand\r\n" + GOOD, "comments.csv", {"comment": "//"}),
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
    "open quote": ('a,b\n1,2\n"3,4\n5,6\n', {}, ["A quote that opens on line 3", "does not close"]),
    "title": ("Table 1\na,b,c\n1,2,3\n", {}, ["first line", "'Table 1'", "1 field", "3", "delete the lines above"]),
    "units": ("a,b\nmg,kg\n1,2\n", {}, ["'mg' and 'kg'", "perhaps units", "delete that row"]),
    "commas": ('a,b\n"1,000",2\n"2,500",3\n', {}, ["'1,000'", "--decimal , if", "between thousands"]),
    "thousands": ("a;b\n1.000,5;2\n", {}, ["'1.000,5'", "thousands separators"]),
    "narrow blanks": ("a,b\n1\u202f000,2\n", {}, ["thousands separators"]),
    "page": ("<!DOCTYPE html>\n<p>1,2</p>\n", {}, ["is a page or XML", "read_html"]),
    "JSON": ('[{"a": 1, "b": 2}]\n', {}, ["is JSON", "read_json"]),
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
    "beyond floats": (f"a,b\n1,{'9' * 400}\n2,3\n", {}, ["'b' (1)", "beyond 1.8e308"]),
    "latin-1": ("a,caf\xe9\n1,2\n".encode("latin-1"), {}, ["not UTF-8", "0xe9", "line 1", "--encoding cp1252"]),
    "Windows": ("a;Gr\xf6\xdfe in \u20ac;b\n1;2;3\n".encode("cp1252"), {}, ["'Größe'", "--encoding cp1252"]),
    "Cyrillic": (b"a,\x81\x8d\n1,2\n", {}, ["0x81", "--encoding, for example latin-1"]),
    "utf-16-le without mark": (GOOD.encode("utf-16-le"), {}, ["NUL bytes", "pass --encoding utf-16-le."]),
    "utf-16-be without mark": (GOOD.encode("utf-16-be"), {}, ["NUL bytes", "pass --encoding utf-16-be."]),
    "comments": ("# made by x\n# on Monday\n" + GOOD, {}, ["begins with a comment ('# made by x')", "--comment '#'"]),
    "a comment with cells": ("%a, b\n" + GOOD, {}, ["begins with a comment", "--comment '%'"]),
    "nothing but comments": ("#a\n#b\n", {"comment": "#"}, ["nothing but comments"]),
    "comments throughout": ("#a\n" * 30, {}, ["begins with a comment"]),
    "short row after comments": ("#\na,b\n1,2\n#\n3\n", {"comment": "#"}, ["Line 5", "1 field "]),
    "latin-1 below": (b"a,b\n" + b"1,2\n" * 3000 + b"3,\xff\n", {}, ["0xff", "line 3002", "--encoding"]),
    "wrong encoding": ("a,\xe9\n1,2\n".encode(), {"encoding": "ascii"}, ["not ascii", "--encoding"]),
    "binary": (b"\x7fELF\0\0\0\0", {}, ["NUL bytes", "--encoding"]),
    "zip": (b"PK\x03\x04\0\0\0\0", {}, ["is a zip archive", "unpack it"]),
    "old Excel": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0", {}, ["old Excel file (.xls)", "save it as .xlsx"]),
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
        ({"delimiter": "\n"}, "delimiter"),
        ({"delimiter": '"'}, "delimiter"),
        ({"delimiter": "", "decimal": "."}, "delimiter"),
        ({"decimal": ";"}, "decimal"),
        ({"encoding": "klingon"}, "encoding"),
        ({"encoding": "base64"}, "encoding"),
        ({"comment": " "}, "comment"),
        ({"comment": ""}, "comment"),
        ({"sheet": "2"}, "sheet"),
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


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("a.xls", r"save it as \.xlsx or CSV"), ("a.ods", r"save it as \.xlsx or CSV"), ("a.zip", "unpack it"),
        ("a.csv.zst", "unpack it"), ("a.tar.gz", "unpack it"), ("a.PKL", "pandas.read_pickle"), ("a.npy", "numpy.load"),
        ("a.rds", r"write\.csv\(x, 'x\.csv', row\.names = FALSE\)"), ("a.feather", "pandas.read_feather"),
        ("a.sav", "pandas.read_spss"), ("a.dta", "pandas.read_stata"), ("a.sas7bdat", "pandas.read_sas"),
        ("a.h5", "pandas.read_hdf"), ("a.json", "pandas.read_json"), ("a.mat", "MATLAB"), ("a.sqlite", "export the table"),
    ],
)  # fmt: skip
def test_kinds_that_are_not_read_say_what_to_do(tmp_path, name, advice):
    with pytest.raises(DataError, match=rf"is of a kind that is not read \(\.\w+\); .*{advice}"):
        read_table(write(tmp_path, b"anything", name))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a POSIX thing")
def test_pipe_is_refused_without_waiting_for_it(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match="not a regular file"):
        read_table(tmp_path / "pipe.csv")


@pytest.mark.parametrize("packing", [gzip, bz2, lzma])
@pytest.mark.parametrize("damage", ["not packed", "cut off", "overwritten"])
def test_damaged_packed_files(tmp_path, packing, damage):
    whole = packing.compress("\n".join(["a,b", *(f"{k},{k * k}" for k in range(3000))]).encode())
    content = {
        "not packed": b"not packed at all",
        "cut off": whole[: len(whole) // 2],
        "overwritten": whole[:200] + b"\xff" * 300 + whole[500:],
    }[damage]
    ending = {gzip: "gz", bz2: "bz2", lzma: "xz"}[packing]
    with pytest.raises(DataError, match="cannot be unpacked"):
        read_table(write(tmp_path, content, f"x.csv.{ending}"))


class Piped:
    def __init__(self, content):
        self.buffer = io.BytesIO(content)


@pytest.mark.parametrize(
    "content",
    [GOOD.encode(), gzip.compress(GOOD.encode(), mtime=0), GOOD.encode("utf-16")],
    ids=["text", "packed", "utf-16"],
)
def test_standard_input(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", Piped(content))
    assert read_table("-").to_numpy().tolist() == [[1, 2.5, 3], [4, 5.5, 6]]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "Standard input is empty"),
        (b"a,b\n1,x\n", "of 'standard input' is not numeric"),
        (b"1,2\n", "--no-header"),
    ],
)
def test_bad_standard_input(monkeypatch, content, said):
    monkeypatch.setattr(sys, "stdin", Piped(content))
    with pytest.raises(DataError, match=said):
        read_table("-")


def test_parquet_from_standard_input_and_packed(tmp_path, monkeypatch):
    buffer = io.BytesIO()
    pd.DataFrame({"a": [1, 2], "b": [0.5, -999.0]}).to_parquet(buffer)
    monkeypatch.setattr(sys, "stdin", Piped(buffer.getvalue()))
    with pytest.warns(DataWarning, match="1 of 2 rows"):
        assert read_table("-", na_values=["-999"], missing="drop").to_numpy().tolist() == [[1, 0.5]]
    packed = write(tmp_path, gzip.compress(buffer.getvalue()), "x.parquet.gz")
    assert read_table(packed).shape == (2, 2)


def test_texts_for_empty_cells(tmp_path):
    path = write(tmp_path, "a;b\n1,5;?\n-999;2\n3,5;4\nNA;5\n")
    with pytest.raises(DataError, match=r"'a' \(2\) and 'b' \(1\) of .* have empty cells"):
        read_table(path, decimal=",", na_values=["?", "-999"])
    with pytest.warns(DataWarning, match="3 of 4 rows"):
        frame = read_table(path, decimal=",", na_values=["?", "-999"], missing="drop")
    assert frame.to_numpy().tolist() == [[3.5, 4.0]]


def test_a_header_may_begin_with_a_comment_mark(tmp_path):
    assert list(read_table(write(tmp_path, "#a,b\n1,2\n3,4\n")).columns) == ["#a", "b"]


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
