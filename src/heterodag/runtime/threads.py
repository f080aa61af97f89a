"""One thread for the many small matrix products: several threads would cost more in coordination than they save."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from threadpoolctl import threadpool_limits


def single_threaded() -> AbstractContextManager[object]:
    """Limit BLAS and OpenMP to one thread inside the block; parallel work goes through joblib instead."""
    limits: AbstractContextManager[object] = threadpool_limits(limits=1)
    return limits


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Keep torch's operators from splitting their work, and give the caller's setting back afterwards.

    The operators are too short to share: threads would wait for each other longer than they work, the more so
    on a busy machine. Threads started inside take the setting over, so joblib's workers have it too.
    """
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
