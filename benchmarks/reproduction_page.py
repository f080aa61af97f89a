"""docs/reproduction.md, a page per experiment and the pictures, from stored rows: `python benchmarks/reproduction_page.py`.

The rows are made by `heterodag reproduce all --out benchmarks/results/reproduction`, which goes on from those that are
there. `--rows FILE` takes rows from another run in as well.
"""

import argparse
import re
from collections import Counter
from pathlib import Path

import pandas as pd

from heterodag.experiments.catalogue import EXPERIMENTS
from heterodag.experiments.methods import METHODS
from heterodag.experiments.outputs import summary_of, tables_of, write_outputs
from heterodag.experiments.store import RowStore
from heterodag.experiments.summary_tables import markdown
from pages import GIVEN_AWAY, given_away, made_with, prose
from reproduction_claims import claims, measured, notes, npvar_lines

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "reproduction"
PICTURES = ROOT / "docs" / "images" / "reproduction"
PAGE = ROOT / "docs" / "reproduction.md"

HEAD = """# The paper's evaluation, run again

Duong and Nguyen (2023), who introduced HOST, show its quality in ten figures and a table. We ran all of them
again. Of {count} claims that can be checked, {verdicts}. With 10 columns the paper's method (*HOST (paper)*) has
the best order in most settings, and less often the best graph; with more columns it does not lead. heterodag's own
default has the best mean of all methods in {won} of {settings} comparisons: {kinds} kinds of simulated tables, several
measures of each. Part of this is its own edge test: with LCIT edges for all methods its SHD is the lowest in {lcit[0]}
of {lcit[1]} kinds of tables, with GAM edges in {gam[0]} of {gam[1]}. On the Sachs data its order has {ours:.1f} errors
and that of HOST (paper) {paper:.1f}; a random order has 8.5 on average.

{version} Nothing was chosen on these tables: their seeds follow from the names of the data sets.

## Which claims hold

The paper says that HOST leads. *Best in 22 of 28* means: it has the best mean over the tables, ties included, in
22 of 28 settings; HOST (paper) among the methods of the paper, HOST (heterodag) among all. *Yes*: in at least 95 %
of the settings; *mostly*: in at least 75 %; *only in part*: in at least half. Each name leads to a page with what
the paper says, what we measured, our reasons, and all numbers. In *nonlinear*, HOST (paper) has networks."""
HOW = """\
## How it was done

Each figure is made by one command from nothing:

```
heterodag reproduce --list                      # names, settings, time to expect
heterodag reproduce sample-size                 # one of them, at the paper's scale
heterodag reproduce all --scale quick           # all, smaller
heterodag reproduce all --backend dask --scheduler tcp://10.0.0.1:8786
```

- **HOST (paper)** is `HOST.paper()`: order by W alone, layers of 1e-4, the paper's edge test. **HOST (heterodag)**
  has its own edges; "HOST (heterodag), LCIT" is its order with the paper's edge test.
- Simulated tables follow the authors' published generator (`simulate(version="code")`), five per setting, on seeds
  that are derived from the names of the data sets. All methods see the same tables, not scaled to variance 1.
- Edges of the other methods, and of HOST (paper), come from LCIT or, where said, from GAM selection
  (`gam-classical`), both at 0.001.
- The rivals are this package's own ([other methods](other-methods.md)), not the programs that the paper ran. GOLEM
  and GraN-DAG come from gcastle.
- Measures: {order_divergence}, {shd}, F1 of the edges, and AUC of the p-values.
- The paper does not print the numbers behind its figures; its claims are given in our words. It does not list its
  sizes between 500 and 50,000; those here are our choice.

This page and those of the experiments are written by `python benchmarks/reproduction_page.py` from the rows in
`benchmarks/results/reproduction`, which `heterodag reproduce all --scale full --out
benchmarks/results/reproduction` makes. Every measured number, also in sentences, is computed from these rows.

**What a sort gives away.** {given_away} EqVar, NPVar and VarSort use variances, and columns keep their units here:"""
PICTURES_HEAD = """\
## The figures

Shaded areas: 95 % t intervals over the five tables. They are wide, and the axes need not show all of them."""
READING = """\
"HOST (heterodag)" is the default, `HOST()`. [How it was done](../reproduction.md#how-it-was-done);
[measures](../glossary.md#the-errors). Written by `python benchmarks/reproduction_page.py`."""


#: Verdicts, and how the table of claims says them.
SHORT = {
    "as claimed": "yes",
    "mostly as claimed": "mostly",
    "only in part as claimed": "only in part",
    "not as claimed": "no",
}
#: What the cells of the tables are.
KINDS = {
    "": "Means, in brackets 95 % t intervals over the tables.",
    "sachs": "Mean ± standard error over the subsamples.",
    "runtime": "Exponent of the mean time: the slope of log time on log size, over all sizes and over the upper half.",
}


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


def link(experiment):
    return f"[{experiment.name}](results/reproduction-{experiment.name}.md)"


def claims_table(found):
    """Return the table of claims: `found` has an experiment and its claims in every entry."""
    lines = [
        [link(experiment), measure.replace("Structural Hamming distance", "SHD"), text, SHORT[holds], ours]
        for experiment, some in found
        for measure, text, holds, ours in some
    ]
    return markdown(["experiment", "measure", "HOST (paper)", "does the claim hold?", "HOST (heterodag)"], lines)


def counted(found):
    """Return in words how many claims hold, and how far."""
    ends = Counter(holds for _, some in found for _, _, holds, _ in some)
    yes, mostly, partly, no = (ends[name] for name in SHORT)
    return f"{yes} hold, {mostly} mostly hold, {partly} hold only in part, and {no} do not hold"


def led(found):
    """Return in how many settings our HOST has the best mean, and how many there are, over all claims that count them."""
    texts = (re.fullmatch(r"best in (\d+) of (\d+)", ours) for _, some in found for *_, ours in some)
    pairs = [tuple(map(int, text.groups())) for text in texts if text]
    return tuple(map(sum, zip(*pairs, strict=True)))


def simulated_means(store, column):
    """Return the means of a column, one line per kind of simulated table and one column per method."""
    rows = pd.DataFrame(store.rows(cell for e in EXPERIMENTS.values() for cell in e.cells("full")))
    kept = rows[(rows["source"] != "sachs") & rows[column].notna()]
    return kept.pivot_table(index=["mechanism", "graph", "n", "d"], columns="method", values=column)


def lowest(store, test):
    """Return in how many kinds of tables our order has the lowest mean SHD with this edge test, and how many there are."""
    means = simulated_means(store, f"{test}_shd").dropna(subset="HOST")
    beside = means[means.drop(columns="HOST").notna().any(axis=1)]
    return int((beside["HOST"] <= beside.min(axis=1) + 1e-12).sum()), len(beside)


def sachs_means(store):
    """Return the mean order divergence on the Sachs data, by method."""
    rows = pd.DataFrame(store.rows(EXPERIMENTS["sachs"].cells("full")))
    return rows.groupby("method")["order_divergence"].mean()


def page(store):
    found = [(e, claims(e, summary_of(e, store.rows(e.cells("full"))))) for e in EXPERIMENTS.values()]
    total = sum(len(some) for _, some in found)
    won, settings = led(found)
    version = made_with("reproduction/rows.jsonl", what="*HOST (heterodag)* is the default, `HOST()`.")
    sachs = sachs_means(store)
    head = prose(
        HEAD,
        ours=sachs["HOST"],
        paper=sachs["HOST-paper"],
        count=total,
        verdicts=counted(found),
        won=won,
        settings=settings,
        kinds=len(simulated_means(store, "order_divergence")),
        lcit=lowest(store, "lcit"),
        gam=lowest(store, "gam-classical"),
        version=version,
    )
    parts = [head, "", claims_table(found), prose(PICTURES_HEAD), ""]
    for experiment in EXPERIMENTS.values():
        if experiment.axis != "table":
            picture = f"![{experiment.title}](images/reproduction/{experiment.name}.svg)"
            parts += [f"### {experiment.title}", "", f"{link(experiment)}: {experiment.setting}.", "", picture, ""]
    parts += [prose(HOW, given_away=GIVEN_AWAY), "", *given_away("reproduction"), "", "## What was run", ""]
    parts += [coverage(store), failures(store)]
    return "\n".join(parts).rstrip() + "\n"


def experiment_page(experiment, rows):
    """Return the page of one experiment: claim, measured sentences, reasons, picture and all numbers."""
    summary = summary_of(experiment, rows)
    claim, why = (re.sub(r"\]\((?=[\w-]+\.md)", "](../", text) for text in notes()[experiment.name])
    lines = [f"# Reproduction: {experiment.title}", "", f"*{experiment.name}*: {experiment.setting}.", "", claim, ""]
    lines += ["**Measured.**", "", *(f"- {sentence}" for sentence in measured(experiment, summary)), ""]
    if experiment.name in ("sample-size", "dimensionality"):
        lines += npvar_lines(rows, experiment.axis)
    if why:
        lines += [why, ""]
    if experiment.axis != "table":
        lines += [f"![{experiment.title}](../images/reproduction/{experiment.name}.svg)", ""]
    table = tables_of(experiment, summary).rstrip()
    download = f"[{experiment.name}.csv](../../benchmarks/results/reproduction/{experiment.name}.csv)"
    lines += ["## The numbers", "", f"{KINDS.get(experiment.name, KINDS[''])} Download: {download}.", "", table, ""]
    return "\n".join([*lines, prose(READING), ""])


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
    for experiment in EXPERIMENTS.values():
        rows = store.rows(experiment.cells("full"))
        write_outputs(experiment, rows, RESULTS, PICTURES)
        path = PAGE.parent / "results" / f"reproduction-{experiment.name}.md"
        path.write_text(experiment_page(experiment, rows), encoding="utf-8")
    PAGE.write_text(page(store), encoding="utf-8")


if __name__ == "__main__":
    main()
