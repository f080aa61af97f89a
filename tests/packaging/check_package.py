"""The two files in dist/, from the outside: what is in them, and does the wheel work where nothing else is installed?

`make package` builds them and runs this file; its name keeps it out of `make tests`.
"""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import tarfile
import time
import zipfile
from email.message import Message
from pathlib import Path

import pytest
from repository import PROJECT, ROOT, SOURCE, VERSION

#: In bytes; twice what the files have today. A picture or a table of results in the wheel would show.
MAX_WHEEL, MAX_SDIST = 1_400_000, 9_000_000
#: In seconds; it takes 0.01, and about 1 when pandas or scikit-learn come along.
MAX_IMPORT = 0.3


@pytest.fixture(scope="module")
def wheel() -> zipfile.ZipFile:
    with zipfile.ZipFile(ROOT / "dist" / f"heterodag-{VERSION}-py3-none-any.whl") as file:
        yield file


@pytest.fixture(scope="module")
def sdist() -> tarfile.TarFile:
    with tarfile.open(ROOT / "dist" / f"heterodag-{VERSION}.tar.gz") as file:
        yield file


@pytest.fixture(scope="module")
def metadata(wheel) -> Message:
    return email.message_from_bytes(wheel.read(f"heterodag-{VERSION}.dist-info/METADATA"))


@pytest.fixture(scope="module")
def bin_of_user(tmp_path_factory) -> Path:
    """Return the folder of programs of a new environment that holds the wheel and what it asks for, nothing else."""
    place = tmp_path_factory.mktemp("user") / "venv"
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    wheels = [str(path) for path in (ROOT / "dist").glob("*.whl")]
    pip = [str(place / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--no-compile", *wheels], check=True)
    subprocess.run([*pip, "check"], check=True)
    print(f"\ninstalled into an empty environment in {time.monotonic() - began:.0f} s")
    return place / "bin"


def run(command: list[object], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program as a user would: in a folder of theirs, with nothing of this repository in reach."""
    env = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    return subprocess.run([*map(str, command)], cwd=folder, env=env, capture_output=True, text=True, timeout=300)


# --- what is in the files -----------------------------------------------------------------------------------


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    files = {path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert names == {path.relative_to(ROOT / "src").as_posix() for path in files}
    for needed in (
        "py.typed",
        "report/style.css",
        "datasets/data/sachs_observational.csv",
        "datasets/data/README.md",
    ):
        assert f"heterodag/{needed}" in names
    for ending, folder in ((".j2", "report/templates"), (".js", "report/script")):
        assert any(name.startswith(f"heterodag/{folder}/") and name.endswith(ending) for name in names)


def test_both_hold_the_licence(wheel, sdist):
    licence = (ROOT / "LICENSE").read_bytes()
    assert wheel.read(f"heterodag-{VERSION}.dist-info/licenses/LICENSE") == licence
    assert sdist.extractfile(f"heterodag-{VERSION}/LICENSE").read() == licence


def test_the_source_distribution_is_the_repository(sdist):
    names = {member.name.split("/", 1)[1] for member in sdist.getmembers() if member.isfile()}
    assert {"pyproject.toml", "README.md", "CHANGELOG.md", "CITATION.cff", "Makefile", "tests/test_docs.py"} <= names
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("needs a clone")
    assert names - set(listed.stdout.splitlines()) == {"PKG-INFO"}
    assert {"src/heterodag/py.typed", "tests/packaging/check_package.py"} <= names


def test_sizes(wheel, sdist):
    sizes = {path.name: path.stat().st_size for path in (ROOT / "dist").iterdir()}
    installed = sum(item.file_size for item in wheel.infolist())
    print("\n" + ", ".join(f"{name}: {size / 1e6:.2f} MB" for name, size in sizes.items()), end="")
    print(f"; installed: {installed / 1e6:.2f} MB")
    assert len(sizes) == 2
    assert sizes[Path(wheel.filename).name] < MAX_WHEEL
    assert sizes[Path(sdist.name).name] < MAX_SDIST


def test_metadata(metadata):
    assert (metadata["Name"], metadata["Version"]) == ("heterodag", VERSION)
    assert metadata["License-Expression"] == "MIT"
    assert metadata.get_all("License-File") == ["LICENSE"]
    assert metadata["Requires-Python"] == ">=3.11"
    assert {line.split(", ")[0] for line in metadata.get_all("Project-URL")} == set(PROJECT["urls"])
    assert set(metadata.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])


def test_the_readme_has_no_relative_links(metadata):
    """A package index shows the README without the repository around it."""
    text = metadata.get_payload()
    assert text.lstrip().startswith("# heterodag")
    outside_code = re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"""(?:\]\(|src=["']|href=["'])([^)\s"']+)""", outside_code)
    assert links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


# --- the wheel in an empty environment ----------------------------------------------------------------------


def test_version(bin_of_user, tmp_path):
    done = run([bin_of_user / "heterodag", "--version"], tmp_path)
    assert (done.returncode, done.stdout.split()) == (0, ["heterodag", VERSION])


def test_import_is_quick(bin_of_user, tmp_path):
    code = (
        "import time; t = time.perf_counter(); import heterodag; print(time.perf_counter() - t, heterodag.__file__)"
    )
    runs = [run([bin_of_user / "python", "-c", code], tmp_path).stdout.split() for _ in range(3)]
    seconds = min(float(seconds) for seconds, _ in runs)
    print(f"\nimport heterodag: {seconds:.3f} s")
    assert Path(runs[0][1]).is_relative_to(bin_of_user.parent)
    assert seconds < MAX_IMPORT


def test_every_public_name_is_there(bin_of_user, tmp_path):
    code = "import heterodag; print(*(n for n in heterodag.__all__ if getattr(heterodag, n, None) is None))"
    done = run([bin_of_user / "python", "-W", "error::DeprecationWarning:heterodag", "-c", code], tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


def test_demo_in_an_empty_folder(bin_of_user, tmp_path):
    done = run([bin_of_user / "heterodag", "demo"], tmp_path)
    assert done.returncode == 0, done.stderr
    pages = list(tmp_path.rglob("report.html"))
    assert pages
    for page in pages:
        names = {path.name for path in page.parent.iterdir()}
        assert {"edges.csv", "graph.json", "graph.graphml", "graph.dot", "model.json"} <= names
        assert (page.parent / "edges.csv").read_text(encoding="utf-8").count("\n") > 1
        text = page.read_text(encoding="utf-8")
        assert "<svg" in text
        assert "</html>" in text


def test_reproduce_names_the_extra_it_needs(bin_of_user, tmp_path):
    done = run([bin_of_user / "heterodag", "reproduce", "sachs"], tmp_path)
    assert done.returncode == 2
    assert "pip install 'heterodag[neural]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_types_reach_the_user(bin_of_user, tmp_path):
    script = tmp_path / "typed_user.py"
    script.write_bytes((ROOT / "tests" / "packaging" / "typed_user.py").read_bytes())
    tool = [sys.executable, "-m", "mypy", "--strict", "--python-executable", bin_of_user / "python"]
    done = run([*tool, "--cache-dir", tmp_path / "cache", script.name], tmp_path)
    assert done.returncode == 0, done.stdout
