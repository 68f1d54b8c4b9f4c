"""Every kernel keeps the contract: those of the table, and one of the documentation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import cmeans.kernels
from cmeans.kernels import KERNELS, CallableKernel, Gower, Kernel
from cmeans.papers import ComplexWaveletSSIM, SpatialPyramid
from cmeans.runtime.parameter_object import ParameterObject
from cmeans.storage.codec import Packer, unpacked
from extending import imported

with imported("matern_kernel") as shown:
    MATERN = shown.Matern()
rng = np.random.default_rng(0)
COUNTS = rng.integers(0, 5, size=(30, 64)).astype(np.float64)
ROWS = rng.normal(size=(30, 64))
OF_VALUES = {"precomputed", "landmark_graph", "precomputed_graph"}  # which need more than rows
EXAMPLES: dict[str, tuple[Kernel, np.ndarray]] = {
    name: (cls(), ROWS if cls.is_for_tables else COUNTS)
    for name, cls in KERNELS.items()
    if name not in OF_VALUES
}
EXAMPLES |= {
    "matern": (MATERN, ROWS),
    "gower": (Gower.of(COUNTS, [0, 3]), COUNTS),
    "rbf, median": (cmeans.kernels.RBF("median"), ROWS),
    "laplacian, median": (cmeans.kernels.Laplacian("median"), ROWS),
    "spatial pyramid": (SpatialPyramid(levels=2), COUNTS),
    "wavelets": (ComplexWaveletSSIM(window=3), COUNTS),
    "polynomial, large": (cmeans.kernels.Polynomial(degree=9), ROWS * 100),
}


class Evidence:
    """What a fit of plain rows tells a kernel."""

    def __init__(self, x: np.ndarray) -> None:
        self.sample, self.n_features, self.variance = (
            (x, np.ones(len(x))),
            x.shape[1],
            float(x.var(axis=0).sum()),
        )

    def median(self, distances: Any) -> float:
        return float(np.median(distances(self.sample[0])[np.triu_indices(len(self.sample[0]), 1)]))

    def inverse(self, size: float) -> float:
        return 1.0 / size


over_kernels = pytest.mark.parametrize(("kernel", "x"), EXAMPLES.values(), ids=EXAMPLES)


@over_kernels
def test_settled_it_has_numbers_alone(kernel: Kernel, x: np.ndarray) -> None:
    settled = kernel.settled(Evidence(x))
    assert type(settled) is type(kernel)
    assert settled.settled(Evidence(x)) == settled
    assert not any(isinstance(value, str) for value in settled.get_params().values())


@over_kernels
def test_it_is_symmetric_and_has_its_diagonal(kernel: Kernel, x: np.ndarray) -> None:
    kernel = kernel.settled(Evidence(x))
    gram = kernel(x, x)
    size = np.abs(gram).max()
    np.testing.assert_allclose(gram, gram.T, atol=1e-12 * size)
    np.testing.assert_allclose(np.diag(gram), kernel.diag(x), rtol=1e-7, atol=1e-12 * size)
    if kernel.positive_definite:
        assert np.linalg.eigvalsh((gram + gram.T) / 2).min() > -1e-9 * size
    if kernel.zero_at_zero_alone:
        assert kernel.diag(0 * x).max() == 0


@over_kernels
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_native_values_are_the_generic_ones(
    kernel: Kernel, x: np.ndarray, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, rows = kernel.settled(Evidence(x)), x.astype(dtype)
    values = kernel(rows, rows[:7])
    assert (values.dtype, values.shape) == (dtype, (30, 7))
    monkeypatch.setattr("cmeans.native.is_available", lambda: False)
    generic = kernel(rows, rows[:7])
    tolerance = 1e-4 if dtype == np.float32 else 1e-11
    np.testing.assert_allclose(
        values, generic, rtol=tolerance, atol=tolerance * np.abs(generic).max()
    )


@over_kernels
def test_it_is_an_object_of_parameters(kernel: Kernel, x: np.ndarray) -> None:
    assert isinstance(kernel, ParameterObject)
    copy = clone(kernel, safe=False)
    assert copy == kernel
    assert kernel.set_params(**kernel.get_params(deep=False)) == kernel
    if not isinstance(kernel, Gower):  # whose arrays are no call
        assert (
            eval(
                repr(kernel),
                vars(cmeans.kernels) | {type(kernel).__name__: type(kernel)},
            )
            == kernel
        )


@over_kernels
def test_it_can_be_written(kernel: Kernel, x: np.ndarray) -> None:
    with imported("matern_kernel") as module:
        kernel = module.Matern() if kernel is MATERN else kernel
        for one in (kernel, kernel.settled(Evidence(x))):
            packer = Packer()
            assert unpacked(packer.encode(one, "kernel"), packer.arrays) == one


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_a_width_that_is_not_settled_has_no_values(name: str) -> None:
    with pytest.raises(ValueError, match=r"gamma='scale'\): a fit settles gamma; give a number"):
        KERNELS[name]()(ROWS, ROWS)


def test_a_function_is_not_written() -> None:
    with pytest.raises(ValueError, match="cannot be written to a file that executes nothing"):
        Packer().encode(CallableKernel(np.dot), "kernel")
