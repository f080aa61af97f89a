"""Excel files: sheets of numbers come back as numbers; titles, merged cells, dates and formulas get one sentence."""

import datetime
import gzip
import io
import sys

import openpyxl
import pandas as pd
import pytest

from heterodag.errors import DataError, DataWarning, MissingExtraError, ParameterError
from heterodag.io.tables import read_table

GOOD = [["a", "b", "c"], [1, 2.5, 3], [4, 5.5, 6]]


def save(path, rows, *more, at=(1, 1), merge=None):
    """Write rows to the first sheet, from a cell on, and further sheets (title, rows)."""
    book = openpyxl.Workbook()
    sheets = [(book.active, rows)] + [(book.create_sheet(title), below) for title, below in more]
    for sheet, content in sheets:
        for i, row in enumerate(content, start=at[0]):
            for j, value in enumerate(row, start=at[1]):
                sheet.cell(i, j, value)
    if merge:
        book.active.merge_cells(merge)
    book.save(path)
    return path


@pytest.fixture
def book(tmp_path):
    return lambda rows, *more, **options: save(tmp_path / "book.xlsx", rows, *more, **options)


@pytest.mark.parametrize(
    ("rows", "options", "layout"),
    [
        (GOOD, {}, {}),
        (GOOD, {}, {"at": (4, 3)}),
        ([[" a ", "b", "c"], [], *GOOD[1:2], [None, " ", None], *GOOD[2:], []], {}, {}),
        ([["id", "a", "b", "c"], ["r1", 1, 2.5, 3], ["r2", 4, 5.5, 6]], {"index_column": "id"}, {}),
        ([[None, "a", "b", "c"], [0, 1, 2.5, 3], [1, 4, 5.5, 6]], {"index_column": ""}, {}),
        ([["a", "b", "c", "day"], [1, 2.5, 3, datetime.date(2020, 1, 1)], [4, 5.5, 6, None]], {"drop": ["day"]}, {}),
        ([["a", "b", "c"], [1, "2.5", 3], [4, 5.5, 6]], {}, {}),
    ],
)
def test_sheets_of_numbers(book, rows, options, layout):
    frame = read_table(book(rows, **layout), **options)
    assert list(frame.columns) == ["a", "b", "c"]
    assert frame.to_numpy().tolist() == [[1, 2.5, 3], [4, 5.5, 6]]
    assert [dtype.kind for dtype in frame.dtypes] == ["i", "f", "i"]


def test_a_sheet_by_name_or_number(book):
    path = book([["notes"]], ("Data", GOOD), ("3", [["x"], [1]]))
    assert list(read_table(path, sheet="Data").columns) == ["a", "b", "c"]
    assert list(read_table(path, sheet="2").columns) == ["a", "b", "c"]
    assert list(read_table(path, sheet="3").columns) == ["x"]
    for wrong in ("data", "4", "0", "-1"):
        with pytest.raises(
            ParameterError, match=r"`sheet` must be one of 'Sheet', 'Data', '3', or a number from 1 to 3"
        ):
            read_table(path, sheet=wrong)


def test_names_may_be_numbers_and_texts_that_mean_empty_elsewhere(book):
    frame = read_table(book([["NA", 2019, 1.5], [1, 2, 3], [2, 4, 7]]))
    assert list(frame.columns) == ["NA", "2019", "1.5"]
    assert list(read_table(book(GOOD[1:]), header=False).columns) == ["x0", "x1", "x2"]
    assert list(read_table(book(GOOD[1:]), header=True).columns) == ["1", "2.5", "3"]


def test_truths_are_ones_and_zeros_and_empty_cells_are_missing(book):
    path = book([["a", "b"], [1.5, True], [2.5, False], ["#N/A", True], [-99, False]])
    with pytest.raises(DataError, match=r"'a' \(1\) of .* has empty cells"):
        read_table(path)
    with pytest.warns(DataWarning, match="2 of 4 rows"):
        frame = read_table(path, missing="drop", na_values=["-99"])
    assert frame.to_numpy().tolist() == [[1.5, 1], [2.5, 0]]


BAD = {
    "empty": ([], {}, ["Sheet 'Sheet'", "is empty", "--sheet"]),
    "header only": ([["a", "b"]], {}, ["no rows of data"]),
    "no header": ([[1, 2], [3, 4]], {}, ["no header row", "--no-header"]),
    "a title above": ([["Table 1"], ["a", "b", "c"], [1, 2, 3]], {}, ["names 1 of 3 columns", "delete titles"]),
    "merged names": ([["dose", None, "b"], [1, 2, 3]], {"merge": "A1:B1"}, ["Column 2", "no name", "merged cells"]),
    "repeated": ([["a", "a"], [1, 2]], {}, ["'a' appears more than once"]),
    "dates": ([["a", "day"], [1, datetime.datetime(2020, 1, 1)]], {}, ["'day'", "2020-01-01", "not numeric"]),
    "a date among numbers": ([["a"], [1], [datetime.datetime(2020, 1, 1)]], {}, ["2020-01-01", "data row 2"]),
    "times": ([["a", "t"], [1, datetime.time(12)]], {}, ["'t' ('12:00:00'", "not numeric"]),
    "text": ([["a", "b"], [1, "x"]], {}, ["'b' ('x' in data row 1)", "--drop 'b'"]),
    "a sum below": ([["g", "a"], [1, 2], ["Sum", 2]], {}, ["'g' ('Sum' in data row 2)"]),
    "errors of formulas": ([["a", "b"], [1, "#DIV/0!"]], {}, ["'b' ('#DIV/0!'"]),
    "formulas without results": (
        [["a", "b"], [1, "=A2*2"], [2, "=A3*2"]],
        {},
        ["formula", "row 2, column 2", "save"],
    ),
    "a formula without a result": ([["a", "b"], [1, 3], [2, "=A3*2"]], {}, ["formula", "row 3, column 2"]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_sheets_give_one_sentence(book, case):
    rows, layout, fragments = BAD[case]
    with pytest.raises(DataError) as caught:
        read_table(book(rows, **layout))
    message = str(caught.value)
    for fragment in fragments:
        assert fragment in message
    assert "book.xlsx" in message
    assert message.endswith(".")


def test_excel_by_content(tmp_path, monkeypatch):
    save(tmp_path / "book.xlsx", GOOD)
    content = (tmp_path / "book.xlsx").read_bytes()
    (tmp_path / "renamed.csv").write_bytes(content)
    (tmp_path / "packed.xlsx.gz").write_bytes(gzip.compress(content))
    for name in ("renamed.csv", "packed.xlsx.gz"):
        assert read_table(tmp_path / name).shape == (2, 3)
    monkeypatch.setattr(sys, "stdin", type("Piped", (), {"buffer": io.BytesIO(content)}))
    assert read_table("-").shape == (2, 3)


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"PK\x03\x04" + b"x" * 100])
def test_damaged_files(tmp_path, content):
    (tmp_path / "x.xlsx").write_bytes(content)
    with pytest.raises(DataError, match=r"x\.xlsx' is not a readable Excel file"):
        read_table(tmp_path / "x.xlsx")


def test_pandas_writes_what_is_read(tmp_path):
    frame = pd.DataFrame({"a": [0.1, 0.2], "b": [1, 2]})
    frame.to_excel(tmp_path / "x.xlsx", index=False)
    pd.testing.assert_frame_equal(read_table(tmp_path / "x.xlsx"), frame)


def test_without_openpyxl_the_extra_is_named(book, monkeypatch):
    path = book(GOOD)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'heterodag\[excel\]'"):
        read_table(path)
