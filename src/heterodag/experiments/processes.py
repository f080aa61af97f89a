"""Processes that run cells and are killed, with everything they started, when a cell's time is up."""

from __future__ import annotations

import atexit
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from functools import cache
from typing import Any

from heterodag.experiments.run_cell import CellTask, Row
from heterodag.experiments.worker import LENGTH_BYTES

#: How many seconds a process may take to start.
START = 300.0
#: A cell whose process was killed from outside is run once more before this counts as its result.
ATTEMPTS = 2
#: One thread per cell: cells run in parallel, and their times are compared.
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Stopped(Exception):
    """The run was ended while this cell was running."""


class CellProcess:
    """A process that runs cells one after another."""

    def __init__(self) -> None:
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            # -P: the current folder must not hide other packages.
            [sys.executable, "-P", "-c", "from heterodag.experiments.worker import main; main()"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, start_new_session=True,
            env=os.environ | dict.fromkeys(ONE_THREAD, "1") | {"PYTHONPATH": path},
        )  # fmt: skip
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._ending = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()
        self._ready = False

    @property
    def alive(self) -> bool:
        """Whether the process can run another cell."""
        return self._process.poll() is None

    def run(self, task: CellTask, max_seconds: float | None) -> Row:
        """Run a cell and return its row, also if the process ends early or takes too long."""
        row: Row = {}
        step = ""  # what is running; nothing until the process has started
        try:
            if not self._ready:
                self._ready = bool(self._next(START))
            start, step = time.monotonic(), "data"
            self._send(task)
            while True:
                left = None if max_seconds is None else max(0.0, start + max_seconds - time.monotonic())
                message = self._next(left)
                if "status" in message:
                    return row | message | {"seconds": round(time.monotonic() - start, 3)}
                row |= message["columns"]
                step = message["step"] or step
        except queue.Empty:
            self.kill()
            limit, said = START, f"was not run: its process did not start within {START:g} seconds."
            if step and max_seconds is not None:
                limit, said = max_seconds, f"did not finish within {max_seconds:g} seconds: it was ended at {step}."
            return row | {"status": "timeout", "message": f"{task.cell.method} {said}", "seconds": limit}
        except (EOFError, BrokenPipeError):
            return row | {"status": "killed", "message": self.kill(), "seconds": None}

    def kill(self) -> str:
        """Kill the process and everything it has started; return how it ended."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (AttributeError, ProcessLookupError, PermissionError):  # Windows has no groups
            self._process.kill()
        self._process.wait()
        with self._ending:  # a pool that stops and the thread that runs the cell may both get here
            if self._errors.closed:
                return ""
            said = self._last_words()
            self._errors.close()
            if self._process.stdin is not None:
                with suppress(OSError):  # part of the task may not have been sent
                    self._process.stdin.close()
            return said

    def _send(self, task: CellTask) -> None:
        # cloudpickle also sends classes that were defined in a script or a notebook.
        import cloudpickle

        content, stream = cloudpickle.dumps(task), self._process.stdin
        if stream is None or stream.closed:
            raise EOFError
        try:
            stream.write(len(content).to_bytes(LENGTH_BYTES, "big") + content)
            stream.flush()
        except ValueError:  # closed in the meantime: the process was killed
            raise EOFError from None

    def _read(self) -> None:
        if self._process.stdout is not None:
            with self._process.stdout as stream:
                for line in stream:
                    self._lines.put(line)
        self._lines.put(b"")

    def _next(self, timeout: float | None) -> dict[str, Any]:
        line = self._lines.get(timeout=timeout)
        if not line:
            raise EOFError
        return dict(json.loads(line))

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        code = self._process.returncode
        how = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
        return f"Its process {how}" + (f" after saying: {lines[-1][:300]}" if lines else "; is there enough memory?")


class ProcessPool:
    """As many processes as are needed at the same time, kept for further cells."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[CellProcess] = []
        self._busy: set[CellProcess] = set()
        self._stopped = False

    def run(self, task: CellTask, max_seconds: float | None) -> Row:
        """Run a cell in a process and return its row, complete with the settings of the cell."""
        result: Row = {}
        for _ in range(ATTEMPTS):
            result = self._attempt(task, max_seconds)
            if result["status"] != "killed":
                break
        if result["status"] == "killed":
            result["status"] = "error"
        ending = {key: result.pop(key) for key in ("status", "message", "seconds")}
        return task.cell.settings() | ending | {"max_seconds": max_seconds} | result

    def stop(self) -> None:
        """End all processes; cells that are running raise `Stopped`."""
        with self._lock:
            self._stopped = True
            processes = [*self._idle, *self._busy]
            self._idle = []
        for process in processes:
            process.kill()

    def _attempt(self, task: CellTask, max_seconds: float | None) -> Row:
        process = self._take()
        try:
            return process.run(task, max_seconds)
        finally:
            with self._lock:
                self._busy.discard(process)
                if process.alive and not self._stopped:
                    self._idle.append(process)
            if self._stopped:
                process.kill()
                raise Stopped

    def _take(self) -> CellProcess:
        with self._lock:
            if self._stopped:
                raise Stopped
            self._idle = [process for process in self._idle if process.alive]
            process = self._idle.pop() if self._idle else CellProcess()
            self._busy.add(process)
            return process


def run_on_worker(task: CellTask, max_seconds: float | None) -> Row:
    """Run a cell on a worker of a cluster, whose processes are kept between cells."""
    return _shared_pool().run(task, max_seconds)


@cache
def _shared_pool() -> ProcessPool:
    pool = ProcessPool()
    atexit.register(pool.stop)
    return pool
