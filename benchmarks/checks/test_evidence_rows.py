"""Pages that join the rows of several benchmarks: they are those that the rows make, and their figures too."""

import pytest

import confidence
import cost
import directions
import figures
import not_best
import sachs
import standard_graphs
import standard_graphs_page
import worlds_page
from pages import DOCS
from rows import RESULTS, read


def text_of(name):
    return (DOCS / name).read_text(encoding="utf-8")


def test_cost_is_made_from_the_worlds():
    rows = read(cost.STORE)
    found = cost.all_points(rows)
    assert text_of("cost.md") == cost.page(rows)
    assert {"HOST", "HOST-paper", "CAM"} <= set(found[cost.PAPER])
    assert figures.up_to_date("cost", cost.flat(found))
    assert len(found["main"]) >= 9


def test_not_best_is_what_the_rows_say_and_every_loss_has_a_reason():
    assert text_of("not-best.md") == not_best.page()
    found = list(not_best.settings())
    assert len(found) >= 127
    pages = {
        "worlds",
        "standard-graphs",
        "reproduction",
        "paper-worlds",
        "authors-sets",
        "oracle-order",
        "experiments",
        "sachs",
        "pairs",
    }
    assert pages == {setting.source for setting in found}
    assert not_best.UNKNOWN not in [not_best.reason(setting) for setting in found if setting.is_loss]


@pytest.mark.skipif(not standard_graphs.STORE.exists(), reason="these rows were not made yet")
def test_graphs_of_many_shapes():
    rows = read(standard_graphs.STORE)
    keys = [tuple(row[key] for key in standard_graphs.KEY) for row in rows]
    assert len(set(keys)) == len(keys)
    assert min(int(row["seed"]) for row in rows) >= standard_graphs.FIRST_SEED
    assert text_of("standard-graphs.md") == standard_graphs_page.page(rows)


@pytest.mark.skipif(not confidence.STORE.exists(), reason="these rows were not made yet")
def test_confidence():
    rows, arrows = read(confidence.STORE), read(directions.STORE)
    assert min(int(row["seed"]) for row in rows) >= confidence.FIRST_SEED
    assert text_of("confidence.md") == confidence.page(rows, arrows)
    assert figures.up_to_date("confidence", confidence.curves(rows, arrows))


def test_frequent_edges_are_true_far_more_often():
    seen, _ = confidence.visible(read(confidence.STORE))
    frequency, true = confidence.numbers(seen, "frequency"), confidence.numbers(seen, "true")
    frequent, open_, rare = frequency > 0.95, (frequency > 0.25) & (frequency <= 0.75), frequency < 0.05
    assert len({(row["world"], row["n"], row["seed"]) for row in seen}) >= 20
    assert min(frequent.sum(), open_.sum()) > 30
    assert true[frequent].mean() > 0.85
    assert true[frequent].mean() - true[open_].mean() > 0.25
    assert true[rare].mean() < 0.1


def test_every_table_of_graphs_was_given_to_every_method():
    rows = read(standard_graphs.STORE)
    tables = {(row["d"], row["seed"], row["graph"], row["world"]) for row in rows}
    assert len(rows) == len(tables) * len(standard_graphs.METHODS)
    assert all(
        len(standard_graphs_page.pick(rows, d, graph, world)) == len(standard_graphs_page.pick(rows, d, "ER", world))
        for d in standard_graphs.SIZES
        for graph in standard_graphs.GRAPHS
        for world in standard_graphs.WORLDS
    )


def test_rows_without_a_page_are_no_secret():
    """Whoever makes the rows makes the page."""
    for store, page in ((standard_graphs.STORE, "standard-graphs.md"), (confidence.STORE, "confidence.md")):
        assert (RESULTS / store.name).exists() == (DOCS / page).exists()


def test_why_the_default_is_behind_on_sachs():
    """Every reversed edge is of one kind, and the reasons that docs/not-best.md gives hold in the rows."""
    rows = read(sachs.STORE)
    for row in rows:
        assert sum(int(row[kind]) for kind in sachs.KINDS) == int(row["order_divergence"])
    now, former = (sachs.parts_of(rows, "raw", method) for method in ("HOST()", "former default"))
    gap = {key: now[key] - former[key] for key in now}
    assert 0.4 < gap["turned"] / gap["order"] < 0.6
    assert gap["of_pka"] + gap["of_pkc"] > 0.9 * gap["order"]
    gaussian, lines = "HOST(noise='gaussian')", "HOST(parametrization='linear')"
    edges = {name: sachs.mean_of(rows, "raw", name, "edges", "shd") for name in sachs.METHODS}
    assert edges["HOST()"][0] < edges["former default"][0] < edges[gaussian][0]
    assert edges["HOST()"][1] < edges[gaussian][1]
    assert max(sachs.parts_of(rows, "raw", name)["order"] for name in (gaussian, lines)) < now["order"]


def test_directlingam_draws_more_arrows_that_are_wrong_than_the_default():
    """The reason that docs/not-best.md gives for 200 rows of straight/constant/mixed."""
    rows = worlds_page.pick(read(RESULTS / "worlds.csv"), "n200", "straight/constant/mixed")
    own, other = (worlds_page.wrong_share([r for r in rows if r["method"] == m]) for m in ("HOST", "DirectLiNGAM"))
    assert own < other / 2
