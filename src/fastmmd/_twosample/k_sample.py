"""`k_sample_test`: several samples at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np

from fastmmd._key import streams_of
from fastmmd._plan import resolve_method
from fastmmd._random import spawn
from fastmmd._rows import Rows, check_rows, is_table
from fastmmd._twosample.families import choose_kernels
from fastmmd._twosample.grams import send_to_bins
from fastmmd._twosample.layout import choose_layout
from fastmmd._twosample.result import remarks
from fastmmd._twosample.tables import tables_module
from fastmmd._twosample.test import (
    asked_frequencies,
    bin_sums,
    check_sizes,
    choose_method,
)
from fastmmd._validation import check_between, check_count
from fastmmd.nulls.bins import BinGram, u_statistics
from fastmmd.nulls.combine import combine
from fastmmd.nulls.k_sample import LabelledGram, k_sample_statistics, permute_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastmmd._typing import FloatArray, RNGLike, SampleLike
    from fastmmd.estimators import Method
    from fastmmd.kernels import Kernel


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KSampleResult:
    """Outcome of a test of several samples.

    Attributes
    ----------
    pvalue : float
        Probability, if all samples share one distribution, of a statistic at least this
        large. Never 0.
    statistic : float
        Weighted sum of the squared MMD of all pairs, for `kernel`.
    mmd2 : ndarray of shape (k, k)
        Unbiased squared MMD of each pair of samples, for `kernel`.
    kernel : Kernel
        The kernel that contributed most.
    kernels : tuple of Kernel
        All kernels of the family.
    shares : tuple of float
        How much each kernel contributed.
    method, null : str
        How kernel sums and the p-value were computed.
    level_is : {"exact", "asymptotic"}
        Whether the test's level holds at any sample size.
    sizes : tuple of int
        Rows in each sample.
    n_resamples : int
        Relabellings made.
    level : float
        Significance level asked for.
    columns : tuple of str
        Of tables: the columns that were compared.
    notes : tuple of str
        Of tables: rows and columns that were left out, and columns that look odd.

    Examples
    --------
    >>> import numpy as np, fastmmd
    >>> rng = np.random.default_rng(0)
    >>> a, b, c = (rng.normal(shift, 1.0, size=(300, 2)) for shift in (0.0, 0.0, 0.5))
    >>> result = fastmmd.k_sample_test(a, b, c, rng=0)
    >>> result.rejects(), result.mmd2.shape
    (True, (3, 3))
    >>> bool(result.mmd2[0, 1] < result.mmd2[0, 2])
    True
    """

    pvalue: float
    statistic: float
    mmd2: FloatArray = field(repr=False)
    kernel: Kernel
    kernels: tuple[Kernel, ...]
    shares: tuple[float, ...]
    method: str
    null: str
    level_is: Literal["exact", "asymptotic"]
    sizes: tuple[int, ...]
    n_resamples: int
    level: float = 0.05
    columns: tuple[str, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)

    def rejects(self, level: float | None = None, /) -> bool:
        """Return whether equality of all is rejected at `level`."""
        if level is None:
            level = self.level
        return self.pvalue <= check_between(level, 0.0, 1.0, name="level")

    def __str__(self) -> str:
        verdict = "differ" if self.rejects() else "show no difference"
        i, j = np.unravel_index(np.argmax(self.mmd2), self.mmd2.shape)
        return (
            f"The {len(self.sizes)} samples {verdict} at level {self.level:g}: "
            f"p = {self.pvalue:.4g} ({self.null}, {self.level_is} level; "
            f"n = {', '.join(map(str, self.sizes))}).\n"
            f"Furthest apart: samples {i} and {j}, MMD^2 = {self.mmd2[i, j]:.4g} "
            f"({self.method}, {self.kernel})." + remarks(self.columns, self.notes)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain types, ready for ``json.dumps``."""
        return {
            "pvalue": self.pvalue,
            "statistic": self.statistic,
            "mmd2": self.mmd2.tolist(),
            "kernel": repr(self.kernel),
            "kernels": [repr(kernel) for kernel in self.kernels],
            "shares": list(self.shares),
            "method": self.method,
            "null": self.null,
            "level_is": self.level_is,
            "sizes": list(self.sizes),
            "n_resamples": self.n_resamples,
            "level": self.level,
            "columns": list(self.columns),
            "notes": list(self.notes),
        }


def k_sample_test(
    *samples: SampleLike,
    kernel: Kernel | str | Sequence[Kernel | str] = "adaptive",
    method: Method | str = "auto",
    n_resamples: int = 999,
    level: float = 0.05,
    rng: RNGLike = None,
) -> KSampleResult:
    """Test whether several samples all come from the same distribution.

    Parameters
    ----------
    *samples : array of shape (n, n_columns), or table
        Two or more samples of at least 2 rows each. Tables of mixed columns are turned
        into numbers as by `fastmmd.tables.k_sample_test`, which has options for that.
    kernel : Kernel, str or sequence of these, default="adaptive"
        As in `fastmmd.two_sample_test`.
    method : Method or str, default="auto"
        ``Exact()``, ``Fourier()`` or ``Fastfood()``, or their names.
    n_resamples : int, default=999
        Relabellings.
    level : float, default=0.05
        Significance level for the result's text.
    rng : int or numpy.random.Generator, optional
        Source of all randomness.

    Returns
    -------
    KSampleResult
        The p-value, exact in level, and the squared MMD of every pair.

    Examples
    --------
    >>> import numpy as np, fastmmd
    >>> rng = np.random.default_rng(0)
    >>> a, b, c = rng.normal(size=(3, 200, 2))
    >>> fastmmd.k_sample_test(a, b, c + 1.0, rng=0).pvalue
    0.001
    """
    if len(samples) < 2:
        msg = (
            f"`samples` must be at least 2; got {len(samples)}. Unpack a list of samples: "
            "`k_sample_test(*samples)`."
        )
        raise TypeError(msg)
    if any(is_table(sample) for sample in samples):
        result: KSampleResult = tables_module().k_sample_test(
            *samples,
            kernel=kernel,
            method=method,
            n_resamples=n_resamples,
            level=level,
            rng=rng,
        )
        return result
    rows = tuple(
        check_rows(sample, name=f"samples[{i}]") for i, sample in enumerate(samples)
    )
    if len({part.n_columns for part in rows}) > 1:
        shapes = ", ".join(str(np.shape(sample)) for sample in samples)
        msg = f"`samples` must have the same number of columns; got shapes {shapes}."
        raise ValueError(msg)
    check_sizes(rows)
    n_resamples = check_count(n_resamples, name="n_resamples")
    level = check_between(level, 0.0, 1.0, name="level")
    (for_null,) = spawn(rng, 1)
    for_kernels, for_bins = streams_of(rows)
    # The rules for kernels look at the pooled rows, however they are split.
    kernels, numbers = choose_kernels(kernel, rows[0], _Rest.of(rows[1:]), for_kernels)
    numbers = asked_frequencies(method, numbers)
    chosen = choose_method(resolve_method(method), kernels, rows)
    layout = choose_layout([part.n_rows for part in rows])
    binned = send_to_bins(rows, layout, for_bins)
    grams = bin_sums(binned, kernels, numbers, chosen)
    bins = LabelledGram(grams, binned.counts, binned.labels, binned.movable)
    observed = k_sample_statistics(bins)
    null = permute_labels(bins, n_resamples=n_resamples, rng=for_null)
    combined = combine(observed, null.statistics, complete=null.complete)
    best = int(np.argmax(combined.shares))
    return KSampleResult(
        pvalue=combined.pvalue,
        statistic=kernels[best].at_zero * float(observed[best]),
        mmd2=kernels[best].at_zero * _pairwise(bins, best),
        kernel=kernels[best],
        kernels=kernels,
        shares=tuple(float(share) for share in combined.shares),
        method=chosen.name,
        null="permutation",
        level_is="exact",
        sizes=tuple(part.n_rows for part in rows),
        n_resamples=n_resamples,
        level=level,
    )


def _pairwise(bins: LabelledGram, kernel: int) -> FloatArray:
    n_samples = int(bins.labels.max()) + 1
    result = np.zeros((n_samples, n_samples))
    for i in range(n_samples):
        for j in range(i):
            both = (bins.labels == i) | (bins.labels == j)
            pair = BinGram.from_bins(
                bins.grams[kernel][np.ix_(both, both)],
                bins.counts[both],
                bins.labels[both] == i,
            )
            result[i, j] = result[j, i] = u_statistics(pair)[0]
    return result


@final
class _Rest:
    """Several samples read as one: all that the bandwidth rules need of `Rows`."""

    __slots__ = ()

    @staticmethod
    def of(samples: Sequence[Rows]) -> Rows:
        if len(samples) == 1:
            return samples[0]
        parts = [part.block(0, part.n_rows) for part in samples]
        if any(not isinstance(part, np.ndarray) for part in parts):
            import scipy.sparse

            return Rows(scipy.sparse.vstack(parts, format="csr"))
        return Rows(np.concatenate(parts))
