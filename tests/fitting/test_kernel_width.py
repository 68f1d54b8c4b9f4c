"""gamma read off the rows: the definitions by loops, and that nothing but the rows and their
weights matters."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import make_blobs

from cmeans import KernelKMeans, StreamingFuzzyCMeans
from cmeans.papers import GradientLandmarks
from contracts.arrays import FORMS, as_form
from every_estimator import NAMES, build, known

pytestmark = pytest.mark.slow


def blobs(n=90, c=9, seed=0):
    """Nine groups in the plane, and a column of zeros."""
    X, _ = make_blobs(
        n,
        centers=[[5 * i, 5 * j] for i in range(3) for j in range(3)][:c],
        cluster_std=0.4,
        random_state=seed,
    )
    return np.hstack([X, np.zeros((n, 1))])


def naive_gamma(X, metric="sqeuclidean"):
    """1 / median over all pairs of different rows; the lower one of two."""
    distances = squareform(pdist(X, metric))
    pairs = sorted(distances[i, j] for i in range(len(X)) for j in range(i) if distances[i, j] > 0)
    return 1.0 / pairs[(len(pairs) - 1) // 2]


@pytest.mark.parametrize(("kernel", "metric"), [("rbf", "sqeuclidean"), ("laplacian", "cityblock")])
def test_the_width_is_that_of_the_loops(kernel, metric):
    X = np.random.default_rng(0).normal(size=(60, 3)) * [1, 2, 0.5] + blobs(60, 5)
    model = KernelKMeans(3, kernel=kernel, gamma="median", random_state=0).fit(X)
    assert model.gamma_ == pytest.approx(naive_gamma(X, metric), rel=1e-9)
    assert model.kernel_.gamma == model.gamma_


@pytest.mark.parametrize(("kernel", "metric"), [("rbf", "sqeuclidean"), ("laplacian", "cityblock")])
def test_a_weight_counts_as_copies(kernel, metric):
    X = np.random.default_rng(0).normal(size=(40, 2))
    weights = np.random.default_rng(1).integers(0, 4, size=len(X))
    copies = np.repeat(X, weights, axis=0)
    model = KernelKMeans(4, kernel=kernel, gamma="median", random_state=0)
    found = model.fit(X, sample_weight=weights).gamma_
    assert found == model.fit(copies).gamma_
    assert found == pytest.approx(naive_gamma(copies, metric), rel=1e-9)
    assert found == model.fit(X, sample_weight=weights * 1e-30).gamma_


@pytest.mark.parametrize("n", [90, 2500])
def test_chance_does_not_matter(n):
    X = blobs(n)
    found = {
        KernelKMeans(9, kernel="rbf", gamma="median", random_state=seed, max_iter=50).fit(X).gamma_
        for seed in (0, 1, None)
    }
    assert len(found) == 1


def test_the_order_of_rows_does_not_matter():
    X = blobs()
    order = np.random.default_rng(0).permutation(len(X))
    model = KernelKMeans(9, kernel="rbf", gamma="median", random_state=0)
    assert model.fit(X).gamma_ == model.fit(X[order]).gamma_


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("form", FORMS)
def test_every_kind_of_array_gives_the_same(form, kernel):
    model = KernelKMeans(9, kernel=kernel, gamma="median", random_state=0)
    expected = model.fit(blobs()).gamma_
    assert model.fit(as_form(blobs(), form)).gamma_ == pytest.approx(expected, rel=1e-9)
    assert model.fit(as_form(blobs(), form, "float32")).gamma_ == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("t", [1e-4, 0.1, 3.0, 1e4])
@pytest.mark.parametrize(("kernel", "power"), [("rbf", 2), ("laplacian", 1)])
def test_it_scales_with_the_data(kernel, power, t):
    model = KernelKMeans(9, kernel=kernel, gamma="median", random_state=0)
    assert model.fit(t * blobs()).gamma_ * t**power == pytest.approx(
        model.fit(blobs()).gamma_, rel=1e-6
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_estimator_takes_it(name):
    X = blobs(120, 5)
    words = {"kernel": "rbf", "scaling": None, "chunk_size": 5000, "patch_size": 2000}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = build(name, n_clusters=5, gamma="median", **known(name, words)).fit(X)
    assert model.gamma_ == pytest.approx(naive_gamma(X), rel=1e-9)
    assert model.gamma_ == model.kernel_.gamma


@pytest.mark.parametrize(
    "words",
    [
        {"landmarks": 20},
        {"landmarks": GradientLandmarks(20)},
        {"landmarks": np.arange(20)},
    ],
)
def test_landmarks_do_not_change_it(words):
    X = blobs()
    model = KernelKMeans(9, kernel="rbf", gamma="median", random_state=0, **words).fit(X)
    assert model.gamma_ == pytest.approx(naive_gamma(X), rel=1e-9)


def test_streams_settle_it_on_their_first_rows():
    first, second = blobs(90, 5), 100 * blobs(90, 5, seed=1)
    stream = StreamingFuzzyCMeans(
        5, kernel="rbf", gamma="median", warm_up=0, random_state=0
    ).partial_fit(first)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stream.partial_fit(second)
    assert stream.gamma_ == pytest.approx(naive_gamma(first), rel=1e-9)


def test_kernels_without_gamma():
    K = np.exp(-squareform(pdist(blobs(), "sqeuclidean")))
    assert KernelKMeans(3, kernel="precomputed", random_state=0).fit(K).gamma_ is None


@pytest.mark.parametrize("word", ["best", "auto"])
def test_wrong_words_are_answered_with_the_known(word):
    with pytest.raises(
        ValueError,
        match=rf"KernelKMeans\(gamma='{word}'\): gamma is \"scale\", \"median\" or a positive "
        r"number",
    ):
        KernelKMeans(3, gamma=word).fit(blobs())


def test_two_distinct_rows():
    X = np.repeat([[0.0, 0.0], [0.0, 2.0]], 5, axis=0)
    assert KernelKMeans(2, kernel="rbf", gamma="median", random_state=0).fit(X).gamma_ == 0.25


def test_rows_that_are_all_the_same():
    assert (
        KernelKMeans(1, kernel="rbf", gamma="median", random_state=0).fit(np.ones((7, 2))).gamma_
        == 1.0
    )


def test_distances_beyond_what_float64_holds_are_refused():
    X = blobs() * 1e200
    with pytest.raises(ValueError, match=r"finite|overflow|large"):
        KernelKMeans(3, kernel="rbf", gamma="median").fit(X)


def test_far_outliers_do_no_harm():
    X = blobs()
    X[0] = 1e5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gamma = KernelKMeans(9, kernel="rbf", gamma="median", random_state=0).fit(X).gamma_
    assert gamma == pytest.approx(naive_gamma(X), rel=1e-6)


@pytest.mark.parametrize("d", [1, 10, 300])
def test_no_alarm_where_there_are_no_clusters(d):
    """A warning would be an error."""
    X = np.random.default_rng(0).normal(size=(200, d))
    KernelKMeans(4, kernel="rbf", gamma="median", random_state=0).fit(X)
