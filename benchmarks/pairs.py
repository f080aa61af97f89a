"""Which of two columns is the cause? `python benchmarks/pairs.py [run] [ablate] [--jobs N]`.

`run` fits HOST() to pairs of 15 kinds and stores one row per pair in benchmarks/results/pairs.csv; what is there is not run
again. `ablate` leaves parts of the models out, on other seeds (benchmarks/results/pairs_ablations.csv). Without either, only
docs/pairs.md is made from the rows. The kinds follow the public collections in spirit: additive and
location-scale noise, multiplicative uniform noise (Tagasovska et al. 2020), and functions of cause and noise drawn from
Gaussian processes, with and without a hidden common cause (Mooij et al. 2016). The generator is our own.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import warnings
from pathlib import Path

import numpy as np

import figures
from heterodag.pairs.scoring import accuracy_by_rate
from pages import details, made_with, prose, rows_in
from rows import RESULTS, append_results, read

FIRST_SEED, PAIRS, ROWS = 90_000, 100, 1000
FIELDS = ("kind", "seed", "right", "nats", "open")
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
STORE, PAGE = RESULTS / "pairs.csv", Path(__file__).resolve().parents[1] / "docs" / "pairs.md"
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
#: Curves of the figure -> kinds.
GROUPS = {
    "straight line, other noise": list(KINDS)[:6],
    "additive": ["additive", "additive sigmoid"],
    "location-scale": ["location-scale", "location-scale sigmoid"],
    "multiplicative": ["multiplicative"],
    "random function": ["any function", "low noise"],
    "hidden cause": ["hidden cause"],
    "nearly normal": ["nearly normal"],
}


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


def cell(kind, seed):
    from heterodag import HOST

    X = pair(kind, seed)
    swapped = seed % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HOST().fit(X[:, ::-1] if swapped else X)
    right = (int(model.order_[0]) == swapped) if model.adjacency_.any() else ""
    nats = np.nanmax(model.direction_nats_) if model.adjacency_.any() else 0.0
    return [{"kind": kind, "seed": seed, "right": int(right) if right != "" else "", "nats": f"{nats:.2f}",
             "open": int(model.open_.any()) if right != "" else ""}]  # fmt: skip


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


def ablations(rows):
    """Yield the lines of a table: right directions without each part of the models."""
    yield "| left out | " + " | ".join(KINDS) + " | all |"
    yield "|---|" + "---:|" * (len(KINDS) + 1)
    for variant in VARIANTS:
        own = {r["kind"]: int(r["right"]) for r in rows if r["left out"] == variant}
        every = 100 * sum(own.values()) / (TUNING_PAIRS * max(len(own), 1))
        yield f"| {variant} | " + " | ".join(str(own.get(kind, "")) for kind in KINDS) + f" | {every:.1f} % |"


def summary(rows):
    """Yield the lines of the table: for each kind, how often the direction is right, and how often it is decided."""
    yield "| kind | right | decided | right of these | no edge |"
    yield "|---|---:|---:|---:|---:|"
    for kind in KINDS:
        own = [r for r in rows if r["kind"] == kind]
        edges = [r for r in own if r["right"] != ""]
        said = [r for r in edges if r["open"] == "0"]
        right, sure = (sum(r["right"] == "1" for r in some) for some in (edges, said))
        share = f"{100 * sure / len(said):.0f} %" if said else ""
        yield (
            f"| {kind} | {100 * right / len(own):.0f} % | {100 * len(said) / len(own):.0f} % | {share} |"
            f" {len(own) - len(edges)} |"
        )


def curves(rows):
    """Return label -> decision rates and accuracies: among the pairs with the most nats, how many are right."""
    out = {}
    for label, kinds in GROUPS.items():
        own = [r for r in rows if r["kind"] in kinds]
        nats, right = (
            np.array([float(r["nats"]) for r in own]),
            np.array([r["right"] == "1" for r in own], dtype=float),
        )
        out[label] = accuracy_by_rate(nats, right, np.ones(len(own)))
    return out


def area(curve):
    """Return the area under accuracy by decision rate."""
    rates, accuracies = curve
    return float(np.diff(rates, prepend=0.0) @ accuracies)


def areas(found):
    """Yield the table beside the figure."""
    yield "| kinds | right, surest quarter | surest half | all | area under the curve |"
    yield "|---|---:|---:|---:|---:|"
    for label, (rates, accuracies) in found.items():
        cells = [f"{100 * accuracies[min(np.searchsorted(rates, rate - 1e-9), len(rates) - 1)]:.1f} %"
                 for rate in (0.25, 0.5, 1.0)]  # fmt: skip
        yield f"| {label} | {' | '.join(cells)} | {area((rates, accuracies)):.3f} |"


def draw(found):
    """Draw accuracy by decision rate."""
    (ax,) = figures.axes()
    for (label, (rates, accuracies)), colour in zip(found.items(), figures.COLOURS, strict=False):
        ax.plot(100 * rates, 100 * accuracies, color=colour, linewidth=1.6, label=label)
    ax.set(xlabel="pairs decided, the surest first (%)", ylabel="right (%)", xlim=(0, 100), ylim=(80, 100.5))
    ax.legend(frameon=False, loc="lower left", fontsize=8)
    figures.save(ax.figure, "pairs", found)


def control(rows):
    """Return the sentence on pairs whose direction nobody can tell."""
    own = [r for r in rows if r["kind"] == CONTROL]
    decided = sum(r["open"] == "0" for r in own)
    right = 100 * np.mean([r["right"] == "1" for r in own])
    return (
        f"As a control, {len(own)} pairs with a straight line and normal cause and noise, in which both directions fit "
        f"equally well: {decided} of them are decided, and {right:.0f} % of all directions are right, open or not."
    )


def by_rate(rows, kinds):
    """Yield how often the direction is right if only the surest pairs are decided."""
    own = sorted((r for r in rows if r["kind"] in kinds), key=lambda r: -float(r["nats"]))
    yield "| decided, the surest first | right |"
    yield "|---|---:|"
    for share in (0.25, 0.5, 0.75, 1.0):
        some = own[: round(share * len(own))]
        yield f"| {100 * share:.0f} % | {100 * sum(r['right'] == '1' for r in some) / len(some):.1f} % |"


HEAD = """# Which of two columns is the cause?

Given two columns and nothing else, can HOST tell cause from effect? It compares both directions, and
`direction_nats` says by how much the better one wins; below 9 nats it leaves the direction open. Over all {kinds}
kinds of pairs, {right:.0f} % of the directions are right (guessing gives 50 %). Of those it does not leave open,
{said:.1f} % are right. The hardest kind is "{worst}", with {least:.0f} % right and {open:.0f} % left open.

{version}"""
EXAMPLE = """\
```python
from heterodag import HOST, simulate
from heterodag.pairs import direction

table = simulate(1000, 2, mechanism="curved", noise="uniform", random_state=1).to_frame()
print(HOST().fit(table).edges()[["cause", "effect", "direction_nats", "open"]])
print(direction(table["x0"], table["x1"]))
```"""
HOW = """{pairs} pairs of each kind, {rows} rows, seeds from {seed}; choices were made on seeds below 1000. The kinds
resemble those of public collections; the generator is our own, and no public pair was used. Written by `python
benchmarks/pairs.py` from {files}; the same command with `run` or `ablate` makes the rows.

- *Right*: share of all pairs whose better direction is the true one, open or not.
- *Decided*: share of pairs with an arrowhead. *Right of these*: how many of them point the right way.
- *No edge*: pairs in which no edge was found."""


PUBLISHED = """## Public collections

The public sets are not part of this repository, and no figure above comes from them. As published in the result files
of LOCI, ROCHE, SkewD and GRCI, the best methods there are right on these shares of pairs:

| set | best published accuracy | resembles |
|---|---:|---|
| AN, AN-s, LS, LS-s, MN-U (Tagasovska et al. 2020) | 100 % | additive, location-scale, multiplicative |
| SIM (Mooij et al. 2016) | 78 % | any function |
| SIM-c | 82 % | hidden cause |
| SIM-ln | 87 % | low noise |
| SIM-G | 88 % | nearly normal |
| Tuebingen pairs (real data) | 77 to 82 % | |

These are other pairs than ours: do not compare the figures with the tables above. To measure heterodag on them, download a
set and run `heterodag pairs FOLDER` ([command line](command-line.md#pairs)); it prints the weighted accuracy, accuracy by
decision rate and the area under that curve."""


def lead(rows):
    """Return the top of the page, with the figures of the stored rows."""
    rows = [r for r in rows if r["kind"] in KINDS]
    decided = [r for r in rows if r["open"] == "0"]
    right, said = (100 * np.mean([r["right"] == "1" for r in some]) for some in (rows, decided))
    shares = {kind: 100 * np.mean([r["right"] == "1" for r in rows if r["kind"] == kind]) for kind in KINDS}
    worst = min(shares, key=shares.get)
    left_open = 100 * np.mean([r["open"] != "0" for r in rows if r["kind"] == worst])
    return prose(
        HEAD,
        kinds=len(KINDS),
        right=right,
        said=said,
        worst=worst,
        least=shares[worst],
        open=left_open,
        version=made_with(STORE.name, ABLATED.name),
    )


def page(rows, ablated):
    functional = list(KINDS)[11:]
    how = prose(HOW, pairs=PAIRS, rows=ROWS, seed=FIRST_SEED, files=rows_in(STORE.name, ABLATED.name))
    return "\n".join(
        [
            lead(rows),
            "",
            EXAMPLE,
            "",
            how,
            "",
            *summary(rows),
            "",
            prose(control(rows)),
            "",
            "## Accuracy by decision rate",
            "",
            "If only the surest pairs are decided (those with the most nats), how many are right? A method whose nats can",
            "be believed has a curve that falls to the right.",
            "",
            "![Share of right directions against the share of pairs that is decided](images/pairs.svg)",
            "",
            *areas(curves(rows)),
            "",
            *details("What the kinds are", (f"- *{kind}*: {what}" for kind, what in KINDS.items())),
            "",
            "## Where the model is wrong",
            "",
            "In the last four kinds, noise is not added to the mean but enters the function as the cause does. The model is",
            "wrong in both directions there, and more evidence is needed before an arrow can be trusted:",
            "",
            *by_rate(rows, functional),
            "",
            "All other kinds together:",
            "",
            *by_rate(rows, list(KINDS)[:11]),
            "",
            "## What each part of the model contributes",
            "",
            f"Right directions out of {TUNING_PAIRS} pairs of each kind when one part is left out, on seeds from",
            f"{TUNING_SEED} (`python benchmarks/pairs.py ablate`). [Constants](constants.md) explains the parts.",
            "",
            *ablations(ablated),
            "",
            PUBLISHED,
            "",
        ]
    )


def main():
    parser = argparse.ArgumentParser(description="Directions of pairs.")
    parser.add_argument("commands", nargs="*", choices=["run", "ablate", []])
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if "run" in options.commands:
        done = {(r["kind"], int(r["seed"])) for r in read(STORE)}
        cells = [
            (k, FIRST_SEED + t) for k in [*KINDS, CONTROL] for t in range(PAIRS) if (k, FIRST_SEED + t) not in done
        ]
        append_results(STORE, FIELDS, cell, cells, options.jobs, every=100)
    if "ablate" in options.commands:
        done = {(r["left out"], r["kind"]) for r in read(ABLATED)}
        cells = [(v, k) for v in VARIANTS for k in KINDS if (v, k) not in done]
        append_results(ABLATED, ("left out", "kind", "pairs", "right"), ablated_cell, cells, options.jobs, every=15)
    rows = read(STORE)
    PAGE.write_text(page(rows, read(ABLATED)), encoding="utf-8")
    draw(curves(rows))
    print("wrote docs/pairs.md")


if __name__ == "__main__":
    main()
