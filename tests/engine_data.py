"""Data and faults for the tests of engines; workers import this too."""

from __future__ import annotations

import itertools
import os
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fastmmd.engines import driver
from fastmmd.engines.work import Sketching, Work


def table(n_rows, seed, shift=0.0, *, missing=0):
    rng = np.random.default_rng(seed)
    number = rng.normal(size=n_rows) + shift
    return pa.table(
        {
            "number": pa.array(number, mask=np.arange(n_rows) < missing),
            "whole": rng.integers(0, 50, n_rows),
            "level": rng.choice(["a", "b", "c"], n_rows),
            "key": np.arange(n_rows),
        }
    )


def write_parts(folder, n_rows, seed, shift=0.0, *, files=3, missing=0):
    """Write a table in several files of several row groups, of unequal sizes."""
    folder.mkdir(parents=True)
    whole = table(n_rows, seed, shift, missing=missing)
    edges = (np.linspace(0, 1, files + 1) ** 1.5 * n_rows).astype(int)
    for i, (start, stop) in enumerate(itertools.pairwise(edges)):
        path = folder / f"part-{i}.parquet"
        pq.write_table(whole.slice(start, stop - start), path, row_group_size=700)
    return folder


@dataclass(frozen=True)
class Faulty(Work):
    """Work that goes wrong the first time it meets a piece."""

    inner: Work
    flag: str
    how: str

    def on_files(self, task, /):
        self.stumble()
        return self.inner.on_files(task)

    def on_batches(self, batches, /, **about):
        self.stumble()
        return self.inner.on_batches(batches, **about)

    def merge(self, outcomes, /):
        return self.inner.merge(outcomes)

    def stumble(self):
        try:
            # The first of all workers to get here makes the file.
            os.close(os.open(self.flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        if self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        msg = "this task fails once"
        raise RuntimeError(msg)


def plant_fault(monkeypatch, folder, how):
    """Let one task of the next sketch fail or kill its process; return the trace it leaves."""
    flag = Path(folder) / "happened"
    monkeypatch.setattr(
        driver, "Sketching", lambda *given: Faulty(Sketching(*given), str(flag), how)
    )
    return flag
