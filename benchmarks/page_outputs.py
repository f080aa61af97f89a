"""Run the Python blocks of pages and write what they print into them: `python benchmarks/page_outputs.py PAGE.md ...`.

A block after `<!-- output -->` shows what the Python blocks since the last such block print, and one after
`<!-- output of heterodag demo -->` what the demo prints, without the names of its files. Blocks after `<!-- not run -->` are
not run. tests/test_docs.py compares the same pages with what is printed then.
"""

import argparse
import contextlib
import io
import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

BLOCK = re.compile(r"(?:^(<!-- [^\n]*? -->)\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN, OUTPUT, DEMO = "<!-- not run -->", "<!-- output -->", "<!-- output of heterodag demo -->"


def outputs(text: str) -> Iterator[tuple[int, int, str]]:
    """Run a page; yield where each shown output begins and ends, and what is printed now."""
    namespace: dict[str, object] = {"__name__": "page"}
    printed = io.StringIO()
    for found in BLOCK.finditer(text):
        comment, language, code = found.groups()
        if language == "python" and comment != NOT_RUN:
            with contextlib.redirect_stdout(printed):
                exec(compile(code, "<page>", "exec"), namespace)
        elif comment in (OUTPUT, DEMO):
            shown = printed.getvalue() if comment == OUTPUT else demo_output()
            yield *found.span(3), shown
            printed = io.StringIO()


def demo_output() -> str:
    """Return what `heterodag demo` prints but the names of the files, which depend on the machine."""
    from heterodag.cli.demo import demo
    from heterodag.cli.terminal import Screen

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as printed:
        demo(Screen(), Path(folder) / "out", force=False)
    lines = [line for line in printed.getvalue().splitlines() if not line.startswith(("Wrote", "Open"))]
    return "\n".join(lines).rstrip() + "\n"


def filled(text: str) -> str:
    """Return the page with the outputs of now."""
    parts, last = [], 0
    for start, end, printed in outputs(text):
        parts += [text[last:start], printed]
        last = end
    return "".join([*parts, text[last:]])


def main(pages: list[Path]) -> None:
    warnings.simplefilter("ignore")
    for page in pages:
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            new = filled(text)
        page.write_text(new, encoding="utf-8")
        print(f"{page.name}: {'as before' if new == text else 'changed'}")


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path, nargs="+", metavar="PAGE.md")
    given = [page.resolve() for page in parser.parse_args().pages]
    absent = [page.name for page in given if not page.is_file()]
    if absent:
        parser.error(f"there is no page {absent[0]}")
    main(given)
