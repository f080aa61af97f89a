"""The rows of long tables: within their limits, and the page says what they say."""

import itertools

import figures
import long_tables
import long_tables_page
from pages import DOCS
from rows import read


def rows():
    return [row for row in read(long_tables.PATH) if row["where"] == "disk"]


def test_every_fit_stayed_within_its_limit():
    assert rows()
    assert all(max(float(row["peak"]), float(row["worker"])) * 2**20 < long_tables.LIMIT for row in rows())


def test_more_rows_miss_fewer_edges():
    for seed in {row["seed"] for row in rows()}:
        own = sorted((int(row["n"]), int(row["missed"])) for row in rows() if row["seed"] == seed)
        assert all(later <= earlier for (_, earlier), (_, later) in itertools.pairwise(own))


def test_the_page_and_its_figure_are_made_from_the_rows(tmp_path):
    long_tables_page.write(tmp_path / "page.md", draw_figure=False)
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == (DOCS / "long-tables.md").read_text(encoding="utf-8")
    assert figures.up_to_date(long_tables_page.PICTURE, long_tables_page.growth())
