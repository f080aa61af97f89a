"""What a stored result belongs to: estimators and other settings as text, tables as digests.

The rule: values are told apart by what they hold; functions and classes by their code. That is bytecode, constants,
names, defaults, closure values, plain class attributes, and what of their own module they use: plain values, functions,
classes. Two lambdas differ if they do different things, and the same one is found again in another session. Bytecode
belongs to a version of Python: after a change of Python, work that was stored with functions or classes of a user's own
is not recognised. The classes of this package go by their names; stores keep its version beside their results instead.
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

#: Settings that do not decide what is learned.
IGNORED = frozenset({"n_jobs", "verbose", "random_state", "max_seconds"})
#: Letters of a short digest.
DIGITS = 12
PLAIN = (type(None), bool, int, float, complex, str, bytes)
#: Where an object happens to lie in memory says nothing about it.
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
#: Functions, classes and objects described so far, by their ids: each is described once, also in a circle.
Seen = dict[int, Any]


def table_digest(array: npt.NDArray[np.float64], names: Sequence[str | int] | None) -> str:
    """Return a digest of a table: its shape, its names and every value."""
    digest = hashlib.sha256(repr((array.shape, None if names is None else list(names))).encode())
    digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def describe_estimator(model: Any, seen: Seen | None = None) -> dict[str, str]:
    """Return the class and the settings that decide the result, as text."""
    seen = {} if seen is None else seen
    settings = {k: v for k, v in sorted(model.get_params(deep=False).items()) if k not in IGNORED}
    return {"estimator": describe(type(model), seen)} | {
        key: describe(value, seen) for key, value in settings.items()
    }


def describe(value: Any, seen: Seen | None = None) -> str:
    """Return a text that is the same for the same value in another process, and another for another value."""
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
    """Return a digest of a few letters, for the inside of names."""
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
    """Return whether a global value is part of what a function of this module does."""
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
    """Yield the functions of a class, and its plain values but those that Python puts there."""
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
    """Describe anything else by the parts that a pickle would hold, or by its `repr` if it has none."""
    if hasattr(value, "get_params"):
        return describe(describe_estimator(value, seen), seen)
    try:
        parts = value.__reduce_ex__(4)
    except Exception:
        return ADDRESS.sub("", repr(value))
    if isinstance(parts, str):
        return f"{getattr(value, '__module__', '')}.{parts}"
    return describe([list(part) if isinstance(part, Iterator) else part for part in parts], seen)
