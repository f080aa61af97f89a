"""Plain functions on arrays. This layer imports NumPy and SciPy and nothing else (a test reads the imports)."""
