"""The paper's evaluation and your own benchmarks, as cells that are run once and stored as rows."""

from heterodag.experiments.benchmark import BenchmarkResult, benchmark

__all__ = ["BenchmarkResult", "benchmark"]
