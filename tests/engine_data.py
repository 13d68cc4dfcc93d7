"""Data and faults for the tests of engines; workers import this too."""

from __future__ import annotations

import itertools
import os
import re
import signal
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pages
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


def write_flights(folder):
    """Write the data of the page on clusters: two years, the second with a folder a month."""
    rng = np.random.default_rng(0)
    days = np.datetime64("2018-01-01") + np.arange(40)
    for place, n_days in (("2017", 40), ("2018/month=1", 31), ("2018/month=2", 9)):
        day = np.repeat(days[:31] if place.endswith("1") else days[40 - n_days :], 50)
        flights = {
            "delay": rng.exponential(10.0 if place == "2017" else 12.0, len(day)),
            "carrier": rng.choice(["AA", "DL", "UA"], len(day)),
            "day": day,
        }
        (folder / place).mkdir(parents=True)
        pq.write_table(pa.table(flights), folder / place / "part-0.parquet")


def run_page(engine, folder, **names):
    """Run the blocks of the page on clusters that are for one engine, on files in `folder`.

    Return the names that they leave behind.
    """
    write_flights(folder / "flights")
    (folder / "sketches").mkdir()
    mine = [
        block.text
        for block in pages.blocks(pages.DOCS / "how-to" / "from-laptop-to-cluster.md")
        if f"fastmmd.engines.{engine} import" in block.text
    ]
    assert len(mine) >= 2
    for text in mine:
        code = re.sub(r"s3a?://", f"{folder}/", text)
        exec(compile(code, f"the page, for {engine}", "exec"), names)  # noqa: S102
    return names


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
