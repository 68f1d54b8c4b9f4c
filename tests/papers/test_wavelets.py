"""The complex wavelet kernel against sums over pixels, frequencies and windows, and what it is for:
shifts, contrast, digits."""

from __future__ import annotations

import cmath
import math
from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

import cmeans
import cmeans.papers.wavelets as wavelets
import naive
from cmeans import FuzzyCMeans, KernelKMeans
from cmeans.kernels import RBF
from cmeans.metrics import purity
from cmeans.papers import ComplexWaveletSSIM
from contracts.arrays import DTYPES, FORMS, as_form, on_host
from sweep_choices import once, pairs

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]

ROUNDING = {"float64": 1e-12, "float32": 2e-6}


def share(u, v, level, orientation, orientations):
    """How much of frequency (u, v), in radians a pixel, a subband keeps: the formula of the class's
    docstring."""
    r = math.hypot(u, v)
    if r == 0:
        return 0.0
    octaves = math.log2(r / (math.pi / 2 ** (level + 1)))
    turn = math.remainder(math.atan2(v, u) - math.pi * orientation / orientations, 2 * math.pi)
    if abs(octaves) >= 1 or abs(turn) >= math.pi / 2 - 1e-9:
        return 0.0
    n = orientations - 1
    a = 2**n * math.factorial(n) / math.sqrt(orientations * math.factorial(2 * n))
    return 2 * a * math.cos(math.pi / 2 * octaves) * math.cos(turn) ** n


def subband(image, level, orientation, orientations):
    """Coefficients: a Fourier sum of the image, a share of each frequency, and the sum back at the
    points of the coarser grid."""
    height, width = image.shape
    high, wide = math.ceil(height / 2**level), math.ceil(width / 2**level)
    out = np.zeros((high, wide), dtype=complex)
    for p in range(-(height // 2), height - height // 2):
        for q in range(-(width // 2), width - width // 2):
            v, u = 2 * math.pi * p / height, 2 * math.pi * q / width
            kept = share(u, v, level, orientation, orientations)
            if kept == 0:
                continue
            total = sum(
                image[r, c] * cmath.exp(-1j * (v * r + u * c))
                for r in range(height)
                for c in range(width)
            )
            for i in range(high):
                for j in range(wide):
                    out[i, j] += (
                        kept
                        * total
                        * cmath.exp(1j * (v * i * height / high + u * j * width / wide))
                        / (height * width)
                    )
    return out


def starts(side, window, step):
    """The first coefficient of each window: as few as are needed, spread evenly (downwards to whole
    numbers) from border to border."""
    if side <= window:
        return [0]
    gaps = math.ceil((side - window) / step)
    return [math.floor((side - window) * i / gaps + 1e-9) for i in range(gaps + 1)]


def loops(shape, levels, orientations, window, step, constant, width=None):
    """k(x, y), subband by subband and window by window."""
    transformed = {}

    def bands(row):
        key = row.tobytes()
        if key not in transformed:
            image = row.reshape(shape)
            transformed[key] = [
                subband(image, level, o, orientations)
                for level in range(levels)
                for o in range(orientations)
            ]
        return transformed[key]

    def kernel(x, y):
        means = []
        for a, b in zip(bands(x), bands(y), strict=True):
            values = []
            for top in starts(a.shape[0], window, step):
                for left in starts(a.shape[1], window, step):
                    p, q = (c[top : top + window, left : left + window] for c in (a, b))
                    both = sum(s * t.conjugate() for s, t in zip(p.ravel(), q.ravel(), strict=True))
                    energy = sum(abs(s) ** 2 for s in p.ravel()) + sum(
                        abs(t) ** 2 for t in q.ravel()
                    )
                    values.append((2 * abs(both) + constant) / (energy + constant))
            means.append(sum(values) / len(values))
        similarity = sum(means) / len(means)
        return similarity if width is None else math.exp(-(1 - similarity) / width)

    return kernel


PAIRS = {
    "one level": (ComplexWaveletSSIM(levels=1, window=4), loops((8, 8), 1, 4, 4, 2, 0.01), (8, 8)),
    "two levels": (
        ComplexWaveletSSIM((8, 8), 2, 3, 3, 1, 0.1),
        loops((8, 8), 2, 3, 3, 1, 0.1),
        (8, 8),
    ),
    "window larger than the image": (
        ComplexWaveletSSIM(orientations=2, window=20),
        loops((5, 5), 1, 2, 20, 10, 0.01),
        (5, 5),
    ),
    "not square, width": (
        ComplexWaveletSSIM((5, 9), 2, 4, 3, 5, 1.0, 0.2),
        loops((5, 9), 2, 4, 3, 5, 1.0, 0.2),
        (5, 9),
    ),
    "levels by itself": (
        ComplexWaveletSSIM((7, 6), None, 2, 3),
        loops((7, 6), 2, 2, 3, 2, 0.01),
        (7, 6),
    ),
    "windows of one": (
        ComplexWaveletSSIM((4, 6), window=1, step=2, levels=1),
        loops((4, 6), 1, 4, 1, 2, 0.01),
        (4, 6),
    ),
}


def images(shape, n=7):
    """(n, height width) images in [0, 1], half of the pixels dark, one image all dark and one all
    bright."""
    random = np.random.default_rng(sum(shape))
    X = random.uniform(size=(n, shape[0] * shape[1])) * (
        random.uniform(size=(n, shape[0] * shape[1])) < 0.5
    )
    X[3], X[5] = 0, 1
    return X.astype(np.float32).astype(np.float64)


def assert_values(actual, expected, dtype):
    actual = on_host(actual)
    assert actual.dtype == dtype
    np.testing.assert_allclose(actual, expected, rtol=0, atol=ROUNDING[dtype])


@cache
def looped(name):
    """A kernel, its images and what loops say of all their pairs."""
    kernel, loop, shape = PAIRS[name]
    X = images(shape)
    return kernel, X, naive.kernel_matrix(X, X, loop)


over_forms = pytest.mark.parametrize(
    ("name", "form"), [(name, form) for name in PAIRS for form in FORMS]
)


@pytest.mark.parametrize(("name", "form", "dtype"), pairs(PAIRS, FORMS, DTYPES))
def test_blocks_of_values_are_those_of_the_loops(name, form, dtype, monkeypatch):
    monkeypatch.setattr(wavelets, "COEFFICIENTS", 1)
    # rows and points in pieces of 3, the last ones short
    monkeypatch.setattr(wavelets, "SMALLEST_PIECE", 3)
    kernel, X, expected = looped(name)
    x, y = as_form(X[:5], form, dtype), as_form(X[2:], form, dtype)
    assert_values(kernel(x, y), expected[:5, 2:], dtype)
    columns = kernel.prepare(y)
    assert_values(columns(x[:4, :]), expected[:4, 2:], dtype)
    assert_values(columns(x[4:, :]), expected[4:5, 2:], dtype)
    assert_values(kernel.diag(x), np.ones(5), dtype)


@over_forms
def test_in_one_piece_and_points_in_another_precision(name, form):
    kernel, X, expected = looped(name)
    assert_values(kernel(as_form(X, form), as_form(X, form)), expected, "float64")
    assert_values(
        kernel(as_form(X[:5], form, "float32"), as_form(X[5:], form, "float64")),
        expected[:5, 5:],
        "float32",
    )


@over_forms
def test_rows_are_left_as_they_were(name, form):
    kernel, X, _ = looped(name)
    x = as_form(X, form)
    kernel(x, x)
    np.testing.assert_array_equal(on_host(x), X)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PAIRS)
def test_symmetric_one_on_the_diagonal_and_between_zero_and_one(name, dtype):
    kernel, X, expected = looped(name)
    gram = kernel(X.astype(dtype), X.astype(dtype))
    np.testing.assert_allclose(gram, gram.T, atol=ROUNDING[dtype])
    np.testing.assert_allclose(np.diag(gram), 1, atol=ROUNDING[dtype])
    assert gram.max() <= 1
    assert gram.min() > 0
    assert expected.min() < 0.9
    assert not kernel.positive_definite


@pytest.mark.parametrize("form", ["numpy", "csr"])
def test_pixels_as_integers(form):
    X = np.round(255 * images((8, 8))).astype(np.uint8)
    x = X if form == "numpy" else sparse.csr_array(X)
    kernel = ComplexWaveletSSIM(constant=650.25)
    expected = kernel(X.astype(float), X.astype(float))
    assert_values(kernel(x, x), expected, "float64")
    assert_values(kernel.diag(x), np.ones(len(X)), "float64")


def test_units_of_the_pixels():
    X = images((9, 9))
    np.testing.assert_allclose(
        ComplexWaveletSSIM(constant=0.01 * 255**2)(255 * X, 255 * X),
        ComplexWaveletSSIM()(X, X),
        atol=1e-12,
    )


def test_all_orientations_and_levels_keep_what_lies_between_them():
    """A frame: of a wave whose frequency lies in the middle octaves nothing is lost, whatever its
    direction."""
    random = np.random.default_rng(0)
    spectrum = np.fft.fft2(random.normal(size=(32, 32)))
    u, v = np.meshgrid(*[2 * np.pi * np.fft.fftfreq(32)] * 2)
    r = np.hypot(u, v)
    # between the peaks of levels 0 and 2
    image = np.fft.ifft2(np.where((r < np.pi / 2) & (r > np.pi / 8), spectrum, 0)).real
    parts = [subband_energy(image, level, o) for level in range(3) for o in range(4)]
    np.testing.assert_allclose(sum(parts), 2 * (image**2).mean(), rtol=1e-10)


def subband_energy(image, level, orientation):
    height, width = image.shape
    shares = wavelets._filters(height, width, level, 4)
    spectrum = np.fft.fft2(image)[np.ix_(shares.rows, shares.columns)]
    return (np.abs(np.fft.ifft2(spectrum * shares.shares[orientation])) ** 2).mean()


# ----------------------------------------------------------------------------------- what it is for


def digits(n=300):
    """Handwritten digits on 16 x 16 pixels in [0, 1], dark at the borders, and which they are."""
    X, y = load_digits(return_X_y=True)
    fine = np.kron(X[:n].reshape(-1, 8, 8) / 16, np.ones((1, 2, 2)))
    return np.pad(fine, ((0, 0), (4, 4), (4, 4))), y[:n]


def similarities(kernel, images, others):
    return np.array(
        [
            kernel(a.reshape(1, -1), b.reshape(1, -1))[0, 0]
            for a, b in zip(images, others, strict=True)
        ]
    )


def test_bears_shifts_better_than_distances_do():
    """A digit moved by a pixel stays itself; for Euclid it is nearly as far away as another
    digit."""
    X, y = digits(30)
    moved, other = np.roll(X, 1, axis=2), X[[int(np.flatnonzero(y != label)[0]) for label in y]]
    distances = [((X - Z) ** 2).sum(axis=(1, 2)) for Z in (moved, other)]
    rbf = RBF(gamma=1 / np.median(distances[1]))
    for kernel, least in ((ComplexWaveletSSIM(), 0.8), (ComplexWaveletSSIM(width=0.3), 0.5)):
        near, far = similarities(kernel, X, moved), similarities(kernel, X, other)
        assert near.min() > least
        assert far.max() < near.min()
        lost = (1 - near).mean() / (1 - far).mean()
        assert (
            lost
            < 0.6
            * (1 - similarities(rbf, X, moved)).mean()
            / (1 - similarities(rbf, X, other)).mean()
        )


def test_bears_contrast_and_brightness():
    X, _ = digits(20)
    kernel = ComplexWaveletSSIM()
    # no subband sees the mean
    np.testing.assert_allclose(similarities(kernel, X, X + 0.3), 1, atol=1e-9)
    assert similarities(kernel, X, 0.7 * X).min() > 0.9
    assert similarities(kernel, X, X[::-1]).mean() < 0.6


def test_nearest_neighbours_of_moved_digits():
    X, y = digits()
    known, asked = X[::2].reshape(-1, 576), np.roll(X[1::2], (1, 2), axis=(1, 2)).reshape(-1, 576)
    right = {}
    for name, kernel in (("ssim", ComplexWaveletSSIM()), ("rbf", RBF(0.01))):
        right[name] = (y[::2][kernel(asked, known).argmax(axis=1)] == y[1::2]).mean()
    assert right["ssim"] > 0.85
    assert right["rbf"] < right["ssim"] - 0.1


# ------------------------------------------------------------------------------------ in estimators


def few_digits(form="numpy", n=240):
    X, y = load_digits(n_class=5, return_X_y=True)
    return as_form(X[:n] / 16, form), y[:n]


@pytest.mark.filterwarnings("ignore:.*the kernel is indefinite")
@pytest.mark.parametrize(("n_landmarks", "form"), once([None, 40], ["numpy", "csr", "torch"]))
def test_estimators_find_the_digits(n_landmarks, form):
    X, y = few_digits(form)
    words = {"landmarks": n_landmarks, "n_init": 2, "random_state": 0}
    model = KernelKMeans(5, kernel=ComplexWaveletSSIM(window=3), **words).fit(X)
    labels = on_host(model.labels_)
    assert purity(y, labels) > 0.95
    np.testing.assert_array_equal(on_host(model.predict(X)), labels)


@pytest.mark.filterwarnings("ignore:.*the kernel is indefinite")
@pytest.mark.parametrize("estimator", [KernelKMeans, FuzzyCMeans])
def test_same_as_its_matrix(estimator):
    X, y = few_digits()
    kernel = ComplexWaveletSSIM(window=4, width=0.5)
    words = {
        "init": y.copy(),
        "landmarks": None,
        "max_iter": 50,
        **({"m": 1.2} if estimator is FuzzyCMeans else {}),
    }
    direct = estimator(5, kernel=kernel, **words).fit(X)
    given = estimator(5, kernel="precomputed", **words).fit(kernel(X, X))
    np.testing.assert_array_equal(direct.labels_, given.labels_)
    np.testing.assert_allclose(direct.objective_, given.objective_, rtol=1e-9)


def test_indefinite_is_said():
    X, _ = few_digits()
    with pytest.warns(UserWarning, match="the kernel is indefinite on these rows"):
        KernelKMeans(5, kernel=ComplexWaveletSSIM(), landmarks=None, random_state=0).fit(X)


@pytest.mark.filterwarnings("ignore:.*the kernel is indefinite")
@pytest.mark.parametrize(
    "kernel", [ComplexWaveletSSIM(), ComplexWaveletSSIM((8, 8), 2, 3, 4, 1, 0.1, 0.5)]
)
@pytest.mark.parametrize("n_landmarks", [None, 20])
def test_save_and_load(kernel, n_landmarks, tmp_path):
    X, _ = few_digits(n=60)
    model = KernelKMeans(3, kernel=kernel, landmarks=n_landmarks, random_state=0).fit(X)
    cmeans.save(model, tmp_path / "model.safetensors")
    again = cmeans.load(tmp_path / "model.safetensors")
    assert again.kernel_ == kernel
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


# ------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            {"levels": 0},
            r"ComplexWaveletSSIM\(levels=0\): levels must be a whole number of at least 1 or None",
        ),
        ({"levels": 1.5}, r"ComplexWaveletSSIM\(levels=1.5\)"),
        ({"levels": True}, r"ComplexWaveletSSIM\(levels=True\)"),
        (
            {"orientations": 1},
            r"ComplexWaveletSSIM\(orientations=1\): orientations must be a whole number of at "
            r"least 2\.",
        ),
        ({"orientations": None}, r"ComplexWaveletSSIM\(orientations=None\)"),
        (
            {"window": 0},
            r"ComplexWaveletSSIM\(window=0\): window must be a whole number of at least 1\.",
        ),
        ({"window": "wide"}, r"ComplexWaveletSSIM\(window='wide'\)"),
        (
            {"step": 0},
            r"ComplexWaveletSSIM\(step=0\): step must be a whole number of at least 1 or None",
        ),
        (
            {"constant": 0},
            r"ComplexWaveletSSIM\(constant=0\): constant must be a number greater than 0",
        ),
        ({"constant": float("nan")}, r"ComplexWaveletSSIM\(constant=nan\)"),
        ({"constant": None}, r"ComplexWaveletSSIM\(constant=None\)"),
        ({"width": 0.0}, r"ComplexWaveletSSIM\(width=0.0\): width must be a number greater than 0"),
        ({"width": float("inf")}, r"ComplexWaveletSSIM\(width=inf\)"),
        (
            {"shape": 8},
            r"ComplexWaveletSSIM\(shape=8\): shape must be \(height, width\), two whole numbers of "
            r"pixels, or None",
        ),
        ({"shape": (8, 8, 3)}, r"ComplexWaveletSSIM\(shape=\(8, 8, 3\)\)"),
        ({"shape": (8, 0)}, r"ComplexWaveletSSIM\(shape=\(8, 0\)\)"),
        ({"shape": (8.0, 8)}, r"ComplexWaveletSSIM\(shape=\(8.0, 8\)\)"),
    ],
)
def test_parameters(words, message):
    with pytest.raises(ValueError, match=message):
        ComplexWaveletSSIM(**words)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("words", "columns", "message"),
    [
        (
            {"shape": (4, 5)},
            24,
            r"rows have 24 columns where 4 x 5 = 20 belong: one number per pixel .* Give the "
            r"images' shape",
        ),
        (
            {},
            24,
            r"rows have 24 columns where the square of a whole number belongs: .* Give the images' "
            r"shape=\(height, width\)",
        ),
        (
            {"levels": 3},
            64,
            r"levels=3.: images of 8 x 8 pixels have room for 2 levels, .* give levels=2 or less",
        ),
        ({"levels": 4, "shape": (5, 40)}, 200, r"images of 5 x 40 pixels have room for 2 levels"),
        ({"shape": (2, 8)}, 16, r"images of 2 x 8 pixels are too small: .* at least 3 pixels"),
        ({}, 0, r"images of 0 x 0 pixels are too small"),
    ],
)
def test_images_that_do_not_fit(form, words, columns, message):
    if form == "array_api_strict" and not columns:
        pytest.skip("no empty rows there")
    x = as_form(np.ones((3, columns)), form)
    for use in (ComplexWaveletSSIM(**words).prepare, ComplexWaveletSSIM(**words).diag):
        with pytest.raises(ValueError, match=message):
            use(x)


@pytest.mark.parametrize("shape", [None, (4, 9)])
def test_rows_unlike_the_points(shape):
    columns = ComplexWaveletSSIM(shape).prepare(np.ones((3, 36)))
    with pytest.raises(ValueError, match=r"rows have 25 columns where \d x \d = 36 belong"):
        columns(np.ones((2, 25)))


def test_rows_that_do_not_fit_in_a_fit():
    with pytest.raises(
        ValueError,
        match=r"ComplexWaveletSSIM\(.*rows have 10 columns where the square of a whole number "
        r"belongs",
    ):
        KernelKMeans(2, kernel=ComplexWaveletSSIM()).fit(
            np.random.default_rng(0).uniform(size=(20, 10))
        )
