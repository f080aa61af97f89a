"""What can be done to a variable: set it, shift it, or draw it from another distribution."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.errors import ParameterError
from heterodag.io.inputs import column_index


@dataclass(frozen=True, eq=False)
class Set:
    """A hard intervention: the variable takes this value, whatever its causes.

    Parameters
    ----------
    value : float, or array of shape (n,)
        The value, or one per row. In the methods of `HeteroscedasticSCM`, a plain number means the same.

    Examples
    --------
    >>> from heterodag import HeteroscedasticSCM, simulate
    >>> from heterodag.scm import Set
    >>> data = simulate(300, 3, random_state=1)
    >>> scm = HeteroscedasticSCM.from_dag(data.adjacency, data.X)
    >>> scm.sample_do({"x0": Set(1.5)}, 2, random_state=0)["x0"].tolist()
    [1.5, 1.5]
    """

    value: Any
    replaces: ClassVar[bool] = True

    def apply(self, natural: Array | None, n: int, rng: np.random.Generator) -> Array:
        """Return the value in every row."""
        values = _numbers(self.value, "a number, or one finite number per row")
        if values.ndim and len(values) != n:
            raise ParameterError("do", f"set one value, or {n} values for {n} rows", f"{len(values)} values")
        return np.array(np.broadcast_to(values, n))


@dataclass(frozen=True, eq=False)
class Shift:
    """A soft intervention: the variable takes the value that its causes and noise give, plus this amount.

    Parameters
    ----------
    amount : float, or array of shape (n,)
        What is added: one amount, or one per row.

    Examples
    --------
    >>> from heterodag import HeteroscedasticSCM, simulate
    >>> from heterodag.scm import Shift
    >>> data = simulate(300, 3, random_state=1)
    >>> scm = HeteroscedasticSCM.from_dag(data.adjacency, data.X)
    >>> before = scm.sample(1000, random_state=0)  # the same seed: the same noise
    >>> after = scm.sample_do({"x1": Shift(2.0)}, 1000, random_state=0)
    >>> (after - before)["x1"].round(6).unique().tolist()
    [2.0]
    """

    amount: Any
    replaces: ClassVar[bool] = False

    def apply(self, natural: Array | None, n: int, rng: np.random.Generator) -> Array:
        """Return the natural values, shifted."""
        assert natural is not None
        return natural + Set(self.amount).apply(None, n, rng)


@dataclass(frozen=True, eq=False)
class Draw:
    """A stochastic intervention: the variable is drawn from another distribution, whatever its causes.

    Parameters
    ----------
    source : callable, distribution or sample
        A function `(rng, n) -> n values`, an object with `rvs` (a frozen SciPy distribution), or a sample to draw
        from with replacement.

    Examples
    --------
    >>> from heterodag import HeteroscedasticSCM, simulate
    >>> from heterodag.scm import Draw
    >>> data = simulate(300, 3, random_state=1)
    >>> scm = HeteroscedasticSCM.from_dag(data.adjacency, data.X)
    >>> rows = scm.sample_do({"x0": Draw([0.0, 1.0])}, 1000, random_state=0)
    >>> sorted(rows["x0"].unique().tolist())
    [0.0, 1.0]
    """

    source: Any
    replaces: ClassVar[bool] = True

    def apply(self, natural: Array | None, n: int, rng: np.random.Generator) -> Array:
        """Return n fresh values."""
        if hasattr(self.source, "rvs"):
            drawn = self.source.rvs(size=n, random_state=rng)
        elif callable(self.source):
            drawn = self.source(rng, n)
        else:
            drawn = rng.choice(_numbers(self.source, "a sample of finite numbers").reshape(-1), size=n)
        values = _numbers(drawn, "a source of finite numbers")
        if values.shape != (n,):
            raise ParameterError("do", f"draw values of shape ({n},)", values.shape)
        return values


Intervention: TypeAlias = Set | Shift | Draw
#: Column index -> what is done to it.
Actions: TypeAlias = dict[int, Intervention]


def read_actions(do: Mapping[Any, Any] | None, labels: Sequence[str]) -> Actions:
    """Return checked interventions by column index; plain numbers and arrays mean `Set`, functions mean `Draw`."""
    if do is None:
        return {}
    if not isinstance(do, Mapping):
        raise ParameterError("do", "be a mapping from columns to interventions, such as {'x': 1.0}", do)
    actions: Actions = {}
    for column, what in do.items():
        index = column_index("do", column, labels)
        if index in actions:
            raise ParameterError("do", f"intervene once on every column; '{labels[index]}' appears twice", column)
        actions[index] = _intervention(what)
    return actions


def _intervention(what: Any) -> Intervention:
    if isinstance(what, Set | Shift | Draw):
        return what
    if isinstance(what, Callable) or hasattr(what, "rvs"):  # type: ignore[arg-type]
        return Draw(what)
    _numbers(what, "a number, Set(...), Shift(...) or Draw(...) for every column")
    return Set(what)


def _numbers(value: Any, rule: str) -> Array:
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError("do", f"give {rule}", value) from None
    if not np.isfinite(numbers).all() or numbers.ndim > 1:
        raise ParameterError("do", f"give {rule}", value)
    return numbers
