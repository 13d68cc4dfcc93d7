"""Clusters: the same sketches and tests on Spark, Ray and Dask.

One module for each engine, which needs that engine: `fastmmd.engines.spark`,
`fastmmd.engines.ray` and `fastmmd.engines.dask`. A sketch is a sum over rows, so an engine
only maps pieces of the data to sketches and adds these up.
"""

from __future__ import annotations

__all__: list[str] = []
