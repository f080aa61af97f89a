"""What is wrong with the table stands among the findings about the graph, and does not stop the check."""

import numpy as np

from heterodag import check_graph


def test_a_random_walk_is_named():
    X = np.cumsum(np.random.default_rng(0).standard_normal((300, 3)), axis=0)
    found = check_graph(np.triu(np.ones((3, 3)), 1), X, n_shuffles=0)
    first = found.findings[0]
    assert (first.severity, first.check) == ("red", "random-walk")
    assert found.worst == "red"
