"""Draw the graph of the README: HOST on the Sachs data.

Run it from the root of a clone: `python examples/readme_figure.py [FILE]`.
"""

import sys
from pathlib import Path

import matplotlib

from heterodag import HOST, load_sachs
from heterodag.viz import plot_graph

DEFAULT = Path(__file__).resolve().parents[1] / "docs" / "images" / "sachs.svg"


def main(path: Path) -> None:
    # Text stays text and ids are fixed: a small file that changes only when the graph does.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "heterodag", "font.family": "sans-serif"})
    axes = plot_graph(HOST().fit(load_sachs().data))
    path.parent.mkdir(parents=True, exist_ok=True)
    axes.figure.savefig(path, metadata={"Date": None}, facecolor="white")
    print(f"Wrote {path.name}.")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT)
