"""Run a method of the gcastle package quietly in a separate process, and end it when the time is up."""

from __future__ import annotations

import importlib.util
import io
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.core.graph import is_dag
from heterodag.errors import DataError, HeterodagError, MissingExtraError

WORKER = Path(__file__).with_name("_gcastle_worker.py")
#: Seconds between two looks at the clock.
POLL = 0.1


def require_gcastle(feature: str) -> None:
    """Raise `MissingExtraError` unless gcastle and torch can be imported."""
    for package in ("castle", "torch"):
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError(feature, "baselines")


def run_gcastle(
    method: str, X: Array, seed: int, options: dict[str, Any], report: Callable[[float], None], verbose: bool
) -> Array:
    """Return the matrix (d, d) that a gcastle method learns, causes in rows.

    Parameters
    ----------
    method : {"golem", "grandag"}
    X : (n, d) data.
    seed : of all random numbers in the process.
    options : of the method; see `_gcastle_worker`.
    report : called several times a second; what it raises ends the process.
    verbose : whether gcastle's own messages go to standard error.
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    # The task is a file: a pipe would fill before the process reads, and `communicate` loses the rest at a timeout.
    with tempfile.TemporaryFile() as task:
        pickle.dump({"method": method, "X": X, "seed": seed, "options": options}, task)
        task.seek(0)
        process = subprocess.Popen(
            # -P: the worker's folder must not hide other packages.
            [sys.executable, "-P", str(WORKER)],
            stdin=task,
            stdout=subprocess.PIPE,
            stderr=None if verbose else subprocess.PIPE,
            env=environment | ({"HETERODAG_VERBOSE": "1"} if verbose else {}),
        )
        try:
            out, err = _wait(process, report)
        finally:
            process.kill()
            process.wait()
    if process.returncode != 0:
        lines = (err or b"").decode(errors="replace").strip().splitlines()
        raise HeterodagError(f"gcastle could not run {method}: {lines[-1] if lines else 'it ended early'}.")
    found = np.load(io.BytesIO(out), allow_pickle=False)
    if not np.isfinite(found).all():
        raise DataError(
            f"{method} in gcastle diverged on this table: take logarithms of heavy-tailed columns, or lower "
            "`learning_rate`."
        )
    return np.asarray(found, dtype=np.float64)


def _wait(process: subprocess.Popen[bytes], report: Callable[[float], None]) -> tuple[bytes, bytes]:
    while True:
        try:
            return process.communicate(timeout=POLL)
        except subprocess.TimeoutExpired:
            report(0.0)


def threshold_to_dag(weights: Array, threshold: float) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return the edges above the threshold, with the smallest dropped until no cycle is left (GOLEM, section 4.1).

    Parameters
    ----------
    weights : (d, d) array
        Entry [i, j] belongs to the edge i -> j.
    threshold : float
        Weights up to this size are not edges.
    """
    sizes = np.abs(weights) * (1 - np.eye(len(weights)))
    edges = sizes > threshold
    for size in np.unique(sizes[edges]):
        if is_dag(edges):
            break
        edges &= sizes > size
    return np.asarray(edges)
