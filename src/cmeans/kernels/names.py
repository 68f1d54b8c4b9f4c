"""Kernels by name: the table by which constructor parameters become a kernel object."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal

from .base import FeatureKernel, Kernel
from .histogram_intersection import HistogramIntersection
from .landmark_graph import LandmarkGraphKernel
from .linear import Cosine, Linear
from .manhattan import Laplacian
from .polynomial import NormalizedPolynomial, Polynomial, Sigmoid
from .precomputed import CallableKernel, Precomputed
from .precomputed_graph import PrecomputedGraphKernel
from .rbf import RBF

VectorKernel = Literal["rbf", "linear", "laplacian", "polynomial", "normalized_polynomial", "sigmoid", "cosine", "landmark_graph"]
KernelName = Literal[VectorKernel, "histogram_intersection", "precomputed", "precomputed_graph"]
KERNELS: dict[str, type[Kernel]] = {
    "linear": Linear,
    "rbf": RBF,
    "laplacian": Laplacian,
    "polynomial": Polynomial,
    "poly": Polynomial,
    "normalized_polynomial": NormalizedPolynomial,
    "sigmoid": Sigmoid,
    "cosine": Cosine,
    "histogram_intersection": HistogramIntersection,
    "landmark_graph": LandmarkGraphKernel,
    "precomputed": Precomputed,
    "precomputed_graph": PrecomputedGraphKernel,
}


def kernel_class(kernel: Any, estimator_name: str) -> type[Kernel] | None:
    """Return the class of a named kernel; None for kernel objects and callables. Errors name `estimator_name`."""
    if isinstance(kernel, str):
        if kernel not in KERNELS:
            raise ValueError(
                f"{estimator_name}(kernel={kernel!r}): unknown kernel; known are {sorted(KERNELS)}, a kernel object or a callable."
            )
        return KERNELS[kernel]
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise ValueError(f"{estimator_name}(kernel={kernel.__name__}): give a kernel object, {kernel.__name__}(...), not its class.")
    if isinstance(kernel, Kernel) or (callable(kernel) and not isinstance(kernel, type)):
        return None
    raise ValueError(f"{estimator_name}(kernel={kernel!r}): a kernel is a name ({sorted(KERNELS)}), a kernel object or a callable k(X, Y).")


@cache
def parameters_of(cls: type[Kernel]) -> frozenset[str]:
    """Return the names of the parameters of a kernel."""
    return frozenset(inspect.signature(cls).parameters)


def build_kernel(kernel: str | Kernel | Callable[..., Any], estimator_name: str, params: Mapping[str, Any], **parameters: Any) -> Kernel:
    """Return the kernel object for a name, an object or a callable; a named class gets those of `parameters` that it has, then `params`.

    Errors name `estimator_name`.
    """
    cls = kernel_class(kernel, estimator_name)
    if cls is None:
        if isinstance(kernel, Kernel):
            if params:
                raise ValueError(
                    f"{estimator_name}(kernel_params={dict(params)!r}): kernel={kernel!r} is an object that holds its own parameters."
                )
            return kernel
        assert callable(kernel)
        return CallableKernel(kernel, dict(params))
    if cls is Precomputed:
        return Precomputed()
    if issubclass(cls, FeatureKernel):
        raise ValueError(
            f"{estimator_name}(kernel={kernel!r}): a graph is made of rows, by the fit of an estimator; this needs values of any two rows."
        )
    known = parameters_of(cls)
    unknown = sorted(set(params) - known)
    if unknown:
        raise ValueError(
            f"{estimator_name}(kernel_params={dict(params)!r}): {unknown} unknown to kernel={kernel!r}, which takes {sorted(known)}."
        )
    return cls(**{**{k: v for k, v in parameters.items() if k in known}, **params})


def checked_params(params: Any, estimator_name: str) -> dict[str, Any]:
    """Return kernel_params, `params`, as a dictionary, an empty one for None. Errors name `estimator_name`."""
    if params is None:
        return {}
    if not isinstance(params, Mapping) or not all(isinstance(key, str) for key in params):
        raise ValueError(f"{estimator_name}(kernel_params={params!r}): give a mapping of names to values, or None.")
    return dict(params)
