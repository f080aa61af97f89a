"""What a stored result belongs to: estimators as text, tables as digests."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

#: Settings that do not decide what is learned.
IGNORED = frozenset({"n_jobs", "verbose", "random_state", "max_seconds"})


def describe_estimator(model: Any) -> dict[str, str]:
    """Return the class and the settings that decide the result, as text; functions by their names."""
    settings = {k: v for k, v in sorted(model.get_params(deep=False).items()) if k not in IGNORED}
    plain = {k: getattr(v, "__qualname__", None) or repr(v) for k, v in settings.items()}
    return {"estimator": type(model).__name__} | plain


def table_digest(array: npt.NDArray[np.float64], names: list[str] | None) -> str:
    """Return a digest of a table: its shape, its names and every value."""
    digest = hashlib.sha256(repr((array.shape, names)).encode())
    digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
