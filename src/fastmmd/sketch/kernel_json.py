"""Kernels as JSON and back: the kernels that have a formula of their own."""

from __future__ import annotations

from typing import Any

from fastmmd.kernels import (
    Cauchy,
    Gaussian,
    Kernel,
    Laplace,
    Matern,
    Mixture,
    RationalQuadratic,
    Scaled,
)

_PLAIN: dict[str, tuple[type[Any], tuple[str, ...]]] = {
    "Gaussian": (Gaussian, ("bandwidth",)),
    "Laplace": (Laplace, ("bandwidth",)),
    "Matern": (Matern, ("bandwidth", "nu")),
    "RationalQuadratic": (RationalQuadratic, ("bandwidth", "alpha")),
    "Cauchy": (Cauchy, ("bandwidth",)),
}


def kernel_to_json(kernel: Kernel, /) -> dict[str, Any]:
    """Return a kernel as plain types that JSON can hold."""
    name = type(kernel).__name__
    if isinstance(kernel, Scaled):
        return {
            "type": name,
            "factor": kernel.factor,
            "kernel": kernel_to_json(kernel.kernel),
        }
    if isinstance(kernel, Mixture):
        parts = [kernel_to_json(part) for part in kernel.kernels]
        return {"type": name, "kernels": parts, "weights": list(kernel.weights)}
    if name not in _PLAIN:
        msg = f"`kernel` must have a formula to be saved; got {kernel!r}."
        raise TypeError(msg)
    return {"type": name} | {field: getattr(kernel, field) for field in _PLAIN[name][1]}


def kernel_from_json(value: dict[str, Any], /) -> Kernel:
    """Return the kernel that `kernel_to_json` described."""
    name = value["type"]
    if name == "Scaled":
        return Scaled(kernel_from_json(value["kernel"]), value["factor"])
    if name == "Mixture":
        parts = [kernel_from_json(part) for part in value["kernels"]]
        return Mixture(parts, value["weights"])
    make, fields = _PLAIN[name]
    kernel: Kernel = make(**{field: value[field] for field in fields})
    return kernel
