"""Synthetic data as in the paper's experiments: random DAGs and heteroscedastic Gaussian mechanisms.

`X_i = mu_i(X_pa) + sigma_i(X_pa) * E_i` with `E_i ~ N(0, 1)`, written with natural parameters:
`mu = -eta1 / (2 eta2)` and `sigma = (-2 eta2)^(-1/2)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import NDArray
from scipy.special import expit

from heterodag.core.graph import Adjacency, Order, as_adjacency, topological_order
from heterodag.errors import ParameterError, check_choice, check_integer
from heterodag.simulation.experiments import NOTHING, Plan, read_plan
from heterodag.simulation.graphs import random_graph
from heterodag.simulation.memory import available_memory, in_words
from heterodag.simulation.worlds import MEANS, NOISES, SPREADS, draw_noise, world

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SimulatedData", "simulate", "simulate_graph"]

FloatArray: TypeAlias = NDArray[np.float64]
Seed: TypeAlias = int | Generator | np.random.RandomState | SeedSequence | None

#: The paper's mechanisms.
MECHANISMS = ("linear", "nonlinear")
VERSIONS = ("text", "code")
SLOPES = (0.2, 0.5)
BOUND = 4.0
#: Bytes per cell while a graph is drawn: before and after its columns are shuffled, and a mask of its edges.
_PER_PAIR = 3
#: Numbers per cell of the table: values, noise, mean, scale, and as many temporaries.
_PER_CELL = 8
#: Seconds per cell of the graph and of the table, on the machine that made the results; for messages only.
_SECONDS_PER_PAIR, _SECONDS_PER_CELL = 1.5e-8, 1.5e-7
# A sum whose range is below this share of its size is constant up to rounding: it must not be scaled up.
CONSTANT = 1e-12

# The paper's five functions of a parent x and a slope a, the linear one first; `_inputs` says what x is.
FUNCTIONS: tuple[Callable[[FloatArray, FloatArray], FloatArray], ...] = (
    lambda x, a: a * x,
    lambda x, a: x**2,
    lambda x, a: np.sin(2 * np.pi * x),
    lambda x, a: np.log1p(x),
    lambda x, a: np.asarray(expit(x)),
)


@dataclass(frozen=True, eq=False)
class SimulatedData:
    """A simulated table with everything that made it.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The observations; exactly `mean + scale * noise`.
    adjacency : ndarray of shape (d, d), int8
        The true graph; `adjacency[i, j] == 1` means column i -> column j.
    order : ndarray of shape (d,)
        A true causal order, the smallest index first among those available.
    noise, mean, scale : ndarray of shape (n, d)
        `E`, `mu` and `sigma` of every cell.
    graph, degree : str and int, or None
        The kind of random graph; None when the graph was given.
    mechanism : str
        "linear" or "nonlinear" (the paper's), "none", "straight" or "curved".
    version : str
        "text" or "code".
    seed : int or None
        `random_state` if it was a whole number.
    interventions : ndarray of shape (n, d), bool, or None
        The cells that were set or shifted; a cell that was set has its value as `mean` and a `scale` of 0.

    Examples
    --------
    >>> from heterodag import simulate
    >>> data = simulate(200, 3, random_state=1)
    >>> bool((data.X == data.mean + data.scale * data.noise).all())
    True
    """

    X: FloatArray
    adjacency: Adjacency
    order: Order
    noise: FloatArray
    mean: FloatArray
    scale: FloatArray
    graph: str | None
    degree: int | None
    mechanism: str
    version: str
    seed: int | None
    interventions: NDArray[np.bool_] | None = None

    @property
    def feature_names(self) -> list[str]:
        """The column names x0, x1, ... ."""
        return [f"x{column}" for column in range(self.X.shape[1])]

    def to_frame(self) -> pd.DataFrame:
        """Return the observations as a table.

        Returns
        -------
        pandas.DataFrame of shape (n, d)
            With the columns x0, x1, ... .

        Examples
        --------
        >>> from heterodag import simulate
        >>> list(simulate(200, 3, random_state=1).to_frame().columns)
        ['x0', 'x1', 'x2']
        """
        import pandas as pd

        return pd.DataFrame(self.X, columns=self.feature_names)


def simulate(
    n: int,
    d: int,
    graph: str = "ER",
    degree: int = 1,
    mechanism: str = "linear",
    random_state: Seed = 0,
    *,
    spread: str | None = None,
    noise: str = "normal",
    adjacency: Any = None,
    version: str = "text",
    interventions: Any = None,
    shift: float | None = None,
) -> SimulatedData:
    """Simulate a table from a heteroscedastic causal model on a random DAG: the paper's, or a world by name.

    Parameters
    ----------
    n : int
        Number of rows, at least 2.
    d : int
        Number of columns, at least 1.
    graph : {"ER", "SF", "small-world", "bipartite", "hubs", "chain", "dense"}, default="ER"
        Erdos-Renyi, scale-free (the paper's two), or another kind; see `simulate_graph`.
    degree : int, default=1
        Approximate number of edges per variable: the k of ER-k and SF-k.
    mechanism : {"linear", "nonlinear", "none", "straight", "curved"}, default="linear"
        The first two are the paper's: parents act on the natural parameters. The others say how the mean depends on
        the parents; the spread is chosen separately.
    random_state : int, Generator, RandomState, SeedSequence or None, default=0
        Source of randomness; None draws a fresh seed. The global NumPy state is never used.
    spread : {"constant", "straight", "curved"}, optional
        How the logarithm of the standard deviation depends on the parents; "constant" by default. Only with the
        mechanisms "none", "straight" and "curved": the paper's mechanisms determine the spread.
    noise : {"normal", "exponential", "laplace", "t", "uniform", "bimodal", "gumbel", "mixed"}, default="normal"
        Distribution of the noise, with mean 0 and variance 1; "t" has five degrees of freedom, and "mixed" draws one
        of the others, except the normal one, for every variable.
    adjacency : array-like of shape (d, d), optional
        Your own DAG, used instead of a random one; `graph` and `degree` are then ignored.
    version : {"text", "code"}, default="text"
        Whether the mechanisms follow the paper's text or the authors' published code; see Notes.
    interventions : int, mapping or array, optional
        Experiments: a number of rows per variable (50), at the end of the table, each variable in turn; numbers of
        rows for some variables ({"x0": 50}); or an (n, d) array of True and False. A variable that is set gets normal
        numbers with the mean and the standard deviation that it has without experiments, whatever its causes.
    shift : float, optional
        Shift the variables named by `interventions` by this many standard deviations, instead of setting them.

    Returns
    -------
    SimulatedData
        The table `X`, the true `adjacency`, an `order`, and the noise, mean and scale behind every cell.

    Notes
    -----
    The paper's section "Synthetic data": `e1` and `e2` of a node are sums over its parents of a function of
    the parent, each sum min-max scaled over the sample to [-4, 4]; `eta2 = -exp(e1)` and `eta1 = e2`. A root
    has `eta1 = 0`, `eta2 = -1`: mean 0, variance 1/2. Linear: a x, the slope a with a magnitude uniform in
    [0.2, 0.5] and a random sign. Nonlinear: one of a x, x^2, sin(2 pi x), ln(x - min x + 1) and
    1/(1 + exp(-x)), drawn uniformly.

    "text": every parent draws its own slope and function, and x is the standardised parent. "code": what data
    from the published generator show; these rules turn their nodes into standard normal noise. One slope and
    one function per node and natural parameter serve all its parents, so the slope's magnitude cancels; x is
    the standardised parent in a x, the parents standardised by their pooled mean and deviation in x^2 and the
    logarithm, and the raw parent in the sine and the sigmoid. Use "code" to compare with the paper's numbers.

    Deviations. The min-max scaling is the published code's, not the text's. Its random intercepts are left
    out: the scaling cancels them. Its logarithm crashes on roots; here roots need no function. A sum that is
    constant over the sample becomes 0.

    Experiments: mechanisms are scaled by a table with the same noise in which nothing was done, so rows that no
    experiment affects are those of the same seed without `interventions`. In the paper's mechanisms, sums beyond the
    range they have there are clipped to it, and so is the distance from the smallest parent in the logarithm.

    Worlds by name: every parent, standardised, adds to the mean an effect of standard deviation 0.7 to 1.3, and to
    the log spread one of 0.3 to 0.6 (0.6 to 1 if the mean has none) divided by the root of the number of parents.
    Beyond 3 standard deviations of the parent the spread moves no further. Curves are two sines, a sigmoid, a bump
    times a line, or two straight pieces. At an average spread, the noise has a standard deviation of 0.6 to 1.2.

    The graph, the mechanisms and the noise have their own random streams: with the same seed, another `n` keeps
    the graph, the slopes and the functions, and a larger `n` keeps the noise of the first rows (`X` itself
    changes, because it is scaled over the sample).

    Examples
    --------
    >>> from heterodag import simulate
    >>> data = simulate(500, 10, graph="SF", degree=2, random_state=1)
    >>> data.X.shape, int(data.adjacency.sum())
    ((500, 10), 16)

    Straight lines for mean and spread, skewed noise, and a graph of your own:

    >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> data = simulate(500, 3, mechanism="straight", spread="straight", noise="exponential", adjacency=chain)
    >>> data.order
    array([0, 1, 2])
    """
    rows, columns = check_integer("n", n, low=2), check_integer("d", d, low=1)
    kind = _check_kind(mechanism, spread, version)
    check_choice("noise", noise, NOISES)
    _check_size(rows, columns)
    graph_rng, mechanism_rng, noise_rng = _streams(random_state)
    given = adjacency is not None
    true = _given_graph(adjacency, columns) if given else random_graph(columns, graph, degree, graph_rng)
    order = topological_order(true)
    drawn = draw_noise(noise, (rows, columns), noise_rng, noise_rng.spawn(1)[0])
    plan = read_plan(interventions, shift, drawn.shape, noise_rng.spawn(1)[0])
    make = _observations if mechanism in MECHANISMS else world
    doubled = drawn if plan.fixed is None else np.vstack([drawn, drawn])
    X, mean, scale = (part[-rows:] for part in make(true, order, doubled, kind, mechanism_rng, plan))
    return SimulatedData(
        X=X,
        adjacency=true,
        order=order,
        noise=drawn,
        mean=mean,
        scale=scale,
        graph=None if given else graph,
        degree=None if given else int(degree),
        mechanism=mechanism,
        version=version,
        seed=int(random_state) if isinstance(random_state, int | np.integer) else None,
        interventions=None if plan.fixed is None else plan.fixed[-rows:],
    )


def _check_kind(mechanism: str, spread: str | None, version: str) -> tuple[str, str]:
    """Return the mechanism, and its spread (worlds by name) or version (the paper's), after checking them."""
    check_choice("mechanism", mechanism, (*MECHANISMS, *MEANS))
    check_choice("version", version, VERSIONS)
    if mechanism in MEANS:
        return mechanism, check_choice("spread", "constant" if spread is None else spread, SPREADS)
    if spread is not None:
        raise ParameterError(
            "spread", f"not be given with the mechanism '{mechanism}'", spread,
            "It has the paper's spread; use 'none', 'straight' or 'curved' for one by name.",
        )  # fmt: skip
    return mechanism, version


def simulate_graph(d: int, graph: str = "ER", degree: int = 1, random_state: Seed = 0) -> Adjacency:
    """Draw a random DAG: the one that `simulate` draws from the same seed.

    Parameters
    ----------
    d : int
        Number of columns, at least 1.
    graph : {"ER", "SF", "small-world", "bipartite", "hubs", "chain", "dense"}, default="ER"
        - "ER": `degree * d` edges; all sets of that many forward pairs are equally likely.
        - "SF": Barabasi-Albert preferential attachment; every new node has `degree` parents among the earlier ones.
        - "small-world": after Watts and Strogatz, every node is linked to the next `degree` ones on a ring, and a
          fifth of the links lead to a random node instead; links point forwards in a random order.
        - "bipartite": `degree * d` edges from one half of the nodes to the other.
        - "hubs": `degree` nodes, at random places in the order, are linked to all others.
        - "chain": every node is caused by the `degree` ones before it.
        - "dense": half of all pairs are linked; `degree` is ignored.
    degree : int, default=1
        Approximate number of edges per variable. From 1 ("ER": 0) to (d - 1) // 2 for "ER" and "small-world", to
        about d / 4 for "bipartite", and to d - 1 for the others.
    random_state : int, Generator, RandomState, SeedSequence or None, default=0
        Source of randomness; None draws a fresh seed.

    Returns
    -------
    ndarray of shape (d, d), int8
        `adjacency[i, j] == 1` means column i -> column j. Columns are in random order.

    Notes
    -----
    Deviations from the paper's text, as in its published generator: ER-k has exactly k d edges, where the
    text has an expected in-degree of k; SF-k starts from a star on k + 1 nodes, where the text starts with k
    nodes, and so has k (d - k) edges.

    Examples
    --------
    >>> from heterodag import simulate_graph
    >>> simulate_graph(4, graph="SF", degree=1, random_state=1)
    array([[0, 0, 0, 0],
           [0, 0, 1, 1],
           [1, 0, 0, 0],
           [0, 0, 0, 0]], dtype=int8)
    """
    columns = check_integer("d", d, low=1)
    _check_size(0, columns)
    return random_graph(columns, graph, degree, _streams(random_state)[0])


def _check_size(n: int, d: int) -> None:
    """Refuse a table that does not fit in memory, before anything large is made."""
    graph, table, free = _PER_PAIR * d * d, 8 * _PER_CELL * n * d, available_memory()
    if free is None or graph + table <= free:
        return
    name, value = ("d", d) if graph >= table else ("n", n)
    minutes = max(1, round((_SECONDS_PER_PAIR * d * d + _SECONDS_PER_CELL * n * d) / 60.0))
    raise ParameterError(
        name, f"be smaller: {n} rows of {d} columns need about {minutes} min and {in_words(graph + table)} of "
        f"memory ({in_words(graph)} for a graph of {d} x {d} cells, {in_words(table)} for the table), and {in_words(free)} "
        "are free", value,
        f"Use fewer {'columns' if name == 'd' else 'rows'}, or put smaller tables side by side.",
    )  # fmt: skip


def _streams(random_state: Seed) -> list[Generator]:
    """Return the generators of the graph, the mechanisms and the noise."""
    if isinstance(random_state, Generator):
        return random_state.spawn(3)
    if isinstance(random_state, np.random.RandomState):
        seed = SeedSequence(random_state.randint(0, 2**32, size=4, dtype=np.uint32).tolist())
    elif isinstance(random_state, SeedSequence):
        # A copy: spawning from the caller's own sequence would make its second use differ from its first.
        seed = SeedSequence(random_state.entropy, spawn_key=random_state.spawn_key)
    else:
        seed = SeedSequence(None if random_state is None else check_integer("random_state", random_state, low=0))
    return [np.random.default_rng(child) for child in seed.spawn(3)]


def _given_graph(adjacency: Any, d: int) -> Adjacency:
    checked = as_adjacency(adjacency, "adjacency")
    if len(checked) != d:
        raise ParameterError("adjacency", f"have shape ({d}, {d}), as d = {d}", checked.shape)
    return checked


def _observations(
    adjacency: Adjacency, order: Order, noise: FloatArray, kind: tuple[str, str], rng: Generator, plan: Plan = NOTHING
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Generate the columns in causal order; return X, mean and scale."""
    mechanism, version = kind
    causes, effects = np.nonzero(adjacency)
    slopes, functions = _draw_mechanisms(mechanism, len(causes) if version == "text" else len(order), rng)
    X, mean = np.empty_like(noise), np.zeros_like(noise)
    scale = np.full_like(noise, math.sqrt(0.5))
    by_effect = np.argsort(effects, kind="stable")
    first = np.searchsorted(effects[by_effect], np.arange(len(order) + 1))
    for node in order:
        into = by_effect[first[node] : first[node + 1]]
        if into.size:
            inputs = _inputs(X[:, causes[into]], version, plan.plain)
            drawn = into if version == "text" else np.full_like(into, node)
            e1, e2 = (_scaled_sum(inputs, slopes[k, drawn], functions[k, drawn], plan.plain) for k in (0, 1))
            mean[:, node], scale[:, node] = _moments(eta1=e2, eta2=-np.exp(e1))
        X[:, node] = plan.act(mean[:, node] + scale[:, node] * noise[:, node], node, mean, scale)
    return X, mean, scale


def _draw_mechanisms(mechanism: str, count: int, rng: Generator) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return `count` slopes and indices of functions for both natural parameters (rows)."""
    signs = rng.choice([-1.0, 1.0], size=(2, count))
    slopes = signs * rng.uniform(*SLOPES, size=(2, count))
    functions = rng.integers(len(FUNCTIONS) if mechanism == "nonlinear" else 1, size=(2, count))
    return slopes, functions


def _inputs(parents: FloatArray, version: str, plain: slice = NOTHING.plain) -> tuple[FloatArray, ...]:
    """Return, for each of `FUNCTIONS`, the table of parents (columns) it applies to, scaled by the plain rows."""
    usual = parents[plain]
    own = _standardised(parents, usual.mean(axis=0), usual.std(axis=0))
    if version == "text":
        return own, own, own, np.maximum(own - own[plain].min(axis=0), 0.0), own
    pooled = _standardised(parents, usual.mean(), usual.std())
    return own, pooled, parents, np.maximum(pooled - pooled[plain].min(), 0.0), parents


def _standardised(table: FloatArray, center: Any, spread: Any) -> FloatArray:
    return np.asarray((table - center) / np.where(spread > 0, spread, 1.0))


def _scaled_sum(
    inputs: tuple[FloatArray, ...], slopes: FloatArray, functions: NDArray[np.int64], plain: slice = NOTHING.plain
) -> FloatArray:
    """Sum the functions of the parents, and stretch the sum to [-BOUND, BOUND] over the plain rows."""
    total = np.zeros(len(inputs[0]))
    for parent, (slope, index) in enumerate(zip(slopes, functions, strict=True)):
        total += FUNCTIONS[index](inputs[index][:, parent], slope)
    low, high = total[plain].min(), total[plain].max()
    if high - low <= CONSTANT * max(1.0, abs(low), abs(high)):
        return np.zeros_like(total)
    stretched = np.asarray(BOUND * (2.0 * (total - low) / (high - low) - 1.0))
    return stretched if len(total[plain]) == len(total) else stretched.clip(-BOUND, BOUND)


def _moments(eta1: FloatArray, eta2: FloatArray) -> tuple[FloatArray, FloatArray]:
    return -eta1 / (2 * eta2), 1.0 / np.sqrt(-2 * eta2)
