"""What the result pages share: links to the glossary, which version made the rows, collapsed parts."""

import re
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1] / "docs"
SHD = "[structural Hamming distance (SHD)](glossary.md#the-errors)"
ORDER_DIVERGENCE = "[order divergence](glossary.md#the-errors)"

#: Which version made the rows of a page; one of these stands on every page.
NOW = "**Version.** The rows were made by the current default, `HOST()`, of the version after 0.1.0."
FORMER = (
    '**Version.** "HOST" here is the *former default*, `HOST(parametrization="linear", form="natural", noise="gaussian")`. '
    "[Twelve kinds of data](worlds.md) shows what `HOST()` does now."
)
EARLIER = (
    "The rows are older than the present fitting engine (see the changelog). "
    "A new run may give slightly different numbers."
)


def rows_in(*names: str) -> str:
    """Return links to files of stored rows, for download."""
    return ", ".join(f"[{name}](../benchmarks/results/{name})" for name in names)


def details(summary: str, lines: Iterable[str]) -> list[str]:
    """Return the lines of a part that is shown when the reader asks for it."""
    return [f"<details><summary>{summary}</summary>", "", *lines, "", "</details>"]


def prose(text: str, /, **values: Any) -> str:
    """Return text with values and links put in, its paragraphs and list items folded again."""
    filled = text.format(shd=SHD, order_divergence=ORDER_DIVERGENCE, **values)
    return "\n\n".join(_folded(block) for block in filled.split("\n\n"))


def _folded(block: str) -> str:
    if block.startswith(("#", "|", "<", "```")):
        return block
    items = re.split(r"\n(?=- )", block)
    indent = "  " if block.startswith("- ") else ""
    return "\n".join(
        textwrap.fill(" ".join(item.split()), 120, subsequent_indent=indent, break_long_words=False,
                      break_on_hyphens=False)
        for item in items
    )  # fmt: skip
