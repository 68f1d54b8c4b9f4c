"""Parameters that are read off rows: what they are of rows that are moved, scaled, in another
order, or joined by a far one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score

from cmeans import FuzzyCMeans, KernelKMeans
from contracts.arrays import FORMS, as_form

X = np.random.default_rng(0).normal(size=(60, 3)) * [1.0, 3.0, 0.5] + [0.0, 20.0, -5.0]
TWENTY = 2.0**20

READ = {
    "gamma, scale": (
        lambda x, **w: (
            KernelKMeans(2, kernel="rbf", gamma="scale", random_state=0).fit(x, **w).gamma_
        ),
        -2,
    ),
    "gamma, median": (
        lambda x, **w: (
            KernelKMeans(2, kernel="rbf", gamma="median", random_state=0).fit(x, **w).gamma_
        ),
        -2,
    ),
    "gamma, scale of Manhattan distances": (
        lambda x, **w: KernelKMeans(2, kernel="laplacian", random_state=0).fit(x, **w).gamma_,
        -1,
    ),
    "gamma, median of Manhattan distances": (
        lambda x, **w: (
            KernelKMeans(2, kernel="laplacian", gamma="median", random_state=0).fit(x, **w).gamma_
        ),
        -1,
    ),
    "m": (lambda x, **w: FuzzyCMeans(3, m="auto", random_state=0).fit(x, **w).m_, 0),
    "m of a kernel": (
        lambda x, **w: FuzzyCMeans(3, m="auto", kernel="rbf", random_state=0).fit(x, **w).m_,
        0,
    ),
}


@pytest.mark.parametrize("name", READ)
def test_what_is_read_off_changed_rows(name):
    """A number of a power of lengths, which nothing but another unit changes."""
    read, power = READ[name]
    expected = read(X)
    order = np.random.default_rng(1).permutation(len(X))
    assert read(X + 1e6 * np.array([3.0, -2.0, 5.0])) == pytest.approx(expected, rel=1e-6)
    assert read((X + 1e3 * np.array([3.0, -2.0, 5.0])).astype(np.float32)) == pytest.approx(
        expected, rel=1e-2
    )
    assert read(X[order]) == pytest.approx(expected, rel=1e-9)
    assert read(X[:, [2, 0, 1]]) == pytest.approx(expected, rel=1e-9)
    assert read(X * TWENTY) * TWENTY**-power == pytest.approx(expected, rel=1e-9)
    far = np.concatenate([X, [[1e9, -1e9, 0.0]]])
    assert read(far, sample_weight=np.append(np.ones(len(X)), 0.0)) == pytest.approx(
        expected, rel=1e-9
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_the_scale_is_that_of_the_columns_about_their_own_means(kernel, form):
    variances = [np.mean([(value - np.mean(column)) ** 2 for value in column]) for column in X.T]
    expected = 1.0 / sum(variances) if kernel == "rbf" else 1.0 / (3 * np.sqrt(np.mean(variances)))
    model = KernelKMeans(2, kernel=kernel, gamma="scale", random_state=0)
    assert model.fit(as_form(X, form)).gamma_ == pytest.approx(expected, rel=1e-9)


def test_rings_that_are_moved_are_found_again():
    rows, rings = make_circles(600, noise=0.05, factor=0.2, random_state=1)
    for away in ([0, 0], [24, 60], [-1e6, 1e6]):
        model = KernelKMeans(2, kernel="rbf", random_state=0).fit(rows + away)
        assert adjusted_rand_score(rings, model.labels_) == 1.0


def test_equal_rows_are_no_pairs_for_the_median():
    """However far from the others' mean they are, which would leave them distances of rounding."""
    rows = np.repeat([[1e9, 0.1], [1e9, 0.3], [1e9, 0.7], [-1e9, 0.0]], 5, axis=0)
    squares = sorted((0.2**2, 0.6**2, 0.4**2, *[4e18] * 3))
    assert KernelKMeans(2, kernel="rbf", gamma="median", random_state=0).fit(
        rows
    ).gamma_ == pytest.approx(1 / squares[2], rel=1e-6)
