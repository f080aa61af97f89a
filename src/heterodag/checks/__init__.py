"""Can this be trusted? Findings about tables, fits and graphs: each one sentence with a severity and a remedy."""

from heterodag.checks.findings import Finding, Findings
from heterodag.checks.tables import check_table

__all__ = ["Finding", "Findings", "check_table"]
