"""One thread for the many small matrix products: several threads would cost more in coordination than they save."""

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
    """Call a function with one thread, in a worker as well: products of several threads differ in their last digits."""
    with single_threaded():
        return function(*arguments)


@lru_cache(maxsize=1)
def _controller(modules: int) -> ThreadpoolController:
    """Look for the libraries that have threads, again only when modules were loaded since: it takes milliseconds."""
    return ThreadpoolController()


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
