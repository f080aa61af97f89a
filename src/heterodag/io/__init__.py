"""Input and output: tables in memory and in files, graphs and results."""
