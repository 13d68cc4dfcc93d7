"""What a measurement was made on, for the JSON files: versions and the processor."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np

from fastmmd._backends import native

RESULTS = Path(__file__).parent / "results"

_THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def use_one_thread() -> None:
    """Restart with one thread in BLAS and finufft; both read this when imported."""
    if any(os.environ.get(name) != "1" for name in _THREAD_VARIABLES):
        os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
        os.execv(sys.executable, [sys.executable, *sys.argv])


def describe() -> dict[str, Any]:
    """Return versions and the processor's model; nothing that names the machine."""
    packages = ("fastmmd", "numpy", "scipy", "finufft")
    return {
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in packages},
        "compiled_extension": native.available(),
        "processor": _processor(),
        "threads": 1,
    }


def write(name: str, content: dict[str, Any]) -> Path:
    """Write `content` as ``benchmarks/results/<name>``."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / name
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return path


def round_to(value: float, digits: int = 3) -> float:
    """Return `value` with so many significant digits."""
    return float(
        np.format_float_positional(value, digits, fractional=False, unique=False)
    )


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    models = [
        line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")
    ]
    return models[0] if models else platform.machine()
