"""Methods: ways to estimate MMD from rows. Each is a value with one file of its own."""

from __future__ import annotations

from fastmmd.estimators.base import Method
from fastmmd.estimators.block import Block, block_values
from fastmmd.estimators.exact import Exact
from fastmmd.estimators.fastfood import Fastfood
from fastmmd.estimators.fourier import Fourier
from fastmmd.estimators.grid import Grid
from fastmmd.estimators.linear import Linear, linear_values
from fastmmd.estimators.result import MMDEstimate

__all__ = [
    "Block",
    "Exact",
    "Fastfood",
    "Fourier",
    "Grid",
    "Linear",
    "MMDEstimate",
    "Method",
    "block_values",
    "linear_values",
]
