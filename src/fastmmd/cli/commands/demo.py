"""``fastmmd demo``: sample data and what to do with them."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

from fastmmd._files import writing
from fastmmd.cli.errors import UsageError
from fastmmd.cli.options import DEFAULT_OUTPUT, Output
from fastmmd.cli.output import write_json, write_report

_MONTHS = {"july": 7, "october": 10}


def demo(
    folder: Path = Path("fastmmd-demo"), /, *, output: Output = DEFAULT_OUTPUT
) -> int:
    """Write sample data into a folder and show the first commands to try.

    A year of hourly weather at the airports of New York (public domain): july.csv and
    october.csv, and all of 2013 in weather.parquet, with a column that says how a coin fell
    that was tossed for each row.

    Parameters
    ----------
    folder
        Where to write; a new or empty folder, or that of an earlier demo.
    """
    tables = _tables()
    place = folder.expanduser()
    if place.exists() and not place.is_dir():
        msg = f"`{folder}` must be a folder; it is a file."
        raise UsageError(msg)
    others = (
        [p.name for p in place.iterdir() if p.name not in tables]
        if place.exists()
        else []
    )
    if others and not set(tables) <= {p.name for p in place.iterdir()}:
        msg = f"`{folder}` must be new or empty; it holds {others[0]!r}."
        raise UsageError(msg)
    place.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        _write(place / name, table)
    try_next = [
        f"fastmmd inspect {_word(folder / 'july.csv')}",
        f"fastmmd test {_word(folder / 'july.csv')} {_word(folder / 'october.csv')}",
        f"fastmmd test {_word(folder / 'weather.parquet')} --by coin",
    ]
    files = [os.fspath(folder / name) for name in tables]
    if output.json:
        write_json({"files": files, "try": try_next})
        return 0
    rows = {name: f"{table.num_rows:,} rows" for name, table in tables.items()}
    fields = [(os.fspath(folder / name), text) for name, text in rows.items()]
    write_report(f"Wrote sample data into {folder}.", fields)
    write_report("\nTry next:", [("", command) for command in try_next])
    return 0


def _tables() -> dict[str, Any]:
    """Return the sample data as tables, by the names of their files."""
    import numpy as np
    import pyarrow as pa

    from fastmmd.datasets import load_airport_weather

    weather = load_airport_weather()
    measured = {
        # Stored in single precision: shown with the digits that were measured.
        name: pa.array(np.round(weather.values[:, i], 2))
        for i, name in enumerate(weather.columns)
    }
    coin = np.random.default_rng(2013).integers(2, size=len(weather.values))
    year = pa.table(
        {
            "airport": pa.array(weather.airport.tolist()),
            "month": pa.array(weather.month),
            "day": pa.array(weather.day),
            "hour": pa.array(weather.hour),
            **measured,
            "coin": pa.array(np.array(["heads", "tails"])[coin].tolist()),
        }
    )
    months = {
        f"{name}.csv": year.filter(pa.array(weather.month == number)).drop_columns(
            ["month", "coin"]
        )
        for name, number in _MONTHS.items()
    }
    return months | {"weather.parquet": year}


def _write(path: Path, table: Any) -> None:
    """Write a table; the old file stays until the new one is complete."""
    from pyarrow import csv, parquet

    write = csv.write_csv if path.suffix == ".csv" else parquet.write_table
    with writing(path) as stream:
        write(table, stream)


def _word(path: Path) -> str:
    """Return a path as one would type it."""
    return shlex.quote(os.fspath(path))
