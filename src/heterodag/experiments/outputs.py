"""Write the files of an experiment from its rows: NAME.csv, NAME.md and, for figures, NAME.svg and NAME.png."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heterodag.experiments.catalogue import Experiment
from heterodag.experiments.figures import draw
from heterodag.experiments.growth import growth_table, runtime_summary
from heterodag.experiments.run_cell import Row
from heterodag.experiments.summary import summarise, versions
from heterodag.experiments.summary_tables import growth_markdown, sachs_markdown, summary_tables
from heterodag.io.writing import write_all

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

RESOLUTION = 110


def summary_of(experiment: Experiment, rows: Sequence[Row]) -> pd.DataFrame:
    """Return the summary from which the experiment's table and figure are made."""
    return runtime_summary(rows, experiment) if experiment.axis == "n and d" else summarise(rows, experiment)


def tables_of(experiment: Experiment, summary: pd.DataFrame) -> str:
    """Return the summary as Markdown tables."""
    if summary.empty:
        return "No cell has been run.\n"
    if experiment.axis == "table":
        return sachs_markdown(summary)
    if experiment.axis == "n and d":
        return growth_markdown(growth_table(summary))
    return summary_tables(summary, experiment)


def write_outputs(
    experiment: Experiment, rows: Sequence[Row], folder: Path, pictures: Path | None = None
) -> list[Path]:
    """Write the tables and the figure of an experiment; return the files.

    Parameters
    ----------
    experiment : Experiment
        From the catalogue.
    rows : sequence of dict
        Its rows, from the store.
    folder : Path
        Where the files go.
    pictures : Path, optional
        Where the pictures go, if not to `folder`.
    """
    summary = summary_of(experiment, rows)
    numbers = as_csv(summary)
    page = f"# {experiment.title}\n\n{data_of(experiment, rows)}\n\n{tables_of(experiment, summary)}{made_by(rows)}"
    written = write_all({f"{experiment.name}.csv": numbers, f"{experiment.name}.md": page}, folder)
    figure = draw(summary, experiment)
    if figure is not None:
        drawn = {f"{experiment.name}.{kind}": picture(figure, kind, source_note(numbers)) for kind in ("svg", "png")}
        written += write_all(drawn, folder if pictures is None else pictures)
    return written


def data_of(experiment: Experiment, rows: Sequence[Row]) -> str:
    """Return on which data the experiment is, and on which fewer ones its rows are if some are not there."""
    wanted = {_data_set(cell.settings()) for cell in experiment.cells("full")}
    found = {_data_set(row) for row in rows}
    if not rows or wanted <= found:
        return f"{experiment.setting}."
    n, d = (sorted({row[key] for row in rows}) for key in ("n", "d"))
    return (
        f"At full scale: {experiment.setting}.\n\nThese numbers are of a smaller run: {len(found)} data sets instead of "
        f"{len(wanted)}, with {_listed(n)} rows and {_listed(d)} columns."
    )


def _data_set(row: Row) -> tuple[Any, ...]:
    return tuple(row[key] for key in ("source", "mechanism", "graph", "n", "d", "repeat"))


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(f"{number:,}" for number in numbers)


def made_by(rows: Sequence[Row]) -> str:
    """Return which versions of the package made the rows, as far as the rows say so."""
    found = versions(rows)
    return f"\nRows made by heterodag {', '.join(found)}.\n" if found else ""


def as_csv(summary: pd.DataFrame) -> str:
    """Return a summary as CSV, with few enough digits to be the same on every machine."""
    return summary.to_csv(index=False, lineterminator="\n", float_format="%.6g")


def source_note(numbers: str) -> str:
    """Return the note in a picture about the numbers it was drawn from."""
    return f"Drawn from numbers with SHA-256 {hashlib.sha256(numbers.encode()).hexdigest()}"


def picture(figure: Figure, kind: str, source: str = "") -> bytes:
    """Return a figure as SVG or PNG, the same bytes for the same data; `source` is noted in the file."""
    import matplotlib as mpl

    buffer = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
    with mpl.rc_context({"svg.hashsalt": "heterodag"}):
        figure.savefig(buffer, format=kind, dpi=RESOLUTION, metadata=metadata | {"Description": source})
    return buffer.getvalue()
