"""The conditional flows of LCIT, many at a time: stacked tensors, gradients written by hand, one Adam for all.

A flow turns x given z into a standard normal latent by the distribution function of a mixture of K Gaussians
whose means, log-scales and weights are a small network of z. All flows of a stack train in one batched
computation; tensors have shape (flow, feature, row). Flows do not interact: the result of a flow does not
depend on which others train with it, except for rounding in the last bits.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.special import ndtri
from torch.optim.adam import adam

from heterodag.independence.contract import Array

if TYPE_CHECKING:
    from heterodag.independence.lcit import FlowSettings

#: float32 would save a third of the time, but over hundreds of Adam steps its rounding makes p-values differ by
#: up to 0.07 depending on which flows train together; with float64 they differ by 1e-12.
DTYPE = torch.float64
#: The narrowest component, for targets of variance 1: a spike on tied values would win any likelihood.
MIN_LOG_SCALE = -4.0
#: Values of the distribution function are kept this far from 0 and 1: latents stay within 4.75.
CLIP = 1e-6
#: Adam's memory of the gradient and of its square.
MEMORY, SQUARE_MEMORY = 0.9, 0.99
#: Steps between two checks of the held-out loss, and the smallest improvement that counts.
CHECK_EVERY, MIN_GAIN = 10, 1e-4
#: Shares of a variance below this are rounding errors: of directions of Z, and of what Z leaves of a latent.
ROUNDING_SHARE = 1e-10
#: Rows per piece when the trained flows are applied to the whole sample.
PIECE = 4096


@dataclass(frozen=True)
class NetworkShape:
    """Where the parts of a network are in its row of the parameter table.

    `hidden`, `hidden_bias` and `out`, `out_bias` are the two layers; the 3K outputs are means, log-scales and
    logits of the weights. `linear` (2, width) goes straight from z to the common location and log-scale.
    """

    width: int
    n_hidden: int
    n_components: int

    def split(self, table: torch.Tensor) -> list[torch.Tensor]:
        """Return views (flow, rows, columns) of the parts: hidden, hidden_bias, out, out_bias, linear."""
        outputs = 3 * self.n_components
        shapes = [(self.n_hidden, self.width), (self.n_hidden, 1), (outputs, self.n_hidden), (outputs, 1)]
        views, start = [], 0
        for rows, columns in [*shapes, (2, self.width)]:
            views.append(table[:, start : start + rows * columns].view(len(table), rows, columns))
            start += rows * columns
        return views

    @property
    def size(self) -> int:
        """Number of parameters of one flow."""
        inner = self.n_hidden * (self.width + 1) + 3 * self.n_components * (self.n_hidden + 1)
        return inner + 2 * self.width


@dataclass
class Stack:
    """Flows in training: data, parameters, Adam's memory, the best parameters so far. First axis: flow."""

    x: torch.Tensor
    Z: torch.Tensor
    theta: torch.Tensor
    mean: torch.Tensor
    square: torch.Tensor
    best: torch.Tensor
    best_loss: torch.Tensor
    best_step: torch.Tensor

    def take(self, index: torch.Tensor) -> Stack:
        """Return the flows at `index`."""
        return Stack(**{name: tensor[index] for name, tensor in vars(self).items()})


def draw_start(rng: np.random.Generator, width: int, settings: FlowSettings) -> tuple[Array, Array, Array]:
    """Return random weights (hidden, hidden_bias, out) of one network.

    Only signs and sizes of the weights are random: no unit is flat, and the units bend at the normal quantiles
    of their input. Eight fully random units leave gaps, and all pairs of an order share the draw: with x and y
    following the same sine of z and n = 2000, 9 % to 19 % of true null hypotheses were rejected at 0.05,
    depending on the seed; now 9 % to 13 %.

    The first q rows of weights are the same for every `width` of at least q, so that padding a flow with
    columns that it does not use does not change its start.
    """
    outputs, n_hidden = 3 * settings.n_components, settings.n_hidden
    out = 0.1 / math.sqrt(n_hidden) * rng.standard_normal((outputs, n_hidden))
    normal = rng.standard_normal((width, n_hidden)).T
    bends = ndtri((np.arange(n_hidden) + 0.5) / n_hidden)
    return np.sign(normal) * (1 + np.abs(normal)), -2 * bends[:, None], out


def flow_latents(
    x: Array, Z: Array, widths: Array, starts: list[tuple[Array, Array, Array]], settings: FlowSettings
) -> Array:
    """Train one flow per row of `x` and return the latents of all rows of data.

    Parameters
    ----------
    x : (b, n) targets, spread like standard normal samples, rows of data in random order.
    Z : (b, p, n) conditioning columns, likewise; unused ones are 0.
    widths : (b,) number of used columns of Z.
    starts : random weights of each flow, from `draw_start`.
    settings : sizes and limits.

    Returns
    -------
    (b, n) array
    """
    with torch.inference_mode():
        shape = NetworkShape(Z.shape[1], settings.n_hidden, settings.n_components)
        data = torch.as_tensor(x, dtype=DTYPE)[:, None], torch.as_tensor(Z, dtype=DTYPE)
        held_out = held_out_rows(x.shape[1])
        theta = initial_parameters(*data, widths, starts, shape, held_out)
        theta = train(shape, *data, theta, held_out, settings)
        return apply_flows(shape.split(theta), *data)


def held_out_rows(n: int) -> int:
    """Return how many of the first rows are held out to decide when to stop: a fifth, at most 1000."""
    return min(n // 5, 1000)


def initial_parameters(
    x: torch.Tensor,
    Z: torch.Tensor,
    widths: Array,
    starts: list[tuple[Array, Array, Array]],
    shape: NetworkShape,
    held_out: int,
) -> torch.Tensor:
    """Return parameters of flows that start at the ridge regression of x on Z with normal residuals."""
    theta = torch.zeros(len(x), shape.size, dtype=DTYPE)
    hidden, hidden_bias, out, out_bias, linear = shape.split(theta)
    for b, (weights, bias, output) in enumerate(starts):
        q = int(widths[b])
        hidden[b, :, :q] = torch.as_tensor(weights[:, :q] / math.sqrt(max(q, 1)))
        hidden_bias[b], out[b] = torch.as_tensor(bias), torch.as_tensor(output)
    linear[:, :1] = ridge(x[:, :, held_out:], Z[:, :, held_out:], widths)
    spread = (x - linear[:, :1] @ Z)[:, :, held_out:].std(dim=2, keepdim=True).clamp_(min=1e-3)
    k = shape.n_components
    # Components at normal quantiles, together about as wide as the residuals.
    places = torch.as_tensor(ndtri((np.arange(k) + 0.5) / k), dtype=DTYPE)
    out_bias[:, :k] = 0.7 * spread * places[:, None]
    out_bias[:, k : 2 * k] = torch.log(0.7 * spread)
    return theta


def ridge(x: torch.Tensor, Z: torch.Tensor, widths: Array) -> torch.Tensor:
    """Return (b, 1, p) coefficients; the penalty grows with columns per row, so that p > n causes no trouble."""
    n = x.shape[2]
    penalty = torch.as_tensor((np.asarray(widths) + 1) / n, dtype=DTYPE)[:, None, None]
    gram = Z @ Z.transpose(1, 2) / n + penalty * torch.eye(Z.shape[1], dtype=DTYPE)
    solution: torch.Tensor = torch.linalg.solve(gram, Z @ x.transpose(1, 2) / n)
    return solution.transpose(1, 2)


def train(
    shape: NetworkShape,
    x: torch.Tensor,
    Z: torch.Tensor,
    theta: torch.Tensor,
    held_out: int,
    settings: FlowSettings,
) -> torch.Tensor:
    """Train all flows; return the parameters of each at its smallest held-out loss."""
    result = theta.clone()
    active = torch.arange(len(x))
    zero, best_step = torch.zeros_like(theta), torch.zeros(len(x))
    loss = negative_log_likelihood(shape.split(theta), x[:, :, :held_out], Z[:, :, :held_out])
    stack = Stack(x, Z, theta, zero.clone(), zero, theta.clone(), loss, best_step)
    batches = minibatches(held_out, x.shape[2], settings.batch_size)
    for step in range(1, settings.max_steps + 1):
        adam_step(stack, shape, batches[step % len(batches)], step, settings.learning_rate)
        if step % CHECK_EVERY:
            continue
        keep_best(stack, shape, held_out, step, settings.patience)
        going = step - stack.best_step < settings.patience
        if not going.any():
            break
        if going.sum() <= len(active) // 2:
            # Half have stopped: continue with the others only.
            result[active[~going]] = stack.best[~going]
            active, stack = active[going], stack.take(going)
    result[active] = stack.best
    return result


def minibatches(first: int, n: int, size: int) -> list[slice]:
    """Cut the rows from `first` on into equal slices of about `size` rows."""
    count = max(1, round((n - first) / size))
    edges = np.linspace(first, n, count + 1).astype(int)
    return [slice(int(a), int(b)) for a, b in itertools.pairwise(edges)]


def adam_step(stack: Stack, shape: NetworkShape, rows: slice, step: int, rate: float) -> None:
    """Move all flows one step of Adam (Kingma and Ba 2015) on the given rows."""
    gradient = torch.zeros_like(stack.theta)
    write_gradient(shape.split(stack.theta), shape.split(gradient), stack.x[:, :, rows], stack.Z[:, :, rows])
    # Adam as a function: the class would hide the memory that `Stack.take` cuts, and its first use takes 1.7 s.
    adam(
        [stack.theta], [gradient], [stack.mean], [stack.square], [], [torch.tensor(step - 1.0)], foreach=False,
        amsgrad=False, beta1=MEMORY, beta2=SQUARE_MEMORY, lr=rate, weight_decay=0.0, eps=1e-8, maximize=False,
    )  # fmt: skip


def keep_best(stack: Stack, shape: NetworkShape, held_out: int, step: int, patience: int) -> None:
    """Remember the parameters of the flows whose held-out loss has fallen."""
    parts = shape.split(stack.theta)
    loss = negative_log_likelihood(parts, stack.x[:, :, :held_out], stack.Z[:, :, :held_out])
    # A flow that has stopped stays stopped, even while others keep it in the stack.
    going = step - CHECK_EVERY - stack.best_step < patience
    better = going & (loss < stack.best_loss - MIN_GAIN)
    stack.best_loss[better] = loss[better]
    stack.best_step[better] = step
    stack.best[better] = stack.theta[better]


def mixture(
    parts: list[torch.Tensor], x: torch.Tensor, Z: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return hidden units, standardised residuals, log-scales and logits per component (flow, k, row)."""
    hidden, hidden_bias, out, out_bias, linear = parts
    units = torch.baddbmm(hidden_bias, hidden, Z).tanh_()
    means, log_scales, logits = torch.baddbmm(out_bias, out, units).chunk(3, dim=1)
    location, log_scale = torch.bmm(linear, Z).chunk(2, dim=1)
    log_scales = (log_scales + log_scale).clamp_(min=MIN_LOG_SCALE)
    residuals = (x - location - means).mul_(torch.exp(-log_scales))
    return units, residuals, log_scales, logits


def negative_log_likelihood(parts: list[torch.Tensor], x: torch.Tensor, Z: torch.Tensor) -> torch.Tensor:
    """Return the mean loss per flow, without the constant ln(2 pi)/2."""
    _, u, log_scales, logits = mixture(parts, x, Z)
    joint = logits - log_scales - 0.5 * u * u
    return (logits.logsumexp(dim=1) - joint.logsumexp(dim=1)).mean(dim=1)


def write_gradient(
    parts: list[torch.Tensor], gradients: list[torch.Tensor], x: torch.Tensor, Z: torch.Tensor
) -> None:
    """Write the gradient of `negative_log_likelihood` by all parts into `gradients`.

    With r the posterior probabilities of the components, w their weights, s their scales and u the
    standardised residuals, the derivatives of one row's loss are -r u / s by a mean, r (1 - u^2) by a
    log-scale and w - r by a logit. The lower bound on the scale is ignored here, so that a component at the
    bound can leave it.
    """
    units, u, log_scales, logits = mixture(parts, x, Z)
    posterior = (logits - log_scales - 0.5 * u * u).softmax(dim=1)
    weighted = posterior * u
    by_mean = -weighted * torch.exp(-log_scales)
    by_log_scale = posterior - weighted.mul_(u)
    by_out = torch.cat([by_mean, by_log_scale, logits.softmax(dim=1) - posterior], dim=1).div_(x.shape[2])
    by_units = torch.bmm(parts[2].transpose(1, 2), by_out).mul_(1 - units * units)
    k = by_mean.shape[1]
    by_linear = torch.stack([by_out[:, :k].sum(dim=1), by_out[:, k : 2 * k].sum(dim=1)], dim=1)
    gradients[0].copy_(torch.bmm(by_units, Z.transpose(1, 2)))
    gradients[1].copy_(by_units.sum(dim=2, keepdim=True))
    gradients[2].copy_(torch.bmm(by_out, units.transpose(1, 2)))
    gradients[3].copy_(by_out.sum(dim=2, keepdim=True))
    gradients[4].copy_(torch.bmm(by_linear, Z.transpose(1, 2)))


def apply_flows(parts: list[torch.Tensor], x: torch.Tensor, Z: torch.Tensor) -> Array:
    """Return the latents: normal quantiles of the mixture's distribution function, kept away from 0 and 1."""
    latents = np.empty((len(x), x.shape[2]))
    for start in range(0, x.shape[2], PIECE):
        rows = slice(start, start + PIECE)
        _, u, _, logits = mixture(parts, x[:, :, rows], Z[:, :, rows])
        share = (logits.softmax(dim=1) * torch.special.ndtr(u)).sum(dim=1)
        latents[:, rows] = ndtri(np.clip(share.numpy(), CLIP, 1 - CLIP))
    return latents


def partial_correlations(latents: Array, Z: Array, columns: Array) -> tuple[Array, Array]:
    """Return the partial correlation of two latents given Z, and the rank of Z, for many pairs at once.

    In torch, because NumPy's own linear algebra starts threads for each of these small problems: on a busy
    machine it took 80 times as long.

    Parameters
    ----------
    latents : (pairs, 2, n) array
    Z : (pairs, p, n) array; unused columns are 0.
    columns : (pairs, 2, n) array of the columns that the latents were made from.

    Returns
    -------
    correlations, ranks : arrays of shape (pairs,); the correlation is 0 where a latent, or the column it was
        made from, is a constant or a linear function of Z: what the flow made of such a column is not noise.
    """
    with torch.inference_mode():
        both = np.concatenate([latents, columns], axis=1)
        e, given = (torch.as_tensor(array - array.mean(axis=2, keepdims=True)) for array in (both, Z))
        variances, directions = torch.linalg.eigh(given @ given.transpose(1, 2))
        kept = variances > ROUNDING_SHARE * variances.amax(dim=1, keepdim=True)
        # Coordinates of the latents in an orthonormal basis of the columns of Z.
        scales = torch.where(kept, variances, 1.0).rsqrt() * kept
        explained = (e @ given.transpose(1, 2)) @ directions * scales[:, None]
        whole = e @ e.transpose(1, 2)
        rest = whole - explained @ explained.transpose(1, 2)
        varies = (rest.diagonal(dim1=1, dim2=2) > ROUNDING_SHARE * whole.diagonal(dim1=1, dim2=2)).all(dim=1)
        spread, total = (matrix[:, [0, 1], [0, 1]].prod(dim=1) for matrix in (rest, whole))
        correlations = torch.where(varies, rest[:, 0, 1] / spread.clamp(min=ROUNDING_SHARE**2 * total).sqrt(), 0.0)
        return correlations.numpy(), kept.sum(dim=1).numpy()
