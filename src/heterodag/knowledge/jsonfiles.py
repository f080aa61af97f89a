"""A JSON file that a user wrote: one object, each key once, or one sentence that says what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from heterodag.errors import DataError


def read_object(path: Path, what: str, example: str) -> dict[str, Any]:
    """Return the object in a file; `what` names it in messages, `example` shows how to write it."""
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_unique_keys)
    except OSError as error:
        raise DataError(f"{what} '{path}' cannot be opened ({error.strerror}); check its name.") from None
    except ValueError as error:
        raise DataError(f"{what} '{path}' is not JSON ({error}); write it like {example}.") from None
    if not isinstance(content, dict):
        raise DataError(f"{what} '{path}' must hold one JSON object, like {example}.")
    return content


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a JSON key that stands twice: the parser would silently keep the last."""
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"the key '{key}' stands more than once")
    return dict(pairs)
