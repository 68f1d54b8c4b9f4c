"""Run by a test in a process that compiles for another machine: python -m tests.shorter_vectors BYTES."""

from __future__ import annotations

import sys

import numpy as np

from cmeans.data.blocks import Blocks
from cmeans.kernels import RBF, Polynomial
from cmeans.rules import Fuzzy, Hard
from cmeans.spaces import EuclideanSpace
from cmeans.sweeps.compiled import BoundedSweep, CompiledSweep, layout
from cmeans.sweeps.compiled.kernel_blocks import quick
from cmeans.sweeps.compiled.vectors import VECTOR
from cmeans.sweeps.generic import sweep
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State


def main() -> None:
    """Compare, and fail loudly."""
    assert int(sys.argv[1]) == VECTOR, VECTOR
    rng = np.random.default_rng(0)
    for dtype, tolerance in ((np.float32, 1e-4), (np.float64, 1e-11)):
        x = rng.uniform(size=(333, 37)).astype(dtype)
        for kernel in (RBF(0.1), Polynomial(3)):
            np.testing.assert_allclose(quick(kernel.prepare(x[:21]))(x), kernel(x, x[:21]), rtol=tolerance)
        blocks = Blocks(x, rng.uniform(size=len(x)))
        plain = RepresentedRows(EuclideanSpace(np.zeros(37)), blocks, 0)
        state = State(plain.space.embed(blocks.take(np.arange(5))))
        for shape, rule in (("narrow", Hard()), ("narrow", Fuzzy(2.0)), ("wide", Hard()), ("wide", Fuzzy(2.0))):
            rows = RepresentedRows(plain.space, blocks, 0, layout=layout(shape))
            made = BoundedSweep(rule, dtype) if shape == "wide" and not rule.is_soft else CompiledSweep(shape, rule, dtype)
            found, wanted = made(rows, rule, state, 0), sweep(plain, rule, state, 0)
            for name in ("mass", "moment", "spread"):
                np.testing.assert_allclose(
                    getattr(found, name), getattr(wanted, name), rtol=tolerance, atol=tolerance, err_msg=f"{shape}, {rule}"
                )


if __name__ == "__main__":
    main()
