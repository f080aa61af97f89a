"""Run a plain test `(x, y, Z) -> p` on all candidate edges, and check what it returns."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import delayed, effective_n_jobs

from heterodag.errors import DataError, HeterodagError
from heterodag.independence.contract import Array, EdgeProblem, EdgeTests, PairwiseTest, untested
from heterodag.runtime.parallel import as_finished
from heterodag.runtime.threads import on_one_thread

#: Pairs that are sent to a worker together; a single worker reports, and checks the time, after every pair.
CHUNK = 8
#: A p-value may be this far outside [0, 1]: that is rounding, not a mistake.
SLACK = 1e-9


@dataclass(frozen=True)
class _Pair:
    """One candidate edge: its columns, the conditioning columns, its seed or None, and its name in messages."""

    cause: int
    effect: int
    given: list[int]
    seed: int | None
    label: str


def run_pairwise(
    test: PairwiseTest, problem: EdgeProblem, *, seeded: bool = False, names: Sequence[str] | None = None
) -> EdgeTests:
    """Test every candidate edge given the other predecessors of its effect.

    Parameters
    ----------
    test : callable (x, y, Z) -> float
        x is the cause, y the effect, Z the conditioning columns of shape (n, k), k possibly 0.
    problem : EdgeProblem
        The table, the order, the candidates, and the number of workers.
    seeded : bool, default=False
        Whether to pass a keyword `random_state`, a whole number that belongs to the pair.
    names : sequence of str, optional
        Column names for error messages; column indices if not given.

    Returns
    -------
    EdgeTests
        The p-values; they depend neither on the number of workers nor on which other pairs are tested.

    Raises
    ------
    HeterodagError
        If the test returns anything but a number in [0, 1]. An exception raised by the test itself is passed on
        with a note that names the pair.

    Notes
    -----
    The tests of Algorithm 3. Work goes through joblib: `joblib.parallel_config` chooses the backend.
    """
    pairs = list(_pairs(problem, seeded, names))
    pvalues, done = untested(problem.X.shape[1]), 0
    size = 1 if effective_n_jobs(problem.n_jobs) == 1 else CHUNK
    chunks = [pairs[start : start + size] for start in range(0, len(pairs), size)]
    calls = [delayed(on_one_thread)(_run_chunk, test, problem.X, chunk) for chunk in chunks]
    for chunk, found in zip(chunks, as_finished(calls, problem.n_jobs), strict=True):
        for pair, p in zip(chunk, found, strict=True):
            pvalues[pair.cause, pair.effect] = p
        done += len(chunk)
        if problem.progress is not None:
            problem.progress(done / len(pairs))
    return EdgeTests(pvalues)


def check_samples(x: Any, y: Any, Z: Any) -> tuple[Array, Array, Array]:
    """Return x (n,), y (n,) and Z (n, k) as finite float64 arrays, else raise `DataError`."""
    arrays = []
    for name, value, dimensions in (("x", x, 1), ("y", y, 1), ("Z", Z, 2)):
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"`{name}` must hold numbers; got {type(value).__name__}.") from error
        if array.ndim != dimensions:
            shape = "(n,)" if dimensions == 1 else "(n, k)"
            raise DataError(f"`{name}` must have shape {shape}; got {array.shape}.")
        if not np.isfinite(array).all():
            raise DataError(f"`{name}` has missing or infinite values. Remove these rows or fill them in first.")
        arrays.append(array)
    if len({len(array) for array in arrays}) > 1 or len(arrays[0]) < 2:
        lengths = ", ".join(str(len(array)) for array in arrays)
        raise DataError(f"`x`, `y` and `Z` must have the same number of rows, at least 2; got {lengths}.")
    return arrays[0], arrays[1], arrays[2]


def _pairs(problem: EdgeProblem, seeded: bool, names: Sequence[str] | None) -> Iterator[_Pair]:
    for effect in problem.order.tolist():
        before = problem.predecessors(effect).tolist()
        for cause in np.flatnonzero(problem.candidates[:, effect]).tolist():
            seed = _seed(problem.seed, cause, effect) if seeded else None
            first, second = (repr(names[c]) if names is not None else str(c) for c in (cause, effect))
            yield _Pair(cause, effect, [c for c in before if c != cause], seed, f"{first} and {second}")


def _seed(seed: np.random.SeedSequence, cause: int, effect: int) -> int:
    # The pair is the key: leaving out other pairs changes nothing, nor does this change the caller's sequence.
    own = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, cause, effect))
    return int(own.generate_state(1)[0])


def _run_chunk(test: PairwiseTest, X: Array, pairs: list[_Pair]) -> list[float]:
    return [_run_pair(test, X, pair) for pair in pairs]


def _run_pair(test: Any, X: Array, pair: _Pair) -> float:
    options = {} if pair.seed is None else {"random_state": pair.seed}
    # Copies: a test that writes into its arguments must not change the table for the next one.
    x, y, Z = X[:, pair.cause].copy(), X[:, pair.effect].copy(), X[:, pair.given]
    try:
        return _checked_call(test, (x, y, Z), options, pair)
    except HeterodagError:
        raise
    except Exception as error:
        failed = _portable(error, f"Raised by the test of columns {pair.label}.")
    # Outside the handler: an exception raised inside would hold the first one, which perhaps cannot be pickled.
    raise failed


def _checked_call(test: Any, samples: tuple[Array, Array, Array], options: dict[str, Any], pair: _Pair) -> float:
    try:
        value = test(*samples, **options)
    except HeterodagError as error:
        raise HeterodagError(f"{error} This came from the test of columns {pair.label}.") from None
    return _checked(value, pair)


def _portable(error: Exception, note: str) -> Exception:
    """Add the note; an exception that cannot be pickled becomes a RuntimeError."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.add_note(note)
    return error


def _checked(value: Any, pair: _Pair) -> float:
    try:
        number = np.asarray(value)
    except (TypeError, ValueError):
        number = np.empty(0)
    if number.dtype.kind in "fiu" and number.size == 1:
        p = float(number.reshape(-1)[0])
        if -SLACK <= p <= 1 + SLACK:
            return min(max(p, 0.0), 1.0)
    raise HeterodagError(
        f"The test must return one number in [0, 1], the p-value; got {value!r} for columns {pair.label}."
    )
