"""gamma="auto": the gap it maximises against loops, and that nothing but the rows, their weights and the number of clusters matters."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import make_blobs

from cmeans import (
    KernelKMeans,
    StreamingFuzzyCMeans,
)
from cmeans.tuning.bandwidth import FACTORS, SURE, clearest
from contracts.arrays import FORMS, as_form
from every_estimator import NAMES, build, known


def blobs(n=90, c=9, seed=0):
    """Nine groups in the plane: clearest under a kernel much narrower than the median distance. Many zeros."""
    X, _ = make_blobs(n, centers=[[5 * i, 5 * j] for i in range(3) for j in range(3)][:c], cluster_std=0.4, random_state=seed)
    return np.hstack([X, np.zeros((n, 1))])


def naive_eigenvalues(distances, n_clusters, t):
    """lambda_{c-1} and lambda_c of the covariance, entry by entry; no weights."""
    n = len(distances)
    K = [[np.exp(-t * distances[i][j]) for j in range(n)] for i in range(n)]
    row = [sum(K[i]) / n for i in range(n)]
    mean = sum(row) / n
    S = np.array([[(K[i][j] - row[i] - row[j] + mean) / n for j in range(n)] for i in range(n)])
    values = np.sort(np.linalg.eigvalsh(S))[::-1]
    return values[n_clusters - 2], values[n_clusters - 1]


def naive_gamma(X, n_clusters, metric="sqeuclidean"):
    """The definition by loops over all pairs of rows; copies of a row are rows, which count once in how many rows there are."""
    distances = squareform(pdist(X, metric))
    pairs = sorted(distances[i, j] for i in range(len(X)) for j in range(i) if distances[i, j] > 0)
    median = pairs[(len(pairs) - 1) // 2]
    copies = np.unique(X, axis=0, return_counts=True)[1]
    n = len(X) ** 2 / sum(k**2 for k in copies)
    gaps = {}
    for t in (1.0, *FACTORS):
        before, after = naive_eigenvalues(distances / median, n_clusters, t)
        if t == 1.0 or before - after > SURE * 2 * before / np.sqrt(n):
            gaps[t] = before - after
    return max(gaps, key=gaps.get) / median


# --------------------------------------------------------------------------------------------------------------------- the definition


@pytest.mark.parametrize("n_clusters", [2, 3, 5, 9, 30])
@pytest.mark.parametrize(("kernel", "metric"), [("rbf", "sqeuclidean"), ("laplacian", "cityblock")])
def test_the_width_is_that_of_the_loops(kernel, metric, n_clusters):
    X = np.random.default_rng(n_clusters).normal(size=(60, 3)) * [1, 2, 0.5] + blobs(60, 5)
    model = KernelKMeans(n_clusters, kernel=kernel, gamma="auto", random_state=0).fit(X)
    assert model.gamma_ == pytest.approx(naive_gamma(X, n_clusters, metric), rel=1e-9)
    assert model.kernel_.gamma == model.gamma_


def test_the_width_follows_the_clusters():
    """Two far groups are clear under wide kernels, the nine within each under narrow ones only."""
    X = np.vstack([blobs(300), blobs(300) + 40.0 * np.eye(3)[0]])
    median = KernelKMeans(2, gamma="median", random_state=0).fit(X).gamma_
    found = [KernelKMeans(c, gamma="auto", random_state=0).fit(X).gamma_ / median for c in (2, 18)]
    assert found == [2, 16]


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_a_weight_counts_as_copies(kernel):
    X = np.random.default_rng(0).normal(size=(40, 2))
    weights = np.random.default_rng(1).integers(0, 4, size=len(X))
    copies = np.repeat(X, weights, axis=0)
    model = KernelKMeans(4, kernel=kernel, gamma="auto", random_state=0)
    found = model.fit(X, sample_weight=weights).gamma_
    assert found == model.fit(copies).gamma_
    assert found == pytest.approx(naive_gamma(copies, 4, "sqeuclidean" if kernel == "rbf" else "cityblock"), rel=1e-9)
    assert found == model.fit(X, sample_weight=weights * 1e-30).gamma_


def test_gaps_that_may_be_chance_do_not_move_the_width():
    """One Gaussian has no clusters: whatever gap comes out largest, the median stays. The same gaps on many times the rows would count."""
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(100, 8))
        D = squareform(pdist(X, "sqeuclidean")) / np.median(pdist(X, "sqeuclidean"))
        assert clearest(D, np.ones(100), 6) == 1.0
    D = squareform(pdist(blobs(), "sqeuclidean")) / np.median(pdist(blobs(), "sqeuclidean"))
    assert clearest(D, np.ones(90), 9) > 1.0
    assert clearest(D, np.r_[1e6, np.ones(89)], 9) == 1.0  # one row is nearly all the weight


# --------------------------------------------------------------------------------------------------------------- what does not matter


@pytest.mark.parametrize("n", [90, 2500])
def test_chance_does_not_matter(n):
    X = blobs(n)
    found = {KernelKMeans(9, gamma="auto", random_state=seed, max_iter=50).fit(X).gamma_ for seed in (0, 1, None)}
    assert len(found) == 1


def test_the_order_of_rows_does_not_matter():
    X = blobs()
    order = np.random.default_rng(0).permutation(len(X))
    model = KernelKMeans(9, gamma="auto", random_state=0)
    assert model.fit(X).gamma_ == model.fit(X[order]).gamma_


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("form", FORMS)
def test_every_kind_of_array_gives_the_same(form, kernel):
    model = KernelKMeans(9, kernel=kernel, gamma="auto", random_state=0)
    expected = model.fit(blobs()).gamma_
    assert model.fit(as_form(blobs(), form)).gamma_ == pytest.approx(expected, rel=1e-9)
    assert model.fit(as_form(blobs(), form, "float32")).gamma_ == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("t", [1e-4, 0.1, 3.0, 1e4])
@pytest.mark.parametrize(("kernel", "power"), [("rbf", 2), ("laplacian", 1)])
def test_it_scales_with_the_data(kernel, power, t):
    model = KernelKMeans(9, kernel=kernel, gamma="auto", random_state=0)
    assert model.fit(t * blobs()).gamma_ * t**power == pytest.approx(model.fit(blobs()).gamma_, rel=1e-6)


# ------------------------------------------------------------------------------------------------------------------------- everywhere


@pytest.mark.parametrize("name", NAMES)
def test_every_estimator_takes_it(name):
    """And means the same by it, streams by their first rows, those that find the number of clusters by the most they may find."""
    X = blobs(120, 5)
    words = {"kernel": "rbf", "scaling": None, "chunk_size": 5000, "patch_size": 2000}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = build(name, n_clusters=5, gamma="auto", **known(name, words)).fit(X)
    assert model.gamma_ == pytest.approx(naive_gamma(X, 5), rel=1e-9)
    assert model.gamma_ == model.kernel_.gamma


@pytest.mark.parametrize(
    "words",
    [
        {"kernel": "rbf", "n_landmarks": 20},
        {"kernel": "rbf", "n_landmarks": 20, "landmark_solver": "gradient"},
        {"kernel": "rbf", "landmarks": np.arange(20)},
    ],
)
def test_landmarks_do_not_change_it(words):
    X = blobs()
    assert KernelKMeans(9, gamma="auto", random_state=0, **words).fit(X).gamma_ == pytest.approx(naive_gamma(X, 9), rel=1e-9)


def test_streams_settle_it_on_their_first_rows():
    first, second = blobs(90, 5), 100 * blobs(90, 5, seed=1)
    stream = StreamingFuzzyCMeans(5, kernel="rbf", gamma="auto", warm_up=0, random_state=0).partial_fit(first)
    assert stream.gamma_ == pytest.approx(naive_gamma(first, 5), rel=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stream.partial_fit(second)
    assert stream.gamma_ == pytest.approx(naive_gamma(first, 5), rel=1e-9)


@pytest.mark.parametrize("kernel", ["polynomial", "normalized_polynomial", "sigmoid"])
def test_kernels_without_a_width_have_1_as_by_the_other_words(kernel):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = [
            KernelKMeans(3, kernel=kernel, degree=2, gamma=word, random_state=0).fit(blobs() / 10).gamma_ for word in ("auto", "median")
        ]
    assert fits == [1.0, 1.0]


def test_kernels_without_gamma():
    assert KernelKMeans(3, kernel="linear", gamma="auto", random_state=0).fit(blobs()).gamma_ is None
    K = np.exp(-squareform(pdist(blobs(), "sqeuclidean")))
    assert KernelKMeans(3, kernel="precomputed", gamma="auto", random_state=0).fit(K).gamma_ is None


def test_wrong_words_name_it():
    with pytest.raises(ValueError, match=r"KernelKMeans\(gamma='best'\): gamma is \"scale\", \"median\", \"auto\" or a positive number"):
        KernelKMeans(3, gamma="best").fit(blobs())


# ---------------------------------------------------------------------------------------------------------------------- extreme cases


def test_one_cluster_leaves_the_median():
    X = blobs()
    assert KernelKMeans(1, gamma="auto").fit(X).gamma_ == KernelKMeans(1, gamma="median").fit(X).gamma_


@pytest.mark.parametrize("n_clusters", [10, 11, 12])
def test_as_many_clusters_as_distinct_rows_leave_the_median(n_clusters):
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 2)), 2, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = [KernelKMeans(n_clusters, gamma=word, random_state=0).fit(X).gamma_ for word in ("auto", "median")]
    assert fits[0] == fits[1]


def test_two_distinct_rows():
    X = np.repeat([[0.0, 0.0], [0.0, 2.0]], 5, axis=0)
    assert KernelKMeans(2, gamma="auto", random_state=0).fit(X).gamma_ == 0.25


@pytest.mark.parametrize("n_clusters", [1, 2])
def test_rows_that_are_all_the_same(n_clusters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert KernelKMeans(n_clusters, gamma="auto", random_state=0).fit(np.ones((7, 2))).gamma_ == 1.0


def test_fewer_rows_than_clusters_are_refused():
    with pytest.raises(ValueError, match="n_clusters=5"):
        KernelKMeans(5, gamma="auto").fit(blobs(4))


def test_widths_that_do_equally_well_leave_the_median():
    """Corners of a simplex are alike in every direction, whatever the width."""
    model = KernelKMeans(4, gamma="auto", random_state=0)
    assert model.fit(np.eye(9)).gamma_ == pytest.approx(0.5)


def test_distances_beyond_what_float64_holds_are_refused():
    X = blobs()
    X[0] = 1e200
    with pytest.raises(ValueError, match=r"finite|overflow|large"):
        KernelKMeans(3, gamma="auto").fit(X)


def test_far_outliers_do_no_harm():
    X = blobs()
    X[0] = 1e5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gamma = KernelKMeans(9, gamma="auto", random_state=0).fit(X).gamma_
    assert gamma == pytest.approx(naive_gamma(X, 9), rel=1e-6)


@pytest.mark.parametrize(("factor", "complaint"), [(1e9, "nearly the identity"), (1e-12, "nearly constant")])
def test_the_kernel_is_diagnosed_at_the_width_chosen(factor, complaint, monkeypatch):
    monkeypatch.setattr("cmeans.fitting.kernel_width.clearest", lambda *_: factor)
    with pytest.warns(UserWarning, match=complaint):
        KernelKMeans(3, gamma="auto", random_state=0).fit(blobs())


@pytest.mark.parametrize("d", [1, 10, 300])
def test_no_alarm_where_there_are_no_clusters(d):
    """A warning would be an error: in many dimensions a narrow kernel is the identity, which has no gap."""
    X = np.random.default_rng(0).normal(size=(200, d))
    KernelKMeans(4, gamma="auto", random_state=0).fit(X)
