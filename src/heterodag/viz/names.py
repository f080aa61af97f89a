"""Prepare column names for display: shorten, make printable, measure, and isolate right-to-left names.

A name can hold anything: Arabic, emoji, control characters, a thousand letters. Figures and report handle all of this
with these functions.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

# Control characters, marks that change the direction of a line, and halves of surrogate pairs: invisible or harmful.
_UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\ud800-\udfff]")
_ISOLATES = re.compile("[\u2066-\u2069]")
# Marks that join or change the character before them: a name is never cut in front of one.
_JOINING = re.compile("[\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")
# Widths in units of the font size, those of DejaVu Sans, which is wider than most system fonts, so that boxes are
# large enough.
_NARROW, _WIDE = re.compile(r"[ijlI.,:;'|!()\[\]ftr \-/]"), re.compile(r"[mwMW@%—…→]")


def visible(name: str) -> str:
    """Return a name in one line, with a visible sign in place of every character that would not print."""
    return printable(_ISOLATES.sub("\ufffd", re.sub(r"[\t\r\n]+", " ", name)))


def printable(text: str) -> str:
    """Return a text of several lines with a visible sign for what would not print; the marks of `isolated` stay."""
    return _UNSEEN.sub("\ufffd", text)


def shorten(name: str, longest: int = 18) -> str:
    """Return the name, without its middle if it is longer than `longest` columns.

    A Chinese character or an emoji takes two columns, an accent none. The beginning and the end are kept because they
    tell similar names apart.
    """
    columns = [_columns(character) for character in name]
    if sum(columns) <= longest:
        return name
    first = _cut(columns, longest // 2)
    last = len(name) - _cut(columns[::-1], (longest - 1) // 2)
    while first > 0 and _columns(name[first]) == 0:
        first -= 1
    while last < len(name) and _columns(name[last]) == 0:
        last += 1
    return f"{name[:first]}…{name[last:]}"


def _cut(columns: list[int], room: int) -> int:
    """Return how many characters fit into the room."""
    used = 0
    for count, width in enumerate(columns):
        used += width
        if used > room:
            return count
    return len(columns)


def _columns(character: str) -> int:
    if _JOINING.match(character) or unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def text_width(text: str, size: float) -> float:
    """Return roughly how many pixels a text takes in a sans-serif font of this size, rather too many than too few."""
    return size * sum(_width(character) for character in text)


def _width(character: str) -> float:
    if _columns(character) != 1:
        return 1.3 if _columns(character) else 0.0
    if _NARROW.match(character):
        return 0.42
    if _WIDE.match(character):
        return 1.0
    return 0.74 if character.isupper() or not character.isascii() else 0.645


def fitting(name: str, room: float, size: float) -> str:
    """Return the name, shortened until it fits into `room` pixels in a font of this size."""
    longest = 48
    while longest > 4 and text_width(shorten(name, longest), size) > room:
        longest -= 1
    return shorten(name, longest)


def isolated(text: str, names: Iterable[str], before: str = "\u2068", after: str = "\u2069") -> str:
    """Return the text with marks around the names in it that are written from right to left.

    Without them, a browser shows "A → B" with two Arabic names as "B → A".

    Parameters
    ----------
    text : str
        A sentence or label.
    names : iterable of str
        Names that may appear in it.
    before, after : str
        The marks; by default those of Unicode (first strong isolate).
    """
    turning = [name for name in names if any(unicodedata.bidirectional(c) in ("R", "AL") for c in name)]
    if not turning:
        return text
    pattern = "|".join(re.escape(name) for name in sorted(turning, key=len, reverse=True))
    return re.sub(pattern, lambda match: f"{before}{match.group()}{after}", text)
