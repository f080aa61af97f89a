"""Find the encoding of a text file; if decoding fails, suggest the encoding to pass."""

from __future__ import annotations

import codecs

from heterodag.errors import DataError, ParameterError
from heterodag.io.sources import Source


def encoding_of(source: Source, given: str | None) -> str:
    """Return Python's name of the encoding: the one given, what the byte order mark says, or UTF-8."""
    if given is None:
        return _found(source)
    try:
        known = codecs.lookup(given).name
        "".encode(known)  # some codecs, such as base64, are not for text
    except (LookupError, ValueError):
        raise ParameterError("encoding", "be an encoding that Python knows, such as 'latin-1'", given) from None
    # utf-8-sig reads plain UTF-8 as well, and keeps a byte order mark out of the first column's name.
    return "utf-8-sig" if known == "utf-8" else known


def _found(source: Source) -> str:
    start = source.start()
    if start.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in start:
        # In UTF-16, every other byte of plain letters and digits is zero.
        odd, even = start[1::2].count(0), start[::2].count(0)
        half = len(start) // 4
        likely = "utf-16-le" if odd > half > even else "utf-16-be" if even > half > odd else None
        advice = f"pass --encoding {likely}" if likely else "save it as CSV, or pass its encoding with --encoding"
        raise DataError(f"File '{source}' holds NUL bytes, so it is not a text table in UTF-8; {advice}.")
    return "utf-8-sig"


def undecodable(source: Source, encoding: str) -> str:
    """Return the message about a file that is not in this encoding: where it fails, and what to try."""
    shown = "UTF-8" if encoding == "utf-8-sig" else encoding
    with source.open() as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError as error:
                byte = f"byte 0x{line[error.start]:02x} on line {number}"
                return f"File '{source}' is not {shown} text ({byte}); {_advice(line, error.start, encoding)}."
            except UnicodeError:
                break
    return f"File '{source}' is not {shown} text; pass its encoding with --encoding."


def _advice(line: bytes, position: int, failed: str) -> str:
    """Return which encoding to pass: that of Western Windows programs, with the word it gives, if it can be used."""
    if failed != "utf-8-sig":
        return "pass another --encoding, or none for UTF-8"
    try:
        text = line.decode("cp1252")
    except UnicodeDecodeError:
        return "pass its encoding with --encoding, for example latin-1"
    before, after = text[:position], text[position:]
    start = max((before.rfind(mark) for mark in ',;\t" '), default=-1) + 1
    end = next((k for k, character in enumerate(after) if character in ',;\t" \r\n'), len(after))
    word = (before[start:] + after[:end])[:40]
    return f"if '{word}' is how it should read there, pass --encoding cp1252, else the encoding it is in"
