"""Writing is all or nothing."""

import os
import stat

import pytest

from heterodag.errors import HeterodagError
from heterodag.io.writing import check_folder, write_all


def everything(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_write_all_makes_folders_and_keeps_other_files(tmp_path):
    out = tmp_path / "a" / "b"
    out.mkdir(parents=True)
    (out / "mine.txt").write_text("keep")
    written = write_all({"x.txt": "é", "y.bin": b"\0"}, out)
    assert everything(out) == {"mine.txt": b"keep", "x.txt": "é".encode(), "y.bin": b"\0"}
    assert [path.name for path in written] == ["x.txt", "y.bin"]
    assert len(list(out.iterdir())) == 3
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((out / "x.txt").stat().st_mode) == 0o666 & ~umask


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_failure_half_way_leaves_everything_as_it_was(tmp_path, monkeypatch, error, step):
    out = tmp_path / "out"
    write_all({"one.txt": "old one", "three.txt": "old three"}, out)
    before = everything(out)
    real, calls = os.replace, []

    def failing(source, target):
        calls.append(target)
        if len(calls) == step:
            raise error
        real(source, target)

    monkeypatch.setattr("heterodag.io.writing.os.replace", failing)
    with pytest.raises((HeterodagError, KeyboardInterrupt)) as caught:
        write_all({"one.txt": "new", "two.txt": "new", "three.txt": "new"}, out)
    assert everything(out) == before
    assert sorted(path.name for path in out.iterdir()) == ["one.txt", "three.txt"]
    if isinstance(error, OSError):
        assert "No space left on device" in str(caught.value)


def test_failure_while_staging_removes_new_folders(tmp_path, monkeypatch):
    def failing(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("heterodag.io.writing.Path.write_bytes", failing)
    with pytest.raises(HeterodagError, match=r"Cannot write into .*No space left on device"):
        write_all({"x": "1"}, tmp_path / "new" / "deep")
    assert list(tmp_path.iterdir()) == []


def test_unwritable_places_are_named(tmp_path):
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(HeterodagError, match=r"file' is not a folder; choose another place with --out"):
            check_folder(place)
    (tmp_path / "out" / "graph.json").mkdir(parents=True)
    with pytest.raises(HeterodagError, match=r"'graph\.json' in it is a folder"):
        write_all({"graph.json": "{}"}, tmp_path / "out")
    assert (tmp_path / "file").read_text() == "x"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_no_permission_is_said(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(HeterodagError, match="no permission to write"):
        check_folder(tmp_path / "closed" / "out")
