"""The page of benchmarks/worlds.py: tables and sentences made from its rows alone."""

import numpy as np

from pages import GIVEN_AWAY, details, given_away, made_with, prose, rows_in
from worlds import FIRST_SEED, GRAPHS, LIMIT, LIMITS, METHODS, SETTINGS, WORLDS, tables

INVISIBLE = "straight/constant/normal"
#: HOST is near the best if its SHD per true edge is at most this much above the lowest.
NEAR = 0.05
HEAD = """# Twelve kinds of data

Nobody knows how the variables of a real table act on each other. Causes may move the mean of an effect, its spread
or both, along straight lines or curves, with noise of any shape. We simulated twelve kinds of data (*worlds*) and
compared HOST with {others} other methods, most of which are right for some worlds and wrong for others. Errors are
wrong, missing and reversed arrows ({shd}). {verdict} A fit takes HOST {seconds:.1f} seconds (median), the other
methods {fastest:.2g} to {slowest:.2g}.

{version} Written by `python benchmarks/worlds.py` from {file}; the same command with `run` makes the rows, and its
first lines say how lingam gets an environment of its own."""
MEASURE = """\
Errors divided by the number of true arrows: 0 is perfect, and an empty graph has 1. The best figure of each line
is bold. An edge without a direction counts as right here if the pair is joined in truth (see
[below](#if-an-open-edge-counts-as-wrong))."""
WORDS = """\
## The worlds

Names say how the causes act on the *mean* of their effect, how on its *spread*, and what the *noise* is:

- mean: *straight* (proportional to the cause), *curved* (waves, steps, bumps, bends) or *none* (not at all);
- spread: *constant* (not at all), *straight* or *curved* (the logarithm of the standard deviation);
- noise: *normal*, or *mixed* (exponential, Laplace, t, uniform, two-humped or Gumbel, drawn for every variable).

*paper/linear* and *paper/nonlinear* are the two simulations of HOST's paper: causes move mean and spread strongly,
and the noise is normal. straight/constant/mixed is what LiNGAM assumes, curved/constant/normal what CAM assumes.
In straight/constant/normal many directions cannot be seen in the data at all.

{tables}

Table t has graph number t modulo 4 of ER-1, ER-2, SF-1, SF-2 and the seed {seed} + t in every world. So it has the
same graph in all worlds, whatever the number of rows. Choices in HOST were made on other seeds, but on data of the same
kinds by the same generator.

**Every column is scaled to variance 1.** In simulated tables the columns grow along the causal order, which gives
the order away; the units of real data do not. VarSort then has a random order and shows what chance gives, and EqVar
begins with a random column. What is left for a sort is below: *R2-sortability* is the share of directed paths along
which the variance that all other columns explain rises. 0.5 says nothing, 1 and 0 give the order away. *Varsortability*
is the same for variances before scaling.

All methods run with their defaults. VarSort, EqVar, NPVar and CAM are [this package's own](other-methods.md); VarSort and
EqVar take HOST's edge test, NPVar and CAM select parents by additive regression. DirectLiNGAM comes from lingam, PC
(partial correlations at 0.05) and GES (BIC) from causal-learn, NOTEARS from gcastle. "HOST.paper" is HOST with the paper's
order and its linear natural parameters, `HOST(refine=False, selection="likelihood-full", parametrization="linear",
form="natural", noise="gaussian")`. Its edges come from a likelihood test; those of the paper's neural test are in [the
paper's evaluation](reproduction.md). Beyond 20 columns its order, too, is found with chosen parents, not with all placed
variables as in the paper. ICDH (Yin et al. 2024) also has noise whose spread moves; its authors published a script, and no
package on PyPI offers it, so it was not run.

A fit may take {limits}. Where a method finished only some of the tables, their number stands in brackets, and the
figure is not compared: the tables it was stopped on, or has not been given, may be harder."""
ORDER = """\
The {order_divergence}: share of true arrows whose effect is placed before its cause. 0 is perfect; a random order
gives 0.5. PC and GES have no order."""
F1 = "Are the right pairs joined, whatever the direction? 1 is perfect; means over tables."
SECONDS = """\
Median processor time of a fit on one core, without imports. The machine had other work: take them as orders of
magnitude."""
ARROWS = """\
## When directions are invisible

In {world}, reversing an arrow often changes nothing in the data, and its direction should be left open. The last
column is the share of the arrowheads drawn that the truth does not have: the arrow goes the other way, or the pair
is not joined."""
STRICT = """\
## If an open edge counts as wrong

PC, GES and HOST leave some edges without a direction. In the first table such an edge counts as right if the two
variables are joined in truth: the best case. Here every open edge is one error: the worst case. SHD per true edge."""
SIZES = """\
## Other sizes

The same comparison with fewer rows, more rows and more columns; [all tables](results/worlds-sizes.md). A world
counts only if HOST and at least one other method finished all its tables."""
SIZES_HEAD = """# Twelve kinds of data: other sizes

The tables behind [twelve kinds of data](../worlds.md) with fewer rows, more rows and more columns: SHD per true
edge (see there for the worlds and the measure). The best figure of each line is bold. Where a method finished only
some of the tables, their number stands in brackets, and the figure is not compared: the tables it was stopped on, or
has not been given, may be harder. A fit may take {limits}.

{version} Written by `python benchmarks/worlds.py` from [worlds.csv](../../benchmarks/results/worlds.csv)."""
TITLES = {
    "n200": "Fewer rows", "n5000": "More rows", "d30": "More columns", "d30n200": "More columns, fewer rows",
    "d30n5000": "More columns, more rows", "d50": "Many columns",
}  # fmt: skip
COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def pick(rows, setting, world=None, method=None):
    n, d, _ = SETTINGS[setting]
    return [
        row for row in rows
        if (row["n"], row["d"]) == (str(n), str(d)) and world in (None, row["world"]) and method in (None, row["method"])
    ]  # fmt: skip


def whole_rounds(rows):
    """Return the rows of the rounds of four graphs that HOST has been through in all worlds, and of every first round."""
    out = []
    for setting in SETTINGS:
        mine = pick(rows, setting)
        seen = {(row["world"], row["seed"]) for row in mine if row["method"] == "HOST"}
        seeds = [str(seed) for *_, seed in tables(setting)]
        rounds = [seeds[at : at + len(GRAPHS)] for at in range(0, len(seeds), len(GRAPHS))]
        whole = [all((world, seed) in seen for world in WORLDS for seed in some) for some in rounds]
        count = max(1, [*whole, False].index(False))
        shown = {seed for some in rounds[:count] for seed in some}
        out += [row for row in mine if row["seed"] in shown]
    return out


def tables_of(rows, setting):
    """Return the number of tables per world that any method has been given."""
    return len({row["seed"] for row in pick(rows, setting)})


def finished(rows, key):
    """Return the rows that have a value of `key`."""
    return [row for row in rows if not row["error"] and row[key] != ""]


def per_edge(key):
    def value(rows):
        good = finished(rows, key)
        return sum(float(row[key]) for row in good) / sum(int(row["edges"]) for row in good) if good else np.nan

    return value


def over_tables(key, average):
    def value(rows):
        good = finished(rows, key)
        return float(average([float(row[key]) for row in good])) if good else np.nan

    return value


def wrong_share(rows):
    good = finished(rows, "drawn")
    return sum(int(row["wrong"]) for row in good) / max(1, sum(int(row["drawn"]) for row in good)) if good else np.nan


def text(value, form=".2f"):
    return "" if np.isnan(value) else format(value, form)


def methods_of(rows):
    """Return the methods that have finished a table, in the order of the tables."""
    ran = {row["method"] for row in rows if not row["error"]}
    return [method for method in METHODS if method in ran]


def bold_best(cells, values, best, form=".2f"):
    """Return the cells, those that read like the best one in bold."""
    top = text(best([value for value in values if not np.isnan(value)], default=np.nan), form)
    marks = [top != "" and text(value, form) == top for value in values]
    return [f"**{cell}**" if mark else cell for cell, mark in zip(cells, marks, strict=True)]


def complete(rows, count):
    """Say whether a method finished all tables of a world: those it does not finish are the hard ones."""
    return sum(not row["error"] for row in rows) == count


def unfinished(rows):
    good = sum(not row["error"] for row in rows)
    return f" ({good})" if good else ""


def table(rows, setting, value, best=min, form=".2f", methods=None):
    """Return the lines of a table, one line per world and one column per method."""
    mine, count = pick(rows, setting), tables_of(rows, setting)
    methods = methods_of(mine) if methods is None else methods
    methods = [name for name in methods if not np.isnan(value(pick(mine, setting, None, name)))]
    lines = [f"| world | {' | '.join(methods)} |", "|---|" + "---:|" * len(methods)]
    for world in WORLDS:
        values, cells = [], []
        for method in methods:
            some = pick(mine, setting, world, method)
            whole = complete(some, count)
            values.append(value(some) if whole else np.nan)
            cells.append(text(value(some), form) + ("" if whole else unfinished(some)))
        if any(cells):
            lines.append(f"| {world} | {' | '.join(bold_best(cells, values, best, form) if best else cells)} |")
    return lines


def paired(rows, setting, world, pair, key="shd"):
    """Return the difference per true edge, the first method minus the second, on tables of both; and its standard error."""
    one, other = ({row["seed"]: row for row in finished(pick(rows, setting, world, name), key)} for name in pair)
    seeds = sorted(one.keys() & other.keys())
    if len(seeds) < 2:
        return np.nan, np.nan
    edges = np.array([float(one[seed]["edges"]) for seed in seeds])
    gaps = np.array([float(one[seed][key]) - float(other[seed][key]) for seed in seeds])
    mean = gaps.sum() / edges.sum()
    error = np.sqrt(len(seeds) / (len(seeds) - 1) * ((gaps - mean * edges) ** 2).sum()) / edges.sum()
    return float(mean), float(error)


def losses(rows, setting, key):
    """Return the number of worlds with rows of HOST, and a line on each where it is neither the best nor near it."""
    value, lines, count, per_world = per_edge(key), [], 0, tables_of(rows, setting)
    for world in WORLDS:
        picked = {name: pick(rows, setting, world, name) for name in METHODS}
        others = {name: value(some) for name, some in picked.items() if complete(some, per_world)}
        own = others.pop("HOST", np.nan)
        if np.isnan(own) or not others:
            continue
        count += 1
        best = min(others, key=others.get)
        if own > others[best] + NEAR:
            gap, error = paired(rows, setting, world, ("HOST", best), key)
            lines.append(f"- {world}: HOST {own:.2f}, {best} {others[best]:.2f}; difference {gap:.2f} ± {error:.2f}")
    return count, lines


def verdict(rows, setting):
    """Return sentences: in which worlds HOST is neither the best by SHD nor near it."""
    count, lines = losses(rows, setting, "shd")
    if not count:
        return ["HOST has not finished all tables of any world in this setting yet."]
    strict = len(losses(rows, setting, "shd_strict")[1])
    first = (
        f"HOST has the lowest SHD per true edge, or is within {NEAR} of the lowest, in {count - len(lines)} of {count} "
        f"worlds ({count - strict} if open edges count as wrong)."
    )
    if not lines:
        return [first]
    return [f"{first} The others, with the difference to the best method ± one standard error:", "", *lines]


def limits():
    """Return the time limits in words."""
    more = [
        f"{seconds} s with {SETTINGS[setting][0]} rows and {SETTINGS[setting][1]} columns"
        for setting, seconds in LIMITS.items()
    ]
    return f"{LIMIT} s of processor time ({', '.join(more)})"


def described(rows):
    """Return what the tables of the main setting are."""
    n, d, _ = SETTINGS["main"]
    edges = {row["seed"]: int(row["edges"]) for row in pick(rows, "main")}
    return (
        f"Tables of {d} columns and {n} rows, {len(edges)} per world: {len(edges) // len(GRAPHS)} on each kind of graph\n"
        "(Erdős-Rényi and scale-free, with about one and about two edges per column), "
        f"{sum(edges.values())} true edges together."
    )


def failures(rows, setting):
    """Return one sentence per method that failed or was stopped on tables of a setting."""
    lines = []
    for method in METHODS:
        mine = pick(rows, setting, None, method)
        stopped = sum(row["error"] == "limit" for row in mine)
        failed = sum(row["error"] not in ("", "limit") for row in mine)
        for count, what in ((stopped, "was stopped by the time limit"), (failed, "ended with an error")):
            if count:
                lines.append(f"{method} {what} on {count} of the {len(mine)} tables it was given.")
    return lines


def arrows(rows):
    """Return the lines on arrowheads where directions are invisible."""
    lines = ["| method | arrowheads drawn per true edge | share wrong |", "|---|---:|---:|"]
    some = pick(rows, "main", INVISIBLE)
    methods = methods_of(some)
    shares = [wrong_share(pick(some, "main", INVISIBLE, method)) for method in methods]
    marked = bold_best([text(share) for share in shares], shares, min)
    for method, share in zip(methods, marked, strict=True):
        drawn = text(per_edge("drawn")(pick(some, "main", INVISIBLE, method)))
        lines.append(f"| {method} | {drawn} | {share} |")
    return lines


def smaller(rows, setting):
    """Return the section of a further setting."""
    mine = pick(rows, setting)
    n, d, _ = SETTINGS[setting]
    count = f"{tables_of(mine, setting)} tables per world"
    lines = ["", f"## {TITLES[setting]}: n = {n}, d = {d}", "", f"SHD per true edge, {count}.", ""]
    lines += [*table(mine, setting, per_edge("shd")), ""]
    seconds = [f"{method} {median_seconds(mine, setting, method):.2g}" for method in methods_of(mine)]
    absent = [method for method in METHODS if not pick(mine, setting, None, method)]
    not_run = [f"Not run with this size: {', '.join(absent)}."] if absent else []
    lines += [
        f"Median seconds: {', '.join(seconds)}.",
        *not_run,
        *failures(mine, setting),
        "",
        *verdict(mine, setting),
    ]
    return lines


def median_seconds(rows, setting, method):
    return over_tables("seconds", np.median)(pick(rows, setting, None, method))


def sizes_table(rows):
    """Return one line per further setting: where HOST is the best or near it, its time, and tables that were stopped."""
    yield f"| rows | columns | HOST best or within {NEAR} | if open edges count as wrong | median seconds | not finished |"
    yield "|---:|---:|---:|---:|---:|---|"
    for setting in [name for name in TITLES if pick(rows, name)]:
        (n, d, _), mine = SETTINGS[setting], pick(rows, setting)
        counts = [losses(mine, setting, key) for key in ("shd", "shd_strict")]
        cells = [f"{count - len(lines)} of {count} worlds" for count, lines in counts]
        seconds = f"{median_seconds(mine, setting, 'HOST'):.2g}"
        yield f"| {n} | {d} | {' | '.join(cells)} | {seconds} | {' '.join(failures(mine, setting))} |"


def sizes_page(rows):
    rows, version = whole_rounds(rows), made_with("worlds.csv").replace("(results/", "(")
    lines = [prose(SIZES_HEAD, limits=limits(), version=version)]
    for setting in [name for name in TITLES if pick(rows, name)]:
        lines += smaller(rows, setting)
    sorts = [prose(GIVEN_AWAY.replace("(standard", "(../standard")), "", *given_away("worlds, 30 columns")]
    lines += ["", *details("What a sort gives away in the tables of 1000 rows and 30 columns", sorts)]
    return "\n".join(lines) + "\n"


def page(all_rows):
    all_rows = whole_rounds(all_rows)
    rows = pick(all_rows, "main")
    others = COUNTS[sum(not name.startswith("HOST") for name in methods_of(rows))]
    first, *rest = verdict(rows, "main")
    seconds = [median_seconds(rows, "main", method) for method in methods_of(rows)]
    head = prose(
        HEAD, others=others, verdict=first, seconds=seconds[0], fastest=min(seconds[1:]), slowest=max(seconds[1:]),
        version=made_with("worlds.csv"), file=rows_in("worlds.csv"),
    )  # fmt: skip
    lines = [head, "", *rest, *([""] if rest else []), "## SHD per true edge", "", prose(MEASURE), ""]
    lines += [
        *table(rows, "main", per_edge("shd")),
        "",
        prose(WORDS, tables=described(rows), seed=FIRST_SEED, limits=limits()),
    ]
    lines += [*failures(rows, "main"), "", *details("What a sort gives away", given_away("worlds")), ""]
    for title, words, value, best, form in (
        ("Order divergence per true edge", ORDER, per_edge("order_divergence"), min, ".2f"),
        ("Skeleton F1", F1, over_tables("skeleton_f1", np.mean), max, ".2f"),
        ("Seconds", SECONDS, over_tables("seconds", np.median), min, ".2g"),
    ):
        lines += [
            f"## {title}",
            "",
            prose(words),
            "",
            *details("The table", table(rows, "main", value, best, form)),
            "",
        ]
    lines += [prose(ARROWS, world=INVISIBLE), "", *arrows(rows), ""]
    leaving = [name for name in METHODS if any(int(row["open"] or 0) for row in pick(rows, "main", None, name))]
    lines += [prose(STRICT), "", *table(rows, "main", per_edge("shd_strict"), best=None, methods=leaving), ""]
    lines += [prose(SIZES), "", *sizes_table(all_rows)]
    return "\n".join(lines) + "\n"
