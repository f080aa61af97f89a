"""GIES of the package `gies`, in an environment of its own: `python gies_worker.py IN.npz OUT.npy`.

IN holds `X`, `fixed` and `pooled`; rows with the same variables set are one environment, or all rows are, without targets
(that is GES on the pooled rows). OUT gets the graph, 1 at [i, j] for i -> j and at both for an edge without direction.
"""

import sys

import gies
import numpy as np

given = np.load(sys.argv[1])
X, fixed = given["X"], given["fixed"]
if given["pooled"]:
    fixed = np.zeros_like(fixed)
patterns, member = np.unique(fixed, axis=0, return_inverse=True)
data = [X[member.ravel() == k] for k in range(len(patterns))]
targets = [np.flatnonzero(pattern).tolist() for pattern in patterns]
estimate, _ = gies.fit_bic(data, targets)
np.save(sys.argv[2], np.asarray(estimate != 0, dtype=np.int8))
