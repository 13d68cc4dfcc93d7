from collections.abc import Sequence
from typing import Any, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

class _BuildInfo(TypedDict):
    compiler: str
    cpp_standard: int
    build_type: str

_Doubles: TypeAlias = npt.NDArray[np.float64]
_Integers: TypeAlias = npt.NDArray[np.int64]
_Floats: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]
_Channels: TypeAlias = Sequence[tuple[float, int, int, int]]

def dense_feature_sums(
    sums: _Doubles,
    values: _Floats,
    order: _Integers | None,
    edges: _Integers,
    center: _Doubles | None,
    frequencies: _Doubles,
    channels: _Channels,
    single_radius: float,
    n_threads: int,
) -> None: ...
def fastfood_feature_sums(
    sums: _Doubles,
    values: _Floats,
    order: _Integers | None,
    edges: _Integers,
    center: _Doubles | None,
    signs: _Doubles,
    permutation: _Integers,
    normals: _Doubles,
    scales: _Doubles,
    n_frequencies: int,
    channels: _Channels,
    single_radius: float,
    n_threads: int,
) -> None: ...
def sparse_feature_sums(
    sums: _Doubles,
    values: _Floats,
    columns: npt.NDArray[Any],
    starts: npt.NDArray[Any],
    order: _Integers | None,
    edges: _Integers,
    center: _Doubles | None,
    frequencies: _Doubles,
    channels: _Channels,
    single_radius: float,
    n_threads: int,
) -> None: ...
def pair_sums(
    left: _Floats,
    right: _Floats,
    center: _Doubles | None,
    offset: int | None,
    scale: float,
    rule: str,
    profile: str,
    parameter: float,
    n_threads: int,
) -> list[float]: ...
def bin_pair_sums(
    sums: _Doubles,
    values: _Floats,
    edges: _Integers,
    first_bin: int,
    last_bin: int,
    center: _Doubles | None,
    scales: Sequence[float],
    rule: str,
    profile: str,
    parameter: float,
    n_threads: int,
) -> None: ...
def walsh_hadamard(values: _Floats, n_threads: int = 1) -> None: ...
def targets() -> list[str]: ...
def target() -> str: ...
def use_target(name: str) -> None: ...
def build_info() -> _BuildInfo: ...
