"""Checks of what is committed: results, tables, pictures and pages. `make check-docs` runs them; `tests/` tests the code."""

import sys
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[1]
# The programs that write the pages, and the comparison of a figure with its summary.
sys.path[:0] = [str(BENCHMARKS), str(BENCHMARKS.parent / "tests" / "experiments")]
