"""Other methods on the pairs of `pairs.py`: `python benchmarks/pairs_methods.py --methods NAME ...`.

Every method says which of two columns, scaled to variance 1, is the cause. Rows go to benchmarks/results/pairs_methods.csv,
and what is there is not run again; docs/pairs.md is made from them by `pairs.py`. Packages that ask for other versions get
environments of their own, whose interpreters run this script with `PYTHONPATH=src`:

    python benchmarks/pairs_methods.py --methods HOST.paper CAM
    pip install lingam                      python benchmarks/pairs_methods.py --methods DirectLiNGAM
    pip install cdt torch GPUtil skrebate   python benchmarks/pairs_methods.py --methods IGCI RECI CDS
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import time
import warnings

import numpy as np

import pairs
from packages import direct_lingam, rival, standardised
from rows import RESULTS, append_results, read

STORE = RESULTS / "pairs_methods.csv"
KEY = ("kind", "seed", "method")
FIELDS = (*KEY, "right", "seconds")


def by_order(fit):
    """Return a method that takes the first column of an order for the cause."""
    return lambda X: 1.0 if int(fit(X)[1][0]) == 0 else -1.0


def paper_order(X):
    from heterodag import causal_order

    return None, causal_order(X, refine=False, parametrization="linear", form="natural", noise="gaussian").order


def from_cdt(name):
    """Return a method of the Causal Discovery Toolbox; positive scores mean that the first column is the cause."""

    def decide(X):
        from cdt.causality import pairwise

        return float(getattr(pairwise, name)().predict_proba((X[:, [0]], X[:, [1]])))

    return decide


#: Method -> a number that is positive if the first column is the cause, negative if the second is.
METHODS = {
    "HOST.paper": by_order(paper_order),
    "CAM": by_order(rival("CAM")),
    "DirectLiNGAM": by_order(direct_lingam),
    "IGCI": from_cdt("IGCI"),
    "RECI": from_cdt("RECI"),
    "CDS": from_cdt("CDS"),
}


def asked(method, X, swap):
    """Return a method's score, positive if the first column is the cause, and whether that is right, with its seconds.

    With `swap` the method gets the columns the other way round.
    """
    X = standardised(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        score = method(X[:, ::-1].copy() if swap else X)
        seconds = time.process_time() - start
    score = -score if swap else score
    return score, {"right": f"{0.5 + 0.5 * np.sign(score):g}", "seconds": f"{seconds:.3f}"}


def cell(kind, seed, method):
    """Return whether a method is right on a pair (1, 0, or 0.5 without a decision); every other pair is swapped."""
    _, told = asked(METHODS[method], pairs.pair(kind, seed), seed % 2)
    return [{"kind": kind, "seed": seed, "method": method} | told]


def right_of(rows, kinds, method):
    """Return pair -> whether the method is right."""
    return {(r["kind"], r["seed"]): float(r["right"]) for r in rows if r["method"] == method and r["kind"] in kinds}


def table(rows, host):
    """Yield the lines of the table on docs/pairs.md: right directions by method and kind."""
    columns = {"HOST": {(r["kind"], r["seed"]): float(r["right"] or 0.5) for r in host}}
    columns |= {method: right_of(rows, pairs.KINDS, method) for method in METHODS}
    columns = {method: found for method, found in columns.items() if found}
    yield "| kind | " + " | ".join(columns) + " |"
    yield "|---|" + "---:|" * len(columns)
    for kind in pairs.KINDS:
        shares = [np.mean([value for key, value in found.items() if key[0] == kind]) for found in columns.values()]
        yield f"| {kind} | " + " | ".join(share(value, max(shares)) for value in shares) + " |"
    means = [np.mean([value for key, value in found.items() if key[0] in pairs.KINDS]) for found in columns.values()]
    yield "| **all** | " + " | ".join(share(value, max(means)) for value in means) + " |"


def share(value, best):
    """Return a percentage, bold if it is the best of its line."""
    text = f"{100 * value:.0f} %"
    return f"**{text}**" if text == f"{100 * best:.0f} %" else text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), required=True, metavar="NAME")
    options = parser.parse_args()
    done = {tuple(row[key] for key in KEY) for row in read(STORE)}
    cells = [
        (kind, pairs.FIRST_SEED + t, method)
        for t in range(pairs.PAIRS) for kind in pairs.KINDS for method in options.methods
        if (kind, str(pairs.FIRST_SEED + t), method) not in done
    ]  # fmt: skip
    append_results(STORE, FIELDS, cell, cells, 1, every=300)


if __name__ == "__main__":
    main()
