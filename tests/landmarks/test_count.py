"""landmarks="auto": as many as it takes, measured again from the whole kernel matrix."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import eigsh

from cmeans import (
    FuzzyCMeans,
    KernelKMeans,
    Landmarks,
    PossibilisticCMeans,
    ProbabilisticKMeans,
    ThreadEngine,
)
from cmeans.data.blocks import Blocks
from cmeans.data.limits import DEFAULT, Limits
from cmeans.landmarks.count import enough_landmarks, quick_cost
from cmeans.sampling.pairwise import MatrixAffinity
from cmeans.sampling.population import population_of
from limited import limited

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]

METHODS = ("rpcholesky", "k-means++", "uniform")
C = 3
over_methods = pytest.mark.parametrize("method", METHODS)


def rbf(X, Y=None, gamma=0.5):
    Y = X if Y is None else Y
    d2 = (X**2).sum(axis=1)[:, None] + (Y**2).sum(axis=1)[None, :] - 2 * X @ Y.T
    return np.exp(-gamma * np.maximum(d2, 0))


def groups(n=450, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return 2.0 * rng.normal(size=(C, d))[np.arange(n) % C] + rng.normal(size=(n, d))


X = groups()
K = rbf(X)


def found(method="rpcholesky", tol=0.02, c=C, seed=0, K=K, weight=None, limits=DEFAULT):
    """Row numbers chosen among rows known by their kernel matrix alone."""
    n = len(K)
    people = population_of(
        Blocks(
            np.arange(n, dtype=float)[:, None],
            np.ones(n) if weight is None else weight,
            limits=limits,
        )
    )
    diag = np.diag(K)
    known = lambda positions: MatrixAffinity(K, diag[people.at(positions)], people.at(positions))  # noqa: E731
    return enough_landmarks(method, tol, c, known, people, np.random.RandomState(seed))


def left(K, chosen):
    values, vectors = np.linalg.eigh(K[np.ix_(chosen, chosen)])
    kept = values > 1e-12 * values[-1]
    z = K[:, chosen] @ vectors[:, kept] / np.sqrt(values[kept])
    return K - z @ z.T


def measured(K, chosen, c=C, weight=None):
    """The sum of the c largest eigenvalues of what is left, in the mean over rows, and the share of
    the variance left out."""
    p = np.full(len(K), 1 / len(K)) if weight is None else weight / weight.sum()
    error, root = left(K, chosen), np.sqrt(p)
    values = eigsh(
        root[:, None] * error * root[None, :], k=c, return_eigenvectors=False, v0=np.ones(len(K))
    )
    return float(np.maximum(values, 0).sum()), float(
        p @ np.diag(error) / (p @ np.diag(K) - p @ K @ p)
    )


def partition_cost(K, c=C, weight=None, sweeps=30):
    """What kernel k-means reaches in the mean over rows: the best of several starts, on the whole
    matrix."""
    p = np.full(len(K), 1 / len(K)) if weight is None else weight / weight.sum()
    best, rng = np.inf, np.random.default_rng(0)
    for _ in range(5):
        labels = np.argmax(K[:, rng.choice(len(K), size=c, replace=False, p=p)], axis=1)
        for _ in range(sweeps):
            a = np.eye(c)[labels] * p[:, None]
            a = a[:, a.sum(axis=0) > 0] / a.sum(axis=0)[a.sum(axis=0) > 0]
            d2 = np.diag(K)[:, None] - 2 * K @ a + np.einsum("ij,ij->j", a, K @ a)[None, :]
            labels = d2.argmin(axis=1)
        best = min(best, float(p @ d2.min(axis=1)))
    return best


# ----------------------------------------------------------------------------------- enough of them


@over_methods
@pytest.mark.parametrize("tol", [0.2, 0.03])
def test_partitions_are_told_apart_to_tol(method, tol):
    """The quick partition that sets the price may cost a little more than the best: 10% at most
    here."""
    chosen = found(method, tol)
    leading, residual = measured(K, chosen)
    assert leading <= 1.1 * tol * partition_cost(K) or residual <= 0.01
    assert len(set(chosen.tolist())) == len(chosen)
    fewer = chosen[: len(chosen) - 64]
    if len(fewer) >= 64:  # one block less would not have been enough
        leading, residual = measured(K, fewer)
        assert leading > tol * 0.95 * partition_cost(K)
        assert residual > 0.0099


@over_methods
@pytest.mark.parametrize("weighted", [False, True])
def test_with_a_tol_of_nothing_they_leave_a_hundredth_of_the_variance(method, weighted):
    weight = (
        np.random.default_rng(1).integers(0, 4, size=len(K)).astype(float) if weighted else None
    )
    chosen = found(method, 0.0, weight=weight)
    assert measured(K, chosen, weight=weight)[1] <= 0.0101
    assert measured(K, chosen[:-64], weight=weight)[1] > 0.0099
    if weighted:
        assert (weight[chosen] > 0).all()


@over_methods
def test_they_are_the_more_the_smaller_tol(method):
    tols = (1.0, 0.1, 0.03, 0.0)
    chosen = [found(method, tol) for tol in tols]
    for fewer, more in pairwise(chosen):
        np.testing.assert_array_equal(more[: len(fewer)], fewer)
    assert len(chosen[0]) < len(chosen[-1])


@over_methods
def test_there_is_a_least_number(method):
    """64, or four a cluster, however loose tol is."""
    assert len(found(method, 100.0)) == 64
    assert len(found(method, 100.0, c=40)) in range(160, 225)


@over_methods
def test_there_is_a_largest_number(method):
    flat = rbf(X, gamma=50.0)
    chosen = found(method, 0.0, K=flat, limits=Limits(most_landmarks=150))
    assert len(set(chosen.tolist())) == len(chosen) == 150


def test_the_largest_number_is_2048():
    assert Limits().most_landmarks == 2048


@over_methods
def test_the_same_seed_chooses_the_same_and_another_others(method):
    np.testing.assert_array_equal(found(method, seed=3), found(method, seed=3))
    assert set(found(method, seed=3).tolist()) != set(found(method, seed=4).tolist())


@over_methods
def test_weights_count(method):
    """Rows of weight zero are neither taken nor represented; the others in proportion."""
    weight = np.random.default_rng(2).uniform(0.1, 3, size=len(K))
    weight[::2] = 0
    chosen = found(method, 0.05, weight=weight)
    assert (weight[chosen] > 0).all()
    leading, residual = measured(K, chosen, weight=weight)
    assert leading <= 1.1 * 0.05 * partition_cost(K, weight=weight) or residual <= 0.01


@pytest.mark.parametrize("method", ["rpcholesky", "k-means++"])
def test_of_rows_that_are_the_same_one_is_taken(method):
    thrice = np.tile(np.arange(200), 3)
    chosen = found(method, 0.0, K=rbf(X, gamma=5.0)[np.ix_(thrice, thrice)])
    assert len(set((chosen % 200).tolist())) == len(chosen) > 100


def test_of_rows_that_are_the_same_one_is_taken_uniformly_too():
    thrice = np.tile(np.arange(200), 3)
    for seed in range(3):
        chosen = found("uniform", 0.0, K=rbf(X, gamma=5.0)[np.ix_(thrice, thrice)], seed=seed)
        assert len(set((chosen % 200).tolist())) == len(chosen)


@over_methods
def test_a_kernel_that_is_zero_leaves_one_row(method):
    assert len(found(method, K=np.zeros((70, 70)))) == 1


@over_methods
def test_a_kernel_of_low_rank_needs_no_more_rows_than_that(method):
    small = groups(300, 2)
    chosen = found(method, 0.0, K=(small @ small.T + 1.0) ** 2)
    assert 6 <= len(chosen) <= (6 if method == "rpcholesky" else 20)
    assert measured((small @ small.T + 1.0) ** 2, chosen)[1] <= 0.01


@pytest.mark.parametrize("weighted", [False, True])
def test_the_quick_partition_costs_hardly_more_than_the_best(weighted):
    weight = np.random.default_rng(3).uniform(0.1, 3, size=len(K)) if weighted else np.ones(len(K))
    quick = quick_cost(
        MatrixAffinity(K, np.diag(K).copy(), np.arange(len(K))), K, weight / weight.sum(), C
    )
    best = partition_cost(K, weight=weight)
    assert 0.99 * best <= quick <= 1.1 * best
    one = quick_cost(
        MatrixAffinity(K, np.diag(K).copy(), np.arange(len(K))), K, weight / weight.sum(), 1
    )
    p = weight / weight.sum()
    assert one == pytest.approx(p @ np.diag(K) - p @ K @ p, rel=1e-9)


# ------------------------------------------------------------------------------------ in estimators


@pytest.fixture
def _above_300(monkeypatch):
    limited(monkeypatch, exact_rows=300)


def test_up_to_2000_rows_all_are_taken():
    # and are in memory, wherever they lay
    assert Limits().exact_rows == 2000 <= Limits().canonical_rows
    rows = groups(2000, 6)
    model = KernelKMeans(C, gamma=2.0, random_state=0, max_iter=2, tol=10.0).fit(rows)
    assert model.n_landmarks_ is None
    assert model.approximation_ is None


@over_methods
def test_where_not_all_rows_are_taken_there_are_enough(method, monkeypatch):
    """Judged on a sample of the rows."""
    limited(
        monkeypatch,
        exact_rows=600,
        canonical_rows=600,
        fixed_rows=400,
        task_values=1,
        least_task_rows=1,
    )
    rows = groups(700)
    model = KernelKMeans(
        C, gamma=0.5, landmarks=Landmarks(method=method, tol=0.05), random_state=0
    ).fit(rows)
    chosen = model.landmark_indices_
    np.testing.assert_array_equal(model.landmarks_, rows[chosen])
    assert (
        model.n_landmarks_
        == len(chosen)
        == len(set(chosen.tolist()))
        == model.approximation_.n_landmarks
    )
    whole = rbf(rows)
    leading, residual = measured(whole, chosen)
    assert leading <= 1.1 * 0.05 * partition_cost(whole, sweeps=5) or residual <= 0.01
    assert model.approximation_.comparison_error <= 0.06 or residual <= 0.01


@pytest.mark.usefixtures("_above_300")
@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "laplacian", "cosine"])
@over_methods
def test_every_kernel(kernel, method):
    """What the certificate says of the number that was chosen."""
    model = KernelKMeans(
        C, kernel=kernel, landmarks=Landmarks(method=method, tol=0.05), random_state=0
    ).fit(X)
    certificate = model.approximation_
    assert certificate.comparison_error <= 0.06 or certificate.residual <= 0.011
    assert model.n_landmarks_ < len(X)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.usefixtures("_above_300")
@pytest.mark.parametrize(
    "make", [KernelKMeans, FuzzyCMeans, PossibilisticCMeans, ProbabilisticKMeans]
)
def test_every_estimator(make):
    counts = [
        make(C, kernel="rbf", gamma=0.5, landmarks=Landmarks(tol=tol), random_state=0, max_iter=2)
        .fit(X)
        .n_landmarks_
        for tol in (1.0, 0.05, 0.0)
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


@pytest.mark.usefixtures("_above_300")
def test_sparse_and_single_precision_rows_choose_the_same():
    single = X.astype(np.float32).astype(float)
    dense = KernelKMeans(C, gamma=0.5, random_state=0).fit(single)
    for rows in (
        sparse.csr_array(single),
        single.astype(np.float32),
        sparse.csr_array(single.astype(np.float32)),
    ):
        model = KernelKMeans(C, gamma=0.5, random_state=0).fit(rows)
        np.testing.assert_array_equal(model.landmark_indices_, dense.landmark_indices_)


@pytest.mark.usefixtures("_above_300")
def test_weights_of_k_are_k_copies():
    """Up to 2,000 rows exactly: the order of rows changes nothing either."""
    weight = np.random.default_rng(4).integers(0, 3, size=len(X))
    order = np.random.default_rng(5).permutation(int(weight.sum()))
    weighted = KernelKMeans(C, gamma=0.5, random_state=0).fit(X, sample_weight=weight)
    copied = KernelKMeans(C, gamma=0.5, random_state=0).fit(np.repeat(X, weight, axis=0)[order])
    np.testing.assert_array_equal(weighted.landmarks_, copied.landmarks_)
    assert (weight[weighted.landmark_indices_] > 0).all()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_precomputed_kernels_of_which_not_all_columns_are_taken(monkeypatch):
    limited(
        monkeypatch,
        exact_rows=600,
        canonical_rows=600,
        fixed_rows=400,
        task_values=1,
        least_task_rows=1,
    )
    rows = groups(700, seed=6)
    whole = rbf(rows, gamma=0.3)
    model = KernelKMeans(
        C, kernel="precomputed", landmarks=Landmarks(tol=0.05), random_state=0
    ).fit(whole)
    chosen = model.landmark_indices_
    assert len(chosen) == model.n_landmarks_ == model.approximation_.n_landmarks
    leading, residual = measured(whole, chosen)
    assert leading <= 1.1 * 0.05 * partition_cost(whole, sweeps=5) or residual <= 0.01


@pytest.mark.usefixtures("_above_300")
def test_budgets_and_threads_change_nothing():
    chosen = [
        KernelKMeans(
            C, gamma=0.5, random_state=0, engine=ThreadEngine(n_jobs=jobs, memory_budget=budget)
        )
        .fit(X)
        .landmark_indices_
        for jobs, budget in ((1, None), (2, "1GB"), (5, "300MB"))
    ]
    np.testing.assert_array_equal(chosen[0], chosen[1])
    np.testing.assert_array_equal(chosen[0], chosen[2])


@pytest.mark.usefixtures("_above_300")
def test_with_rows_that_come_several_times():
    """Their landmarks come once."""
    thrice = np.tile(X[:150], (3, 1))
    model = KernelKMeans(C, gamma=5.0, landmarks=Landmarks(tol=0.0), random_state=0).fit(thrice)
    assert len(np.unique(model.landmarks_, axis=0)) == model.n_landmarks_ <= 150


@pytest.mark.parametrize("tol", [-0.1, np.nan, np.inf, "small", None, True, [0.1]])
def test_a_tolerance_that_is_none_is_refused(tol):
    with pytest.raises(ValueError, match=r"Landmarks\(tol=.*a number of at least 0"):
        Landmarks(tol=tol)


@pytest.mark.parametrize("number", ["many", 0, -3, 1.5, True])
def test_a_number_that_is_none_is_refused(number):
    with pytest.raises(ValueError, match=r"KernelKMeans\(landmarks="):
        KernelKMeans(C, landmarks=number).fit(X[:50])
