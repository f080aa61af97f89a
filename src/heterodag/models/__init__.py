"""Conditional Gaussian models of one variable given others (Algorithm 1)."""
