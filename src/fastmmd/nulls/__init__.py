"""Null distributions, p-values and effect sizes from sums over bins of rows.

Pure functions of kernel sums between bins; raw rows are never seen here.
"""

from __future__ import annotations

from fastmmd.nulls.bins import BinGram, u_statistics, v_statistics
from fastmmd.nulls.combine import Combination, combine
from fastmmd.nulls.effect import (
    Precision,
    effect_size,
    interval,
    margin_pvalue,
    normalised_mmd2,
    precision,
)
from fastmmd.nulls.hollow import HollowMoments, hollow_gram, hollow_moments
from fastmmd.nulls.k_sample import LabelledGram, k_sample_statistics, permute_labels
from fastmmd.nulls.matching import Matching, equalise, group_bins, match_bins
from fastmmd.nulls.moments import gamma_pvalue, pearson_pvalue
from fastmmd.nulls.multipliers import MultiplierNull, multiply_bins
from fastmmd.nulls.normal import mean_pvalue
from fastmmd.nulls.permutation import PermutationNull, permute_bins
from fastmmd.nulls.power import Alternative, power, sample_size
from fastmmd.nulls.pvalues import permutation_pvalue
from fastmmd.nulls.rules import Fuse, Maximum, MinP, Rule, SoftMaximum, Sum
from fastmmd.nulls.spectrum import spectrum_null, spectrum_pvalue
from fastmmd.nulls.weighted_chi_square import weighted_chi_square_tail

__all__ = [
    "Alternative",
    "BinGram",
    "Combination",
    "Fuse",
    "HollowMoments",
    "LabelledGram",
    "Matching",
    "Maximum",
    "MinP",
    "MultiplierNull",
    "PermutationNull",
    "Precision",
    "Rule",
    "SoftMaximum",
    "Sum",
    "combine",
    "effect_size",
    "equalise",
    "gamma_pvalue",
    "group_bins",
    "hollow_gram",
    "hollow_moments",
    "interval",
    "k_sample_statistics",
    "margin_pvalue",
    "match_bins",
    "mean_pvalue",
    "multiply_bins",
    "normalised_mmd2",
    "pearson_pvalue",
    "permutation_pvalue",
    "permute_bins",
    "permute_labels",
    "power",
    "precision",
    "sample_size",
    "spectrum_null",
    "spectrum_pvalue",
    "u_statistics",
    "v_statistics",
    "weighted_chi_square_tail",
]
