"""Test whether rows depend on each other, along the order of the rows, on ranks, so that heavy tails do no harm.

A column of independent rows has no correlation with itself a few rows later, whatever its distribution. Where there is
some, a second statistic, the *roughness*, tells two cases apart. It compares the difference between a row and the
mean of its two neighbours with the difference between a row and the mean of rows a few places away. The two are equal
if rows are independent around a slow drift (or in a table that was sorted by another column); the first is smaller if
neighbours share more than that (time series, repeated units).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln
from scipy.stats import norm, rankdata

from heterodag.core.gaussian import Array, Index, Mask

#: At most this many rows are examined, in runs of this length, and at most this many cells: more rows would make no
#: difference to correlations of `LEAST` and above.
MOST_ROWS, RUN, MOST_CELLS = 20_000, 1_000, 2_000_000
#: Fewer rows than this (in a condition) tell nothing about dependence.
FEWEST = 20
#: Chance of a false alarm over all columns and lags together; after an alarm, columns at the second level are named
#: too.
LEVEL, _ALONG = 5e-4, 0.01
#: A weaker correlation is not reported, however certain: it reduces the evidence by less than 2 %.
LEAST = 0.1
#: Rows up to this far apart are tested; the roughness compares neighbours with rows at these distances.
TESTED, FAR = 10, (6, 7, 8, 9, 10)
#: Standard deviation of the roughness of independent rows, times the root of their number (simulated, n = 40 to 5000).
ROUGH_SD = 1.55
#: Log probability of being sorted by chance below which a column counts as sorted on purpose.
_SORTED = np.log(1e-6)
#: The first rows that are examined: most columns show there already that they are not sorted.
_GLANCE = 64
#: A column with one value in more than this share of the rows has too few others to tell.
_MODE = 0.8


@dataclass(frozen=True)
class Runs:
    """Ranks of neighbouring rows: columns of mean 0 and variance 1 within every condition.

    Attributes
    ----------
    rows : (m,) positions in the table.
    ranks : (m, d); 0 where a column says nothing.
    run : (m,) neighbours are those of the same run.
    telling : (d,) columns that vary enough.
    """

    rows: Index
    ranks: Array
    run: Index
    telling: Mask


def runs(X: Array, groups: Index | None) -> Runs:
    """Return the ranks of the rows; if there are many, of evenly spread runs of rows."""
    n, d = X.shape
    starts = stretch_starts(n, d)
    if starts is None:
        rows = np.arange(n)
        run = np.zeros(n, dtype=np.intp)
    else:
        rows = (starts[:, None] + np.arange(RUN)).ravel()
        run = np.repeat(np.arange(len(starts)), RUN)
    own = np.zeros(len(rows), dtype=np.intp) if groups is None else np.unique(groups[rows], return_inverse=True)[1]
    run = np.cumsum(np.r_[0, (np.diff(run) != 0) | (np.diff(own) != 0)])
    ranks = np.zeros((len(rows), d))
    for group in range(own.max() + 1):
        members = np.flatnonzero(own == group)
        if len(members) >= FEWEST:
            ranks[members] = _standard_ranks(X[rows[members]])
    return Runs(rows, ranks, run, np.asarray(ranks.any(axis=0)))


def stretch_starts(n: int, d: int) -> Index | None:
    """Return the starts of the runs of `RUN` neighbouring rows that represent a long table; None for a short one."""
    most = max(RUN, min(MOST_ROWS, MOST_CELLS // d))
    return None if n <= most else np.linspace(0, n - RUN, most // RUN).astype(np.intp)


def runs_of(stretches: Sequence[Array]) -> Runs:
    """Return ranks of stretches of neighbouring rows of a table, one below the other."""
    X = np.vstack(stretches)
    ranks = _standard_ranks(X) if len(X) >= FEWEST else np.zeros(X.shape)
    run = np.repeat(np.arange(len(stretches)), [len(rows) for rows in stretches])
    return Runs(np.arange(len(X)), ranks, run, np.asarray(ranks.any(axis=0)))


def _standard_ranks(X: Array) -> Array:
    ranks = rankdata(X, axis=0)
    ranks -= ranks.mean(axis=0)
    scale = np.sqrt(np.mean(ranks**2, axis=0))
    # If one value fills a share m of the n rows, the ranks have at most the variance n^2 (1 - m^3) / 12.
    scale[12 * scale**2 < (1 - _MODE**3) * len(X) ** 2] = np.inf
    return np.asarray(ranks / scale)


def correlations(of: Runs, lags: Sequence[int], columns: Index | slice = slice(None)) -> tuple[Array, Index]:
    """Return the correlation of every column with itself `lags` rows later, (lags, d), and the number of pairs."""
    z, pairs = of.ranks[:, columns], np.zeros(len(lags), dtype=np.intp)
    found = np.zeros((len(lags), z.shape[1]))
    for k, lag in enumerate(lags):
        same = of.run[lag:] == of.run[:-lag]
        pairs[k] = same.sum()
        if pairs[k]:
            found[k] = np.einsum("ij,ij->j", z[lag:][same], z[:-lag][same]) / pairs[k]
    return found, pairs


def roughness(of: Runs, columns: Index, far: Sequence[int] = FAR) -> tuple[Array, float]:
    """Return 1 minus the ratio of squared differences to near and to farther rows, and its standard deviation."""
    near, pairs = _lacks(of, 1, columns)
    beyond = np.mean([_lacks(of, lag, columns)[0] for lag in far], axis=0)
    return 1.0 - near / np.where(beyond > 0, beyond, np.inf), ROUGH_SD / np.sqrt(max(pairs, 1))


def _lacks(of: Runs, lag: int, columns: Index) -> tuple[Array, int]:
    same = of.run[2 * lag :] == of.run[: -2 * lag]
    z = of.ranks[:, columns]
    middle, around = z[lag:-lag][same], z[2 * lag :][same] + z[: -2 * lag][same]
    return np.mean((middle - 0.5 * around) ** 2, axis=0) if same.any() else np.zeros(z.shape[1]), int(same.sum())


def alike(of: Runs) -> tuple[Index, Array, int]:
    """Return the columns in which rows depend on rows close by, the correlations at the reported lag, and that lag.

    Every column is tested at lags up to `TESTED`, and all columns together at lag 1: the variance of the sum of their
    autocorrelations is the sum of their squared correlations with each other. If lag 1 is significant, it is
    reported.
    """
    d = int(of.telling.sum())
    lags = [lag for lag in range(1, TESTED + 1) if 4 * lag <= len(of.run)]
    if not d or not lags:
        return np.zeros(0, dtype=np.intp), np.zeros(of.ranks.shape[1]), 1
    r, pairs = correlations(of, lags)
    z = r * np.sqrt(pairs)[:, None]
    single = np.where(np.abs(r) >= LEAST, 2 * norm.sf(np.abs(z)) * d * len(lags), 1.0)
    sure = np.asarray((single < LEVEL / 2).any(axis=1))
    if sure.any():
        k = 0 if sure[0] else int(np.argmin(single.min(axis=1)))
        return np.flatnonzero(single[k] < _ALONG), r[k], lags[k]
    together = of.ranks.T @ of.ranks / len(of.run)
    total = float(z[0].sum() / np.sqrt(np.sum(together**2)))
    if 2 * norm.sf(abs(total)) < LEVEL / 2 and abs(r[0].sum()) >= LEAST * d:
        return np.flatnonzero(np.sign(total) * z[0] > 1.0), r[0], 1
    return np.zeros(0, dtype=np.intp), r[0], 1


def inflation(of: Runs, columns: Index, local: bool) -> float:
    """Return how many times less evidence these rows carry about links between the columns than independent rows.

    The variance of the correlation of two unrelated columns is that of independent rows times 1 + 2 sum r_k s_k over
    all lags k, where r and s are the autocorrelations of the two (Bartlett); here both are those of a median column.
    `local` counts only what neighbours share beyond what rows a few places away share.
    """
    most = min(len(of.run), RUN) // 4
    lags = list(range(1, FAR[0])) if local else sorted({int(1.3**k) for k in range(1, 60) if 1.3**k <= most})
    r, pairs = correlations(of, lags, columns)
    if local:
        base = correlations(of, FAR, columns)[0].mean(axis=0)
        r = (r - base) / np.maximum(1.0 - base, 1e-6)
    r[np.abs(r) < 2.0 / np.sqrt(np.maximum(pairs, 1))[:, None]] = 0.0
    squares = np.median(r, axis=1) ** 2
    total = float(np.interp(np.arange(1, lags[-1] + 1), lags, squares).sum())
    return 1.0 + 2.0 * total


def sorted_columns(X: Array, groups: Index | None) -> list[int]:
    """Return the columns whose values never fall, or never rise, from row to row (within conditions)."""
    found, same = [], np.ones(len(X) - 1, dtype=bool) if groups is None else np.diff(groups) == 0
    for j in range(X.shape[1]):
        first = np.diff(X[:_GLANCE, j])[same[: _GLANCE - 1]]
        if (first < 0).any() and (first > 0).any():
            continue
        x = X[:, j]
        steps = np.diff(x)[same]
        if len(steps) and steps.any() and ((steps >= 0).all() or (steps <= 0).all()):
            _, counts = np.unique(x, return_counts=True)
            if gammaln(counts + 1.0).sum() - gammaln(len(x) + 1.0) < _SORTED:
                found.append(j)
    return found
