"""Which version and commit made which rows, and which pages show them: `python benchmarks/made_by.py`.

Reads benchmarks/results/made_by.csv, to which runs of benchmarks add their commit, and writes docs/results/made-by.md.
"""

import re

from pages import DOCS, prose, take_no_arguments
from rows import AGAIN, MADE_BY, RESULTS, read

PAGE = DOCS / "results" / "made-by.md"
HEAD = """# Which commit made which rows

Every page of results is made from stored rows, and every figure is drawn from them. This page says which state of the
code made the rows. Commits between which the package did not change count as one. A plus after a commit: with changes
of the package that were not committed yet. Several commits: the rows were made in several runs. For rows that are older
than this list, it is the commit that stored them. Rows of a commit are made again by checking it out and running the
command on their page; seeds are fixed, so the numbers are the same except for times. Written by `python
benchmarks/made_by.py` from [made_by.csv](../../benchmarks/results/made_by.csv), to which `append_results` in
`benchmarks/rows.py` adds the commit of every run; a few older benchmarks do not use it.

**Do the rows come out again with the code as it is?** `python benchmarks/again.py` draws a few cells of a file at random,
runs them anew and compares everything but times and memory. *6 of 6*: so many cells were the same, all columns to six
digits. No figure: the rows are new, need a package that this comparison does not have, or take too long. Left out where
all columns have variance 1: VarSort's whole order and EqVar's first column are ties there, which rounding errors decide."""


def stored():
    """Return the files of rows, as names below the folder of results."""
    files = [*RESULTS.glob("*.csv"), *RESULTS.glob("*.txt"), RESULTS / "reproduction" / "rows.jsonl"]
    return sorted(path.relative_to(RESULTS).as_posix() for path in files if path not in (MADE_BY, AGAIN))


def pages_of(name):
    """Return the pages that are made from a file, as links."""
    folder = f"benchmarks/results/{name.removesuffix('/rows.jsonl')}"
    found = [
        path.relative_to(DOCS).as_posix()
        for path in sorted([*DOCS.glob("*.md"), *DOCS.glob("results/*.md")])
        if path != PAGE
        and not path.name.startswith("reproduction-")
        and re.search(rf"(?<![\w-]){re.escape(folder)}(?![\w-])", path.read_text(encoding="utf-8"))
    ]
    return ", ".join(f"[{page[:-3]}](../{page})" for page in found)


def told(line):
    """Return how many cells came out again, of how many, and with which commit."""
    return f"{line['same']} of {line['cells']} at {line['commit']}" if line else ""


def page():
    lines = [prose(HEAD), "", "| rows | shown on | version | commits | last made | come out again |"]
    lines.append("|---|---|---|---|---|---|")
    known, checked = read(MADE_BY), {line["file"]: line for line in read(AGAIN)}
    for name in stored():
        own = [line for line in known if line["file"] == name]
        commits = ", ".join(line["commit"] for line in own)
        versions = ", ".join(dict.fromkeys(line["version"] for line in own))
        last = max((line["date"] for line in own), default="")
        link = f"[{name}](../../benchmarks/results/{name})"
        lines.append(f"| {link} | {pages_of(name)} | {versions} | {commits} | {last} | {told(checked.get(name))} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    take_no_arguments(__doc__)
    PAGE.write_text(page(), encoding="utf-8")
