"""The command line: parse, call, print."""

from heterodag.cli.app import main

__all__ = ["main"]
