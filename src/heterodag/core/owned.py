"""Objects that own their arrays: a small array that came with a message from a worker would take four times its memory."""

from __future__ import annotations

from typing import Any

import numpy as np


class OwnArrays:
    """A dataclass whose arrays become its own when it is unpickled.

    An unpickled array is a view of a view of a buffer, three objects that outlive the message. A fit of a wide table keeps
    hundreds of thousands of small arrays.
    """

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copy the arrays."""
        for name, value in state.items():  # one by one, so that all objects of a class share the names
            object.__setattr__(self, name, value.copy() if isinstance(value, np.ndarray) else value)
