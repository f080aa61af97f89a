"""Cells, the units of an experiment: a data set and a method. The name states all that decides the result."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from heterodag._version import __version__

#: Edge tests applied to every order, the cheap ones first: what is finished before a time limit is kept.
TESTS = ("gam-classical", "lcit")
#: Seeds below this were used while the methods were developed.
FIRST_SEED = 10_000


def seed_of(name: str) -> int:
    """Return the seed that belongs to a name: the same on every machine, unrelated for different names."""
    return FIRST_SEED + int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big")


@dataclass(frozen=True)
class DataSet:
    """Where a table comes from.

    Attributes
    ----------
    source : "simulated", "sachs" (a subsample of the real data) or "table" (a user's own table).
    n, d : rows and columns.
    repeat : which of several data sets of the same kind.
    graph : of simulated data, such as "ER-2"; of a user's table, its name.
    mechanism, version : of simulated data; see `heterodag.simulate`.
    digest : of a user's table.
    """

    source: str
    n: int
    d: int
    repeat: int = 0
    graph: str = ""
    mechanism: str = ""
    version: str = ""
    digest: str = ""

    @property
    def name(self) -> str:
        """All settings as one line; no two data sets share it."""
        parts = [self.source, self.version, self.mechanism, self.graph, self.digest]
        sizes = [f"d={self.d}", f"n={self.n}", f"repeat={self.repeat}"]
        return "/".join([part for part in parts if part] + sizes)

    @property
    def seed(self) -> int:
        """The seed of the simulation or subsampling: the same for all methods, so that they see the same table."""
        return seed_of(self.name)


@dataclass(frozen=True)
class Cell:
    """A data set, a method, and the edge tests that are applied to the method's order.

    Attributes
    ----------
    data : the data set.
    method : a name in `methods.METHODS`, or the name a user gave to his or her own method.
    tests : names of edge tests; see `heterodag.recover_dag`.
    budget : "full", or "small" for a run that only shows that everything works.
    digest : of a user's method: its class and settings. No seed depends on it.
    """

    data: DataSet
    method: str
    tests: tuple[str, ...] = TESTS
    budget: str = "full"
    digest: str = ""

    @property
    def method_name(self) -> str:
        """The method on this data set, whatever its code and whichever edge tests follow."""
        return f"{self.data.name}/{self.method}" + ("" if self.budget == "full" else f"/{self.budget}")

    @property
    def name(self) -> str:
        """All settings as one line; no two cells share it."""
        return "/".join(part for part in (self.method_name, self.digest, "+".join(self.tests) or "order") if part)

    @property
    def seed(self) -> int:
        """The seed of the method's own randomness."""
        return seed_of(self.method_name)

    def test_seed(self, test: str) -> int:
        """Return the seed of an edge test; it does not depend on which other tests are made."""
        return seed_of(f"{self.method_name}/{test}")

    def settings(self) -> dict[str, Any]:
        """Return the beginning of the cell's row."""
        data = self.data
        return {
            "cell": self.name, "source": data.source, "version": data.version, "mechanism": data.mechanism,
            "graph": data.graph, "d": data.d, "n": data.n, "repeat": data.repeat, "method": self.method,
            "budget": self.budget, "data_seed": data.seed, "method_seed": self.seed,
            "heterodag": __version__,
        }  # fmt: skip
