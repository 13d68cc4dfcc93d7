"""``fastmmd test``."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from fastmmd.cli.data import check_counts, gathering_notes, open_samples
from fastmmd.cli.errors import DIFFERENCE, UsageError
from fastmmd.cli.options import (
    DEFAULT_COLUMNS,
    DEFAULT_OUTPUT,
    DEFAULT_READING,
    DEFAULT_TESTING,
    Columns,
    DataPath,
    KernelName,
    Output,
    Reading,
    Testing,
)
from fastmmd.cli.output import result_fields, write_json, write_report
from fastmmd.cli.progress import watching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastmmd._twosample import TwoSampleResult
    from fastmmd.cli.data import Sample
    from fastmmd.cli.progress import Watcher


def run_test(
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
    testing: Testing = DEFAULT_TESTING,
    output: Output = DEFAULT_OUTPUT,
) -> int:
    """Test whether two data sets have the same distribution.

    Columns are matched by name. Files are read in two passes, one for a sample that decides
    scales and kernels and one for the test, in memory that does not grow with them. If one
    side is a sketch, the other is read once, the way the sketch was made.

    Parameters
    ----------
    a
        Data or a sketch.
    b
        Data or a sketch to compare with; left out with --by.
    by
        Split one data set by a column into two samples; the values may be left out if there
        are only two.
    sample_rows
        Test only so many rows of each, drawn at random.
    kernel
        Kernel; "adaptive" combines several.
    threads
        Threads that compute; it does not change the result.
    """
    samples = open_samples(a, b, by, reading)
    asked = testing.keywords()
    with watching(quiet=output.quiet) as watcher:
        if all(sample.source is not None for sample in samples):
            from fastmmd.tables import two_sample_test

            result = two_sample_test(
                *(sample.source for sample in samples),
                **columns.keywords(),
                **asked,
                sample_rows=sample_rows,
                kernel=kernel,
                n_threads=threads,
                progress=watcher,
            )
        else:
            given = columns.given()
            given += ["--sample-rows"] if sample_rows is not None else []
            given += ["--kernel"] if kernel != "adaptive" else []
            if given:
                msg = f"{', '.join(given)} must be left out: the sketch decides."
                raise UsageError(msg)
            result = _test_sketches(samples, asked, threads, watcher)
    report_result(
        result,
        samples=[sample.name for sample in samples],
        testing=testing,
        output=output,
    )
    return exit_status(result, testing)


def report_result(
    result: TwoSampleResult,
    /,
    *,
    samples: Sequence[str],
    testing: Testing,
    output: Output,
) -> None:
    """Print the result of a test."""
    if output.json:
        write_json(result.to_dict())
        return
    sentence = str(result).partition("\n")[0]
    fields = result_fields(result, samples=samples, seed=testing.seed)
    style = "bold yellow" if result.rejects() else "bold green"
    write_report(sentence, fields, style=style)


def exit_status(result: TwoSampleResult, testing: Testing, /) -> int:
    """Return the status that a pipeline goes by."""
    return DIFFERENCE if testing.fail_on_difference and result.rejects() else 0


def _test_sketches(
    samples: Sequence[Sample],
    asked: dict[str, Any],
    threads: int | None,
    watcher: Watcher,
) -> TwoSampleResult:
    """Sketch the side that is data like the side that is a sketch, and compare."""
    from fastmmd import compare
    from fastmmd._twosample.compare import check_asked

    reference = next(s.sketch for s in samples if s.sketch is not None)
    sketches, left_out = [], []
    with gathering_notes() as notes:
        for sample in samples:
            if sample.sketch is not None:
                sketches.append(sample.sketch)
                continue
            from fastmmd.tables import sketch_source

            check_asked(
                reference.kernels,
                null="auto",
                **{name: asked[name] for name in ("n_resamples", "level", "margin")},
            )
            made = sketch_source(
                sample.source, like=reference, n_threads=threads, progress=watcher
            )
            sketches.append(made)
            n_dropped = watcher.n_dropped.get(sample.name, 0)
            if n_dropped:
                left_out.append(
                    f"{n_dropped} of {n_dropped + made.count} rows of `{sample.name}`, "
                    "with missing values, left out."
                )
        names = [sample.name for sample in samples]
        check_counts(zip(names, sketches, strict=True))
        result = compare(*sketches, **asked)
    return dataclasses.replace(result, notes=(*notes, *left_out))


def sketch_columns(sketch: Any, /) -> Sequence[str]:
    """Return the columns of the table that a sketch is of, if it is of one."""
    if sketch.schema is None:
        return ()
    from fastmmd.tables import schema_of

    return schema_of(sketch).names
