"""What users can get wrong, each as one sentence: the name, the rule, the value, and what to do next."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from numbers import Integral
from typing import Any


class HeterodagError(ValueError):
    """Base of every error that a user can cause and mend."""


class ParameterError(HeterodagError):
    """An argument breaks its rule.

    Parameters
    ----------
    name : str
        The argument as the user wrote it.
    rule : str
        What it must be, as the end of "`name` must ...".
    value : object
        What was given.
    remedy : str, optional
        What to do next, a sentence of its own.
    """

    def __init__(self, name: str, rule: str, value: Any, remedy: str = "") -> None:
        text = f"`{name}` must {rule}; got {value!r}."
        super().__init__(f"{text} {remedy}" if remedy else text)
        self.name = name
        self._arguments = (name, rule, value, remedy)

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        """Let the error cross process borders: workers raise it too."""
        return type(self), self._arguments


class DataError(HeterodagError):
    """The table cannot be used as it is; the message names the columns and says what to do."""


class DataTypeError(DataError, TypeError):
    """A column holds something other than numbers."""


class MissingExtraError(ImportError):
    """A feature needs an optional dependency that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional dependency: pip install 'heterodag[{extra}]'.")
        self._arguments = (feature, extra)

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        """Let the error cross process borders: workers raise it too."""
        return type(self), self._arguments


class TimeLimitError(HeterodagError):
    """A method used up the time that its user gave it."""

    def __init__(self, method: str, max_seconds: float) -> None:
        super().__init__(
            f"{method} did not finish within max_seconds = {max_seconds:g}: raise the limit, or use fewer rows or "
            "columns."
        )
        self._arguments = (method, max_seconds)

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        """Let the error cross process borders: workers raise it too."""
        return type(self), self._arguments


class AssumptionWarning(UserWarning):
    """The data look unlike what the method assumes; the result still comes."""


class DataWarning(UserWarning):
    """Part of the data was left out; the message says how much."""


class FitWarning(UserWarning):
    """A fit is less than was asked for: models did not converge (the message names them), or cannot be refined."""


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return `value` if it is one of `choices`, else raise `ParameterError` listing them."""
    known = list(choices)
    if not isinstance(value, str) or value not in known:
        raise ParameterError(name, "be one of " + ", ".join(f"'{c}'" for c in known), value)
    return value


def check_number(
    name: str,
    value: Any,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """Return `value` as a float if it is a real number within the interval, else raise `ParameterError`."""
    left, right = "(" if open_low or low == -math.inf else "[", ")" if open_high or high == math.inf else "]"
    rule = f"be a number in {left}{_bound(low)}, {_bound(high)}{right}"
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise ParameterError(name, rule, value)
    number = float(value)
    too_low = number <= low if open_low else number < low
    too_high = number >= high if open_high else number > high
    if math.isnan(number) or too_low or too_high:
        raise ParameterError(name, rule, value)
    return number


def check_integer(name: str, value: Any, *, low: int | None = None, high: int | None = None) -> int:
    """Return `value` as an int if it is a whole number within the bounds, else raise `ParameterError`."""
    rule = "be a whole number"
    if low is not None:
        rule += f" of at least {low}"
    if high is not None:
        rule += f"{' and' if low is not None else ' of'} at most {high}"
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or (low is not None and int(value) < low) or (high is not None and int(value) > high):
        raise ParameterError(name, rule, value)
    return int(value)


def check_workers(n_jobs: Any) -> int | None:
    """Return a number of workers as joblib takes it: None, or any whole number but 0."""
    if n_jobs is None:
        return None
    if check_integer("n_jobs", n_jobs) == 0:
        raise ParameterError("n_jobs", "not be 0", 0, "Use 1, or -1 for all cores.")
    return int(n_jobs)


def check_max_seconds(value: Any) -> float | None:
    """Return a time limit in seconds, or None for none; raise `ParameterError` if it is no positive number."""
    return None if value is None else check_number("max_seconds", value, low=0.0, open_low=True)


def renamed_time_limit(max_seconds: Any, max_time: Any) -> float | None:
    """Return the time limit, also if it was given by its former name, with a warning."""
    if max_time is None:
        return check_max_seconds(max_seconds)
    if max_seconds is not None:
        raise ParameterError("max_time", "not be given beside max_seconds, its new name", max_time)
    warnings.warn("`max_time` is now called `max_seconds`.", FutureWarning, stacklevel=4)
    return check_max_seconds(max_time)


def _bound(value: float) -> str:
    return f"{value:g}"
