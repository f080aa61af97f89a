"""What the result pages share: links to the glossary, which version made the rows, collapsed parts."""

import argparse
import re
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from rows import AGAIN, MADE_BY, RESULTS, read

DOCS = Path(__file__).resolve().parents[1] / "docs"
SHD = "[structural Hamming distance (SHD)](glossary.md#the-errors)"
ORDER_DIVERGENCE = "[order divergence](glossary.md#the-errors)"

#: What a mere sort gives away in the tables of a benchmark; made by `sortability.py`.
SORTABILITY = RESULTS / "sortability.csv"
GIVEN_AWAY = (
    "*Varsortability* is the share of directed paths along which the variance rises: 0.5 says nothing, 1 and 0 give the "
    "order away. *R2-sortability* is the same for the variance that all other columns explain ([more](standard-graphs.md))."
)

#: The default before mechanisms competed; pages whose rows it made say so.
FORMER = (
    '"HOST" here is the *former default*, `HOST(parametrization="linear", form="natural", noise="gaussian")`. [Twelve kinds '
    "of data](worlds.md) shows what `HOST()` does now."
)


def take_no_arguments(description: str | None) -> None:
    """Answer --help, and refuse arguments, in programs that have none."""
    argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()


def made_with(*names: str, what: str = "`HOST()` is the current default.") -> str:
    """Return the paragraph on versions: which commits made the rows of these files, and whether they come out again."""
    known, checked = read(MADE_BY), {line["file"]: line for line in read(AGAIN)}
    texts = []
    for name in names:
        own = [line for line in known if line["file"] == name]
        *firsts, last = dict.fromkeys(f"`{line['commit']}`" for line in own)
        commits = f"{', '.join(firsts)} and {last}" if firsts else last
        versions = " and ".join(dict.fromkeys(line["version"] for line in own))
        text = f"The rows of {name} were made by commit {commits} (version {versions})"
        if name in checked:
            line = checked[name]
            text += f"; of {line['cells']} cells run again by `{line['commit']}`, {line['same']} came out the same"
        texts.append(f"{text}.")
    return f"**Version.** {' '.join([what, *texts])} [Which commit made which rows](results/made-by.md)."


def with_version(text: str, *names: str, what: str = "`HOST()` is the current default.") -> str:
    """Return a written page with its paragraph on versions made anew."""
    return re.sub(
        r"\*\*Version\.\*\*.*?(?=\n\n)", lambda _: prose(made_with(*names, what=what)), text, count=1, flags=re.DOTALL
    )


def sortabilities(benchmark: str) -> dict[str, tuple[float, float, int]]:
    """Return data -> means of varsortability and R2-sortability of a benchmark's tables, and their number."""
    out: dict[str, list[tuple[float, float]]] = {}
    for row in read(SORTABILITY):
        if row["benchmark"] == benchmark:
            out.setdefault(row["data"], []).append((float(row["varsortability"]), float(row["r2_sortability"])))
    return {data: (*np.mean(values, axis=0), len(values)) for data, values in out.items()}


def given_away(benchmark: str) -> list[str]:
    """Return the table of what a mere sort gives away in a benchmark's tables."""
    lines = ["| data | tables | varsortability | R2-sortability |", "|---|---:|---:|---:|"]
    for data, (variance, explained, count) in sortabilities(benchmark).items():
        lines.append(f"| {data} | {count} | {variance:.2f} | {explained:.2f} |")
    return lines


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
