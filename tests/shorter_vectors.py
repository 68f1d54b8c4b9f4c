"""Run by a test in a process that compiles for another machine: python -m tests.shorter_vectors BYTES."""

from __future__ import annotations

import sys

import numpy as np

from cmeans.data.blocks import Blocks
from cmeans.kernels import RBF, Kernel, Polynomial
from cmeans.rules import Fuzzy, Hard, Rule
from cmeans.spaces import EuclideanSpace
from cmeans.sweeps.compiled import BoundedSweep, CompiledSweep, layout
from cmeans.sweeps.compiled.kernel_blocks import quick
from cmeans.sweeps.compiled.vectors import VECTOR
from cmeans.sweeps.generic import sweep
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State

TOLERANCE = {"float32": 1e-4, "float64": 1e-11}
# What a machine with vectors of so many bytes compiles: both kernels, both shapes and both rules, each for one dtype and the other
# one on the other machine, as compiling is what takes long.
CASES: dict[int, list[tuple[str, Kernel, str, Rule]]] = {
    16: [("float32", RBF(0.1), "wide", Fuzzy(2.0)), ("float64", Polynomial(3), "narrow", Hard())],
    32: [("float32", Polynomial(3), "narrow", Fuzzy(2.0)), ("float64", RBF(0.1), "wide", Hard())],
}


def main() -> None:
    """Compare, and fail loudly."""
    assert int(sys.argv[1]) == VECTOR, VECTOR
    rng = np.random.default_rng(0)
    for dtype, kernel, shape, rule in CASES[VECTOR]:
        tolerance, x = TOLERANCE[dtype], rng.uniform(size=(333, 37)).astype(dtype)
        np.testing.assert_allclose(quick(kernel.prepare(x[:21]))(x), kernel(x, x[:21]), rtol=tolerance)
        blocks = Blocks(x, rng.uniform(size=len(x)))
        plain = RepresentedRows(EuclideanSpace(np.zeros(37)), blocks, 0)
        state = State(plain.space.embed(blocks.take(np.arange(5))))
        rows = RepresentedRows(plain.space, blocks, 0, layout=layout(shape))
        made = BoundedSweep(rule, dtype) if shape == "wide" and not rule.is_soft else CompiledSweep(shape, rule, dtype)
        found, wanted = made(rows, rule, state, 0), sweep(plain, rule, state, 0)
        for name in ("mass", "moment", "spread"):
            np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=tolerance, atol=tolerance, err_msg=shape)


if __name__ == "__main__":
    main()
