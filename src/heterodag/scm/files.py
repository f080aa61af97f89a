"""The causal model as JSON: complete, readable, without pickle; refused with a sentence when it does not fit.

One object: ``format`` and ``format_version``; ``heterodag``, the version that wrote it; ``form`` and
``parametrization``; ``names``; and ``mechanisms``, one per name, each with its ``parents`` (names), the coefficients
``theta`` in standardised units, the ``location`` and ``scale`` of parents and variable that define these units,
``extremes`` (two rows of the parents), the ``covariance`` of the coefficients, ``objective`` and ``converged``.

Another parametrisation than the linear one needs its basis in the file too: add what it consists of in
`_basis_to_json` and read it in `_mechanism`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from .._version import __version__
from ..core.gaussian import FORMS, Array
from ..core.graph import is_dag
from ..core.solver import Coefficients
from ..errors import DataError, ParameterError
from ..models.conditional import Conditionals
from .mechanism import Mechanism

FORMAT, FORMAT_VERSION = "heterodag-scm", 1


def write_model(names: list[str], mechanisms: list[Mechanism], form: str, parametrization: str, path: Path) -> None:
    """Write the model, or leave what was there: the file is replaced only when the new one is complete."""
    content = {
        "format": FORMAT, "format_version": FORMAT_VERSION, "heterodag": __version__,
        "form": form, "parametrization": parametrization, "names": names,
        "mechanisms": [_to_json(m, names) | _basis_to_json(m.conditional, parametrization) for m in mechanisms],
    }  # fmt: skip
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise DataError(f"Cannot write '{path}' ({error.strerror}); choose another place.") from None


def _to_json(mechanism: Mechanism, names: list[str]) -> dict[str, Any]:
    return {
        "name": names[mechanism.target],
        "parents": [names[j] for j in mechanism.parents],
        "theta": mechanism.theta.tolist(),
        "location": mechanism.location.tolist(),
        "scale": mechanism.scale.tolist(),
        "extremes": mechanism.extremes.tolist(),
        "covariance": mechanism.covariance.tolist(),
        "objective": float(mechanism.conditional.objective[0]),
        "converged": bool(mechanism.conditional.converged[0]),
    }


def _basis_to_json(conditional: Conditionals, parametrization: str) -> dict[str, Any]:
    """Return what, beside the coefficients, defines the predictors: nothing for the linear parametrisation."""
    if parametrization != "linear":
        raise ParameterError("parametrization", "be 'linear' to be saved", parametrization)
    return {}


def read_model(path: Path) -> tuple[list[str], list[Mechanism], str, str]:
    """Return the arguments of `HeteroscedasticSCM` from a file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"Model file '{path}' cannot be opened ({error.strerror}); check its name.") from None
    except ValueError as error:
        raise DataError(f"Model file '{path}' is not JSON ({error}).") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f'File \'{path}\' is not a heterodag model: its "format" is not "{FORMAT}".')
    if content.get("format_version") != FORMAT_VERSION:
        raise DataError(
            f"File '{path}' has format version {content.get('format_version')!r}, written by heterodag "
            f"{content.get('heterodag')}; this one ({__version__}) reads {FORMAT_VERSION}: fit and save the model again."
        )
    try:
        return _model(content)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DataError(f"File '{path}' is not a complete heterodag model ({error}).") from None


def _model(content: dict[str, Any]) -> tuple[list[str], list[Mechanism], str, str]:
    names, form, parametrization = content["names"], content["form"], content["parametrization"]
    _require(form in FORMS and parametrization == "linear", f"form {form!r}, parametrization {parametrization!r}")
    _require(bool(names) and all(isinstance(n, str) for n in names) and len(set(names)) == len(names), "its names")
    parts = content["mechanisms"]
    _require([part["name"] for part in parts] == names, "one mechanism per name, in order")
    mechanisms = [_mechanism(part, j, names, form) for j, part in enumerate(parts)]
    adjacency = np.zeros((len(names), len(names)))
    for mechanism in mechanisms:
        adjacency[list(mechanism.parents), mechanism.target] = 1
    _require(is_dag(adjacency), "the parents make a cycle")
    return names, mechanisms, form, parametrization


def _mechanism(part: dict[str, Any], target: int, names: list[str], form: str) -> Mechanism:
    parents = tuple(names.index(name) for name in part["parents"])
    k, size = len(parents), Coefficients(form, len(parents) + 1).size
    scale = _numbers(part, "scale", (k + 1,))
    _require(bool((scale > 0).all()), f"scale of '{part['name']}'")
    theta = _numbers(part, "theta", (size,))
    conditional = Conditionals(
        form, tuple(range(k)), (k,), theta[:, None],
        np.array([float(part["objective"])]), np.array([bool(part["converged"])]),
    )  # fmt: skip
    return Mechanism(
        target, parents, conditional, _numbers(part, "location", (k + 1,)), scale,
        _numbers(part, "extremes", (2, k)), _numbers(part, "covariance", (size, size)),
    )  # fmt: skip


def _numbers(part: dict[str, Any], key: str, shape: tuple[int, ...]) -> Array:
    values = np.array(part[key], dtype=np.float64)
    _require(values.shape == shape and bool(np.isfinite(values).all()), f"{key} of '{part['name']}'")
    return values


def _require(right: bool, what: str) -> None:
    if not right:
        raise ValueError(f"wrong: {what}")
