"""Models that differ from a known one in one thing: by a parent, or by whether a parent acts by a line or by a curve.

On a sample, form and curves are chosen for every model on its own. Over millions of rows, two models that treat a shared
parent differently (by a line and by a curve, or by curves of 8 and of 24 columns) differ by thousands of nats, and what a
further parent adds is lost in that. So a long table compares models in which everything else is equal.

A sample cannot tell lines from gently bent curves, which millions of rows can. What a line misses there, variables related
to the parent seem to explain: false parents. So models that a sample chose get curves first (`curved`), and all rows decide
which of them become lines (`straightened`). A further parent acts by a line at first, until all rows ask for a curve.

Second derivatives and what is known of the model at hand also tell where the optimum of the other one is, if the parent
is weak: one pass over the rows then confirms it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from heterodag.core.design import linear_basis
from heterodag.core.gaussian import Array, Form, Index
from heterodag.core.location_scale import CLOSED, FIRST_STRENGTH
from heterodag.core.splines import LINE, ColumnSpline, SplineBasis
from heterodag.core.wald import wald_gains
from heterodag.scores.fit import Fit, Key, LinearFit, Parents


@dataclass(frozen=True, eq=False)
class _Part:
    """What one parent has in a model: basis columns, coefficients (2, width) in `A` and `s`, strengths (2,) of penalties."""

    column: ColumnSpline
    theta: Array
    strengths: Array


def relative(key: Key, known: Iterable[Fit]) -> LinearFit | None:
    """Return the known model of the same variable that differs least: by one parent less, or by some more.

    None if there is none, and for variables without parents, whose optimum is known.
    """
    target, parents = key[0], set(key[1])
    if not parents:
        return None
    own = [fit for fit in known if fit.target == target and isinstance(fit, LinearFit)]
    near = [fit for fit in own if parents <= set(fit.parents) or len(parents.symmetric_difference(fit.parents)) == 1]
    return min(near, key=lambda fit: (abs(len(fit.parents) - len(parents)), fit.loss), default=None)


def without_parent(known: LinearFit, parents: Parents) -> LinearFit:
    """Return the start of a model that has some of the parents of `known`, as they are there."""
    return _joined(known, parents, _parts(known))


def expected_without(known: LinearFit, parents: Parents, second: Array) -> tuple[LinearFit, Array]:
    """Return the same at its expected optimum, with its second derivatives, from those of `known` (penalties included)."""
    dropped = np.concatenate([coefficients_of(known, gone) for gone in set(known.parents).difference(parents)])
    kept = np.delete(np.arange(len(known.theta)), dropped)
    return without_parent(_closed(known, dropped, second), parents), second[np.ix_(kept, kept)]


def _closed(known: LinearFit, dropped: Index, second: Array) -> LinearFit:
    """Return a model at its expected optimum with some coefficients 0."""
    kept, theta = np.delete(np.arange(len(known.theta)), dropped), known.theta.copy()
    theta[dropped] = 0.0
    step = second[np.ix_(kept, dropped)] @ known.theta[dropped]
    theta[kept] += np.linalg.lstsq(second[np.ix_(kept, kept)], step, rcond=None)[0]
    return replace(known, theta=theta)


def curved(known: LinearFit, columns: Mapping[int, ColumnSpline]) -> LinearFit:
    """Return the start of a model in which some parents have curves, of the given bases if they had none."""
    parts = _parts(known)
    for j, column in columns.items():
        part = parts[j]
        if part.column.curves is None:
            theta = np.pad(part.theta, ((0, 0), (0, column.width - 1)))
            parts[j] = _Part(column, theta, np.full(2, FIRST_STRENGTH))
        else:
            parts[j] = replace(part, strengths=np.where(part.strengths < CLOSED, part.strengths, FIRST_STRENGTH))
    return _joined(known, known.parents, parts)


def curves_of(fit: LinearFit) -> dict[tuple[int, int], Index]:
    """Return where the coefficients of curves are, without their lines, by the number of the parent and the predictor."""
    blocks = fit.basis.blocks if isinstance(fit.basis, SplineBasis) else []
    return {
        (k, side): side * fit.shape.width + np.arange(block.start + 1, block.stop)
        for k, block in enumerate(blocks)
        if block.stop - block.start > 1
        for side in (0, 1)
    }


def straightened(known: LinearFit, second: Array, n: int) -> tuple[LinearFit, Index] | None:
    """Return a model without the curves that gain less (Wald) than their price, at its expected optimum; None if all pay.

    `second` are the second derivatives of `known` (penalties included). Also returned: which of its coefficients are left. A
    curve that one predictor needs stays in the design of the other, closed.
    """
    curves = curves_of(known)
    if not curves or known.edf is None or known.strengths is None:
        return None
    gains = wald_gains(second[None], known.theta[None], list(curves.values()))[0]
    useless = {
        place for place, gain in zip(curves, gains, strict=True)
        if gain < 0.5 * np.log(n) * known.edf[place[1], place[0]] and known.strengths[place[1], place[0]] < CLOSED
    }  # fmt: skip
    if not useless:
        return None
    start = _closed(known, np.concatenate([curves[place] for place in sorted(useless)]), second)
    parts, gone = _parts(start), list[Index]()
    for k, j in enumerate(known.parents):
        shut = [side for side in (0, 1) if (k, side) in useless or known.strengths[side, k] >= CLOSED]
        if (k, 0) in curves and len(shut) == 2:
            parts[j] = _Part(LINE, parts[j].theta[:, :1], np.full(2, np.inf))
            gone += [curves[k, 0], curves[k, 1]]
        elif shut:
            strengths = parts[j].strengths.copy()
            strengths[shut] = CLOSED
            parts[j] = replace(parts[j], strengths=strengths)
    kept = np.delete(np.arange(len(known.theta)), np.concatenate(gone) if gone else [])
    return _joined(start, known.parents, parts), kept


def expected_with(start: LinearFit, new: int, second: Array, scores: Array) -> LinearFit:
    """Return a model with a new parent that acts by a line at its expected optimum.

    `second` are second derivatives at the start (penalties included), `scores` (2,) the derivatives of the loss by the line
    in `A` and in `s`; those by all else are 0.
    """
    gradient = np.zeros(len(start.theta))
    gradient[coefficients_of(start, new)] = scores
    return replace(start, theta=start.theta - np.linalg.lstsq(second, gradient, rcond=None)[0])


def coefficients_of(fit: LinearFit, parent: int) -> Index:
    """Return where the coefficients of a parent are, those in `A` before those in `s`."""
    k = fit.parents.index(parent)
    return fit.shape.of_rows(fit.basis.blocks[k] if isinstance(fit.basis, SplineBasis) else slice(k + 1, k + 2))


def with_parent(known: LinearFit, parents: Parents, form: Form) -> LinearFit:
    """Return the start of a model that has one parent more than `known`, and the others as they are there.

    The new parent acts by a line and has no effect yet. A model without parents has no form of its own, and takes `form`.
    """
    if not known.parents:
        known = replace(known, form=form, theta=np.zeros(2 + form.locations), basis=linear_basis)
    new = _Part(LINE, np.zeros((2, 1)), np.full(2, np.inf))
    return _joined(known, parents, dict.fromkeys(parents, new) | _parts(known))


def _joined(known: LinearFit, parents: Parents, parts: Mapping[int, _Part]) -> LinearFit:
    """Return a model with the intercepts and the location of `known` and the given parts."""
    p, own = known.shape.width, [parts[j] for j in parents]
    sides = [np.concatenate([known.theta[[k * p]], *(part.theta[k] for part in own)]) for k in (0, 1)]
    start = replace(known, parents=parents, theta=np.concatenate([*sides, known.theta[2 * p :]]), noise=None)
    if all(part.column is LINE for part in own) and not isinstance(known.basis, SplineBasis):
        return start
    return replace(
        start,
        basis=SplineBasis(tuple(part.column for part in own), tuple(part.theta.shape[1] for part in own)),
        strengths=np.array([part.strengths for part in own]).reshape(-1, 2).T,
        edf=np.zeros((2, len(own))),
    )


def _parts(fit: LinearFit) -> dict[int, _Part]:
    """Return what each parent has in a model."""
    p, count = fit.shape.width, len(fit.parents)
    sides = fit.theta[: 2 * p].reshape(2, p)
    if not isinstance(fit.basis, SplineBasis):
        straight = np.full(2, np.inf)
        return {j: _Part(LINE, sides[:, k + 1 : k + 2], straight) for k, j in enumerate(fit.parents)}
    strengths = np.full((2, count), np.inf) if fit.strengths is None else fit.strengths
    return {
        j: _Part(fit.basis.columns[k], sides[:, block], strengths[:, k])
        for k, (j, block) in enumerate(zip(fit.parents, fit.basis.blocks, strict=True))
    }
