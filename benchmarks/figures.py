"""Figures of the result pages: one look, text that stays text, and a mark of the numbers they were drawn from."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "heterodag", "font.family": "sans-serif", "font.size": 9}
#: Colours that people with any colour vision can tell apart (Okabe and Ito).
COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")
MARKERS = "osD^vPX*<>hd"

#: Label -> the points of a curve: x, y.
Curves = Mapping[str, tuple[Sequence[float], Sequence[float]]]


def note(curves: Curves) -> str:
    """Return a mark of the numbers behind a figure: the page and its figure agree if the file holds it."""
    text = repr([(label, [f"{v:.6g}" for v in (*x, *y)]) for label, (x, y) in curves.items()])
    return f"numbers {zlib.crc32(text.encode()):08x}"


def axes(width: float = 6.4, height: float = 3.8, panels: int = 1, columns: int | None = None) -> list[Axes]:
    """Return the axes of a new figure, without frames above and on the right, side by side or so many in a row."""
    columns = columns or panels
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        out = list(figure.subplots(-(-panels // columns), columns, squeeze=False).flat)
    for one in out[panels:]:
        one.remove()
    del out[panels:]
    for one in out:
        one.spines[["top", "right"]].set_visible(False)
        one.grid(True, color="0.92", linewidth=0.6)
        one.set_axisbelow(True)
    return out


def save(figure: Figure, name: str, curves: Curves) -> None:
    """Write a figure as docs/images/NAME.svg."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        figure.savefig(
            IMAGES / f"{name}.svg", metadata={"Date": None, "Description": note(curves)}, facecolor="white"
        )


def up_to_date(name: str, curves: Curves) -> bool:
    """Return whether the stored figure was drawn from these numbers."""
    return note(curves) in (IMAGES / f"{name}.svg").read_text(encoding="utf-8")
