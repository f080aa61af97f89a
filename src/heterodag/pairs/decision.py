"""Decide the direction of one pair: both are fitted with the models of `HOST()`, and the one with less loss wins.

This is what `HOST().fit` does with a table of two columns, without its edge test: the same local scores, the same rows, the
same rule for natural curves, the same price of an edge, the same limit below which a direction is open. Every pair gets a
direction, even one that `HOST` would leave without an edge; but evidence for a direction is what it gains over everything
else, the other direction or no link at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from heterodag.core.gaussian import Array
from heterodag.errors import DataError
from heterodag.io.inputs import check_data
from heterodag.ordering.directions import OPEN_BELOW
from heterodag.ordering.search import MECHANISM_LEVELS, parent_penalty, with_natural_curves
from heterodag.runtime.seeds import seed_sequence
from heterodag.runtime.threads import single_threaded
from heterodag.scores.fit import Effort, Key
from heterodag.scores.local import LocalScores
from heterodag.scores.make import AUTO

#: The two answers: the first column is the cause, or the second one.
FORWARDS, BACKWARDS = "->", "<-"
#: Models of x -> y, and of y -> x.
_MODELS: dict[str, tuple[Key, Key]] = {FORWARDS: ((0, ()), (1, (0,))), BACKWARDS: ((1, ()), (0, (1,)))}


@dataclass(frozen=True)
class PairResult:
    """What two columns say about their direction.

    Attributes
    ----------
    direction : str
        "->" if the first column looks like the cause, "<-" if the second one does.
    nats : float
        Evidence for that direction: by how many nats it explains the columns better than the other one does, or than
        unrelated columns do, whichever explain them better. 0 if unrelated columns explain them best.
    open : bool
        Whether the evidence is too weak to decide (less than 9 nats).
    link_nats : float
        Evidence that the columns are linked at all: by how many nats that direction explains them better than unrelated
        columns, the price of an edge paid.
    nats_if_linked : float
        Evidence for the direction if it is certain that the columns are linked, as in collections of cause-effect pairs:
        by how many nats it explains the columns better than the other one.
    rows : int
        Number of rows.

    Examples
    --------
    >>> from heterodag.pairs import PairResult
    >>> print(PairResult(direction="<-", nats=3.2, open=True, link_nats=40.0, nats_if_linked=3.2, rows=500))
    x <- y, open (3.2 nats)
    """

    direction: str
    nats: float
    open: bool
    link_nats: float
    nats_if_linked: float
    rows: int

    def __str__(self) -> str:
        said = "open" if self.open else "decided"
        link = "" if self.link_nats > 0.0 else "; no sign of a link"
        return f"x {self.direction} y, {said} ({self.nats:.1f} nats){link}"


def direction(x: Any, y: Any, *, missing: str = "refuse") -> PairResult:
    """Say which of two columns is the cause of the other.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        The two columns: continuous numbers, one row per unit. Nothing else is checked: see `heterodag.check_table`.
    missing : {"refuse", "drop"}, default="refuse"
        What to do with rows that have missing values: raise an error that counts them, or leave them out with a warning.

    Returns
    -------
    PairResult
        The direction with its evidence; `open` says whether the evidence is too weak to decide.

    Raises
    ------
    DataError
        If a column is constant, not numeric or not finite, or if one is a linear function of the other.

    Notes
    -----
    The negative log-likelihoods of both directions are compared, with a price on coefficients as in `HOST`:
    mechanisms (lines or curves, two forms) and densities of the noise compete for every column. At most 10,000 evenly
    spaced rows are used, as in `HOST`. Swapping the columns swaps the answer and changes nothing else.

    Examples
    --------
    >>> import numpy as np
    >>> from heterodag.pairs import direction
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-2, 2, 500)
    >>> y = x + x**2 + np.exp(x / 2) * rng.standard_normal(500)
    >>> answer = direction(x, y)
    >>> answer.direction, answer.open
    ('->', False)
    >>> direction(y, x).direction
    '<-'
    """
    array = _two_columns(x, y, missing)
    with single_threaded():
        scores = AUTO.make(array, seed_sequence(0)).sample(MECHANISM_LEVELS[-1])
        losses = _losses(scores)
        admitted = with_natural_curves(scores, dict(_MODELS[min(losses, key=losses.__getitem__)]))
        if admitted is not scores:
            scores, losses = admitted, _losses(admitted)
        alone = sum(scores.losses([(0, ()), (1, ())], Effort.FINAL))
    best, other = sorted(losses, key=losses.__getitem__)
    unlinked = alone - parent_penalty(scores.n_rows, scores.d)
    link, turned = unlinked - losses[best], losses[other] - losses[best]
    nats = max(min(turned, link), 0.0)
    return PairResult(best, nats, nats < OPEN_BELOW, link, turned, len(array))


def _losses(scores: LocalScores) -> dict[str, float]:
    """Return the loss of either direction."""
    return {name: sum(scores.losses(models, Effort.FINAL)) for name, models in _MODELS.items()}


def _two_columns(x: Any, y: Any, missing: str) -> Array:
    """Return both columns as one checked table; messages call them by their own names, or x and y."""
    import pandas as pd

    columns = {name: _column(name, given) for name, given in (("x", x), ("y", y))}
    first, second = columns.values()
    if len(first) != len(second):
        raise DataError(f"`x` has {len(first)} rows and `y` has {len(second)}: give both the same rows.")
    own = [str(name) for given in (x, y) if (name := getattr(given, "name", None)) is not None]
    names = own if len(set(own)) == 2 else list(columns)
    return check_data(pd.DataFrame(dict(zip(names, (first, second), strict=True))), missing)[0]


def _column(name: str, given: Any) -> npt.NDArray[Any]:
    """Return one column as an array; masked values are missing values."""
    try:
        masked = isinstance(given, np.ma.MaskedArray) and given.dtype.kind in "fiub"
        column = np.ma.filled(given.astype(float), np.nan) if masked else np.asarray(given)
    except ValueError:
        raise DataError(f"`{name}` must be one column of numbers; its rows are no numbers.") from None
    if column.ndim != 1 or column.dtype.names is not None:
        kind = f"its shape is {column.shape}" if column.ndim != 1 else "its rows are records"
        raise DataError(f"`{name}` must be one column of numbers; {kind}.")
    return column
