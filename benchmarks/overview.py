"""The figures of the former default on the page of all results: `python benchmarks/overview.py`.

What is between the two marks of docs/results-overview.md (of README.md, in a clone without that page) is made from stored
rows.
"""

import numpy as np

import accuracy
from pages import DOCS
from rows import RESULTS, read

BEGIN, END = "<!-- figures:begin -->", "<!-- figures:end -->"
#: Generators of the paper's simulation, and how the table calls them.
GENERATORS = {"text": "paper's text", "code": "authors' code"}


def target():
    """Return the page that has the figures."""
    overview = DOCS / "results-overview.md"
    return overview if overview.exists() else DOCS.parent / "README.md"


def refined():
    """Return order divergence beside a sort by marginal normality, and SHD per edge, by generator and rows."""
    rows = read(RESULTS / "refinement_small.csv")
    found = {}
    for key in {(r["generator"], int(r["n"])) for r in rows}:
        some = [r for r in rows if (r["generator"], int(r["n"])) == key]
        order, marginal, shd, edges = (sum(float(r[k]) for r in some) for k in ("order", "marginal", "shd", "edges"))
        found[key] = f"{order / marginal:.2f}", f"{shd / edges:.2f}"
    return found


def by_normality():
    """Return the same of the order by normality alone, without SHD."""
    rows = accuracy.stored("order")
    found = {}
    for key in {(r["version"], r["n"]) for r in rows}:
        some = [r for r in rows if (r["version"], r["n"]) == key]
        found[key] = f"{sum(r['host'] for r in some) / sum(r['marginal_w'] for r in some):.2f}"
    return found


def beside_the_script():
    """Return in how many settings of the authors' data sets HOST beats their script, and how many there are."""
    rows = accuracy.stored("reference")
    sums = {}
    for r in rows:
        sums.setdefault((r["n"], r["graph"]), []).append((r["host"], r["script"]))
    return sum(np.sum(pairs, axis=0)[0] < np.sum(pairs, axis=0)[1] for pairs in sums.values()), len(sums)


def edge_test():
    """Return levels at 0.05 and powers at 0.001 of the edge test in per cent, by generator and rows."""
    rows = accuracy.stored("edges")
    levels, powers = {}, {}
    for key in {(r["version"], r["n"]) for r in rows}:
        null, edge = (
            [r["pvalue"] for r in rows if (r["version"], r["n"], r["edge"]) == (*key, edge)] for edge in (0, 1)
        )
        levels[key], powers[key] = 100 * np.mean(np.less(null, 0.05)), f"{100 * np.mean(np.less(edge, 0.001)):.0f}"
    return levels, powers


def table():
    """Return the lines of the table: what was measured, for both generators and two numbers of rows."""
    order, plain, (_, power) = refined(), by_normality(), edge_test()
    lines = (
        ("errors of the order, as a share of those of a plain sort by normality", "refinement.py small", [
            order[g, n][0] for g in GENERATORS for n in (500, 5000)
        ]),
        ("the same without refinement (`refine=False`)", "accuracy.py order", [
            plain[g, n] for g in GENERATORS for n in (500, 5000)
        ]),
        ("SHD per true edge", "refinement.py small", [order[g, n][1] for g in GENERATORS for n in (500, 5000)]),
        ("true edges found by `likelihood-full` at 0.001, given a true order (500 and 3000 rows)", "accuracy.py edges", [
            f"{power[g, n]} %" for g in GENERATORS for n in (500, 3000)
        ]),
    )  # fmt: skip
    heads = [f"{name}, {n} rows" for name in GENERATORS.values() for n in (500, 5000)]
    yield f"| 10 columns, paper's simulation | {' | '.join(heads)} | made by |"
    yield "|---|---:|---:|---:|---:|---|"
    for what, command, values in lines:
        yield f"| {what} | {' | '.join(values)} | `python benchmarks/{command}` |"


def sentences():
    """Return the other figures, a list item each."""
    (fewer, settings), (levels, _), sachs = beside_the_script(), edge_test(), accuracy.stored("sachs")
    mean = {key: f"{np.mean([r[key] for r in sachs]):.1f}" for key in sachs[0]}
    yield (
        f"- False alarms: `likelihood-full` at level 0.05 draws {min(levels.values()):.0f} to "
        f"{max(levels.values()):.0f} % of the absent edges (`python benchmarks/accuracy.py edges`)."
    )
    yield (
        f"- The authors' data sets: fewer errors of the order than their script in {fewer} of {settings} settings\n"
        "  (`python benchmarks/accuracy.py reference --reference DIR`)."
    )
    yield (
        f"- Sachs, ten subsamples of 700 rows: order divergence {mean['order_divergence']} (paper: 4.4), SHD "
        f"{mean['shd_likelihood-full']} with `likelihood-full` edges,\n  {mean['shd_gam']} with GAM edges "
        "(`python benchmarks/accuracy.py sachs`)."
    )


def written(text):
    """Return the text of a page with the figures between its marks made anew."""
    before, rest = text.split(BEGIN)
    figures = "\n".join([*table(), "", *sentences()])
    return f"{before}{BEGIN}\n{figures}\n{END}{rest.split(END)[1]}"


def main():
    page = target()
    page.write_text(written(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
