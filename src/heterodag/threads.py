"""One thread for the many small matrix products: several threads would cost more in coordination than they save."""

from __future__ import annotations

from contextlib import AbstractContextManager

from threadpoolctl import threadpool_limits


def single_threaded() -> AbstractContextManager[object]:
    """Limit BLAS and OpenMP to one thread inside the block; parallel work goes through joblib instead."""
    limits: AbstractContextManager[object] = threadpool_limits(limits=1)
    return limits
