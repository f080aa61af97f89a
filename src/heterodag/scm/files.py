"""The causal model as JSON: complete, readable, without pickle. A file that is not such a model is refused.

One object: ``format`` and ``format_version``; ``heterodag``, the version that wrote it; ``form``, ``parametrization``
and ``noise``, as the user asked; ``names``; ``integer_labels``, those names that are whole numbers in the table (left
out if there are none); and ``mechanisms``, one per name, each with its ``parents`` (names), its ``form``, the
coefficients ``theta`` in standardised units, the ``location`` and ``scale`` of parents and variable that define these
units, ``extremes`` (two rows of the parents), the ``covariance`` of the coefficients, ``objective`` (the penalised
loss of the fit), ``converged``, ``curves`` and ``noise``.

``curves`` is null if all parents enter as straight lines; otherwise it has one entry per parent: null for a straight
line, or an object with the ``knots`` in standardised units, the cubic ``pieces`` between them (four coefficients,
intervals, curves, as in SciPy's PPoly), the ``roughness`` of every curve and the ``strengths`` of their penalties in
both predictors.

``noise`` is null if it is standard normal, otherwise the density of `core.densities`: ``theta``, ``log_z``,
``reach``, its edges ``low`` and ``high`` (null if there is none) and ``rows``. The features of the density are not in
the file: if they change, the format version must change too (an integral other than 1 would reveal a mismatch).

Files of version 1 can be read too: in them, all mechanisms have the form of the model and normal noise. Version 2,
which no release wrote, had densities with other features.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from heterodag._version import __version__
from heterodag.core.densities import FAMILIES, Density
from heterodag.core.design import Basis, linear_basis
from heterodag.core.gaussian import FORMS, Array
from heterodag.core.graph import is_dag
from heterodag.core.layout import Coefficients
from heterodag.core.splines import LINE, ColumnSpline, SplineBasis
from heterodag.errors import DataError, ParameterError
from heterodag.io.inputs import IntegerLabel
from heterodag.io.jsonfiles import fault, read_json
from heterodag.scm.mechanism import MECHANISMS, Mechanism
from heterodag.scores.describe import curved_parents
from heterodag.scores.fit import Effort, LinearFit
from heterodag.scores.make import ScoreSettings, score_settings

FORMAT, FORMAT_VERSION = "heterodag-scm", 3
#: The integral of a density in a file may differ from 1 by this much; those fitted here are within a thousandth.
_MASS_ERROR = 0.05


def model_text(names: list[str], mechanisms: list[Mechanism], settings: ScoreSettings) -> str:
    """Return the model as JSON."""
    content: dict[str, Any] = {
        "format": FORMAT, "format_version": FORMAT_VERSION, "heterodag": __version__,
        "form": settings.form, "parametrization": settings.parametrization, "noise": settings.noise, "names": names,
    }  # fmt: skip
    if labels := [name for name in names if isinstance(name, IntegerLabel)]:
        content["integer_labels"] = labels
    content["mechanisms"] = [_to_json(m, names) for m in mechanisms]
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def write_model(text: str, path: Path) -> None:
    """Write the text of a model; an existing file is replaced only once the new one is complete."""
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
        "form": mechanism.fit.form.name,
        "theta": mechanism.theta.tolist(),
        "location": mechanism.location.tolist(),
        "scale": mechanism.scale.tolist(),
        "extremes": mechanism.extremes.tolist(),
        "covariance": mechanism.covariance.tolist(),
        "objective": mechanism.fit.loss,
        "converged": mechanism.fit.converged,
        "curves": _basis_to_json(mechanism.fit),
        "noise": _noise_to_json(mechanism.density),
    }


def _basis_to_json(fit: LinearFit) -> list[dict[str, Any] | None] | None:
    """Return what defines the predictors besides the coefficients: None for the linear parametrisation."""
    basis, strengths = fit.basis, fit.strengths
    if not isinstance(basis, SplineBasis) or strengths is None:
        return None
    return [_curves_to_json(c, own) for c, own in zip(basis.columns, strengths.T, strict=True)]


def _noise_to_json(noise: Density | None) -> dict[str, Any] | None:
    if noise is None:
        return None
    edges = {key: value if np.isfinite(value) else None for key, value in (("low", noise.low), ("high", noise.high))}
    return {"theta": noise.theta.tolist(), "log_z": noise.log_z, "reach": noise.reach, **edges, "rows": noise.rows}


def _curves_to_json(column: ColumnSpline, strengths: Array) -> dict[str, Any] | None:
    if column.curves is None:
        return None
    return {
        "knots": column.curves.x.tolist(),
        "pieces": column.curves.c.tolist(),
        "roughness": column.roughness[1:].tolist(),
        "strengths": strengths.tolist(),
    }


def read_model(path: Path) -> tuple[list[str], list[Mechanism], ScoreSettings]:
    """Return the arguments of `HeteroscedasticSCM` from a file."""
    content = read_json(path, "Model file", "give a file that `save` wrote.")
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f'File \'{path}\' is not a heterodag model: its "format" is not "{FORMAT}".')
    version = content.get("format_version")
    if version not in (1, FORMAT_VERSION):
        raise DataError(
            f"File '{path}' has format version {version!r}, written by heterodag {content.get('heterodag')}; this one "
            f"({__version__}) reads versions 1 and {FORMAT_VERSION}: fit and save the model again."
        )
    try:
        return _model(content if version == FORMAT_VERSION else _upgraded(content))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise DataError(f"File '{path}' is not a complete heterodag model ({fault(error)}).") from None


def _upgraded(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a file of version 1 in the layout of version 3."""
    splines, form = content["parametrization"] == "spline", content["form"]
    _require(all(("curves" in part) == splines for part in content["mechanisms"]), "curves, for splines only")
    parts = [{"curves": None} | part | {"form": form, "noise": None} for part in content["mechanisms"]]
    return content | {"noise": "gaussian", "mechanisms": parts}


def _model(content: dict[str, Any]) -> tuple[list[str], list[Mechanism], ScoreSettings]:
    names, settings = content["names"], _settings(content)
    _require(bool(names) and all(isinstance(n, str) for n in names) and len(set(names)) == len(names), "its names")
    parts = content["mechanisms"]
    _require([part["name"] for part in parts] == names, "one mechanism per name, in order")
    mechanisms = [_mechanism(part, j, names) for j, part in enumerate(parts)]
    for mechanism, name in zip(mechanisms, names, strict=True):
        straight = settings.parametrization != "linear" or not curved_parents(mechanism.fit)
        _require(straight, f"curves of '{name}' in a model of lines")
        normal = settings.noise != "gaussian" or mechanism.density is None
        _require(normal, f"noise of '{name}' in a model with normal noise")
    integers = content.get("integer_labels", [])
    known = isinstance(integers, list) and all(name in names and str(int(name)) == name for name in integers)
    _require(known, "integer_labels, which must be names")
    adjacency = np.zeros((len(names), len(names)))
    for mechanism in mechanisms:
        adjacency[list(mechanism.parents), mechanism.target] = 1
    _require(is_dag(adjacency), "the parents make a cycle")
    return [IntegerLabel(name) if name in integers else name for name in names], mechanisms, settings


def _settings(content: dict[str, Any]) -> ScoreSettings:
    """Return the settings that the user asked for; networks cannot be stored."""
    asked = {key: content[key] for key in ("parametrization", "form", "noise")}
    _require(asked["parametrization"] in MECHANISMS, f"parametrization {asked['parametrization']!r}")
    try:
        return score_settings(**asked)
    except ParameterError as error:
        raise ValueError(f"wrong: {error.name} {asked[error.name]!r}") from None


def _mechanism(part: dict[str, Any], target: int, names: list[str]) -> Mechanism:
    parents = tuple(names.index(name) for name in part["parents"])
    k, (basis, strengths) = len(parents), _read_basis(part, len(parents))
    width = basis.width if isinstance(basis, SplineBasis) else k + 1
    _require(part["form"] in FORMS, f"form {part['form']!r} of '{part['name']}'")
    form = FORMS[part["form"]]
    size = Coefficients(form, width).size
    scale = _numbers(part, "scale", (k + 1,))
    _require(bool((scale > 0).all()), f"scale of '{part['name']}'")
    theta = _numbers(part, "theta", (size,))
    fit = LinearFit(
        form, k, tuple(range(k)), float(part["objective"]), bool(part["converged"]),
        np.zeros(k), Effort.FINAL, theta, basis, strengths, noise=_read_noise(part),
    )  # fmt: skip
    return Mechanism(
        target, parents, fit, _numbers(part, "location", (k + 1,)), scale,
        _numbers(part, "extremes", (2, k)), _numbers(part, "covariance", (size, size)),
    )  # fmt: skip


def _read_basis(part: dict[str, Any], k: int) -> tuple[Basis, Array | None]:
    """Return the basis of k parents, and the strengths of its curves."""
    given, name = part["curves"], part["name"]
    if given is None:
        return linear_basis, None
    _require(isinstance(given, list) and len(given) == k, f"curves of '{name}', one entry per parent")
    strengths, columns = np.full((2, k), np.inf), []
    for position, own in enumerate(given):
        columns.append(LINE if own is None else _read_curves(own | {"name": name}))
        if own is not None:
            strengths[:, position] = _numbers(own | {"name": name}, "strengths", (2,))
    _require(bool((strengths > 0).all()), f"strengths of '{name}'")
    return SplineBasis(tuple(columns), tuple(column.width for column in columns)), strengths


def _read_curves(part: dict[str, Any]) -> ColumnSpline:
    count, intervals = len(part["roughness"]), len(part["knots"]) - 1
    knots, roughness = _numbers(part, "knots", (intervals + 1,)), _numbers(part, "roughness", (count,))
    _require(intervals > 1 and bool((np.diff(knots) > 0).all()), f"knots of '{part['name']}', which must increase")
    _require(count > 0 and bool((roughness > 0).all()), f"roughness of '{part['name']}'")
    pieces = _numbers(part, "pieces", (4, intervals, count))
    return ColumnSpline(CubicSpline.construct_fast(pieces, knots), np.r_[0.0, roughness])


def _read_noise(part: dict[str, Any]) -> Density | None:
    """Return the density of the noise; None if it is normal."""
    given, name = part["noise"], f"noise of {part['name']}"
    if given is None:
        return None
    _require(isinstance(given, dict), name)
    own, size = given | {"name": name}, np.size(given["theta"])
    _require(size in FAMILIES, f"theta of '{name}'")
    log_z, reach, rows = (float(_numbers(own, key, ())) for key in ("log_z", "reach", "rows"))
    low, high = (
        none if own[key] is None else float(_numbers(own, key, ()))
        for key, none in (("low", -np.inf), ("high", np.inf))
    )
    _require(reach > 0, f"reach of '{name}'")
    _require(low < high, f"edges of '{name}'")
    _require(rows > 0, f"rows of '{name}'")
    density = Density(_numbers(own, "theta", (size,)), log_z, reach, low, high, int(rows))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        _require(abs(density.total - 1.0) < _MASS_ERROR, f"integral of '{name}', which must be 1")
    return density


def _numbers(part: dict[str, Any], key: str, shape: tuple[int, ...]) -> Array:
    values = np.array(part[key], dtype=np.float64)
    _require(values.shape == shape and bool(np.isfinite(values).all()), f"{key} of '{part['name']}'")
    return values


def _require(right: bool, what: str) -> None:
    if not right:
        raise ValueError(f"wrong: {what}")
