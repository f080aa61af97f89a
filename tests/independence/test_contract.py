"""The problem that edge tests are given says what it holds."""

from __future__ import annotations

import dataclasses
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

from heterodag.independence.contract import EdgeProblem, FoundModels
from heterodag.scores.parent_choice import Choice, Limits


def says_nothing(hint):
    """Return whether a type is `Any`, or holds it anywhere but as the shape of an array."""
    if hint is Any:
        return True
    inner = get_args(hint)
    if getattr(hint, "__origin__", None) is np.ndarray:
        inner = inner[1:]
    return any(says_nothing(part) for part in inner if not isinstance(part, list))


@pytest.mark.parametrize("record", [EdgeProblem, FoundModels, Limits, Choice])
def test_no_field_can_be_anything(record):
    hints = get_type_hints(record)
    fields = [field.name for field in dataclasses.fields(record)]
    assert fields
    assert [name for name in fields if says_nothing(hints[name])] == []


def test_the_check_sees_what_says_nothing():
    assert says_nothing(Any)
    assert says_nothing(dict[str, Any])
    assert says_nothing(Any | None)
    assert not says_nothing(np.ndarray[Any, np.dtype[np.float64]])
