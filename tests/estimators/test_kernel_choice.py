"""kernel="auto": the linear kernel or the RBF kernel, by what keeps near rows together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import cmeans
from cmeans import FuzzyCMeans, KernelKMeans
from cmeans.kernels import RBF, Linear


def blobs_and_far_rows() -> np.ndarray:
    """Two blobs, and three rows far out that take a cluster of their own as they are."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2)) * 0.3 + np.array([[0.0, 0.0], [3.0, 0.0]])[np.arange(60) % 2]
    return np.concatenate([rows, [[500.0, 0.0], [501.0, 0.0], [502.0, 0.0]]])


@pytest.mark.parametrize("of", [KernelKMeans, FuzzyCMeans])
def test_the_kernel_whose_clusters_keep_near_rows_together(of: type, tmp_path: Path) -> None:
    iris = load_iris(return_X_y=True)[0]
    model = of(3, kernel="auto", random_state=0).fit(iris)
    assert model.kernel_ == Linear()
    plain = of(3, kernel="linear", random_state=0).fit(iris)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.cluster_centers_, plain.cluster_centers_)
    far = blobs_and_far_rows()
    model = of(2, kernel="auto", gamma=0.1, random_state=0).fit(far)
    assert model.kernel_ == RBF(gamma=0.1)
    assert model.kernel == "auto"
    np.testing.assert_array_equal(
        model.labels_, of(2, kernel="rbf", gamma=0.1, random_state=0).fit(far).labels_
    )
    cmeans.save(model, tmp_path / "model")
    np.testing.assert_array_equal(cmeans.load(tmp_path / "model").predict(far), model.labels_)


def test_weights_are_copies_and_one_cluster_asks_for_no_choice() -> None:
    far = blobs_and_far_rows()
    weight = np.arange(len(far)) % 3 + 1
    model = KernelKMeans(2, kernel="auto", gamma=0.1, random_state=0)
    copies = np.repeat(far, weight, axis=0)
    assert model.fit(far, sample_weight=weight).kernel_ == model.fit(copies).kernel_
    assert KernelKMeans(1, kernel="auto").fit(far).kernel_ == Linear()


def test_other_estimators_do_not_choose() -> None:
    with pytest.raises(ValueError, match=r"PossibilisticCMeans\(kernel='auto'\): unknown kernel"):
        cmeans.PossibilisticCMeans(2, kernel="auto").fit(blobs_and_far_rows())
    with pytest.raises(ValueError, match="missing"):
        KernelKMeans(2, kernel="auto", missing="partial").fit(blobs_and_far_rows())
