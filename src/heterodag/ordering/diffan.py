"""DiffAN: find leaves by the Hessian of a log density that a diffusion model has learned.

Sanchez, Liu, O'Neil and Tsaftaris (2023). With Gaussian noise, `log p` is quadratic in a leaf: the leaf's diagonal
entry of the Hessian is the same in every row. So the leaf is the column whose entry varies least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from heterodag.core.gaussian import Array
from heterodag.core.graph import Order
from heterodag.core.table import location_and_scale
from heterodag.knowledge import ResolvedKnowledge, last_columns
from heterodag.runtime.threads import one_torch_thread

#: Rows at which the Hessian is computed.
LOOKED_AT = 512


@dataclass(frozen=True)
class DiffusionSettings:
    """Sizes of the diffusion model and limits of its training.

    Attributes
    ----------
    hidden : units of the two hidden layers.
    noise_steps : noise levels.
    learning_rate : of Adam.
    batch_size : rows per step.
    max_steps : most steps of training.
    patience : steps without a smaller held-out loss before training ends.
    votes : noise levels at which a leaf is sought; the majority decides.
    """

    hidden: int
    noise_steps: int
    learning_rate: float
    batch_size: int
    max_steps: int
    patience: int
    votes: int


def diffan_order(
    X: Array,
    leaf_removal: str,
    settings: DiffusionSettings,
    rng: np.random.Generator,
    report: Callable[[float], None],
    knowledge: ResolvedKnowledge | None = None,
) -> Order:
    """Return the causal order of a table.

    Parameters
    ----------
    X : (n, d) data.
    leaf_removal : {"residue", "masking", "retrain", "sort"}
        What happens once a leaf is found; see `DiffAN`.
    settings : DiffusionSettings
    rng : random numbers for the starts, the noise and the held-out rows.
    report : called with the share of work done.
    knowledge : ResolvedKnowledge, optional
        A leaf is sought only among the columns that may be the last of those left.
    """
    from heterodag.ordering import _diffusion

    location, scale = location_and_scale(X)
    Y, d = (X - location) / scale, X.shape[1]
    looked_at = Y[np.sort(rng.permutation(len(Y))[:LOOKED_AT])]
    if d == 1:
        return np.zeros(1, dtype=np.intp)
    with one_torch_thread():
        if leaf_removal == "retrain":
            leaves = _leaves_of_new_models(Y, looked_at, settings, rng, report, knowledge)
        else:
            weights = _diffusion.train(Y, settings, rng, lambda share: report(0.7 * share))
            if leaf_removal == "sort":
                return _sorted(weights, looked_at, settings, knowledge)
            residue = leaf_removal == "residue"
            leaves = _leaves_of_one_model(weights, looked_at, settings, residue, report, knowledge)
    last = next(j for j in range(d) if j not in leaves)
    return np.array([last, *leaves[::-1]], dtype=np.intp)


def _leaves_of_one_model(
    weights: Any,
    rows: Array,
    settings: DiffusionSettings,
    residue: bool,
    report: Callable[[float], None],
    knowledge: ResolvedKnowledge | None,
) -> list[int]:
    """Return all columns but one in the order in which they were removed as leaves."""
    d, leaves = rows.shape[1], list[int]()
    while len(leaves) < d - 1:
        remaining = [j for j in range(d) if j not in leaves]
        votes = _variances(weights, rows, leaves, settings, residue)
        leaves.append(_elected(votes, remaining, last_columns(remaining, d, knowledge)))
        report(0.7 + 0.3 * len(leaves) / (d - 1))
    return leaves


def _leaves_of_new_models(
    Y: Array,
    rows: Array,
    settings: DiffusionSettings,
    rng: np.random.Generator,
    report: Callable[[float], None],
    knowledge: ResolvedKnowledge | None,
) -> list[int]:
    """Do the same with a new model of the remaining columns for every leaf."""
    from heterodag.ordering import _diffusion

    d, leaves = Y.shape[1], list[int]()
    while len(leaves) < d - 1:
        remaining = [j for j in range(d) if j not in leaves]
        done = len(leaves)

        def share_of_all(share: float, done: int = done) -> None:
            report((done + share) / (d - 1))

        weights = _diffusion.train(Y[:, remaining], settings, rng, share_of_all)
        votes = _variances(weights, rows[:, remaining], [], settings, residue=False)
        leaves.append(_elected(votes, remaining, last_columns(remaining, d, knowledge)))
    return leaves


def _noise_shares(settings: DiffusionSettings) -> list[float]:
    """Return the noise levels used: from the least noisy eighth, because noise blurs the curves of the mechanisms."""
    from heterodag.ordering import _diffusion

    shares = 1 - _diffusion.signal_shares(settings.noise_steps).numpy()
    places = np.linspace(0, settings.noise_steps / 8, settings.votes + 1)[1:].astype(int)
    return [float(shares[min(place, len(shares) - 1)]) for place in places]


def _variances(weights: Any, rows: Array, removed: list[int], settings: DiffusionSettings, residue: bool) -> Array:
    from heterodag.ordering import _diffusion

    shares = _noise_shares(settings)
    return np.array([_diffusion.hessian_variances(weights, rows, removed, share, residue) for share in shares])


def _elected(variances: Array, remaining: list[int], allowed: list[int]) -> int:
    """Return the allowed column that most noise levels (rows) call a leaf; the first of equals."""
    leaves = np.argmin(variances[:, [remaining.index(j) for j in allowed]], axis=1)
    return allowed[Counter(leaves.tolist()).most_common(1)[0][0]]


def _sorted(weights: Any, rows: Array, settings: DiffusionSettings, knowledge: ResolvedKnowledge | None) -> Order:
    """Return the order by the mean rank of the variances of all columns at once, largest first."""
    ranks = np.argsort(np.argsort(_variances(weights, rows, [], settings, residue=False), axis=1), axis=1)
    scores = ranks.sum(axis=0).astype(float)
    return np.argsort(-scores, kind="stable") if knowledge is None else knowledge.sorted_by(scores)
