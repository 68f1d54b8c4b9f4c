"""Masked arrays of NumPy's: what lies under a mask is no number to compute with, and a mask that
hides nothing is no matter."""

from __future__ import annotations

import numpy as np
import pytest

import cmeans
from cmeans.kernels import Precomputed
from cmeans.metrics import (
    error_reduction,
    generalized_rand_measure,
    percent_error,
    purity,
    rand_measure,
    success_rate,
)
from cmeans.validity import partition_coefficient, partition_entropy, xie_beni
from every_estimator import SWEPT, WITH_STARTS, build
from sweep_choices import pairs

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3)) + np.repeat([[0, 0, 0], [9, 0, 0], [0, 9, 0]], 20, axis=0)
K = np.exp(-0.02 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
LABELS = np.repeat([0, 1, 2], 20)
U = np.full((60, 3), 0.1) + 0.7 * np.eye(3)[LABELS]
WEIGHT = rng.uniform(0.5, 2.0, 60)
over_models = pytest.mark.parametrize("name", SWEPT)


def masked(values: np.ndarray, count: int = 2) -> np.ma.MaskedArray:
    """Some entries hidden, with what could pass for numbers under the mask."""
    out = np.ma.masked_array(values, np.zeros(np.shape(values), dtype=bool))
    for number in range(count):
        out[(5 * number + 2,) + (0,) * (out.ndim - 1)] = np.ma.masked
    return out


def hiding_nothing(values: np.ndarray, form: bool) -> np.ma.MaskedArray:
    return np.ma.masked_array(
        values, np.zeros(np.shape(values), dtype=bool) if form else np.ma.nomask
    )


def refused(name: str, count: int, size: int) -> object:
    return pytest.raises(
        ValueError,
        match=rf"{name} has masked entries \({count} of {size}\).*[Ii]mpute.*or drop their rows",
    )


@over_models
def test_rows_and_weights_of_a_fit(name: str) -> None:
    with refused(f"{name}: X", 2, 180):
        build(name).fit(masked(X))
    with refused(f"{name}: X", 2, 180):
        build(name).fit(list(masked(X)))
    with refused(f"{name}: sample_weight", 2, 60):
        build(name).fit(X, sample_weight=masked(WEIGHT))
    if hasattr(build(name), "partial_fit"):
        with refused(f"{name}: X", 2, 180):
            build(name).partial_fit(masked(X))
        with refused(f"{name}: sample_weight", 2, 60):
            build(name).fit(X).partial_fit(X, sample_weight=masked(WEIGHT))


@over_models
def test_rows_and_weights_of_questions(name: str) -> None:
    model = build(name).fit(X)
    for question in ("predict", "memberships", "transform", "outlier_score", "score"):
        with refused("X", 2, 180):
            getattr(model, question)(masked(X))
    with refused("sample_weight", 2, 60):
        model.score(X, sample_weight=masked(WEIGHT))
    if model.n_clusters_ > 1:
        with refused("X", 2, 180):
            xie_beni(model, masked(X))
        with refused("sample_weight", 2, 60):
            xie_beni(model, X, sample_weight=masked(WEIGHT))


@pytest.mark.parametrize(
    ("name", "init"), pairs(WITH_STARTS, [X[:60:20], U, LABELS.astype(int), np.array([0, 20, 40])])
)
def test_a_masked_start_is_refused(name: str, init: np.ndarray) -> None:
    model = build(name).set_params(init=masked(init, 1))
    with refused("init", 1, init.size):
        model.fit(X)


def test_landmarks_and_kernel_values() -> None:
    with refused("landmarks", 2, 180):
        cmeans.FuzzyCMeans(3, kernel="rbf", landmarks=masked(X)).fit(X)
    with refused("landmarks", 2, 60):
        cmeans.FuzzyCMeans(3, kernel="rbf", landmarks=masked(np.arange(60))).fit(X)
    with refused("X", 2, 3600):
        cmeans.FuzzyCMeans(3, kernel="precomputed").fit(masked(K))
    words = {"kernel": "precomputed", "landmarks": np.arange(0, 60, 6)}
    with refused("diag", 2, 60):
        cmeans.FuzzyCMeans(3, **words | {"kernel": Precomputed(diagonal=masked(np.ones(60)))}).fit(
            K[:, ::6]
        )
    model = cmeans.FuzzyCMeans(
        3, **words | {"kernel": Precomputed(diagonal=np.ones(60))}, random_state=0
    ).fit(K[:, ::6])
    with refused("diag", 2, 60):
        model.predict(K[:, ::6], diag=masked(np.ones(60)))
    with pytest.raises(
        ValueError, match=r"kernel=.* returned a masked array of which 2 values are masked"
    ):
        cmeans.FuzzyCMeans(3, kernel=lambda x, y: masked(x @ y.T), landmarks=None).fit(X)


def test_metrics_and_validity() -> None:
    for metric in (purity, success_rate, rand_measure):
        with refused("truth", 2, 60):
            metric(masked(LABELS), LABELS)
        with refused("labels", 2, 60):
            metric(LABELS, masked(LABELS))
    noisy = np.where(np.arange(60) < 5, -1, LABELS)
    with refused("nearest", 2, 60):
        success_rate(LABELS, noisy, nearest=masked(LABELS))
    with refused("memberships", 2, 180):
        generalized_rand_measure(LABELS, masked(U))
    with refused("truth", 2, 180):
        generalized_rand_measure(masked(U), U)
    for index in (partition_coefficient, partition_entropy):
        with refused("memberships", 2, 180):
            index(masked(U))
        with refused("sample_weight", 2, 60):
            index(U, sample_weight=masked(WEIGHT))
    with refused("initial", 1, 5):
        error_reduction(masked(np.arange(5.0, 0.0, -1.0), 1))
    assert percent_error(2.0, 1.0) == 100.0


@pytest.mark.parametrize("form", [True, False])
@over_models
def test_a_mask_that_hides_nothing_is_no_matter(name: str, form: bool) -> None:
    init = {"init": X[::20].copy()} if name in WITH_STARTS else {}
    plain = build(name).set_params(**init).fit(X, sample_weight=WEIGHT)
    init = {word: hiding_nothing(value, form) for word, value in init.items()}
    model = (
        build(name)
        .set_params(**init)
        .fit(hiding_nothing(X, form), sample_weight=hiding_nothing(WEIGHT, form))
    )
    assert type(model.labels_) is type(model.memberships_) is np.ndarray
    np.testing.assert_array_equal(model.memberships_, plain.memberships_)
    np.testing.assert_array_equal(model.predict(hiding_nothing(X, form)), plain.predict(X))
    assert type(model.transform(hiding_nothing(X, form))) is np.ndarray
    assert purity(hiding_nothing(LABELS, form), LABELS) == 1.0
    assert partition_coefficient(hiding_nothing(U, form)) == partition_coefficient(U)


def test_chunks_of_a_dask_array() -> None:
    """Whatever the array says its chunks are."""
    array = pytest.importorskip("dask.array")
    distributed = pytest.importorskip("distributed")
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None
    ):
        for x in (
            array.from_array(masked(X), chunks=(20, 3)),
            array.from_array(X, chunks=(20, 3)).map_blocks(masked, meta=np.empty((0, 0))),
        ):
            with pytest.raises(ValueError, match=r"FuzzyCMeans: X has masked entries"):
                cmeans.FuzzyCMeans(3, random_state=0).fit(x)
            model = cmeans.FuzzyCMeans(3, random_state=0).fit(X)
            with pytest.raises(ValueError, match=r"FuzzyCMeans: X has masked entries"):
                model.predict(x).compute()
