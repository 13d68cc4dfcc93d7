"""Every implementation of the primitives: NumPy's and each compiled instruction set's."""

from __future__ import annotations

import pytest

from fastmmd._backends import native
from fastmmd._backends import numpy as reference

TARGETS = native.targets()
BACKENDS = ["numpy", *TARGETS]


class Backend:
    """The primitives of one backend, by the names that all of them use."""

    def __init__(self, name):
        module = reference if name == "numpy" else native
        self.name = name
        self.is_native = name != "numpy"
        self.matrix_feature_sums = module.matrix_feature_sums
        self.fastfood_feature_sums = module.fastfood_feature_sums
        self.pair_sum = module.pair_sum
        self.self_pair_sum = module.self_pair_sum
        self.bin_pair_sums = module.bin_pair_sums
        self.walsh_hadamard = module.walsh_hadamard


@pytest.fixture
def use_target():
    """Return a function that chooses an instruction set until the test ends."""
    before = native.target() if native.available() else None
    yield native.use_target
    if before is not None:
        native.use_target(before)


@pytest.fixture(params=BACKENDS)
def backend(request, use_target):
    if request.param != "numpy":
        use_target(request.param)
        assert native.target() == request.param
    return Backend(request.param)


@pytest.fixture(params=TARGETS or [pytest.param("", marks=pytest.mark.skip)])
def compiled(request, use_target):
    """Return a compiled backend only."""
    use_target(request.param)
    return Backend(request.param)
