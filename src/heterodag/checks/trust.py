"""Make the box "Can I trust this?": one line per question that a person has about a fit, in a fixed order.

The findings about table and model are sorted by topic; a topic without findings gets a green line, if it was checked
at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from heterodag.checks.findings import Finding, Findings

FIT, DIRECTIONS, LEFT_OUT = "model fit", "directions", "left out"
#: The topics in the order of the box; those before `FIT` come from the check of the table.
TOPICS = ("rows", "columns", "values", "size", "overlap", FIT, DIRECTIONS, LEFT_OUT)
#: Topics of the table that the box mentions only if something was found.
QUIET = ("size", "overlap")


def trust_box(findings: Iterable[Finding], clean: Mapping[str, str]) -> Findings:
    """Return the lines of the box.

    Parameters
    ----------
    findings : iterable of Finding
        What was found; green findings are kept as they are.
    clean : mapping from topics to sentences
        What to say about a topic that was checked and has no amber or red finding.
    """
    found = list(findings)
    lines: list[Finding] = []
    for topic in (*TOPICS, *dict.fromkeys(item.topic for item in found if item.topic not in TOPICS)):
        own = [item for item in found if item.topic == topic]
        if topic in clean and all(item.severity == "green" for item in own):
            lines.append(Finding("green", topic, "nothing found", clean[topic]))
        lines += own
    return titled(lines)


def titled(lines: Iterable[Finding]) -> Findings:
    """Return the box with its title, which states the verdict."""
    lines = list(lines)
    return Findings(lines, f"Can I trust this? {verdict(lines)}")


def verdict(lines: Iterable[Finding]) -> str:
    """Return the answer in one sentence."""
    severities = [item.severity for item in lines]
    red, amber = severities.count("red"), severities.count("amber")
    if red:
        points = f"{red} serious point" + ("s" if red > 1 else "")
        return f"Hardly: {points}{f' and {amber} to look at' if amber else ''}."
    if amber:
        return f"With care: {amber} point{'s' if amber > 1 else ''} to look at."
    return "Nothing that was checked speaks against it."
