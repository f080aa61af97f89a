"""Errors against seconds, all methods: `python benchmarks/cost.py`.

Reads the rows of benchmarks/worlds.py and of the paper's evaluation, and runs nothing. Writes docs/cost.md and its figure.
"""

from pathlib import Path

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

import figures
from heterodag.experiments.methods import METHODS as METHODS_OF_PAPER
from heterodag.experiments.store import RowStore
from pages import details, made_with, prose, rows_in, take_no_arguments
from rows import RESULTS, read
from worlds import LIMIT, LIMITS, SETTINGS, WORLDS
from worlds_page import complete, finished, methods_of, per_edge, pick, tables_of, whole_rounds

PAPER, REPRODUCTION = "paper", RESULTS / "reproduction"
STORE, PAGE = RESULTS / "worlds.csv", Path(__file__).resolve().parents[1] / "docs" / "cost.md"
#: Names in the paper's evaluation of methods that the worlds have, too.
SAME = {"HOST-paper": "HOST.paper"}
HEAD = """# Errors against seconds

What does a smaller error cost? Each point is a method on [twelve kinds of data](worlds.md): errors per true edge
({shd}) against the median processor time of a fit, worlds together. {sentence} The last panel has the methods of [the
paper's evaluation](reproduction.md) on its data.

![Errors per true edge against seconds of a fit, one point per method and size](images/cost.svg)

{version} Written by `python benchmarks/cost.py` from {file}; `python benchmarks/worlds.py run` and `heterodag reproduce`
make the rows, on seeds on which nothing was chosen. Seconds are those of one core, without imports, on a machine that had
other work: take them as orders of magnitude. An open edge counts as right if the pair is joined in truth. Methods that did
not finish all tables of a size are not in its panel. In the paper's evaluation columns keep their units, and methods that
only make an order get their edges, and the seconds for them, from LCIT. {unfinished}"""


def points(rows):
    """Return setting -> method -> (median seconds, errors per true edge) of methods that finished all tables."""
    rows, out = whole_rounds(rows), {}
    for setting in SETTINGS:
        mine = pick(rows, setting)
        count = tables_of(mine, setting) * len(WORLDS)
        found = {}
        for method in methods_of(mine):
            own = pick(mine, setting, None, method)
            if complete(own, count):
                seconds = float(np.median([float(row["seconds"]) for row in finished(own, "seconds")]))
                found[method] = seconds, per_edge("shd")(own)
        if len(found) > 1 and "HOST" in found:
            out[setting] = found
    return out


def paper_points():
    """Return the same of the paper's linear data with 500 rows and 10 columns, for methods that finished all tables."""
    by_method = {}
    for row in RowStore(REPRODUCTION).rows():
        if (row["source"], row["mechanism"], row["n"], row["d"]) == ("simulated", "linear", 500, 10):
            by_method.setdefault(row["method"], []).append(row)
    count, out = max(map(len, by_method.values())), {}
    for name, method in METHODS_OF_PAPER.items():
        own = [row for row in by_method.get(name, []) if row["status"] == "done"]
        if len(own) == count:
            test = "own" if method.own_edges else "lcit"
            seconds = [row["fit_cpu_seconds"] + (0 if method.own_edges else row["lcit_seconds"]) for row in own]
            errors = sum(row[f"{test}_shd"] for row in own) / sum(row["true_edges"] for row in own)
            out[name] = float(np.median(seconds)), errors
    return out


def unfinished(rows):
    """Return a sentence on every size at which HOST has not finished all tables: these have no panel."""
    out = []
    for setting in SETTINGS:
        mine = pick(whole_rounds(rows), setting)
        own, count = pick(mine, setting, None, "HOST"), tables_of(mine, setting) * len(WORLDS)
        if mine and not complete(own, count):
            (n, d, _), done = SETTINGS[setting], len(finished(own, "shd"))
            stopped = sum(row["error"] == "limit" for row in own)
            out.append(
                f"With {n} rows and {d} columns HOST is not compared: it has finished {done} of {count} tables so far, and "
                f"was stopped after {LIMITS.get(setting, LIMIT)} s on {stopped}."
            )
    return " ".join(out)


def flat(found):
    """Return the points as curves of one point each, for the figure's mark."""
    return {f"{setting} {name}": ([x], [y]) for setting, own in found.items() for name, (x, y) in own.items()}


def title_of(setting):
    """Return what a panel shows."""
    if setting == PAPER:
        return "paper's data, 500 rows, 10 columns"
    n, d, _ = SETTINGS[setting]
    return f"{n:,} rows, {d} columns"


def draw(found):
    """Draw a panel per size."""
    columns = min(3, len(found))
    panels = figures.axes(3.1 * columns + 1.2, 3.0 * -(-len(found) // columns) + 0.4, len(found), columns)
    names = dict.fromkeys(SAME.get(name, name) for own in found.values() for name in own)
    looks = dict(zip(names, zip([*figures.COLOURS] * 2, figures.MARKERS * 2, strict=False), strict=False))
    for ax, (setting, own) in zip(panels, found.items(), strict=True):
        for name, (x, y) in own.items():
            colour, marker = looks[SAME.get(name, name)]
            ax.plot([x], [y], color=colour, marker=marker, linestyle="", markersize=6)
        ax.set(xscale="log", xlabel="seconds per fit", title=title_of(setting), ylim=(0, None))
        ax.set_ylabel("errors per true edge")
        ax.xaxis.set_minor_formatter(NullFormatter())
    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="", markersize=6, label=name)
        for name, (colour, marker) in looks.items()
    ]
    panels[0].figure.legend(handles=handles, frameon=False, fontsize=8, loc="outside right center")
    figures.save(panels[0].figure, "cost", flat(found))


def sentence(found):
    """Return what the main panel says."""
    own = found["main"]
    others = {name: point for name, point in own.items() if not name.startswith("HOST")}
    best = min(others, key=lambda name: others[name][1])
    (seconds, error), (least, other) = own["HOST"], others[best]
    return (
        f"With 1,000 rows and 10 columns, HOST makes {error:.2f} errors per true edge in {seconds:.1f} seconds; the best of "
        f"the others, {best}, makes {other:.2f} in {least:.2g}."
    )


def all_points(rows):
    """Return the points of all panels."""
    return points(rows) | {PAPER: paper_points()}


def page(rows):
    found = all_points(rows)
    lines = [
        prose(
            HEAD,
            sentence=sentence(found),
            unfinished=unfinished(rows),
            version=made_with(STORE.name, "reproduction/rows.jsonl"),
            file=rows_in(STORE.name, "reproduction/rows.jsonl"),
        ),
        "",
    ]
    for setting, own in found.items():
        rows = [f"| {name} | {error:.2f} | {seconds:.2g} |" for name, (seconds, error) in own.items()]
        title = title_of(setting)
        heads = ["| method | errors per true edge | median seconds |", "|---|---:|---:|"]
        lines += [*details(title[0].upper() + title[1:], [*heads, *rows]), ""]
    return "\n".join([*lines, ""])


def main():
    take_no_arguments(__doc__)
    rows = read(STORE)
    PAGE.write_text(page(rows), encoding="utf-8")
    draw(all_points(rows))
    print("wrote docs/cost.md")


if __name__ == "__main__":
    main()
