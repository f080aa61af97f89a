"""Run one gcastle method as a separate program, from standard input to standard output.

gcastle sets up logging, seeds NumPy and torch globally and changes torch's default type when it is imported or run. In
a separate process it cannot disturb the caller, and it can be killed. This file imports nothing from heterodag.

In: a pickled dict with `method`, `X`, `seed`, `options`. Out: the weights or edges, (d, d), in NumPy's file format; causes
in rows.
"""

import io
import logging
import os
import pickle
import random
import sys
import warnings
from typing import Any


def golem(X: Any, seed: int, options: dict[str, Any]) -> Any:
    """Return the weights of GOLEM; with unequal variances it starts at the solution for equal ones, as in its paper."""
    import numpy as np
    from castle.algorithms import GOLEM

    equal, weights = options.pop("equal_variances"), None
    for assumption in (True,) if equal else (True, False):
        strength = options["l1"] if options["l1"] is not None else (0.02 if assumption else 0.002)
        model = GOLEM(
            B_init=weights,
            lambda_1=strength,
            lambda_2=options["dag_penalty"],
            equal_variances=assumption,
            learning_rate=options["learning_rate"],
            num_iter=options["max_steps"],
            checkpoint_iter=None,
            seed=seed,
        )
        model.learn(X)
        weights = np.asarray(model.weight_causal_matrix, dtype=np.float32)
    return weights


def grandag(X: Any, seed: int, options: dict[str, Any]) -> Any:
    """Return the edges of GraN-DAG, after it has thresholded them until no cycle is left."""
    import numpy as np
    from castle.algorithms import GraNDAG

    model = GraNDAG(input_dim=X.shape[1], random_seed=seed, **options)
    model.learn(X)
    return np.asarray(model.causal_matrix, dtype=np.float64)


def main() -> None:
    """Read the task, run it with nothing printed, and write the result."""
    task = pickle.load(sys.stdin.buffer)
    result_stream, sys.stdout = os.fdopen(os.dup(1), "wb"), sys.stderr
    if not os.environ.get("HETERODAG_VERBOSE"):
        logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    os.environ["CASTLE_BACKEND"] = "pytorch"
    random.seed(task["seed"])
    import numpy as np
    import torch

    torch.set_num_threads(1)
    run = {"golem": golem, "grandag": grandag}[task["method"]]
    found = run(task["X"], task["seed"], dict(task["options"]))
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(found), allow_pickle=False)
    result_stream.write(buffer.getvalue())
    result_stream.close()


if __name__ == "__main__":
    main()
