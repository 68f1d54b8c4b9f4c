"""The width of a kernel: gamma from the data where it is given as a rule, and the scale of polynomial kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, get_args

import numpy as np

from ..data.arrays import Array, Float64, as_like, central_point, host_float64, in_float64, is_sparse, squared_norms, to_numpy
from ..data.blocks import Block, Blocks, GivenRows
from ..engines import Engine, Pass
from ..kernels import RBF, Kernel, Laplacian, Linear, Polynomial, build_kernel, checked_params, kernel_class
from ..kernels.manhattan import manhattan
from ..kernels.names import parameters_of
from ..kernels.nearest_points import squared_distances
from ..runtime.user_warnings import NOT_FINITE, OutOfRangeError, ParameterWarning, warn
from ..sampling.population import fixed_rows
from .arguments import GammaName, changed_among, defaults_of
from .validation import integer, real

POLYNOMIAL_RANGE = 1e20  # mean k(x, x) beyond which a polynomial kernel is divided by it


class KernelParameters(Protocol):
    """Constructor parameters of a kernel."""

    kernel: str | Kernel | Callable[..., Any]
    gamma: str | float
    degree: int
    coef0: float
    kernel_params: Mapping[str, Any] | None


def build_named_kernel(parameters: KernelParameters, estimator_name: str, blocks: Blocks, engine: Engine) -> tuple[Kernel, float | None]:
    """Return the kernel and its gamma (None where it has none)."""
    cls, params, numbers = checked_kernel_parameters(parameters, estimator_name)
    _warn_of_unused(parameters, cls, estimator_name)
    if cls is None:
        kernel = build_kernel(parameters.kernel, estimator_name, params)
        return kernel, getattr(kernel, "gamma", None)
    if isinstance(parameters.gamma, str) and cls in (RBF, Laplacian):
        numbers["gamma"] = _gamma(parameters.gamma, cls, estimator_name, blocks, engine)
    kernel = build_kernel(parameters.kernel, estimator_name, params, **numbers)
    used = getattr(kernel, "gamma", None)
    return (_within_range(kernel, *fixed_rows(blocks)) if isinstance(kernel, Polynomial) else kernel), used


def checked_kernel_parameters(
    parameters: KernelParameters, estimator_name: str
) -> tuple[type[Kernel] | None, dict[str, Any], dict[str, Any]]:
    """Return the kernel's class (None for an object or a callable), its parameters, and gamma, degree and coef0, checked without rows."""
    cls = kernel_class(parameters.kernel, estimator_name)
    params = checked_params(parameters.kernel_params, estimator_name)
    numbers: dict[str, Any] = {}
    if cls is not None:
        if isinstance(parameters.gamma, str) and parameters.gamma not in get_args(GammaName):
            raise ValueError(f'{estimator_name}(gamma={parameters.gamma!r}): gamma is "scale", "median" or a positive number.')
        numbers["gamma"] = 1.0 if isinstance(parameters.gamma, str) else real(parameters.gamma, "gamma", estimator_name, above=True)
        numbers["degree"] = integer(parameters.degree, "degree", estimator_name, 1)
        numbers["coef0"] = real(parameters.coef0, "coef0", estimator_name, least=-np.inf)
    build_kernel(parameters.kernel, estimator_name, params, **numbers)  # checks its own parameters
    return cls, params, numbers


def _warn_of_unused(parameters: KernelParameters, cls: type[Kernel] | None, estimator_name: str) -> None:
    """Warn of parameters other than their defaults that this kernel makes no use of, and of landmarks of a default that needs none."""
    if cls is None:
        return  # an object or a callable holds its own
    idle = {"gamma", "degree", "coef0"} - parameters_of(cls)
    if cls is Linear and defaults_of(type(parameters))["kernel"] == "linear":
        idle |= {"landmarks"}
    given = changed_among(idle, parameters)
    if given:
        idle_words, other = " and no ".join(given), "polynomial" if set(given) <= {"degree", "coef0"} else "rbf"
        warn(
            f'{estimator_name}: kernel="{parameters.kernel}" needs no {idle_words}; give kernel="{other}" or another that does, '
            f"or leave {'it' if len(given) == 1 else 'them'} out.",
            ParameterWarning,
        )


def _gamma(name: str, cls: type[Kernel], estimator_name: str, blocks: Blocks, engine: Engine) -> float:
    rows, weights = fixed_rows(blocks)
    if name == "scale":
        return _inverse(_variance(cls, blocks, rows, weights, engine), estimator_name)
    return _inverse(_median(_distances(cls, rows), weights), estimator_name)


def _inverse(size: float, estimator_name: str) -> float:
    if not np.isfinite(size):
        raise OutOfRangeError(f"{estimator_name}: {NOT_FINITE}")
    return 1.0 / size if size > 0 else 1.0


@dataclass(frozen=True)
class _MomentPass(Pass[list[tuple[Float64, float]]]):
    """Of each block  sum_i w_i (x_i - shift)  (d,) and  sum_i w_i |x_i - shift|^2."""

    shift: Float64 | None  # (d,); None for CSR: the origin

    def work(self, rows: GivenRows, task: int, prepared: None) -> list[tuple[Float64, float]]:
        return [self._of(block) for block in rows.task(task)]

    def _of(self, block: Block) -> tuple[Float64, float]:
        x = in_float64(block.x)
        x = x if self.shift is None else x - as_like(self.shift, x)[None, :]
        return to_numpy(as_like(block.weight, x) @ x), float(block.weight @ to_numpy(squared_norms(x)))


def _variance(cls: type[Kernel], blocks: Blocks, rows: Array, weights: Float64, engine: Engine) -> float:
    """Return the sum of the d columns' variances (for the Laplacian kernel, whose distance is not squared, d times the root of their
    mean). It is of the columns about their own means, so that rows that are all moved alike have the same."""
    d = blocks.x.shape[1]
    shift = None if is_sparse(rows) else weights @ host_float64(rows) / weights.sum()
    first, second = np.zeros(d), 0.0
    for moments in engine.map(GivenRows(blocks, d), _MomentPass(shift)):
        for sums, squares in moments:
            first, second = first + sums, second + squares
    total = float(blocks.weight.sum())
    mean = first / total
    variance = max(second / total - float(mean @ mean), 0.0)
    return float(np.sqrt(d * variance)) if cls is Laplacian else variance


def _distances(cls: type[Kernel], rows: Array) -> Float64:
    """Squared distances between rows of the sample (L1 distances for the Laplacian kernel)."""
    x = rows.astype(np.float64)
    if cls is Laplacian:
        return host_float64(manhattan(x, x))
    x = x if is_sparse(x) else x - central_point(x)
    return squared_distances(x, x)


def _median(distances: Float64, weights: Float64) -> float:
    """Return the median over pairs of different rows; 0 where there are none."""
    i, j = np.triu_indices(len(weights), k=1)
    values, pairs = distances[i, j], (weights[:, None] * weights[None, :])[i, j]
    different = values > 0
    if not different.any():
        return 0.0
    values, pairs = values[different], pairs[different]
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(pairs[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2.0)])


def _within_range(kernel: Polynomial, rows: Array, weights: Float64) -> Kernel:
    """Divide a kernel whose values are far from 1 by its mean diagonal: they would overflow float32 silently."""
    base = host_float64(squared_norms(rows.astype(np.float64))) * kernel.gamma + kernel.coef0
    size = float((weights @ np.abs(base) / weights.sum()) ** kernel.degree)
    if kernel.scale != 1.0 or not np.isfinite(size) or 1.0 / POLYNOMIAL_RANGE <= size <= POLYNOMIAL_RANGE or size == 0:
        return kernel
    return replace(kernel, scale=size)
