"""The page on graph checks: the text of graph_checks_notes.md, with tables made from stored rows."""

from pathlib import Path

import numpy as np

from graph_checks import COLUMNS, FIRST_SEED, SHUFFLED, SHUFFLES, SIZES, TABLES, WORLDS, name_of, steps_of

NOTES = Path(__file__).resolve().parent / "graph_checks_notes.md"
TOPICS = ("edges", "missing", "directions")
FAULTS = ("turned", "missing", "superfluous")
LEVELS = (0.025, 0.05, 0.1, 0.25, 0.5)


def page(rows, example):
    """Return the page."""
    parts = {
        "example": shortened(example),
        "settings": f"{TABLES} tables per world and number of rows, {' or '.join(map(str, COLUMNS))} columns, graphs ER-1, "
        f"ER-2, SF-1\nand SF-2 in turn, seeds from {FIRST_SEED}",
        "error": f"{50 / np.sqrt(TABLES):.0f}",
        "right": "\n".join(right_graphs(rows)),
        "faults": "\n".join(faults(rows)),
        "shuffles": str(SHUFFLES),
        "chance": "\n".join(chance(rows)),
    }
    text = NOTES.read_text(encoding="utf-8")
    for name, part in parts.items():
        text = text.replace(f"<!-- {name} -->", part)
    return text


def shortened(example):
    """Return the findings and the proposed changes of what the command printed, without the tables between them."""
    blocks = example.rstrip().split("\n\n")
    return "\n\n".join([blocks[0], *(block for block in blocks if block.startswith("Changes"))])


def alarm(row, topics):
    return any(row[topic] in ("amber", "red") for topic in topics)


def shares(rows, world, variant, hit):
    """Return the per cent of hits at every number of rows, as one cell of a table."""
    own = [r for r in rows if r["world"] == world and r["variant"] == variant]
    return ", ".join(percent([hit(r) for r in own if int(r["n"]) == n]) for n in SIZES)


def percent(hits):
    return f"{100 * np.mean(hits):.0f}" if len(hits) else "-"


def right_graphs(rows):
    """Yield a table of right graphs: how many pass, and which checks raise a false alarm."""
    topics = (*TOPICS, "variables", "hidden", "score", "chance")
    yield f"| world | passes | {' | '.join(topics)} | no change proposed |"
    yield "|---|---|---|" + "---|" * len(topics)
    for world in map(name_of, WORLDS):
        found = [shares(rows, world, "right", lambda row: not alarm(row, TOPICS))]
        found += [shares(rows, world, "right", lambda row, topic=topic: alarm(row, [topic])) for topic in topics]
        found.append(shares(rows, world, "right", lambda row: not steps_of(row)))
        yield f"| {world} | {' | '.join(found)} |"


def first_is_right(row):
    steps = steps_of(row)
    return bool(steps) and steps[0][2]


def faults(rows):
    """Yield a table of graphs with one fault: how many are found out, and how often the right change comes first."""
    yield "| world | " + " | ".join(f"{kind}: {what}" for kind in FAULTS for what in ("found", "first")) + " |"
    yield "|---|" + "---|" * 2 * len(FAULTS)
    for world in map(name_of, WORLDS):
        found = []
        for kind in FAULTS:
            found += [
                shares(rows, world, kind, lambda row: alarm(row, TOPICS)),
                shares(rows, world, kind, first_is_right),
            ]
        yield f"| {world} | {' | '.join(found)} |"


def chance(rows):
    """Yield a table of p-values against shuffled names."""
    yield "| graph | rows | checks | " + " | ".join(f"p up to {level:g}" for level in LEVELS) + " | any red |"
    yield "|---|---|---|" + "---|" * (len(LEVELS) + 1)
    for variant in SHUFFLED:
        for n in SIZES:
            own = [r for r in rows if r["variant"] == variant and int(r["n"]) == n]
            p = np.array([float(r["pvalue"]) for r in own])
            found = [percent(p <= level + 1e-9) for level in LEVELS]
            found.append(percent(["red" in (r["score"], r["chance"], r["variables"]) for r in own]))
            yield f"| {variant} | {n} | {len(own)} | {' | '.join(found)} |"
