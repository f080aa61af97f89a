"""Plain functions on arrays. This layer imports NumPy, SciPy and the errors, and nothing else (a test reads the imports)."""
