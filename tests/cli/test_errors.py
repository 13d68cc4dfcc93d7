"""Every error is one line that says what to do, with the right exit status."""

from __future__ import annotations

import json
import os
import re
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastmmd
from fastmmd import tables
from fastmmd.cli import errors
from fastmmd.cli.errors import explain, translate


@pytest.fixture(scope="module")
def bad(tmp_path_factory):
    """Return a folder with things that cannot be used."""
    folder = tmp_path_factory.mktemp("bad")
    good = pa.table({"x": np.arange(50.0), "y": np.arange(50.0) % 7})
    pq.write_table(good, folder / "good.parquet")
    data = (folder / "good.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(data[:-30])
    (folder / "ragged.csv").write_text("x,y\n1,2\n3,4,5\n")
    os.mkfifo(folder / "pipe")
    os.mkfifo(folder / "pipe.mmd")
    (folder / "semicolons.csv").write_text("x;y\n1;2\n3;4\n")
    (folder / "tabs.csv").write_text("x\ty\n1,5\t2\n")
    (folder / "latin.csv").write_bytes("x,y\nZürich,1\nBern,2\n".encode("latin1"))
    (folder / "words.csv").write_text("x,y\n1,2\n3,four\n")
    pq.write_table(pa.table({"z": [1.0, 2.0]}), folder / "others.parquet")
    empty = pa.table({"x": pa.array([None] * 50, pa.float64()), "y": good["y"]})
    pq.write_table(empty, folder / "empty.parquet")
    pq.write_table(good.slice(0, 0), folder / "none.parquet")
    pq.write_table(good.slice(0, 1), folder / "one.parquet")
    gaps = pa.table({"x": [None, None, 1.0], "y": [1.0, 2.0, 3.0]})
    pq.write_table(gaps, folder / "gaps.parquet")
    holes = [None, *range(49)]
    pq.write_table(pa.table({"x": holes, "y": good["y"]}), folder / "holes.parquet")
    (folder / "cut.mmd").write_bytes(b"FASTMMD\0 and then nothing")
    for name, n_rows, dim in (("a", 5, 1), ("b", 5, 2), ("single", 1, 1)):
        sketch = fastmmd.Sketch(fastmmd.Gaussian(1.0), dim, stream=name)
        sketch.update(np.ones((n_rows, dim)))
        sketch.save(folder / f"{name}.mmd")
    made = tables.sketch_source(
        folder / "good.parquet", checkpoint=folder / "half.mmd.part"
    )
    made.save(folder / "family.mmd")
    return folder


GOOD = ("{0}/good.parquet", "{0}/good.parquet")

CASES = {
    "wrong path": (
        ("test", "{0}/god.parquet", GOOD[0]),
        (
            3,
            r"must be a file or a folder; there is none\. Did you mean `.*/good.parquet`\?",
        ),
    ),
    "wrong sketch": (
        ("inspect", "{0}/cutt.mmd"),
        (3, r"there is none\. Did you mean `.*/cut.mmd`\?"),
    ),
    "no such sketch": (
        ("inspect", "{0}/january.mmd"),
        (3, "there is none. In `.*` there is `a.mmd`, `b.mmd`"),
    ),
    "wrong folder": (("inspect", "{0}/no/c.mmd"), (3, "must be a sketch file")),
    "corrupt footer": (("test", "{0}/cut.parquet", GOOD[0]), (3, r"cut\.parquet")),
    "delimiter of the file": (
        ("inspect", "{0}/semicolons.csv"),
        (3, "Pass `--delimiter ';'`, or `--delimiter ,` if it is one column"),
    ),
    "tabs": (
        ("inspect", "{0}/tabs.csv"),
        (3, "If values are separated by '.t', pass `--delimiter tab`"),
    ),
    "encoding of the file": (
        ("test", "{0}/latin.csv", "{0}/latin.csv"),
        (3, "in the encoding utf-8; column `x` is not.*`--encoding latin1`"),
    ),
    "encoding": (
        ("inspect", "{0}/latin.csv", "--encoding", "latin-one"),
        (2, "`--encoding` must be the name of an encoding"),
    ),
    "ragged": (("inspect", "{0}/ragged.csv"), (3, "line 3, must have 2 values")),
    "words among numbers": (
        ("test", "{0}/words.csv", GOOD[0]),
        (3, "must hold the same kind of data"),
    ),
    "no common columns": (("test", "{0}/others.parquet", GOOD[0]), (3, "in common")),
    "no values": (
        ("test", "{0}/empty.parquet", "{0}/empty.parquet"),
        (3, "only missing ones in `x`. Leave out with `--exclude x`"),
    ),
    "missing values": (
        ("test", "{0}/holes.parquet", GOOD[0]),
        (3, "--missing"),
    ),
    "no rows": (("test", "{0}/none.parquet", GOOD[0]), (3, "must have at least one row")),
    "one row": (
        ("test", "{0}/one.parquet", GOOD[0]),
        (3, r"`.*/one.parquet` must have at least 2 rows; got 1\."),
    ),
    "one row of a sample": (
        ("test", GOOD[0], "{0}/one.parquet", "--sample-rows", "20"),
        (3, r"`.*/one.parquet` must have at least 2 rows; got 1\."),
    ),
    "one row without missing values": (
        ("test", GOOD[0], "{0}/gaps.parquet", "--missing", "drop"),
        (
            3,
            "gaps.parquet` must have at least 2 rows; got 1 without missing values, of 3",
        ),
    ),
    "one row in a sketch": (
        ("compare", "{0}/a.mmd", "{0}/single.mmd"),
        (3, r"`.*/single.mmd` must have at least 2 rows; got 1\."),
    ),
    "no rows left": (("test", *GOOD, "--where", "x > 99"), (3, "none does")),
    "cut sketch": (("compare", "{0}/cut.mmd", "{0}/a.mmd"), (3, "checksum")),
    "other sketch": (
        ("compare", "{0}/a.mmd", "{0}/b.mmd"),
        (
            3,
            (
                "error: sketches must be made alike to be compared: make both with the same "
                "--like, or .*--like OTHER`. They differ in n_columns: 1 and 2"
            ),
        ),
    ),
    "merge others": (
        ("merge", "{0}/a.mmd", "{0}/b.mmd", "-o", "{0}/ab.mmd"),
        (3, "b.mmd`: sketches must be made alike to be merged: make both with .*--like"),
    ),
    "merge twice": (
        ("merge", "{0}/a.mmd", "{0}/a.mmd", "-o", "{0}/aa.mmd"),
        (3, "must hold different data"),
    ),
    "data like plain numbers": (
        ("test", "{0}/a.mmd", GOOD[0]),
        (3, "made of plain numbers"),
    ),
    "unknown column": (("test", *GOOD, "--columns", "x,w"), (2, "`--columns` must name")),
    "unknown in by": (("test", GOOD[0], "--by", "w"), (2, "`--by` must name columns")),
    "bad condition": (("test", *GOOD, "--where", "x >"), (2, "`--where` must be")),
    "unlike condition": (("test", *GOOD, "--where", "x = 'a'"), (2, "`--where` must")),
    "seed": (("test", *GOOD, "--seed", "-1"), (2, "--seed must be an integer of at")),
    "seed of a sketch": (
        ("sketch", GOOD[0], "-o", "{0}/c.mmd", "--seed", "-1"),
        (2, "--seed must be an integer of at least 0; got -1"),
    ),
    "seconds": (
        ("sketch", GOOD[0], "-o", "{0}/c.mmd", "--checkpoint-seconds", "0"),
        (2, "`--checkpoint-seconds` must be a finite number greater than 0"),
    ),
    "kinds": (
        (
            "test",
            "{0}/latin.csv",
            "{0}/latin.csv",
            "--encoding",
            "latin1",
            "--kinds",
            "x=time",
        ),
        (
            2,
            '`--kinds` must say "categorical" of column `x`, which is string; got "time"',
        ),
    ),
    "types that do not fit": (
        ("test", "{0}/semicolons.csv", GOOD[0], "--delimiter", ";", "--types", "x=date"),
        (3, "column `x` must be of type date32.* as asked for with `--types`; got '1'.$"),
    ),
    "no path": (("inspect", ""), (3, "must be a path, a pattern or a URL")),
    "no match": (("inspect", "{0}/*.arrow"), (3, "a pattern that some files match")),
    "level": (
        ("test", *GOOD, "--level", "2"),
        (2, "`--level` must be a number strictly"),
    ),
    "level out of reach": (
        ("test", *GOOD, "--level", "0.0001"),
        (2, "--n-resamples must be at least 9999 for --level 0.0001: no p-value of 999"),
    ),
    "threads": (("test", *GOOD, "--threads", "0"), (2, "`--threads` must be")),
    "resamples": (("test", *GOOD, "--n-resamples", "0"), (2, "`--n-resamples` must")),
    "margin": (("test", *GOOD, "--margin", "1"), (2, "`--margin` must be used with")),
    "bins": (
        ("sketch", GOOD[0], "-o", "{0}/c.mmd", "--bins", "5"),
        (2, "`--bins` must be a power of two"),
    ),
    "delimiter": (
        ("inspect", "{0}/words.csv", "--delimiter", "ab"),
        (2, "one character"),
    ),
    "types": (("inspect", "{0}/words.csv", "--types", "x"), (2, "--types must be NAME=")),
    "type": (("inspect", "{0}/words.csv", "--types", "x=y"), (2, "`--types` must")),
    "types of parquet": (("inspect", GOOD[0], "--types", "x=string"), (2, "left out")),
    "one data set": (("test", GOOD[0]), (2, "needs a second data set, or --by")),
    "by and two": (("test", *GOOD, "--by", "x"), (2, "--by splits one data set")),
    "by with three": (
        ("test", GOOD[0], "--by", "y=1,2,3"),
        (2, r"has 3 values \(1, 2, 3\). Choose two: --by y=1,2"),
    ),
    "by with seven": (("test", GOOD[0], "--by", "y"), (2, "has 7 values")),
    "columns of a sketch": (
        ("test", "{0}/a.mmd", GOOD[0], "--columns", "x", "--kernel", "laplace"),
        (2, "--columns, --kernel must be left out: the sketch decides"),
    ),
    "sample of a sketch": (
        ("test", "{0}/a.mmd", GOOD[0], "--sample-rows", "9"),
        (2, "--sample-rows must be left out"),
    ),
    "no data": (("sketch", "-o", "{0}/c.mmd"), (2, "sketch needs data")),
    "no sketches": (("merge", "-o", "{0}/c.mmd"), (2, "at least one sketch")),
    "no output": (("sketch", GOOD[0]), (2, "--output")),
    "margin of a family": (
        ("test", "{0}/family.mmd", "{0}/holes.parquet", "--margin", "1"),
        (2, "`--margin` must be used with sketches of one kernel"),
    ),
    "missing values, compared with a sketch": (
        ("test", "{0}/family.mmd", "{0}/holes.parquet"),
        (3, "Make the reference sketch with `--missing drop` to leave such rows out"),
    ),
    "output folder": (("sketch", GOOD[0], "-o", "{0}"), (2, "is a folder")),
    "output to a pipe, resumed": (
        ("sketch", GOOD[0], "-o", "{0}/pipe", "--resume"),
        (2, "--resume needs a file as --output; `.*/pipe` is a pipe or a device"),
    ),
    "data from a pipe": (
        ("test", GOOD[0], "{0}/pipe"),
        (3, "it is a device or a pipe, and data are read more than once"),
    ),
    "data from standard input": (
        ("test", GOOD[0], "-"),
        (2, "`-` stands for no data: .*write what comes from a pipe to a file first"),
    ),
    "sketch from a pipe": (
        ("compare", "{0}/pipe", "{0}/a.mmd"),
        (3, "/pipe` is a pipe, which cannot be read; write it to a file first"),
    ),
    "merge of a pipe": (
        ("merge", "{0}/a.mmd", "{0}/pipe", "-o", "{0}/c.mmd"),
        (3, "/pipe` is a pipe, which cannot be read; write it to a file first"),
    ),
    "sketch from a pipe that is called a sketch": (
        ("compare", "{0}/a.mmd", "{0}/pipe.mmd"),
        (3, "/pipe.mmd` is a pipe, which cannot be read; write it to a file first"),
    ),
    "output to standard output": (
        ("sketch", GOOD[0], "-o", "-"),
        (2, "`-` stands for no output: `-o /dev/stdout` writes the sketch to standard"),
    ),
    "output to standard output, in one word": (
        ("merge", "{0}/a.mmd", "--output=-"),
        (2, "--output must be a file; `-o /dev/stdout` writes to standard output"),
    ),
    "output over data": (
        ("sketch", "{0}/words.csv", "-o", "{0}/words.csv"),
        (
            2,
            "--output must be a new file or a sketch, which is replaced; `.*words.csv` is",
        ),
    ),
    "merge over data": (
        ("merge", "{0}/a.mmd", "-o", "{0}/good.parquet"),
        (2, "--output must be a new file or a sketch"),
    ),
    "sketch of a sketch": (
        ("sketch", "{0}/a.mmd", "-o", "{0}/c.mmd"),
        (2, "a.mmd` is a sketch already. `fastmmd merge` adds sketches up"),
    ),
    "compare data": (
        ("compare", GOOD[0], "{0}/a.mmd"),
        (3, "good.parquet` must be a sketch; it is none. `fastmmd test` takes data, too"),
    ),
    "inspect a checkpoint": (
        ("inspect", "{0}/half.mmd.part"),
        (
            3,
            "half.mmd.part` must be .*; it is the checkpoint of one that is not finished",
        ),
    ),
    "output to a bucket": (
        ("sketch", GOOD[0], "-o", "s3://bucket/c.mmd"),
        (2, "--output must be a local file, to be copied where you want it"),
    ),
    "output nowhere": (("sketch", GOOD[0], "-o", "{0}/no/c.mmd"), (2, "that exists")),
    "unknown option": (
        ("test", *GOOD, "--wher", "x"),
        (2, "unknown option: --wher. Did you mean --where"),
    ),
    "unknown command": (("tset", *GOOD), (2, 'Did you mean "test"')),
    "not a number": (("test", *GOOD, "--seed", "x"), (2, "invalid value for --seed")),
    "unknown choice": (("test", *GOOD, "--missing", "x"), (2, "invalid value")),
    "unquoted pattern": (
        ("test", *GOOD, "c.parquet"),
        (2, "unexpected `c.parquet`. A pattern for several files must be in quotes"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_errors_are_one_line(name, bad, call):
    words, (status, message) = CASES[name]
    before = sorted(path.name for path in bad.iterdir())
    done = call(*(word.format(bad) for word in words))
    assert done.returncode == status
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert re.search(message, done.stderr), done.stderr
    assert sorted(path.name for path in bad.iterdir()) == before


@pytest.mark.parametrize(
    "name", ["wrong path", "ragged", "level", "unknown option", "one data set"]
)
def test_errors_are_json_too(name, bad, call):
    words, (status, _) = CASES[name]
    plain = call(*(word.format(bad) for word in words))
    done = call(*(word.format(bad) for word in words), "--json")
    assert (done.returncode, done.stderr) == (status, plain.stderr)
    message = done.stderr.removeprefix("error: ").removesuffix("\n")
    kind = {2: "usage", 3: "data"}[status]
    assert done.stdout.count("\n") == 1
    assert json.loads(done.stdout) == {
        "error": {"kind": kind, "status": status, "message": message}
    }


def test_interruptions_and_defects_are_json_too(files, call, monkeypatch):
    import fastmmd.tables

    for error, status, kind in (
        (KeyboardInterrupt(), 130, "interrupted"),
        (RuntimeError("oh"), 70, "defect"),
    ):

        def fail(*_, error=error, **__):
            raise error

        monkeypatch.setattr(fastmmd.tables, "two_sample_test", fail)
        done = call("test", files / "a.parquet", files / "b.parquet", "--json")
        assert done.returncode == status
        assert json.loads(done.stdout)["error"]["kind"] == kind


@pytest.mark.parametrize("name", ["wrong path", "level", "unknown option"])
def test_errors_of_the_real_command(name, bad, run):
    words, (status, _) = CASES[name]
    done = run(*(word.format(bad) for word in words))
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_debug_shows_where(bad, call):
    done = call("test", bad / "cut.parquet", bad / "good.parquet", "--debug")
    assert done.returncode == 3
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: ")


def test_like_decides(files, tmp_path, call):
    a = tmp_path / "a.mmd"
    call("sketch", files / "a.parquet", "-o", a)
    words = ("sketch", files / "b.parquet", "-o", tmp_path / "b.mmd", "--like", a)
    done = call(*words, "--seed", "3", "--columns", "f0")
    assert done.returncode == 2
    assert "`--columns`, `--seed` must be left out with `--like`" in done.stderr


def test_a_folder_that_cannot_be_written(files, tmp_path, call, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    done = call("sketch", files / "a.parquet", "-o", tmp_path / "a.mmd")
    assert done.returncode == 2
    assert "can be written" in done.stderr


def test_a_missing_extra_is_named(monkeypatch, call):
    monkeypatch.setitem(sys.modules, "cyclopts", None)
    done = call("--help")
    assert done.returncode == 2
    assert done.stderr == (
        'error: the command line needs cyclopts: pip install "fastmmd[cli]"\n'
    )


def test_other_warnings_are_shown(files, tmp_path, call, monkeypatch):
    import warnings

    import fastmmd.tables

    make = fastmmd.tables.sketch_source

    def warn(*words, **options):
        warnings.warn("not quite as accurate", fastmmd.ToleranceWarning, stacklevel=2)
        return make(*words, **options)

    monkeypatch.setattr(fastmmd.tables, "sketch_source", warn)
    done = call("sketch", files / "a.parquet", "-o", tmp_path / "a.mmd")
    assert done.returncode == 0
    assert done.stderr == "warning: not quite as accurate\n"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(28, "No space left on device", "x.mmd"), ("`x.mmd`: No space left", 3)),
        (OSError("curl failed"), ("curl failed", 3)),
        (MemoryError(), ("there is not enough memory.", 3)),
        (fastmmd.MissingDependencyError("pip install it"), ("pip install it", 2)),
        (pa.ArrowInvalid("what"), ("what", 3)),
        (pa.ArrowKeyError("what"), ("what", 3)),
        (RuntimeError("oh"), ("RuntimeError: oh. This should not happen", 70)),
        (ValueError("`n_bins` must be"), ("`--bins` must be", 2)),
        (UnicodeDecodeError("utf8", b"x", 0, 1, "bad"), ("'utf8' codec", 3)),
    ],
)
def test_explain(error, expected):
    status, text = explain(error)
    assert text.startswith(expected[0])
    assert status == expected[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Leave out with `exclude=['a', 'b c']`.", "Leave out with `--exclude 'a,b c'`."),
        ('Pass `missing="indicator"`.', "Pass `--missing indicator`."),
        ("pass `types={'zip': 'string'}`.", "pass `--types zip=string`."),
        ("Pass `format`, one of", "Pass `--format`, one of"),
        ("(consider `exclude`): `level`.", "(consider `--exclude`): `level`."),
        ("missing values in `level`, `by`", "missing values in `level`, `by`"),
        ("Pass `delimiter='\\t'`.", "Pass `--delimiter tab`."),
        ("`speed=fast` stays", "`speed=fast` stays"),
        ("`level=not python` moves", "`--level 'not python'` moves"),
    ],
)
def test_translate(text, expected):
    assert translate(text) == expected


def test_every_name_of_the_table_is_an_option():
    from fastmmd.cli.app import COMMANDS, make_app

    app = make_app()
    known = {
        name
        for command in COMMANDS
        for argument in app[command].assemble_argument_collection()
        for name in argument.names
    }
    assert set(errors._OPTIONS.values()) <= known


def test_kernel_names_are_those_of_the_library():
    from typing import get_args

    from fastmmd.bandwidth import KERNEL_NAMES
    from fastmmd.cli.options import KernelName

    assert get_args(KernelName) == ("adaptive", *KERNEL_NAMES)
