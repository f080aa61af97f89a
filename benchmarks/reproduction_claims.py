"""The sentences with which the stored rows answer the paper's claims; the claims are in reproduction_notes.md.

Every number in these sentences is computed from the rows when the page is written.
"""

import math
from pathlib import Path

import numpy as np
import pandas as pd

from heterodag.experiments.summary import interval
from heterodag.experiments.summary_tables import PAPER_SACHS

PAPER, OURS = "HOST (paper)", "HOST (heterodag)"
RIVALS = ("VarSort", "EqVar", "NPVar", "DiffAN")

NOTES = Path(__file__).with_name("reproduction_notes.md")


def notes():
    """Return, per experiment, the paper's claim and our reasons ("" if none), as paragraphs."""
    found = {}
    for part in NOTES.read_text(encoding="utf-8").split("\n## ")[1:]:
        name, text = part.split("\n", 1)
        paragraphs = [paragraph.strip() for paragraph in text.strip().split("\n\n")]
        found[name.strip()] = (paragraphs[0], paragraphs[1] if len(paragraphs) > 1 else "")
    return found


def best_counts(summary, measure, label, higher):
    """Return in how many settings `label` has the best mean of a measure (ties count), and how many there are."""
    part = summary[(summary["measure"] == measure) & summary["mean"].notna()]
    if label.startswith("HOST (paper"):
        part = part[~part["label"].str.startswith("HOST (heterodag")]
    won = settings = 0
    for _, lines in part.groupby(["graph", "n", "d"]):
        if label in set(lines["label"]) and len(lines) > 1:
            means = lines.set_index("label")["mean"] * (1 if higher else -1)
            settings += 1
            won += bool(means[label] >= means.max() - 1e-12)
    return won, settings


def paired(rows, better, worse, column, chosen):
    """Return mean difference `worse` - `better` over the tables both finished, its interval, and their number."""
    frame = pd.DataFrame([row for row in rows if chosen(row) and row["method"] in (better, worse)])
    if frame.empty or column not in frame:
        return None
    wide = frame.pivot_table(index=["graph", "n", "d", "repeat"], columns="method", values=column)
    if not {better, worse} <= set(wide.columns):
        return None
    difference = (wide[worse] - wide[better]).dropna()
    if len(difference) < 2:
        return None
    mean, _, low, high = interval(list(difference))
    return mean, low, high, len(difference)


def verdict(won, settings):
    share = won / settings
    if share >= 0.95:
        return "as claimed"
    return "mostly as claimed" if share >= 0.75 else "not as claimed" if share < 0.5 else "only in part as claimed"


def lead_sentences(experiment, summary, paper_label=PAPER, our_label=OURS):
    """Return, per measure, how often the paper's HOST leads its rivals, and how often ours leads all."""
    lines = []
    for measure in experiment.measures:
        higher = measure.better == "higher"
        won, settings = best_counts(summary, measure.title, paper_label, higher)
        own, all_settings = best_counts(summary, measure.title, our_label, higher)
        if settings:
            lines.append(
                f"{measure.title}: {paper_label} has the best mean among the paper's methods in {won} of {settings} "
                f"settings ({verdict(won, settings)}); {our_label} has the best of all in {own} of {all_settings}."
            )
    return lines


def ends_sentences(experiment, summary, axis, labels=(PAPER, OURS)):
    """Return the means over graph types at the smallest and the largest size, a sentence per measure."""
    lines = []
    for measure in experiment.measures:
        part = summary[(summary["measure"] == measure.title) & summary["mean"].notna()]
        texts = []
        for label in labels:
            mine = part[part["label"] == label]
            if not mine.empty:
                low, high = mine[axis].min(), mine[axis].max()
                first, last = (mine.loc[mine[axis] == value, "mean"].mean() for value in (low, high))
                texts.append(f"{label} {first:.2f} at {axis} = {int(low):,}, {last:.2f} at {axis} = {int(high):,}")
        if texts:
            lines.append(f"{measure.title}, mean over graph types: {'; '.join(texts)}.")
    return lines


def npvar_lines(rows, axis):
    """Return the paired comparison of the paper's HOST with NPVar at every size, as a table with a sentence before it."""
    lines = []
    for value in sorted({row[axis] for row in rows}):
        found = paired(rows, "NPVar", "HOST-paper", "order_divergence", lambda row, value=value: row[axis] == value)
        if found is not None:
            mean, low, high, count = found
            who = "NPVar" if low > 0 else PAPER if high < 0 else "neither"
            lines.append(f"| {value:,} | {count} | {mean:+.2f} | {low:+.2f} to {high:+.2f} | {who} |")
    if not lines:
        return []
    return [
        f"**Beside NPVar.** Order divergence of {PAPER} less that of NPVar, on the same tables:",
        "",
        f"| {axis} | tables | difference | 95 % interval | ahead |",
        "|---:|---:|---:|---|---|",
        *lines,
        "",
    ]


def runtime_sentences(summary):
    """Return how many times slower than both HOSTs each rival is, at both ends of both axes."""
    lines = []
    for axis in ("n", "d"):
        part = summary[(summary["axis"] == axis) & summary["mean"].notna()]
        for value in (part[axis].min(), part[axis].max()) if len(part) else ():
            means = part[part[axis] == value].set_index("label")["mean"]
            for label in (PAPER, OURS):
                ratios = [
                    f"{rival} {ratio(means[rival] / means[label])}"
                    for rival in RIVALS
                    if {rival, label} <= set(means.index)
                ]
                if ratios:
                    lines.append(
                        f"{axis} = {int(value):,}, time relative to {label} ({means[label]:.2g} s): {', '.join(ratios)}."
                    )
    return lines


def ratio(value):
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"


def sachs_sentences(summary):
    lines = summary[summary["measure"] == "Order divergence"].set_index("label")
    part = lines["mean"].dropna()
    if not {PAPER, *RIVALS} <= set(part.index):
        return ["Not all of the paper's methods have been run yet."]
    least = min(RIVALS, key=lambda rival: part[rival])
    text = f"Order divergence: {PAPER} {part[PAPER]:.1f}, best rival of the paper ({least}) {part[least]:.1f}"
    text += "".join(f", {name} {part[name]:.1f}" for name in better_others(part, part[least]))
    text += f", {OURS} {part[OURS]:.1f}." if OURS in part.index and not math.isnan(part[OURS]) else "."
    share = part[PAPER] / np.mean([part[rival] for rival in RIVALS])
    printed = {name: float(values[0].split()[0]) for name, values in PAPER_SACHS.items()}
    claimed = printed["HOST-paper"] / np.mean([printed[rival] for rival in RIVALS])
    return [
        text,
        f"{PAPER} makes {100 * share:.0f} % of the others' mean errors; the paper's table gives {100 * claimed:.0f} %.",
        *spread_sentence(lines),
    ]


def better_others(means, best):
    """Return the methods, HOST and the paper's rivals for these data left out, whose mean is below `best`."""
    others = [name for name in means.index if not name.startswith("HOST") and name not in RIVALS]
    return [name for name in others if means[name] < best]


def spread_sentence(lines):
    """Say so if the paper's standard errors look like standard deviations over subsamples."""
    error, runs = lines.loc["EqVar", "error"], lines.loc["EqVar", "runs"]
    deviation, printed = error * math.sqrt(runs), float(PAPER_SACHS["EqVar"][0].split()[-1])
    if abs(deviation - printed) >= abs(error - printed):
        return []
    return [
        f"EqVar's order divergence has a standard error of {error:.2f} here, and a standard deviation of {deviation:.2f}; "
        f"the paper gives {printed:.2f}: what it calls standard errors may be standard deviations."
    ]


def labels_of(experiment):
    """Return the labels of the paper's HOST and of ours in an experiment."""
    return ("HOST (paper, MLP)", OURS) if experiment.name == "nonlinear" else (PAPER, OURS)


def claims(experiment, summary):
    """Return one (measure, what was measured, does the claim hold, what our HOST does) per claim of an experiment."""
    if experiment.name == "runtime":
        return [runtime_claim(summary)]
    if experiment.name == "sachs":
        return [sachs_claim(summary, measure.title) for measure in experiment.measures[:3]]
    paper, ours = labels_of(experiment)
    found = []
    for measure in experiment.measures:
        higher = measure.better == "higher"
        won, settings = best_counts(summary, measure.title, paper, higher)
        own = "best in {} of {}".format(*best_counts(summary, measure.title, ours, higher))
        found.append((measure.title, f"best in {won} of {settings}", verdict(won, settings), own))
        if experiment.name == "sample-size":
            found.append(vanishing_claim(summary, measure.title))
    return found


def vanishing_claim(summary, title):
    """Return the claim that the errors of HOST go to zero as rows are added."""
    ends = {}
    for label in (PAPER, OURS):
        mine = summary[(summary["measure"] == title) & (summary["label"] == label)]
        ends[label] = [mine.loc[mine["n"] == n, "mean"].mean() for n in (mine["n"].min(), mine["n"].max())]
    first, last = ends[PAPER]
    holds = "as claimed" if last == 0 else "only in part as claimed" if last < first else "not as claimed"
    texts = ["falls from {:.2f} to {:.2f}".format(*ends[label]) for label in (PAPER, OURS)]
    return f"{title} vanishes with more rows", texts[0], holds, texts[1]


def sachs_claim(summary, title):
    """Return the claim about one measure of the Sachs data: HOST is the best of the paper's methods."""
    part = summary[summary["measure"] == title].set_index("label")["mean"]
    least = min(RIVALS, key=lambda rival: part[rival])
    text = f"{part[PAPER]:.1f}; best rival of the paper {part[least]:.1f} ({least})"
    text += "".join(f"; {name} {part[name]:.1f}" for name in better_others(part, part[least]))
    return title, text, verdict(int(part[PAPER] <= part[least]), 1), f"{part[OURS]:.1f}"


def runtime_claim(summary):
    """Return the claim about time: the paper's HOST is faster than NPVar and DiffAN."""
    counts = {}
    for label in (PAPER, OURS):
        for rival in ("NPVar", "DiffAN"):
            means = {
                name: summary[(summary["label"] == name) & summary["mean"].notna()]
                .drop_duplicates(["n", "d"]).set_index(["n", "d"])["mean"]
                for name in (label, rival)
            }  # fmt: skip
            both = means[label].index.intersection(means[rival].index)
            counts[label, rival] = int((means[label][both] < means[rival][both]).sum()), len(both)
    texts = {
        label: "faster than " + ", than ".join("{} at {} of {} sizes".format(rival, *counts[label, rival])
                                               for rival in ("NPVar", "DiffAN"))
        for label in (PAPER, OURS)
    }  # fmt: skip
    won, settings = (sum(counts[PAPER, rival][k] for rival in ("NPVar", "DiffAN")) for k in (0, 1))
    return "Time", texts[PAPER], verdict(won, settings), texts[OURS]


def measured(experiment, summary):
    """Return what the rows say about an experiment, a sentence each."""
    if summary.empty:
        return ["No cell has been run."]
    if experiment.name == "runtime":
        return runtime_sentences(summary)
    if experiment.name == "sachs":
        return sachs_sentences(summary)
    lines = lead_sentences(experiment, summary, *labels_of(experiment))
    if experiment.axis in ("n", "d"):
        lines += ends_sentences(experiment, summary, experiment.axis)
    return lines
