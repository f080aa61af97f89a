"""Causal graphs from tables in which the spread of a variable depends on its causes."""
