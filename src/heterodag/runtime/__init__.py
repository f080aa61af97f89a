"""How work runs: seeds, threads, time limits, progress, stores of results. Nothing here knows what is computed."""
