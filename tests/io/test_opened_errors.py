"""Bad tables on disk: one sentence that names the file, and nothing left behind."""

from __future__ import annotations

import errno
import gzip
import os
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from heterodag import open_table
from heterodag.errors import DataError, ParameterError
from heterodag.io import text_blocks
from heterodag.io.tables import read_table


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory, monkeypatch):
    """Nothing may be left in the folder for temporary files."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 10 rows of 3 columns."""
    monkeypatch.setattr(text_blocks, "BLOCK_CELLS", 30)


def frame(n=50, **columns):
    values = np.random.default_rng(0).standard_normal((n, 3))
    return pd.DataFrame(values, columns=list("abc")).assign(**columns)


def said(source, **options):
    with pytest.raises(DataError) as caught:
        open_table(source, **options)
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


# --- files and folders -------------------------------------------------------------------------------------


def test_files_of_a_folder_must_have_the_same_columns():
    frame().to_parquet("1.parquet")
    frame().rename(columns={"b": "z"}).to_parquet("2.parquet")
    assert said(".") == (
        "Files '1.parquet' and '2.parquet' have different columns: the second lacks 'b' and also has 'z'"
        "; give files of one table, or choose the columns they share."
    )
    assert open_table("*.parquet", columns=["c", "a"]).shape == (100, 2)
    assert said("*.parquet", columns=["b"]).startswith("Files '1.parquet' and '2.parquet' have different columns")


def test_text_dates_and_nested_columns_are_named_with_their_file():
    frame().to_parquet("1.parquet")
    frame().assign(b="Ulm").to_parquet("2.parquet")
    sentence = said(["1.parquet", "2.parquet"])
    assert sentence.startswith("Column 'b' (")
    assert sentence.endswith(
        "for example 'Ulm') of '2.parquet' holds no numbers; turn it into numbers, or leave it out with --drop 'b'."
    )
    frame(when=pd.Timestamp("2020-01-01"), how=[[1]] * 50).to_parquet("3.parquet")
    assert "Columns 'when' (timestamp" in said("3.parquet")
    assert open_table("3.parquet", drop=["when", "how"]).names == ["a", "b", "c"]
    loose = open_table("3.parquet", strict=False)
    assert (loose.names, loose.text["how"]) == (["a", "b", "c"], [1])


@pytest.mark.parametrize("cut", [3, 200, -100])
def test_a_truncated_file_is_named(cut):
    frame().to_parquet("good.parquet")
    Path("bad.parquet").write_bytes(Path("good.parquet").read_bytes()[:cut])
    assert said(["good.parquet", "bad.parquet"]).startswith("File 'bad.parquet' is not a readable Parquet file (")


def test_folders_and_patterns_without_files():
    Path("empty").mkdir()
    assert said("empty").startswith("Folder 'empty' holds no Parquet files; give a folder that does")
    Path("empty/below").mkdir()
    assert os.path.join("empty", "**", "*.parquet") in said("empty")
    assert said("none/*.parquet") == (
        "No file matches 'none/*.parquet'; check the pattern and the folder it starts from."
    )
    assert said("no.parquet").startswith("There is no file 'no.parquet'")


def test_tables_without_rows():
    frame().head(0).to_parquet("1.parquet")
    assert said("1.parquet") == "There are no rows of data in '1.parquet'; at least one is needed."
    Path("1.csv").write_text("a,b,c\n")
    assert said("1.csv").startswith("File '1.csv' has a header row but no rows of data")


def test_other_kinds_of_files():
    frame().to_excel("1.xlsx")
    assert said("1.xlsx") == (
        "File '1.xlsx' is an Excel file, which cannot be read in parts; save it as plain Parquet or CSV."
    )
    frame().to_parquet("1.parquet")
    Path("1.parquet.gz").write_bytes(gzip.compress(Path("1.parquet").read_bytes()))
    assert "is a packed Parquet file" in said("1.parquet.gz")


def test_columns_that_are_not_there():
    frame().to_parquet("1.parquet")
    with pytest.raises(ParameterError, match="`columns` must name columns of the table; got 'A'"):
        open_table("1.parquet", columns=["A"])
    with pytest.raises(ParameterError, match="It repeats 'a'"):
        open_table("1.parquet", columns=["a", "a"])
    assert said("1.parquet", drop=["a", "b", "c"]) == "No column of '1.parquet' is left; drop fewer columns."
    with pytest.raises(ParameterError, match="`rows_per_part` must be a whole number"):
        open_table("1.parquet", rows_per_part=0)


# --- after opening -----------------------------------------------------------------------------------------


def test_a_file_that_goes_away_or_changes_is_named_when_it_is_read():
    frame().to_parquet("1.parquet", row_group_size=10)
    table = open_table("1.parquet", rows_per_part=10)
    table.parts[0].read()
    frame(15).to_parquet("1.parquet", row_group_size=10)
    with pytest.raises(
        DataError, match=r"File '1\.parquet' has changed since the table was opened \(it has fewer row"
    ):
        table.parts[4].read()
    frame(5).to_parquet("1.parquet", row_group_size=10)
    with pytest.raises(DataError, match=r"has changed since the table was opened \(it has fewer rows"):
        table.parts[0].read()
    os.remove("1.parquet")
    with pytest.raises(DataError, match=r"File '1\.parquet' could be opened but not be read \("):
        table.parts[1].read()


def test_a_damaged_row_group_is_found_when_it_is_read():
    frame(5000).to_parquet("1.parquet", compression="gzip")
    table = open_table("1.parquet")
    content = bytearray(Path("1.parquet").read_bytes())
    content[2000:3000] = bytes(1000)
    Path("1.parquet").write_bytes(content)
    with pytest.raises(DataError, match=r"File '1\.parquet' could be opened but not be read"):
        table.parts[0].read()


# --- text --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "reading"),
    [
        ("1.csv", {}, {}),
        ("1.tsv.gz", {"sep": "\t"}, {}),
        ("1.csv.xz", {"sep": ";", "decimal": ","}, {"decimal": ","}),
        ("1.txt", {"sep": " "}, {"delimiter": "space"}),
        ("1.csv", {"encoding": "utf-16"}, {}),
        ("1.csv", {"header": False}, {"header": False}),
    ],
)
def test_text_is_read_as_by_the_reader_in_memory(small_blocks, name, options, reading):
    frame().to_csv(name, index=False, **options)
    expected = read_table(name, **reading)
    with open_table(name, **reading) as table:
        pd.testing.assert_frame_equal(table.head(50), expected, check_index_type=False)
        assert table.parts[0].label == f"file '{name}', rows 0 to 49"


def test_comments_empty_cells_words_and_quotes(small_blocks):
    body = "".join(
        f"{k},{'NA' if k == 13 else k / 2},{k % 2 == 0}\n" + ("# no\n" if k % 7 == 0 else "") for k in range(40)
    )
    Path("1.csv").write_text('# made by hand\na,"b,\nc",yes\n\n' + body + '1,"2",?\n')
    with open_table("1.csv", comment="#", na_values=["?"]) as table:
        expected = read_table("1.csv", comment="#", na_values=["?"], strict=False)
        assert table.names == ["a", "b,\nc", "yes"]
        np.testing.assert_array_equal(table.head(50), expected.astype(float))
        assert np.argwhere(np.isnan(table.head(50).to_numpy())).tolist() == [[13, 1], [40, 2]]


@pytest.mark.parametrize("line", [3, 11, 12, 13, 30, 51])
@pytest.mark.parametrize(
    ("text", "said_of"), [("1,2", "has 2 fields"), ("1,2,3,4", "has 4 fields"), ("7", "has 1 field")]
)
def test_no_row_is_filled_up_or_shifted_wherever_it_stands(small_blocks, line, text, said_of):
    """Also at the first and last row of a block, which are lines 2, 11, 12 and so on."""
    lines = ["a,b,c", *(f"{k},{k * k},{k + 0.5}" for k in range(50))]
    lines[line - 1] = text
    Path("1.csv").write_text("\n".join(lines) + "\n")
    assert said("1.csv") == f"Line {line} of '1.csv' {said_of} where 3 are expected; fix that line."


def test_cells_that_are_no_numbers_are_told_with_their_row(small_blocks):
    table = frame().astype(object)
    table.loc[37, "b"] = "n.d."
    table.to_csv("1.csv", index=False)
    assert said("1.csv") == (
        "Column 'b' ('n.d.' in data row 38) of '1.csv' is not numeric; turn it into numbers, or leave it out with "
        "--drop 'b'."
    )
    assert open_table("1.csv", drop=["b"]).shape == (50, 2)
    table["b"] = [*[True] * 20, *range(30)]
    table.to_csv("1.csv", index=False)
    assert said("1.csv").startswith("Column 'b' of '1.csv' holds True and False in some rows and numbers in others")


def test_damaged_text_is_named(small_blocks):
    frame().to_csv("1.csv.gz", index=False)
    Path("1.csv.gz").write_bytes(Path("1.csv.gz").read_bytes()[:-200])
    assert said("1.csv.gz").startswith("File '1.csv.gz' cannot be unpacked (")
    frame().to_csv("2.csv", index=False)
    with Path("2.csv").open("ab") as file:
        file.write(b"1,2,\xe9\n")
    assert said("2.csv").startswith("File '2.csv' is not UTF-8 text (byte 0xe9 on line 52)")
    lines = Path("2.csv").read_bytes().splitlines()[:51]
    Path("3.csv").write_bytes(b"\n".join([*lines[:20], b'1,"2,3', *lines[20:]]))
    assert said("3.csv") == "A quote that opens on line 21 of '3.csv' does not close; fix that line."


def test_row_names_must_be_set_aside():
    frame().to_csv("1.csv")
    assert said("1.csv").startswith("Column 1 of '1.csv' has no name (probably row names)")
    assert open_table("1.csv", drop=["Unnamed: 0"]).names == ["a", "b", "c"]


def test_a_full_disk_is_told_with_its_folder(monkeypatch, temporary):
    import pyarrow.parquet as pq

    frame().to_csv("1.csv", index=False)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    assert said("1.csv") == (
        f"Folder '{temporary}' is full, to which the table was being converted: set the environment variable TMPDIR to a "
        "folder with more room, or convert the table to Parquet yourself and open that."
    )


def test_a_full_disk_is_told_of_a_lazy_frame_too(monkeypatch):
    def full(*_, **__):
        raise pl.exceptions.ComputeError("underlying IO error: No space left on device (os error 28)")

    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", full)
    assert "is full, to which the table was being converted" in said(pl.from_pandas(frame()).lazy())


def test_an_interrupted_conversion_leaves_nothing(monkeypatch):
    frame().to_csv("1.csv", index=False)

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(text_blocks, "check_numeric", stop)
    with pytest.raises(KeyboardInterrupt):
        open_table("1.csv")
