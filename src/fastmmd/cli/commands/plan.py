"""``fastmmd plan``: what ``fastmmd test`` would do, from a look at the first rows."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, final

from cyclopts import Parameter

from fastmmd.cli.commands.test import sketch_columns
from fastmmd.cli.data import gathering_notes, open_samples
from fastmmd.cli.lines import estimate_rows
from fastmmd.cli.options import (
    DEFAULT_COLUMNS,
    DEFAULT_OUTPUT,
    DEFAULT_READING,
    Columns,
    DataPath,
    KernelName,
    Output,
    Reading,
)
from fastmmd.cli.output import (
    Fields,
    duration,
    names,
    notes,
    size,
    write_json,
    write_report,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from fastmmd.cli.data import Sample
    from fastmmd.sketch import Sketch
    from fastmmd.tables import Source

_LOOK_ROWS = 20_000
"""Rows of each data set that are looked at."""

_MOST_ROWS = 2**20
"""Rows that are read in search of those that meet a condition."""

_START_SECONDS = 1.5
"""Time to load libraries, find the p-value and report, whatever the data."""


def plan(
    a: DataPath,
    b: DataPath | None = None,
    /,
    *,
    by: Annotated[str | None, Parameter(metavar="COLUMN[=V1,V2]")] = None,
    sample_rows: int | None = None,
    kernel: KernelName = "adaptive",
    threads: int | None = None,
    reading: Reading = DEFAULT_READING,
    columns: Columns = DEFAULT_COLUMNS,
    output: Output = DEFAULT_OUTPUT,
) -> int:
    """Say what a test would do, why, and what it would cost, without reading all the data.

    The first rows of each data set are read and timed; times are for this machine as it is
    now, right within a factor of two or so.

    Parameters
    ----------
    a
        Data or a sketch.
    b
        Data or a sketch to compare with; left out with --by.
    by
        As in fastmmd test.
    sample_rows
        As in fastmmd test.
    kernel
        As in fastmmd test.
    threads
        As in fastmmd test.
    """
    samples = open_samples(a, b, by, reading)
    with gathering_notes() as told:
        found = _plan(samples, columns, sample_rows, kernel, threads)
    found["notes"] += told
    if output.json:
        write_json(found)
    else:
        write_report(found["what"], [("why", found["why"]), *_fields(found)])
    return 0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """The first rows of a source, and what they tell about the rest.

    Parameters
    ----------
    table : pyarrow.Table
        The rows that meet the condition.
    n_rows : int or None
        Rows there are to read; None if that cannot be told.
    known : bool
        Whether the number of rows that meet the condition is sure.
    share : float
        Share of the rows that meet the condition.
    row_seconds : float
        Time to read a row.
    """

    table: pa.Table
    n_rows: int | None
    known: bool
    share: float
    row_seconds: float


def _plan(
    samples: Sequence[Sample],
    columns: Columns,
    sample_rows: int | None,
    kernel: str,
    threads: int | None,
) -> dict[str, Any]:
    from fastmmd.tables import new_sketch
    from fastmmd.tables.sketching import check_threads

    threads = check_threads(threads)
    reference = next((s.sketch for s in samples if s.sketch is not None), None)
    sources = [s.source for s in samples if s.source is not None]
    used, told = _columns(reference, sources, columns)
    looks = [_look(source, used) for source in sources]
    tables = [look.table for look in looks if look.table.num_rows]
    rows: list[int | None] = []
    sure: list[bool] = []
    remaining = iter(looks)
    for sample in samples:
        if sample.sketch is not None:
            rows.append(sample.sketch.count)
            sure.append(True)
            continue
        look = next(remaining)
        rows.append(None if look.n_rows is None else round(look.n_rows * look.share))
        sure.append(look.known)
    total = sum(n for n in rows if n is not None)
    empty = reference
    if empty is None and tables:
        options = columns.keywords()
        # The first rows alone, not the rest, decide which columns look odd.
        empty = new_sketch(*tables, n_rows=max(total, 4), kernel=kernel, **options)
    passes = 1 if reference is not None or sample_rows is not None else 2
    seconds, memory = _cost(empty, looks, passes, sample_rows, threads)
    what, why = _words(reference, sources, sample_rows)
    return {
        "what": what,
        "why": why,
        "samples": [sample.name for sample in samples],
        "rows": rows,
        "rows_are": ["known" if known else "estimated" for known in sure],
        "bytes": [None if s.source is None else s.source.n_bytes for s in samples],
        "passes": passes,
        "columns": list(used),
        "numbers_per_row": None if empty is None else empty.n_columns,
        "kernels": [] if empty is None else [repr(k) for k in empty.kernels],
        "n_frequencies": [] if empty is None else list(empty.n_frequencies),
        "threads": threads,
        "seconds": seconds,
        "memory_bytes": memory,
        "notes": told,
    }


def _columns(
    reference: Sketch | None, sources: Sequence[Source], columns: Columns
) -> tuple[Sequence[str], list[str]]:
    if reference is not None:
        told: list[str] = []
        if sources:
            from fastmmd.tables import schema_of

            schema = schema_of(reference)
            for source in sources:
                told += schema.check(source.schema, origin=f"`{source.name}`").notes
        return sketch_columns(reference), told
    from fastmmd.tables.schema import SchemaOptions

    options = SchemaOptions(**columns.keywords())
    return options.choose([source.schema for source in sources])


def _look(source: Source, used: Sequence[str]) -> Look:
    """Read the first rows of a source and time it."""
    import pyarrow as pa

    batches, n_read, n_rows, seconds = [], 0, 0, 0.0
    start = time.perf_counter()
    for batch in itertools.chain.from_iterable(
        source.read(part, used) for part in source.parts()
    ):
        seconds = time.perf_counter() - start
        batches.append(batch.data)
        n_read += batch.n_read
        n_rows += batch.data.num_rows
        if n_rows >= _LOOK_ROWS or n_read >= _MOST_ROWS:
            ended = False
            break
    else:
        ended = True
    schema = pa.schema([source.schema.field(name) for name in used])
    table = pa.Table.from_batches(batches) if batches else schema.empty_table()
    known = n_read if ended else source.n_rows
    return Look(
        table.slice(0, _LOOK_ROWS),
        estimate_rows(source) if known is None else known,
        ended or (known is not None and source.condition is None),
        n_rows / max(n_read, 1),
        seconds / max(n_read, 1),
    )


def _cost(
    empty: Sketch | None,
    looks: Sequence[Look],
    passes: int,
    sample_rows: int | None,
    threads: int,
) -> tuple[float | None, int | None]:
    """Return seconds and bytes, None where the rows are not known."""
    from fastmmd.tables import sketch_source
    from fastmmd.tables.source import batch_rows_for

    if empty is None or (looks and not any(look.table.num_rows for look in looks)):
        return None, None
    reading = computing = 0.0
    lacking = False
    for look in looks:
        if look.n_rows is None or not look.table.num_rows:
            lacking = True
            continue
        # Of all processors together: part of the work may use several by itself.
        start = time.process_time()
        sketch_source(look.table, like=empty)
        row_seconds = (time.process_time() - start) / look.table.num_rows
        kept = look.n_rows * look.share
        reading += passes * look.n_rows * look.row_seconds
        computing += min(kept, sample_rows or kept) * row_seconds
    seconds = _START_SECONDS + reading + computing / threads
    memory = _resident() + (threads + 2) * empty.nbytes
    if looks:
        batch = 8 * batch_rows_for(empty.n_columns) * empty.n_columns
        # Batches that are read ahead, that wait, and that are being computed.
        memory += 2 * (threads + 4) * batch
    if sample_rows is not None:
        memory += 4 * 8 * 2 * sample_rows * empty.n_columns
    return None if lacking else seconds, memory


def _resident() -> int:
    """Return the most memory that this process has had."""
    import resource
    import sys

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def _words(
    reference: Sketch | None, sources: Sequence[Source], sample_rows: int | None
) -> tuple[str, str]:
    """Return what would be done, and why."""
    if not sources:
        return "Compare two sketches.", "No data need to be read."
    if reference is not None:
        return (
            "Sketch the data in one pass, like the sketch, and compare.",
            "The sketch has decided columns, scales and kernels.",
        )
    if sample_rows is not None:
        return (
            f"Draw {sample_rows:,} rows of each in one pass and test them in memory.",
            "--sample-rows asks for it.",
        )
    return (
        "Sketch both in two passes and compare.",
        (
            "A sample from the first pass decides scales and kernels; in the second, sums "
            "over random frequencies take the place of all pairs of rows, and the level "
            "stays exact."
        ),
    )


def _fields(found: dict[str, Any]) -> Fields:
    fields: Fields = []
    for name, rows, sure, n_bytes in zip(
        found["samples"], found["rows"], found["rows_are"], found["bytes"], strict=True
    ):
        about = "" if sure == "known" else "about "
        number = "an unknown number" if rows is None else f"{about}{_rounded(rows, sure)}"
        bytes_ = "" if n_bytes is None else f" ({size(n_bytes)})"
        label = "" if fields else "rows"
        fields.append((label, f"{number} of {name}{bytes_}"))
    if found["columns"]:
        numbers = found["numbers_per_row"]
        more = "" if numbers is None else f"; {numbers} numbers a row"
        fields.append(("columns", names(found["columns"]) + more))
    if found["kernels"]:
        frequencies = sum(found["n_frequencies"])
        fields.append(("kernels", f"{len(found['kernels'])}, {frequencies} frequencies"))
    seconds, memory = found["seconds"], found["memory_bytes"]
    if seconds is None:
        fields.append(("time", "cannot be told from the first rows"))
    else:
        threads = found["threads"]
        threads = f"{threads} thread{'s' if threads > 1 else ''}"
        fields.append(("time", f"about {duration(seconds)} with {threads}"))
    if memory is not None:
        fields.append(("memory", f"about {size(memory)}, whatever the number of rows"))
    return fields + notes(found["notes"])


def _rounded(rows: int, sure: str) -> str:
    return f"{rows:,}" if sure == "known" else f"{float(f'{rows:.2g}'):,.0f}"
