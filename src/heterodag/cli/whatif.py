"""The command `whatif`: what happens to some variables if others are set, in the fitted causal model of a result."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heterodag.cli.terminal import Screen
from heterodag.errors import DataError, HeterodagError, ParameterError
from heterodag.scm import HeteroscedasticSCM, Set, Shift

#: The causal model in the folder of results that `fit` writes.
MODEL = "model.json"


def whatif(
    screen: Screen,
    results: Path,
    *,
    set_to: Sequence[str],
    shift_by: Sequence[str],
    on: Sequence[str],
    level: float,
    n: int,
    seed: int,
    as_json: bool,
) -> None:
    """Print how an intervention changes the mean, the spread and the quantiles of variables.

    Parameters
    ----------
    screen : Screen
        Where to print.
    results : Path
        The folder that `heterodag fit` wrote, or a file of `HeteroscedasticSCM.save`.
    set_to, shift_by : sequences of str
        Interventions as ``name=number``: set to a value, or shifted by an amount.
    on : sequence of str
        The variables to look at; empty for all that the intervention can reach.
    level : float
        Level of the intervals.
    n, seed : int
        Number of simulated rows, and the seed of their noise.
    as_json : bool
        Print one JSON object instead of tables.
    """
    scm = HeteroscedasticSCM.load(_model_file(results))
    do = _actions(set_to, Set, "--set") | _actions(shift_by, Shift, "--shift")
    if not do:
        raise HeterodagError("Say what to change, as in --set dose=3 or --shift dose=0.5.")
    targets = list(on) or _reached(scm, do)
    if not targets:
        raise HeterodagError(f"Nothing in the graph follows from {', '.join(do)}: name what to look at with --on.")
    frames = {target: scm.contrast(do, target, level=level, n=n, random_state=seed) for target in targets}
    if as_json:
        screen.say(json.dumps({target: frame.to_dict("index") for target, frame in frames.items()}))
        return
    screen.say(
        f"If {_words(set_to, 'is set to')}{' and ' if set_to and shift_by else ''}{_words(shift_by, 'moves by')}:"
    )
    for target, frame in frames.items():
        screen.say()
        header = [target, "without", "with", "difference", f"{level:.0%} interval"]
        screen.table(header, [_row(str(name), row.to_dict()) for name, row in frame.drop("variance").iterrows()])
    screen.say()
    screen.say("Intervals cover the errors of the fitted mechanisms, not those of the graph.")


def _model_file(results: Path) -> Path:
    if not results.is_dir():
        return results
    if not (results / MODEL).exists():
        raise DataError(
            f"Folder '{results}' has no {MODEL}: name a folder that `heterodag fit` wrote, or a file of "
            "HeteroscedasticSCM.save."
        )
    return results / MODEL


def _actions(texts: Sequence[str], kind: Any, option: str) -> dict[str, Any]:
    """Read ``name=number``; the name may itself contain equals signs."""
    found = {}
    for text in texts:
        name, sign, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not sign or not math.isfinite(value):
            raise ParameterError(option, "be a variable and a number, as in dose=3", text)
        if name in found:
            raise ParameterError(option, "name every variable once", name)
        found[name] = kind(value)
    return found


def _reached(scm: HeteroscedasticSCM, do: dict[str, Any]) -> list[str]:
    """Return the variables that the intervention can reach, causes first."""
    from heterodag.core.graph import descendants
    from heterodag.io.inputs import column_index

    causes = [column_index("--set", name, scm.names) for name in do]
    reach = np.flatnonzero(descendants(scm.adjacency)[causes].any(axis=0)).tolist()
    return [scm.names[j] for j in scm.order if j in reach and j not in causes]


def _words(texts: Sequence[str], verb: str) -> str:
    return " and ".join(f"{name} {verb} {number}" for name, _, number in (text.rpartition("=") for text in texts))


def _row(name: str, row: dict[Any, float]) -> list[str]:
    interval = f"{row['lower']:.4g} to {row['upper']:.4g}"
    return [name, f"{row['before']:.4g}", f"{row['after']:.4g}", f"{row['difference']:+.4g}", interval]
