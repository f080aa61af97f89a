"""One thread for the many small matrix products: coordinating several threads would cost more than it saves."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

_Result = TypeVar("_Result")


def single_threaded() -> AbstractContextManager[object]:
    """Limit BLAS and OpenMP to one thread inside the block; parallel work goes through joblib instead."""
    limits: AbstractContextManager[object] = _controller(len(sys.modules)).limit(limits=1)
    return limits


def on_one_thread(function: Callable[..., _Result], *arguments: Any) -> _Result:
    """Call a function with one thread, also in a worker: products computed by several differ in the last digits."""
    with single_threaded():
        return function(*arguments)


@lru_cache(maxsize=1)
def _controller(modules: int) -> ThreadpoolController:
    """Find the libraries that use threads; search again only after modules were loaded, as it takes milliseconds."""
    return ThreadpoolController()


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Keep torch's operators on one thread, and restore the caller's setting afterwards.

    The operators are too short to split: threads would wait for each other longer than they work, especially on a
    busy machine. Threads started inside inherit the setting, so it holds for joblib's workers too.
    """
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
