"""HOST's time and progress: what is there when the time is over, that nothing new is begun, and what a bar is told.

The clock is not a real one: a second passes whenever someone looks at it. A fit looks before every batch of models, so a
limit in seconds ends it at any point that a test likes.
"""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

from heterodag import HOST, HeterodagError, TimeLimitError, causal_order, simulate
from heterodag.core.graph import is_dag, respects_order
from heterodag.estimators import host
from heterodag.estimators.host import _SHARES
from heterodag.runtime import work
from heterodag.scores.curves import CurveFitter
from heterodag.scores.lines import LineFitter

KNOWN = {"required": [(4, 0)], "forbidden": [(1, 2)]}


class Clock:
    """A second passes at every look."""

    def __init__(self):
        self.now, self.end = 0.0, float("inf")

    def monotonic(self):
        self.now += 1.0
        return self.now


@pytest.fixture(scope="module")
def X():
    return simulate(300, 5, "ER", 1, random_state=3).X


@pytest.fixture
def late(monkeypatch):
    """Return a function that runs something with a limit; fits and tests begun after the end are counted."""
    clock, begun = Clock(), {"late": 0, "in time": 0}
    monkeypatch.setattr(work, "time", clock)

    def spied(whole):
        def spy(self, *arguments):
            begun["late" if clock.now > clock.end else "in time"] += 1
            return whole(self, *arguments)

        return spy

    for fitter in (LineFitter, CurveFitter):
        for name in ("fit", "without"):
            monkeypatch.setattr(fitter, name, spied(getattr(fitter, name)))

    def run(function, seconds):
        clock.now, clock.end = 0.0, 1.0 + seconds
        begun.update({"late": 0, "in time": 0})
        return function(), begun["late"], clock.now <= clock.end

    return run


def fit_or_none(X, seconds, **settings):
    try:
        return HOST(max_seconds=seconds, prior_knowledge=KNOWN, **settings).fit(X)
    except TimeLimitError:
        return None


def assert_obeys(order, adjacency=None):
    order = list(order)
    assert sorted(order) == list(range(5))
    assert order.index(4) < order.index(0)
    if adjacency is not None:
        assert is_dag(adjacency)
        assert respects_order(adjacency, np.array(order))
        assert (adjacency[4, 0], adjacency[1, 2]) == (1, 0)


@pytest.mark.parametrize(
    "settings", [{}, {"form": "location-scale"}, {"conditioning": "sparse"}, {"refine": False}], ids=str
)
def test_whenever_the_time_ends_nothing_more_is_begun_and_what_is_there_is_a_graph(X, late, settings):
    """Errors while there is no graph, then graphs by the parents so far, then the graph without a limit."""
    whole, story = HOST(prior_knowledge=KNOWN, **settings).fit(X), []
    for seconds in range(1, 400, 3):
        model, begun_late, sufficed = late(lambda seconds=seconds: fit_or_none(X, seconds, **settings), seconds)
        assert begun_late == 0
        if model is None:
            story.append("nothing")
            continue
        assert_obeys(model.order_, model.adjacency_)
        assert np.array_equal(model.adjacency_ == 1, (np.nan_to_num(model.pvalues_, nan=1.0) < 0.001) | required())
        story.append("everything" if sufficed else "something")
        if sufficed:
            assert np.array_equal(model.pvalues_, whole.pvalues_, equal_nan=True)
            break
    assert story == sorted(story, key=["nothing", "something", "everything"].index)
    # Without refinement no parents are there before the edges are tested.
    assert set(story) >= (
        {"nothing", "everything"} if "refine" in settings else {"nothing", "something", "everything"}
    )


def required():
    known = np.zeros((5, 5), dtype=bool)
    known[4, 0] = True
    return known


def test_edges_are_the_parents_so_far(X, late, monkeypatch):
    """The time ends while the order is refined; its parents at that moment become the edges."""
    searches, checked = [], 0
    whole = host.find_order
    monkeypatch.setattr(host, "find_order", lambda *a: searches.append(whole(*a)) or searches[-1])
    for seconds in range(1, 80, 3):
        model, _, _ = late(lambda seconds=seconds: fit_or_none(X, seconds), seconds)
        if model is None or model.refinement_.complete:
            continue
        checked += 1
        parents = np.zeros((5, 5), dtype=np.int8)
        for child, own in searches[-1].search.state.parents.items():
            parents[list(own), child] = 1
        assert np.array_equal(model.adjacency_, parents)
    assert checked >= 2


@pytest.mark.parametrize("settings", [{}, {"conditioning": "sparse"}, {"parametrization": "spline"}], ids=str)
def test_an_order_comes_back_whenever_the_time_ends(X, late, settings):
    """Also when no model at all was fitted; the private signal that ends the work never reaches the user."""
    complete = []
    for seconds in [*range(1, 15, 2), *range(15, 100, 15), 10_000]:
        found, begun_late, sufficed = late(
            lambda seconds=seconds: causal_order(X, max_seconds=seconds, prior_knowledge=KNOWN, **settings), seconds
        )
        assert_obeys(found.order)
        assert [j for layer in found.layers for j in layer] == found.order.tolist()
        assert begun_late == 0
        complete.append(found.complete)
        assert found.complete or not sufficed
    assert complete[0] is False
    assert complete[-1] is True
    assert complete == sorted(complete)


@pytest.mark.parametrize("seconds", [40, 45, 50])
def test_a_slow_test_is_given_up_after_the_pair_at_which_the_time_ends(X, late, seconds, monkeypatch):
    """Three seconds a pair; the ten pairs of five columns would take thirty more than there are."""
    calls = []

    def slow(x, y, Z):
        calls.append(work.time.now)
        work.time.now += 3.0
        return 0.5

    def run():
        HOST(selection=slow, refine=False, max_seconds=seconds).fit(X)

    def ordered(*arguments, whole=host.find_order):
        found = whole(*arguments)
        work.time.now = 30.0
        return found

    monkeypatch.setattr(host, "find_order", ordered)
    with pytest.raises(TimeLimitError, match=f"max_seconds = {seconds}"):
        late(run, seconds)
    assert 1 <= len(calls) < 10
    assert sum(begin > 1.0 + seconds for begin in calls) == 0


def test_all_pairs_given_all_predecessors_are_given_up_too(X, late, monkeypatch):
    """The time ends when the order is there and half of the targets are tested."""
    ordered = []

    def spy(*arguments, whole=host.find_order):
        found = whole(*arguments)
        ordered.append(work.time.now)
        return found

    monkeypatch.setattr(host, "find_order", spy)
    model, _, _ = late(lambda: HOST(selection="likelihood-full").fit(X), 10_000)
    half = int(ordered[0] + work.time.now) // 2
    assert ordered[0] < half < work.time.now - 1

    def run():
        with pytest.raises(TimeLimitError):
            HOST(selection="likelihood-full", max_seconds=half).fit(X)

    _, begun_late, sufficed = late(run, half)
    assert (begun_late, sufficed) == (0, False)
    assert model.adjacency_.any()


def test_the_former_name_of_the_limit_still_works(X):
    with pytest.warns(FutureWarning, match="`max_seconds`"):
        model = HOST(max_time=1000).fit(X)
    assert model.refinement_.complete
    with pytest.raises(HeterodagError, match="max_time"):
        HOST(max_time=1, max_seconds=1).fit(X)


# --- progress -----------------------------------------------------------------------------------------------------


@pytest.fixture
def told(monkeypatch):
    """Return what the progress bar is told; those from the edges are after the mark None."""
    shares = []

    @contextmanager
    def bar(label, enabled):
        yield shares.append

    def edges(*arguments, whole=host.find_dag):
        shares.append(None)
        return whole(*arguments)

    monkeypatch.setattr(host, "progress_bar", bar)
    monkeypatch.setattr(host, "find_dag", edges)
    return shares


@pytest.mark.parametrize(
    "settings",
    [
        {}, {"refine": False}, {"conditioning": "sparse"}, {"selection": "likelihood-full"}, {"selection": "gam"},
        {"selection": "gcm"}, {"parametrization": "spline"}, {"form": "location-scale"},
    ],
    ids=str,
)  # fmt: skip
def test_progress_is_full_at_the_end_only_and_never_goes_back(X, told, settings):
    HOST(random_state=0, **settings).fit(X)
    mark = told.index(None)
    order, edges = told[:mark], told[mark + 1 :]
    shares = order + edges
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert max(shares[:-1]) < 0.99
    # The order has its part, the edges the rest; both move while they are worked on.
    assert max(order) <= _SHARES[0] < edges[0]
    assert len(set(order)) > 3
    assert len(set(edges)) > 2
    if settings.get("refine", True):
        assert sum(share > 0.1 for share in order) >= 2


@pytest.mark.parametrize("settings", [{}, {"refine": False}, {"parametrization": "spline"}], ids=str)
def test_progress_of_an_order_alone(X, settings):
    shares = []
    causal_order(X, progress=shares.append, **settings)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert max(shares[:-1]) < 0.99
    assert len(set(shares)) > 5


@pytest.mark.parametrize("settings", [{"selection": "likelihood-full"}, {"parametrization": "spline"}, {}], ids=str)
def test_two_workers_give_the_same_fit_while_a_bar_is_told(X, monkeypatch, settings):
    """What is told may hold an open terminal: a fit that sends it to its workers fails."""

    class Told(list):
        def __call__(self, share):
            self.append(share)

        def __reduce__(self):
            raise TypeError("this stays where it is")

    bars = []

    @contextmanager
    def bar(label, enabled):
        bars.append(Told())
        yield bars[-1]

    monkeypatch.setattr(host, "progress_bar", bar)
    one, two = (HOST(n_jobs=workers, **settings).fit(X) for workers in (1, 2))
    assert np.array_equal(one.order_, two.order_)
    assert np.array_equal(one.pvalues_, two.pvalues_, equal_nan=True)
    assert [told[-1] for told in bars] == [1.0, 1.0]
