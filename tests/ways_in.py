"""Every way to put the same two samples to the same test."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import fastmmd


def arrays(x, y, _folder, **options):
    return fastmmd.two_sample_test(x, y, **options)


def single_arrays(x, y, _folder, **options):
    return fastmmd.two_sample_test(x.astype(np.float32), y.astype(np.float32), **options)


def _named(values):
    return {f"c{i}": column for i, column in enumerate(values.T)}


def pandas_frames(x, y, _folder, **options):
    frames = (pd.DataFrame(_named(values)) for values in (x, y))
    return fastmmd.two_sample_test(*frames, **options)


def polars_frames(x, y, _folder, **options):
    frames = (pl.DataFrame(_named(values)) for values in (x, y))
    return fastmmd.two_sample_test(*frames, **options)


def _files(x, y, folder, suffix, write, **options):
    paths = [folder / f"{name}.{suffix}" for name in "xy"]
    for path, values in zip(paths, (x, y), strict=True):
        write(pa.table(_named(values)), path)
    return fastmmd.tables.two_sample_test(*paths, **options)


def parquet_files(x, y, folder, **options):
    return _files(x, y, folder, "parquet", pyarrow.parquet.write_table, **options)


def csv_files(x, y, folder, **options):
    return _files(x, y, folder, "csv", pyarrow.csv.write_csv, **options)


def npy_files(x, y, folder, **options):
    def write(table, path):
        np.save(path, np.column_stack([c.to_numpy() for c in table.columns]))

    return _files(x, y, folder, "npy", write, **options)


def _sketches(x, y, *, merged, **options):
    step = -(-len(x) // 500)
    empty = fastmmd.Sketch.adaptive(
        np.concatenate([x[::step], y[: 500 * step : step]]), n_rows=len(x) + len(y)
    )
    made = []
    for name, values in (("x", x), ("y", y)):
        if not merged:
            made.append(empty.like(stream=name))
            made[-1].update(values)
            continue
        parts = []
        for i, part in enumerate(np.array_split(values, 3)):
            parts.append(empty.like(stream=f"{name}{i}"))
            parts[-1].update(part)
        made.append(sum(parts[::-1]))
    return fastmmd.compare(*made, **options)


def sketches(x, y, _folder, **options):
    return _sketches(x, y, merged=False, **options)


def merged_sketches(x, y, _folder, **options):
    return _sketches(x, y, merged=True, **options)


def groups_of_one(x, y, _folder, **options):
    groups = (np.arange(len(x)), len(x) + np.arange(len(y)))
    return fastmmd.two_sample_test(x, y, groups=groups, **options)


def two_of_k(x, y, _folder, **options):
    return fastmmd.k_sample_test(x, y, **options)


IN_MEMORY = (arrays, single_arrays, pandas_frames, polars_frames)
FROM_FILES = (parquet_files, csv_files, npy_files)
BY_SKETCH = (sketches, merged_sketches)
OTHERS = (groups_of_one, two_of_k)
ALL = (*IN_MEMORY, *FROM_FILES, *BY_SKETCH, *OTHERS)

METHODS = {
    f"{method}-{kernel}": functools.partial(arrays, method=method, kernel=kernel)
    for method in ("exact", "fourier", "fastfood")
    for kernel in ("adaptive", "gaussian")
} | {method: functools.partial(arrays, method=method) for method in ("linear", "block")}

NULLS = {
    f"{null}-{kernel}-{way.__name__}": functools.partial(way, null=null, kernel=kernel)
    for null in ("gamma", "pearson", "spectrum")
    for kernel in ("adaptive", "gaussian")
    for way in (arrays, parquet_files)
}
