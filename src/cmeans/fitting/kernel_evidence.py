"""The kernel of an estimator's parameters, and what it asks of the rows to settle its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Protocol, get_args

import numpy as np

from ..data.arrays import (
    Array,
    Float64,
    as_like,
    host_float64,
    in_float64,
    is_sparse,
    squared_norms,
    to_numpy,
)
from ..data.blocks import Block, Blocks, GivenRows
from ..engines import Engine, Pass
from ..kernels import RBF, Kernel, kernel_of
from ..kernels.base import GammaName
from ..runtime.checks import parameters_of, real
from ..runtime.user_warnings import NOT_FINITE, OutOfRangeError, ParameterWarning, warn
from ..sampling.population import fixed_rows
from ..spaces.base import SPACES
from .arguments import changed_among, defaults_of


class KernelParameters(Protocol):
    """Constructor parameters of a kernel."""

    kernel: str | Kernel | Callable[..., Any]
    gamma: str | float


def given_kernel(parameters: KernelParameters, estimator_name: str) -> Kernel:
    """Return the kernel of the parameters as an object, before it is settled: gamma is for kernels
    by name that have one."""
    if isinstance(parameters.kernel, str) and parameters.kernel in SPACES:
        return SPACES[parameters.kernel].kernel
    kernel, gamma = _named_kernel(parameters, estimator_name), parameters.gamma
    if not isinstance(parameters.kernel, str):
        if changed_among({"gamma"}, parameters):
            raise ValueError(f"{estimator_name}(gamma={gamma!r}): {_place_of_gamma(kernel)}.")
        return kernel
    if isinstance(gamma, str):
        if gamma not in get_args(GammaName):
            raise ValueError(
                f'{estimator_name}(gamma={gamma!r}): gamma is "scale", "median" or a positive '
                "number."
            )
        found = isinstance(getattr(kernel, "gamma", None), str)  # others take it as a number alone
    else:
        gamma, found = real(gamma, "gamma", estimator_name, above=True), _has_gamma(kernel)
    with parameters_of(estimator_name):
        return replace(kernel, gamma=gamma) if found else kernel  # type: ignore[type-var]


def _named_kernel(parameters: KernelParameters, estimator_name: str) -> Kernel:
    """Return the kernel of a name, or as it is given; of "auto" the one that asks the most."""
    automatic = isinstance(parameters.kernel, str) and parameters.kernel == "auto"
    if automatic and getattr(parameters, "_chooses_kernel", False):
        return RBF()
    return kernel_of(parameters.kernel, estimator_name)


def _has_gamma(kernel: Kernel) -> bool:
    return is_dataclass(kernel) and any(field.name == "gamma" for field in fields(kernel))


def _place_of_gamma(kernel: Kernel) -> str:
    """Return where the gamma of a kernel belongs that is no name."""
    own = type(kernel).__name__
    if _has_gamma(kernel):
        return (
            f"kernel={kernel!r} is an object that holds its own parameters; give it there, as "
            f"{own}(gamma=...)"
        )
    return (
        f"kernel={kernel!r} has no gamma; give a function its parameters by functools.partial, "
        "or a kernel by name"
    )


def settled_kernel(
    kernel: Kernel,
    parameters: KernelParameters,
    estimator_name: str,
    blocks: Blocks,
    engine: Engine,
) -> tuple[Kernel, float | None]:
    """Return a kernel with what the rows determine, and its gamma (None where it has none); warn of
    parameters it has no use for."""
    if isinstance(parameters.kernel, str):
        _warn_of_unused(kernel, parameters, estimator_name)
    settled = kernel.settled(RowsOfKernel(blocks, engine, estimator_name))
    return settled, getattr(settled, "gamma", None)


def _warn_of_unused(kernel: Kernel, parameters: KernelParameters, estimator_name: str) -> None:
    """Warn of a gamma that this kernel makes no use of, and of landmarks where the default needs
    none."""
    idle = set[str]() if _has_gamma(kernel) else {"gamma"}
    if parameters.kernel == "linear" == defaults_of(type(parameters))["kernel"]:
        idle.add("landmarks")
    given = changed_among(idle, parameters)
    if given:
        warn(
            f'{estimator_name}: kernel="{parameters.kernel}" needs no {" and no ".join(given)}; '
            'give kernel="rbf" or another that does, '
            f"or leave {'it' if len(given) == 1 else 'them'} out.",
            ParameterWarning,
        )


@dataclass(frozen=True)
class RowsOfKernel:
    """The rows of a fit, as kernels ask of them (`KernelEvidence`)."""

    blocks: Blocks
    engine: Engine
    estimator_name: str

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return int(self.blocks.x.shape[1])

    @property
    def sample(self) -> tuple[Array, Float64]:
        """Some rows, the same for every random_state, and their weights."""
        return fixed_rows(self.blocks)

    @property
    def variance(self) -> float:
        """The sum of the columns' variances about their own means, so that rows that are all moved
        alike have the same."""
        blocks, d, (rows, weights) = self.blocks, self.n_features, self.sample
        shift = None if is_sparse(rows) else weights @ host_float64(rows) / weights.sum()
        first, second = np.zeros(d), 0.0
        for moments in self.engine.map(
            GivenRows(blocks, blocks.numbers_of_a_row), _MomentPass(shift)
        ):
            for sums, squares in moments:
                first, second = first + sums, second + squares
        total = float(blocks.weight.sum())
        mean = first / total
        return max(second / total - float(mean @ mean), 0.0)

    def median(self, distances: Callable[[Array], Float64]) -> float:
        """The median distance of different rows of the sample."""
        rows, weights = self.sample
        return _median(distances(rows), weights)

    def inverse(self, size: float) -> float:
        """1 / size, 1 for a size of 0."""
        if not np.isfinite(size):
            raise OutOfRangeError(f"{self.estimator_name}: {NOT_FINITE}")
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
        return to_numpy(as_like(block.weight, x) @ x), float(
            block.weight @ to_numpy(squared_norms(x))
        )


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
