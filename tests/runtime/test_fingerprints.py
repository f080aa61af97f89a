"""What stored results belong to: different things have different descriptions, the same ones the same everywhere."""

import functools
import math
import operator
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from heterodag import HOST
from heterodag.runtime.fingerprints import describe, describe_estimator, table_digest

LIMIT = 3


def scaled(factor):
    return lambda x: factor * x


def uses_a_neighbour(x):
    return neighbour(x) + LIMIT


def neighbour(x):
    return x + 1


def recursive(n):
    return 1 if n < 2 else n * recursive(n - 1)


class Threshold:
    """A callable object, with no `repr` of its own."""

    kind = "hard"

    def __init__(self, level):
        self.level = level

    def __call__(self, x):
        return x > self.level

    def method(self, x):
        return x


class Slots:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


def all_different(*values):
    return len({describe(value) for value in values}) == len(values)


def test_functions_are_told_apart_by_what_they_do():
    assert all_different(lambda x: x + 1, lambda x: x + 2, lambda x: x - 1, lambda y, x: x + 1)
    assert all_different(lambda x: x.min(), lambda x: x.max())
    assert all_different(lambda x, k=1: x, lambda x, k=2: x, lambda x, *, k=1: x, lambda x, *, k=2: x)
    assert all_different(scaled(1), scaled(2), scaled([1, 2]), scaled(np.arange(2000)), scaled(np.arange(2000) + 1))
    assert all_different(lambda x: [y + 1 for y in x], lambda x: [y + 2 for y in x])
    # The same code in two places is the same.
    assert describe(scaled(2)) == describe(scaled(2))


def test_what_a_function_uses_of_its_module_counts(monkeypatch):
    before = describe(uses_a_neighbour)
    assert describe(uses_a_neighbour) == before
    monkeypatch.setitem(globals(), "LIMIT", 4)
    assert describe(uses_a_neighbour) != before
    monkeypatch.undo()
    assert describe(uses_a_neighbour) == before
    changed = lambda x: x + 2  # noqa: E731
    changed.__module__ = __name__
    monkeypatch.setitem(globals(), "neighbour", changed)
    assert describe(uses_a_neighbour) != before
    assert describe(recursive) == describe(recursive)


def test_builtins_partials_methods_and_objects():
    assert all_different(math.sin, math.cos, np.sin, np.cos, operator.add, sum, max, [].append, [1].append)
    partial = functools.partial
    assert all_different(partial(pow, 2), partial(pow, 3), partial(pow, exp=2), partial(divmod, 2))
    assert describe(partial(scaled(2), 1)) == describe(partial(scaled(2), 1))
    assert all_different(Threshold(1), Threshold(2), Threshold(1).method, Threshold(2).method, Threshold)
    assert describe(Threshold(1)) == describe(Threshold(1))
    assert all_different(Slots(1), Slots(2))
    # What cannot be taken apart goes by its `repr`, without its place in memory.
    assert describe(threading.Lock()) == describe(threading.Lock())


def test_plain_values_and_containers():
    assert all_different(None, 0, False, 0.0, "0", b"0", (0,), [0], {0}, frozenset({0}), {0: 0}, {0: 1}, 10**300)
    assert describe([1, "a", {"b": [None]}]) == "[1, 'a', {'b': [None]}]"
    assert describe(np.float64(0.05)) == describe(0.05)
    # `repr` shows only the ends of long arrays.
    long = np.zeros(5000)
    other = long.copy()
    other[2500] = 1
    assert all_different(long, other, long.astype(np.float32), long.reshape(2, -1), np.array([None, 1]))
    circle = Threshold(1)
    circle.level = circle
    assert describe(circle) == describe(circle)


def class_named(name, **attributes):
    return type(name, (Threshold,), {"__module__": __name__} | attributes)


def test_classes_are_told_apart_by_their_functions_and_values():
    same = class_named("A", fit=scaled(1))
    assert describe(same) == describe(class_named("A", fit=scaled(1)))
    assert all_different(
        same, class_named("A", fit=scaled(2)), class_named("A", fit=scaled(1), width=3),
        class_named("A", fit=staticmethod(scaled(1))), class_named("A", fit=property(scaled(1))),
        class_named("B", fit=scaled(1)),
    )  # fmt: skip
    before = describe(same)
    Threshold.kind = "soft"  # the class that it derives from
    try:
        assert describe(same) != before
    finally:
        Threshold.kind = "hard"


def test_an_estimator_of_this_package_is_readable():
    described = describe_estimator(HOST(alpha=0.01, random_state=3))
    assert (described["estimator"], described["alpha"]) == ("HOST", "0.01")
    assert not {"random_state", "n_jobs", "verbose", "max_seconds"} & set(described)
    assert described == describe_estimator(HOST(alpha=0.01, n_jobs=2))
    one, other = (describe_estimator(HOST(normality=statistic)) for statistic in (lambda x: 1.0, lambda x: 2.0))
    assert one != other


PROGRAM = """
import functools
import numpy as np
from heterodag.runtime.fingerprints import describe
class A:
    words = "ab"
    def __init__(self): self.words = {"a", "b", "c"}
    def __call__(self, x): return x in {"x", "y", "z"} or helper(x)
def helper(x): return np.array([x]) + 1
print(describe([A(), A().__call__, functools.partial(helper, x={"q": frozenset("abc")}), lambda x: x in {"u", "v", "w"}]))
"""


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_descriptions_are_the_same_in_another_process(hash_seed):
    def run(seed):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        return subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment
        ).stdout

    assert run(hash_seed) == run("0")


def test_tables_differ_by_values_shape_and_names():
    table = np.arange(6.0).reshape(3, 2)
    digests = {table_digest(table, None), table_digest(table.T, None), table_digest(table + 1, None)}
    assert len(digests | {table_digest(table, ["a", "b"]), table_digest(table.reshape(2, 3), None)}) == 5
    assert table_digest(np.asfortranarray(table), None) in digests
