"""Where things are in the repository, and what it says about itself."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "heterodag"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
PYTHONS = [name.rsplit(" ", 1)[1] for name in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", name)]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def make_targets() -> set[str]:
    return set(re.findall(r"^([\w-]+):(?!=)", text_of("Makefile"), re.MULTILINE))


VERSION = re.search(r'^__version__ = "(.+)"$', text_of("src/heterodag/_version.py"), re.MULTILINE)[1]
