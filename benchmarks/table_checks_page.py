"""The page docs/data-check.md, from the rows of benchmarks/table_checks.py."""

from pages import made_with, prose, rows_in
from table_checks import CLEAN_COLUMNS, CLEAN_ROWS, FIRST_SEED, HARM_TABLES, PAPER, TABLES
from table_defects import DEFECTS, DEPENDENT, HARMS

_CARE = "read its edges with care"
#: Topic, check, severity, what it looks for, what to do.
CHECKS = (
    ("size", "few-rows", "amber; red", "below 100 rows, or fewer than columns; red if a fit refuses", "more rows"),
    ("size", "looked-at", "green", "for a [table on disk](how-to/tables-on-disk.md): how many rows were checked", "none"),
    ("size", "missing", "red", "missing values; with `missing='drop'` amber from 5 %", "fill in, or drop the rows"),
    ("rows", "random-walk", "red, refused", "rows so alike that most edges would be false", "differences; one row per unit"),
    ("rows", "autocorrelation", "amber; red", "rows like those before; red if worth a quarter of the rows", "the same"),
    ("rows", "drift", "amber", "rows alike only over long stretches: a trend, batches", "add what changes as a column"),
    ("rows", "sorted", "amber", "a column that never falls, or never rises, along the rows", "none if you sorted them"),
    ("rows", "repeated-units", "amber", "rows with the same whole number in a column are alike", "one row per unit"),
    ("rows", "repeated-rows", "amber; red", "copies of earlier rows; red from half of the rows", "leave them out"),
    ("columns", "running-number", "red", "the same step from row to row", "leave it out"),
    ("columns", "identifier", "amber", "whole numbers, all different, in order or without gaps", "leave it out"),
    ("columns", "two-values", "amber", "only two values", "use as conditions, or " + _CARE),
    ("columns", "labels", "amber", "at most 10 whole numbers: a class or a grade", "leave it out, or " + _CARE),
    ("columns", "counts", "amber", "small counts, up to a mean of about 12", _CARE),
    ("columns", "few-values", "amber", "at most 10 other values", _CARE),
    ("columns", "rounding", "amber", "rounded to 0.3 standard deviations or more", "more digits"),
    ("columns", "text, constant", "red", "a fit refuses these", "leave it out"),
    ("values", "codes", "red; amber", "-999, 9999, far from other values; amber for -1 below positives", "use empty cells"),
    ("values", "extreme-values", "amber; red", "far beyond the next value; red from 1000 times as far", "correct the cell"),
    ("values", "limit", "amber", "at least 3 % of the rows at the lowest or highest value", "leave those rows out"),
    ("values", "repeated-value", "amber", "at least 3 % of the rows at one value, as if imputed", "leave those rows out"),
    ("values", "infinite", "red", "infinite values: a fit refuses these", "replace them"),
    ("overlap", "near-copies", "amber", "rank correlation of two columns above 0.999", "keep one"),
    ("overlap", "near-collinear", "amber", "other columns explain more than 99.9 % of a column", "leave one out"),
    ("overlap", "copies", "red", "exact copies and linear functions: a fit refuses these", "leave one out"),
)  # fmt: skip

INTRODUCTION = """# The check of a table

Check the table before a fit:

```python
from heterodag import check_table, load_sachs

found = check_table(load_sachs().data)
print(found)  # one line per finding: severity, topic, sentence, remedy
print(found.worst)  # "green", "amber" or "red"
table = found.frame()  # columns and rows that each finding is about
```

On the command line: `heterodag check my.csv` ([options](command-line.md)). Rows are counted from 0.

- **Green**: fine.
- **Amber**: read the result with care, and try the remedy.
- **Red**: the result may mean nothing until you have tried the remedy, or a fit refuses the table.

Only one red finding refuses a table that could be fitted: `random-walk`. In most columns, neighbouring rows are then so much
alike that the table is worth an eighth of its rows, and about half of all pairs of unrelated columns would be joined (see
below). All other such findings are warnings: a label or a running number harms only the edges of its own column.
"""

LIMITS = """## What it cannot see
- **Repeated units whose rows are scattered**, unless a column of whole numbers identifies the units.
- **Dependence in a table that was sorted**: the order of collection is lost.
- **A row that is wrong in several columns at once.** In heavy-tailed tables an effect is extreme where its cause is, so such
  a row looks real.
- **Hidden common causes**, and rows from another population.

Dependence is judged on at most 20,000 rows, in runs of 1,000, and the kind of a column on at most 20,000 evenly spaced
rows. With conditions (`groups`, `--conditions`), rows are compared within each condition.
"""


def share(part, whole):
    return f"{100 * part / whole:.0f}" if whole else ""


def checks():
    yield "| topic | check | severity | what it looks for | remedy |"
    yield "|---|---|---|---|---|"
    for row in CHECKS:
        yield f"| {' | '.join(row)} |"


def defects(rows):
    yield "| defect | strengths | found | red |"
    yield "|---|---|---|---|"
    for defect in DEFECTS:
        found, red = [], []
        for strength in defect.strengths:
            key = ("defect", defect.name, str(strength))
            own = [r["found"] for r in rows if (r["kind"], r["name"], r["strength"]) == key]
            found.append(share(sum(map(bool, own)), len(own)))
            red.append(share(own.count("red"), len(own)))
        yield f"| {defect.name} | {strengths(defect)} | {', '.join(found)} | {', '.join(red)} |"


def strengths(defect):
    return f"{defect.unit}: {', '.join(f'{s:,}' for s in defect.strengths)}" if defect.unit else ""


def clean(rows):
    """Yield the lines about false alarms, the paper's simulations by themselves."""
    own = [r for r in rows if r["kind"] == "clean"]
    paper = {"/".join(part for part in world if part) for world in PAPER}
    yield "| clean tables | number | amber | red | alarms |"
    yield "|---|---|---|---|---|"
    parts = (
        ("worlds by name", [r for r in own if r["name"] not in paper]),
        ("the paper's simulations", [r for r in own if r["name"] in paper]),
        ("all", own),
    )
    for name, some in parts:
        amber, red = (sum(r["severity"] == severity for r in some) for severity in ("amber", "red"))
        kinds = sorted({check for r in some for check in r["checks"].split(";") if check})
        yield f"| {name} | {len(some)} | {amber} | {red} | {', '.join(kinds)} |"


def harms(rows):
    yield "| defect | strengths | errors per table |"
    yield "|---|---|---|"
    for defect in HARMS:
        errors = []
        for strength in defect.strengths:
            own = [int(r["wrong"]) for r in rows if (r["name"], r["strength"]) == (defect.name, str(strength))]
            errors.append(f"{sum(own) / max(len(own), 1):.1f}")
        yield f"| {defect.name} | {strengths(defect)} | {', '.join(errors)} |"


def page(rows, harm):
    """Return the page."""
    related = [int(r["true"]) for r in harm if r["name"] not in DEPENDENT]
    true = sum(related) / max(len(related), 1)
    sizes = ", ".join(f"{n:,}" for n in CLEAN_ROWS), ", ".join(map(str, CLEAN_COLUMNS))
    return "\n".join(
        [
            INTRODUCTION,
            "## The checks",
            "",
            *checks(),
            "",
            "A value is far beyond the next one if it is 5 times as far from the median (20 times in tables with heavy",
            "tails), and no other value in its row stands out.",
            "",
            "## What is found",
            "",
            f"Made by `python benchmarks/table_checks.py run`: {TABLES} tables per row, seeds from {FIRST_SEED}",
            "(thresholds were chosen on seeds below 3000); 300 or 1,000 rows, 5 or 20 columns, six worlds of `simulate` in",
            "turn. *Found* is the percentage of tables in which the right check finds the defect, *red* that in",
            "which this finding is red. A defect of columns affects one column.",
            f"Rows: {rows_in('table_checks.csv', 'table_checks_harm.csv')}.",
            "",
            prose(made_with("table_checks.csv", "table_checks_harm.csv")),
            "",
            *defects(rows),
            "",
            "## False alarms",
            "",
            "Simulated tables without a defect, from every world of `simulate`, ER and SF graphs of degree 1 and 2, with",
            f"{sizes[0]} rows and {sizes[1]} columns. An alarm is an amber or red finding.",
            "",
            *clean(rows),
            "",
            "## What defects do to a fit",
            "",
            f"Made by `python benchmarks/table_checks.py harm`: `HOST()` on {HARM_TABLES} tables per row, 500 rows, 5",
            "columns. An error is a missing, wrong or reversed edge. With dependent rows the five columns",
            "are unrelated, and each of 10 pairs may get an edge; in the other rows a table has",
            f"{true:.1f} true edges on average.",
            "",
            *harms(harm),
            "",
            LIMITS,
        ]
    )
