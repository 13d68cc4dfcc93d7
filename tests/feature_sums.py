"""Sums of features the obvious way, and the features of single rows."""

from __future__ import annotations

import numpy as np
import precision
import scipy.sparse

from fastmmd._backends import Channel, Places
from fastmmd._rows import Rows


def one_bin_each(n_rows):
    """Return places that leave every row in a bin of its own: sums are then features."""
    return Places(np.arange(n_rows + 1, dtype=np.int64))


def row_features(family, rows, center=None):
    """Return the features of every row from a family of frequencies."""
    checked = rows if isinstance(rows, Rows) else Rows(rows)
    sums = np.zeros((checked.n_rows, family.edges[-1]))
    family.add_feature_sums(sums, checked, one_bin_each(checked.n_rows), center)
    return sums


def channel_list(*specs):
    """Return channels from (multiplier, n_frequencies), one after the other in a row."""
    channels, start = [], 0
    for multiplier, n in specs:
        channels.append(Channel(multiplier, n, start))
        start += 2 * n
    return tuple(channels)


def width(channels):
    return max(channel.start + 2 * channel.n_frequencies for channel in channels)


def as_long(rows):
    values = rows.toarray() if scipy.sparse.issparse(rows) else np.asarray(rows)
    return values.astype(np.longdouble)


def exact_features(rows, frequencies, channels, center=None):
    """Return features of every row from phases in extended precision."""
    values = as_long(rows)
    if center is not None:
        values = values - center.astype(np.longdouble)
    projection = values @ frequencies.astype(np.longdouble).T
    result = np.zeros((len(values), width(channels)))
    for channel in channels:
        n, start = channel.n_frequencies, channel.start
        turns = projection[:, :n] * np.longdouble(channel.multiplier)
        angles = 2 * np.arccos(np.longdouble(-1)) * (turns - np.rint(turns))
        result[:, start : start + n] = np.cos(angles)
        result[:, start + n : start + 2 * n] = np.sin(angles)
    return result


def feature_bounds(rows, frequencies, channels, center=None, *, single):
    """Bound the error of every row's features; see `precision`.

    `single` may be an array that says which rows are computed in single precision; the
    others are rounded to its steps all the same.
    """
    values = np.abs(as_long(rows).astype(float))
    if center is not None and not scipy.sparse.issparse(rows):
        values = np.abs(as_long(rows).astype(float) - center)
    sizes = values @ np.abs(frequencies).T
    if center is not None and scipy.sparse.issparse(rows):
        # Phases of sparse rows start from minus the center's: zeros stay zeros.
        sizes = sizes + np.abs(center) @ np.abs(frequencies).T
    result = np.zeros((len(values), width(channels)))
    steps = precision.doublings([channel.multiplier for channel in channels])
    mixed = isinstance(single, np.ndarray)
    for channel, n_doublings in zip(channels, steps, strict=True):
        n, start = channel.n_frequencies, channel.start
        options = {"n_columns": values.shape[1], "n_doublings": n_doublings}
        turns = sizes[:, :n] * channel.multiplier
        in_single, in_double = (
            precision.feature_error(turns, single=flag, **options)
            for flag in (True, False)
        )
        # The reference has phases in extended precision, which some machines lack.
        in_double = 2 * in_double
        if mixed:
            # Phases in double precision; of cosines no more than single is asked.
            value = precision.feature_error(0.0, single=True, **options)
            bound = np.where(single[:, None], in_single, in_double + value)
        else:
            bound = in_single if single else in_double
        result[:, start : start + n] = bound
        result[:, start + n : start + 2 * n] = bound
    return result


def fastfood_bounds(rows, blocks, channels, center, *, single):
    """Bound the error of Fastfood's features.

    A level of a transform rounds every sum by one `roundoff` of itself, so a transform of
    l levels has an error of l roundoffs of its result's length, and keeps errors in
    proportion. With lengths |x|, then sqrt(D) |x|, then at most max|G| sqrt(D) |x|, a phase
    is at most max|S| max|G| D |x|, and off by the levels of both transforms and six
    roundings (row, signs, normals, scales and two products) of that. A last block that is
    cut adds its parts one by one.
    """
    roundoff = precision.SINGLE if single else precision.DOUBLE
    padded = blocks.signs.shape[1]
    levels = 2 * np.log2(padded) + padded * (blocks.n_frequencies % padded != 0) + 6
    values = rows if center is None else rows - center
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    largest = np.abs(blocks.scales).max() * np.abs(blocks.normals).max() * padded
    steps = precision.doublings([channel.multiplier for channel in channels])
    result = np.zeros((len(rows), width(channels)))
    for channel, n_doublings in zip(channels, steps, strict=True):
        turns = largest * lengths * channel.multiplier
        error = 2 * np.pi * levels * roundoff * turns
        error = error + precision.value_error(roundoff, n_doublings)
        columns = slice(channel.start, channel.start + 2 * channel.n_frequencies)
        # Twice in double precision, for the reference's own errors.
        result[:, columns] = error + precision.STEP / 2 if single else 2 * error
    return result


def family_bounds(family, rows, center=None):
    """Bound the error of features of a family of dense frequencies, in single precision."""
    result = np.zeros((rows.shape[0], family.edges[-1]))
    for bundle in family.bundles:
        channels = tuple(
            Channel(1 / (2 * np.pi * m.bandwidth), m.n_frequencies, family.edges[m.index])
            for m in bundle.members
        )
        bounds = feature_bounds(
            rows, bundle.base.frequencies, channels, center, single=True
        )
        for channel in channels:
            columns = slice(channel.start, channel.start + 2 * channel.n_frequencies)
            result[:, columns] = bounds[:, columns]
    return result
