"""Different ways to ask for the same clustering, here and in other packages."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.kernel_approximation import Nystroem

import naive
from cmeans import FuzzyCMeans, KernelKMeans, Landmarks, PossibilisticCMeans, TwoStepKernelKMeans
from cmeans.kernels import KERNELS, Linear, Polynomial, Precomputed, Sigmoid
from cmeans.papers import GradientLandmarks
from sweep_choices import pairs

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("sweeps", "plain_loop"),
    pytest.mark.filterwarnings(
        "ignore:.*stopped at max_iter:sklearn.exceptions.ConvergenceWarning"
    ),
]

N, C = 90, 3
START = np.array([0, 1, 2])
RULES = {
    "hard": partial(KernelKMeans, C),
    "fuzzy": partial(FuzzyCMeans, C, m=1.4),
    "possibilistic": partial(PossibilisticCMeans, C, m=1.6, pilot_m=1.4, eta_scale=0.5),
}
FEW = np.arange(2, N, 7)
SWEEPS = ["generic", "native"]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(11)
    blobs = np.array([[2, 0, 0, 1], [0, 2.5, 1, 0], [0, 0, 2, 2]])[np.arange(N) % C]
    X = blobs + rng.normal(scale=0.5, size=(N, 4))
    X[np.abs(X) < 0.3] = 0
    return X


@pytest.fixture(scope="module")
def weights():
    return np.random.default_rng(12).uniform(0.2, 2, size=N)


def assert_same_runs(a, b, tolerance=1e-8):
    np.testing.assert_allclose(a.objective_history_, b.objective_history_, rtol=tolerance)
    np.testing.assert_allclose(a.memberships_, b.memberships_, rtol=0, atol=100 * tolerance)
    np.testing.assert_array_equal(a.labels_, b.labels_)


@pytest.mark.parametrize(
    ("rule", "choice", "form", "sweeps"),
    pairs(RULES, [Landmarks, GradientLandmarks], [np.asarray, sparse.csr_array], SWEEPS),
    indirect=["sweeps"],
)
def test_all_rows_as_landmarks_are_the_exact_space(rule, choice, form, X, weights):
    """Gradients take the more steps the flatter the kernel is; one that is nearly flat is below."""
    gamma = 0.15 if choice is Landmarks else 0.6
    words = {"kernel": "rbf", "gamma": gamma, "init": START, "max_iter": 4, "tol": 0}
    exact = RULES[rule](landmarks=None, **words).fit(form(X), sample_weight=weights)
    everything = RULES[rule](landmarks=choice(N), **words).fit(form(X), sample_weight=weights)
    assert_same_runs(exact, everything)


@pytest.mark.parametrize(
    ("kernel", "rule", "sweeps"),
    pairs(["rbf", "laplacian", "polynomial", "normalized_polynomial", "cosine"], RULES, SWEEPS),
    indirect=["sweeps"],
)
def test_gradient_form_is_the_eigen_form(kernel, rule, X, weights):
    if kernel.endswith("polynomial"):
        shape = {"kernel": KERNELS[kernel](degree=2, gamma=0.15)}
    else:
        shape = {"kernel": kernel} | ({"gamma": 0.15} if kernel != "cosine" else {})
    words = {**shape, "init": START, "max_iter": 8, "tol": 0}
    eigen = RULES[rule](landmarks=FEW, **words).fit(X, sample_weight=weights)
    gradient = RULES[rule](landmarks=GradientLandmarks(points=FEW), **words).fit(
        X, sample_weight=weights
    )
    assert_same_runs(eigen, gradient)


@pytest.mark.parametrize("seed", range(3))
def test_gradients_do_not_wander_where_landmarks_are_nearly_redundant(seed):
    """Fifty landmarks on a line: the eigenvalues of their smooth kernel fall below rounding after a
    dozen."""
    x = np.random.default_rng(seed).normal(size=(55, 1))
    words = {"m": 1.5, "kernel": "rbf", "init": START, "max_iter": 25, "tol": 0}
    eigen = FuzzyCMeans(C, landmarks=np.arange(50), **words).fit(x)
    gradient = FuzzyCMeans(C, landmarks=GradientLandmarks(points=np.arange(50)), **words).fit(x)
    np.testing.assert_allclose(gradient.objective_history_, eigen.objective_history_, rtol=1e-3)
    assert np.diff(gradient.objective_history_).max() < 1e-8 * len(x)


def test_gradients_refuse_an_indefinite_kernel_with_advice(X):
    """They cannot clip: conjugate gradients stop at a negative direction."""
    model = KernelKMeans(
        C,
        kernel=Sigmoid(gamma=0.3, coef0=1.0),
        landmarks=GradientLandmarks(points=FEW),
        init=START,
    )
    with (
        pytest.warns(UserWarning, match="indefinite"),
        pytest.raises(ValueError, match=r"negative eigenvalues.*take Landmarks"),
    ):
        model.fit(X)


@pytest.mark.parametrize(
    ("rule", "choice", "sweeps"),
    pairs(RULES, [Landmarks, GradientLandmarks], SWEEPS),
    indirect=["sweeps"],
)
def test_precomputed_columns_and_squares_are_the_kernel_itself(rule, choice, X, weights):
    words = {
        "landmarks": choice(points=FEW),
        "init": START,
        "max_iter": 8,
        "tol": 0,
    }
    K = naive.kernel_matrix(X, X, partial(naive.polynomial, gamma=0.5, coef0=1, degree=2))
    # Not the library's own polynomial, which is centred: a callable is used as it comes.
    kernel = RULES[rule](kernel=lambda a, b: (0.5 * a @ b.T + 1) ** 2, **words).fit(
        X, sample_weight=weights
    )
    square = RULES[rule](kernel="precomputed", **words).fit(K, sample_weight=weights)
    only = RULES[rule](kernel=Precomputed(diagonal=np.diag(K)), **words).fit(
        K[:, FEW], sample_weight=weights
    )
    centred = RULES[rule](kernel=Polynomial(degree=2, gamma=0.5), **words).fit(
        X, sample_weight=weights
    )
    for other in (square, only, centred):
        assert_same_runs(kernel, other)
        np.testing.assert_array_equal(other.landmark_indices_, FEW)


@pytest.mark.parametrize("rule", RULES)
def test_precomputed_square_without_landmarks_is_the_exact_space(rule, X, weights):
    words = {"landmarks": None, "init": START, "max_iter": 8, "tol": 0}
    K = naive.kernel_matrix(X, X, partial(naive.rbf, gamma=0.15))
    kernel = RULES[rule](kernel="rbf", gamma=0.15, **words).fit(X, sample_weight=weights)
    assert_same_runs(
        kernel, RULES[rule](kernel="precomputed", **words).fit(K, sample_weight=weights)
    )


@pytest.mark.parametrize(
    "other",
    [
        {"kernel": lambda a, b: a @ b.T, "landmarks": None},
        {"kernel": Linear(), "landmarks": N},
        {"kernel": Linear(), "landmarks": FEW},
    ],
    ids=["exact", "all-landmarks", "some-landmarks"],  # 13 landmarks span the four dimensions
)
@pytest.mark.parametrize("rule", RULES)
def test_euclidean_space_is_that_of_the_linear_kernel(rule, other, X, weights):
    words = {"init": START, "max_iter": 8, "tol": 0}
    plain = RULES[rule](kernel="linear", **words).fit(X, sample_weight=weights)
    assert plain.cluster_centers_.shape == (C, 4)
    assert_same_runs(plain, RULES[rule](**other, **words).fit(X, sample_weight=weights))


@pytest.mark.parametrize("seed", range(4))
def test_hard_labels_on_landmarks_are_those_of_kmeans_on_nystroem_features(seed, X):
    """The landmarks' distance differs from the features' by e_i = k(x, x) - |z|^2, which no argmin
    sees; the objective does."""
    nystroem = Nystroem(kernel="rbf", gamma=0.4, n_components=15, random_state=seed).fit(X)
    Z = nystroem.transform(X)
    start = np.random.default_rng(seed).choice(N, size=5, replace=False)
    peer = KMeans(5, init=Z[start], n_init=1, tol=0, algorithm="lloyd").fit(Z)
    ours = KernelKMeans(5, gamma=0.4, landmarks=nystroem.component_indices_, init=start, tol=0).fit(
        X
    )
    np.testing.assert_array_equal(ours.labels_, peer.labels_)
    left_out = (1 - (Z**2).sum(axis=1)).sum()
    assert ours.objective_ == pytest.approx(peer.inertia_ + left_out, rel=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("seed", range(3))
def test_linear_kernel_kmeans_is_kmeans(seed, form, X, weights):
    start = np.random.default_rng(seed).choice(N, size=6, replace=False)
    peer = KMeans(6, init=X[start], n_init=1, tol=0, algorithm="lloyd").fit(
        X, sample_weight=weights
    )
    ours = KernelKMeans(6, kernel="linear", init=start, tol=0).fit(form(X), sample_weight=weights)
    np.testing.assert_array_equal(ours.labels_, peer.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, peer.cluster_centers_, atol=1e-10)
    assert ours.objective_ == pytest.approx(peer.inertia_, rel=1e-10)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("m", [1.2, 2.0, 3.5])
def test_linear_fuzzy_cmeans_is_bezdeks(m, form, X, weights):
    expected = naive.fcm_points(X, X[START], m, sweeps=9, weights=weights)
    with np.errstate(all="raise"):
        ours = FuzzyCMeans(C, m=m, kernel="linear", init=START, tol=0, max_iter=9).fit(
            form(X), sample_weight=weights
        )
    np.testing.assert_allclose(ours.objective_history_, expected.history, rtol=1e-9)
    np.testing.assert_allclose(ours.memberships_, expected.memberships, rtol=0, atol=1e-8)
    np.testing.assert_allclose(ours.cluster_centers_, expected.centers, atol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_two_steps_are_chittas(kernel, form, X):
    if kernel == "precomputed" and form is sparse.csr_array:
        pytest.skip("precomputed kernels are dense")
    sample, start = np.arange(0, N, 3)[::-1], np.array([3, 15, 27])
    K = naive.kernel_matrix(
        X, X, naive.linear if kernel == "linear" else partial(naive.rbf, gamma=0.5)
    )
    expected = naive.two_step(K, sample, start, sweeps=4)
    rows = form(K if kernel == "precomputed" else X)
    words = {"kernel": kernel, "gamma": 0.5} if kernel == "rbf" else {"kernel": kernel}
    ours = TwoStepKernelKMeans(C, **words, landmarks=sample, init=start, max_iter=4, tol=0).fit(
        rows
    )
    np.testing.assert_array_equal(ours.labels_, expected.memberships.argmax(axis=1))
    np.testing.assert_allclose(
        ours.objective_history_, expected.history[: ours.n_iter_] + expected.history[-1:], rtol=1e-9
    )
    assert ours.objective_ == pytest.approx(expected.objective, rel=1e-9)
