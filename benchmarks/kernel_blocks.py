"""Blocks of kernel values against the bare matrix product they contain, one thread."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import threadpoolctl

from cmeans.kernels import RBF, Cosine, Kernel, Laplacian, Linear, NormalizedPolynomial, Polynomial, Sigmoid

from .harness import header

KERNELS: tuple[Kernel, ...] = (
    Linear(),
    RBF(0.1),
    Polynomial(5, 0.01),
    NormalizedPolynomial(5, 0.01),
    Sigmoid(0.0045, 0.11),
    Cosine(),
    Laplacian(0.1),
)


def seconds(function: Callable[[], object], repeats: int = 21) -> float:
    """Median time of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    print(header())
    rng = np.random.default_rng(0)
    with threadpoolctl.threadpool_limits(1):
        for d in (54, 784):
            for dtype in (np.float32, np.float64):
                x, y = rng.normal(size=(1024, d)).astype(dtype), rng.normal(size=(582, d)).astype(dtype)
                bare = seconds(lambda x=x, y=y: x @ y.T)  # type: ignore[misc]
                print(f"\n1,024 rows x 582 landmarks, d = {d}, {np.dtype(dtype).name}: bare product {bare * 1e3:.2f} ms")
                for kernel in KERNELS:
                    columns = kernel.prepare(y)
                    print(f"   {type(kernel).__name__:22s}{seconds(lambda c=columns, x=x: c(x)) / bare:6.1f} times the product")  # type: ignore[misc]


if __name__ == "__main__":
    main()
