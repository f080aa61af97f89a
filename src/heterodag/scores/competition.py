"""Mechanisms that compete: for every variable and set of parents, the one with the best priced likelihood wins.

Four kinds compete: lines and curves, each in location-scale and in natural form. Then comes the noise: subtracting n
times the gain of a density fitted to the residuals (`core.densities`) turns the Gaussian loss of a model into its
loss under that density; this is done if the gain exceeds the density's price. The Gaussian estimates of mean and
spread stay: they are consistent whatever the noise. Both sides of a likelihood ratio then lack what full maximum
likelihood would add, and under the null hypothesis the ratio is stochastically smaller than its chi-square: tests
keep their level.

Not all kinds are fitted every time. Curves are fitted if a score test of the lines' residuals asks for them, with
more basis columns for parents whose waves are fast or whose curve uses all the columns it has. The natural form is
fitted if the spread moves (otherwise both forms are the same). Natural curves cost several times as much as the
others and are needed only if several parents act on both natural parameters by curves; `natural_curves` admits them,
and `ordering.search` decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from heterodag.core.densities import SHARP, ResidualSums
from heterodag.core.gaussian import LOCATION_SCALE, NATURAL, Array, Form, Index, row_derivatives
from heterodag.core.table import Table
from heterodag.scores.curves import line_part
from heterodag.scores.drop_one import DropOne
from heterodag.scores.fit import Effort, Fit, Key, LinearFit
from heterodag.scores.lines import LineFitter
from heterodag.scores.noise_choice import Alone, edge_gains, with_noise
from heterodag.scores.smooth import ASKED, JOIN, Batch, Fitted, basis_width, fast_waves, promises, wide_width

#: The natural form is tried if parents contribute more than this to the spread (nats, Wald).
_MOVING = 10.0
#: Designs of one batch together hold at most this many numbers.
_BATCH_FLOATS = 2**20
#: Models are fitted together if the largest has at most this many times the basis columns of the smallest.
_SIMILAR = 1.5


@dataclass(frozen=True)
class CompetingFitter:
    """Fits all mechanisms that are allowed and returns the best; has the fitter interface that `LocalScores` uses.

    Attributes
    ----------
    forms : which forms compete.
    curves : whether curves compete.
    noise : "gaussian", "flexible", or "auto" for the better of the two.
    natural_curves : whether curves in natural form compete.
    credit_edges : whether variables with parents are credited with edges of their noise (`scores.noise_choice`).
    edges : whether the noise of variables without parents may have edges.
    """

    forms: tuple[Form, ...] = (LOCATION_SCALE, NATURAL)
    curves: bool = True
    noise: str = "auto"
    natural_curves: bool = False
    credit_edges: bool = False
    edges: bool = True
    comparable = True
    estimates = False

    @property
    def form(self) -> Form:
        """The form if it is fixed; otherwise location-scale, which separates mean and spread."""
        return self.forms[0]

    def batches(self, table: Table, keys: Iterable[Key]) -> Iterator[list[Key]]:
        """Cut models into batches of the same number of parents and bounded memory."""
        groups: dict[int, list[Key]] = {}
        for key in keys:
            groups.setdefault(len(key[1]), []).append(key)
        for parents, some in sorted(groups.items()):
            at_once = max(1, _BATCH_FLOATS // ((1 + parents * basis_width(table.shape[0])) * table.shape[0]))
            yield from (some[start : start + at_once] for start in range(0, len(some), at_once))

    def gain_batches(self, table: Table, keys: Iterable[Key]) -> Iterator[list[Key]]:
        """Cut models into batches for `gains`."""
        listed, at_once = list(keys), max(1, _BATCH_FLOATS // (4 * table.shape[0]))
        return (listed[start : start + at_once] for start in range(0, len(listed), at_once))

    def fit(self, table: Table, keys: Sequence[Key], starts: Sequence[Fit | None], effort: Effort) -> list[Fit]:
        """Fit models that have the same number of parents."""
        rivals, natural = _Rivals(table, len(keys)), list(range(len(keys)))
        batch, curves = Batch.of(table, keys, starts), self.curves and len(keys[0][1]) > 0
        widths = batch.widths
        if LOCATION_SCALE in self.forms:
            lines = batch.lines(effort)
            rivals.add(lines, natural)
            if curves:
                widths = _add_curves(rivals, batch, starts, lines, effort)
            natural = rivals.with_moving_spread()
        if NATURAL in self.forms and natural:
            lines = _natural_lines(table, [keys[i] for i in natural], [starts[i] for i in natural], effort)
            rivals.add(lines, natural)
            if curves and self.natural_curves:
                if LOCATION_SCALE not in self.forms:
                    fast = fast_waves(table, keys, [first for first, _ in _derivatives(table, lines.fits)])
                    widths = np.where(fast, wide_width(table.shape[0]), widths)
                for part, of in _designs(batch, starts, np.array(natural), widths):
                    rivals.add(part.natural_curves(effort), of)
        return rivals.best(self.noise, partial(_edges_alone, table) if self.credit_edges else None, self.edges)

    def gains(self, table: Table, fits: Sequence[Fit]) -> Array:
        """Return (models, d) what lines and curves of every column promise, not adjusted for the columns in use."""
        (first, second), (slope, bend) = _derivatives(table, fits)
        first, second = (
            np.stack(pair, axis=1).reshape(2 * len(fits), -1) for pair in ((first, slope), (second, bend))
        )
        return promises(table, first, second, self.curves)

    def residuals(self, table: Table, fits: Sequence[Fit]) -> Array:
        """Return the standardised residuals (models, n)."""
        return np.array([fit.residuals(table) for fit in fits])

    def without(self, table: Table, key: Key, tested: Sequence[int]) -> DropOne:
        """Test, one at a time, the parents numbered `tested` of a model; see `scores.drop_one_mechanisms`."""
        from heterodag.scores.drop_one_mechanisms import drop_mechanisms

        return drop_mechanisms(self, table, key, tested)


def _edges_alone(table: Table, target: int) -> float:
    """Return what edges gain a variable without parents (nats); found once per table."""
    key = ("edges alone", target)
    if key not in table.memo:
        table.memo[key] = float(edge_gains(ResidualSums.of(table.take([target]), SHARP))[0])
    return float(table.memo[key])


def _derivatives(table: Table, fits: Sequence[Fit]) -> list[tuple[Array, Array]]:
    """Return, for both predictors, first and second derivatives (models, n) of the rows' losses."""
    out, every = np.empty((2, 2, len(fits), table.shape[0])), slice(None)
    for i, fit in enumerate(fits):
        rows = row_derivatives(fit.form, table.take([fit.target], every), *fit.predictors(table, every))
        out[0, 0, i], out[0, 1, i], out[1, 0, i], out[1, 1, i] = rows.A[0], rows.AA[0], rows.s[0], rows.ss[0]
    return [(out[0, 0], out[0, 1]), (out[1, 0], out[1, 1])]


def _natural_lines(table: Table, keys: Sequence[Key], starts: Sequence[Fit | None], effort: Effort) -> Fitted:
    straight = [line_part(start) if isinstance(start, LinearFit) else None for start in starts]
    fits = [fit for fit in LineFitter(NATURAL).fit(table, keys, straight, effort) if isinstance(fit, LinearFit)]
    return Fitted(fits, np.array([fit.residuals(table) for fit in fits]))


def _add_curves(rivals: _Rivals, batch: Batch, starts: Sequence[Fit | None], lines: Fitted, effort: Effort) -> Index:
    """Fit curves where the residuals of lines ask for them; return the numbers (models, parents) of basis columns."""
    wide = wide_width(batch.table.shape[0])
    fast = fast_waves(batch.table, batch.keys, [first for first, _ in lines.derivatives()])
    asked = np.where(fast, np.inf, batch.bent(lines))
    widths = np.where(fast, wide, np.where(asked > JOIN, batch.widths, 1))
    some = np.flatnonzero(asked.max(axis=1) > ASKED)
    full = np.zeros(widths.shape, dtype=bool)
    for part, of in _designs(batch, starts, some, widths):
        fitted = part.curves(effort)
        rivals.add(fitted, of)
        full[of] = fitted.full(part.widths) & (part.widths < wide)
    widths = np.where(full, wide, widths)
    for part, of in _designs(batch, starts, np.flatnonzero(full.any(axis=1)), widths):
        rivals.add(part.curves(effort), of)
    return widths


def _designs(
    batch: Batch, starts: Sequence[Fit | None], some: Index, widths: Index
) -> Iterator[tuple[Batch, list[int]]]:
    """Yield designs of some models, with those of similar size together; `widths` (models, parents) count columns."""
    left = some[np.argsort(widths[some].sum(axis=1), kind="stable")]
    while len(left):
        size = widths[left].sum(axis=1)
        together = size <= _SIMILAR * size[0]
        of, left = np.sort(left[together]).tolist(), left[~together]
        if (widths[of] == batch.widths[of]).all():
            yield batch.take(of), of
        else:
            yield Batch.of(batch.table, [batch.keys[i] for i in of], [starts[i] for i in of], widths[of]), of


class _Rivals:
    """The models that compete for every key, and the choice among them."""

    def __init__(self, table: Table, keys: int) -> None:
        self.table, self.fits, self.rows, self.owner = table, list[LinearFit](), list[Array](), list[int]()
        self.keys = keys

    def add(self, fitted: Fitted, of: Sequence[int]) -> None:
        """Add competing models of some keys."""
        self.fits += fitted.fits
        self.rows += list(fitted.residuals)
        self.owner += of

    def with_moving_spread(self) -> list[int]:
        """Return the keys that have a model in which parents move the spread."""
        return sorted({owner for fit, owner in zip(self.fits, self.owner, strict=True) if fit.spread_gain > _MOVING})

    def best(self, noise: str, alone: Alone | None, edges: bool) -> list[Fit]:
        """Return the best model of every key, with its noise."""
        found: list[Fit | None] = [None] * self.keys
        judged = with_noise(self.fits, np.array(self.rows), noise, np.array(self.owner), alone, edges)
        for fit, owner in zip(judged, self.owner, strict=True):
            other = found[owner]
            if other is None or fit.loss < other.loss:
                found[owner] = fit
        return [fit for fit in found if fit is not None]
