"""Landmarks whose kernel matrix is not factored."""

from __future__ import annotations

import numpy as np
import pytest

from cmeans import FuzzyCMeans, Landmarks, StreamingFuzzyCMeans, ThreadEngine, TwoStepKernelKMeans
from cmeans.kernels import RBF
from cmeans.papers import GradientLandmarks
from cmeans.spaces.landmark import landmark_space

X = np.random.default_rng(0).normal(size=(60, 2))
FEW = np.arange(0, 60, 5)


def test_coefficients_solve_with_the_kernel_of_the_landmarks() -> None:
    """K_ss alpha_j = sum_i u_ij^m k(x_i, landmarks) / sum_i u_ij^m, as both papers have it."""
    model = FuzzyCMeans(
        3,
        m=1.5,
        kernel="rbf",
        gamma=0.5,
        init=[0, 20, 40],
        tol=1e-12,
        landmarks=GradientLandmarks(points=FEW),
    ).fit(X)
    kernel, w = RBF(gamma=0.5), model.memberships_**1.5
    products = (w / w.sum(axis=0)).T @ kernel(X, X[FEW])
    np.testing.assert_allclose(
        model.dual_coef_ @ kernel(X[FEW], X[FEW]), products, rtol=0, atol=1e-6
    )


def test_the_same_choice_is_factored_as_landmarks_are() -> None:
    given = GradientLandmarks(30, method="uniform", tol=0.1)
    assert given.factored() == Landmarks(30, method="uniform", tol=0.1)
    assert Landmarks(30).factored() == Landmarks(30)
    assert given.set_params(number=20) == GradientLandmarks(20, method="uniform", tol=0.1)


@pytest.mark.parametrize(
    ("number", "message"),
    [(0, r"GradientLandmarks\(number=0\)"), ("few", r"GradientLandmarks\(number='few'\)")],
)
def test_wrong_numbers_name_it(number: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GradientLandmarks(number)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "model",
    [
        TwoStepKernelKMeans(3, landmarks=GradientLandmarks(20)),
        StreamingFuzzyCMeans(3, kernel="rbf", landmarks=GradientLandmarks(20)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_fits_that_factor_at_any_rate_refuse_it(model: FuzzyCMeans) -> None:
    with pytest.raises(ValueError, match=r"landmarks=GradientLandmarks.*give Landmarks\(...\)"):
        model.fit(X)


def test_the_word_that_it_replaces_names_it() -> None:
    with pytest.raises(TypeError, match=r"landmarks=cmeans.papers.GradientLandmarks\(\) now"):
        FuzzyCMeans(3, landmark_solver="gradient")  # type: ignore[call-arg]


def planned_setup(number: int) -> float:
    """The bytes that a fit plans for choosing landmarks and for matrices of them."""
    model = FuzzyCMeans(3, kernel="rbf", landmarks=GradientLandmarks(number))
    with pytest.raises(ValueError, match="memory_budget") as refused:
        model.set_params(engine=ThreadEngine(1, memory_budget=1)).fit(X)
    amount, unit = str(refused.value).partition(" to choose")[0].split()[-2:]
    return float(amount) * {"bytes": 1, "kB": 1e3, "MB": 1e6}[unit]


def test_a_kernel_matrix_that_is_not_kept_is_not_planned_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert planned_setup(40) >= 6 * 8 * 40**2
    monkeypatch.setattr("cmeans.spaces.landmark.LARGEST_KEPT_GRAM", 30)
    for number in (20, 40):
        space = landmark_space(RBF(gamma=0.5), X[:number], None, X.dtype, factor=False)
        assert space.factored_size == (number if number < 30 else 0)
    assert planned_setup(40) == 0.0
