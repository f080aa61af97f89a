"""The layers of the package, read from its imports; the sizes of its parts; what `import heterodag` loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = "heterodag"
SOURCE = Path(__file__).resolve().parents[1] / "src" / PACKAGE

# Lowest first; a module may import its own layer's number or lower. Layers that are not there yet do no harm.
LAYERS = {
    "_version": 0,
    "errors": 0,
    "runtime": 1,
    "core": 1,
    "io": 2,
    "knowledge": 2,
    "scores": 2,
    "ordering": 3,
    "independence": 4,
    "scm": 5,
    "comparison": 5,
    "checks": 5,
    "viz": 5,
    "report": 5,
    "resampling": 5,
    "estimators": 6,
    "graphcheck": 7,
    "simulation": 7,
    "datasets": 7,
    "metrics": 7,
    "pairs": 7,
    "experiments": 8,
    "cli": 10,
    "__main__": 11,
    "__init__": 11,
}
BASE = {"_version", "errors", "core"}
STANDALONE = {"simulation", "datasets", "metrics"}  # these import the base and nothing else
ARRAYS = {"numpy", "scipy"}
HEAVY = ("torch", "matplotlib", "pandas", "sklearn")
MAX_FILE, MAX_FUNCTION = 400, 60
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def layer_of(path: Path, root: Path) -> str:
    return path.relative_to(root).with_suffix("").parts[0]


def imported_modules(path: Path, root: Path) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of every import in the file, also those inside functions."""
    package = [PACKAGE, *path.relative_to(root).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            # "from heterodag import metrics" takes a layer, not a name of the package itself.
            names = [f"{base}.{alias.name}" if base == PACKAGE else base for alias in node.names]
            yield from ((node.lineno, name) for name in names)


def allowed(source: str, target: str) -> bool:
    if source == target or source in ("__init__", "__main__"):
        return True
    if source in STANDALONE:
        return target in BASE
    if source == "io":
        return target in BASE
    if source == "_version":
        return False
    return LAYERS[target] <= LAYERS[source]


def layer_violations(root: Path) -> list[str]:
    """Return one line per import that goes up, and per module that has no layer."""
    found = []
    for path in sorted(root.rglob("*.py")):
        place, source = path.relative_to(root), layer_of(path, root)
        if source not in LAYERS:
            found.append(f"{place}: '{source}' has no layer; add it to LAYERS")
            continue
        for line, module in imported_modules(path, root):
            top, *rest = module.split(".")
            if top == PACKAGE:
                # A name that is no layer is one of the package's public names: only the top may use these.
                target = rest[0] if rest and rest[0] in LAYERS else "__init__"
                if not allowed(source, target):
                    found.append(f"{place}:{line}: {source} imports {target}")
            elif source == "core" and top not in ARRAYS and top not in sys.stdlib_module_names:
                found.append(f"{place}:{line}: core imports {top}")
    return found


def size_violations(root: Path) -> list[str]:
    """Return one line per file and function that is too long; docstrings do not count, as they hold examples."""
    found = []
    for path in sorted(root.rglob("*.py")):
        text, place = path.read_text(encoding="utf-8"), path.relative_to(root)
        nodes = list(ast.walk(ast.parse(text)))
        documented = [node for node in nodes if isinstance(node, DOCUMENTED)]
        length = len(text.splitlines()) - sum(docstring_length(node) for node in documented)
        if length > MAX_FILE:
            found.append(f"{place}: {length} lines")
        for node in documented:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1 - docstring_length(node)
                if length > MAX_FUNCTION:
                    found.append(f"{place}:{node.lineno}: {node.name} has {length} lines")
    return found


def docstring_length(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    if ast.get_docstring(node) is None:
        return 0
    return (node.body[0].end_lineno or 0) - node.body[0].lineno + 1


def test_imports_go_only_to_lower_layers():
    assert any(SOURCE.rglob("*.py"))
    assert layer_violations(SOURCE) == []


def test_imports_name_the_whole_path():
    relative = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


def test_files_and_functions_are_short():
    assert size_violations(SOURCE) == []


def test_importing_the_package_loads_nothing_heavy():
    code = f"import sys, heterodag; print([m for m in {HEAVY!r} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


# --- the checks themselves, on made-up trees ----------------------------------------------------------------


def tree(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / (name.replace("__in__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("name", "text", "violation"),
    [
        ("core__in__solver", "from heterodag.scores import networks", "core imports scores"),
        ("core__in__solver", "from ..scores.mlp import fit", "core imports scores"),
        ("core__in__solver", "from .. import scores", "core imports scores"),
        ("core__in__solver", "def f():\n    import pandas", "core imports pandas"),
        ("core__in__solver", "import sklearn.linear_model", "core imports sklearn"),
        ("errors", "import heterodag.core.graph", "errors imports core"),
        ("metrics", "from heterodag.scores import networks", "metrics imports scores"),
        ("metrics", "from heterodag import simulation", "metrics imports simulation"),
        ("io__in__tables", "from heterodag.metrics import shd", "io imports metrics"),
        ("datasets__in__sachs", "from heterodag.scm import fit", "datasets imports scm"),
        ("ordering__in__host", "from heterodag import HOST", "ordering imports __init__"),
        ("estimators__in__host", "import heterodag", "estimators imports __init__"),
        ("viz__in__graph", "from heterodag.cli.app import main", "viz imports cli"),
        ("helpers", "", "'helpers' has no layer"),
    ],
)
def test_a_violation_is_found(tmp_path, name, text, violation):
    found = layer_violations(tree(tmp_path, **{name: text}))
    assert len(found) == 1
    assert violation in found[0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("core__in__graph", "import heapq\nimport numpy as np\nfrom scipy.special import expit"),
        ("core__in__graph", "from heterodag.errors import DataError\nfrom .basis import linear"),
        ("metrics", "from heterodag.core.graph import is_dag\nimport pandas"),
        ("io__in__tables", "from heterodag.io.textfiles import read"),
        ("ordering__in__host", "from ..scores.linear import fit\nfrom heterodag.core import graph"),
        ("experiments__in__runner", "from heterodag import metrics, simulation"),
        ("report__in__page", "from heterodag.viz import graph"),
        ("cli", "from heterodag.report import page\nfrom heterodag._version import __version__"),
        ("__init__", "from heterodag.cli.app import main"),
    ],
)
def test_a_proper_import_is_let_through(tmp_path, name, text):
    assert layer_violations(tree(tmp_path, **{name: text})) == []


def test_long_files_and_functions_are_found(tmp_path):
    docstring = '    """' + "\n" * 80 + '    """\n'
    body = "    x = 1\n" * MAX_FUNCTION
    tree(
        tmp_path,
        short="def f():\n" + docstring + "    x = 1\n" * (MAX_FUNCTION - 1),
        long="def g():\n" + body,
        huge='"""First line.\n\n' + "More.\n" * MAX_FILE + '"""\n' + "x = 1\n" * (MAX_FILE + 1),
        documented='"""First line.\n\n' + "More.\n" * MAX_FILE + '"""\n' + "x = 1\n" * MAX_FILE,
    )
    assert size_violations(tmp_path) == [
        f"huge.py: {MAX_FILE + 1} lines",
        f"long.py:1: g has {MAX_FUNCTION + 1} lines",
    ]
