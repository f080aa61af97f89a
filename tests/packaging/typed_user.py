"""A user's script as mypy sees it with heterodag installed: `check_package.py` runs mypy, strict, on this file.

An ignore that is not needed is an error too, so the last lines fail unless mypy finds the mistakes in them.
"""

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from heterodag import (
    HOST,
    BootstrapResult,
    DAGResult,
    Findings,
    HeteroscedasticSCM,
    OrderResult,
    PriorKnowledge,
    bootstrap,
    causal_order,
    check_table,
    load_sachs,
    metrics,
    recover_dag,
    simulate,
)

data = simulate(100, 3, "ER", 1, random_state=0)
model = HOST(alpha=0.01, prior_knowledge=PriorKnowledge(forbidden=[(0, 1)]))
assert_type(model.fit(data.X), HOST)
assert_type(model.adjacency_, NDArray[np.int8])
assert_type(model.to_scm(), HeteroscedasticSCM)
assert_type(causal_order(data.X), OrderResult)
assert_type(recover_dag(data.X, [0, 1, 2]), DAGResult)
assert_type(bootstrap(model, data.X, 20), BootstrapResult)
assert_type(check_table(load_sachs().data), Findings)
assert_type(metrics.shd(data.adjacency, model.adjacency_), int)

HOST(alpha="small")  # type: ignore[arg-type]
HOST(aplha=0.01)  # type: ignore[call-arg]
