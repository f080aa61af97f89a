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
        if settings:
            lines.append(
                f"{measure.title}: {paper_label} has the best mean among the paper's methods in {won} of {settings} "
                f"settings ({verdict(won, settings)})."
            )
        won, settings = best_counts(summary, measure.title, our_label, higher)
        if settings:
            lines.append(f"{measure.title}: {our_label} has the best mean of all in {won} of {settings}.")
    return lines


def ends_sentences(experiment, summary, axis, labels=(PAPER, OURS)):
    """Return the means over graph types at the smallest and the largest size."""
    lines = []
    for measure in experiment.measures:
        part = summary[(summary["measure"] == measure.title) & summary["mean"].notna()]
        for label in labels:
            mine = part[part["label"] == label]
            if mine.empty:
                continue
            first, last = (
                mine.loc[mine[axis] == value, "mean"].mean() for value in (mine[axis].min(), mine[axis].max())
            )
            low, high = int(mine[axis].min()), int(mine[axis].max())
            lines.append(
                f"{measure.title} of {label}, mean over graph types: {first:.2f} at {axis} = {low:,}, {last:.2f} at "
                f"{axis} = {high:,}."
            )
    return lines


def npvar_sentences(rows, axis):
    """Return the paired comparison of the paper's HOST with NPVar at every size."""
    lines = []
    for value in sorted({row[axis] for row in rows}):
        found = paired(rows, "NPVar", "HOST-paper", "order_divergence", lambda row, value=value: row[axis] == value)
        if found is not None:
            mean, low, high, count = found
            who = "NPVar ahead" if low > 0 else f"{PAPER} ahead" if high < 0 else "no clear difference"
            size = f"{axis} = {value:,}"
            lines.append(f"{size}: {mean:+.2f} [{low:+.2f}, {high:+.2f}] on {count} tables ({who})")
    if not lines:
        return []
    return [f"Order divergence of {PAPER} less that of NPVar, same tables, 95 % interval: " + "; ".join(lines) + "."]


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
    text = f"Order divergence: {PAPER} {part[PAPER]:.1f}, best rival ({least}) {part[least]:.1f}"
    text += f", {OURS} {part[OURS]:.1f}." if OURS in part.index and not math.isnan(part[OURS]) else "."
    share = part[PAPER] / np.mean([part[rival] for rival in RIVALS])
    printed = {name: float(values[0].split()[0]) for name, values in PAPER_SACHS.items()}
    claimed = printed["HOST-paper"] / np.mean([printed[rival] for rival in RIVALS])
    return [
        text,
        f"{PAPER} makes {share:.0%} of the others' mean errors; the paper's table gives {claimed:.0%}.",
        *spread_sentence(lines),
    ]


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


def measured(experiment, summary, rows):
    """Return what the rows say about an experiment, a sentence each."""
    if summary.empty:
        return ["No cell has been run."]
    if experiment.name == "runtime":
        return runtime_sentences(summary)
    if experiment.name == "sachs":
        return sachs_sentences(summary)
    names = ("HOST (paper, MLP)", "HOST (heterodag, splines)") if experiment.name == "nonlinear" else (PAPER, OURS)
    lines = lead_sentences(experiment, summary, *names)
    if experiment.axis in ("n", "d"):
        lines += ends_sentences(experiment, summary, experiment.axis)
        if experiment.name in ("sample-size", "dimensionality"):
            lines += npvar_sentences(rows, experiment.axis)
    return lines
