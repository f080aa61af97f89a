"""docs/reproduction.md with its pictures and tables, from stored rows: `python benchmarks/reproduction_page.py`.

The rows are made by `heterodag reproduce all --out benchmarks/results/reproduction`, which goes on from those that are
there. `--rows FILE` takes rows from another run in as well.
"""

import argparse
from collections import Counter
from pathlib import Path

from heterodag.experiments.catalogue import EXPERIMENTS
from heterodag.experiments.methods import METHODS
from heterodag.experiments.outputs import summary_of, tables_of, write_outputs
from heterodag.experiments.store import RowStore
from heterodag.experiments.summary_tables import markdown
from reproduction_claims import measured, notes

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "reproduction"
PICTURES = ROOT / "docs" / "images" / "reproduction"
PAGE = ROOT / "docs" / "reproduction.md"

HEAD = """# The paper's evaluation, run again

HOST (heterodag) here means the former default, `HOST(parametrization="linear", form="natural", noise="gaussian")`.

Made before the engine of the unreleased version (see the changelog); the figures of HOST() may differ slightly now.

Ten figures and a table of Duong and Nguyen (2023), each made by one command from nothing:

```
heterodag reproduce --list                      # names, settings, time to expect
heterodag reproduce sample-size                 # one of them, at the paper's scale
heterodag reproduce all --scale quick           # all, smaller
heterodag reproduce all --backend dask --scheduler tcp://10.0.0.1:8786
```

This page is written by `python benchmarks/reproduction_page.py` from the rows in `benchmarks/results/reproduction`,
which `heterodag reproduce all --scale full --out benchmarks/results/reproduction` makes. Every measured number on
it, also in sentences, is computed from these rows.

How to read it:
- **HOST (paper)** is `HOST.paper()`: order by W alone, layers of 1e-4, the paper's edge test. **HOST (heterodag)** is
  `HOST()` as it comes, with its own edges; "HOST (heterodag), LCIT" is its order with the paper's edge test.
- Simulated tables follow the authors' published generator (`simulate(version="code")`), five per setting, on seeds that are
  derived from the names of the data sets. All methods see the same tables, as they are (not scaled to variance 1).
- Edges of the others, and of HOST (paper): LCIT or, where said, GAM selection (`gam-classical`), both at 0.001.
- The rivals are this package's own ([other methods](other-methods.md)), not the programs that the paper ran. GOLEM and
  GraN-DAG come from gcastle.
- Shaded areas and brackets: 95 % t intervals over the tables, five where all were run; those over two tables are wide, and
  the axes need not show all of them. The paper does not print the numbers behind its
  figures; its claims are given in our words. Its sizes between 500 and 50,000 are our choice, as it does not list them.
- "As claimed" below: in at least 95 % of the settings; "mostly": at least 75 %; "only in part": at least half.
"""


def coverage(store):
    """Return a table of how many cells there are per method, how they ended, and how long they took."""
    wanted = {cell.name: cell for e in EXPERIMENTS.values() for cell in e.cells("full")}
    rows = store.rows(wanted.values())
    lines = []
    for name, method in METHODS.items():
        cells = [cell for cell in wanted.values() if cell.method == name]
        mine = [row for row in rows if row["method"] == name]
        ends = Counter(row["status"] for row in mine)
        hours = sum(row["seconds"] or 0 for row in mine) / 3600
        lines.append([
            method.label, f"{len(mine)} of {len(cells)}", str(ends["done"]), str(ends["timeout"]), str(ends["error"]),
            f"{hours:.1f}",
        ])  # fmt: skip
    return markdown(["method", "cells run", "done", "timeout", "error", "hours"], lines)


def failures(store):
    """Return which cells did not finish, grouped."""
    rows = [row for row in store.rows() if row["status"] != "done" and row["budget"] == "full"]
    if not rows:
        return "Every cell that was run has finished.\n"
    groups = Counter(
        (row["method"], row["graph"] or row["source"], row["n"], row["d"], row["status"], row["message"])
        for row in rows
    )
    lines = [[*map(str, key[:5]), str(count), key[5]] for key, count in sorted(groups.items())]
    return markdown(["method", "data", "n", "d", "ended with", "cells", "message"], lines)


def section(experiment, rows):
    """Return the part of the page about an experiment."""
    summary = summary_of(experiment, rows)
    lines = [f"## {experiment.name}: {experiment.title}", "", f"Setting: {experiment.setting}.", ""]
    claim, why = notes()[experiment.name]
    lines += [claim, ""]
    sentences = measured(experiment, summary, rows)
    lines += ["**Measured.**", *(f"- {sentence}" for sentence in sentences), ""]
    if why:
        lines += [why, ""]
    table = tables_of(experiment, summary).rstrip()
    if experiment.axis == "table":
        return "\n".join([*lines, "Mean ± standard error.", "", table, ""])
    if not summary.empty:
        lines += [f"![{experiment.title}](images/reproduction/{experiment.name}.svg)", ""]
    if experiment.name == "runtime":
        explained = (
            "Exponent of the mean time: the slope of log time on log size, over all sizes and over the upper half."
        )
        return "\n".join([*lines, explained, "", table, ""])
    return "\n".join([*lines, "<details><summary>The numbers</summary>", "", table, "", "</details>", ""])


def add_rows(store, path):
    """Take in the rows of another run."""
    known = {found["cell"] for found in store.rows()}
    for row in RowStore(path.parent).rows():
        if row["cell"] not in known:
            store.add(row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, help="rows.jsonl of another run, to be taken in first")
    options = parser.parse_args()
    store = RowStore(RESULTS)
    store.prepare()
    if options.rows and not (options.rows.name == "rows.jsonl" and options.rows.exists()):
        parser.error("--rows must be the rows.jsonl of a run")
    if options.rows:
        add_rows(store, options.rows)
    parts = [HEAD, "## What was run", "", coverage(store), "Cells that did not finish:", "", failures(store)]
    for experiment in EXPERIMENTS.values():
        rows = store.rows(experiment.cells("full"))
        write_outputs(experiment, rows, RESULTS, PICTURES)
        parts.append(section(experiment, rows))
    PAGE.write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
