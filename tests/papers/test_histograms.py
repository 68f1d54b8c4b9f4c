"""Histogram kernels against loops written from the papers, in every kind of array, and at work in
the estimators."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import sparse

import cmeans
import cmeans.papers.spatial_pyramid as pyramids
import naive
from cmeans import FuzzyCMeans, KernelKMeans
from cmeans.kernels import HistogramIntersection, kernel_of
from cmeans.papers import SpatialPyramid
from contracts.arrays import DTYPES, FORMS, as_form, on_host

pytestmark = pytest.mark.slow

ROUNDING = {"float64": 1e-13, "float32": 2e-6}


def intersection(x, y):
    """Swain & Ballard 1991."""
    return sum(min(a, b) for a, b in zip(x, y, strict=True))


def pyramid(x, y, levels, words, normalize=True):
    """Lazebnik 2006, equation 3, cell by cell, for every word."""
    finest = levels - 1
    side = 2**finest

    def count(row, level, r, c, word):
        """Features of one word in cell (r, c) of the grid of 2^level x 2^level cells."""
        size = side // 2**level
        cells = [
            (i, j) for i in range(r * size, (r + 1) * size) for j in range(c * size, (c + 1) * size)
        ]
        return sum(row[(i * side + j) * words + word] for i, j in cells)

    def shared(a, b, level, word):
        places = [(r, c) for r in range(2**level) for c in range(2**level)]
        return sum(min(count(a, level, r, c, word), count(b, level, r, c, word)) for r, c in places)

    def plain(a, b):
        total = 0.0
        for word in range(words):
            total += shared(a, b, 0, word) / 2**finest
            for level in range(1, finest + 1):
                total += shared(a, b, level, word) / 2 ** (finest - level + 1)
        return total

    if not normalize:
        return plain(x, y)
    size = np.sqrt(plain(x, x) * plain(y, y))
    return plain(x, y) / size if size > 0 else 0.0


PAIRS = {
    "intersection": (HistogramIntersection(), intersection, 7),
    "one level": (SpatialPyramid(levels=1, n_words=3), lambda x, y: pyramid(x, y, 1, 3), 3),
    "two levels": (SpatialPyramid(levels=2, n_words=3), lambda x, y: pyramid(x, y, 2, 3), 12),
    "three levels": (SpatialPyramid(levels=3), lambda x, y: pyramid(x, y, 3, 2), 32),
    "four levels, one word": (SpatialPyramid(n_words=1), lambda x, y: pyramid(x, y, 4, 1), 64),
    "not normalized": (
        SpatialPyramid(3, 2, normalize=False),
        lambda x, y: pyramid(x, y, 3, 2, normalize=False),
        32,
    ),
}


def rows(d: int, n: int = 13) -> np.ndarray:
    """(n, d) counts and shares, half of them zero, and one row of zeros."""
    random = np.random.default_rng(d)
    X = random.poisson(1.0, size=(n, d)) + random.uniform(size=(n, d)) * (
        random.uniform(size=(n, d)) < 0.3
    )
    X[4] = 0
    return X.astype(np.float32).astype(np.float64)


def assert_values(actual, expected, dtype):
    actual = on_host(actual)
    assert actual.dtype == dtype
    np.testing.assert_allclose(
        actual, expected, rtol=0, atol=ROUNDING[dtype] * max(np.abs(expected).max(), 1)
    )


@cache
def looped(name: str, whole: bool = False) -> np.ndarray:
    """All rows against all by loops, or all rows rounded down to whole numbers."""
    _, loop, d = PAIRS[name]
    X = np.floor(rows(d)) if whole else rows(d)
    return naive.kernel_matrix(X, X, loop)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PAIRS)
def test_blocks_of_values_are_those_of_the_loops(name, form, dtype, monkeypatch):
    monkeypatch.setattr(pyramids, "EXPANDED_ELEMENTS", 1)
    monkeypatch.setattr(pyramids, "SMALLEST_PIECE", 4)  # pieces of 4 rows, the last one short
    kernel, _, d = PAIRS[name]
    X = rows(d)
    x, y = as_form(X[:10], form, dtype), as_form(X[7:], form, dtype)
    expected = looped(name)[:10, 7:]
    assert_values(kernel(x, y), expected, dtype)
    columns = kernel.prepare(y)
    assert_values(columns(x[:7, :]), expected[:7], dtype)
    assert_values(columns(x[7:, :]), expected[7:], dtype)
    assert_values(kernel.diag(x), np.diag(looped(name))[:10], dtype)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PAIRS)
def test_points_in_another_precision(name, form):
    kernel, _, d = PAIRS[name]
    X = rows(d)
    values = kernel(as_form(X[:5], form, "float32"), as_form(X[5:], form, "float64"))
    assert_values(values, looped(name)[:5, 5:], "float32")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PAIRS)
def test_rows_are_left_as_they_were(name, form):
    kernel, _, d = PAIRS[name]
    x = as_form(rows(d), form)
    kernel(x, x)
    np.testing.assert_array_equal(on_host(x), rows(d))


def test_csr_out_of_order_and_with_entries_in_two_pieces():
    """Neither the values nor the caller's matrix may suffer."""
    whole = np.array([[3.0, 0.0, 2.0], [0.0, 1.0, 4.0]])
    loose = sparse.csr_array(
        (np.array([2.0, 1.0, 2.0, 4.0, 1.0]), np.array([2, 0, 0, 2, 1]), np.array([0, 3, 5])),
        shape=(2, 3),
    )
    np.testing.assert_array_equal(loose.toarray(), whole)
    np.testing.assert_array_equal(
        HistogramIntersection()(loose, loose), naive.kernel_matrix(whole, whole, intersection)
    )
    assert loose.indices.tolist() == [2, 0, 0, 2, 1]


@pytest.mark.parametrize("form", ["numpy", "csr"])
@pytest.mark.parametrize("dtype", ["uint8", "int64"])
@pytest.mark.parametrize("name", PAIRS)
def test_counts_as_integers(name, form, dtype):
    kernel, _, d = PAIRS[name]
    X = np.floor(rows(d)).astype(dtype)
    x = X if form == "numpy" else sparse.csr_array(X)
    assert_values(kernel(x, x), looped(name, whole=True), "float64")
    assert_values(kernel.diag(x), np.diag(looped(name, whole=True)), "float64")


@pytest.mark.parametrize("name", PAIRS)
def test_positive_definite(name):
    kernel, _, d = PAIRS[name]
    X = rows(d, 80)
    gram = kernel(X, X)
    np.testing.assert_allclose(gram, gram.T, atol=1e-13)
    assert kernel.positive_definite
    values = np.linalg.eigvalsh(gram)
    assert values.min() > -1e-12 * values.max()


def test_what_the_docstrings_say():
    X = rows(32, 9)
    k = HistogramIntersection()
    gram, diag = k(X, X), k.diag(X)
    np.testing.assert_allclose(
        diag[:, None] - 2 * gram + diag, np.abs(X[:, None] - X[None]).sum(axis=2), atol=1e-12
    )
    kernel = SpatialPyramid(levels=3)
    np.testing.assert_array_equal(kernel.diag(X), X.sum(axis=1) > 0)
    np.testing.assert_allclose(SpatialPyramid(3, normalize=False).diag(X), X.sum(axis=1))
    shares = np.delete(X, 4, axis=0)
    shares /= shares.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        kernel(shares, shares), SpatialPyramid(3, normalize=False)(shares, shares)
    )


def test_layout():
    """One feature of word w in cell (r, c) stands in column (r 2^L + c) n_words + w."""
    side, words = 4, 3
    kernel = SpatialPyramid(levels=3, n_words=words, normalize=False)

    def image(r, c, w):
        row = np.zeros((1, side * side * words))
        row[0, (r * side + c) * words + w] = 1
        return row

    def value(a, b):
        return kernel(image(*a), image(*b))[0, 0]

    assert value((1, 2, 0), (1, 2, 0)) == 1  # the same cell
    # the same quarter of the image: levels 0 and 1
    assert value((0, 2, 0), (1, 3, 0)) == 1 / 4 + 1 / 4
    assert value((1, 1, 0), (1, 2, 0)) == 1 / 4  # neighbours across the border of two quarters
    assert value((1, 2, 0), (1, 2, 1)) == 0  # another word


# ------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: SpatialPyramid(levels=0),
            r"SpatialPyramid\(levels=0\): levels must be a whole number of at least 1",
        ),
        (lambda: SpatialPyramid(levels=2.5), r"SpatialPyramid\(levels=2.5\)"),
        (lambda: SpatialPyramid(levels=None), r"SpatialPyramid\(levels=None\)"),
        (lambda: SpatialPyramid(levels=True), r"SpatialPyramid\(levels=True\)"),
        (lambda: SpatialPyramid(n_words=0), r"SpatialPyramid\(n_words=0\)"),
        (lambda: SpatialPyramid(n_words="many"), r"SpatialPyramid\(n_words='many'\)"),
        (
            lambda: SpatialPyramid(normalize="counts"),
            r"SpatialPyramid\(normalize='counts'\): normalize must be True or False",
        ),
    ],
)
def test_parameters(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", [HistogramIntersection(), SpatialPyramid(levels=2)])
def test_negative_features(kernel, form):
    good, bad = np.ones((3, 4)), np.array([[0.0, 1.0, -2.5, 0.0]])
    good, bad = as_form(good, form), as_form(bad, form)
    message = rf"{type(kernel).__name__}: features must not be negative, and -2.5 came"
    for use in (lambda: kernel(good, bad), lambda: kernel(bad, good), lambda: kernel.diag(bad)):
        with pytest.raises(ValueError, match=message):
            use()


@pytest.mark.parametrize("form", FORMS)
def test_columns_that_do_not_fit(form):
    x = as_form(np.ones((3, 12)), form)
    with pytest.raises(
        ValueError, match=r"rows have 12 columns where 4 x 2 = 8 belong: .* 2 x 2 cells"
    ):
        SpatialPyramid(levels=2, n_words=2).prepare(x)
    with pytest.raises(ValueError, match=r"rows have 12 columns where a multiple of 16 belong"):
        SpatialPyramid(levels=3).diag(x)
    columns = SpatialPyramid(levels=2).prepare(x)
    with pytest.raises(ValueError, match=r"rows have 8 columns where 4 x 3 = 12 belong"):
        columns(as_form(np.ones((3, 8)), form))


def test_negative_features_in_a_fit():
    with pytest.raises(
        ValueError, match=r"HistogramIntersection: features must not be negative, and -1 came"
    ):
        KernelKMeans(2, kernel="histogram_intersection").fit(
            np.array([[1.0, 2.0], [0.0, -1.0], [3.0, 1.0]])
        )


# ------------------------------------------------------------------------------------ in estimators


def images(n: int = 90) -> tuple[np.ndarray, np.ndarray]:
    """Three kinds of images, 2 words on 4 x 4 cells, that differ in where the words are, not in how
    many there are."""
    random = np.random.default_rng(0)
    y = np.arange(n) % 3
    rates = np.full((3, 4, 4, 2), 0.3)
    rates[0, :2, :, 0] = rates[1, 2:, :, 0] = rates[2, :, :2, 0] = 3.0
    return random.poisson(rates[y]).reshape(n, 32).astype(float), y


def parted(labels: np.ndarray, y: np.ndarray) -> bool:
    return len(set(labels.tolist())) == 3 and all(
        len(set(labels[y == j].tolist())) == 1 for j in range(3)
    )


def test_by_name():
    assert kernel_of("histogram_intersection", "Owner") == HistogramIntersection()


@pytest.mark.parametrize("kernel", ["histogram_intersection", SpatialPyramid(levels=3)])
@pytest.mark.parametrize("n_landmarks", [None, 30])
@pytest.mark.parametrize("form", ["numpy", "csr", "torch"])
def test_estimators_find_the_clusters(kernel, n_landmarks, form):
    X, y = images()
    words = {"landmarks": n_landmarks, "n_init": 5, "random_state": 0}
    model = KernelKMeans(3, kernel=kernel, **words).fit(as_form(X, form))
    labels = on_host(model.labels_)
    assert parted(labels, y)
    np.testing.assert_array_equal(on_host(model.predict(as_form(X, form))), labels)


@pytest.mark.parametrize("kernel", [HistogramIntersection(), SpatialPyramid(levels=3)])
@pytest.mark.parametrize("estimator", [KernelKMeans, FuzzyCMeans])
def test_same_as_its_matrix(kernel, estimator):
    X, _ = images()
    labels = np.random.default_rng(1).integers(3, size=len(X))
    words = {
        "init": labels,
        "landmarks": None,
        "max_iter": 50,
        **({"m": 1.3} if estimator is FuzzyCMeans else {}),
    }
    direct = estimator(3, kernel=kernel, **words).fit(X)
    given = estimator(3, kernel="precomputed", **words).fit(kernel(X, X))
    np.testing.assert_array_equal(direct.labels_, given.labels_)
    np.testing.assert_allclose(direct.objective_, given.objective_, rtol=1e-9)


def test_float32_with_much_in_common():
    """A large share that all rows have must not drown the clusters."""
    X, y = images()
    X = np.hstack([X, np.full((len(X), 1), 1e6)])
    wide = KernelKMeans(
        3, kernel="histogram_intersection", landmarks=30, n_init=5, random_state=0
    ).fit(X)
    narrow = KernelKMeans(
        3, kernel="histogram_intersection", landmarks=30, n_init=5, random_state=0
    ).fit(X.astype(np.float32))
    assert parted(wide.labels_, y)
    assert narrow.labels_.shape == (len(X),)


@pytest.mark.parametrize(
    "kernel",
    [
        "histogram_intersection",
        HistogramIntersection(),
        SpatialPyramid(levels=3),
        SpatialPyramid(3, 2, normalize=False),
    ],
)
@pytest.mark.parametrize("n_landmarks", [None, 20])
def test_save_and_load(kernel, n_landmarks, tmp_path):
    X, _ = images()
    model = KernelKMeans(3, kernel=kernel, landmarks=n_landmarks, random_state=0).fit(X)
    cmeans.save(model, tmp_path / "model.safetensors")
    again = cmeans.load(tmp_path / "model.safetensors")
    assert again.kernel_ == model.kernel_
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
