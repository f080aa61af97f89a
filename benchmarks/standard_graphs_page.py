"""The page of benchmarks/standard_graphs.py: tables and sentences made from its rows alone."""

import numpy as np

from pages import details, made_with, prose, rows_in
from standard_graphs import CONTROLS, FIRST_SEED, GRAPHS, METHODS, ROWS, SIZES, STORE, WORLDS
from worlds_page import NEAR, bold_best, finished, over_tables, per_edge, text

HEAD = """# Graphs of many shapes

Most benchmarks draw the same two kinds of random graphs, and in many of them a mere sort of the columns finds the causal
order. Here are seven kinds of graphs, normal and other noise, and beside every result what a sort would have given
away. {verdict} {controls}

{version} Written by `python benchmarks/standard_graphs.py` from {file}; the same command with `run` makes the rows."""
WORDS = """\
## What was compared

- Graphs, as `simulate` names them: *ER* and *SF* (the paper's two) with two edges per column, *small-world* and
  *bipartite* with two, *hubs* (one column linked to all others), *chain* (each column is caused by the one before),
  *dense* (half of all pairs linked).
- Worlds: mean, spread and noise ([explained here](worlds.md#the-worlds)). In straight/constant/normal many directions
  cannot be seen in the data at all.
- Tables of {rows} rows for every graph and world, {tables}; seeds from {seed}. Choices in HOST were made on seeds below
  1000. All columns are scaled to variance 1.
- *Varsortability* (Reisach, Seiler and Weichwald 2021): the share of directed paths along which the variance rises, in
  the table as it was drawn; after scaling it is 0.5. *R2-sortability* (Reisach et al. 2023): the same for the share of
  variance that all other columns explain; scaling does not change it. 0.5 says nothing, 1 and 0 give the order away.
- Controls, which know nothing of causes: a *random order*, *R2-sort* (by rising R2 given all other columns), *R2-sort
  (falling)*, and *VarSort, raw units* (by the variance in the table as it was drawn). Where a control is as good as the
  best method, the table tells little about methods.
- *HOST.paper (gam)* is `HOST.paper(selection="gam")`. All other methods have their defaults; VarSort, EqVar and the
  controls take HOST's edge test, NPVar and CAM select parents by additive regression. A fit may take 120 s; where some
  did not finish, their number stands in brackets."""
MEASURE = """\
Errors ({shd}) divided by the number of true arrows: 0 is perfect, and an empty graph has 1. The best figure of each
line is bold. Open edges count as right if the pair is joined in truth."""
ORDER = """The {order_divergence}: share of true arrows whose effect is placed before its cause. A random order gives
0.5."""


def pick(rows, d, graph=None, world=None, method=None):
    return [
        row for row in rows
        if row["d"] == str(d) and graph in (None, row["graph"]) and world in (None, row["world"])
        and method in (None, row["method"])
    ]  # fmt: skip


def settings(rows):
    """Yield (d, graph, world, rows of it) for all that have rows."""
    for d in SIZES:
        for graph in GRAPHS:
            for world in WORLDS:
                mine = pick(rows, d, graph, world)
                if mine:
                    yield d, graph, world, mine


def complete(mine, method):
    """Say whether a method finished every table that any method was given."""
    own = [row for row in mine if row["method"] == method]
    return bool(own) and len(finished(own, "shd")) == len({row["seed"] for row in mine})


def table(rows, d, value):
    """Yield one line per graph and world: sortabilities, then one column per method."""
    methods = [name for name in METHODS if finished(pick(rows, d, None, None, name), "shd")]
    yield f"| graph | world | varsortability | R2-sortability | {' | '.join(methods)} |"
    yield "|---|---|---:|---:|" + "---:|" * len(methods)
    for size, graph, world, mine in settings(rows):
        if size != d:
            continue
        sort = [text(over_tables(key, np.mean)(mine)) for key in ("varsortability", "r2_sortability")]
        values, cells = [], []
        for method in methods:
            own = [row for row in mine if row["method"] == method]
            whole = complete(mine, method)
            values.append(value(own) if whole else np.nan)
            cells.append(text(value(own)) + ("" if whole else f" ({len(finished(own, 'shd'))})"))
        yield f"| {graph} | {world} | {' | '.join([*sort, *bold_best(cells, values, min)])} |"


def gaps(rows, own="HOST", key="shd"):
    """Return (d, graph, world, errors of a method, best other method, its errors) of every setting, without controls."""
    out = []
    for d, graph, world, mine in settings(rows):
        found = {
            name: per_edge(key)([row for row in mine if row["method"] == name])
            for name in METHODS if name not in CONTROLS and complete(mine, name)
        }  # fmt: skip
        if own in found and len(found) > 1:
            value = found.pop(own)
            best = min(found, key=found.get)
            out.append((d, graph, world, value, best, found[best]))
    return out


def verdict(rows):
    """Return the sentences on HOST: where open edges count as right if the pair is joined, and where they count as wrong."""
    found, strict = gaps(rows), gaps(rows, key="shd_strict")
    behind = [f"{graph}, {world}, {d} columns" for d, graph, world, own, _, least in strict if own > least + NEAR]
    near = sum(own <= least + NEAR for *_, own, _, least in found)
    first = (
        f"HOST has the fewest errors, or is within {NEAR} errors per true edge of the fewest, in {near} of {len(found)} "
        f"settings. If edges that it leaves open count as wrong, it is in {len(strict) - len(behind)}"
    )
    return f"{first}: all but {'; '.join(behind)}." if behind else f"{first}, too."


def control_sentence(rows):
    """Return the sentence on controls that do as well as methods where open edges count as wrong; controls leave none."""
    level = dict.fromkeys(CONTROLS, 0)
    count = 0
    for *_, mine in settings(rows):
        value = {name: per_edge("shd_strict")([row for row in mine if row["method"] == name]) for name in METHODS}
        known = [value[name] for name in METHODS if name not in CONTROLS and complete(mine, name)]
        count += bool(known)
        for name in CONTROLS:
            level[name] += bool(known) and value[name] <= min(known) + NEAR
    told = ", ".join(f"{name} in {number}" for name, number in level.items())
    return f"Controls, which use no model of causes, come as close to the best method then, of these {count}: {told}."


def page(rows):
    tables = " and ".join(f"{len({row['seed'] for row in pick(rows, d)})} with {d} columns" for d in SIZES)
    head = prose(
        HEAD,
        verdict=verdict(rows),
        controls=control_sentence(rows),
        version=made_with(STORE.name),
        file=rows_in(STORE.name),
    )
    words = prose(WORDS, tables=tables, rows=ROWS, seed=FIRST_SEED)
    lines = [head, "", "## SHD per true edge", "", prose(MEASURE), ""]
    sizes = [d for d in SIZES if pick(rows, d)]
    for d in sizes:
        lines += [*details(f"{d} columns", table(rows, d, per_edge("shd"))), ""]
    lines += ["If open edges count as wrong:", ""]
    for d in sizes:
        lines += [*details(f"{d} columns, open edges wrong", table(rows, d, per_edge("shd_strict"))), ""]
    lines += [words, "", "## Order divergence per true edge", "", prose(ORDER), ""]
    for d in sizes:
        lines += [*details(f"{d} columns", table(rows, d, per_edge("order_divergence"))), ""]
    return "\n".join(lines)
