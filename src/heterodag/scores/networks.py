"""The paper's neural parametrisation: `A` and `s` are networks with one hidden layer of a few tanh units (torch).

All targets of a round are trained together, as one batch of small networks: Adam on the loss of `core.gaussian` in
double precision. The learning rate is lowered once, when the loss on held-out rows stops falling; every target keeps
the weights with its own smallest held-out loss. A round starts from the weights of the previous one.

Deviations from the paper: the free location `m` (see `core.gaussian`); early stopping on held-out rows; inputs are
centred at the median, divided by the quartile range, flipped so that their skewness is positive, and their tails are
compressed by `asinh`, because a few extreme values would otherwise leave no resolution for the rest. Shift, scale and
sign of a column then change standardised values only by rounding errors; because training would magnify these, it
sees 8 decimals. The result is the same unless a value is on the edge of rounding, as in one table in some hundreds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heterodag.core.gaussian import Array, Form
from heterodag.core.solver import free_swing
from heterodag.core.table import Table
from heterodag.errors import MissingExtraError
from heterodag.runtime.threads import one_torch_thread
from heterodag.scores.curves import CurveFitter
from heterodag.scores.drop_one import DropOne
from heterodag.scores.fit import Effort, Fit, Key, Parents

#: Share of the rows that decide when to stop.
_HELD_OUT = 0.2
_BATCHES, _MOST_EPOCHS, _PATIENCE = 8, 80, 5
_RATES = (0.03, 0.006)
#: Decimals of the standardised values that training sees.
_DECIMALS = 8
#: Longest gradient of one target: a row of extreme leverage must not ruin its network.
_LONGEST_GRADIENT = 1.0
_WEIGHT_DECAY = 1e-4


@dataclass(frozen=True, eq=False)
class Networks:
    """Weights of one network per target for `A` and `s` (second axis): everything that a prediction needs.

    Attributes
    ----------
    inner : (m, 2, hidden, k); bias : (m, 2, hidden); outer : (m, 2, hidden); level : (m, 2); location : (m,).
    """

    inner: Array
    bias: Array
    outer: Array
    level: Array
    location: Array

    def arrays(self) -> tuple[Array, ...]:
        """Return all weights; the first axis of each is the target's."""
        return self.inner, self.bias, self.outer, self.level, self.location


@dataclass(frozen=True, eq=False)
class NetworkFit(Fit):
    """A model with networks; predictions need only NumPy.

    Attributes
    ----------
    centre, scale : (k,) median and signed quartile range of the standardised parents.
    networks : the weights of one target.
    """

    centre: Array
    scale: Array
    networks: Networks

    def predictors(self, table: Table, rows: slice) -> tuple[Array, Array, Array | float]:
        """Return `A`, `s` and `m` on some rows."""
        x = _inputs(table.take(self.parents, rows), self.centre, self.scale)
        net = self.networks
        hidden = np.tanh(net.inner @ x + net.bias[..., None])
        out = np.einsum("mph,mphn->mpn", net.outer, hidden) + net.level[..., None]
        location = net.location[:, None] if self.form.locations else 0.0
        return out[:, 0], out[:, 1], location


@dataclass(frozen=True)
class NetworkFitter:
    """Trains networks; has the fitter interface that `LocalScores` uses."""

    form: Form
    seed: int
    hidden: int = 4
    comparable = False
    estimates = False

    def batches(self, table: Table, keys: Iterable[Key]) -> Iterator[list[Key]]:
        """Return the models with the same parents together: they are trained as one batch."""
        by_parents: dict[Parents, list[Key]] = {}
        for key in keys:
            by_parents.setdefault(key[1], []).append(key)
        return iter(by_parents.values())

    gain_batches = batches

    def gains(self, table: Table, fits: Sequence[Fit]) -> Array:
        """Raise an error: networks are not compared by score tests (`comparable` is False)."""
        raise NotImplementedError

    def residuals(self, table: Table, fits: Sequence[Fit]) -> Array:
        """Return the standardised residuals (models, n)."""
        return np.array([fit.residuals(table) for fit in fits])

    def without(self, table: Table, key: Key, tested: Sequence[int]) -> DropOne:
        """Test parents with splines instead: networks have no usable likelihood ratio."""
        return CurveFitter(self.form).without(table, key, tested)

    def fit(self, table: Table, keys: Sequence[Key], starts: Sequence[Fit | None], effort: Effort) -> list[Fit]:
        """Train the networks of every target given the same parents."""
        targets, parents = [j for j, _ in keys], keys[0][1]
        X = np.round(table.take(parents), _DECIMALS)
        centre, scale = _robust_scaling(X)
        networks, losses = self._first_weights(parents, targets, starts), np.full(len(targets), 0.5)
        if parents:
            Y = np.round(table.take(targets), _DECIMALS)
            networks, losses = _train(self.form, self.seed, _inputs(X, centre, scale), Y, networks)
        return [
            NetworkFit(
                self.form, j, parents, table.shape[0] * float(losses[i]), True, np.zeros(len(parents)), effort,
                centre, scale, Networks(*(array[i : i + 1] for array in networks.arrays())),
            )
            for i, j in enumerate(targets)
        ]  # fmt: skip

    def _first_weights(self, parents: Parents, targets: Sequence[int], starts: Sequence[Fit | None]) -> Networks:
        """Return small random inner weights and zero outer weights (the constant model), or those of the start."""
        m, k, hidden = len(targets), len(parents), self.hidden
        weights = Networks(
            np.empty((m, 2, hidden, k)),
            np.empty((m, 2, hidden)),
            np.zeros((m, 2, hidden)),
            np.zeros((m, 2)),
            np.zeros(m),
        )
        for i, (target, start) in enumerate(zip(targets, starts, strict=True)):
            weights.bias[i] = np.random.default_rng([self.seed, target]).uniform(-1.0, 1.0, (2, hidden))
            for place, column in enumerate(parents):
                draws = np.random.default_rng([self.seed, target, column]).normal(size=(2, hidden))
                weights.inner[i, :, :, place] = draws / np.sqrt(k)
            if isinstance(start, NetworkFit) and start.parents:
                places = [parents.index(j) for j in start.parents]
                weights.inner[i][:, :, places] = start.networks.inner[0]
                for own, old in zip(weights.arrays()[1:], start.networks.arrays()[1:], strict=True):
                    own[i] = old[0]
        return weights


def _inputs(x: Array, centre: Array, scale: Array) -> Array:
    return np.arcsinh((x - centre[:, None]) / scale[:, None])


def _robust_scaling(x: Array) -> tuple[Array, Array]:
    """Return median and quartile range per row, the latter with the sign of the skewness around the median."""
    if not len(x):
        return np.empty(0), np.empty(0)
    low, centre, high = np.quantile(x, (0.25, 0.5, 0.75), axis=1)
    spread = np.where(high > low, high - low, 1.0) / 1.349
    lean = np.arcsinh((x - centre[:, None]) / spread[:, None]).sum(axis=1)
    return centre, spread * np.where(lean < 0, -1.0, 1.0)


def _train(form: Form, seed: int, x: Array, y: Array, start: Networks) -> tuple[Networks, Array]:
    """Return the best weights of each target and its mean loss over all rows."""
    torch = import_torch()
    with one_torch_thread():
        trainer = _Trainer(torch, form, x, y, start, np.random.default_rng([seed, x.shape[1]]))
        return trainer.run()


def import_torch() -> Any:
    """Return torch, or raise an error that says how to install it."""
    try:
        import torch
    except ImportError:
        raise MissingExtraError("The parametrization 'mlp'", "neural") from None
    return torch


class _Trainer:
    """The training loop; `best` holds each target's weights at its smallest held-out loss."""

    def __init__(self, torch: Any, form: Form, x: Array, y: Array, start: Networks, rng: np.random.Generator) -> None:
        n = x.shape[1]
        self.torch, self.form, self.rng, self.limit = torch, form, rng, free_swing(n)
        self.x, self.y = (torch.as_tensor(np.ascontiguousarray(a.T)) for a in (x, y))
        shuffled = rng.permutation(n)
        self.held, self.rows = np.split(shuffled, [max(1, int(_HELD_OUT * n))])
        self.weights = [torch.tensor(array, requires_grad=True) for array in start.arrays()]
        # The location-scale form has no free location.
        self.moving = self.weights if form.locations else self.weights[:-1]
        self.best = [weight.detach().clone() for weight in self.weights]
        self.least = self._losses(self.held).detach()

    def run(self) -> tuple[Networks, Array]:
        epochs = 0
        for rate in _RATES:
            self._restore()
            optimizer = self.torch.optim.Adam(self.moving, lr=rate)
            waited = 0
            while waited < _PATIENCE and epochs < _MOST_EPOCHS:
                self._epoch(optimizer)
                waited = 0 if self._keep_better() else waited + 1
                epochs += 1
        self._restore()
        losses = self._losses(np.arange(len(self.x))).detach().numpy()
        return Networks(*(weight.detach().numpy().copy() for weight in self.weights)), losses

    def _epoch(self, optimizer: Any) -> None:
        rows = self.rng.permutation(self.rows)
        for batch in np.array_split(rows, _BATCHES):
            optimizer.zero_grad()
            decay = sum((weight**2).sum() for weight in (self.weights[0], self.weights[2]))
            (self._losses(batch).sum() + _WEIGHT_DECAY * decay).backward()
            self._shorten()
            optimizer.step()

    def _losses(self, rows: Any) -> Any:
        """Return every target's mean loss over some rows, with the bound on runaway rows (`free_swing`)."""
        torch = self.torch
        inner, bias, outer, level, location = self.weights
        x, y = self.x[rows], self.y[rows]
        hidden = torch.tanh(torch.einsum("mphk,nk->nmph", inner, x) + bias)
        A, s = ((hidden * outer).sum(-1) + level).unbind(-1)
        h = torch.exp(0.5 * s)
        e = h * (y - location) - A / h if self.form.locations else h * (y - A)
        excess = torch.relu(torch.abs(s - s.detach().mean(0)) - self.limit)
        return (0.5 * (e * e - s + excess * excess)).mean(0)

    def _shorten(self) -> None:
        """Bound the gradient of every target, and drop one that is not finite."""
        squares = sum((w.grad**2).flatten(1).sum(1) if w.dim() > 1 else w.grad**2 for w in self.moving)
        factor = self.torch.nan_to_num((_LONGEST_GRADIENT / squares.sqrt()).clamp(max=1.0), nan=0.0)
        for weight in self.moving:
            weight.grad = self.torch.nan_to_num(weight.grad) * factor.reshape(-1, *[1] * (weight.dim() - 1))

    def _keep_better(self) -> bool:
        found = self._losses(self.held).detach()
        better = found < self.least - 1e-5
        self.least = self.torch.where(better, found, self.least)
        for kept, weight in zip(self.best, self.weights, strict=True):
            kept[better] = weight.detach()[better]
        return bool(better.any())

    def _restore(self) -> None:
        with self.torch.no_grad():
            for weight, kept in zip(self.weights, self.best, strict=True):
                weight.copy_(kept)
