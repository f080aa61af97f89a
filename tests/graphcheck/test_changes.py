"""Single changes, their evidence and the greedy path, against brute force over all graphs of a tiny table."""

from itertools import product

import numpy as np
import pytest

from heterodag import simulate
from heterodag.core.graph import is_dag
from heterodag.graphcheck.changes import LEAST_GAIN, Change, best_changes, evidence, single_changes
from heterodag.graphcheck.graph_scores import GraphScores
from heterodag.knowledge import read_study
from heterodag.ordering.directions import OPEN_BELOW
from heterodag.ordering.search import parent_penalty
from heterodag.scores.fit import Effort
from heterodag.scores.local import parents_of
from heterodag.scores.make import AUTO
from heterodag.scores.parent_choice import entry_gain

D = 3
N = 250


def all_dags(d):
    places = [(i, j) for i in range(d) for j in range(d) if i != j]
    for bits in product((0, 1), repeat=len(places)):
        graph = np.zeros((d, d), dtype=np.int8)
        for place, bit in zip(places, bits, strict=True):
            graph[place] = bit
        if is_dag(graph):
            yield graph


def changed_by(one, other):
    """Return the change that leads from one graph to another, None if it takes more than one."""
    gone, come = np.argwhere((one == 1) & (other == 0)).tolist(), np.argwhere((one == 0) & (other == 1)).tolist()
    if len(gone) == 1 and len(come) == 1:
        return Change("turn", *gone[0]) if come[0] == gone[0][::-1] else None
    if len(gone) + len(come) != 1:
        return None
    return Change("drop", *gone[0]) if gone else Change("add", *come[0])


@pytest.fixture(scope="module")
def tiny():
    X = simulate(N, D, degree=1, mechanism="curved", spread="straight", random_state=2).X
    study = read_study(X, None, None)
    return GraphScores.of(study, AUTO.make(study.array, np.random.SeedSequence(0)))


@pytest.fixture(scope="module")
def totals(tiny):
    """Return the score of every graph by summing local scores one at a time, apart from the code under test."""
    price = np.log(N) + np.log(D)
    found = {}
    for graph in all_dags(D):
        losses = [tiny.scores.fits([(j, parents_of(graph[:, j]))], Effort.FINAL)[0].loss for j in range(D)]
        found[graph.tobytes()] = sum(losses) + price * graph.sum()
    return found


def test_all_changes_without_a_cycle_are_listed_once():
    dags = list(all_dags(D))
    assert len(dags) == 25
    for graph in dags:
        expected = {change for other in dags if (change := changed_by(graph, other)) is not None}
        found = single_changes(graph)
        assert len(found) == len(set(found))
        assert set(found) == expected
        for change in found:
            new = change.applied(graph)
            assert changed_by(graph, new) == change
            assert new.sum() == graph.sum() + change.more_edges


def test_scores_of_graphs_are_sums_of_local_scores(tiny, totals):
    graphs = list(all_dags(D))
    assert tiny.price == parent_penalty(N, D)
    np.testing.assert_allclose(tiny.totals(graphs), [totals[graph.tobytes()] for graph in graphs], rtol=1e-12)


def test_evidence_is_the_difference_of_scores(tiny, totals):
    fitted = 0
    for graph in all_dags(D):
        for change, nats in evidence(tiny, graph, single_changes(graph)).items():
            exact = totals[graph.tobytes()] - totals[change.applied(graph).tobytes()] + tiny.price * change.more_edges
            if change.kind == "add" and nats <= entry_gain(D):
                assert exact < 9.0, "the score test hid an edge that matters"
            else:
                fitted += 1
                assert nats == pytest.approx(exact, abs=1e-8)
    assert fitted > 50


def test_the_first_change_is_the_best_of_all_neighbours(tiny, totals):
    for graph in all_dags(D):
        gains = {}
        for other in all_dags(D):
            change = changed_by(graph, other)
            if change is not None:
                gains[change] = totals[graph.tobytes()] - totals[other.tobytes()]
        clear = {c: g for c, g in gains.items() if g > (OPEN_BELOW if c.kind == "turn" else LEAST_GAIN)}
        steps = best_changes(tiny, graph)
        assert bool(steps) == bool(clear)
        if steps:
            assert steps[0].change == max(clear, key=clear.get)
            assert steps[0].nats == pytest.approx(max(clear.values()), abs=1e-8)


def test_steps_add_up_to_the_graph_they_lead_to(tiny, totals):
    graph = np.zeros((D, D), dtype=np.int8)
    steps = best_changes(tiny, graph)
    assert steps
    after = graph
    for step in steps:
        after = step.change.applied(after)
    assert sum(step.nats for step in steps) == pytest.approx(
        totals[graph.tobytes()] - totals[after.tobytes()], abs=1e-8
    )
    assert best_changes(tiny, graph, most=1) == steps[:1]
    assert best_changes(tiny, after) == []
