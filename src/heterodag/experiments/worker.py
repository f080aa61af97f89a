"""A separate program that runs cells one after another and can be killed in the middle of one.

It reads tasks from standard input, each pickled and preceded by its length in eight bytes. It writes JSON lines to
standard output: columns of the row as they become known, then one line with the status. It ends when its parent is
gone.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from typing import Any, BinaryIO

from heterodag.experiments.methods import METHODS
from heterodag.experiments.run_cell import CellTask, run_cell

#: Seconds between two checks whether the parent is still there.
WATCH = 0.5
LENGTH_BYTES = 8


def main() -> None:
    """Serve until standard input ends."""
    parent, out = os.getppid(), os.fdopen(os.dup(1), "wb")
    # What a method prints must not come between the lines of the result.
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    _send(out, {"ready": True})
    warm: set[str] = set()
    while (task := _receive(sys.stdin.buffer)) is not None:
        _serve(task, out, warm)


def _serve(task: CellTask, out: BinaryIO, warm: set[str]) -> None:
    try:
        _warm_up(task, warm)
        run_cell(task, lambda columns, step: _send(out, {"columns": columns, "step": step}))
        _send(out, {"status": "done", "message": ""})
    except Exception as error:
        text = " ".join(str(error).split())
        named = text if type(error).__module__.startswith("heterodag") else f"{type(error).__name__}: {text}"
        _send(out, {"status": "error", "message": named[:500]})


def _warm_up(task: CellTask, warm: set[str]) -> None:
    """Let a method load what it needs, so that the first measured time is like the others."""
    import numpy as np

    name = task.cell.method
    if task.estimator is None and name not in warm and METHODS[name].in_process:
        warm.add(name)
        METHODS[name].make("small").fit(np.random.default_rng(0).standard_normal((60, 3)))


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH)
    if hasattr(os, "killpg"):
        os.killpg(os.getpgid(0), signal.SIGKILL)
    os._exit(1)


def _receive(stream: BinaryIO) -> Any:
    head = stream.read(LENGTH_BYTES)
    return None if len(head) < LENGTH_BYTES else pickle.loads(stream.read(int.from_bytes(head, "big")))


def _send(stream: BinaryIO, message: dict[str, Any]) -> None:
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()
