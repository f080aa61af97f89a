"""Show the settings of a fit: prior knowledge in words, the rest unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def shown_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with prior knowledge in words."""
    known = settings.get("prior_knowledge")
    words = {"prior_knowledge": knowledge_words(known)} if isinstance(known, Mapping) else {}
    return {**settings, **words}


def knowledge_words(known: Mapping[str, Any]) -> str:
    """Return prior knowledge, as graph.json has it, in words: ``required: a → b; tiers: a, b before c``."""
    parts = []
    for key, items in known.items():
        if key in ("required", "forbidden"):
            text = ", ".join(f"{cause} → {effect}" for cause, effect in items)
        elif key == "tiers":
            text = " before ".join(", ".join(map(str, tier)) for tier in items)
        else:
            text = ", ".join(map(str, items))
        parts.append(f"{key}: {text}")
    return "; ".join(parts) or "nothing"
