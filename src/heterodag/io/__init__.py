"""What comes in and goes out: tables in memory and in files, graphs and results."""
