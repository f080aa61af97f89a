"""The causal model as JSON: complete, readable, without pickle; refused with a sentence when it does not fit.

One object: ``format`` and ``format_version``; ``heterodag``, the version that wrote it; ``form`` and
``parametrization``; ``names``; and ``mechanisms``, one per name, each with its ``parents`` (names), the coefficients
``theta`` in standardised units, the ``location`` and ``scale`` of parents and variable that define these units,
``extremes`` (two rows of the parents), the ``covariance`` of the coefficients, ``objective`` and ``converged``. With
splines also ``basis``, per parent the knots, the heights of every curve at the knots and its roughness, ``widths``, how
many of these each parent uses, and ``strengths`` of the penalties (null where a parent has no curves).

Another parametrisation needs what defines its predictors in the file too: add it in `_basis_to_json` and read it in
`_mechanism`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from .._version import __version__
from ..core.design import Basis, linear_basis
from ..core.gaussian import FORMS, Array
from ..core.graph import is_dag
from ..core.solver import Coefficients
from ..core.splines import ColumnSpline, SplineBasis
from ..errors import DataError, ParameterError
from ..models.conditional import Conditionals
from .mechanism import Mechanism

FORMAT, FORMAT_VERSION = "heterodag-scm", 1
#: Parametrisations that have a form on disk.
SAVED = ("linear", "spline")


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
    if isinstance(conditional.basis, SplineBasis) and conditional.strengths is not None:
        strengths = conditional.strengths[:, :, 0].tolist()
        return {
            "basis": [_curves_to_json(column) for column in conditional.basis.columns],
            "widths": list(conditional.basis.widths),
            "strengths": [[v if np.isfinite(v) else None for v in side] for side in strengths],
        }
    if parametrization not in SAVED:
        raise ParameterError("parametrization", "be 'linear' or 'spline' to be saved", parametrization)
    return {}


def _curves_to_json(column: ColumnSpline) -> dict[str, Any]:
    curves = column.curves
    known = {} if curves is None else {"knots": curves.x.tolist(), "heights": curves(curves.x).tolist()}
    return known | {"roughness": column.roughness.tolist()}


def _basis_from_json(part: dict[str, Any]) -> tuple[Basis, Array | None]:
    if "basis" not in part:
        return linear_basis, None
    columns = tuple(_curves_from_json(column) for column in part["basis"])
    strengths = np.array([[np.inf if v is None else float(v) for v in side] for side in part["strengths"]])
    _require(strengths.shape == (2, len(columns)) == (2, len(part["parents"])), f"strengths of '{part['name']}'")
    return SplineBasis(columns, tuple(int(width) for width in part["widths"])), strengths[:, :, None]


def _curves_from_json(column: dict[str, Any]) -> ColumnSpline:
    roughness = np.array(column["roughness"], dtype=np.float64)
    if "knots" not in column:
        return ColumnSpline(None, roughness)
    knots, heights = (np.array(column[key], dtype=np.float64) for key in ("knots", "heights"))
    _require(heights.shape == (len(knots), len(roughness) - 1), "heights of a curve")
    return ColumnSpline(CubicSpline(knots, heights, bc_type="natural"), roughness)


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
    _require(form in FORMS and parametrization in SAVED, f"form {form!r}, parametrization {parametrization!r}")
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
    basis, strengths = _basis_from_json(part)
    k, width = len(parents), len(parents) + 1 if strengths is None else basis(np.zeros((len(parents), 1))).shape[0]
    size = Coefficients(form, width).size
    scale = _numbers(part, "scale", (k + 1,))
    _require(bool((scale > 0).all()), f"scale of '{part['name']}'")
    theta = _numbers(part, "theta", (size,))
    conditional = Conditionals(
        form, tuple(range(k)), (k,), theta[:, None],
        np.array([float(part["objective"])]), np.array([bool(part["converged"])]), basis, strengths,
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
