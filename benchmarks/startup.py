"""Time of ``python -c "import fastmmd"`` beside ``import numpy``, in turns.

The bare import loads neither NumPy nor most of the package: its modules come when a public
name is first used. So its time alone would flatter; what counts is the import together
with the first use of the main functions, and both are given.

A test of the bare import is in ``tests/test_public_api.py``. Run
``python benchmarks/startup.py`` to write ``benchmarks/results/startup.json``, or with
``--quick``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from typing import Any

import environment
import numpy as np

FIRST_USE = "import fastmmd; fastmmd.mmd; fastmmd.two_sample_test"
STATEMENTS = ("pass", "import numpy", "import fastmmd", FIRST_USE, "import scipy.stats")


def seconds(statement: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few runs, write nothing")
    parser.add_argument("--repeats", type=int, default=31, help="runs of each statement")
    options = parser.parse_args()
    times: dict[str, list[float]] = {statement: [] for statement in STATEMENTS}
    load = os.getloadavg()
    # One more in front: the first start reads the files from the disk.
    for _ in range(1 + (3 if options.quick else options.repeats)):
        for statement, mine in times.items():
            mine.append(seconds(statement))
    medians = {s: float(np.median(mine[1:])) for s, mine in times.items()}
    ratios = {
        name: np.divide(times[statement][1:], times["import numpy"][1:])
        for name, statement in (("bare", "import fastmmd"), ("first_use", FIRST_USE))
    }
    content: dict[str, Any] = {
        "environment": environment.describe(),
        "load_average": load,
        "repeats": len(ratios["bare"]),
        "seconds": {s: environment.round_to(value) for s, value in medians.items()},
        "over_numpy": {
            name: environment.round_to(float(np.median(found)))
            for name, found in ratios.items()
        },
    }
    print(content["seconds"], content["over_numpy"])
    if not options.quick:
        print(environment.write("startup.json", content))


if __name__ == "__main__":
    main()
