"""Where the default is not the best: `python benchmarks/not_best.py`.

Reads the rows of other benchmarks and runs nothing: worlds, graphs of many shapes, the paper's evaluation and data, the
authors' data sets, edge tests with a true order, experiments, Sachs, pairs. Lists every setting in which another method
makes fewer errors than `HOST()`, by more than two standard errors of the paired difference, and writes docs/not-best.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import authors_sets
import cost
import oracle_order
import pairs
import pairs_methods
import paper_worlds
import real_pairs
import sachs
import standard_graphs
import worlds
from heterodag.experiments.store import RowStore
from pages import made_with, prose, rows_in, take_no_arguments
from rows import RESULTS, read
from worlds_page import complete, pick, tables_of, whole_rounds

PAGE = Path(__file__).resolve().parents[1] / "docs" / "not-best.md"
#: A difference is more than chance beyond this many of its standard errors.
BEYOND = 2.0
#: Methods that are told more than the table: controls.
TOLD = ("VarSort, raw units",)


@dataclass(frozen=True)
class Setting:
    """The default beside the best other method in one setting.

    Errors are per true edge; those on the page on Sachs per graph, those of pairs per pair.
    """

    source: str
    name: str
    measure: str
    better: str
    own: float
    other: float
    difference: float
    error: float

    @property
    def is_loss(self) -> bool:
        """Whether the other method makes fewer errors, by more than chance."""
        return self.difference > BEYOND * self.error


def compared(source, name, measure, tables, own):
    """Return the comparison with the best other method; `tables` maps a method to table -> (errors, edges)."""
    others = {key: value for key, value in tables.items() if key != own}
    if own not in tables or not others:
        return None
    mean = {
        key: sum(e for e, _ in value.values()) / sum(m for _, m in value.values()) for key, value in tables.items()
    }
    best = min(others, key=mean.__getitem__)
    shared = sorted(tables[own].keys() & tables[best].keys())
    gap = np.array([tables[own][key][0] - tables[best][key][0] for key in shared], dtype=float)
    edges = np.array([tables[own][key][1] for key in shared], dtype=float)
    if len(shared) < 2:
        return None
    difference = gap.sum() / edges.sum()
    error = np.sqrt(len(gap) / (len(gap) - 1) * ((gap - difference * edges) ** 2).sum()) / edges.sum()
    return Setting(source, name, measure, best, mean[own], mean[best], float(difference), float(error))


def by_table(rows, key, table, edges="edges"):
    """Return table -> (errors, true edges) of the rows that have a value."""
    return {
        tuple(row[name] for name in table): (float(row[key]), float(row[edges]) if edges else 1.0)
        for row in rows if row.get("error", "") == "" and row[key] != ""
    }  # fmt: skip


#: Source, parts of the name, of the measure and of the better method -> why; the first that fits is taken.
REASONS = (
    ("worlds", "straight/constant", "open edges wrong", "DirectLiNGAM",
     "HOST leaves directions open where the evidence is below 9 nats, and here each counts as an error. DirectLiNGAM draws "
     "every arrow whatever its evidence, and more of its arrows are wrong."),
    ("worlds", "straight/constant/normal", "open edges wrong", "",
     "Most directions cannot be seen in these data. HOST leaves them open, and here each counts as an error; the other "
     "method draws them all the same."),
    ("worlds", "straight/constant", "", "DirectLiNGAM",
     "These data are what DirectLiNGAM assumes; HOST has to find that out from few rows."),
    ("worlds", "curved/constant", "", "CAM", "These data are what CAM assumes; HOST has to find that out from few rows."),
    ("standard-graphs", "chain, straight/constant/normal", "", "",
     "Directions cannot be seen in these data, and HOST leaves them open. In a chain of columns with variance 1, however, "
     "the next column in line always has the least variance left given those before it: EqVar and NPVar follow the line "
     "once they have its beginning. That is a property of chains, not of causes."),
    ("standard-graphs", "straight/constant/normal", "", "",
     "Directions cannot be seen in these data, and HOST leaves them open; each counts as an error here. EqVar and NPVar "
     "guess by the variance that is left, which after scaling is a property of the graph."),
    ("paper-worlds", "", "", "specialist",
     "The specialist is told which model made the data; HOST chooses among several for every variable."),
    ("reproduction", "nonlinear", "", "HOST-spline",
     "HOST-spline is told what made these data: curves in the natural form and normal noise. HOST chooses among several "
     "kinds of mechanisms for every variable."),
    ("reproduction", "Sachs", "", "",
     "As on the page on Sachs: edges of two proteins, PKA and PKC, are turned round, open or missing. Real cells follow no "
     "method's model, and the consensus graph is no measured truth."),
    ("oracle-order", "", "", "told lines",
     "That test is told what made these data: straight lines in the natural form and normal noise."),
    ("sachs", "", "order", "",
     "About half of the additional errors are arrows drawn the other way, the others open edges and pairs without an edge; "
     "nearly all are edges of two proteins, PKA and PKC (see the page). With lines alone, or with normal noise alone, the "
     "order is better. Real cells follow no method's model, and the consensus graph is no measured truth. The ten "
     "subsamples share most of their rows, so the standard error is too small."),
    ("sachs", "", "errors", "",
     "HOST() draws fewer edges and turns more of them round. Normal noise alone does not help: it adds edges (see the "
     "page). Real cells follow no method's model, and the consensus graph is no measured truth. The ten subsamples share "
     "most of their rows, so the standard error is too small."),
    ("pairs", "gumbel", "", "DirectLiNGAM",
     "With noise of this shape, and an effect that rises with its cause, the wrong direction fits nearly as well, with a "
     "spread that moves (see the page). DirectLiNGAM is told that the spread is constant. HOST is not; with more rows it "
     "gets these directions right, too."),
)  # fmt: skip
UNKNOWN = "Not looked into yet."
MEASURES = {"shd": "errors", "shd_strict": "errors, open edges wrong", "order_divergence": "order"}


def from_worlds(rows):
    rows = whole_rounds(rows)
    for setting, (n, d, _) in worlds.SETTINGS.items():
        count = tables_of(rows, setting)
        for world in worlds.WORLDS:
            picked = {method: pick(rows, setting, world, method) for method in worlds.METHODS}
            done = {method: own for method, own in picked.items() if complete(own, count) and own}
            for key, what in MEASURES.items():
                tables = {method: found for method, own in done.items() if (found := by_table(own, key, ("seed",)))}
                yield compared("worlds", f"{world}, {n} rows, {d} columns", what, tables, "HOST")


def from_graphs(rows):
    for d in standard_graphs.SIZES:
        for graph in standard_graphs.GRAPHS:
            for world in standard_graphs.WORLDS:
                mine = [r for r in rows if (r["d"], r["graph"], r["world"]) == (str(d), graph, world)]
                count = len({row["seed"] for row in mine})
                for key, what in MEASURES.items():
                    tables = {
                        method: found for method in standard_graphs.METHODS
                        if method not in TOLD
                        and len(found := by_table([r for r in mine if r["method"] == method], key, ("seed",))) == count > 0
                    }  # fmt: skip
                    yield compared("standard-graphs", f"{graph}, {world}, {d} columns", what, tables, "HOST")


def from_paper(rows):
    for mechanism, n in paper_worlds.SETTINGS:
        for generator in paper_worlds.GENERATORS:
            mine = [r for r in rows if (r["mechanism"], r["n"], r["generator"]) == (mechanism, str(n), generator)]
            for key, what in (("shd", "errors"), ("order", "order")):
                tables = {
                    method: found for method in paper_worlds.METHODS
                    if (found := by_table([r for r in mine if r["method"] == method], key, ("graph", "seed")))
                }  # fmt: skip
                yield compared("paper-worlds", f"{mechanism}, {n} rows, {generator}", what, tables, "HOST()")


def from_sachs(rows):
    for scale in sachs.SCALES:
        mine = [r for r in rows if r["scale"] == scale]
        for key, what in (("shd", "errors"), ("order_divergence", "order")):
            tables = {
                method: by_table([r for r in mine if r["method"] == method], key, ("subsample",), None)
                for method in sachs.METHODS
            }
            # Errors of whole graphs: there are no true edges to divide by that anybody knows.
            yield compared("sachs", f"Sachs, {scale} values", what, {k: v for k, v in tables.items() if v}, "HOST()")


def grouped(rows, *keys):
    """Return setting -> its rows, in the order of the rows."""
    out = {}
    for row in rows:
        out.setdefault(tuple(row[key] for key in keys), []).append(row)
    return out


def everywhere(tables):
    """Return the methods that have figures of all tables."""
    most = max((len(found) for found in tables.values()), default=0)
    return {name: found for name, found in tables.items() if len(found) == most}


def from_reproduction(rows):
    """Compare in the paper's evaluation; methods that only make an order get their edges from LCIT."""
    done = [row | {"error": "", "edges": row["true_edges"]} for row in rows if row["status"] == "done"]
    for (source, mechanism, graph, n, d), mine in grouped(done, "source", "mechanism", "graph", "n", "d").items():
        name = f"{'Sachs' if source == 'sachs' else f'{graph}, {mechanism}'}, {n} rows, {d} columns"
        for what in ("errors", "order"):
            tables = {}
            for method, own in grouped(mine, "method").items():
                key = (
                    "order_divergence"
                    if what == "order"
                    else "own_shd"
                    if own[0].get("own_shd") is not None
                    else "lcit_shd"
                )
                kept = [row | {"value": row.get(key)} for row in own if row.get(key) is not None]
                tables[method[0]] = by_table(kept, "value", ("repeat",), "edges")
            yield compared("reproduction", name, what, everywhere({k: v for k, v in tables.items() if v}), "HOST")


def from_authors(rows):
    """Compare with the authors' program and two simpler orders on the authors' data sets."""
    for (mechanism, n, d, graph), mine in grouped(rows, "mechanism", "n", "d", "graph").items():
        for what, columns in (("order", tuple(authors_sets.ORDERS.values())), ("errors", ("shd_script", "shd_host"))):
            tables = {column.removeprefix("shd_"): by_table(mine, column, ("set",)) for column in columns}
            name = f"{graph}, {mechanism}, {n} rows, {d} columns"
            yield compared("authors-sets", name, what, everywhere({k: v for k, v in tables.items() if v}), "host")


def from_oracle(rows):
    """Compare the default's edge test with the others, given a true order."""
    ours = [row for row in rows if row["test"] in oracle_order.TESTS and row["shd"]]
    for (mechanism, n, d, graph), mine in grouped(ours, "mechanism", "n", "d", "graph").items():
        tables = {test[0]: by_table(own, "shd", ("set",)) for test, own in grouped(mine, "test").items()}
        name = f"{graph}, {mechanism}, {n} rows, {d} columns"
        yield compared("oracle-order", name, "errors, true order given", everywhere(tables), "likelihood")


def from_experiments(rows):
    """Compare with GIES where variables were set."""
    for (degree,), mine in grouped([row for row in rows if row["method"].endswith(" told")], "degree").items():
        tables = {method[0]: by_table(own, "shd", ("seed",)) for method, own in grouped(mine, "method").items()}
        tables = {name: found for name, found in tables.items() if name in ("HOST, told", "GIES, told")}
        yield compared("experiments", f"ER-{degree}, every variable set in some rows", "errors", tables, "HOST, told")


def from_pairs(rows):
    """Compare the directions of pairs, where every method must decide."""
    host = {(row["kind"], row["seed"]): float(row["right"] or 0.5) for row in read(pairs.STORE)}
    for kind in pairs.KINDS:
        tables = {"HOST": {key: (1.0 - right, 1.0) for key, right in host.items() if key[0] == kind}}
        for method in pairs_methods.METHODS:
            found = pairs_methods.right_of(rows, (kind,), method)
            if len(found) == len(tables["HOST"]):
                tables[method] = {key: (1.0 - right, 1.0) for key, right in found.items()}
        yield compared("pairs", f"pairs, {kind}", "directions wrong", tables, "HOST")


def from_real_pairs(rows):
    """Compare the directions of real pairs, where every method must decide."""
    tables = {
        method[0]: {row["pair"]: (1.0 - float(row["right"]), 1.0) for row in own}
        for method, own in grouped(rows, "method").items()
    }
    yield compared("pairs", f"{len(tables[real_pairs.HOST])} real pairs", "directions wrong", tables, real_pairs.HOST)


def stored(name):
    """Return the rows of a file."""
    return RowStore((RESULTS / name).parent).rows() if name.endswith(".jsonl") else read(RESULTS / name)


SOURCES = {
    "worlds.csv": from_worlds,
    "standard_graphs.csv": from_graphs,
    "reproduction/rows.jsonl": from_reproduction,
    "paper_worlds.csv": from_paper,
    "authors_sets.csv": from_authors,
    "oracle_order.csv": from_oracle,
    "experiments_linear.csv": from_experiments,
    "sachs.csv": from_sachs,
    "pairs_methods.csv": from_pairs,
    "real_pairs.csv": from_real_pairs,
}


def settings() -> Iterator[Setting]:
    """Yield every comparison that the stored rows allow."""
    for name, read_from in SOURCES.items():
        yield from (found for found in read_from(stored(name)) if found is not None)


def reason(found):
    """Return why the default is behind, as far as somebody looked into it."""
    for source, name, measure, better, why in REASONS:
        if source == found.source and name in found.name and measure in found.measure and better in found.better:
            return why
    return UNKNOWN


HEAD = """# Where the default is not the best

Results pages tell where a method wins. This one lists every setting in which another method makes fewer errors than
`HOST()`: {behind} of the {count} comparisons that the rows of these pages allow: [worlds](worlds.md), [graphs of many
shapes](standard-graphs.md), [the paper's evaluation](reproduction.md), [the paper's data](paper-worlds.md), [the authors'
data sets](authors-sets.md), [edge tests with a true order](oracle-order.md), [experiments](experiments.md),
[Sachs](sachs.md) and [pairs](pairs.md). In {losses} of them the difference is more than chance (more than {beyond:g}
standard errors of the paired difference), in {near} it is not, and in the other comparisons the default is the best or
level with it. {slow}

- *Errors*: {shd} per true edge. In worlds and graphs of many shapes an open edge counts as right if the pair is joined in
  truth, and as wrong in the lines that say so; in experiments it counts as half an error, and elsewhere with the direction
  that fits best. *Order*:
  {order_divergence} per true edge. On the page on Sachs: per graph. *Directions wrong*: share of pairs, open or not.
- *Difference*: errors of the default less those of the best other method on the same tables, with its standard error.
- The best other method is chosen on the same tables, among several, which makes it look better than it is. With few
  tables, on the other hand, a true difference may stay in the second list. The comparisons share tables, so a count of
  them is no test.
- *HOST.paper* and *HOST-paper* are the paper's HOST; *former default* and *told lines* are `HOST` and its edge test with
  `parametrization="linear", form="natural", noise="gaussian"`; a *specialist* is told which kind of model made the data.
- In the paper's evaluation HOST(), its splines, CAM, GOLEM and GraN-DAG have edges of their own, and the others those
  of LCIT.
- Methods that were stopped by a time limit on some tables of a setting are not compared there. {unfinished}

{version} Written by `python benchmarks/not_best.py` from {files}; the pages named above say how the rows are made and on
which seeds."""


def slowness():
    """Return a sentence on the time: where the default is the slowest."""
    found = cost.points(read(cost.STORE))
    slowest = sum(max(own, key=lambda name: own[name][0]) == "HOST" for own in found.values())
    where = f"at {slowest} of {len(found)} sizes of the worlds ([errors against seconds](cost.md))"
    return f"By time it is the slowest method {where}."


def table(some, why):
    yield "| data | measure | HOST() | best other | its figure | difference |" + (" why |" if why else "")
    yield "|---|---|---:|---|---:|---:|" + ("---|" if why else "")
    for s in sorted(some, key=lambda s: -s.difference / max(s.error, 1e-9)):
        cells = [s.name, s.measure, f"{s.own:.2f}", s.better, f"{s.other:.2f}", f"{s.difference:.2f} ± {s.error:.2f}"]
        yield "| " + " | ".join([*cells, *([reason(s)] if why else [])]) + " |"


def page():
    every = list(settings())
    losses = [s for s in every if s.is_loss]
    near = [s for s in every if s.difference > 0 and not s.is_loss]
    head = prose(
        HEAD, count=len(every), behind=len(losses) + len(near), losses=len(losses), near=len(near), beyond=BEYOND,
        slow=slowness(), unfinished=cost.unfinished(read(cost.STORE)),
        version=made_with(), files=rows_in(*SOURCES),
    )  # fmt: skip
    lines = [head, "", "## Behind by more than chance", "", *table(losses, why=True), ""]
    lines += ["## Behind, but not by more than chance", "", *table(near, why=False), ""]
    return "\n".join(lines)


def main():
    take_no_arguments(__doc__)
    PAGE.write_text(page(), encoding="utf-8")
    print("wrote docs/not-best.md")


if __name__ == "__main__":
    main()
