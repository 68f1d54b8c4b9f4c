"""Kernel values made with the compiled sweeps are those that NumPy makes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from cmeans.blocks import Block
from cmeans.compiled.kernel_blocks import quick
from cmeans.kernels import RBF, Cosine, Laplacian, Polynomial
from cmeans.spaces import landmark_space

from .choices import pairs

SHAPES = pairs([1, 3, 4, 37, 1024], [1, 2, 7, 54, 250], [1, 5, 16, 64, 65, 130, 582], ["float32", "float64"])


@pytest.mark.parametrize(("rows", "columns", "landmarks", "dtype"), SHAPES)
def test_values_are_those_of_the_formula(rows, columns, landmarks, dtype):
    rng = np.random.default_rng(0)
    x, y = (rng.uniform(size=(n, columns)).astype(dtype) for n in (rows, landmarks))
    kernel = RBF(3.0 / columns)
    room = np.full((len(x), len(y)), np.nan, x.dtype)
    values = quick(kernel.prepare(y))(x, room)
    assert values is room
    distances = np.stack([((np.float64(x) - np.float64(point)) ** 2).sum(axis=1) for point in y], axis=1)
    np.testing.assert_allclose(values, np.exp(-kernel.gamma * distances), atol=2e-6 if x.dtype == np.float32 else 1e-14)
    np.testing.assert_array_equal(quick(kernel.prepare(y))(x), values)
    np.testing.assert_allclose(quick(kernel.prepare(np.asfortranarray(y)))(np.asfortranarray(x)), values, atol=2e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exponentials_are_right_to_the_last_digits(dtype):
    """Of numbers that the product gives exactly: one column of multiples of powers of two."""
    x = np.linspace(0, 30, 4097)[:, None].astype(dtype)
    values = quick(RBF(1.0).prepare(np.zeros((3, 1), dtype)))(x)[:, 1]
    exact = np.exp(-(np.float64(x[:, 0]) ** 2))
    error_of_argument = np.float64(x[:, 0]) ** 2 * np.finfo(dtype).eps
    tiny = np.finfo(dtype).tiny
    assert (np.abs(values - exact) <= (2 * np.finfo(dtype).eps + 2 * error_of_argument) * exact + 2 * tiny).all()
    assert values[0] == 1.0
    assert values[-1] == 0.0 or dtype == "float64"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_not_finite_stays_so(dtype):
    y, x = np.zeros((2, 2), dtype), np.zeros((4, 2), dtype)
    x[0, 0], x[1, 0], x[2, 0] = np.nan, np.inf, np.finfo(dtype).max
    slow, fast = RBF(1.0).prepare(y)(x), quick(RBF(1.0).prepare(y))(x)
    np.testing.assert_array_equal(np.isnan(fast), np.isnan(slow))
    np.testing.assert_array_equal(fast[3], 1.0)


def test_other_kernels_and_rows_are_left_alone():
    y = np.random.default_rng(0).uniform(size=(5, 3))
    for kernel in (Laplacian(1.0), Polynomial(2), Cosine()):
        columns = kernel.prepare(y)
        assert quick(columns) is columns
    wide = RBF(1.0).prepare(np.zeros((2, 1000)))
    assert quick(wide) is wide
    rows = sparse.csr_array(np.where(y > 0.5, y, 0.0))
    np.testing.assert_array_equal(quick(RBF(1.0).prepare(sparse.csr_array(y)))(rows), RBF(1.0).prepare(sparse.csr_array(y))(rows))


def test_a_quickened_space_represents_rows_alike():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(20, 3))
    space = landmark_space(RBF(1.0), x[:6], None, x.dtype)
    block = Block(x, np.ones(20), 0)
    np.testing.assert_allclose(space.quickened(quick).rows(block).plain().g, space.rows(block).plain().g, atol=1e-14)
    portable, _ = space.quickened(quick).portable(space.embed(block))
    assert portable.rows(block).plain().g.tobytes() == space.rows(block).plain().g.tobytes()


NARROWER = {
    "16 bytes": {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
    "32 bytes": {
        "NUMBA_CPU_NAME": "haswell",
        "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma,+bmi,+bmi2,+sse4.1,+sse4.2,+ssse3,+sse3,+popcnt,+f16c",
    },
}


@pytest.mark.skipif(sys.platform != "linux" or "avx2" not in Path("/proc/cpuinfo").read_text(), reason="needs AVX2")
@pytest.mark.parametrize("machine", NARROWER)
def test_machines_with_shorter_vectors_find_the_same(machine, tmp_path):
    """Compiled for less than this machine has: both shapes and the kernel values against NumPy."""
    environment = {**os.environ, **NARROWER[machine], "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.shorter_vectors", machine.split()[0]],
        env=environment,
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
