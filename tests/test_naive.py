"""The naive twin against truth that does not come from it: derivatives, explicit feature maps,
points without kernels, other packages."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.vq import kmeans2
from scipy.linalg import sqrtm
from scipy.spatial.distance import pdist
from scipy.special import logsumexp, softmax
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import pairwise_kernels

import naive

C, M = 3, 1.7
START = np.array([0, 1, 2])  # one row of each blob


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(7)
    return np.array([[0, 0], [3, 1], [0.5, 3]])[np.arange(48) % C] + rng.normal(
        scale=0.9, size=(48, 2)
    )


@pytest.fixture(scope="module")
def weights():
    return np.random.default_rng(8).uniform(0.2, 3, size=48)


@pytest.fixture(scope="module")
def K(X):
    return naive.kernel_matrix(X, X, partial(naive.rbf, gamma=0.3))


def landmark_pieces(K, landmarks):
    return K[:, landmarks], K[np.ix_(landmarks, landmarks)], np.diag(K)


def spaces(K):
    """name -> (distances(A), distances at the start rows)."""
    pieces = landmark_pieces(K, np.arange(0, len(K), 5))
    return {
        "exact": (partial(naive.exact_distances, K), naive.row_start_distances_exact(K, START)),
        "landmark": (
            lambda A: naive.landmark_distances(*pieces, A, 1e-12),
            naive.row_start_distances_landmark(*pieces, START, 1e-12),
        ),
    }


# ---------------------------------------------------------------------------------------- distances


def test_exact_distances_are_those_to_means_in_an_explicit_feature_space(X, weights):
    """(x.y + 1)^2 in two dimensions is the inner product of six features."""
    x, y = X.T
    root2 = np.sqrt(2)
    features = np.column_stack([np.ones(len(X)), root2 * x, root2 * y, x**2, y**2, root2 * x * y])
    K = naive.kernel_matrix(X, X, partial(naive.polynomial, gamma=1, coef0=1, degree=2))
    np.testing.assert_allclose(K, features @ features.T, rtol=1e-9)
    A = weights[:, None] * np.random.default_rng(0).dirichlet(np.ones(C), len(X)) ** M
    means = A.T @ features / A.sum(axis=0)[:, None]
    expected = ((features[:, None] - means) ** 2).sum(axis=2)
    np.testing.assert_allclose(naive.exact_distances(K, A), expected, atol=1e-10)
    np.testing.assert_allclose(
        naive.row_start_distances_exact(K, START),
        ((features[:, None] - features[START]) ** 2).sum(2),
        atol=1e-10,
    )

    # four of six dimensions: the centres are the projections of the means onto their span
    landmarks = [3, 10, 20, 30]
    span = np.linalg.qr(features[landmarks].T)[0]
    projected = means @ span @ span.T
    expected = ((features[:, None] - projected) ** 2).sum(axis=2)
    np.testing.assert_allclose(
        naive.landmark_distances(*landmark_pieces(K, landmarks), A, 1e-12), expected, atol=1e-8
    )
    projected = features[START] @ span @ span.T
    expected = ((features[:, None] - projected) ** 2).sum(axis=2)
    start = naive.row_start_distances_landmark(*landmark_pieces(K, landmarks), START, 1e-12)
    np.testing.assert_allclose(start, expected, atol=1e-8)


def test_objective_equals_its_pairwise_form(K, weights):
    """Havens 2011 (4) has no centres at all: sum_j sum_ik a_ij a_kj |phi_i - phi_k|^2 / (2 sum_l
    a_lj)."""
    u = np.random.default_rng(1).dirichlet(np.ones(C), len(K))
    a = weights[:, None] * u**M
    pairs = np.diag(K)[:, None] + np.diag(K) - 2 * K
    expected = sum(a[:, j] @ pairs @ a[:, j] / (2 * a[:, j].sum()) for j in range(C))
    assert naive.objective(naive.exact_distances(K, a), u, M, weights) == pytest.approx(
        expected, rel=1e-12
    )


def test_objective_with_the_possibilistic_penalty(weights):
    rng = np.random.default_rng(15)
    d2, u, eta = rng.uniform(size=(48, C)), rng.uniform(size=(48, C)), rng.uniform(size=C)
    expected = (weights[:, None] * (u**M * d2 + eta * (1 - u) ** M)).sum()
    assert naive.objective(d2, u, M, weights, eta) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("gamma", [3, 0.3, 0.03])  # condition numbers of 1e3, 3e9 and beyond 1e16
def test_all_rows_as_landmarks_are_exact(X, weights, gamma):
    K = naive.kernel_matrix(X, X, partial(naive.rbf, gamma=gamma))
    A = weights[:, None] * np.random.default_rng(2).dirichlet(np.ones(C), len(K))
    everything = landmark_pieces(K, np.arange(len(K)))
    np.testing.assert_allclose(
        naive.landmark_distances(*everything, A, 1e-13), naive.exact_distances(K, A), atol=1e-11
    )
    start = naive.row_start_distances_landmark(*everything, START, 1e-13)
    np.testing.assert_allclose(start, naive.row_start_distances_exact(K, START), atol=1e-11)


def test_a_landmark_given_twice_changes_nothing(K):
    A = np.random.default_rng(3).dirichlet(np.ones(C), len(K))
    once = naive.landmark_distances(*landmark_pieces(K, [0, 7, 9, 20]), A, 1e-10)
    twice = naive.landmark_distances(*landmark_pieces(K, [0, 7, 9, 20, 7]), A, 1e-10)
    np.testing.assert_allclose(twice, once, atol=1e-10)


def test_pseudo_solve_is_that_of_numpy(K):
    Kss, t = K[:12, :12], K[:12, 40]
    assert np.linalg.eigvalsh(Kss)[0] < 1e-2 * np.linalg.eigvalsh(Kss)[-1]
    np.testing.assert_allclose(
        naive.pseudo_solve(Kss, t, 1e-2),
        np.linalg.pinv(Kss, rcond=1e-2, hermitian=True) @ t,
        rtol=1e-8,
    )


@pytest.mark.parametrize("space", ["exact", "landmark"])
def test_an_empty_cluster_is_refused(K, space):
    distances, _ = spaces(K)[space]
    with pytest.raises(ValueError, match="empty"):
        distances(np.column_stack([np.ones(len(K)), np.zeros(len(K))]))


# -------------------------------------------------------------------------------------- memberships


def slopes(d2, u, m, eta=None):
    """Central differences of the objective in every membership."""
    step, result = 1e-6, np.empty_like(u)
    for i, j in np.ndindex(*u.shape):
        up, down = u.copy(), u.copy()
        up[i, j] += step
        down[i, j] -= step
        result[i, j] = (
            naive.objective(d2, up, m, eta=eta) - naive.objective(d2, down, m, eta=eta)
        ) / (2 * step)
    return result


def test_fuzzy_memberships_are_stationary_where_rows_sum_to_one():
    d2 = np.random.default_rng(4).uniform(0.5, 2, size=(5, C))
    u = naive.fuzzy_memberships(d2, M)
    np.testing.assert_allclose(u.sum(axis=1), 1)
    slope = slopes(d2, u, M)
    np.testing.assert_allclose(
        slope, np.broadcast_to(slope.mean(axis=1, keepdims=True), slope.shape), rtol=1e-6
    )


def test_possibilistic_memberships_are_stationary():
    d2, eta = np.random.default_rng(5).uniform(0.5, 2, size=(5, C)), np.array([0.5, 1.0, 2.0])
    np.testing.assert_allclose(
        slopes(d2, naive.possibilistic_memberships(d2, eta, M), M, eta), 0, atol=1e-7
    )


@pytest.mark.parametrize("T", [0.3, 1.0, 7.0])
def test_entropy_memberships_are_a_softmax_and_a_minimum(T):
    d2 = np.random.default_rng(5).uniform(0.5, 2, size=(5, C))
    u = naive.entropy_memberships(d2, T)
    np.testing.assert_allclose(u, softmax(-d2 / T, axis=1), rtol=1e-13)
    least = naive.entropy_objective(d2, u, T)
    assert least == pytest.approx(-T * logsumexp(-d2 / T, axis=1).sum(), rel=1e-12)
    for seed in range(50):
        other = np.random.default_rng(seed).dirichlet(np.ones(C), size=5)
        assert least < naive.entropy_objective(d2, other, T)
        assert least < naive.entropy_objective(d2, 0.99 * u + 0.01 * other, T)


def test_the_printed_exponent_is_not_a_minimum():
    """2 / (m - 1) on squared distances, as Havens 2011 (6) prints it, is what m' = 1 + (m - 1) / 2
    would give."""
    d2 = np.random.default_rng(6).uniform(0.5, 2, size=(9, C))
    printed = naive.fuzzy_memberships(d2, M, exponent=2 / (M - 1))
    np.testing.assert_allclose(printed, naive.fuzzy_memberships(d2, 1 + (M - 1) / 2))
    assert naive.objective(d2, naive.fuzzy_memberships(d2, M), M) < naive.objective(d2, printed, M)


def test_zero_distances_share_a_row():
    d2 = np.array([[0.0, 1.0, 0.0], [-1e-17, 2.0, 1.0], [1.0, 1.0, 2.0]])
    u = naive.fuzzy_memberships(d2, 2)
    np.testing.assert_allclose(u, [[0.5, 0, 0.5], [1, 0, 0], [0.4, 0.4, 0.2]])
    np.testing.assert_allclose(
        naive.possibilistic_memberships(d2, np.ones(3), 3)[:2],
        [[1, 0.5, 1], [1, 1 / (1 + np.sqrt(2)), 0.5]],
    )


def test_memberships_harden_as_m_goes_to_one():
    d2 = np.random.default_rng(9).uniform(0.5, 2, size=(20, C))
    np.testing.assert_allclose(
        naive.fuzzy_memberships(d2, 1.0001), naive.hard_memberships(d2), atol=1e-12
    )


def test_hard_ties_go_to_the_lowest_number():
    d2 = np.array([[2.0, 1.0, 1.0], [1.0, 1.0, 1.0], [3.0, 2.0, 1.0]])
    np.testing.assert_array_equal(naive.hard_memberships(d2), [[0, 1, 0], [1, 0, 0], [0, 0, 1]])


def test_scales_are_weighted_mean_distances(weights):
    rng = np.random.default_rng(10)
    d2, u = rng.uniform(size=(48, C)), rng.uniform(size=(48, C))
    expected = [2.5 * np.average(d2[:, j], weights=weights * u[:, j] ** M) for j in range(C)]
    np.testing.assert_allclose(
        naive.possibilistic_scales(d2, u, M, weights, eta_scale=2.5), expected
    )


# ----------------------------------------------------------------------------------------- the loop


@pytest.mark.parametrize("weighted", [False, True])
def test_linear_kernel_is_cmeans_on_points(X, weights, weighted):
    w = weights if weighted else None
    K = naive.kernel_matrix(X, X, naive.linear)
    distances, start = spaces(K)["exact"]
    fuzzy = naive.cmeans(distances, lambda d2: naive.fuzzy_memberships(d2, M), start, 6, M, w)
    points = naive.fcm_points(X, X[START], M, 6, w)
    np.testing.assert_allclose(fuzzy.memberships, points.memberships, atol=1e-9)
    np.testing.assert_allclose(fuzzy.history, points.history, rtol=1e-10)
    hard = naive.cmeans(distances, naive.hard_memberships, start, 6, 1, w)
    points = naive.kmeans_points(X, X[START], 6, w)
    np.testing.assert_array_equal(hard.memberships, points.memberships)
    np.testing.assert_allclose(hard.history, points.history, rtol=1e-10)
    np.testing.assert_allclose(hard.d2, points.d2, atol=1e-10)


@pytest.mark.parametrize("space", ["exact", "landmark"])
@pytest.mark.parametrize("rule", ["hard", "fuzzy", "possibilistic"])
def test_objective_never_rises(K, weights, space, rule):
    distances, start = spaces(K)[space]
    m, eta, memberships = 1.3, None, lambda d2: naive.fuzzy_memberships(d2, 1.3)
    if rule == "hard":
        m, memberships = 1, naive.hard_memberships
    if rule == "possibilistic":
        pilot = naive.cmeans(distances, memberships, start, 10, m, weights)
        start, eta = pilot.d2, naive.possibilistic_scales(pilot.d2, pilot.memberships, m, weights)
        memberships = lambda d2: naive.possibilistic_memberships(d2, eta, m)  # noqa: E731
    fit = naive.cmeans(distances, memberships, start, 12, m, weights, eta)
    assert len(fit.history) == 13
    assert fit.history[-1] < fit.history[0]
    assert np.all(np.diff(fit.history) <= 1e-12 * fit.history[0])
    assert fit.objective == naive.objective(fit.d2, memberships(fit.d2), m, weights, eta)


def test_the_centres_reached_by_fuzzy_sweeps_are_a_minimum(X, weights):
    """At the fixed point the objective, as a function of the centres alone, has no slope."""
    V = naive.fcm_points(X, X[START], M, 200, weights).centers

    def reduced(V):
        d2 = ((X[:, None] - V) ** 2).sum(axis=2)
        return naive.objective(d2, naive.fuzzy_memberships(d2, M), M, weights)

    for j, k in np.ndindex(*V.shape):
        step = np.zeros_like(V)
        step[j, k] = 1e-5
        assert reduced(V + step) == pytest.approx(reduced(V - step), rel=1e-11)
        assert reduced(V + 100 * step) > reduced(V)


@pytest.mark.parametrize("rule", ["hard", "fuzzy"])
def test_a_weight_of_k_equals_k_copies(K, rule):
    m, memberships = (
        (1, naive.hard_memberships)
        if rule == "hard"
        else (M, lambda d2: naive.fuzzy_memberships(d2, M))
    )
    counts = np.arange(len(K)) % 3 + 1
    copies = np.repeat(np.arange(len(K)), counts)
    distances, start = spaces(K)["exact"]
    once = naive.cmeans(distances, memberships, start, 5, m, counts.astype(float))
    many = partial(naive.exact_distances, K[np.ix_(copies, copies)])
    repeated = naive.cmeans(many, memberships, start[copies], 5, m)
    np.testing.assert_allclose(once.d2[copies], repeated.d2, atol=1e-10)
    assert once.objective == pytest.approx(repeated.objective)


def test_landmark_hard_clustering_is_kmeans_on_whitened_rows(K):
    """Chitta 2011: same labels as k-means on K_s K_ss^(-1/2); the distances differ by what the
    landmarks miss of each row."""
    Ks, Kss, diag = landmark_pieces(K, np.arange(0, len(K), 5))
    Z = Ks @ np.linalg.inv(np.real(sqrtm(Kss)))
    distances, start = spaces(K)["landmark"]
    ours = naive.cmeans(distances, naive.hard_memberships, start, 7, 1)
    theirs = naive.kmeans_points(Z, Z[START], 7)
    np.testing.assert_array_equal(ours.memberships, theirs.memberships)
    np.testing.assert_allclose(ours.d2, theirs.d2 + (diag - (Z**2).sum(axis=1))[:, None], atol=1e-8)


@pytest.mark.parametrize("sweeps", [1, 2, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_kmeans_points_is_that_of_scikit_learn(X, weights, sweeps, weighted):
    w = weights if weighted else None
    ours = naive.kmeans_points(X, X[START], sweeps, w)
    theirs = KMeans(C, init=X[START], n_init=1, max_iter=sweeps, tol=0, algorithm="lloyd").fit(
        X, sample_weight=w
    )
    np.testing.assert_array_equal(ours.memberships.argmax(axis=1), theirs.labels_)
    np.testing.assert_allclose(ours.centers, theirs.cluster_centers_, rtol=1e-10)
    assert ours.objective == pytest.approx(theirs.inertia_, rel=1e-10)


def test_kmeans_points_is_that_of_scipy(X):
    centers, _ = kmeans2(X, X[START], iter=4, minit="matrix")
    np.testing.assert_allclose(naive.kmeans_points(X, X[START], 4).centers, centers, rtol=1e-10)


def test_two_step_is_kmeans_on_the_sample_then_prediction(X):
    sample = np.array([0, 1, 2, 9, 10, 14, 20, 21, 25, 31, 33, 38, 44])
    ours = naive.two_step(naive.kernel_matrix(X, X, naive.linear), sample, START, 4)
    points = naive.kmeans_points(X[sample], X[START], 4)
    d2 = ((X[:, None] - points.centers) ** 2).sum(axis=2)
    np.testing.assert_array_equal(ours.memberships.argmax(axis=1), d2.argmin(axis=1))
    np.testing.assert_allclose(ours.d2, d2, atol=1e-10)
    np.testing.assert_allclose(ours.history, points.history, rtol=1e-10)
    assert ours.objective == pytest.approx(d2.min(axis=1).sum())


def test_two_step_is_kernel_kmeans_with_all_weight_on_the_sample(K):
    sample = np.arange(0, len(K), 2)
    on_sample = np.isin(np.arange(len(K)), sample).astype(float)
    distances, start = spaces(K)["exact"]
    weighted = naive.cmeans(distances, naive.hard_memberships, start, 5, 1, on_sample)
    np.testing.assert_allclose(naive.two_step(K, sample, START, 5).d2, weighted.d2, atol=1e-12)


# ------------------------------------------------------------------------------ automatic fuzzifier


@pytest.mark.parametrize("weighted", [False, True])
def test_critical_fuzzifier_of_points_is_that_of_their_normalised_covariance(weighted):
    X = np.random.default_rng(11).normal(size=(30, 6))
    w = np.random.default_rng(12).uniform(0.1, 2, size=30) if weighted else np.ones(30)
    # this row is the mean itself
    X[4] = np.average(np.delete(X, 4, axis=0), weights=np.delete(w, 4), axis=0)
    y = X - np.average(X, weights=w, axis=0)
    assert np.linalg.norm(y[4]) < 1e-14
    y = np.delete(y, 4, axis=0)
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    expected = np.linalg.eigvalsh(y.T @ (np.delete(w, 4)[:, None] * y) / w.sum())[-1]
    largest, m_star = naive.critical_fuzzifier(
        naive.kernel_matrix(X, X, naive.linear), w if weighted else None
    )
    assert expected < 0.5
    assert largest == pytest.approx(expected, rel=1e-10)
    assert m_star == pytest.approx(1 / (1 - 2 * expected))


def test_one_dimension_has_no_critical_fuzzifier():
    X = np.random.default_rng(13).normal(size=(20, 1))
    K = naive.kernel_matrix(X, X, naive.linear)
    assert naive.critical_fuzzifier(K) == (pytest.approx(1), np.inf)
    assert naive.automatic_fuzzifier(K, np.zeros(20, int)) == 2


@pytest.mark.parametrize(("name", "m_star"), [("wine", 2.12), ("seeds", None), ("wdbc", 2.04)])
def test_critical_fuzzifier_of_real_data(load_data, name, m_star):
    """Measured once by other code: features scaled to [0, 1], RBF with gamma = 1 / median squared
    distance."""
    X, _ = load_data(name)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    K = pairwise_kernels(X, metric="rbf", gamma=1 / np.median(pdist(X, "sqeuclidean")))
    found = naive.critical_fuzzifier(K)[1]
    # None: halfway to it was above 2
    assert found >= 2.98 if m_star is None else found == pytest.approx(m_star, abs=0.012)


def test_the_automatic_fuzzifier_of_three_points():
    """By hand: rows at -4 and 4 with ten copies each cost 320 about their mean; the one at 9 would
    cost 81 there, and they what their shares in the centre at 9 saved. In one dimension no centres
    fall together, so m is where a second centre at 0 saves half of that."""
    x = np.array([[-4.0], [4.0], [9.0]])
    m = naive.automatic_fuzzifier(
        naive.kernel_matrix(x, x, naive.linear), np.array([0, 0, 1]), np.array([10.0, 10, 1])
    )
    power = 1 / (m - 1)
    saved = 320 - 10 * sum((16**-power + far**-power) ** (1 - m) for far in (25, 169))
    assert 0 < saved < 10
    assert (1 - 2 ** (1 - m)) * 320 == pytest.approx((81 + saved) / 2)


@pytest.mark.parametrize("side", ["below", "above"])
def test_equal_centres_attract_above_the_critical_fuzzifier_only(K, side):
    """A small split of equal centres dies out where m > m*, and grows where m < m*."""
    _, m_star = naive.critical_fuzzifier(K)
    m = m_star - 0.3 if side == "below" else m_star + 0.3
    u = 0.5 + 1e-4 * np.random.default_rng(14).normal(size=(len(K), 1)) * [[1, -1]]
    start = naive.exact_distances(K, u)
    fit = naive.cmeans(
        partial(naive.exact_distances, K), lambda d2: naive.fuzzy_memberships(d2, m), start, 60, m
    )
    before, after = np.ptp(start, axis=1).max(), np.ptp(fit.d2, axis=1).max()
    assert after > 100 * before if side == "below" else after < before / 100


# ------------------------------------------------------------------------------------------ kernels


@pytest.mark.parametrize(
    ("metric", "function", "parameters"),
    [
        ("linear", naive.linear, {}),
        ("cosine", naive.cosine, {}),
        ("rbf", naive.rbf, {"gamma": 0.4}),
        ("laplacian", naive.laplacian, {"gamma": 0.4}),
        ("poly", naive.polynomial, {"gamma": 0.4, "coef0": 1.5, "degree": 3}),
        ("sigmoid", naive.sigmoid, {"gamma": 0.4, "coef0": 0.2}),
    ],
)
def test_kernels_are_those_of_scikit_learn(X, metric, function, parameters):
    X = np.vstack([X, np.zeros(2)])
    ours = naive.kernel_matrix(X, X[:9], partial(function, **parameters))
    np.testing.assert_allclose(
        ours, pairwise_kernels(X, X[:9], metric=metric, **parameters), rtol=1e-9, atol=1e-12
    )


def test_normalized_polynomial_is_the_polynomial_over_the_root_of_its_diagonals(X):
    parameters = {"gamma": 0.4, "coef0": 1.5, "degree": 5}
    full = pairwise_kernels(X, metric="poly", **parameters)
    root = np.sqrt(np.diag(full))
    ours = naive.kernel_matrix(X, X, partial(naive.normalized_polynomial, **parameters))
    np.testing.assert_allclose(ours, full / np.outer(root, root), rtol=1e-10)
    np.testing.assert_allclose(np.diag(ours), 1)


def test_cosine_of_a_zero_row_is_zero():
    X = np.array([[0.0, 0.0], [1.0, 2.0]])
    np.testing.assert_allclose(
        naive.kernel_matrix(X, X, naive.cosine), [[0, 0], [0, 1]], atol=1e-15
    )


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0, 10.0]))
def test_scaling_the_data_with_gamma_changes_nothing(seed, factor):
    X = np.random.default_rng(seed).normal(size=(6, 3))
    once = naive.kernel_matrix(X, X, partial(naive.rbf, gamma=0.5))
    again = naive.kernel_matrix(factor * X, factor * X, partial(naive.rbf, gamma=0.5 / factor**2))
    np.testing.assert_allclose(once, again, rtol=1e-9)
