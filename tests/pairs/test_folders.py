"""Folders in the Tuebingen format: what is read, what is left out with a sentence, what is refused with one."""

import numpy as np
import pytest

from heterodag.errors import DataError
from heterodag.pairs import read_pairs

ROWS = "1 2.5\n-3e1\t4\n\n5 6\n"


def folder(path, meta=None, **files):
    for name, text in files.items():
        (path / f"{name}.txt").write_text(text, encoding="utf-8")
    if meta is not None:
        (path / "pairmeta.txt").write_text(meta, encoding="utf-8")
    return path


def test_columns_truth_and_weight(tmp_path):
    found = read_pairs(
        folder(tmp_path, "0001 1 1 2 2 1\n0002 2 2 1 1 0.25\n", pair0001=ROWS, pair0002=ROWS, pair0001_des="words")
    )
    assert [(pair.name, pair.truth, pair.weight) for pair in found.pairs] == [
        ("pair0001", "->", 1.0),
        ("pair0002", "<-", 0.25),
    ]
    np.testing.assert_array_equal(found.pairs[0].x, [1, -30, 5])
    np.testing.assert_array_equal(found.pairs[1].y, [2.5, 4, 6])
    assert found.skipped == []


def test_pairs_of_several_columns_and_unknown_files_are_left_out_with_a_sentence(tmp_path):
    meta = "1 1 1 2 2 1\n2 1 2 3 3 1\n3 1 1 2 4 1\n"
    wide = "1 2 3 4\n5 6 7 8\n"
    found = read_pairs(folder(tmp_path, meta, pair0001=ROWS, pair0002=wide, pair0003=wide, pair0004=ROWS))
    assert [pair.name for pair in found.pairs] == ["pair0001"]
    assert found.skipped == [
        "pair0002.txt was left out: its cause or effect has several columns.",
        "pair0003.txt was left out: its cause or effect has several columns.",
        "pair0004.txt is not in pairmeta.txt and was left out.",
    ]


def test_without_meta_the_truth_is_not_known(tmp_path):
    found = read_pairs(folder(tmp_path, pair0007=ROWS))
    assert [(pair.name, pair.truth, pair.weight) for pair in found.pairs] == [("pair0007", None, 1.0)]


def test_a_missing_value_is_kept_for_the_decision_to_judge(tmp_path):
    assert np.isnan(read_pairs(folder(tmp_path, pair0001="nan 1\n2 3\n")).pairs[0].x[0])


@pytest.mark.parametrize(
    ("meta", "files", "message"),
    [
        (None, {}, "holds no pairs"),
        ("1 1 1 2 2\n", {"pair0001": ROWS}, "pairmeta.txt, line 1: six numbers are expected"),
        ("1 1 1 2 2 -1\n", {"pair0001": ROWS}, "pairmeta.txt, line 1: six numbers"),
        ("1 1 1 2 2 inf\n", {"pair0001": ROWS}, "pairmeta.txt, line 1: six numbers"),
        ("1 1.5 1 2 2 1\n", {"pair0001": ROWS}, "pairmeta.txt, line 1: six numbers"),
        ("1 nan 1 2 2 1\n", {"pair0001": ROWS}, "pairmeta.txt, line 1: six numbers"),
        ("1 1 1 1 1 1\n", {"pair0001": ROWS}, "must be different columns"),
        ("1 1 1 2 2 1\n1 2 2 1 1 1\n", {"pair0001": ROWS}, "line 2: pair 1 is there twice"),
        ("1 1 1 2 2 1\n9 1 1 2 2 1\n", {"pair0001": ROWS}, "names pair 9, but its file is not in"),
        ("1 1 1 3 3 1\n", {"pair0001": ROWS}, r"has 2 column\(s\), but column 3 is asked for"),
        (None, {"pair0001": "1 2\n3\n"}, "pair0001.txt, line 2: 1 numbers, where the first line has 2"),
        (None, {"pair0001": "a b\n1 2\n"}, "pair0001.txt, line 1: 'a b' is not a line of numbers"),
        (None, {"pair0001": "\n"}, "pair0001.txt is empty"),
        (None, {"pair0001": ROWS, "pair1": ROWS}, "pair0001.txt and pair1.txt have the same number"),
    ],
)
def test_bad_folders_get_one_sentence(tmp_path, meta, files, message):
    with pytest.raises(DataError, match=message):
        read_pairs(folder(tmp_path, meta, **files))


def test_no_folder_and_no_text(tmp_path):
    with pytest.raises(DataError, match="There is no folder"):
        read_pairs(tmp_path / "nowhere")
    (tmp_path / "pair0001.txt").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(DataError, match=r"pair0001.txt cannot be read as text: save it as plain text in UTF-8"):
        read_pairs(tmp_path)
    with pytest.raises(DataError, match="is a file; give the folder"):
        read_pairs(tmp_path / "pair0001.txt")
