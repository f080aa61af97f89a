"""The page on tables longer than memory, from the rows of `long_tables.py`."""

import numpy as np

import figures
from long_tables import ABLATED_ROWS, ABLATION, FEW_SEEDS, FIRST_SEED, PATH, WITHOUT
from pages import made_with, prose, rows_in
from rows import read

PICTURE = "long-tables"
HEAD = """# Tables longer than memory

How long does a fit of a table on disk take, how much memory does it need, and do errors fall as rows are added? Tables of 20
columns and 40 true edges were written to Parquet files and fitted by `HOST(n_jobs=2).fit(open_table("*.parquet"))`.

{now} Written by `python benchmarks/long_tables.py --out docs/long-tables.md` from {file}; the same command with `run`
makes the rows. Seeds start at {seed}; nothing was chosen on their errors. The tables have straight effects on the
mean and bent ones on the spread, from strong to so weak that few rows cannot show them, and four kinds of noise. The
first rows of a longer table are those of a shorter one. Every process was limited to 1.5 GB (`setrlimit`); "memory"
is the peak of the main process, "worker" that of the larger of its two workers. The machine has two cores and was
shared with other work, so times are longer than they need to be; "processor" is the minutes of all processes together.
{shd} counts open edges by the direction that the graph has. The longest tables were made for {few} seeds only, so errors
are compared on those seeds too: their SHD is {shds} from {fewest:,} to {most:,} rows."""
READING = """All rows, not the sample, decide about edges, about lines or curves, and about directions in doubt. With the
level 0.001 about one pair in a thousand is a false edge by chance, however many rows there are; the column `share` of
`edges()` shows how little such an edge matters."""
RULES = """## Rules for long tables

What happens without the rules that only long tables have (`scores/long.py`, `scores/nested.py`, `ordering/turning.py`)?
Tables of {n:,} rows, means over {seeds} that the rules were made on, by `python benchmarks/long_tables.py ablation`, rows
in {file}. So few tables say little: a difference of one or two edges may be chance."""
GROWTH = "Processor time grows like the number of rows to the power {power:.2f}, from {first:,} to {last:,} rows."


def write(path, draw_figure=True):
    """Write the page and its figure."""
    rows = [row for row in read(PATH) if row["where"] == "disk"]
    sizes = sorted({int(row["n"]) for row in rows})
    shds = ", ".join(f"{shared_shd(rows, n):.1f}" for n in sizes)
    head = prose(
        HEAD, now=made_with(PATH.name), file=rows_in(PATH.name), seed=FIRST_SEED, few=FEW_SEEDS, shds=shds,
        fewest=sizes[0], most=sizes[-1],
    )  # fmt: skip
    lines = [head, ""]
    lines += [
        f"| rows | tables | SHD | SHD, {FEW_SEEDS} seeds | missed | false | order divergence | minutes | processor "
        "| memory (MB) | worker (MB) |",
        "|---" * 11 + "|",
        *(_line(n, [row for row in rows if int(row["n"]) == n]) for n in sizes),
    ]
    lines += ["", prose(READING), "", *_beside_memory(read(PATH))]
    if len(sizes) > 1:
        power = exponents(growth())["processor minutes"]
        lines += [prose(GROWTH, power=power, first=sizes[0], last=sizes[-1]), ""]
        lines += [f"![Time and memory against rows](images/{PICTURE}.svg)"]
        if draw_figure:
            draw()
    lines += ["", *_rules(read(ABLATION))]
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def shared_shd(rows, n):
    """Return the mean SHD at a length over the seeds that all lengths have."""
    return np.mean([int(r["shd"]) for r in rows if int(r["n"]) == n and int(r["seed"]) < FIRST_SEED + FEW_SEEDS])


def _line(n, some):
    """Return what the tables of one length say: means, the range of minutes, and the most memory."""
    first = [row for row in some if int(row["seed"]) < FIRST_SEED + FEW_SEEDS]
    mean = {
        name: np.mean([float(row[name]) for row in some])
        for name in ("shd", "missed", "false", "order", "seconds", "processor")
    }
    minutes = sorted(float(row["seconds"]) / 60 for row in some)
    most = {name: max(float(row[name]) for row in some) for name in ("peak", "worker")}
    return (
        f"| {n:,} | {len(some)} | {mean['shd']:.1f} | {np.mean([float(row['shd']) for row in first]):.1f} "
        f"| {mean['missed']:.1f} | {mean['false']:.1f} | {mean['order']:.1f} "
        f"| {mean['seconds'] / 60:.1f} ({minutes[0]:.1f} to {minutes[-1]:.1f}) | {mean['processor'] / 60:.1f} "
        f"| {most['peak']:.0f} | {most['worker']:.0f} |"
    )


def _rules(rows):
    """Return what every rule is for, as a table."""
    if not rows:
        return []
    seeds = sorted({int(row["seed"]) for row in rows})
    names = f"the seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"the seed {seeds[0]}"
    lines = [prose(RULES, n=ABLATED_ROWS, seeds=names, file=rows_in(ABLATION.name)), ""]
    lines += ["| rule | SHD | missed | false | order divergence | minutes |", "|---" * 6 + "|"]
    for rule, words in WITHOUT.items():
        some = [row for row in rows if row["without"] == rule]
        if some:
            shd, missed, false, order, seconds = (
                np.mean([float(row[name]) for row in some]) for name in ("shd", "missed", "false", "order", "seconds")
            )
            lines.append(f"| {words} | {shd:.1f} | {missed:.1f} | {false:.1f} | {order:.1f} | {seconds / 60:.1f} |")
    return lines


def growth():
    """Return processor minutes and memory against rows, means over tables: the clock depends on other work too."""
    rows = [row for row in read(PATH) if row["where"] == "disk"]
    sizes = sorted({int(row["n"]) for row in rows})

    def means(name, unit):
        return [float(np.mean([float(row[name]) for row in rows if int(row["n"]) == n])) / unit for n in sizes]

    return {"processor minutes": (sizes, means("processor", 60.0)), "memory (MB)": (sizes, means("peak", 1.0))}


def exponents(curves):
    """Return the slopes of straight lines through the logarithms."""
    return {name: float(np.polyfit(np.log(x), np.log(y), 1)[0]) for name, (x, y) in curves.items()}


def draw():
    """Draw time and memory against rows."""
    curves, panels = growth(), figures.axes(8.0, 3.4, 2)
    for (name, (x, y)), ax, colour in zip(curves.items(), panels, figures.COLOURS[1:], strict=False):
        ax.loglog(x, y, "o-", color=colour)
        ax.set(xlabel="rows", ylabel=name, title=f"rows to the power {exponents(curves)[name]:.2f}")
        ax.set_ylim(min(y) / 2.0, max(y) * 2.0)
    figures.save(panels[0].figure, PICTURE, curves)


def _beside_memory(rows):
    """Yield a sentence for every table that was fitted from memory as well."""
    for own in (row for row in rows if row["where"] == "memory"):
        for disk in (row for row in rows if row["where"] == "disk" and row["seed"] == own["seed"]):
            if int(disk["n"]) >= int(own["n"]):
                same = (
                    "the same graph as"
                    if disk["graph"] == own["graph"]
                    else f"SHD {disk['shd']}, against {own['shd']} of"
                )
                yield (
                    f"- Seed {own['seed']}: {int(disk['n']):,} rows on disk give {same} the first {int(own['n']):,} rows in "
                    f"memory (without a limit, {float(own['seconds']) / 60:.1f} minutes, {own['peak']} MB)."
                )
    yield ""
