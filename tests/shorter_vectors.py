"""Run by a test in a process that compiles for another machine: python -m tests.shorter_vectors BYTES."""

from __future__ import annotations

import sys

import numpy as np

from cmeans.blocks import Blocks
from cmeans.compiled import BoundedSweep, Sweep, layout
from cmeans.compiled.kernel_blocks import quick
from cmeans.compiled.vectors import VECTOR
from cmeans.kernels import RBF, Polynomial
from cmeans.rules import Fuzzy, Hard
from cmeans.spaces import EuclideanSpace
from cmeans.sweep import State, sweep
from cmeans.table import Table


def main() -> None:
    """Compare, and fail loudly."""
    assert int(sys.argv[1]) == VECTOR, VECTOR
    rng = np.random.default_rng(0)
    for dtype, tolerance in ((np.float32, 1e-4), (np.float64, 1e-11)):
        x = rng.uniform(size=(333, 37)).astype(dtype)
        for kernel in (RBF(0.1), Polynomial(3)):
            np.testing.assert_allclose(quick(kernel.prepare(x[:21]))(x), kernel(x, x[:21]), rtol=tolerance)
        blocks = Blocks(x, rng.uniform(size=len(x)))
        space = EuclideanSpace(np.zeros(37))
        state = State(space.embed(blocks.take(np.arange(5))))
        for shape, rule in (("narrow", Hard()), ("narrow", Fuzzy(2.0)), ("wide", Hard()), ("wide", Fuzzy(2.0))):
            table = Table(space, blocks, 0, layout=layout(shape))
            made = BoundedSweep(rule, dtype) if shape == "wide" and not rule.is_soft else Sweep(shape, rule, dtype)
            found, wanted = made(table, rule, state, 0), sweep(Table(space, blocks, 0), rule, state, 0)
            for name in ("mass", "moment", "spread"):
                np.testing.assert_allclose(
                    getattr(found, name), getattr(wanted, name), rtol=tolerance, atol=tolerance, err_msg=f"{shape}, {rule}"
                )


if __name__ == "__main__":
    main()
