"""Find out how sure each edge is, by learning the graph again on resampled rows many times.

Every resample has its own random stream, whose key is its number, so the result depends neither on the number of
workers nor on which resamples were finished before. The store is a text file with one JSON object per line: first the
settings (model, data, resampling, version of heterodag), then one line per finished resample. A run that was stopped
continues from it. A store with other settings, or of another version, is refused: half of a result must not come from
other code.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from joblib import delayed
from sklearn.base import clone

from heterodag._version import __version__
from heterodag.core.gaussian import Array, Index
from heterodag.errors import DataError, DataWarning, HeterodagError, ParameterError, check_choice, check_integer
from heterodag.io.inputs import column_labels, own_labels
from heterodag.knowledge.interventions import Told
from heterodag.knowledge.study import read_study
from heterodag.resampling.result import BootstrapResult
from heterodag.runtime.fingerprints import describe, describe_estimator, short_digest, table_digest
from heterodag.runtime.jsonlines import append_object, read_objects
from heterodag.runtime.parallel import as_finished
from heterodag.runtime.progress import progress_bar
from heterodag.runtime.seeds import seed_sequence

FORMAT, FORMAT_VERSION = "heterodag-bootstrap", 1
SCHEMES = ("rows", "half")


def bootstrap(
    model: Any,
    X: Any,
    n_resamples: int = 100,
    *,
    resample: str = "rows",
    interventions: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    store: str | Path | None = None,
    verbose: int = 0,
) -> BootstrapResult:
    """Learn the graph on resampled rows and count what comes back.

    Parameters
    ----------
    model : HOST or another estimator of this package
        Its settings are used; it is not changed and need not be fitted.
    X : table of shape (n, d)
        The data.
    n_resamples : int, default=100
        How many resamples to draw.
    resample : {"rows", "half"}, default="rows"
        "rows" draws n rows with replacement (the bootstrap), "half" draws half of the rows without replacement
        (subsampling).
    interventions : optional
        Which variables were set or changed in which rows, for models that can use it; see `HOST.fit`. Rows are then
        resampled within each condition.
    random_state : int, Generator or None
        Seed of the resampling, and of the model's own randomness.
    n_jobs : int, optional
        Parallel workers, as joblib understands it, on any of its backends; the result does not depend on it.
    store : path, optional
        A file that keeps every finished resample. If `bootstrap` is called again with the same model, data and seed,
        only the missing resamples are computed. If any of these differs, or the version of this package, the file is
        refused.
    verbose : int, default=0
        1 shows a progress bar on a terminal.

    Returns
    -------
    BootstrapResult
        Frequencies, a consensus graph, the stability of the order. After Ctrl-C, those of the resamples finished by
        then.

    Examples
    --------
    >>> from heterodag import HOST, bootstrap, simulate
    >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> data = simulate(300, 3, mechanism="straight", spread="straight", adjacency=chain, random_state=1)
    >>> bootstrap(HOST(), data.to_frame(), 5, random_state=0)
    BootstrapResult of 5 resamples of 3 variables: 2 edges in at least half of them, order stability 1.00
    """
    plan = _plan(model, X, resample, interventions, random_state, store)
    wanted = range(check_integer("n_resamples", n_resamples, low=1))
    check_integer("verbose", verbose, low=0)
    found = {} if store is None else _opened(Path(store), plan)
    left = [k for k in wanted if k not in found]
    with progress_bar("resampling", enabled=bool(verbose)) as tick:
        try:
            for k, outcome in _run(plan, left, n_jobs):
                found[k] = outcome
                if store is not None:
                    append_object(Path(store), {"resample": k} | outcome)
                if tick is not None:
                    tick(sum(j in found for j in wanted) / len(wanted))
        except KeyboardInterrupt:
            if not any("order" in found.get(k, {}) for k in wanted):
                raise
            done = sum(k in found for k in wanted)
            warnings.warn(f"Interrupted after {done} of {len(wanted)} resamples.", DataWarning, stacklevel=2)
    return _result([found[k] for k in wanted if k in found], plan)


@dataclass(frozen=True)
class _Plan:
    """Everything that decides the outcome of resample k."""

    model: Any
    array: Array
    names: list[str] | None
    resample: str
    seed: np.random.SeedSequence
    header: dict[str, Any]
    told: Told | None = None


def _plan(
    model: Any, X: Any, resample: str, interventions: Any, random_state: Any, store: str | Path | None
) -> _Plan:
    if isinstance(model, type) or not hasattr(model, "fit") or not hasattr(model, "get_params"):
        raise ParameterError("model", "be an estimator such as HOST()", model)
    check_choice("resample", resample, SCHEMES)
    seed = seed_sequence(random_state)
    if interventions is not None and "interventions" not in signature(model.fit).parameters:
        raise ParameterError("model", "be one that can use interventions, such as HOST()", type(model).__name__)
    # Wrong prior knowledge or interventions are refused before a store is made.
    knowledge, missing = getattr(model, "prior_knowledge", None), getattr(model, "missing", "refuse")
    study = read_study(X, interventions, knowledge, missing)
    array, names, told = study.array[:, : study.d], study.own_names, study.told
    header = {
        "format": FORMAT, "format_version": FORMAT_VERSION, "heterodag": __version__, "model": describe_estimator(model),
        "data": table_digest(array, None if names is None else own_labels(names)), "resample": resample,
        "entropy": str(seed.entropy), "spawn_key": list(seed.spawn_key),
    }  # fmt: skip
    if told is not None:
        header["interventions"] = short_digest(describe([told.fixed, told.condition, told.names, told.changed]))
    if random_state is None and store is not None and Path(store).exists():
        # No seed was given: continue with the one in the store.
        stored = _header(Path(store))
        seed = np.random.SeedSequence(int(stored["entropy"]), spawn_key=stored["spawn_key"])
        header |= {"entropy": stored["entropy"], "spawn_key": stored["spawn_key"]}
    return _Plan(model, array, names, resample, seed, header, told)


def _run(plan: _Plan, left: list[int], n_jobs: int | None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield finished resamples, in any order."""
    yield from as_finished([delayed(_one)(plan, k) for k in left], n_jobs, ordered=False)


def _rows(plan: _Plan, rng: np.random.Generator) -> Index:
    """Return the rows of a resample, drawn within each condition if there are several."""
    n = len(plan.array)
    groups = [np.arange(n)]
    if plan.told is not None:
        groups = [np.flatnonzero(plan.told.condition == number) for number in np.unique(plan.told.condition)]
    if plan.resample == "rows":
        return np.concatenate([rows[rng.integers(len(rows), size=len(rows))] for rows in groups])
    return np.concatenate([rows[rng.permutation(len(rows))[: len(rows) // 2]] for rows in groups])


def _one(plan: _Plan, k: int) -> tuple[int, dict[str, Any]]:
    """Fit a clone of the model to resample k."""
    seed, names = plan.seed, plan.names
    own = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, k))
    rng, model_seed = np.random.default_rng(own), int(own.generate_state(1)[0])
    rows = _rows(plan, rng)
    fresh = clone(plan.model)
    # Resampled rows repeat each other, as intended: the check of the table would only report that.
    settings = {"n_jobs": 1, "verbose": 0, "random_state": model_seed, "data_check": "ignore"}
    fresh.set_params(**{key: value for key, value in settings.items() if key in fresh.get_params(deep=False)})
    table: Any = plan.array[rows]
    options = {} if plan.told is None else {"interventions": plan.told.take(rows)}
    if names is not None:
        import pandas as pd

        table = pd.DataFrame(table, columns=own_labels(names))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fresh.fit(table, **options)
    except DataError as error:
        # A resample can be unusable, for instance hold a single value of a column; that is an outcome too.
        return k, {"error": str(error)}
    order = getattr(fresh, "order_", None)
    edges = np.argwhere(fresh.adjacency_).tolist()
    return k, {"order": None if order is None else [int(j) for j in order], "edges": edges}


def _result(outcomes: list[dict[str, Any]], plan: _Plan) -> BootstrapResult:
    d = plan.array.shape[1]
    good = [outcome for outcome in outcomes if "error" not in outcome]
    failed = [outcome["error"] for outcome in outcomes if "error" in outcome]
    if not good:
        raise DataError(f"No resample could be used; the first failed with: {failed[0]}")
    if failed:
        said = f"{len(failed)} of {len(outcomes)} resamples could not be used; the first failed with: {failed[0]}"
        warnings.warn(said, DataWarning, stacklevel=3)
    adjacencies = np.zeros((len(good), d, d), dtype=np.int8)
    for matrix, outcome in zip(adjacencies, good, strict=True):
        edges = np.array(outcome["edges"], dtype=np.intp).reshape(-1, 2)
        matrix[edges[:, 0], edges[:, 1]] = 1
    orders = None
    if all(outcome["order"] is not None for outcome in good):
        orders = np.array([outcome["order"] for outcome in good], dtype=np.intp)
    return BootstrapResult(column_labels(d, plan.names), adjacencies, orders)


# --- the store ----------------------------------------------------------------------------------------------


def _opened(path: Path, plan: _Plan) -> dict[int, dict[str, Any]]:
    """Return the resamples that the store holds already, by number; make the store if there is none."""
    if not path.exists():
        append_object(path, plan.header)
        return {}
    stored = _header(path)
    for key, what in (
        ("heterodag", f"of heterodag {stored.get('heterodag', '(version unknown)')}, not {__version__}"),
        ("model", "of another model"), ("data", "of other data"), ("resample", "of another way of resampling"),
        ("interventions", "of other interventions"),
        ("entropy", "of another random_state"), ("spawn_key", "of another random_state"),
    ):  # fmt: skip
        if stored.get(key) != plan.header.get(key):
            raise HeterodagError(f"Store '{path}' holds resamples {what}; choose another file or delete it.")
    objects, _ = read_objects(path)  # a line that was cut short when the run was killed does not count
    d = plan.array.shape[1]
    return {outcome.pop("resample"): outcome for outcome in objects[1:] if _is_outcome(outcome, d)}


def _is_outcome(content: dict[str, Any], d: int) -> bool:
    """Return whether a line of a store is a finished resample of d columns; one that is not is computed again."""
    if not isinstance(content.get("resample"), int):
        return False
    edges, order = content.get("edges"), content.get("order")
    if not isinstance(edges, list):
        return isinstance(content.get("error"), str)
    pairs = all(isinstance(edge, list) and len(edge) == 2 and _are_columns(edge, d) for edge in edges)
    return pairs and (order is None or (_are_columns(order, d) and sorted(order) == list(range(d))))


def _are_columns(value: Any, d: int) -> bool:
    return isinstance(value, list) and all(isinstance(j, int) and 0 <= j < d for j in value)


def _header(path: Path) -> dict[str, Any]:
    objects, _ = read_objects(path)
    header = objects[0] if objects else {}
    known = (header.get("format"), header.get("format_version")) == (FORMAT, FORMAT_VERSION)
    key = header.get("spawn_key")
    numbers = isinstance(key, list) and all(isinstance(part, int) and 0 <= part < 2**32 for part in key)
    if known and numbers and re.fullmatch(r"\d{1,200}", str(header.get("entropy"))):
        return header
    raise HeterodagError(f"File '{path}' is not a store of `bootstrap`; choose another file.")
