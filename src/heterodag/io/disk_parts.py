"""Open files and lazy frames as parts of one table; what is not Parquet is first converted in a temporary folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heterodag.core.parts import Part
from heterodag.errors import DataError
from heterodag.io.cells import joined
from heterodag.io.choices import Choice
from heterodag.io.kinds import EXCEL, TEXT, kind_of
from heterodag.io.parquet_parts import ParquetFile, look_at_file, pyarrow
from heterodag.io.paths import files_of
from heterodag.io.sources import open_source
from heterodag.io.tables import check_named
from heterodag.io.temporary import TemporaryFolder
from heterodag.io.text_blocks import TextTable, convert
from heterodag.io.textfiles import is_number, text_format


@dataclass(frozen=True)
class Opened:
    """What an open table consists of: names, parts, source, folder of temporary files, text columns left out."""

    names: Sequence[str]
    parts: Sequence[Part]
    source: str
    folder: TemporaryFolder | None = None
    text: Mapping[str, Any] | None = None


def open_files(
    source: Any, choice: Choice, options: Mapping[str, Any], na_values: Sequence[str], strict: bool
) -> Opened:
    """Open Parquet and text files as one table; `options` are those of `text_format`."""
    pyarrow()
    shown = f"'{os.fspath(source)}'" if not isinstance(source, list | tuple) else f"{len(source)} paths"
    files = [_look(path, options, na_values) for path in files_of(source)]
    names, text = _columns(files, choice, shown, strict)
    rows = choice.rows(len(names))
    long = [file for file in files if isinstance(file, TextTable)]
    folder = TemporaryFolder() if long else None
    if folder is not None:
        with folder.filling() as path:
            converted = {
                id(file): _converted(file, names, Path(path) / f"{k}.parquet") for k, file in enumerate(long)
            }
    absent = tuple(float(value) for value in na_values if is_number(value))
    parts: list[Part] = []
    for file in files:
        if isinstance(file, TextTable):
            parts += converted[id(file)].parts(names, rows, place=f"file '{file.source}'", tells_groups=False)
        else:
            parts += file.parts(names, rows, absent=absent)
    return Opened(names, parts, shown, folder, text)


def _look(path: str, options: Mapping[str, Any], na_values: Sequence[str]) -> ParquetFile | TextTable:
    source = open_source(path)
    kind = kind_of(source)
    if kind == TEXT:
        fmt, names = text_format(source, **options)
        return TextTable(fmt, names, options.get("header") is not False, tuple(na_values))
    if kind == EXCEL or not source.is_plain:
        what = "an Excel file" if kind == EXCEL else "a packed Parquet file"
        raise DataError(f"File '{source}' is {what}, which cannot be read in parts; save it as plain Parquet or CSV.")
    return look_at_file(path, str(source))


def _name(file: ParquetFile | TextTable) -> str:
    return str(file.source) if isinstance(file, TextTable) else file.name


def _columns(
    files: Sequence[ParquetFile | TextTable], choice: Choice, shown: str, strict: bool
) -> tuple[list[str], dict[str, Any]]:
    """Return the numeric columns and an example of each text column; raise `DataError` if the files do not match."""
    own = [list(file.names if isinstance(file, TextTable) else file.columns) for file in files]
    names = choice.of(own[0], shown)
    for file, columns in zip(files[1:], own[1:], strict=True):
        further = set() if choice.columns else set(columns) - set(names) - set(choice.drop or ())
        _check_same(_name(files[0]), _name(file), [name for name in names if name not in columns], sorted(further))
    text: dict[str, Any] = {}
    for file in files:
        if isinstance(file, TextTable):
            check_named(names, file.source)
        else:
            found = [name for name in names if name in file.text]
            if found and strict:
                raise DataError(_of_text(file, found))
            text |= {name: file.example(name) for name in found if name not in text}
    left = [name for name in names if name not in text]
    if not left:
        raise DataError(f"No column of {shown} holds numbers; a graph needs some.")
    return left, text


def _check_same(first: str, other: str, lacking: Sequence[str], further: Sequence[str]) -> None:
    lacks = [f"lacks {joined([repr(name) for name in lacking])}"] if lacking else []
    has = [f"also has {joined([repr(name) for name in further])}"] if further else []
    if lacks or has:
        raise DataError(
            f"Files '{first}' and '{other}' have different columns: the second {' and '.join(lacks + has)}; give files of "
            "one table, or choose the columns they share."
        )


def _of_text(file: ParquetFile, names: Sequence[str]) -> str:
    held = joined([f"'{name}' ({file.text[name]}, for example {file.example(name)!r})" for name in names])
    subject, them = ("Column", "it") if len(names) == 1 else ("Columns", "them")
    holds = "holds" if len(names) == 1 else "hold"
    return (
        f"{subject} {held} of '{file.name}' {holds} no numbers; turn {them} into numbers, or leave {them} out with --drop "
        f"'{','.join(names)}'."
    )


def _converted(file: TextTable, names: Sequence[str], path: Path) -> ParquetFile:
    convert(file, names, path)
    return look_at_file(str(path), str(file.source))


def is_lazy_frame(X: Any) -> bool:
    """Tell whether `X` is a polars LazyFrame."""
    return type(X).__module__.partition(".")[0] == "polars" and type(X).__name__ == "LazyFrame"


def open_lazy_frame(frame: Any, choice: Choice) -> Opened:
    """Let polars write a lazy frame to a Parquet file, and open that."""
    import polars as pl

    pyarrow()
    place = "the lazy frame"
    try:
        schema = frame.collect_schema()
        names = choice.of(list(schema.names()), place)
        text = [name for name in names if not (schema[name].is_numeric() or schema[name] in (pl.Boolean, pl.Null))]
        if text:
            raise DataError(
                f"Column '{text[0]}' of {place} holds {schema[text[0]]} and no numbers: turn it into numbers, or leave it "
                "out with `drop`."
            )
        rows, folder = choice.rows(len(names)), TemporaryFolder()
        with folder.filling() as path:
            target = os.path.join(path, "0.parquet")
            numbers = frame.select(pl.col(name).cast(pl.Float64) for name in names)
            numbers.sink_parquet(target, row_group_size=rows, compression="uncompressed", statistics=False)
            file = look_at_file(target, place)
    except pl.exceptions.PolarsError as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise DataError(f"The lazy frame cannot be computed ({reason}): check where it comes from.") from None
    return Opened(names, list(file.parts(names, rows, place=place, tells_groups=False)), "a lazy frame", folder)
