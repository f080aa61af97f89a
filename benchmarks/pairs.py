"""Which of two columns is the cause? `python benchmarks/pairs.py [run] [sizes] [ablate] [--jobs N]`.

`run` fits HOST() to pairs of 15 kinds and stores one row per pair in benchmarks/results/pairs.csv; what is there is not
run again. `sizes` compares numbers of rows (benchmarks/results/pairs_sizes.csv). `ablate` leaves parts of the models
out, on other seeds (benchmarks/results/pairs_ablations.csv). Without them, only docs/pairs.md is made from the rows.
The kinds follow the public collections in spirit: additive and location-scale noise, multiplicative uniform noise
(Tagasovska et al. 2020), and functions of cause and noise drawn from Gaussian processes, with and without a hidden
common cause (Mooij et al. 2016). The generator is our own.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import warnings

import numpy as np

from rows import RESULTS, append_results, read

FIRST_SEED, PAIRS, ROWS = 90_000, 100, 1000
FIELDS = ("kind", "seed", "right", "nats", "open")
#: Numbers of rows that are compared, and pairs per kind that are made of them.
SIZES, SIZED_PAIRS = (250, 1000, 4000), 40
SIZED = RESULTS / "pairs_sizes.csv"
SIZED_FIELDS = ("rows", *FIELDS, "spread_effect")
#: Ablations: first seed and pairs per kind.
TUNING_SEED, TUNING_PAIRS = 300, 40
ABLATED = RESULTS / "pairs_ablations.csv"
#: What is left out -> module under heterodag.scores, constant, value.
VARIANTS = {
    "nothing": None,
    "edges": ("noise_choice", "_BEYOND", np.inf),
    "sharp flanks": ("noise_choice", "_NEAR", -np.inf),
    "the smallest family": ("noise_choice", "SKEWED", 8),
    "wider curves": ("smooth", "FULL", np.inf),
}
STORE = RESULTS / "pairs.csv"
#: Kind -> what it is. The first six are straight lines with constant spread.
KINDS = {
    "exponential": "straight line, exponential cause and noise",
    "uniform": "straight line, uniform cause and noise",
    "laplace": "straight line, Laplace cause and noise",
    "gumbel": "straight line, Gumbel cause and noise",
    "t": "straight line, cause and noise with heavy tails (t, 4 degrees of freedom)",
    "bimodal": "straight line, two-humped cause and noise",
    "additive": "curve, additive normal noise",
    "additive sigmoid": "steep or flat sigmoid, additive normal noise",
    "location-scale": "curve, spread that moves along another curve, normal noise",
    "location-scale sigmoid": "the same with sigmoids",
    "multiplicative": "sigmoid times uniform noise",
    "any function": "a random function of cause and noise together",
    "hidden cause": "the same with a third, hidden variable that acts on both",
    "low noise": "a random function with little noise",
    "nearly normal": "normal cause, noise nearly additive and normal",
}
#: A kind in which nobody can tell the direction: what is decided there is luck.
CONTROL = "straight normal"


def standardised(x):
    return (x - x.mean()) / x.std()


def random_function(rng, inputs, lengths, waves=300):
    """Return a draw from a Gaussian process with the given length scales, at the rows of the inputs."""
    X = np.column_stack(inputs)
    frequencies = rng.standard_normal((X.shape[1], waves)) / np.array(lengths)[:, None]
    return (
        np.cos(X @ frequencies + rng.uniform(0, 2 * np.pi, waves)) @ rng.standard_normal(waves) * (2 / waves) ** 0.5
    )


def random_sample(rng, n, length):
    """Return numbers of a random distribution: normal ones after a random increasing function."""
    z = np.sort(rng.standard_normal(n))
    slope = np.exp(random_function(rng, [z], [length]))
    steps = np.diff(z) * (slope[1:] + slope[:-1]) / 2
    return standardised(rng.permutation(np.concatenate([[0.0], np.cumsum(steps)])))


def sigmoid(rng, x):
    slope, place = rng.choice([-1, 1]) * rng.uniform(0.5, 2), rng.uniform(-2, 2)
    return rng.uniform(0.5, 2) * slope * (x + place) / (1 + np.abs(slope * (x + place)))


def straight_pair(rng, n, noise):
    draws = {
        "exponential": lambda: rng.exponential(size=n),
        "uniform": lambda: rng.uniform(size=n),
        "laplace": lambda: rng.laplace(size=n),
        "gumbel": lambda: rng.gumbel(size=n),
        "t": lambda: rng.standard_t(4, n),
        "bimodal": lambda: rng.choice([-1, 1], n) + 0.45 * rng.standard_normal(n),
        CONTROL: lambda: rng.standard_normal(n),
    }
    x, e = standardised(draws[noise]()), standardised(draws[noise]())
    return x, rng.choice([-1, 1]) * rng.uniform(0.5, 1.5) * x + e


def curved_pair(rng, n, kind):
    x = rng.uniform(1, 2) * rng.standard_normal(n)
    if kind == "multiplicative":
        return x, 3 * sigmoid(rng, x) * rng.uniform(-1, 1, n)
    curve = (
        3 * sigmoid(rng, x) if "sigmoid" in kind else standardised(random_function(rng, [x], [rng.gamma(5, 0.25)]))
    )
    if kind.startswith("additive"):
        return x, curve + rng.uniform(0.2, 0.7) * rng.standard_normal(n)
    if "sigmoid" in kind:
        spread = np.abs(sigmoid(rng, x)) + 0.1
    else:
        spread = np.exp(0.6 * standardised(random_function(rng, [x], [rng.gamma(5, 0.25)])))
    return x, curve + rng.uniform(0.3, 0.8) * spread * rng.standard_normal(n)


def functional_pair(rng, n, kind):
    """Return a pair `x = f(e, z)`, `y = g(x, u, z)` with a little measurement error; z only if there is a hidden cause."""
    plain, hidden = kind == "nearly normal", kind == "hidden cause"
    e, u, z = (random_sample(rng, n, 1000.0 if plain else rng.gamma(5, 0.2)) for _ in range(3))
    others = [z] if hidden else []
    lengths = [rng.gamma(5, 0.4) for _ in others]
    x = e if plain else standardised(random_function(rng, [e, *others], [rng.gamma(5, 0.3), *lengths]))
    length = rng.gamma(5, 2.0) if plain or kind == "low noise" else rng.gamma(5, 0.4)
    y = standardised(random_function(rng, [x, u, *others], [rng.gamma(5, 0.3), length, *lengths]))
    error = 0.002 if kind == "low noise" else rng.gamma(2, 0.02)
    return x + error * rng.standard_normal(n), y + error * rng.standard_normal(n)


def pair(kind, seed, n=ROWS):
    """Return a table of two columns; the first is the cause."""
    number = [*KINDS, CONTROL].index(kind)
    make = straight_pair if number < 6 or kind == CONTROL else curved_pair if number < 11 else functional_pair
    return np.column_stack(make(np.random.default_rng([seed, number]), n, kind))


def fitted(kind, seed, n):
    """Return HOST() fitted to a pair; the columns of every other pair are swapped."""
    from heterodag import HOST

    X = pair(kind, seed, n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return HOST().fit(X[:, ::-1] if seed % 2 else X)


def row_of(kind, seed, model):
    right = (int(model.order_[0]) == seed % 2) if model.adjacency_.any() else ""
    nats = np.nanmax(model.direction_nats_) if model.adjacency_.any() else 0.0
    return {"kind": kind, "seed": seed, "right": int(right) if right != "" else "", "nats": f"{nats:.2f}",
            "open": int(model.open_.any()) if right != "" else ""}  # fmt: skip


def cell(kind, seed):
    return [row_of(kind, seed, fitted(kind, seed, ROWS))]


def sized_cell(kind, seed, n):
    """Return a row that also says by what factor the spread moves per standard deviation of the cause, up or down."""
    model = fitted(kind, seed, n)
    factors = [f"{np.exp(abs(np.log(factor))):.3f}" for factor in model.edges()["spread_effect"]]
    return [row_of(kind, seed, model) | {"rows": n, "spread_effect": "".join(factors)}]


def ablated_cell(variant, kind):
    """Return a row: in how many pairs the true direction has the smaller loss, with a part of the models left out."""
    from importlib import import_module

    from heterodag.core.table import Table
    from heterodag.scores.competition import CompetingFitter
    from heterodag.scores.fit import Effort
    from heterodag.scores.local import LocalScores

    if VARIANTS[variant] is not None:
        module, name, value = VARIANTS[variant]
        module = import_module(f"heterodag.scores.{module}")
        before = getattr(module, name)
        setattr(module, name, value)
    right = 0
    for seed in range(TUNING_SEED, TUNING_SEED + TUNING_PAIRS):
        scores = LocalScores(Table.standardize(pair(kind, seed)), CompetingFitter())
        x, y_of_x, y, x_of_y = scores.losses([(0, ()), (1, (0,)), (1, ()), (0, (1,))], Effort.FINAL)
        right += x + y_of_x < y + x_of_y
    if VARIANTS[variant] is not None:
        setattr(module, name, before)
    return [{"left out": variant, "kind": kind, "pairs": TUNING_PAIRS, "right": int(right)}]


def main():
    parser = argparse.ArgumentParser(description="Directions of pairs.")
    parser.add_argument("commands", nargs="*", metavar="{run,sizes,ablate}")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    unknown = set(options.commands) - {"run", "sizes", "ablate"}
    if unknown:
        parser.error(f"there is no part {min(unknown)}: run, sizes and ablate are there")
    if "run" in options.commands:
        done = {(r["kind"], int(r["seed"])) for r in read(STORE)}
        cells = [
            (k, FIRST_SEED + t) for k in [*KINDS, CONTROL] for t in range(PAIRS) if (k, FIRST_SEED + t) not in done
        ]
        append_results(STORE, FIELDS, cell, cells, options.jobs, every=100)
    if "sizes" in options.commands:
        done = {(r["kind"], int(r["seed"]), int(r["rows"])) for r in read(SIZED)}
        cells = [(k, FIRST_SEED + t, n) for n in SIZES for k in KINDS for t in range(SIZED_PAIRS)]
        missing = [cell for cell in cells if cell not in done]
        append_results(SIZED, SIZED_FIELDS, sized_cell, missing, options.jobs, every=100)
    if "ablate" in options.commands:
        done = {(r["left out"], r["kind"]) for r in read(ABLATED)}
        cells = [(v, k) for v in VARIANTS for k in KINDS if (v, k) not in done]
        append_results(ABLATED, ("left out", "kind", "pairs", "right"), ablated_cell, cells, options.jobs, every=15)
    from pairs_page import write

    write()
    print("wrote docs/pairs.md")


if __name__ == "__main__":
    main()
