"""LCIT, the edge test of the paper's Algorithm 3: correlate the latents of two conditional flows.

x given Z and y given Z each pass through a conditional flow (`_flows`, torch) that turns them into standard
normal latents; under the null hypothesis the two latents are independent of each other and of Z.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from joblib import delayed
from numpy.random import Generator, SeedSequence
from scipy.special import ndtri
from scipy.stats import rankdata

from heterodag.errors import DataError, MissingExtraError, check_integer, check_number
from heterodag.independence.contract import Array, EdgeProblem, EdgeTests, untested
from heterodag.independence.pairwise import check_samples
from heterodag.independence.partial_correlation import fisher_test
from heterodag.runtime.parallel import as_finished
from heterodag.runtime.seeds import seed_sequence
from heterodag.runtime.threads import one_torch_thread

Seed: TypeAlias = int | Generator | SeedSequence | None

#: A fifth of the rows is held out; fewer than this many rows cannot be split.
LEAST_ROWS = 10
#: Number of pairs whose flows train together: few enough for the processor's cache, many enough to fill it.
CHUNK_PAIRS = 32
#: The conditioning columns of a chunk take at most this much memory.
CHUNK_BYTES = 2**27


@dataclass(frozen=True)
class FlowSettings:
    """Sizes of the flows and limits of their training.

    Attributes
    ----------
    n_components : int
        Number of Gaussians in the mixture.
    n_hidden : int
        Units of the hidden layer of the network that gives their means, log-scales and weights.
    learning_rate : float
        Of Adam.
    batch_size : int
        Rows per step.
    max_steps : int
        Most steps of training.
    patience : int
        Steps without a smaller held-out loss before a flow stops.
    """

    n_components: int = 4
    n_hidden: int = 8
    learning_rate: float = 0.03
    batch_size: int = 256
    max_steps: int = 600
    patience: int = 60

    def __post_init__(self) -> None:
        for name in ("n_components", "n_hidden", "batch_size", "max_steps", "patience"):
            check_integer(name, getattr(self, name), low=1)
        check_number("learning_rate", self.learning_rate, low=0, open_low=True)


class Pair(NamedTuple):
    """A test: two columns of a table, and the columns given."""

    x: int
    y: int
    given: Sequence[int]


DEFAULTS = FlowSettings()


def lcit(x: Array, y: Array, Z: Array, *, random_state: Seed = None, settings: FlowSettings = DEFAULTS) -> float:
    """Test conditional independence by the correlation of latent representations.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        The samples, at least 10 rows. Exchanging x and y changes only the flows' random starts.
    Z : array-like of shape (n, k)
        The conditioning columns; k may be 0.
    random_state : int, Generator, SeedSequence or None, default=None
        Source of the rows held out and of the flows' random starts.
    settings : FlowSettings
        Sizes of the flows and limits of their training.

    Returns
    -------
    float
        The two-sided p-value. It is 1 when nothing can be said: x or y is constant, their normal scores are
        linear functions of those of Z, or the rank of the latter is n - 3 or more.

    Raises
    ------
    MissingExtraError
        If torch is not installed.

    Notes
    -----
    Duong and Nguyen (2022), "Conditional Independence Testing via Latent Representation Learning". The flow
    is the distribution function of a mixture of Gaussians whose parameters are a network of Z, followed by
    the normal quantile function; it maximises likelihood. What deviates, and why:

    * All columns are replaced by their normal scores (ranks) first. For x and y this is nothing that a flow
      could not undo; for Z it is a change of coordinates that keeps heavy tails (kurtosis in the thousands)
      away from the network. As a consequence, increasing transformations of columns do not change the result.
    * One hidden layer serves means, log-scales and weights; a linear term is added to the common location and
      log-scale. Training starts at the ridge regression on Z instead of at random, which saves steps.
    * The *partial* correlation of the latents given Z is tested, with `sqrt(n - k - 3)`, k the rank of Z,
      instead of their plain correlation with `sqrt(n - 3)`. Latents of fitted flows lose degrees of freedom,
      just as residuals do: with many columns in Z the plain test rejects true null hypotheses too often.
    * Each flow keeps the parameters with the smallest loss on held-out rows; the test uses all rows.

    The test is made for dependence in the mean: a cause of the variance alone leaves the latents uncorrelated
    and is not seen. Where x and y follow Z closely along a curve that the network cannot fit, the latents share
    what it misses, and true null hypotheses are rejected too often: 13 % at 0.05 with both following sin(2z),
    n = 2000. Elsewhere the level holds: 3 % to 8 % in 400 samples each (`benchmarks/lcit_speed.py`).

    Examples
    --------
    >>> import numpy as np
    >>> from heterodag.independence.lcit import lcit
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=500)
    >>> x, y = z + rng.normal(size=500), np.exp(0.5 * z) * rng.normal(size=500)
    >>> lcit(x, y, z[:, None], random_state=0) < 0.001
    False
    """
    _require_torch()
    x, y, Z = check_samples(x, y, Z)
    table = np.column_stack([x, y, Z])
    pair = Pair(0, 1, range(2, table.shape[1]))
    return float(pair_pvalues(table, [pair], seed_sequence(random_state), settings)[0])


def lcit_edges(problem: EdgeProblem, settings: FlowSettings = DEFAULTS) -> EdgeTests:
    """Test all candidate edges by LCIT given the other predecessors of the target.

    Parameters
    ----------
    problem : EdgeProblem
        The table, the order, the candidates, the seed and the number of workers.
    settings : FlowSettings
        Sizes of the flows and limits of their training.

    Returns
    -------
    EdgeTests
        The p-values: those of `lcit(X[:, j], X[:, i], X[:, others], random_state=problem.seed)`, `others` in
        the causal order, up to rounding.

    Notes
    -----
    See `lcit`. The flows of many pairs train together, in chunks that do not depend on `n_jobs`; workers are
    threads unless `joblib.parallel_config` says otherwise. All pairs share the rows held out and the random
    starts, so a permutation of the columns permutes the p-values.
    """
    _require_torch()
    pairs = list(_edge_pairs(problem))
    pvalues = untested(problem.X.shape[1])
    if pairs:
        found = pair_pvalues(problem.X, pairs, problem.seed, settings, problem.n_jobs, problem.progress)
        pvalues[[pair.x for pair in pairs], [pair.y for pair in pairs]] = found
    return EdgeTests(pvalues)


def pair_pvalues(
    X: Array,
    pairs: Sequence[Pair],
    seed: SeedSequence,
    settings: FlowSettings = DEFAULTS,
    n_jobs: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Array:
    """Return the p-value of every pair of columns of `X` given others; the flows train in batches."""
    if len(X) < LEAST_ROWS:
        raise DataError(f"LCIT needs at least {LEAST_ROWS} rows; got {len(X)}.")
    if not np.isfinite(X).all():
        raise DataError("The table has missing or infinite values. Remove these rows or fill them in first.")

    row_seed, *start_seeds = seed_sequence(seed).spawn(3)
    # Nothing below depends on the order of the rows: shuffling them once saves an index later.
    scores = normal_scores(X)[np.random.default_rng(row_seed).permutation(len(X))]
    pvalues: list[float] = []
    with one_torch_thread():
        calls = [delayed(_chunk_pvalues)(scores, chunk, start_seeds, settings) for chunk in _chunks(pairs, len(X))]
        for found in as_finished(calls, n_jobs, prefer="threads"):
            pvalues.extend(found)
            if progress is not None:
                progress(len(pvalues) / len(pairs))
    return np.array(pvalues)


def normal_scores(X: Array) -> Array:
    """Return the normal quantiles of the ranks of each column; tied values share one quantile."""
    return np.asarray(ndtri((rankdata(X, axis=0) - 0.5) / len(X)))


def _chunk_pvalues(
    scores: Array, pairs: Sequence[Pair], start_seeds: Sequence[SeedSequence], settings: FlowSettings
) -> Array:
    """Return p-values from two flows per pair: the flow of x uses the first start, the flow of y the second."""
    from heterodag.independence import _flows

    widths = [len(pair.given) for pair in pairs]
    # Different starts for x and y: with equal starts both flows would make similar errors, which are correlated.
    starts = [_flows.draw_start(np.random.default_rng(seed), max(widths), settings) for seed in start_seeds]
    targets = [column for pair in pairs for column in (pair.x, pair.y)]
    given = np.zeros((2 * len(pairs), max(1, *widths), len(scores)))
    for index, pair in enumerate(pairs):
        given[2 * index : 2 * index + 2, : widths[index]] = scores[:, list(pair.given)].T
    widths_of_flows, starts_of_flows = np.repeat(widths, 2), starts * len(pairs)
    latents = _flows.flow_latents(scores[:, targets].T, given, widths_of_flows, starts_of_flows, settings)
    columns = scores[:, targets].T.reshape(len(pairs), 2, -1)
    r, rank = _flows.partial_correlations(latents.reshape(columns.shape), given[::2], columns)
    return fisher_test(r, len(scores) - rank - 3)


def _chunks(pairs: Sequence[Pair], n: int) -> Iterator[Sequence[Pair]]:
    """Cut the pairs into runs that train together, bounded in number and memory."""
    start = 0
    while start < len(pairs):
        stop, width = start, 1
        while stop < len(pairs) and stop - start < CHUNK_PAIRS:
            width = max(width, len(pairs[stop].given))
            if stop > start and 16 * n * width * (stop + 1 - start) > CHUNK_BYTES:
                break
            stop += 1
        yield pairs[start:stop]
        start = stop


def _edge_pairs(problem: EdgeProblem) -> Iterator[Pair]:
    """Yield the candidates by target in causal order, so that neighbours condition on about as many columns."""
    for effect in problem.order.tolist():
        before = problem.predecessors(effect).tolist()
        for cause in before:
            if problem.candidates[cause, effect]:
                yield Pair(cause, effect, [column for column in before if column != cause])


def _require_torch() -> None:
    try:
        importlib.import_module("torch")
    except ImportError:
        raise MissingExtraError("LCIT", "neural") from None
