from typing import TypedDict

import numpy as np
import numpy.typing as npt

class _BuildInfo(TypedDict):
    compiler: str
    cpp_standard: int
    build_type: str

def walsh_hadamard(values: npt.NDArray[np.float32] | npt.NDArray[np.float64]) -> None: ...
def build_info() -> _BuildInfo: ...
