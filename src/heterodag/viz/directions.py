"""Say in words how sure the directions of the edges are, for figures, the report and the command line."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Directions:
    """What is known about the direction of every edge; nothing by default.

    Attributes
    ----------
    nats : ndarray of shape (d, d) or None
        By how many nats the best graph with the edge i -> j turned round is worse; NaN where not known, infinite where
        prior knowledge decides.
    open : boolean ndarray of shape (d, d) or None
        Edges whose direction is open.
    """

    nats: NDArray[np.float64] | None = None
    open: NDArray[np.bool_] | None = None

    @property
    def known(self) -> bool:
        """Whether there is anything to say."""
        return self.nats is not None or self.open is not None

    @property
    def n_open(self) -> int:
        """The number of open edges."""
        return 0 if self.open is None else int(np.count_nonzero(self.open))

    def is_open(self, edge: tuple[int, int]) -> bool:
        """Return whether the direction of the edge is open."""
        return self.open is not None and bool(self.open[edge])

    def cell(self, edge: tuple[int, int]) -> str:
        """Return the direction as the cell of a table: '12.3', '0.4 open', 'given' (by prior knowledge) or ''."""
        return " ".join(part for part in (self._amount(edge), "open" if self.is_open(edge) else "") if part)

    def phrase(self, edge: tuple[int, int]) -> str:
        """Return the direction as the end of a sentence: 'direction open (0.4 nats)', 'direction given' or ''."""
        amount = self._amount(edge)
        if amount not in ("", "given"):
            amount += " nats"
        if self.is_open(edge):
            return f"direction open ({amount})" if amount else "direction open"
        return f"direction {amount}" if amount else ""

    def summary(self, n_edges: int) -> list[str]:
        """Return one sentence with the number of open edges among `n_edges`, or none if that is not known."""
        if self.open is None or not n_edges:
            return []
        if not self.n_open:
            return ["No arrow is open."]
        arrows = f"of {n_edges:,} arrow{'' if n_edges == 1 else 's'}"
        verb, whose = ("is", "its") if self.n_open == 1 else ("are", "their")
        return [f"{self.n_open:,} {arrows} {verb} open: the data hardly tell {whose} direction."]

    def _amount(self, edge: tuple[int, int]) -> str:
        return "" if self.nats is None else describe_nats(float(self.nats[edge]))


#: For graphs whose directions have no known evidence.
UNKNOWN = Directions()


def describe_nats(nats: float) -> str:
    """Return nats with one decimal, '' where not known, and 'given' where infinite: prior knowledge decides."""
    if math.isnan(nats):
        return ""
    return f"{round(nats, 1) + 0.0:,.1f}" if math.isfinite(nats) else "given"
