"""Run the worked examples and write what they print into docs/worked-examples.md: `python benchmarks/worked_examples.py`."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from pages import take_no_arguments

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "worked-examples.md"
SHOWN = re.compile(r"(<!-- output of examples/(\w+)\.py -->\n```text\n)(.*?)(```)", re.DOTALL)


def printed(name):
    """Return what an example prints; its pictures are drawn but not shown."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(ROOT / "examples" / f"{name}.py")]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"


def main():
    take_no_arguments(__doc__)
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(SHOWN.sub(lambda found: found[1] + printed(found[2]) + found[4], text), encoding="utf-8")
    print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main()
