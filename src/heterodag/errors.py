"""Errors and warnings for users, each one sentence: the name, the rule, the value, and what to do next."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral
from typing import Any


class HeterodagError(ValueError):
    """Base of every error that a user can cause and fix.

    Examples
    --------
    >>> from heterodag import HOST, HeterodagError
    >>> try:
    ...     HOST(alpha=3).fit([[1.0, 2.0], [2.0, 1.0]])
    ... except HeterodagError as error:
    ...     print(error)
    `alpha` must be a number in (0, 1]; got 3.
    """


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

    Examples
    --------
    >>> from heterodag import simulate
    >>> simulate(500, 3, version="book")
    Traceback (most recent call last):
        ...
    heterodag.errors.ParameterError: `version` must be one of 'text', 'code'; got 'book'.
    """

    def __init__(self, name: str, rule: str, value: Any, remedy: str = "") -> None:
        text = f"`{name}` must {rule}; got {_shown(value)}."
        super().__init__(f"{text} {remedy}" if remedy else text)
        self.name = name
        self._arguments = (name, rule, value, remedy)

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        """Let the error cross process borders: workers raise it too."""
        return type(self), self._arguments


class DataError(HeterodagError):
    """The table cannot be used as it is; the message names the columns and says what to do.

    Examples
    --------
    >>> import pandas as pd
    >>> from heterodag import HOST
    >>> HOST().fit(pd.DataFrame({"a": range(10), "b": [1.0] * 10}))
    Traceback (most recent call last):
        ...
    heterodag.errors.DataError: Column 'b' is constant: a column that never varies can be neither cause nor effect; drop it.
    """


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
    """A method did not finish within the time limit.

    Parameters
    ----------
    method : str
        Name of the method.
    max_seconds : float
        The limit.

    Examples
    --------
    >>> from heterodag import CAM, TimeLimitError, simulate
    >>> try:
    ...     CAM(max_seconds=1e-6).fit(simulate(300, 5, random_state=1).X)
    ... except TimeLimitError as error:
    ...     print(error)
    CAM did not finish within max_seconds = 1e-06: raise the limit, or use fewer rows or columns.
    """

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
    """The data do not look like what the method assumes; a result is returned all the same.

    Examples
    --------
    >>> import warnings
    >>> from heterodag import HOST, simulate
    >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     model = HOST().fit(simulate(500, 3, mechanism="straight", adjacency=chain, random_state=1).X)
    >>> [warning.category.__name__ for warning in told]
    ['AssumptionWarning']
    >>> len(model.warnings_)  # the model keeps the sentences
    1
    """


class DataWarning(UserWarning):
    """Part of the data was left out, or a check of the table found something; the message says what.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from heterodag import VarSort, simulate
    >>> X = simulate(300, 3, random_state=1).X
    >>> X[0, 0] = np.nan
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     _ = VarSort(missing="drop").fit(X)
    >>> print(told[0].message)
    1 of 300 rows have missing values, in 'x0' (1), and were left out.
    """


class FitWarning(UserWarning):
    """A fit falls short: some models did not converge (the message names them), or cannot be refined.

    Examples
    --------
    Turn it into an error, so that no such fit goes unnoticed:

    >>> import warnings
    >>> from heterodag import FitWarning
    >>> warnings.filterwarnings("error", category=FitWarning)
    """


#: Also collects the warnings of a fit while one is running.
_SAID: ContextVar[list[str] | None] = ContextVar("said", default=None)


def warn(sentence: str, category: type[UserWarning], stacklevel: int = 2) -> None:
    """Warn, and keep the sentence if a fit is collecting its warnings."""
    said = _SAID.get()
    if said is not None and sentence not in said:
        said.append(sentence)
    warnings.warn(sentence, category, stacklevel=stacklevel + 1)


@contextmanager
def remembered_warnings() -> Iterator[list[str]]:
    """Yield a list to which `warn` adds every sentence while inside the block."""
    said: list[str] = []
    token = _SAID.set(said)
    try:
        yield said
    finally:
        _SAID.reset(token)


def said_so_far() -> list[str]:
    """Return the warnings collected so far in the current `remembered_warnings` block."""
    return list(_SAID.get() or ())


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
    try:
        number = float(value)
    except (OverflowError, TypeError, ValueError):
        raise ParameterError(name, rule, value) from None
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
    """Return a number of workers as joblib accepts it: None, or any whole number except 0."""
    if n_jobs is None:
        return None
    if check_integer("n_jobs", n_jobs) == 0:
        raise ParameterError("n_jobs", "not be 0", 0, "Use 1, or -1 for all cores.")
    return int(n_jobs)


def check_max_seconds(value: Any) -> float | None:
    """Return a time limit in seconds, or None for no limit; raise `ParameterError` if it is not positive."""
    return None if value is None else check_number("max_seconds", value, low=0.0, open_low=True)


def renamed_time_limit(max_seconds: Any, max_time: Any) -> float | None:
    """Return the time limit; warn if it was given by its former name."""
    if max_time is None:
        return check_max_seconds(max_seconds)
    if max_seconds is not None:
        raise ParameterError("max_time", "not be given together with max_seconds, its new name", max_time)
    warnings.warn("`max_time` is now called `max_seconds`.", FutureWarning, stacklevel=4)
    return check_max_seconds(max_time)


def _shown(value: Any, longest: int = 200) -> str:
    """Return the `repr` of a value, with the middle left out if it is long, to keep messages readable."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested without end, or a number with thousands of digits
        return f"a value of type {type(value).__name__}"
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]} ... {text[-half:]}"


def _bound(value: float) -> str:
    return f"{value:g}"
