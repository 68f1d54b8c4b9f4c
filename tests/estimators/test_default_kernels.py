"""The kernel that each estimator has by default, and what is said of parameters that a kernel has
no use for."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import cmeans
import every_estimator
from cmeans import FuzzyCMeans, KernelKMeans, PossibilisticCMeans, StreamingFuzzyCMeans
from cmeans.kernels import RBF, Linear, Polynomial

X = make_blobs(60, 3, centers=3, cluster_std=2.0, random_state=0)[0]


def said(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("name", every_estimator.NAMES)
def test_estimators_are_plain_unless_their_name_says_kernel(name):
    model = every_estimator.build(name)
    assert model.kernel == ("rbf" if "Kernel" in name else "linear")
    assert isinstance(model.fit(X).kernel_, RBF if "Kernel" in name else Linear)


def test_fuzzy_c_means_is_the_one_of_the_books():
    """The alternation of Bezdek 1981 written out: memberships, means weighted by their squares, and
    so on."""
    v = start = X[[3, 20, 41]] + 0.1
    for _ in range(500):
        d2 = [
            [sum((a - b) ** 2 for a, b in zip(x, centre, strict=True)) for centre in v] for x in X
        ]
        u = np.array([[1 / sum(mine / other for other in row) for mine in row] for row in d2])
        v = (u**2).T @ X / (u**2).sum(axis=0)[:, None]
    model = FuzzyCMeans(3, m=2, init=start, tol=1e-10, max_iter=2000).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, v, rtol=1e-6)
    np.testing.assert_allclose(model.memberships_, u, rtol=1e-6)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            FuzzyCMeans(3, gamma=0.1),
            'FuzzyCMeans: kernel="linear" needs no gamma; give kernel="rbf" or another that does, '
            "or leave it out.",
        ),
        (
            PossibilisticCMeans(3, gamma="median", landmarks=20),
            'PossibilisticCMeans: kernel="linear" needs no gamma and no landmarks; give '
            'kernel="rbf" or another that does, or leave them',
        ),
        (FuzzyCMeans(3, landmarks=X[:20]), 'kernel="linear" needs no landmarks; give kernel="rbf"'),
        (FuzzyCMeans(3, landmarks=None), 'kernel="linear" needs no landmarks; give kernel="rbf"'),
        (
            StreamingFuzzyCMeans(3, gamma=2.0),
            'StreamingFuzzyCMeans: kernel="linear" needs no gamma;',
        ),
        (
            KernelKMeans(3, kernel="cosine", gamma=2.0),
            'KernelKMeans: kernel="cosine" needs no gamma; give kernel="rbf"',
        ),
    ],
)
def test_parameters_that_a_kernel_has_no_use_for_are_told(model, message):
    (warning,) = [one for one in said(lambda: model.fit(X)) if "needs no" in one]
    assert message in warning


@pytest.mark.parametrize(
    "model",
    [
        FuzzyCMeans(3),
        FuzzyCMeans(3, kernel="rbf", gamma=0.1, landmarks=20),
        FuzzyCMeans(3, kernel=Linear(), landmarks=2),
        KernelKMeans(3, kernel="linear", landmarks=2),
        KernelKMeans(3, kernel=Polynomial(degree=2, gamma=0.1, coef0=0.5)),
    ],
)
def test_nothing_is_said_of_parameters_in_use(model):
    assert said(lambda: model.set_params(random_state=0).fit(X)) == []


def test_a_file_of_a_model_with_an_idle_parameter_is_read_in_silence(tmp_path):
    model = FuzzyCMeans(3, gamma=0.1, random_state=0)
    assert len(said(lambda: model.fit(X))) == 1
    path = tmp_path / "model.safetensors"
    cmeans.save(model, path)
    assert said(lambda: cmeans.load(path).predict(X)) == []
