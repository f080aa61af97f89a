"""Read JSON files strictly: numbers of a usual size, each key once, not too deep; otherwise say what is wrong."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

from heterodag.errors import DataError

#: The deepest file of this package is the causal model, with 8 levels. Deeper ones are refused long before Python's own
#: recursion limit, which printing such a content in a message would reach.
MAX_DEPTH = 32
#: Whole numbers of more digits than this do not fit into a floating-point number.
MAX_DIGITS = 308


def read_json(path: Path, what: str, remedy: str) -> Any:
    """Return the content of a file; `what` names it in messages, `remedy` ends them."""
    try:
        content = json.loads(
            path.read_text(encoding="utf-8-sig"),
            object_pairs_hook=_unique_keys,
            parse_int=_whole,
            parse_float=_number,
        )
    except OSError as error:
        raise DataError(f"{what} '{path}' cannot be opened ({error.strerror}); check its name.") from None
    except RecursionError:
        raise DataError(_too_deep(path, what, remedy)) from None
    except ValueError as error:
        raise DataError(f"{what} '{path}' is not JSON ({error}); {remedy}") from None
    if _depth_exceeds(content, MAX_DEPTH):
        raise DataError(_too_deep(path, what, remedy))
    return content


def read_object(path: Path, what: str, example: str) -> dict[str, Any]:
    """Return the object in a file; `what` names it in messages, `example` shows how to write it."""
    content = read_json(path, what, f"write it like {example}.")
    if not isinstance(content, dict):
        raise DataError(f"{what} '{path}' must hold one JSON object, like {example}.")
    return content


def fault(error: Exception) -> str:
    """Return in words what an error says about a file whose content does not have the expected shape."""
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing"
    return str(error) if isinstance(error, ValueError) else "a part of it has another shape"


def _too_deep(path: Path, what: str, remedy: str) -> str:
    return f"{what} '{path}' is nested more than {MAX_DEPTH} levels deep; {remedy}"


def _depth_exceeds(content: Any, limit: int) -> bool:
    level = [content] if isinstance(content, dict | list) else []
    for _ in range(limit):
        inner = (item.values() if isinstance(item, dict) else item for item in level)
        level = [value for values in inner for value in values if isinstance(value, dict | list)]
    return bool(level)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a JSON key that appears twice: the parser would silently keep the last."""
    for key, times in Counter(key for key, _ in pairs).items():
        if times > 1:
            raise ValueError(f"the key '{key}' appears more than once")
    return dict(pairs)


def _whole(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError(f"a number has {len(text)} digits")
    return int(text)


def _number(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number
