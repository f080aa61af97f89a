"""Errors against seconds, all methods: `python benchmarks/cost.py`.

Reads the rows of benchmarks/worlds.py and runs nothing. Writes docs/cost.md and its figure.
"""

from pathlib import Path

import numpy as np

import figures
from pages import made_with, prose, rows_in
from rows import RESULTS, read
from worlds import METHODS, SETTINGS, WORLDS
from worlds_page import complete, finished, methods_of, per_edge, pick, tables_of, whole_rounds

STORE, PAGE = RESULTS / "worlds.csv", Path(__file__).resolve().parents[1] / "docs" / "cost.md"
HEAD = """# Errors against seconds

What does a smaller error cost? Each point is a method on [twelve kinds of data](worlds.md): errors per true edge
({shd}) against the median processor time of a fit, worlds together. {sentence}

![Errors per true edge against seconds of a fit, one point per method and size](images/cost.svg)

{version} Written by `python benchmarks/cost.py` from {file}; `python benchmarks/worlds.py run` makes the rows. Seconds are
those of one core, without imports, on a machine that had other work: take them as orders of magnitude. An open edge counts
as right if the pair is joined in truth. Methods that did not finish all tables of a size are not in its panel.
{unfinished}"""


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
                f"was stopped after 120 s on {stopped}."
            )
    return " ".join(out)


def flat(found):
    """Return the points as curves of one point each, for the figure's mark."""
    return {f"{setting} {name}": ([x], [y]) for setting, own in found.items() for name, (x, y) in own.items()}


def draw(found):
    """Draw a panel per size."""
    panels = figures.axes(3.1 * len(found) + 1.2, 3.4, len(found))
    looks = dict(zip(METHODS, zip([*figures.COLOURS] * 2, figures.MARKERS, strict=False), strict=False))
    for ax, (setting, own) in zip(panels, found.items(), strict=True):
        n, d, _ = SETTINGS[setting]
        for name, (x, y) in own.items():
            colour, marker = looks[name]
            ax.plot([x], [y], color=colour, marker=marker, linestyle="", markersize=7, label=name)
        ax.set(xscale="log", xlabel="seconds per fit", title=f"{n} rows, {d} columns", ylim=(0, None))
    panels[0].set_ylabel("errors per true edge")
    panels[-1].legend(frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
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


def page(rows):
    found = points(rows)
    lines = [
        prose(
            HEAD,
            sentence=sentence(found),
            unfinished=unfinished(rows),
            version=made_with(STORE.name),
            file=rows_in(STORE.name),
        ),
        "",
    ]
    lines += ["| rows | columns | method | errors per true edge | median seconds |", "|---:|---:|---|---:|---:|"]
    for setting, own in found.items():
        n, d, _ = SETTINGS[setting]
        lines += [f"| {n} | {d} | {name} | {error:.2f} | {seconds:.2g} |" for name, (seconds, error) in own.items()]
    return "\n".join([*lines, ""])


def main():
    rows = read(STORE)
    PAGE.write_text(page(rows), encoding="utf-8")
    draw(points(rows))
    print("wrote docs/cost.md")


if __name__ == "__main__":
    main()
