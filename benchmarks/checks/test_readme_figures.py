"""The README says in words what the stored rows of docs/worlds.md say in numbers, and its pictures are those of now."""

import re
from pathlib import Path

import readme_pictures
import real_pairs
from rows import RESULTS, read
from worlds import WORLDS
from worlds_page import INVISIBLE, methods_of, pick

ROOT = Path(__file__).resolve().parents[2]


def per_hundred(rows, key="shd"):
    return round(100 * sum(int(row[key]) for row in rows) / sum(int(row["edges"]) for row in rows))


def test_the_readme_quotes_the_worlds():
    stored = [row for row in pick(read(RESULTS / "worlds.csv"), "main") if not row["error"]]
    by_method = {name: [row for row in stored if row["method"] == name] for name in methods_of(stored)}
    host = by_method["HOST"]
    others = [name for name in by_method if not name.startswith("HOST")]
    best = min(per_hundred(by_method[name]) for name in others)
    of_worlds = [[row for row in host if row["world"] == world] for world in WORLDS]
    hardest, strict = (max(per_hundred(rows, key) for rows in of_worlds) for key in ("shd", "shd_strict"))
    assert strict == per_hundred([row for row in host if row["world"] == INVISIBLE], "shd_strict")
    wrong = sum(int(row["wrong"]) for row in host) / sum(int(row["drawn"]) for row in host)
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert (len(WORLDS), len(host), len(others)) == (12, 240, 8)
    for told in (
        "Twelve kinds of simulated data, 240 tables of 10 columns and 1,000 rows",
        f"HOST has an SHD of {per_hundred(host)} if an arrow left open counts as right",
        f"and of {per_hundred(host, 'shd_strict')} if it counts as wrong.",
        f"The best of eight other methods has {best};",
        f"The hardest kind costs HOST {hardest}; counted the strict way, {strict}, where most directions cannot be seen.",
        f"Of the arrows that it drew, {wrong:.1%}".replace("%", " %") + " were wrong",
    ):
        assert told in text


def test_the_readme_quotes_the_real_pairs():
    stored = read(real_pairs.STORE)
    host = [row for row in stored if row["method"] == real_pairs.HOST]
    others = [
        100 * real_pairs.share([row for row in stored if row["method"] == method])
        for method in real_pairs.METHODS if method != real_pairs.HOST
    ]  # fmt: skip
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"Of [{len(host)} pairs of real columns]" in text
    assert f"it gets {100 * real_pairs.share(host):.0f} % right" in text
    assert len(others) == 6
    assert f"six other methods {min(others):.0f} to {max(others):.0f} %" in text


def test_the_pictures_are_those_of_now(tmp_path):
    import matplotlib

    with matplotlib.rc_context():
        readme_pictures.main(tmp_path)
    for picture in tmp_path.iterdir():
        committed, now = (ROOT / "docs" / "images" / picture.name).read_text("utf-8"), picture.read_text("utf-8")
        # Coordinates may differ in their last digits with another matplotlib; labels and numbers of shapes may not.
        assert re.findall(r">([^<>]+)</text>", committed) == re.findall(r">([^<>]+)</text>", now) != []
        assert committed.count("<path") == now.count("<path")
