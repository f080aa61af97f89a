"""Real pairs: `python benchmarks/real_pairs.py FILE [--methods NAME ...]`.

The Tuebingen collection (Mooij et al. 2016) holds pairs of real columns whose cause is known. The wheel of the Causal
Discovery Toolbox on PyPI has the 99 pairs of single columns; FILE is that wheel, which need not be installed:

    pip download --no-deps cdt==0.6.0
    python benchmarks/real_pairs.py cdt-0.6.0-py3-none-any.whl

Rows go to benchmarks/results/real_pairs.csv, and what is there is not run again; `pairs.py` makes docs/pairs.md from them.
`pairs_methods.py` says what environments the other methods need. Pairs that share a column form a group: seven pairs of
the collection are lengths and weights of the same shellfish, and count as one where groups count once.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import csv
import io
import sys
import zipfile
import zlib
from collections import Counter
from pathlib import Path

import numpy as np

import pairs_methods
from heterodag import check_table
from heterodag.pairs import direction
from heterodag.pairs.decision import FORWARDS
from heterodag.pairs.scoring import accuracy_by_rate
from pages import prose, rows_in
from rows import RESULTS, append_results, read

STORE = RESULTS / "real_pairs.csv"
KEY = ("pair", "method")
FIELDS = (*KEY, "group", "rows", "right", "nats", "open", "serious", "seconds")
INSIDE = "cdt/data/resources/Tuebingen_pairs.csv"
HOST = "HOST"
METHODS = (HOST, *pairs_methods.METHODS)


def collection(wheel):
    """Return name -> table of two columns, the cause first, without the rows that lack a value."""
    csv.field_size_limit(sys.maxsize)
    with zipfile.ZipFile(wheel) as files, files.open(INSIDE) as file:
        rows = list(csv.DictReader(io.TextIOWrapper(file, encoding="utf-8")))
    tables = {row["SampleID"]: np.column_stack([np.array(row[name].split(), float) for name in "AB"]) for row in rows}
    return {name: table[np.isfinite(table).all(axis=1)] for name, table in tables.items()}


def groups(tables):
    """Return pair -> name of its group: the first pair to which it is linked by columns with the same values."""
    group, owner = {}, {}
    for name, table in tables.items():
        marks = [zlib.crc32(np.sort(column).tobytes()) for column in table.T]
        linked = {group[owner[mark]] for mark in marks if mark in owner}
        group[name] = min([name, *linked], key=list(tables).index)
        group |= {other: group[name] for other, of in group.items() if of in linked}
        owner |= dict.fromkeys(marks, name)
    return group


def host(X):
    """Return by how much HOST prefers a direction, as the columns are linked: positive if the first is the cause."""
    found = direction(X[:, 0], X[:, 1])
    return found.nats_if_linked if found.direction == FORWARDS else -found.nats_if_linked


def cell(pair, method, group, X):
    """Return a row; the columns of every other pair are swapped. That of HOST says if checks find a serious problem."""
    _, told = pairs_methods.asked(
        host if method == HOST else pairs_methods.METHODS[method], X, int(pair.removeprefix("pair")) % 2
    )
    row = {"pair": pair, "method": method, "group": group, "rows": len(X)} | told
    if method == HOST:
        found, serious = direction(*X.T), any(finding.severity == "red" for finding in check_table(X))
        row |= {"nats": f"{found.nats:.2f}", "open": int(found.open), "serious": int(serious)}
    return [row]


def share(rows, once=False):
    """Return the share of right directions; with `once`, every group counts as much as a single pair."""
    of_group = {}
    for row in rows:
        of_group.setdefault(row["group"], []).append(float(row["right"]))
    return float(np.mean([np.mean(own) for own in of_group.values()] if once else [float(r["right"]) for r in rows]))


def at_rates(rows):
    """Return the shares of right directions among the surest half and quarter; groups count once."""
    sizes = Counter(row["group"] for row in rows)
    nats, right = (np.array([float(row[key]) for row in rows]) for key in ("nats", "right"))
    rates, accuracies = accuracy_by_rate(nats, right, np.array([1 / sizes[row["group"]] for row in rows]))
    return {name: 100 * accuracies[np.searchsorted(rates, rate)] for name, rate in (("half", 0.5), ("quarter", 0.25))}


TEXT = """## Real pairs

In the Tuebingen collection (Mooij et al. 2016) the cause is known: altitude and temperature, age and wage, and so on. No
choice in the package was made on it, though a prototype of its noise had been measured on it. Over {pairs} pairs,
{right:.0f} % of the directions are right, {once:.0f} % if pairs that share a column count as one ({groups} groups). **Nats
promise too much here**: of the {decided} directions with 9 nats or more, {sure:.0f} % are right ({sure_once:.0f} % if groups
count once). Of the surest half of the pairs it is {half:.0f} %, of the surest quarter {quarter:.0f} % (groups count once):
hundreds of nats can also mean that the models fit badly.

[check_table](data-check.md) says beforehand where to be careful. It finds a serious problem in {serious} of the pairs, such
as rows that depend on each other; {bad:.0f} % of their directions are right, and {good:.0f} % of the others. What no check
sees remains, hidden causes above all. Treat the direction of a real pair as a hint.

Every method must decide, and a tie counts as half. Rows: {file}, made by `python benchmarks/real_pairs.py`, whose first
lines say where the pairs come from."""


def section(rows):
    """Yield the section on real pairs of docs/pairs.md."""
    own = [row for row in rows if row["method"] == HOST]
    sure = [row for row in own if row["open"] == "0"]
    good, bad = ([row for row in own if row["serious"] == flag] for flag in "01")
    yield prose(
        TEXT, pairs=len(own), groups=len({row["group"] for row in own}), right=100 * share(own), once=100 * share(own, True),
        decided=len(sure), sure=100 * share(sure), sure_once=100 * share(sure, True),
        **at_rates(own), serious=len(bad), bad=100 * share(bad), good=100 * share(good), file=rows_in(STORE.name),
    )  # fmt: skip
    yield ""
    yield "| method | right | groups count once | median seconds |"
    yield "|---|---:|---:|---:|"
    for method in METHODS:
        mine = [row for row in rows if row["method"] == method]
        if mine:
            seconds = np.median([float(row["seconds"]) for row in mine])
            yield f"| {method} | {100 * share(mine):.0f} % | {100 * share(mine, True):.0f} % | {seconds:.2g} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="cdt-0.6.0-py3-none-any.whl")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=[HOST], metavar="NAME")
    options = parser.parse_args()
    if not options.wheel.exists():
        parser.error(f"{options.wheel} is not there: `pip download --no-deps cdt==0.6.0` fetches it")
    tables = collection(options.wheel)
    group = groups(tables)
    done = {tuple(row[key] for key in KEY) for row in read(STORE)}
    cells = [
        (name, method, group[name], table)
        for method in options.methods for name, table in tables.items() if (name, method) not in done
    ]  # fmt: skip
    append_results(STORE, FIELDS, cell, cells, 1, every=99)


if __name__ == "__main__":
    main()
