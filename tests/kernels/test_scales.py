"""Kernels with huge or tiny values: the same clusters as far as the type of the rows holds the
values; beyond, an error that names them."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

import cmeans
from cmeans import Landmarks
from cmeans.data.precision import binary_exponent
from cmeans.kernels import KERNELS
from cmeans.papers import GradientLandmarks, PrintedAdaptivePossibilisticCMeans, StreamingKernelFCM
from cmeans.rules import Fuzzy
from cmeans.spaces.conjugate_gradients import conjugate_gradients
from cmeans.spaces.spectrum import estimated_largest_eigenvalue
from every_estimator import FINDING, NAMES, build, known
from sweep_choices import pairs

pytestmark = pytest.mark.slow

rng = np.random.default_rng(0)
X = rng.permutation(rng.normal(size=(36, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 12, axis=0))
# Every estimator by its name, with words of its own where it has some, and other ways of three of
# them.
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in NAMES},
    "CMeans": ("CMeans", {"rule": Fuzzy(1.3)}),
    "SequentialPossibilisticCMeans": ("SequentialPossibilisticCMeans", {"patience": 1}),
    "length": ("AdaptivePossibilisticCMeans", {"adaptation": "length", "scaling": None}),
    "batched": ("ProbabilisticKMeans", {"solver": "batched"}),
    "projection": ("StreamingFuzzyCMeans", {"chunk_size": 18, "warm_up": 0}),
}
PRINTED = {"length": PrintedAdaptivePossibilisticCMeans, "projection": StreamingKernelFCM}
COMMON = {"scaling": None, "chunk_size": 18, "patch_size": 18}
SPACES: dict[str, dict[str, Any]] = {
    "exact": {"landmarks": None},
    "landmarks": {"landmarks": 12},
    "gradient": {"landmarks": GradientLandmarks(12)},
    "exact from points": {"landmarks": None, "init": X[:3]},
    "k-means++ landmarks": {"landmarks": Landmarks(12, method="k-means++")},
}
STREAMS = {
    "StreamingFuzzyCMeans": ("landmarks",),
    "projection": ("exact",),
    "KernelPatchClustering": ("exact",),
}
POWERS = (-1000, -540, 400, 520, 1000)
SINGLE = (-100, 60, 110)


class Scaled:
    """A Gaussian kernel times a power of two."""

    def __init__(self, power: int) -> None:
        self.power = power

    def __call__(self, x: Any, y: Any) -> Any:
        x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        return np.ldexp(
            np.exp(-0.05 * ((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2)), self.power
        )


def made(name: str, **parameters: Any) -> Any:
    estimator, own = MODELS[name]
    if name in PRINTED:
        return PRINTED[name](
            (1, 4) if name == "length" else 3, random_state=0, **{**own, **parameters}
        )
    return build(
        estimator,
        n_clusters=4 if estimator in FINDING else 3,
        **{**known(estimator, COMMON), **own, **parameters},
    )


def is_there(name: str, space: str, *_: object) -> bool:
    if name in STREAMS:
        return space in STREAMS[name]
    if "points" in space:
        return MODELS[name][0] not in (*FINDING, "TwoStepKernelKMeans")
    return name != "TwoStepKernelKMeans" or space != "gradient"


def parameters_of(name: str, space: str) -> dict[str, Any]:
    return {} if name in ("projection", "KernelPatchClustering") else SPACES[space]


@cache
def fitted(name: str, space: str, power: int, dtype: type, form: str = "callable") -> Any:
    parameters, rows, kernel = parameters_of(name, space), X.astype(dtype), Scaled(power)
    if form == "precomputed":
        rows, kernel = kernel(X, X).astype(dtype), "precomputed"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*on the way from chunk to chunk.*")
        return made(name, kernel=kernel, **parameters).fit(rows), rows


def assert_scaled_alike(
    name: str, space: str, power: int, dtype: type, form: str = "callable"
) -> None:
    """Compare fits of a kernel and its multiple: equal up to the rounding of logarithms, and of
    libraries that scale by themselves."""
    (model, rows), (plain, plain_rows) = (
        fitted(name, space, number, dtype, form) for number in (power, 0)
    )
    # tol is 1e-4
    near = {"rtol": 1e-3, "atol": 1e-3} if dtype == np.float32 else {"rtol": 1e-3, "atol": 1e-4}
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_allclose(model.memberships_, plain.memberships_, **near)
    np.testing.assert_allclose(np.ldexp(model.objective_, -power), plain.objective_, **near)
    np.testing.assert_allclose(model.memberships(rows), plain.memberships(plain_rows), **near)
    np.testing.assert_allclose(
        np.ldexp(model.transform(rows).astype(np.float64), -power // 2),
        plain.transform(plain_rows),
        **near,
    )
    if getattr(plain, "approximation_", None) is not None:
        np.testing.assert_allclose(
            model.approximation_.residual, plain.approximation_.residual, **near
        )
        np.testing.assert_allclose(
            np.ldexp(model.approximation_.cost_bounds, -power),
            plain.approximation_.cost_bounds,
            **near,
        )


@pytest.mark.parametrize(
    ("name", "space", "power"), pairs(MODELS, SPACES, POWERS, allowed=is_there)
)
def test_callable_kernels(name: str, space: str, power: int) -> None:
    assert_scaled_alike(name, space, power, np.float64)


@pytest.mark.parametrize(
    ("name", "space", "power"), pairs(MODELS, SPACES, SINGLE, allowed=is_there)
)
def test_callable_kernels_of_single_precision(name: str, space: str, power: int) -> None:
    assert_scaled_alike(name, space, power, np.float32)


@pytest.mark.parametrize(
    ("name", "space", "power"),
    pairs(
        [name for name in MODELS if name not in STREAMS],
        ["exact", "landmarks", "gradient"],
        POWERS[::2],
        allowed=is_there,
    ),
)
def test_kernel_matrices(name: str, space: str, power: int) -> None:
    assert_scaled_alike(name, space, power, np.float64, "precomputed")


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("projection", ["cholesky", "gradient"])
def test_projections_of_streams(projection: str, power: int) -> None:
    parameters = {
        "chunk_size": 18,
        "method": "projection",
        "projection": projection,
        "warm_up": 0,
        "random_state": 0,
    }
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*on the way from chunk to chunk.*")
        model, plain = (
            StreamingKernelFCM(3, kernel=Scaled(number), **parameters).fit(X)
            for number in (power, 0)
        )
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_allclose(model.projection_loss_, plain.projection_loss_, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "space"),
    [(name, space) for name in MODELS for space in ("exact", "landmarks") if is_there(name, space)],
)
@pytest.mark.parametrize(
    ("power", "dtype", "beyond"),
    [
        (-1060, np.float64, "below 1.74e-310, where digits are lost"),
        (1022, np.float64, "above .*, where sums of them overflow"),
        (-140, np.float32, "below 9.18e-41, where digits are lost"),
        (126, np.float32, "above .*, where sums of them overflow"),
    ],
)
def test_errors_name_the_kernel_and_the_range_of_its_values(
    name: str, space: str, power: int, dtype: type, beyond: str
) -> None:
    if name == "KernelPatchClustering" and dtype == np.float32:
        return  # patches are clustered in float64
    model = made(name, kernel=Scaled(power), **parameters_of(name, space))
    largest = f"{2.0**power:.3g}".replace("+", ".")
    with pytest.raises(
        ValueError,
        match=rf"{type(model).__name__}\(kernel=.*Scaled.*run from .* to {largest}, in float\d\d "
        rf"{beyond}",
    ):
        model.fit(X.astype(dtype))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    ("value", "shown"), [(np.inf, "gives inf for a pair"), (1e308, "run from .* above")]
)
def test_values_that_overflow_are_named(name: str, value: float, shown: str) -> None:
    def kernel(x: Any, y: Any) -> Any:
        return np.where((x[:, :1] > 9) & (y[:, 0] > 9), value, Scaled(0)(x, y))

    with pytest.raises(ValueError, match=rf"\w+.*kernel=.*{shown}"):
        made(name, kernel=kernel).fit(X)


@pytest.mark.parametrize("kernel", ["linear", "polynomial", "cosine", "normalized_polynomial"])
@pytest.mark.parametrize("name", MODELS)
def test_products_that_vanish(name: str, kernel: str) -> None:
    """Rows differ, but all their kernel values are zero or nearly so."""
    with pytest.raises(
        ValueError, match=r"\w+\(kernel=.*(values on these rows are all 0|digits are lost)"
    ):
        made(
            name, kernel=KERNELS[kernel](coef0=0.0) if kernel.endswith("polynomial") else kernel
        ).fit(X * 1e-200)


def test_rows_of_zeros_are_valid() -> None:
    for kernel in ("linear", "cosine"):
        with pytest.warns(UserWarning, match="only 1 distinct row "):
            assert cmeans.KernelKMeans(2, kernel=kernel).fit(np.zeros((9, 2))).objective_ == 0.0


@pytest.mark.filterwarnings("ignore:.*(clusters have collapsed|on the way from chunk to chunk)")
def test_a_chunk_of_zeros_has_an_empty_span() -> None:
    model = StreamingKernelFCM(
        3,
        kernel="cosine",
        chunk_size=18,
        method="projection",
        projection="l1",
        warm_up=0,
        random_state=0,
    )
    model.fit(np.concatenate([X[:18], np.zeros((18, 2))]))
    assert not model._stream.past.centres.coordinates.any()


def test_binary_exponents() -> None:
    values = ([1.0, -3.0], 0.0, [], np.inf, [1.0, np.nan], 2.0**-1074)
    assert [binary_exponent(value) for value in values] == [2, 0, 0, 0, 0, -1073]


def test_linear_solvers_give_the_same_digits_at_any_scale() -> None:
    root = rng.normal(size=(30, 30))
    gram, aims = root @ root.T + np.eye(30), rng.normal(size=(4, 30))
    plain = conjugate_gradients(lambda a: a @ gram, aims, 1e-12, 1e-9)
    for power, other in ((600, -300), (-700, 200), (1000, 1000), (-900, -900)):
        scaled = np.ldexp(gram, power)
        found = conjugate_gradients(
            lambda a, scaled=scaled: a @ scaled,
            np.ldexp(aims, other),
            1e-12,
            float(np.ldexp(1e-9, power)),
        )
        np.testing.assert_array_equal(np.ldexp(found, power - other), plain)
        assert np.ldexp(
            estimated_largest_eigenvalue(scaled), -power
        ) == estimated_largest_eigenvalue(gram)
    np.testing.assert_allclose(plain @ gram, aims, atol=1e-8)
