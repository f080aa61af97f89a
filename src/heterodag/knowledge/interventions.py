"""Interventions as users write them: which variables were set from outside, or changed, in which rows.

Three ways to write them: a table of True and False (rows and columns of `X`), one entry per row (None, a column, or
several), or `Interventions`, a column of conditions with the targets of each. All become a `Study`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from heterodag.core.gaussian import Index, Mask
from heterodag.errors import DataError, ParameterError, check_choice
from heterodag.io.inputs import column_index, column_name
from heterodag.io.jsonfiles import read_object

KINDS = ("set", "shift")
UNKNOWN = "unknown"
#: A condition whose effect is estimated (shifts, unknown targets) needs this many rows for its location and spread.
LEAST_ROWS = 5
#: How None and the missing values of NumPy and pandas print. They are recognised by their text because comparing
#: pandas' missing value with itself gives neither True nor False.
_MISSING = {"None", "nan", "<NA>", "NaT"}
_EXAMPLE = '{"control": null, "drug a": "x1", "drug b": ["x2", "x3"], "drug c": "unknown"}'


@dataclass(frozen=True, eq=False)
class Interventions:
    """Experiments by condition: which condition every row belongs to, and which variables each condition acts on.

    Parameters
    ----------
    conditions : array of shape (n,), or a column
        The condition of every row; or the column of `X` that holds it, which is then not a variable.
    targets : mapping from conditions to targets, or "unknown"
        A target is None (nothing was done: observation), a column, a list of columns, or "unknown": then every
        variable is tested for whether the condition acts on it. "unknown" in place of the mapping applies to all
        conditions. Columns are given as in `PriorKnowledge`.
    kind : {"set", "shift"}, default="set"
        What was done to known targets. "set": they were set from outside, and their causes did not act in these rows.
        "shift": their causes still act, but location and spread differ in that condition.

    Notes
    -----
    Shifts and unknown targets are relative to a reference: all conditions without targets together, or, if every
    condition has targets, the one with the most rows.

    Examples
    --------
    >>> from heterodag import HOST, Interventions, simulate
    >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> data = simulate(600, 3, mechanism="straight", adjacency=chain, interventions={"x1": 100}, random_state=1)
    >>> table = data.to_frame().assign(condition=["control"] * 500 + ["drug"] * 100)
    >>> told = Interventions("condition", {"control": None, "drug": "x1"})
    >>> HOST().fit(table, interventions=told).rows_  # the model of x1 is fitted to the control rows
    array([600, 500, 600])
    """

    conditions: Any
    targets: Mapping[Any, Any] | str = UNKNOWN
    kind: str = "set"

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        if not isinstance(self.targets, Mapping) and self.targets != UNKNOWN:
            raise ParameterError("targets", "be a mapping from conditions to targets, or 'unknown'", self.targets)

    @classmethod
    def from_json(cls, conditions: Any, path: str | Path | None, kind: str = "set") -> Interventions:
        """Read the targets from a JSON file.

        Parameters
        ----------
        conditions : array of shape (n,), or a column
            As in `Interventions`.
        path : str, Path or None
            The file: one object such as {"control": null, "drug": "x1"}. None means that all targets are unknown.
        kind : {"set", "shift"}, default="set"
            As in `Interventions`.

        Returns
        -------
        Interventions
            What was done.
        """
        if path is None:
            return cls(conditions, UNKNOWN, kind)
        return cls(conditions, read_object(Path(path), "Targets file", _EXAMPLE), kind)


@dataclass(frozen=True, eq=False)
class Told:
    """What the user said about every row, checked.

    Attributes
    ----------
    fixed : (n, d) bool; True where a variable was set.
    condition : (n,) number of the condition of every row.
    names : names of the conditions.
    changed : condition number -> columns that it shifts, or None if its targets are unknown; without the reference.
    """

    fixed: Mask
    condition: Index
    names: list[str]
    changed: dict[int, tuple[int, ...] | None] = field(default_factory=dict)

    def take(self, rows: Index | Mask) -> Told:
        """Return what the user said about some rows."""
        return Told(self.fixed[rows], self.condition[rows], self.names, self.changed)

    def undisturbed(self, column: int) -> Mask:
        """Return the rows of a variable's own mechanism: it was not set there, and nothing can have changed it."""
        acting = [number for number, some in self.changed.items() if some is None or column in some]
        return np.asarray(~self.fixed[:, column] & ~np.isin(self.condition, acting))


def take_conditions(X: Any, interventions: Any) -> tuple[Any, Any]:
    """Move the column of conditions, if `interventions` names one, from `X` into the interventions; return both."""
    if not isinstance(interventions, Interventions) or not isinstance(interventions.conditions, str | Integral):
        return X, interventions
    import narwhals.stable.v1 as nw

    name, frame = interventions.conditions, nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise ParameterError("conditions", "be one condition per row, as `X` has no column names", name)
    place = column_index("conditions", name, [column_name(column) for column in frame.columns])
    values = frame[:, place].to_list()
    return frame.drop(frame.columns[place]).to_native(), Interventions(
        values, interventions.targets, interventions.kind
    )


def read_interventions(value: Any, labels: Sequence[str], n: int) -> Told:
    """Return what a user passed as `interventions` for a table of n rows, or raise an error."""
    if isinstance(value, Told):
        return value
    if isinstance(value, Interventions):
        return _by_condition(value, labels, n)
    if getattr(value, "ndim", None) == 1:  # an array or a series of entries
        value = list(value)
    entries = isinstance(value, list | tuple) and not _is_table(value)
    fixed = _entries(value, labels, n) if entries else _mask(value, labels, n)
    patterns, condition = np.unique(fixed, axis=0, return_inverse=True)
    names = [", ".join(labels[j] for j in np.flatnonzero(row).tolist()) or "observation" for row in patterns]
    return Told(fixed, condition.reshape(-1), names)


def _is_table(value: Sequence[Any]) -> bool:
    """Return whether a list holds rows of True and False rather than names."""
    first = value[0] if value else None
    return (
        isinstance(first, list | tuple | np.ndarray)
        and all(isinstance(v, bool | np.bool_) for v in first)
        and len(first) > 0
    )


def _mask(value: Any, labels: Sequence[str], n: int) -> Mask:
    rule = f"be None, Interventions(...), one entry per row, or {n} x {len(labels)} values True and False"
    if hasattr(value, "columns") and hasattr(value, "to_numpy"):
        names = [str(column) for column in value.columns]
        fixed = np.zeros((len(value), len(labels)), dtype=bool)
        found = _truths(value.to_numpy(), rule)
        for k, name in enumerate(names):
            fixed[:, column_index("interventions", name, labels)] = found[:, k]
    else:
        fixed = _truths(value, rule)
    if fixed.shape != (n, len(labels)):
        raise ParameterError("interventions", f"have shape ({n}, {len(labels)}), as the table", fixed.shape)
    return fixed


def _truths(value: Any, rule: str) -> Mask:
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.empty(0)
    if array.ndim != 2 or not np.isin(array, [0, 1]).all():
        raise ParameterError("interventions", rule, type(value).__name__ if array.ndim != 2 else array.dtype.name)
    return array.astype(bool)


def _entries(value: Sequence[Any], labels: Sequence[str], n: int) -> Mask:
    if len(value) != n:
        raise ParameterError("interventions", f"have one entry per row, {n}", f"{len(value)} entries")
    fixed, known = np.zeros((n, len(labels)), dtype=bool), dict[Hashable, tuple[int, ...]]()
    for row, entry in enumerate(value):
        name = tuple(entry) if isinstance(entry, list | tuple | set) else entry
        _check_hashable("interventions", name)
        if name not in known:
            known[name] = _columns("interventions", entry, labels)
        fixed[row, list(known[name])] = True
    return fixed


def _columns(argument: str, entry: Any, labels: Sequence[str]) -> tuple[int, ...]:
    """Return the columns of None, one column, or several."""
    if entry is None:
        return ()
    several = entry if isinstance(entry, list | tuple | set | np.ndarray) else [entry]
    return tuple(sorted({column_index(argument, column, labels) for column in several}))


def _by_condition(told: Interventions, labels: Sequence[str], n: int) -> Told:
    values = _conditions(told, n)
    known = list(dict.fromkeys(values))
    numbers = {value: number for number, value in enumerate(known)}
    condition = np.array([numbers[value] for value in values], dtype=np.intp)
    targets = [_targets(told.targets, value, labels) for value in known]
    reference = _reference(targets, np.bincount(condition, minlength=len(known)))
    fixed, changed = np.zeros((n, len(labels)), dtype=bool), dict[int, tuple[int, ...] | None]()
    for number, some in enumerate(targets):
        if some is None or (told.kind == "shift" and some):
            changed[number] = some
        elif some:
            fixed[np.ix_(condition == number, list(some))] = True
    also = changed.pop(reference, ())
    if also:  # the reference is itself shifted: its targets differ in all other conditions
        for number in range(len(known)):
            if number != reference and changed.get(number, ()) is not None:
                changed[number] = tuple(sorted({*(changed.get(number) or ()), *also}))
    names = [str(value) for value in known]
    _refuse_rare(names, condition, changed)
    return Told(fixed, condition, names, changed)


def _conditions(told: Interventions, n: int) -> list[Any]:
    """Return the condition of every row; refuse a missing condition unless the targets name it."""
    if not isinstance(told.conditions, Iterable):
        raise ParameterError("conditions", f"have one entry per row, {n}", told.conditions)
    values = list(told.conditions)
    if len(values) != n:
        raise ParameterError("conditions", f"have one entry per row, {n}", f"{len(values)} entries")
    for row, value in enumerate(values):
        _check_hashable("conditions", value)
        missing = not isinstance(value, str) and str(value) in _MISSING
        if missing and (isinstance(told.targets, str) or value not in told.targets):
            rule = f"say for every row which condition it belongs to; that of row {row} is missing"
            raise ParameterError("conditions", rule, value, "Name it, or leave the row out.")
    return values


def _check_hashable(argument: str, value: Any) -> None:
    if not isinstance(value, Hashable):
        raise ParameterError(argument, "have names or numbers as entries", value)


def _reference(targets: Sequence[tuple[int, ...] | None], counts: Index) -> int:
    """Return the largest condition without targets, or the largest of all if each has targets."""
    without = [number for number, some in enumerate(targets) if some == ()] or list(range(len(targets)))
    return max(without, key=lambda number: int(counts[number]))


def _targets(targets: Mapping[Any, Any] | str, condition: Any, labels: Sequence[str]) -> tuple[int, ...] | None:
    """Return the targets of a condition as a tuple of columns, or None if they are unknown."""
    if isinstance(targets, str):
        return None
    if condition not in targets and str(condition) not in targets:
        shown = ", ".join(repr(key) for key in list(targets)[:8]) + (", ..." if len(targets) > 8 else "")
        raise ParameterError(
            "targets",
            "have every condition of the rows",
            condition,
            f"It has {shown}; say None (null in JSON) where nothing was done.",
        )
    entry = targets[condition] if condition in targets else targets[str(condition)]
    if isinstance(entry, str) and entry == UNKNOWN and UNKNOWN not in labels:
        return None
    return _columns("targets", entry, labels)


def _refuse_rare(names: list[str], condition: Index, changed: Mapping[int, Any]) -> None:
    for number in changed:
        rows = int((condition == number).sum())
        if rows < LEAST_ROWS:
            raise DataError(
                f"Condition '{names[number]}' has {rows} row(s); estimating what it changes needs at least {LEAST_ROWS}: "
                "leave its rows out, or join it with another condition."
            )
