"""Describe the fitted models of the variables in plain words, for a table of the report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_MOVED = {"moving": "mean and spread", "constant": "mean only"}


def mechanism_row(mechanism: Mapping[str, Any]) -> dict[str, str]:
    """Return one row of the table: variable, its causes, the model in words, and rows.

    Parameters
    ----------
    mechanism : mapping
        One of the mechanisms of a `GraphResult`; the head of `heterodag.io.exports` documents the keys.
    """
    return {
        "variable": str(mechanism["variable"]),
        "parents": str(mechanism["parents"]),
        "words": describe_mechanism(mechanism),
        "rows": f"{mechanism['rows']:,}",
    }


def describe_mechanism(mechanism: Mapping[str, Any]) -> str:
    """Return the model in words: 'mean and spread, straight lines (natural form), normal noise'."""
    noise = f"{mechanism['noise']} noise"
    if not mechanism["parents"]:
        return f"no causes, {noise}"
    lines = f"{_shape(mechanism['parents'], mechanism['curves'])} ({mechanism['form']} form)"
    return f"{_MOVED[mechanism['spread']]}, {lines}, {noise}"


def _shape(parents: str, curves: str) -> str:
    if not curves:
        return "straight lines"
    return "curves" if curves == parents else f"curved in {curves}, otherwise straight lines"
