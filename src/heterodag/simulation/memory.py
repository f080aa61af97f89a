"""How much memory is free: checked before something large is made, so that it can be refused with a clear message."""

from __future__ import annotations

import os
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")


def available_memory() -> int | None:
    """Return the bytes that programs can still get without swapping; None if the system does not say."""
    try:
        for line in _MEMINFO.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:  # else the total memory: what does not fit there does not fit at all
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def in_words(size: float) -> str:
    """Return a number of bytes in words: "30 GB", "1.2 GB", "45 MB"."""
    if size >= 1e9:
        return f"{size / 1e9:.0f} GB" if size >= 1e10 else f"{size / 1e9:.1f} GB"
    return f"{max(size, 1e6) / 1e6:.0f} MB"
