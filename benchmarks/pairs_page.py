"""The page on pairs, docs/pairs.md: made from stored rows by `pairs.py`."""

from pathlib import Path

import numpy as np

import figures
import pairs_methods
import real_pairs
from heterodag.pairs.scoring import accuracy_by_rate
from pages import details, made_with, prose, rows_in
from pairs import (
    ABLATED,
    CONTROL,
    FIRST_SEED,
    KINDS,
    PAIRS,
    ROWS,
    SIZED,
    SIZED_PAIRS,
    SIZES,
    STORE,
    TUNING_PAIRS,
    TUNING_SEED,
    VARIANTS,
    pair,
)
from rows import read

PAGE = Path(__file__).resolve().parents[1] / "docs" / "pairs.md"
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

Given two columns and nothing else, can HOST tell cause from effect? It compares both directions and no link at all, and
`direction_nats` says by how much the best of them wins; below 9 nats it leaves the direction open. Over all {kinds}
kinds of pairs, {right:.0f} % of the directions are right (guessing gives 50 %). Of those it does not leave open,
{said:.1f} % are right. The hardest kind is "{worst}", with {least:.0f} % right and {open:.0f} % left open.

{version}"""
EXAMPLE = """\
```python
from heterodag import HOST, simulate
from heterodag.pairs import direction

table = simulate(1000, 2, graph="chain", mechanism="curved", noise="uniform", random_state=1).to_frame()
print(HOST().fit(table).edges()[["cause", "effect", "open"]])
print(direction(table["x0"], table["x1"]).direction)
```

<!-- output -->
```text
  cause effect   open
0    x1     x0  False
<-
```"""
HOW = """{pairs} pairs of each kind, {rows} rows, seeds from {seed}; choices were made on seeds below 1000. The kinds
resemble those of public collections; the generator is our own, and no public pair was used. Written by `python
benchmarks/pairs.py` from {files}; the same command with `run` or `ablate` makes the rows.

- *Right*: share of all pairs whose better direction is the true one, open or not.
- *Decided*: share of pairs with an arrowhead. *Right of these*: how many of them point the right way.
- *No edge*: pairs in which no edge was found."""


PUBLISHED = """## Public collections

The public sets are not part of this repository. As published in the result files of LOCI, ROCHE, SkewD and GRCI, the best
methods there are right on these shares of pairs:

| set | best published accuracy | resembles |
|---|---:|---|
| AN, AN-s, LS, LS-s, MN-U (Tagasovska et al. 2020) | 100 % | additive, location-scale, multiplicative |
| SIM (Mooij et al. 2016) | 78 % | any function |
| SIM-c | 82 % | hidden cause |
| SIM-ln | 87 % | low noise |
| SIM-G | 88 % | nearly normal |
| Tuebingen pairs (real data) | 77 to 82 % | |

The simulated ones are other pairs than ours: do not compare their figures with the tables above. The published figures on
real pairs belong to more pairs and other weights than [ours](#real-pairs). To measure heterodag on such a set, download it
and run `heterodag pairs FOLDER` ([command line](command-line.md#pairs)); it prints the weighted accuracy, accuracy by
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
        version=made_with(STORE.name, SIZED.name, ABLATED.name, pairs_methods.STORE.name, real_pairs.STORE.name),
    )


BESIDE = """## Other methods

Share of right directions on the same pairs, both columns scaled to variance 1; every method must decide, and a tie counts
as half. The best of each line is bold. HOST.paper is the paper's order; CAM and DirectLiNGAM assume additive noise, CAM
with curves, DirectLiNGAM with straight lines. IGCI, RECI and CDS come from the Causal Discovery Toolbox (cdt), with its
defaults. Methods that compare variances alone (EqVar, VarSort) have nothing to go by in two scaled columns. Rows:
{file}, made by `python benchmarks/pairs_methods.py --methods NAME ...`, whose first lines say what each needs."""


SIZED_TEXT = """## Fewer and more rows

The first {pairs} pairs of each kind with other numbers of rows: right directions, and in brackets how many pairs have an
arrowhead. Rows: {file}, made by `python benchmarks/pairs.py sizes`.

Where the model is right, what is open with few rows is decided with more. *gumbel* needs the most, and only where the effect
rises with its cause: of the {rising} such pairs above, {rising_right} are right, of the {falling} others {falling_right}. If
cause and noise both have this shape and the slope is 1, the logarithm of the density of x given y is, up to terms in
y alone,
-2 exp(-y/2) cosh(x-y/2): symmetric noise around a line, with a spread that grows with y. HOST allows a moving spread, so
the wrong direction fits nearly as well: with {rows:,} rows, the spread moves by a factor of {wrong:.2f} per standard
deviation (median) in the pairs that it gets wrong, and by {right:.2f} in the others. DirectLiNGAM is told that the spread is
constant ([below](#other-methods)), which rules that model out.

With a *hidden cause* more rows make HOST surer, but its arrows are wrong about as often: with {few:,} rows
{few_decided:.0f} % are decided and {few_wrong:.0f} % of these are wrong, with {many:,} rows {many_decided:.0f} % and
{many_wrong:.0f} %."""


def by_rows(sized):
    """Return number of rows -> kind -> shares of right and of decided directions."""
    out = {}
    for n in SIZES:
        for kind in KINDS:
            own = [row for row in sized if (row["rows"], row["kind"]) == (str(n), kind)]
            out.setdefault(n, {})[kind] = tuple(
                float(np.mean([row[key] == value for row in own])) for key, value in (("right", "1"), ("open", "0"))
            )
    return out


def moving_spread(sized):
    """Return the median factor by which the spread moves in Gumbel pairs, in those that are wrong and the others."""
    own = [row for row in sized if (row["rows"], row["kind"]) == (str(ROWS), "gumbel")]
    return tuple(float(np.median([float(r["spread_effect"]) for r in own if r["right"] == one])) for one in "01")


def by_slope(rows):
    """Return the Gumbel pairs whose effect rises with its cause, and those where it falls: (pairs, right ones) of each."""
    out = {True: [], False: []}
    for row in rows:
        if row["kind"] == "gumbel":
            out[bool(np.corrcoef(pair("gumbel", int(row["seed"])).T)[0, 1] > 0)].append(row["right"] == "1")
    return tuple((len(found), sum(found)) for found in (out[True], out[False]))


def misled(sized, n, kind="hidden cause"):
    """Return the percentage of pairs that are decided, and of these the percentage that is wrong."""
    own = [row for row in sized if (row["rows"], row["kind"]) == (str(n), kind)]
    decided = [row for row in own if row["open"] == "0"]
    return 100 * len(decided) / len(own), 100 * np.mean([row["right"] == "0" for row in decided])


def sizes(rows, sized):
    """Yield the section on other numbers of rows."""
    found, (wrong, right) = by_rows(sized), moving_spread(sized)
    (rising, rising_right), (falling, falling_right) = by_slope(rows)
    few, *_, many = SIZES
    (few_decided, few_wrong), (many_decided, many_wrong) = misled(sized, few), misled(sized, many)
    yield prose(
        SIZED_TEXT, pairs=SIZED_PAIRS, file=rows_in(SIZED.name), rows=ROWS, wrong=wrong, right=right, rising=rising,
        rising_right=rising_right, falling=falling, falling_right=falling_right, few=few, few_decided=few_decided,
        few_wrong=few_wrong, many=many, many_decided=many_decided, many_wrong=many_wrong,
    )  # fmt: skip
    yield ""
    yield "| kind | " + " | ".join(f"{n:,} rows" for n in found) + " |"
    yield "|---|" + "---:|" * len(found)
    for kind in KINDS:
        cells = [f"{100 * own[kind][0]:.0f} % ({100 * own[kind][1]:.0f} %)" for own in found.values()]
        yield f"| {kind} | " + " | ".join(cells) + " |"


def beside(rows, methods):
    """Yield the section on other methods."""
    yield prose(BESIDE, file=rows_in(pairs_methods.STORE.name))
    yield ""
    yield from pairs_methods.table(methods, rows)


def page(rows, sized, ablated, methods, real):
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
            *sizes(rows, sized),
            "",
            *beside(rows, methods),
            "",
            "## What each part of the model contributes",
            "",
            f"Right directions out of {TUNING_PAIRS} pairs of each kind when one part is left out, on seeds from",
            f"{TUNING_SEED} (`python benchmarks/pairs.py ablate`). [Constants](constants.md) explains the parts.",
            "",
            *ablations(ablated),
            "",
            *real_pairs.section(real),
            "",
            prose(PUBLISHED),
            "",
        ]
    )


def stored():
    """Return what the page is made from."""
    return [read(store) for store in (STORE, SIZED, ABLATED, pairs_methods.STORE, real_pairs.STORE)]


def write():
    """Write the page and its figure."""
    PAGE.write_text(page(*stored()), encoding="utf-8")
    draw(curves(read(STORE)))
