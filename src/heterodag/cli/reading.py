"""The options of every command that reads a table, in one place.

A command takes a parameter ``reading: Reading`` and is decorated with ``@reads_a_table``: on the command line it then
has all options below, and inside the function `Reading.table` reads the file.
"""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from heterodag.cli.terminal import Screen
from heterodag.errors import HeterodagError

if TYPE_CHECKING:
    import pandas as pd

    from heterodag.io.opened import OpenTable

#: What an unnamed first column, such as row names, is called.
UNNAMED = "Unnamed: 0"
DATA_HELP = "The table: CSV, TSV (also .gz, .bz2, .xz), Excel (.xlsx) or Parquet; - for standard input."
MANY_HELP = f"{DATA_HELP[:-1]}; also a folder of Parquet files or a quoted pattern such as 'data/*.parquet'."
Data = Annotated[Path, typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False)]
ManyData = Annotated[Path, typer.Argument(metavar="DATA", help=MANY_HELP, show_default=False)]


@dataclass(frozen=True)
class Reading:
    """The options that say how a table is to be read; the names are those of `heterodag.io.tables.read_table`."""

    delimiter: Annotated[
        str | None, typer.Option(help="One character, or comma, tab, semicolon, pipe, space; detected if not given.")
    ] = None
    decimal: Annotated[str, typer.Option(help="The decimal mark, . or ,")] = "."
    encoding: Annotated[str | None, typer.Option(help="Encoding of the file, if not UTF-8.")] = None
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether the first line holds the names.")
    ] = None
    comment: Annotated[
        str | None, typer.Option(metavar="CHAR", help="Leave out lines that begin with this, such as #.")
    ] = None
    sheet: Annotated[
        str | None, typer.Option(help="Name or number of the sheet of an Excel file. [default: the first]")
    ] = None
    na_values: Annotated[
        str | None, typer.Option(help="Texts that stand for an empty cell, as in ?,-999; besides NA, NaN, null.")
    ] = None
    index_column: Annotated[str | None, typer.Option(help="A column of row names, to be set aside.")] = None
    columns: Annotated[str | None, typer.Option(help="Columns to use, as in a,b,c; by default all.")] = None
    drop: Annotated[str | None, typer.Option(help="Columns to leave out, as in a,b.")] = None
    missing: Annotated[
        str | None, typer.Option(help="Rows with empty cells: refuse, or drop them. [default: refuse]")
    ] = None

    def table(self, data: Path, conditions: str | None = None, strict: bool = True) -> pd.DataFrame:
        """Read the table; column `conditions` becomes the index, and `strict=False` lets gaps and text through."""
        from heterodag.io.tables import read_table

        return read_table(
            data, delimiter=self.delimiter, decimal=self.decimal, encoding=self.encoding, header=self.header,
            comment=self.comment, sheet=self.sheet, na_values=split_names(self.na_values) or (),
            index_column=self.index_column, columns=split_names(self.columns), drop=split_names(self.drop),
            missing=self.missing or "refuse", conditions=conditions, strict=strict,
        )  # fmt: skip

    def opened(self, data: Path, in_memory: Mapping[str, Any], strict: bool = True) -> OpenTable | None:
        """Open a folder, a pattern or a file too large for memory; return None for a file that is to be read whole.

        `in_memory` has options, with their values, that need all rows in memory: they are refused with a table on
        disk.
        """
        from heterodag.io.opened import needs_opening, open_table

        if not needs_opening(data):
            return None
        _refuse_with_a_table_on_disk({**in_memory, "--sheet": self.sheet})
        drop = [*(split_names(self.drop) or ()), *(() if self.index_column is None else (self.index_column,))]
        drop = [name or UNNAMED for name in drop]
        return open_table(
            data, delimiter=self.delimiter, decimal=self.decimal, encoding=self.encoding, header=self.header,
            comment=self.comment, na_values=split_names(self.na_values) or (), columns=split_names(self.columns),
            drop=drop, strict=strict,
        )  # fmt: skip


def reads_a_table(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `Reading` in place of its parameter `reading`."""
    own, hints = inspect.signature(command), get_type_hints(command, include_extras=True)
    kinds = get_type_hints(Reading, include_extras=True)
    options = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=kinds[field.name]
        )
        for field in fields(Reading)
    ]
    parameters = []
    for name, parameter in own.parameters.items():
        keyword = parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        parameters += options if name == "reading" else [keyword]

    @wraps(command)
    def collected(**given: Any) -> None:
        reading = Reading(**{option.name: given.pop(option.name) for option in options})
        command(reading=reading, **given)

    collected.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    collected.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters} | {"return": None}
    return collected


def read_experiments(
    screen: Screen, data: Path, reading: Reading, experiments: Mapping[str, Any]
) -> tuple[pd.DataFrame, Any]:
    """Read the table and what the user said of experiments: `conditions` (a column), `targets` (a file), `kind`."""
    from heterodag.knowledge import Interventions

    conditions = experiments.get("conditions")
    if experiments and conditions is None:
        raise HeterodagError(
            f"--{next(iter(experiments))} needs --conditions, the column that says which condition a row belongs to."
        )
    with screen.busy(f"Reading {source_name(data)}"):
        frame = reading.table(data, conditions)
    if conditions is None:
        return frame, None
    return frame, Interventions.from_json(frame.index, experiments.get("targets"), experiments.get("kind", "set"))


def _refuse_with_a_table_on_disk(given: Mapping[str, Any]) -> None:
    """Refuse options that need all rows in memory."""
    wanted = [option for option, value in given.items() if value]
    if wanted:
        raise HeterodagError(
            f"{wanted[0]} needs a table in memory, and this one stays on disk; take a sample first, with "
            "heterodag.open_table(...).sample(100_000) in Python, and save it."
        )


def source_name(data: Path) -> str:
    """Return what to call a table in results and reports."""
    return "standard input" if str(data) == "-" else str(data)


def split_names(text: str | None) -> list[str] | None:
    """Split ``a,b,"c,d"`` into names, as a line of CSV."""
    return None if text is None else [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
