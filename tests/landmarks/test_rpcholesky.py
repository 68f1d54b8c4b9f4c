"""Partial Cholesky factors that ask for columns as they go, against whole matrices; and exact fits
over the rows that span all others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from cmeans import FuzzyCMeans, KernelKMeans, Landmarks, PossibilisticCMeans
from cmeans.data.limits import Limits
from cmeans.kernels import Polynomial, Sigmoid
from cmeans.landmarks.rpcholesky import PartialCholesky
from cmeans.landmarks.select import spanning_rows
from cmeans.papers import GradientLandmarks
from cmeans.sampling.pairwise import MatrixAffinity
from cmeans.spaces import spanning

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]

N = 60


def rbf(X, Y=None, gamma=0.5):
    Y = X if Y is None else Y
    return np.exp(-gamma * ((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2))


def squares(X, Y=None):
    """(x.y + 1)^2: of d features the rank is (d + 1)(d + 2) / 2."""
    return (X @ (X if Y is None else Y).T + 1.0) ** 2


def rows(n=N, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def matrix(K):
    return MatrixAffinity(K, np.diag(K).copy(), np.arange(len(K)))


@dataclass(frozen=True)
class Watched(MatrixAffinity):
    """A matrix that remembers which columns were asked for."""

    asked: list[int] = field(default_factory=list)

    def between(self, rows):
        self.asked.extend(np.asarray(rows).tolist())
        return self.gram[rows]

    def among(self, rows):
        return self.gram[np.ix_(rows, rows)]


def one_at_a_time(K, weights, count, rng):
    """Randomly pivoted Cholesky (Chen, Epperly, Tropp, Webber 2025, Algorithm 1), with weights: one
    row, one elimination."""
    rest, chosen = K.copy(), []
    for _ in range(count):
        p = weights * np.maximum(np.diag(rest), 0)
        p[chosen] = 0
        if not p.sum() > 0:
            break
        row = rng.choice(len(K), p=p / p.sum())
        rest = rest - np.outer(rest[:, row], rest[row]) / rest[row, row]
        chosen.append(int(row))
    return chosen


def left(K, chosen):
    """What the span of the chosen rows leaves of the kernel: one elimination after the other, but
    for what is only rounding."""
    rest = K.copy()
    for row in chosen:
        if rest[row, row] > 1e-14 * K[row, row]:
            rest = rest - np.outer(rest[:, row], rest[row]) / rest[row, row]
    return rest


# --------------------------------------------------------------------------------------- the factor


@pytest.mark.parametrize("way", ["drawn", "settled", "given"])
def test_a_factor_of_full_rank_is_the_whole_kernel(way):
    K = rbf(rows(), gamma=4.0)
    cholesky, rng = PartialCholesky(matrix(K)), np.random.RandomState(0)
    order = rng.permutation(N)
    while len(cholesky.chosen) < N:
        if way == "given":
            cholesky.given(order[len(cholesky.chosen) :][:7])
        else:
            getattr(cholesky, way)(np.ones(N), N - len(cholesky.chosen), rng)
    F = cholesky.factor()
    assert sorted(cholesky.chosen) == list(range(N))
    assert F.shape == (N, N)
    np.testing.assert_allclose(F @ F.T, K, atol=1e-9)
    np.testing.assert_allclose(cholesky.residual, 0, atol=1e-9)


@pytest.mark.parametrize("way", ["drawn", "settled", "given"])
@pytest.mark.parametrize("kernel", [rbf, squares])
def test_the_residual_is_what_the_factor_leaves_of_the_diagonal(kernel, way):
    """After every block, and equal to what the Schur complement of the chosen rows leaves."""
    K, rng = kernel(rows(seed=1)), np.random.RandomState(1)
    weights = rng.uniform(0.2, 3, size=N)
    cholesky, before, order = PartialCholesky(matrix(K)), 0, rng.permutation(N)
    for number in range(4 if kernel is rbf else 2):
        added = (
            cholesky.given(order[5 * number :][:5])
            if way == "given"
            else getattr(cholesky, way)(weights, 5, rng)
        )
        F, chosen = cholesky.factor(), cholesky.chosen
        assert added == len(chosen) - before <= 5
        assert F.shape == (N, len(chosen))
        assert (cholesky.residual >= 0).all()
        scale = np.diag(K).max()
        np.testing.assert_allclose(cholesky.residual, np.diag(K - F @ F.T), atol=1e-10 * scale)
        np.testing.assert_allclose(cholesky.residual, np.diag(left(K, chosen)), atol=1e-8 * scale)
        # chosen rows are represented
        np.testing.assert_allclose((F @ F.T)[:, chosen], K[:, chosen], atol=1e-9 * scale)
        np.testing.assert_array_equal(cholesky.factor(slice(None), before), F[:, before:])
        np.testing.assert_array_equal(cholesky.factor(np.array([3, 1, 3])), F[[3, 1, 3]])
        before = len(chosen)


def test_no_other_columns_are_asked_for_than_those_chosen():
    """Proposals that are rejected cost their values with each other alone."""
    K = rbf(rows(300, seed=2))
    watched = Watched(K, np.diag(K).copy(), np.arange(300))
    cholesky = PartialCholesky(watched)
    cholesky.drawn(np.ones(300), 20, np.random.RandomState(0))
    assert 0 < len(cholesky.chosen) < 20
    assert watched.asked == cholesky.chosen
    cholesky.drawn(np.ones(300), 1000, np.random.RandomState(1))
    assert watched.asked == cholesky.chosen


@pytest.mark.parametrize("way", ["drawn", "settled", "given"])
def test_of_rows_that_are_the_same_one_is_chosen(way):
    distinct = rows(12, seed=3)
    X = np.concatenate([distinct, distinct, distinct[:4]])
    K, rng = rbf(X, gamma=3.0), np.random.RandomState(3)
    cholesky = PartialCholesky(matrix(K))
    while cholesky.residual.any():
        if way == "given":
            assert cholesky.given(np.arange(len(X))) == 12
        else:
            getattr(cholesky, way)(np.ones(len(X)), len(X), rng)
    assert len(cholesky.chosen) == len({tuple(X[row]) for row in cholesky.chosen}) == 12
    assert not cholesky.residual.any()
    np.testing.assert_allclose(cholesky.factor() @ cholesky.factor().T, K, atol=1e-9)


def test_rows_given_that_are_represented_already_are_left_out():
    """Whether they came in the same block or an earlier one, themselves or their likes."""
    X = rows(40, 2, seed=3)
    X[20:] = X[:20]
    K = rbf(X, gamma=1.0)
    cholesky = PartialCholesky(matrix(K))
    assert cholesky.given(np.arange(15)) == 15
    assert cholesky.given(np.arange(20)) == 5
    assert cholesky.given(np.arange(20, 40)) == 0
    assert cholesky.chosen == list(range(20))


def test_a_kernel_that_is_zero_has_nothing_to_choose():
    cholesky = PartialCholesky(matrix(np.zeros((9, 9))))
    assert not cholesky.residual.any()
    assert cholesky.given(np.arange(9)) == 0
    assert cholesky.chosen == []
    assert spanning_rows(matrix(np.zeros((9, 9))), np.ones(9), 0.0, Limits().most_landmarks) is None


def test_what_is_known_is_taken_out_first():
    """Coordinates in the span of some rows: the factor begins with them, and those rows have
    nothing left."""
    K, before = squares(rows(seed=4)), [3, 17, 22]
    known = np.linalg.solve(np.linalg.cholesky(K[np.ix_(before, before)]), K[before]).T
    cholesky = PartialCholesky(matrix(K), known)
    np.testing.assert_allclose(
        cholesky.residual, np.diag(left(K, before)), atol=1e-9 * np.diag(K).max()
    )
    assert cholesky.chosen == []
    np.testing.assert_array_equal(cholesky.factor(), known)
    assert cholesky.given(np.array([5])) == 1
    assert cholesky.chosen == [5]
    np.testing.assert_allclose(
        cholesky.residual, np.diag(left(K, [*before, 5])), atol=1e-9 * np.diag(K).max()
    )
    rng = np.random.RandomState(0)
    while cholesky.residual.max() > 1e-9 * np.diag(K).max():
        cholesky.drawn(np.ones(N), 20, rng)
    assert not set(cholesky.chosen) & set(before)
    assert len(cholesky.chosen) == 10 - len(before)
    np.testing.assert_allclose(
        cholesky.factor() @ cholesky.factor().T, K, atol=1e-8 * np.diag(K).max()
    )


@pytest.mark.parametrize("way", ["drawn", "settled"])
def test_rows_without_weight_are_never_drawn(way):
    K, weights = rbf(rows(seed=5), gamma=3.0), np.ones(N)
    weights[::3] = 0
    for seed in range(5):
        cholesky, rng = PartialCholesky(matrix(K)), np.random.RandomState(seed)
        while weights @ cholesky.residual > 0:
            getattr(cholesky, way)(weights, 15, rng)
        assert len(cholesky.chosen) == 40
        assert (weights[cholesky.chosen] > 0).all()


@pytest.mark.parametrize("kernel", [rbf, lambda X: squares(X)])
def test_pivots_are_drawn_as_sequential_drawing_draws_them(kernel):
    """Which three of seven rows, and which of them first: as often as in naive loops."""
    K, weights, draws = kernel(rows(7, 2, seed=6)), np.array([1.0, 3, 1, 0.5, 2, 1, 1]), 1500
    rng, loops = np.random.RandomState(7), np.random.default_rng(8)

    def ours():
        cholesky = PartialCholesky(matrix(K))
        while len(cholesky.chosen) < 3:
            cholesky.drawn(weights, 3 - len(cholesky.chosen), rng)
        return tuple(cholesky.chosen)

    drawn = (
        [ours() for _ in range(draws)],
        [one_at_a_time(K, weights, 3, loops) for _ in range(draws)],
    )
    for of in (frozenset, lambda chosen: chosen[0]):
        counts = [Counter(map(of, some)) for some in drawn]
        often = [one for one in counts[0] | counts[1] if counts[0][one] + counts[1][one] >= 10]
        assert chi2_contingency([[count[one] for one in often] for count in counts]).pvalue > 1e-3


def test_settled_takes_what_has_much_left_and_the_largest_of_it():
    """Every row of a block that is taken had more than a tenth of its residual left by those before
    it; the others are not lost."""
    K = rbf(rows(200, 2, seed=9), gamma=0.3)
    cholesky, rng, taken = PartialCholesky(matrix(K)), np.random.RandomState(0), []
    for _ in range(3):
        residual = cholesky.residual.copy()
        number = cholesky.settled(np.ones(200), 40, rng)
        for row in cholesky.chosen[len(taken) :]:
            rest = np.diag(left(K, taken))[row] if taken else K[row, row]
            assert rest >= 0.1 * residual[row] * (1 - 1e-6)
            taken.append(row)
        assert number >= 1
    assert taken == cholesky.chosen
    assert len(set(taken)) == len(taken)


# ------------------------------------------------------------------------------- rows that span all


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("kernel", "d"), [(squares, 4), (rbf, 1)])
def test_spanning_rows_leave_a_billionth_of_the_variance(kernel, d, weighted):
    K = kernel(rows(400, d, seed=10))
    weights = (
        np.random.default_rng(0).uniform(0, 3, size=400) * (np.arange(400) % 5 > 0)
        if weighted
        else np.ones(400)
    )
    p = weights / weights.sum()
    variance = p @ np.diag(K) - p @ K @ p
    chosen = spanning_rows(matrix(K), weights, variance, Limits().most_landmarks)
    assert chosen is not None
    assert len(set(chosen.tolist())) == len(chosen) <= 100
    assert (weights[chosen] > 0).all()
    if kernel is squares:
        assert len(chosen) == 15
    assert p @ np.diag(left(K, chosen)) <= 1.001e-9 * variance
    np.testing.assert_array_equal(
        spanning_rows(matrix(K), weights, variance, Limits().most_landmarks), chosen
    )


def test_slowly_falling_spectra_are_given_up():
    """And soon: a narrow kernel's columns are asked for once or twice, not until a quarter of them
    are there."""
    for gamma, most in ((50.0, 128), (2.0, 200)):
        K = rbf(rows(800, 6, seed=11), gamma=gamma)
        watched = Watched(K, np.diag(K).copy(), np.arange(800))
        assert (
            spanning_rows(watched, np.ones(800), float(1 - K.mean()), Limits().most_landmarks)
            is None
        )
        assert len(watched.asked) <= most
    flat = np.eye(40)
    assert spanning_rows(matrix(flat), np.ones(40), 1 - 1 / 40, Limits().most_landmarks) is None


def test_no_more_spanning_rows_than_a_quarter_or_the_limit():
    K = squares(rows(400, 4, seed=12))  # of rank 15
    variance = float(np.diag(K).mean() - K.mean())
    assert len(spanning_rows(matrix(K), np.ones(400), variance, Limits().most_landmarks)) == 15
    few = np.arange(56)  # a quarter of these is 14
    assert (
        spanning_rows(matrix(K[np.ix_(few, few)]), np.ones(56), variance, Limits().most_landmarks)
        is None
    )
    assert spanning_rows(matrix(K), np.ones(400), variance, 14) is None


# ----------------------------------------------------------------------- exact fits over those rows

KERNELS = {
    "rbf": ({"kernel": "rbf", "gamma": 0.05}, lambda X, Y=None: rbf(X, Y, 0.05)),
    "polynomial": ({"kernel": Polynomial(degree=2, gamma=1.0, coef0=1.0)}, squares),
}


def groups(n, seed=0):
    rng = np.random.default_rng(seed)
    return (np.array([[0.0, 0], [4, 0], [0, 4]])[np.arange(n) % 3] + rng.normal(size=(n, 2))) / 2


def plain_fuzzy(K, d2, m, sweeps=400):
    """Kernel fuzzy c-means on the whole matrix, u_ij = 1 / sum_k (d2_ij / d2_ik)^(1 / (m - 1)),
    until nothing moves."""
    u = None

    def memberships(d2):
        d2 = np.maximum(d2, 1e-30)
        r = (d2 / d2.min(axis=1, keepdims=True)) ** (-1 / (m - 1))
        return r / r.sum(axis=1, keepdims=True)

    for _ in range(sweeps):
        before, u = u, memberships(d2)
        a = u**m / (u**m).sum(axis=0)
        d2 = np.diag(K)[:, None] - 2 * K @ a + np.einsum("ij,ik,kj->j", a, K, a)[None, :]
        if before is not None and np.abs(u - before).max() < 1e-12:
            break
    u = memberships(d2)
    return u, float((u**m * d2).sum())


@pytest.mark.parametrize("name", KERNELS)
def test_an_exact_fit_over_few_rows_is_the_fit_with_the_whole_matrix(name):
    words, kernel = KERNELS[name]
    X, start = groups(600), np.array([0, 1, 2])
    K = kernel(X)
    d2 = np.diag(K)[:, None] + np.diag(K)[start][None, :] - 2 * K[:, start]
    u, objective = plain_fuzzy(K, d2, 1.6)
    model = FuzzyCMeans(3, m=1.6, landmarks=None, init=start, tol=1e-9, **words).fit(X)
    np.testing.assert_allclose(model.memberships_, u, atol=1e-5)
    assert model.objective_ == pytest.approx(objective, rel=1e-7)
    assert model.n_landmarks_ is not None
    assert model.n_landmarks_ <= 300
    np.testing.assert_array_equal(model.landmarks_, X[model.landmark_indices_])
    assert model.dual_coef_.shape == (3, model.n_landmarks_)
    assert len(set(model.landmark_indices_.tolist())) == model.n_landmarks_
    assert model.approximation_.residual < 2e-9
    low, high = model.approximation_.cost_bounds
    assert low * (1 - 1e-7) <= objective <= high * (1 + 1e-7)
    assert high - low <= 1e-7 * high
    far = np.array([[0.3, 0.4], [5.0, 5.0]])
    a = u**1.6 / (u**1.6).sum(axis=0)
    to_far = (
        np.diag(kernel(far))[:, None]
        - 2 * kernel(far, X) @ a
        + np.einsum("ij,ik,kj->j", a, K, a)[None, :]
    )
    np.testing.assert_allclose(model.transform(far) ** 2, to_far, rtol=2e-3, atol=1e-5)


@pytest.mark.parametrize("make", [KernelKMeans, FuzzyCMeans, PossibilisticCMeans])
def test_every_estimator_may_fold_over_few_rows(make):
    """The same partition as with the matrix given, which is folded whole where its rows are few
    enough."""
    X = groups(1100, seed=1)
    own = {} if make is KernelKMeans else {"m": 1.5}
    spanned = make(
        3, kernel="rbf", gamma=0.05, landmarks=None, init=np.arange(3), tol=1e-8, **own
    ).fit(X)
    few = make(
        3,
        kernel="rbf",
        gamma=0.05,
        landmarks=spanned.landmark_indices_,
        init=np.arange(3),
        tol=1e-8,
        **own,
    ).fit(X)
    assert spanned.n_landmarks_ is not None
    np.testing.assert_allclose(spanned.memberships_, few.memberships_, atol=1e-6)
    np.testing.assert_array_equal(spanned.labels_, few.labels_)


@pytest.mark.parametrize(
    "landmarks", [np.arange(0, 1100, 5), Landmarks(220, method="uniform")], ids=["given", "drawn"]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_of_landmarks_that_others_span_few_are_used(landmarks, dtype, monkeypatch):
    """The partition is that over all of them."""
    X = groups(1100, seed=1).astype(dtype)
    words = {"kernel": "rbf", "gamma": 0.05, "init": np.arange(3), "tol": 1e-8, "random_state": 0}
    few = FuzzyCMeans(3, m=1.5, landmarks=landmarks, **words).fit(X)
    monkeypatch.setattr(spanning, "MANY", 1000)
    all_of_them = FuzzyCMeans(3, m=1.5, landmarks=landmarks, **words).fit(X)
    assert all_of_them.n_landmarks_ == 220
    assert few.n_landmarks_ <= 110
    assert set(few.landmark_indices_) <= set(all_of_them.landmark_indices_)
    np.testing.assert_array_equal(X[few.landmark_indices_], few.landmarks_)
    tolerance = 1e-7 if dtype is np.float64 else 1e-3
    np.testing.assert_allclose(few.memberships_, all_of_them.memberships_, atol=tolerance)


def test_landmarks_that_none_of_them_spans_are_all_used():
    model = FuzzyCMeans(
        3, kernel="rbf", gamma=50.0, landmarks=np.arange(0, 1100, 5), max_iter=2, tol=1.0
    ).fit(groups(1100, seed=1))
    np.testing.assert_array_equal(model.landmark_indices_, np.arange(0, 1100, 5))


def test_of_few_rows_the_whole_matrix_is_folded():
    model = KernelKMeans(3, gamma=0.05, landmarks=None, init=np.arange(3)).fit(groups(400))
    assert model.n_landmarks_ is None
    assert model.approximation_ is None
    np.testing.assert_array_equal(model.landmark_indices_, np.arange(400))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_kernels_that_are_not_known_to_be_definite_stay_exact():
    X = groups(1001)
    K = rbf(X, gamma=0.05)
    for words, rows_given in (
        ({"kernel": Sigmoid(gamma=0.5, coef0=-1.0)}, X),
        ({"kernel": "precomputed"}, K),
        ({"kernel": "rbf", "gamma": 5000.0}, X),  # nearly the identity
        ({"kernel": "rbf", "gamma": 0.05, "landmarks": GradientLandmarks(None)}, X),
    ):
        words = {"landmarks": None, **words}
        model = KernelKMeans(3, init=np.arange(3), max_iter=2, **words).fit(rows_given)
        assert model.n_landmarks_ is None, words
        assert model.approximation_ is None


def test_weights_count_where_rows_span_others():
    """A weight of zero keeps a row out of the span; what it is represented by does not change the
    others' clusters."""
    X = groups(1300, seed=2)
    weight = np.ones(1300)
    weight[1000:] = 0
    X[1000:] *= 40.0
    model = FuzzyCMeans(
        3,
        m=1.5,
        kernel="rbf",
        gamma=0.05,
        landmarks=None,
        init=np.arange(3),
        tol=1e-9,
        random_state=0,
    )
    model.fit(X, sample_weight=weight)
    assert model.n_landmarks_ is None or (model.landmark_indices_ < 1000).all()
    K = rbf(X[:1000], gamma=0.05)
    u, _ = plain_fuzzy(K, 2 - 2 * K[:, :3], 1.5)
    np.testing.assert_allclose(model.memberships_[:1000], u, atol=1e-5)
