"""Stores under fire: writers killed in the middle of a line, and two writers at once."""

import json
import os
import signal
import subprocess
import sys

import pytest

from heterodag.runtime.jsonlines import append_object, read_objects

WRITER = """
import sys
from pathlib import Path
from heterodag.runtime.jsonlines import append_object
who, count, size = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
for k in range(count):
    append_object(Path(sys.argv[1]), {"who": who, "k": k, "long": "x" * size})
    print(k, flush=True)
"""


def writer(path, who, count, size):
    command = [sys.executable, "-c", WRITER, str(path), who, str(count), str(size)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_processes_can_write_at_once(tmp_path):
    path = tmp_path / "rows.jsonl"
    writers = [writer(path, who, 100, 5000) for who in "ab"]
    assert [(one.communicate(timeout=60), one.returncode)[1] for one in writers] == [0, 0]
    found = [(line["who"], line["k"]) for line in map(json.loads, path.read_text().splitlines())]
    assert sorted(found) == [(who, k) for who in "ab" for k in range(100)]


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_what_was_written_survives_kills(tmp_path):
    path, promised = tmp_path / "rows.jsonl", []
    for who in "abcd":
        process = writer(path, who, 10_000, 4_000_000)
        promised += [(who, int(process.stdout.readline())) for _ in range(2)]
        process.send_signal(signal.SIGKILL)
        promised += [(who, int(line)) for line in process.communicate(timeout=60)[0].splitlines()]
        objects, broken = read_objects(path)
        assert broken <= 1  # the line in the middle of which this writer was killed; no earlier one is left
        found = [(line["who"], line["k"]) for line in objects]
        assert set(promised) <= set(found)
        assert len(set(found)) == len(found)
        # At most one line more a writer than those it had said to be on the disk.
        assert len(found) <= len(promised) + "abcd".index(who) + 1
    append_object(path, {"who": "e", "k": 0})
    assert read_objects(path)[1] == 0


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_a_kill_in_the_middle_of_a_write_leaves_a_torn_line_that_is_mended(tmp_path):
    """The kernel ends the writer inside its third line: at the largest size that a file may have."""
    path = tmp_path / "rows.jsonl"
    limited = (
        "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\nresource.setrlimit(resource.RLIMIT_FSIZE, (250_000,) * 2)\n"
    )
    command = [sys.executable, "-c", limited + WRITER, str(path), "a", "10", "100000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGXFSZ
    assert (done.stdout.split(), path.stat().st_size) == (["0", "1"], 250_000)
    objects, broken = read_objects(path)
    assert ([line["k"] for line in objects], broken) == ([0, 1], 1)
    append_object(path, {"k": 2})
    objects, broken = read_objects(path)
    assert ([line["k"] for line in objects], broken) == ([0, 1, 2], 0)


@pytest.mark.parametrize("torn", [b"{", b'{"k": 1', b'{"k": "\xc3', b"\x00\x00", b"[1]"])
def test_the_beginning_of_a_line_is_counted_and_taken_away_by_the_next_writer(tmp_path, torn):
    path = tmp_path / "rows.jsonl"
    append_object(path, {"k": 0})
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    assert read_objects(path) == ([{"k": 0}], 1)
    append_object(path, {"k": 1})
    assert path.read_bytes() == whole + b'{"k": 1}\n'


def test_a_whole_last_line_without_its_end_is_kept(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"k": 0}')
    append_object(path, {"k": "é"})
    assert read_objects(path) == ([{"k": 0}, {"k": "é"}], 0)
