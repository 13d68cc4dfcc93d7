"""Draw frequencies from a kernel's spectral law, and project rows on them."""

from __future__ import annotations

from fastmmd.frequencies.dense import DenseFrequencies, check_frequencies
from fastmmd.frequencies.draw import SAMPLINGS, choose_sampling, draw_frequencies
from fastmmd.frequencies.family import FrequencyFamily, draw_family, given_family
from fastmmd.frequencies.fastfood import FastfoodFrequencies, draw_fastfood

__all__ = [
    "SAMPLINGS",
    "DenseFrequencies",
    "FastfoodFrequencies",
    "FrequencyFamily",
    "check_frequencies",
    "choose_sampling",
    "draw_family",
    "draw_fastfood",
    "draw_frequencies",
    "given_family",
]
