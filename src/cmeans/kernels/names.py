"""Kernels by name: what the parameter `kernel` of estimators may be, as an object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from ..runtime.user_warnings import one_line
from .base import KERNELS, Kernel
from .polynomial import Polynomial
from .precomputed import CallableKernel

KernelName = Literal[
    "rbf",
    "linear",
    "laplacian",
    "polynomial",
    "normalized_polynomial",
    "sigmoid",
    "cosine",
    "histogram_intersection",
    "landmark_graph",
    "precomputed",
    "precomputed_graph",
]
KERNELS["poly"] = Polynomial  # scikit-learn's name


def kernel_of(kernel: Any, estimator_name: str) -> Kernel:
    """Return the kernel of a name, made with its defaults, of an object, or of a function k(X, Y).
    Errors name `estimator_name`."""
    if isinstance(kernel, str):
        if kernel not in KERNELS:
            raise ValueError(
                f"{estimator_name}(kernel={kernel!r}): unknown kernel; known are "
                f"{sorted(KERNELS)}, a kernel object or a callable."
            )
        return KERNELS[kernel]()
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise ValueError(
            f"{estimator_name}(kernel={kernel.__name__}): give a kernel object, "
            f"{kernel.__name__}(...), not its class."
        )
    if callable(kernel) and not isinstance(kernel, type):
        function: Callable[..., Any] = kernel
        return CallableKernel(function)
    shown = one_line(repr(kernel), most=100)  # as it may be an array
    raise ValueError(
        f"{estimator_name}(kernel={shown}): a kernel is a name ({sorted(KERNELS)}), a kernel "
        "object or a callable k(X, Y)."
    )
