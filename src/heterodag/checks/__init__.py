"""Check whether a result can be trusted: findings about tables, fits and graphs, with a severity and a remedy."""

from heterodag.checks.findings import Finding, Findings
from heterodag.checks.tables import check_table

__all__ = ["Finding", "Findings", "check_table"]
