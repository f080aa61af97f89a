"""Can I believe these numbers? `python benchmarks/confidence.py [run] [--tables N] [--resamples N] [--jobs N]`.

`run` fits HOST() and its bootstrap to the worlds of benchmarks/directions.py, on seeds that nothing was chosen on, and
stores one row per ordered pair of columns in benchmarks/results/confidence.csv: frequencies, p-value, and the truth. What is
there is not run again. Without it, only docs/confidence.md and its figure are made, from these rows and from those of
benchmarks/directions.py (evidence for directions).
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import warnings
from pathlib import Path

import numpy as np

import directions
import figures
import real_pairs
from heterodag.ordering.directions import OPEN_BELOW
from pages import made_with, prose, rows_in
from rows import RESULTS, append_results, read

FIRST_SEED, TABLES, SIZES, D, RESAMPLES = 170_000, 4, (300, 1000), 8, 20
TABLE = ("world", "n", "seed")
FIELDS = (*TABLE, "resamples", "cause", "effect", "frequency", "adjacent", "pvalue", "learned", "true", "joined")
STORE, PAGE = RESULTS / "confidence.csv", Path(__file__).resolve().parents[1] / "docs" / "confidence.md"
#: Upper ends of the bins of frequencies; each bin begins where the one before ends.
FREQUENCIES = (0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
LEVELS = (0.05, 0.01, 0.001)


def run_cell(world, n, seed, resamples):
    """Return a row per ordered pair of columns of one simulated table."""
    from heterodag import HOST, bootstrap, simulate

    kind, degree = directions.GRAPHS[seed % 4]
    mean, spread, noise = world
    data = simulate(n, D, kind, degree, mean, spread=spread, noise=noise, random_state=seed)
    truth = data.adjacency
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HOST().fit(data.X)
        found = bootstrap(HOST(), data.X, resamples, random_state=seed, n_jobs=1)
    table = dict(zip(TABLE, (directions.name_of(world), n, seed), strict=True)) | {"resamples": found.n_resamples}
    return [
        table | {
            "cause": i, "effect": j, "frequency": f"{found.directed[i, j]:.4g}", "adjacent": f"{found.adjacent[i, j]:.4g}",
            "pvalue": "" if np.isnan(model.pvalues_[i, j]) else f"{model.pvalues_[i, j]:.4g}",
            "learned": int(model.adjacency_[i, j]), "true": int(truth[i, j]), "joined": int(truth[i, j] | truth[j, i]),
        }
        for i in range(D) for j in range(D) if i != j
    ]  # fmt: skip


def numbers(rows, key):
    return np.array([float(row[key]) for row in rows])


def reliability(values, true, ends, closed_above=True):
    """Return (mean value, share true, count) of the bins that end at `ends`, those without values left out."""
    bins = np.digitize(values, ends, right=closed_above)
    inside = [bins == at for at in range(len(ends)) if (bins == at).any()]
    return [(float(values[here].mean()), float(true[here].mean()), int(here.sum())) for here in inside]


def visible(rows):
    """Return the rows of worlds that tell directions, and the others."""
    return ([row for row in rows if (row["world"] != directions.INVISIBLE) is seen] for seen in (True, False))


def frequency_curves(rows):
    """Return label -> bins of frequencies: of edges where directions can be seen and where not, and of links."""
    seen, hidden = visible(rows)
    links = [row for row in rows if int(row["cause"]) < int(row["effect"])]
    return {
        "edges": reliability(numbers(seen, "frequency"), numbers(seen, "true"), FREQUENCIES),
        "edges, directions invisible": reliability(
            numbers(hidden, "frequency"), numbers(hidden, "true"), FREQUENCIES
        ),
        "links": reliability(numbers(links, "adjacent"), numbers(links, "joined"), FREQUENCIES),
    }


def nat_curve(rows):
    """Return bins of nats: mean nats, share of arrows between linked variables that are right, count."""
    own = [row for row in rows if row["verdict"] in ("right", "turned") and row["world"] != directions.INVISIBLE]
    right = np.array([row["verdict"] == "right" for row in own], dtype=float)
    return reliability(numbers(own, "nats"), right, [high for _, high in directions.BINS], closed_above=False)


def null_shares(rows):
    """Return level -> (share of tested pairs, not joined in truth, with a p-value below it; number of such pairs)."""
    own = numbers([row for row in rows if row["pvalue"] != "" and row["joined"] == "0"], "pvalue")
    return {level: (float((own < level).mean()), len(own)) for level in LEVELS}


def curves(rows, arrows):
    """Return what the figure shows, label -> (x, y)."""
    drawn = {label: bins for label, bins in frequency_curves(rows).items() if bins} | {"arrows": nat_curve(arrows)}
    shown = {label: tuple(zip(*[bin_[:2] for bin_ in bins], strict=True)) for label, bins in drawn.items()}
    return shown | {"p-values": (LEVELS, [share for share, _ in null_shares(rows).values()])}


def draw(shown):
    """Draw the three reliability curves side by side."""
    frequency, nats, level = figures.axes(9.6, 3.4, 3)
    for (label, (x, y)), colour in zip(shown.items(), figures.COLOURS, strict=False):
        ax = level if label == "p-values" else nats if label == "arrows" else frequency
        ax.plot(x, y, color=colour, marker="o", markersize=4, linewidth=1.5, label=label)
    frequency.plot([0, 1], [0, 1], color="0.6", linewidth=1, linestyle="--", label="as a probability")
    frequency.set(xlabel="frequency in resamples", ylabel="share true")
    grid = np.linspace(0, 40, 200)
    nats.plot(grid, 1 / (1 + np.exp(-grid)), color="0.6", linewidth=1, linestyle="--", label="if nats were exact")
    nats.axvline(9, color="0.8", linewidth=1)
    nats.set(
        xlabel="nats for the direction (line: open below)",
        ylabel="share of arrows right",
        xlim=(0, 40),
        ylim=(0.4, 1.02),
    )
    ends = (min(LEVELS), max(LEVELS))
    level.plot(ends, ends, color="0.6", linewidth=1, linestyle="--", label="a test that keeps its level")
    level.set(xlabel="level", ylabel="unlinked pairs below it", xscale="log", yscale="log")
    for ax in (frequency, nats, level):
        ax.legend(frameon=False, fontsize=7)
    figures.save(frequency.figure, "confidence", shown)


HEAD = """# Can I believe these numbers?

Every edge comes with three numbers that say how sure it is: the *frequency* with which it returns in resamples, the
*nats* for its direction, and its *p-value*. Here each is compared with the truth, over twelve kinds of simulated data.

- **Frequency.** Of the edges that return in more than 95 % of the resamples, {often:.0f} % are true, direction
  included; of those in 25 to 50 %, {half:.0f} %. {frequent_words}
- **Nats.** Of the arrows with 9 nats or more between linked variables, {sure:.1f} % point the right way; of those with
  less, which are drawn without an arrowhead, {unsure:.0f} %. Arrows that join unlinked variables come on top: with them,
  {wrong:.1f} % of the arrows with 9 nats or more are wrong. Data whose directions cannot be seen are left out of the
  figures for frequencies and nats; [directions](directions.md) shows them. All this holds where the model does: on [real
  pairs](pairs.md#real-pairs), 9 nats or more are right in {real:.0f} % only.
- **P-values.** Of the {pairs} tested pairs that are not linked in truth, {below} get a p-value below 0.001
  ({false:.2f} %). {level_words}

![Three curves: share true by frequency, share right by nats, share of unlinked pairs by level](images/confidence.svg)

{version} Frequencies and p-values: {tables} tables per kind of data and number of rows ({sizes}), {d} columns, {resamples}
resamples, seeds from {seed}. Nats: the rows of [how sure is an arrow](directions.md). The default and its thresholds were
chosen on other seeds. Written by `python benchmarks/confidence.py` from {files}; the same command with `run` makes the
rows."""
FREQUENCY = """## Frequencies

If frequencies were probabilities, the columns *mean frequency* and *true* would agree. Where directions cannot be seen
(straight lines, constant spread, normal noise), look at links, not at arrows."""
NATS = """## Nats

If the model of a table were exactly right and both directions equally likely beforehand, evidence of x nats would make
an arrow right with probability 1 / (1 + exp(-x)). Real models are not exactly right, hence the limit of 9 nats below
which edges are open."""
LEVELS_TEXT = """## P-values

P-values are those of the edge test after the order was learned and parents were chosen by the same rows, so they need not
keep their level. [Edge tests](calibration.md) shows what the tests do when the order is given."""


def in_words(often, half):
    """Return what to make of frequencies, given the per cent true above 0.95 and between 0.25 and 0.5."""
    if often < 90:
        return "A high frequency is no proof: the same rows make the same mistake again."
    if half < 25:
        return "High frequencies can be believed; middling ones promise more than they keep."
    return "Read a frequency as a rough probability."


def lead(rows, arrows):
    seen, _ = visible(rows)
    frequency, true = numbers(seen, "frequency"), numbers(seen, "true")

    def share(low, high):
        here = (frequency > low) & (frequency <= high)
        return 100 * true[here].mean() if here.any() else np.nan

    linked = [row for row in arrows if row["world"] != directions.INVISIBLE and row["verdict"] != "no edge"]
    sure, unsure = (directions.counted(linked, low, high) for low, high in ((9, np.inf), (0, 9)))
    false, pairs = null_shares(rows)[0.001]
    drawn = [row for row in linked if float(row["nats"]) >= OPEN_BELOW]
    return prose(
        HEAD, often=share(0.95, 1), half=share(0.25, 0.5), sure=100 * sure[1] / sure[0],
        unsure=100 * unsure[1] / unsure[0], wrong=100 * np.mean([row["verdict"] != "right" for row in drawn]),
        false=100 * false, pairs=pairs, below=round(false * pairs),
        real=100 * real_pairs.share([row for row in read(real_pairs.STORE) if row["open"] == "0"]),
        frequent_words=in_words(share(0.95, 1), share(0.25, 0.5)),
        level_words="That is about what the level promises." if false < 0.003
        else f"That is about {1000 * false:.0f} times what the level promises: a small p-value says that a link fits, not "
        "that it must be there.",
        version=made_with(STORE.name, directions.STORE.name),
        tables=len({row["seed"] for row in rows}), sizes=" and ".join(map(str, SIZES)), d=D,
        resamples=", ".join(sorted({row["resamples"] for row in rows})), seed=FIRST_SEED,
        files=rows_in(STORE.name, directions.STORE.name),
    )  # fmt: skip


def page(rows, arrows):
    lines = [
        lead(rows, arrows),
        "",
        prose(FREQUENCY),
        "",
        "| what | mean frequency | pairs | true |",
        "|---|---:|---:|---:|",
    ]
    for label, bins in frequency_curves(rows).items():
        lines += [f"| {label} | {x:.2f} | {count} | {y:.2f} |" for x, y, count in bins]
    lines += ["", prose(NATS), "", "| mean nats | arrows | right |", "|---:|---:|---:|"]
    lines += [f"| {x:.1f} | {count} | {y:.3f} |" for x, y, count in nat_curve(arrows)]
    lines += [
        "",
        prose(LEVELS_TEXT),
        "",
        "| level | tested pairs without a link | below the level |",
        "|---:|---:|---:|",
    ]
    lines += [f"| {level} | {count} | {100 * share:.2f} % |" for level, (share, count) in null_shares(rows).items()]
    return "\n".join([*lines, ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="?", choices=["run"])
    parser.add_argument("--tables", type=int, default=TABLES, help="tables per world and number of rows")
    parser.add_argument("--resamples", type=int, default=RESAMPLES)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--store", type=Path, default=STORE)
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args()
    if options.command:
        done = {tuple(row[key] for key in TABLE) for row in read(options.store)}
        cells = [
            (world, n, options.first_seed + t, options.resamples)
            for t in range(options.tables) for world in directions.WORLDS for n in SIZES
            if (directions.name_of(world), str(n), str(options.first_seed + t)) not in done
        ]  # fmt: skip
        append_results(options.store, FIELDS, run_cell, cells, options.jobs, every=12)
    rows, arrows = read(options.store), read(directions.STORE)
    options.out.write_text(page(rows, arrows), encoding="utf-8")
    if options.store == STORE:
        draw(curves(rows, arrows))
    print(f"wrote {options.out.name}")


if __name__ == "__main__":
    main()
