"""Sketch two folders of files on Ray and test them.

``python examples/ray_sketch.py OLD NEW``, with folders, patterns or URLs of Parquet, CSV or
other files. Without arguments it writes some small files and takes those.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import ray

import fastmmd
from fastmmd.engines.ray import sketch


def write_example(folder: Path) -> list[str]:
    """Write two small data sets that differ a little."""
    rng = np.random.default_rng(0)
    paths = []
    for name, late in (("old", 10.0), ("new", 10.3)):
        for i in range(4):
            n = 50_000
            table = pa.table(
                {
                    "delay": rng.exponential(late, n),
                    "distance": rng.normal(1000.0, 300.0, n),
                    "carrier": rng.choice(["AA", "UA", "DL"], n),
                }
            )
            (folder / name).mkdir(exist_ok=True)
            pq.write_table(table, folder / name / f"{i}.parquet", row_group_size=20_000)
        paths.append(str(folder / name))
    return paths


def main() -> None:
    """Make two sketches on the cluster and compare them here."""
    # On a cluster: ray.init("auto").
    ray.init(num_cpus=2, include_dashboard=False)
    with tempfile.TemporaryDirectory() as temporary:
        old, new = sys.argv[1:] or write_example(Path(temporary))
        reference = sketch(old)
        today = sketch(new, like=reference)
        print(reference, today, sep="\n")
        print(fastmmd.compare(reference, today, rng=0))
    ray.shutdown()


if __name__ == "__main__":
    main()
