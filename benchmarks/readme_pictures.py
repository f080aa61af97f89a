"""Draw the pictures of the README and of docs/demo.md: `python benchmarks/readme_pictures.py [FOLDER]`.

Writes trial.svg and sachs.svg, the graphs that `heterodag demo` learns, and moving-spread.svg, an effect against its cause
with the fitted mean and band. Text stays text and ids are fixed, so the files are small and change only when the results do.
"""

import argparse
import warnings
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from heterodag import HOST, load_sachs
from heterodag.datasets import simulate_trial
from heterodag.viz import plot_graph

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "heterodag", "font.family": "sans-serif"}
CAUSE, EFFECT, LEVEL = "dose", "level", 0.9
#: Every fourth row: a small file that shows the same.
STEP = 4


def moving_spread(model: HOST, table: pd.DataFrame) -> Figure:
    """Draw the effect against its cause, with its fitted mean and the band that holds 90 % of it."""
    low, high = np.quantile(table[CAUSE], [0.005, 0.995])
    rows = pd.DataFrame([table.median()] * 40).assign(**{CAUSE: np.linspace(low, high, 40)})
    band = model.to_scm().predict_interval(rows, EFFECT, level=LEVEL)
    figure = Figure(figsize=(5.6, 3.4), layout="constrained")
    axes = figure.add_subplot()
    shown = table[::STEP]
    axes.scatter(shown[CAUSE], shown[EFFECT], s=8, color="0.35", linewidths=0, alpha=0.7, label="patients")
    axes.plot(rows[CAUSE], band["mean"], color="tab:blue", linewidth=2, label="fitted mean")
    label = "fitted band: 90 % of patients of median age"
    axes.fill_between(
        rows[CAUSE], band["lower"], band["upper"], color="tab:blue", alpha=0.2, linewidth=0, label=label
    )
    axes.set(xlabel="dose in mg (the cause)", ylabel="blood level (the effect)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper left", frameon=False, fontsize=9)
    return figure


def main(folder: Path) -> None:
    matplotlib.rcParams.update(STYLE)
    folder.mkdir(parents=True, exist_ok=True)
    trial, sachs = simulate_trial().data, load_sachs().data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = HOST().fit(trial)
        figures = {
            "trial.svg": plot_graph(model).figure,
            "moving-spread.svg": moving_spread(model, trial),
            "sachs.svg": plot_graph(HOST().fit(sachs)).figure,
        }
    for name, figure in figures.items():
        figure.savefig(folder / name, metadata={"Date": None}, facecolor="white")
        print(f"Wrote {name}.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=IMAGES)
    main(parser.parse_args().folder)
