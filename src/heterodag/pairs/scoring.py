"""Decide many pairs, and measure how good the answers are if only the surest are given.

The share of pairs that is decided is the decision rate; pairs with the most nats come first. Accuracy as a function of
the decision rate shows whether nats can be trusted: it should fall as the rate rises. All shares are shares of the
weight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import delayed

from heterodag.core.gaussian import Array
from heterodag.errors import DataError, DataWarning, ParameterError, check_workers, warn
from heterodag.pairs.decision import direction
from heterodag.pairs.folders import Pair
from heterodag.runtime.parallel import as_finished

if TYPE_CHECKING:
    import pandas as pd

#: Columns of the table of decisions.
COLUMNS = ("pair", "direction", "nats", "open", "link_nats", "nats_if_linked", "rows", "truth", "right", "weight")


@dataclass(frozen=True, eq=False)
class PairScores:
    """How good the directions of many pairs are; every share is a share of the weight.

    Attributes
    ----------
    pairs : int
        Number of pairs with a known direction.
    accuracy : float
        Share of right directions if every pair is decided, open or not.
    decided : float
        Share of pairs that are not open.
    accuracy_decided : float
        Share of right directions among the decided pairs; NaN if there are none.
    area : float
        Area under the curve of accuracy by decision rate: 1 is perfect, guessing gives 0.5.
    rates, accuracies : ndarray
        The curve: accuracy among the surest pairs that make up this share of the weight. One point per distinct number
        of nats.

    Examples
    --------
    >>> import pandas as pd
    >>> from heterodag.pairs import score_pairs
    >>> table = pd.DataFrame({"nats": [30.0, 20.0, 2.0], "open": [False, False, True], "right": [1.0, 1.0, 0.0]})
    >>> scores = score_pairs(table.assign(weight=1.0))
    >>> print(scores)
    3 pairs with a known direction: 66.7 % right if all are decided.
    66.7 % are decided (not open); of these, 100.0 % are right.
    Area under the curve of accuracy by decision rate: 0.889.
    """

    pairs: int
    accuracy: float
    decided: float
    accuracy_decided: float
    area: float
    rates: Array
    accuracies: Array

    def __str__(self) -> str:
        said = "none" if np.isnan(self.accuracy_decided) else f"{100 * self.accuracy_decided:.1f} %"
        return (
            f"{self.pairs} pair{'' if self.pairs == 1 else 's'} with a known direction: {100 * self.accuracy:.1f} % right "
            f"if all are decided.\n{100 * self.decided:.1f} % are decided (not open); of these, {said} are right.\n"
            f"Area under the curve of accuracy by decision rate: {self.area:.3f}."
        )

    def at(self, rate: float) -> float:
        """Return the accuracy if the surest share `rate` of the pairs is decided.

        Parameters
        ----------
        rate : float
            Decision rate, in (0, 1].

        Returns
        -------
        float
            Accuracy at the first point of the curve that decides at least this share.
        """
        if not 0.0 < rate <= 1.0:
            raise ParameterError("rate", "lie in (0, 1]", rate)
        place = int(np.searchsorted(self.rates, rate - 1e-12))
        return float(self.accuracies[min(place, len(self.rates) - 1)])


def decide_pairs(
    pairs: Iterable[Pair],
    *,
    missing: str = "refuse",
    n_jobs: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> pd.DataFrame:
    """Decide the direction of every pair.

    Parameters
    ----------
    pairs : iterable of Pair
        As from `read_pairs`.
    missing : {"refuse", "drop"}, default="refuse"
        What to do with rows that have missing values; see `direction`.
    n_jobs : int, optional
        Number of pairs decided in parallel, as joblib understands it; the result does not depend on it.
    progress : callable, optional
        Called with the share of pairs that are done.

    Returns
    -------
    pandas.DataFrame
        One row per pair: pair; direction, nats, open, link_nats, nats_if_linked and rows as in `PairResult`; truth; right
        (1 or 0; 0.5 if both directions are equally good; empty if the truth is not known) and weight.

    Examples
    --------
    >>> import numpy as np
    >>> from heterodag.pairs import Pair, decide_pairs
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-2, 2, 300)
    >>> pair = Pair("mine", x, x**3 + rng.standard_normal(300), truth="->")
    >>> decide_pairs([pair])[["pair", "direction", "open", "right"]]
       pair direction   open  right
    0  mine        ->  False    1.0
    """
    import pandas as pd

    rows, calls = [], [delayed(_decide)(pair, missing) for pair in pairs]
    for row, said in as_finished(calls, check_workers(n_jobs)):
        rows.append(row)
        for sentence in said:
            warn(f"{row['pair']}: {sentence}", DataWarning)
        if progress is not None:
            progress(len(rows) / len(calls))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _decide(pair: Pair, missing: str) -> tuple[dict[str, Any], list[str]]:
    """Return one row of the table of decisions, and a sentence on rows that were left out."""
    x, y, said = _complete(pair) if missing == "drop" else (pair.x, pair.y, [])
    try:
        found = direction(x, y, missing=missing)
    except DataError as error:
        raise DataError(f"{pair.name}: {error}") from None
    right = (
        np.nan if pair.truth is None else 0.5 if found.nats_if_linked == 0.0 else float(found.direction == pair.truth)
    )
    told = {name: getattr(found, name) for name in COLUMNS[1:7]}
    known = {"truth": pair.truth, "right": right, "weight": pair.weight}
    return {"pair": pair.name, **told, **known}, said


def _complete(pair: Pair) -> tuple[Array, Array, list[str]]:
    """Return the rows of a pair without missing values, and a sentence that counts the others."""
    x, y = (np.asarray(column) for column in (pair.x, pair.y))
    if x.shape != y.shape or any(column.dtype.kind != "f" for column in (x, y)):
        return x, y, []  # for `direction` to judge
    lost = np.isnan(x) | np.isnan(y)
    if not lost.any() or lost.all():
        return x, y, []
    said = f"{lost.sum()} of {len(x)} rows have missing values and were left out."
    return x[~lost], y[~lost], [said]


def score_pairs(table: pd.DataFrame) -> PairScores:
    """Measure how good the directions in a table of decisions are.

    Parameters
    ----------
    table : pandas.DataFrame
        As from `decide_pairs`: the columns nats, open, right and weight. Pairs whose `right` is empty do not count.

    Returns
    -------
    PairScores
        Accuracy, accuracy by decision rate, and the area under that curve.

    Raises
    ------
    ParameterError
        If no pair has a known direction and a positive weight.

    Examples
    --------
    >>> import pandas as pd
    >>> from heterodag.pairs import score_pairs
    >>> table = pd.DataFrame({"nats": [30.0, 2.0], "open": [False, True], "right": [1.0, 0.0], "weight": [1.0, 3.0]})
    >>> score_pairs(table).accuracy
    0.25
    """
    _check_decisions(table)
    known = table[table["right"].notna() & (table["weight"] > 0)]
    if known.empty:
        raise ParameterError(
            "table", "have a pair with a known direction and a positive weight", f"{len(table)} pairs",
            "Say what is cause and what is effect in pairmeta.txt.",
        )  # fmt: skip
    nats, right, weight = (known[name].to_numpy(dtype=np.float64) for name in ("nats", "right", "weight"))
    weight = weight / weight.max()  # the sum of very large weights is finite, too
    decided = ~known["open"].to_numpy(dtype=bool)
    rates, accuracies = accuracy_by_rate(nats, right, weight)
    share = float(weight[decided].sum() / weight.sum())
    said = float(np.average(right[decided], weights=weight[decided])) if decided.any() else float("nan")
    area = float(np.diff(rates, prepend=0.0) @ accuracies)
    return PairScores(len(known), float(np.average(right, weights=weight)), share, said, area, rates, accuracies)


def _check_decisions(table: pd.DataFrame) -> None:
    """Refuse tables whose scores would mean nothing."""
    columns = {}
    for name in ("nats", "open", "right", "weight"):
        if name not in table:
            raise ParameterError("table", "have the columns nats, open, right and weight", f"none called '{name}'")
        try:
            columns[name] = table[name].to_numpy(dtype=np.float64)
        except (TypeError, ValueError):
            raise ParameterError(f"table['{name}']", "hold numbers", table[name].iloc[0]) from None
    nats, open_, right, weight = columns.values()
    for name, values, good, rule in (
        ("nats", nats, np.isfinite(nats), "hold finite numbers"),
        ("open", open_, (open_ == 0) | (open_ == 1), "hold True or False"),
        ("right", right, np.isnan(right) | ((right >= 0) & (right <= 1)), "lie in [0, 1], or be empty"),
        ("weight", weight, np.isfinite(weight) & (weight >= 0), "be finite and not negative"),
    ):
        if not good.all():
            raise ParameterError(f"table['{name}']", rule, values[~good][0])


def accuracy_by_rate(nats: Array, right: Array, weight: Array) -> tuple[Array, Array]:
    """Return decision rates and the accuracy at each, surest pairs first; pairs with equal nats share one rate."""
    _, group = np.unique(-nats, return_inverse=True)
    share = np.cumsum(np.bincount(group, weight))
    return share / share[-1], np.cumsum(np.bincount(group, weight * right)) / share
