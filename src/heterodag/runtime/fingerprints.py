"""Fingerprints that say what a stored result belongs to: estimators and other settings as text, tables as digests.

Values are identified by their content, functions and classes by their code: bytecode, constants, names, defaults,
closure values, plain class attributes, and the plain values, functions and classes of their own module that they use.
Two lambdas differ if they do different things, and the same lambda is recognised in another session. Bytecode depends
on the version of Python: after Python is upgraded, results stored with a user's own functions or classes are not
recognised. Classes of this package are identified by name; stores keep the package version beside their results.
"""

from __future__ import annotations

import hashlib
import re
import types
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

#: Settings that do not affect what is learned.
IGNORED = frozenset({"n_jobs", "verbose", "random_state", "max_seconds"})
#: Length of a short digest, in characters.
DIGITS = 12
PLAIN = (type(None), bool, int, float, complex, str, bytes)
#: The memory address in a `repr`, which differs between processes.
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
#: Functions, classes and objects described so far, by id: each is described once, even if references form a circle.
Seen = dict[int, Any]


def table_digest(array: npt.NDArray[np.float64], names: Sequence[str | int] | None) -> str:
    """Return a digest of a table: its shape, its names and every value."""
    digest = hashlib.sha256(repr((array.shape, None if names is None else list(names))).encode())
    digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def describe_estimator(model: Any, seen: Seen | None = None) -> dict[str, str]:
    """Return the class of an estimator and the settings that affect its result, as text."""
    seen = {} if seen is None else seen
    settings = {k: v for k, v in sorted(model.get_params(deep=False).items()) if k not in IGNORED}
    return {"estimator": describe(type(model), seen)} | {
        key: describe(value, seen) for key, value in settings.items()
    }


def describe(value: Any, seen: Seen | None = None) -> str:
    """Return a text that is the same for equal values, in any process, and differs for different values."""
    seen = {} if seen is None else seen
    plain = value.item() if isinstance(value, np.generic) else value
    if type(plain) in PLAIN:
        return repr(plain)
    if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
        return f"array({value.dtype}, {value.shape}, {short_digest(value.tobytes())})"
    if type(value) in (list, tuple, set, frozenset, dict):
        return _container(value, seen)
    if isinstance(value, types.CodeType):
        return _code(value, seen)
    if id(value) in seen:
        return f"as before {list(seen).index(id(value))}"
    seen[id(value)] = value
    if isinstance(value, types.FunctionType):
        return f"{value.__qualname__}#{short_digest(_function(value, seen))}"
    return _class(value, seen) if isinstance(value, type) else _object(value, seen)


def short_digest(content: str | bytes) -> str:
    """Return a short digest, for use within names."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()[:DIGITS]


def _container(value: Any, seen: Seen) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{describe(k, seen)}: {describe(v, seen)}" for k, v in value.items()) + "}"
    parts = [describe(item, seen) for item in value]
    if isinstance(value, set | frozenset):
        parts.sort()  # the order of a set differs between processes
    return f"{'' if isinstance(value, list) else type(value).__name__}[{', '.join(parts)}]"


def _code(code: types.CodeType, seen: Seen) -> str:
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return describe([code.co_code, code.co_exceptiontable, counts, names, list(code.co_consts)], seen)


def _function(function: types.FunctionType, seen: Seen) -> str:
    closure = []
    for cell in function.__closure__ or ():
        try:
            closure.append(cell.cell_contents)
        except ValueError:  # not filled yet
            closure.append(None)
    used = ((name, function.__globals__[name]) for name in _names(function.__code__) if name in function.__globals__)
    near = [(name, value) for name, value in used if _belongs(value, function.__module__)]
    return describe([function.__code__, function.__defaults__, function.__kwdefaults__, closure, near], seen)


def _names(code: types.CodeType) -> list[str]:
    inner = [name for part in code.co_consts if isinstance(part, types.CodeType) for name in _names(part)]
    return sorted({*code.co_names, *inner})


def _belongs(value: Any, module: str) -> bool:
    """Return whether a global value counts as part of the code of a function in this module."""
    if isinstance(value, types.FunctionType | type):
        return value.__module__ == module
    return type(value) in PLAIN


def _class(kind: type, seen: Seen) -> str:
    package = kind.__module__.partition(".")[0]
    if package in ("builtins", __name__.partition(".")[0]):
        return kind.__qualname__
    parts = [
        list(_attributes(base)) if base.__module__.partition(".")[0] == package else base.__qualname__
        for base in kind.__mro__
    ]
    return f"{kind.__qualname__}#{short_digest(describe(parts, seen))}"


def _attributes(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the functions of a class and its plain values, except those that Python adds."""
    for name, value in sorted(vars(kind).items()):
        if isinstance(value, property):
            yield name, ["property", value.fget, value.fset, value.fdel]
        elif isinstance(value, staticmethod | classmethod):
            yield name, [type(value).__name__, value.__func__]
        elif isinstance(value, cached_property):
            yield name, ["cached", value.func]
        elif isinstance(value, types.FunctionType) or (type(value) in PLAIN and not name.startswith("__")):
            yield name, value


def _object(value: Any, seen: Seen) -> str:
    """Describe any other object by what a pickle would hold, or by its `repr` if it cannot be pickled."""
    if hasattr(value, "get_params"):
        return describe(describe_estimator(value, seen), seen)
    try:
        parts = value.__reduce_ex__(4)
    except Exception:
        return ADDRESS.sub("", repr(value))
    if isinstance(parts, str):
        return f"{getattr(value, '__module__', '')}.{parts}"
    return describe([list(part) if isinstance(part, Iterator) else part for part in parts], seen)
