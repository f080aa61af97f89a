"""HOST beside DirectLiNGAM: `python benchmarks/lingam_speed.py --environment DIR [--n 1000] [--d 100] [--seeds 3]`.

lingam asks for an older SciPy, so it runs with an interpreter of its own: DIR is a virtual environment with lingam in it,
and is made by `python -m venv` and `pip install lingam` if there is none. Each seed draws one table of the paper's linear
simulation on an ER-2 graph; the two methods fit it one right after the other, one thread, imports and a first small fit
left out, and seconds are those of the processor. Prints one Markdown table; nothing is written.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from heterodag import HOST, simulate
from rows import FORMER

FIRST_SEED = 61_000
#: Run by the other interpreter: seconds of DirectLiNGAM on the table in the file.
LINGAM = """
import sys, time
import numpy as np
from lingam import DirectLiNGAM
DirectLiNGAM().fit(np.random.default_rng(0).exponential(size=(100, 3)))
X = np.load(sys.argv[1])
start = time.process_time()
DirectLiNGAM().fit(X)
print(time.process_time() - start)
"""


def interpreter(environment):
    """Return the Python of the environment, made with lingam in it if it is not there."""
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "lingam"], check=True)
    return python


def lingam_seconds(python, X):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        np.save(path, X)
        command = [str(python), "-W", "ignore", "-c", LINGAM, str(path)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(done.stdout)


def host_seconds(X):
    start = time.process_time()
    HOST(**FORMER).fit(X)
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--environment", type=Path, required=True, help="virtual environment with lingam; made if missing"
    )
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--d", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    python = interpreter(options.environment)
    HOST().fit(simulate(100, 3, random_state=0).X)
    print("| n | d | seed | HOST, s | DirectLiNGAM, s | HOST / DirectLiNGAM |\n|---|---|---|---|---|---|")
    for seed in range(FIRST_SEED, FIRST_SEED + options.seeds):
        X = simulate(options.n, options.d, "ER", 2, random_state=seed).X
        lingam, host = lingam_seconds(python, X), host_seconds(X)
        print(f"| {options.n} | {options.d} | {seed} | {host:.2f} | {lingam:.2f} | {host / lingam:.2f} |", flush=True)


if __name__ == "__main__":
    main()
