"""The page of benchmarks/alternatives.py: tables and sentences made from its rows alone."""

import numpy as np

from families import FAMILIES, GRAPHS
from pages import FORMER, prose, rows_in

#: Method -> where it comes from, in the order of the tables.
PACKAGES = {
    "HOST": "heterodag",
    "HOST, paper's order": "heterodag",
    "VarSort": "heterodag",
    "EqVar": "heterodag",
    "NPVar": "heterodag",
    "CAM": "heterodag",
    "DirectLiNGAM": "lingam",
    "PC": "causal-learn",
    "GES": "causal-learn",
    "NOTEARS": "gcastle",
}
PER_EDGE = ("divergence", "shd", "undirected")
HEAD = """# HOST beside other packages

Which method should you use on which data? We ran the *former default* of HOST, DirectLiNGAM (lingam), PC and GES
(causal-learn), NOTEARS (gcastle) and heterodag's own rivals on five kinds of simulated tables. The former default
is by far the best where the spread moves with the causes, and the wrong tool where it does not: there DirectLiNGAM
or CAM win, or, if everything is linear and Gaussian, GES and PC say which directions are open.

{former} There the current default has the fewest errors, or nearly, on data of all these kinds. The last section,
on 100 columns, is older than the present fitting engine (see the changelog). Seconds of heterodag's methods were
taken on another day than those of the other packages."""
HOW = """\
## How it was measured

Tables of 10 columns on graphs ER-1, ER-2 (10 and 20 edges), SF-1, SF-2 (9 and 16), seeds from 30000. Only the
first two kinds of table fit what the former default assumes. Numbers of tables differ where a method is slow; the
four graphs are in equal numbers everywhere.

**Every column is scaled to variance 1 for every method.** Raw variances of simulated tables grow along the causal
order and give it away; units of real data do not. VarSort, EqVar and NPVar depend on raw variances, and NOTEARS in
part. Without them VarSort knows nothing and shows what chance gives.

All methods run with their own defaults. "HOST, paper's order" is `HOST(refine=False,
selection="likelihood-full")`; PC tests partial correlations at 0.05, GES uses BIC.

Written by `python benchmarks/alternatives.py` from {files}; the same command with `run` and `wide` makes the rows,
and its first lines say how each package gets an environment of its own."""
MEASURES = """\
- *Order divergence*: share of true edges against the order; 0.5 is chance. PC, GES and NOTEARS have no order.
- *SHD*: structural Hamming distance per true edge; the empty graph has 1. PC and GES leave edges undirected. Each
  of these counts as right if the two columns are joined in truth, so their SHD is the best case. *Undirected*: how
  many, per true edge.
- *Skeleton F1*: are the right columns joined, whatever the direction? 1 is best.
- *Seconds*: median processor time of a fit on one core, without imports. The machine was busy, and not equally so
  for all methods: take them as orders of magnitude.
- *Warned*: share of tables on which HOST said that they do not look like its model. *Failed*: errors and time
  limits."""
TABLES_HEAD = """# HOST beside other packages: tables of {n} rows

All figures behind [HOST beside other packages](../alternatives.md) for tables of {n} rows. "HOST" is the former
default, `HOST(parametrization="linear", form="natural", noise="gaussian")`. Written by `python
benchmarks/alternatives.py` from [alternatives.csv](../../benchmarks/results/alternatives.csv)."""
#: Which method to use on each family.
ADVICE = {
    "text": "`HOST()`",
    "code": "`HOST()`",
    "linear-gaussian": "GES or PC: they leave open the directions that the data cannot tell",
    "linear-exponential": "DirectLiNGAM",
    "nonlinear-gaussian": "`CAM()`",
}
LOSSES = """\
**Where the former default loses.** When causes move only the mean, it is the wrong tool. With linear effects and
noise that is not Gaussian its order is no better than chance: use DirectLiNGAM, which is nearly perfect there.
With curved effects and Gaussian noise use CAM. With linear effects and Gaussian noise no method can know the
directions. HOST finds which columns are joined, and its SHD is level with the best case of GES. But it draws every
arrow, many of them reversed; GES and PC say which arrows are open. On data whose spread does move, the roles
change: DirectLiNGAM, PC and GES do worse there than a graph without edges.

HOST warns that a table does not look like its model (`AssumptionWarning`), but not always: no warning proves
nothing. Tables of {n} rows with a warning:"""
COMPARED = """\
The other method named is the one with the lowest {shd} on the tables it shares with HOST (the paper's order
aside), ± one standard error of the difference; "level" means less than two standard errors."""


def number(row, key):
    return float(row[key]) if row[key] != "" else np.nan


def chosen(rows, family, n, method):
    """Return the rows of a method, by seeds that have all four graphs: graphs differ in difficulty."""
    mine = [row for row in rows if (row["family"], row["n"], row["method"]) == (family, str(n), method)]
    seeds = [row["seed"] for row in mine]
    return [row for row in mine if seeds.count(row["seed"]) == len(GRAPHS)]


def per_edge(rows, key):
    """Return a measure per true edge, averaged over tables; NaN where the method has none."""
    values = [number(row, key) / float(row["edges"]) for row in rows]
    return float(np.mean(values)) if values else np.nan


def text(value, form=".2f"):
    return "" if np.isnan(value) else format(value, form)


def table_of(rows, family, n):
    """Return the lines of a Markdown table, one method a line; methods that were not run have none."""
    heads = (
        "method", "package", "tables", "order divergence", "SHD", "undirected", "skeleton F1", "seconds", "warned", "failed",
    )  # fmt: skip
    lines = [f"| {' | '.join(heads)} |", "|---|---|" + "---:|" * (len(heads) - 2)]
    for method, package in PACKAGES.items():
        mine = chosen(rows, family, n, method)
        if not mine:
            continue
        good = [row for row in mine if not row["error"]]
        f1, seconds = ([number(row, key) for row in good] for key in ("skeleton_f1", "seconds"))
        warned = np.mean([number(row, "warned") for row in good]) if good and method.startswith("HOST") else np.nan
        cells = [
            method,
            package,
            str(len(good)),
            *(text(per_edge(good, key)) for key in ("divergence", "shd", "undirected")),
        ]
        cells += [text(np.mean(f1)) if f1 else "", text(np.median(seconds), ".2g") if seconds else "", text(warned)]
        lines.append(f"| {' | '.join(cells)} | {len(mine) - len(good)} |")
    return lines


def paired(rows, family, n, one, other):
    """Return the mean difference in SHD per true edge, `one` minus `other`, on tables of both, and its standard error."""
    keyed = [
        {(row["graph"], row["seed"]): number(row, "shd") / float(row["edges"])
         for row in chosen(rows, family, n, method) if not row["error"]}
        for method in (one, other)
    ]  # fmt: skip
    gaps = [keyed[0][key] - keyed[1][key] for key in sorted(keyed[0].keys() & keyed[1].keys())]
    if len(gaps) < 2:
        return np.nan, np.nan
    return float(np.mean(gaps)), float(np.std(gaps, ddof=1) / np.sqrt(len(gaps)))


def verdict(rows, family, n):
    """Return a sentence: how HOST stands beside the best other method, by SHD on the tables both have."""
    others = [name for name in PACKAGES if not name.startswith("HOST")]
    gaps = {name: paired(rows, family, n, "HOST", name) for name in others}
    gaps = {name: gap for name, gap in gaps.items() if not np.isnan(gap[0])}
    if not gaps:
        return "not compared yet"
    best = max(gaps, key=lambda name: gaps[name][0])
    gap, error = gaps[best]
    figures = f"by {abs(gap):.2f} ± {error:.2f} per true edge"
    if abs(gap) < 2 * error:
        return f"HOST and {best} level ({gap:+.2f} ± {error:.2f})"
    return f"HOST loses to {best} {figures}" if gap > 0 else f"HOST wins; next is {best}, behind {figures}"


def summary(rows):
    """Return the table of verdicts and the advice in words."""
    sizes = sorted({int(row["n"]) for row in rows})
    heads = ["data", *(f"SHD at n = {n}" for n in sizes), "best of these"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for family, (heading, _) in FAMILIES.items():
        cells = [heading, *(verdict(rows, family, n) for n in sizes), ADVICE.get(family, "")]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def warnings_of(rows, n):
    """Return one line a family: how often HOST warned."""
    lines = []
    for family, (heading, _) in FAMILIES.items():
        mine = [row for row in chosen(rows, family, n, "HOST") if not row["error"]]
        if mine:
            lines.append(f"- {heading}: {sum(row['warned'] == '1' for row in mine)} of {len(mine)}")
    return lines


def wide_section(rows):
    """Return the lines on 100 columns: seconds of each method, and how often faster than DirectLiNGAM."""
    if not rows:
        return []
    slow = next((row for row in rows if row["method"] == "DirectLiNGAM"), None)
    lines = ["| method | order divergence | SHD | seconds | DirectLiNGAM takes |", "|---|---:|---:|---:|---:|"]
    for row in rows:
        seconds = text(number(row, "seconds"), ".3g") or f"more than {row['limit']}"
        measures = [text(per_edge([row], key)) for key in ("divergence", "shd")]
        lines.append(f"| {row['method']} | {' | '.join(measures)} | {seconds} | {factor(slow, row)} |")
    return lines


def factor(slow, row):
    """Return how many times as long `slow` takes, a lower bound if it was stopped."""
    if slow is None or slow is row or row["seconds"] == "":
        return ""
    stopped = slow["seconds"] == ""
    times = float(slow["limit"] if stopped else slow["seconds"]) / float(row["seconds"])
    return f"{'more than ' if stopped else ''}{times:.0f} times as long"


def overview(rows, n):
    """Return the lines of a table of SHD per true edge, one method a line and one kind of data a column."""
    lines = [
        f"| method | {' | '.join(heading for heading, _ in FAMILIES.values())} |",
        "|---|" + "---:|" * len(FAMILIES),
    ]
    for method in PACKAGES:
        found = [[r for r in chosen(rows, family, n, method) if not r["error"]] for family in FAMILIES]
        lines.append(f"| {method} | {' | '.join(text(per_edge(some, 'shd')) for some in found)} |")
    return lines


def tables_page(rows, n):
    """Return the page with all figures of one number of rows."""
    lines = [prose(TABLES_HEAD, n=n), "", prose(MEASURES)]
    for family, (heading, description) in FAMILIES.items():
        lines += [
            "",
            f"## {heading}",
            "",
            f"{description[0].upper()}{description[1:]}.",
            "",
            *table_of(rows, family, n),
        ]
    return "\n".join(lines) + "\n"


def page(rows, wide):
    sizes = sorted({int(row["n"]) for row in rows})
    links = " and ".join(f"[{n} rows](results/alternatives-{n}.md)" for n in sizes)
    files = rows_in("alternatives.csv", "alternatives_wide.csv")
    lines = [prose(HEAD, former=FORMER), "", "## In short", "", *summary(rows), "", prose(COMPARED), ""]
    lines += [
        prose(LOSSES, n=sizes[0]),
        "",
        *warnings_of(rows, sizes[0]),
        "",
        f"## SHD per true edge, {sizes[0]} rows",
        "",
    ]
    lines += [*overview(rows, sizes[0]), "", f"All measures of all methods: tables of {links}.", ""]
    lines += [prose(HOW, files=files), "", prose(MEASURES)]
    if wide:
        about = (
            f"One table of {wide[0]['d']} columns and {wide[0]['n']} rows, ER-1, the paper's simulation (`text`), "
            "in one run in lingam's environment. Order divergence and SHD are per true edge."
        )
        lines += ["", "## Time at 100 columns", "", prose(about), "", *wide_section(wide)]
    return "\n".join(lines) + "\n"
