"""The pictures of the report in the documentation: all there, all shown, all small."""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
LIMIT = 150_000


def test_every_picture_is_shown_and_small():
    shown = set(re.findall(r"images/(report-\w+\.png)", (DOCS / "report.md").read_text(encoding="utf-8")))
    files = {path.name: path.stat().st_size for path in (DOCS / "images").glob("report-*.png")}
    assert shown == set(files)
    assert len(files) >= 3
    assert max(files.values()) <= LIMIT


def test_the_command_writes_them():
    command = (DOCS.parent / "benchmarks" / "report_screenshots.py").read_text(encoding="utf-8")
    names = re.findall(r'^    \("(\w+)", \d+, \d+, "(?:light|dark)"', command, flags=re.MULTILINE)
    assert {f"report-{name}.png" for name in names} == {path.name for path in (DOCS / "images").glob("report-*.png")}
