"""What a user knows about the graph, by column name or index; in Python or as a small JSON file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from heterodag.errors import DataError, ParameterError
from heterodag.io.inputs import column_labels
from heterodag.io.jsonfiles import read_object
from heterodag.io.writing import write_all
from heterodag.knowledge.resolve import resolve
from heterodag.knowledge.resolved import ResolvedKnowledge

Column: TypeAlias = str | int
Edge: TypeAlias = tuple[Column, Column]

_EXAMPLE = '{"required": [["a", "b"]], "forbidden": [], "tiers": [["a"], ["b", "c"]], "roots": [], "leaves": []}'


@dataclass(frozen=True)
class PriorKnowledge:
    """What you know about the graph; it is obeyed strictly.

    Columns are given by name, or by index (0 is the first). If the table's own labels are whole numbers, as in a
    pandas frame with the columns 3, 2, 1, 0, a whole number is a label, not an index.

    Parameters
    ----------
    required : edges (cause, effect)
        They are in the graph without being tested, and the cause is placed before the effect.
    forbidden : edges (cause, effect)
        They are never tested and never in the graph. The other direction stays open.
    tiers : lists of columns
        Every column of a tier is placed before every column of later tiers, so no edge leads back. Columns of one
        tier may cause each other; columns in no tier are free.
    roots, leaves : columns
        Columns without causes, and columns without effects.

    Notes
    -----
    In the order, a root is placed before, and a leaf after, every column for which that excludes no graph that agrees
    with the rest of the knowledge.

    Examples
    --------
    >>> from heterodag import HOST, PriorKnowledge, simulate
    >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> table = simulate(500, 3, mechanism="straight", adjacency=chain, random_state=1).to_frame()
    >>> bool(HOST().fit(table).open_.any())  # the table alone does not tell all directions
    True
    >>> known = PriorKnowledge(tiers=[["x0"], ["x1", "x2"]], forbidden=[("x2", "x1")])
    >>> HOST(prior_knowledge=known).fit(table).edges()[["cause", "effect", "open"]]
      cause effect   open
    0    x1     x2  False
    1    x0     x1  False
    """

    required: Iterable[Edge] = ()
    forbidden: Iterable[Edge] = ()
    tiers: Iterable[Iterable[Column]] = ()
    roots: Iterable[Column] = ()
    leaves: Iterable[Column] = ()

    def __post_init__(self) -> None:
        for name in ("required", "forbidden"):
            object.__setattr__(self, name, tuple(_edge(name, item) for item in _items(name, getattr(self, name))))
        object.__setattr__(self, "tiers", tuple(_tier(tier) for tier in _items("tiers", self.tiers)))
        for name in ("roots", "leaves"):
            object.__setattr__(self, name, _columns(name, getattr(self, name)))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> PriorKnowledge:
        """Return the knowledge in a mapping.

        Parameters
        ----------
        content : mapping
            Any of the keys required, forbidden, tiers, roots, leaves.

        Returns
        -------
        PriorKnowledge
            The knowledge.

        Examples
        --------
        >>> from heterodag import PriorKnowledge
        >>> PriorKnowledge.from_dict({"roots": ["dose"]}).roots
        ('dose',)
        """
        known = [field.name for field in fields(cls)]
        for key in content:
            if key not in known:
                raise ParameterError("prior_knowledge", f"have only the keys {', '.join(known)}", key)
        return cls(**content)

    @classmethod
    def from_json(cls, path: str | Path) -> PriorKnowledge:
        """Read a JSON file.

        Parameters
        ----------
        path : str or Path
            The file: one object with any of the keys required, forbidden, tiers, roots, leaves.

        Returns
        -------
        PriorKnowledge
            The knowledge.
        """
        path = Path(path)
        content = read_object(path, "Knowledge file", _EXAMPLE)
        try:
            return cls.from_dict(content)
        except ParameterError as error:
            raise DataError(f"Knowledge file '{path}': {error}") from None

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the JSON text that `from_json` reads; also write it if a path is given.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it.

        Returns
        -------
        str
            JSON.

        Examples
        --------
        >>> from heterodag import PriorKnowledge
        >>> text = PriorKnowledge(required=[("dose", "response")]).to_json("knowledge.json")
        >>> PriorKnowledge.from_json("knowledge.json").required
        (('dose', 'response'),)
        """
        content = {field.name: getattr(self, field.name) for field in fields(self) if getattr(self, field.name)}
        text = json.dumps(content, ensure_ascii=False, indent=2) + "\n"
        if path is not None:
            write_all({Path(path).name: text}, Path(path).parent)
        return text

    def resolve(self, names: Sequence[str] | None, d: int) -> ResolvedKnowledge:
        """Return the knowledge as matrices for one table, or raise if it contradicts itself.

        Parameters
        ----------
        names : sequence of str or None
            Names of the columns. The columns of a table without names are also called x0, x1, ...
        d : int
            Number of columns.

        Returns
        -------
        ResolvedKnowledge
            The matrices, for methods that build an order or test edges.
        """
        return resolve(self, column_labels(d, names))


def as_knowledge(value: Any) -> PriorKnowledge | None:
    """Return what a user passed as `prior_knowledge`: None, a `PriorKnowledge` or a mapping of its arguments."""
    if value is None or isinstance(value, PriorKnowledge):
        return value
    if isinstance(value, Mapping):
        return PriorKnowledge.from_dict(value)
    rule = "be None, a PriorKnowledge or a mapping of its arguments"
    remedy = "Read a file with PriorKnowledge.from_json." if isinstance(value, str | Path) else ""
    raise ParameterError("prior_knowledge", rule, value, remedy)


def resolved(value: Any, names: Sequence[str] | None, d: int) -> ResolvedKnowledge | None:
    """Return a user's `prior_knowledge` for one table; None stays None."""
    knowledge = as_knowledge(value)
    return None if knowledge is None else knowledge.resolve(names, d)


def _items(name: str, value: Any) -> list[Any]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ParameterError(name, "be a list", value, "Give a list, empty if there is nothing to say.")
    return list(value)


def _columns(name: str, value: Any) -> tuple[Column, ...]:
    return tuple(_column(name, item) for item in _items(name, value))


def _tier(value: Any) -> tuple[Column, ...]:
    if isinstance(value, str | int | Mapping) or not isinstance(value, Iterable):
        raise ParameterError("tiers", "be a list of lists of columns", value)
    return _columns("tiers", value)


def _column(name: str, value: Any) -> Column:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    raise ParameterError(name, "name columns by name or whole-number index", value)


def _edge(name: str, value: Any) -> Edge:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ParameterError(name, "list edges as pairs (cause, effect)", value)
    return _column(name, value[0]), _column(name, value[1])
