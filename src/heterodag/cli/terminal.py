"""What the command line prints: results to stdout, progress and one-sentence problems to stderr."""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from heterodag.errors import HeterodagError, MissingExtraError

EXIT_INTERNAL, EXIT_USER, EXIT_RED, EXIT_INTERRUPTED = 1, 2, 3, 130


class Screen:
    """Standard output and standard error, and how much is printed to them.

    Parameters
    ----------
    quiet : bool
        Print only errors.
    debug : bool
        Print tracebacks, and warnings of every kind.
    """

    def __init__(self, quiet: bool = False, debug: bool = False) -> None:
        from rich.console import Console

        self.quiet, self.debug = quiet, debug
        # Column names are data: nothing in them is markup or an emoji code, and nothing is to be coloured.
        plain: dict[str, Any] = {"markup": False, "emoji": False, "highlight": False}
        self.out = Console(file=sys.stdout, quiet=quiet, **plain)
        self.err = Console(file=sys.stderr, **plain)

    def say(self, text: str = "") -> None:
        """Print a line of results."""
        self.out.print(printable(text), soft_wrap=True)

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print rows in aligned columns, none of them cut off."""
        from rich.cells import cell_len, set_cell_size

        lines = [[printable(cell) for cell in row] for row in (header, *rows)]
        widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            cells = [set_cell_size(cell, width) for cell, width in zip(line, widths, strict=True)]
            self.say("   ".join(cells).rstrip())

    def warn(self, text: str) -> None:
        """Print a warning, unless quiet."""
        if not self.quiet:
            self.err.print(f"Warning: {printable(text)}", soft_wrap=True)

    def fail(self, text: str, code: int) -> typer.Exit:
        """Print an error and return the exception that ends the program with `code`."""
        if self.debug:
            traceback.print_exc()
        self.err.print(printable(text), soft_wrap=True)
        return typer.Exit(code)

    @property
    def shows_progress(self) -> bool:
        """Whether to show progress: on a terminal, unless quiet."""
        return not self.quiet and sys.stderr.isatty()

    @contextmanager
    def busy(self, doing: str) -> Iterator[None]:
        """Show on a terminal that something is being done, until the block ends; in a pipe do nothing."""
        if not self.shows_progress:
            yield
            return
        from rich.text import Text

        with self.err.status(Text(f"{printable(doing)} ...")):
            yield


def printable(text: str) -> str:
    """Return the text with control characters replaced, so that no column name can steer the terminal."""
    return "".join(c if c.isprintable() else " " if c in "\t\n\r" else "\ufffd" for c in text)


@contextmanager
def guarded(screen: Screen) -> Iterator[None]:
    """Turn whatever goes wrong in the block into one line on stderr and an exit status.

    Parameters
    ----------
    screen : Screen
        Where to print; its `debug` adds the traceback.

    Notes
    -----
    Status 2 for what the user can fix, 130 for Ctrl-C, 1 for what should not happen.
    """
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _shower(screen)
            yield
    except KeyboardInterrupt as stop:
        raise screen.fail(str(stop) or "Interrupted.", EXIT_INTERRUPTED) from None
    except (HeterodagError, MissingExtraError) as error:
        raise screen.fail(f"Error: {one_line(error)}", EXIT_USER) from None
    except (typer.Exit, BrokenPipeError):
        raise
    except MemoryError:
        raise screen.fail(
            "Error: out of memory; use fewer rows or columns, or fewer --jobs.", EXIT_INTERNAL
        ) from None
    except Exception as error:
        hint = "" if screen.debug else "; run again with --debug for the details"
        text = f"Error: unexpected {type(error).__name__}: {one_line(error).rstrip('.')}{hint}."
        raise screen.fail(text, EXIT_INTERNAL) from None


def one_line(error: BaseException) -> str:
    """Return the message of an exception on one line."""
    return " ".join(str(error).split())


def _shower(screen: Screen) -> Callable[..., None]:
    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        if issubclass(category, UserWarning) or screen.debug:
            screen.warn(" ".join(str(message).split()))

    return show
