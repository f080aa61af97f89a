"""Names as people see them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heterodag.viz.names import fitting, isolated, printable, shorten, text_width, visible


@pytest.mark.parametrize(
    ("name", "longest", "short"),
    [
        ("a" * 18, 18, "a" * 18),
        ("pressure before treatment", 18, "pressure …reatment"),
        ("measurement_left_1", 10, "measu…ft_1"),
        ("测量值的一个非常长的名字", 10, "测量…名字"),
        ("e\u0301" * 12, 12, "e\u0301" * 12),
        ("e\u0301" * 13, 12, "e\u0301" * 6 + "…" + "e\u0301" * 5),
    ],
)
def test_long_names_lose_their_middle(name, longest, short):
    assert shorten(name, longest) == short


@given(st.text(max_size=60), st.integers(4, 30))
def test_a_short_name_keeps_its_ends(name, longest):
    short = shorten(name, longest)
    if short != name:
        first, last = short.split("…")[0], short.split("…")[-1]
        assert name.startswith(first)
        assert name.endswith(last)
        assert len(short) < len(name) + 1


def test_what_would_not_print_becomes_a_sign():
    assert visible("a\x00b\x7f\u202ec\u2067\ud800") == "a\ufffdb\ufffd\ufffdc\ufffd\ufffd"
    assert visible("two\r\nlines\tand a tab") == "two lines and a tab"
    assert printable("a\nb\x00\u2068c\u2069") == "a\nb\ufffd\u2068c\u2069"
    assert visible("测量 🧬 é") == "测量 🧬 é"


def test_widths_follow_the_letters():
    assert text_width("iiii", 10) < text_width("nnnn", 10) < text_width("WWWW", 10)
    assert text_width("测", 10) == 2 * text_width("测", 5) > text_width("n", 10)
    assert text_width("e\u0301", 10) == text_width("e", 10)


def test_labels_fit_their_room():
    assert fitting("short", 100, 13) == "short"
    for name in ("W" * 60, "测" * 60, "i" * 60):
        short = fitting(name, 100, 13)
        assert text_width(short, 13) <= 100 < text_width(shorten(name, len(short) + 12), 13)


def test_names_from_right_to_left_are_kept_apart():
    assert isolated("a → b", ["a", "b"]) == "a → b"
    assert isolated("عمر → دخل", ["عمر", "دخل"]) == "\u2068عمر\u2069 → \u2068دخل\u2069"
    assert isolated("عمر عمر2", ["عمر", "عمر2"], "<", ">") == "<عمر> <عمر2>"
