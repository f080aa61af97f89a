"""The command `demo`: a simulated table that fits the model, then the paper's real data, each with a known graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from heterodag.cli.commands import check_outputs, learn, print_graph, print_outputs, print_trust, write_results
from heterodag.cli.terminal import Screen
from heterodag.datasets import Dataset, load_sachs, simulate_trial
from heterodag.io.exports import GraphResult
from heterodag.io.writing import write_all
from heterodag.metrics import evaluate
from heterodag.report.html import Comparison
from heterodag.report.text import trust_lines

#: The trial's folder inside that of the demo, and the name of its table there.
TRIAL, TABLE = "trial", "trial.csv"


def demo(screen: Screen, out: Path, *, force: bool) -> None:
    """Learn the graphs of a simulated trial and of the Sachs data, compare with the known graphs, write all outputs.

    Parameters
    ----------
    screen : Screen
        Where to print.
    out : Path
        The folder for the results of the Sachs data; those of the trial go into its folder "trial".
    force : bool
        Replace files that an earlier run of heterodag did not write.
    """
    check_outputs(out, force)
    check_outputs(out / TRIAL, force)
    _trial(screen, out / TRIAL)
    screen.say()
    _sachs(screen, out)
    print_outputs(screen, out)
    screen.say(f"Wrote the same for the trial, and its table as {TABLE}, to {out / TRIAL}.")


def _trial(screen: Screen, out: Path) -> None:
    data, title = simulate_trial(), "A simulated drug trial"
    result = _learned(screen, data, out, "the true graph", title=title, source="simulated by heterodag")
    write_all({TABLE: data.data.to_csv(index=False, lineterminator="\n")}, out)
    screen.say(
        f"1. A table that fits the model: a simulated trial, {len(data.X)} patients, {data.X.shape[1]} variables."
    )
    print_graph(screen, result, data.adjacency, "true graph", explain=False)
    _print_distance(screen, result, data, "true graph")
    screen.say(trust_lines(result)[0])


def _sachs(screen: Screen, out: Path) -> None:
    data = load_sachs()
    source = "Sachs et al. (2005), observational cells, raw values"
    title = "Protein signalling in single cells"
    result = _learned(screen, data, out, "the consensus graph", title=title, source=source)
    screen.say(
        f"2. Real data with a known graph, the paper's benchmark: Sachs et al. (2005), {len(data.X)} cells, "
        f"{data.X.shape[1]} proteins."
    )
    print_graph(screen, result, data.adjacency)
    _print_distance(screen, result, data, "consensus graph")
    print_trust(screen, result)


def _learned(screen: Screen, data: Dataset, out: Path, known: str, **texts: Any) -> GraphResult:
    """Fit HOST and write its results, compared with the known graph."""
    model = learn(screen, data.data, {"random_state": 0}, paper=False)
    with screen.busy("Making the report"):
        return write_results(model, data.data, out, comparison=Comparison(data.adjacency, known), **texts)


def _print_distance(screen: Screen, result: GraphResult, data: Dataset, known: str) -> None:
    measures = evaluate(result.adjacency, data.adjacency, order=result.order)
    screen.say(
        f"Against the {known} of {len(data.edges)} edges: order divergence {measures['order_divergence']:.0f}, "
        f"structural Hamming distance {measures['shd']:.0f}."
    )
