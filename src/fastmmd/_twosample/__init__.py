"""Tests: from samples or sketches to a p-value, an effect and a sentence to quote."""

from __future__ import annotations

from fastmmd._twosample.compare import compare
from fastmmd._twosample.k_sample import KSampleResult, k_sample_test
from fastmmd._twosample.planning import power, sample_size
from fastmmd._twosample.result import TwoSampleResult
from fastmmd._twosample.test import two_sample_test

__all__ = [
    "KSampleResult",
    "TwoSampleResult",
    "compare",
    "k_sample_test",
    "power",
    "sample_size",
    "two_sample_test",
]
