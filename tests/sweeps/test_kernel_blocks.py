"""Kernel values that are made in registers are those of the formulas."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from cmeans.data.blocks import Block
from cmeans.kernels import RBF, Cosine, Laplacian, NormalizedPolynomial, Polynomial, Sigmoid
from cmeans.spaces import landmark_space
from cmeans.sweeps.compiled import kernel_blocks
from cmeans.sweeps.compiled.kernel_blocks import DEPTH
from sweep_choices import pairs

KERNELS = {
    "rbf": RBF(0.3),
    "rbf, narrow": RBF(30.0),
    "polynomial": Polynomial(5, 0.2, 1.0),
    "polynomial, scaled": Polynomial(2, 1.0, 0.5, scale=7.0),
    "polynomial of degree 1": Polynomial(1, 1.0, 0.0),
    "polynomial, odd and negative": Polynomial(3, 1.0, -2.0),
    "normalized polynomial": NormalizedPolynomial(4, 2.0, 1.0),
    "cosine": Cosine(),
}
COLUMNS = [1, 2, 7, 54, DEPTH - 2, DEPTH, DEPTH + 1, 3 * DEPTH + 5]
SHAPES = pairs(list(KERNELS), [1, 3, 4, 37, 130], COLUMNS, [1, 5, 16, 64, 65, 130, 582], ["float32", "float64"])


quick = partial(kernel_blocks.quick, few_columns=None)  # machines with few registers leave many columns to a library


@pytest.mark.parametrize(("name", "rows", "columns", "landmarks", "dtype"), SHAPES)
def test_values_are_those_of_the_formula(name, rows, columns, landmarks, dtype):
    rng = np.random.default_rng(0)
    x, y = ((rng.uniform(size=(n, columns)) / np.sqrt(columns)).astype(dtype) for n in (rows, landmarks))
    kernel = KERNELS[name]
    room = np.full((len(x), len(y)), np.nan, x.dtype)
    values = quick(kernel.prepare(y))(x, room)
    assert np.shares_memory(values, room)
    exact = formula(kernel, np.float64(x), np.float64(y))
    eps = np.finfo(dtype).eps
    size = np.abs(exact).max()
    np.testing.assert_allclose(values, exact, atol=100 * eps * size)
    np.testing.assert_array_equal(quick(kernel.prepare(y))(x), values)
    np.testing.assert_allclose(quick(kernel.prepare(np.asfortranarray(y)))(np.asfortranarray(x)), values, atol=100 * eps * size)


def formula(kernel, x, y):
    """One value at a time."""
    values = np.empty((len(x), len(y)))
    for i, row in enumerate(x):
        for j, point in enumerate(y):
            product = float(row @ point)
            match kernel:
                case RBF():
                    values[i, j] = np.exp(-kernel.gamma * ((row - point) ** 2).sum())
                case Cosine():
                    values[i, j] = product / np.sqrt((row @ row) * (point @ point))
                case NormalizedPolynomial():
                    own = [kernel.gamma * v @ v + kernel.coef0 for v in (row, point)]
                    values[i, j] = ((kernel.gamma * product + kernel.coef0) / np.sqrt(own[0] * own[1])) ** kernel.degree
                case Polynomial():
                    values[i, j] = (kernel.gamma * product + kernel.coef0) ** kernel.degree / kernel.scale
    return values


@pytest.mark.parametrize("kernel", [RBF(0.3), Polynomial(3)], ids=["rbf", "polynomial"])
def test_room_may_be_wider(kernel):
    """As where a further column is kept beside the values."""
    rng = np.random.default_rng(0)
    x, y, room = rng.uniform(size=(9, 3)), rng.uniform(size=(21, 3)), np.full((9, 22), 7.0)
    for columns in (kernel.prepare(y), quick(kernel.prepare(y))):
        values = columns(x, room)
        assert values.shape == (9, 21)
        assert np.shares_memory(values, room)
        np.testing.assert_allclose(values, formula(kernel, x, y), rtol=1e-12)
        np.testing.assert_array_equal(room[:, 21], 7.0)


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
@pytest.mark.parametrize("kernel", [RBF(1.0), Polynomial(3), Cosine()], ids=["rbf", "polynomial", "cosine"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_not_finite_stays_so(kernel, dtype):
    y, x = np.full((2, 2), 0.5, dtype), np.full((4, 2), 0.5, dtype)
    x[0, 0], x[1, 0], x[2, 0] = np.nan, np.inf, np.finfo(dtype).max
    slow, fast = kernel.prepare(y)(x), quick(kernel.prepare(y))(x)
    np.testing.assert_array_equal(np.isnan(fast), np.isnan(slow))
    np.testing.assert_array_equal(np.isinf(fast), np.isinf(slow))
    np.testing.assert_allclose(fast[3], slow[3], rtol=1e-6)


def test_other_kernels_and_rows_are_left_alone():
    y = np.random.default_rng(0).uniform(size=(5, 3))
    for kernel in (Laplacian(1.0), Sigmoid(1.0)):
        columns = kernel.prepare(y)
        assert quick(columns) is columns
    rows = sparse.csr_array(np.where(y > 0.5, y, 0.0))
    np.testing.assert_array_equal(quick(RBF(1.0).prepare(sparse.csr_array(y)))(rows), RBF(1.0).prepare(sparse.csr_array(y))(rows))
    wide = RBF(1.0).prepare(np.zeros((2, 1000)))
    assert quick(wide, few_columns=256) is wide


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
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
