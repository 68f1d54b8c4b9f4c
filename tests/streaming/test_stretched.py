"""Streams whose clusters have covariances of their own."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import naive_covariances as naive
from cmeans import (
    Covariance,
    DataWarning,
    FuzzyCMeans,
    GaussianMixture,
    KernelKMeans,
    StreamingFuzzyCMeans,
    load,
    save,
)
from limited import limited

stretched = partial(StreamingFuzzyCMeans, covariance="full", random_state=0)


def cross(n: int, seed: int = 0, angle: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Two long clusters that cross at right angles, and the numbers of their rows."""
    rng = np.random.default_rng(seed)
    kinds, x = rng.integers(0, 2, n), rng.normal(size=(n, 2)) * [3.0, 0.2]
    turned = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return np.where(kinds[:, None] == 0, x, x[:, ::-1]) @ turned + [10.0, -5.0], kinds


def blobs(n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres, stretch = 4.0 * np.eye(3), rng.normal(size=(3, 3, 3))
    kinds = np.arange(n) % 3
    return centres[kinds] + 0.5 * np.einsum("nij,nj->ni", stretch[kinds], rng.normal(size=(n, 3)))


def fed(model: Any, x: np.ndarray, step: int, **more: Any) -> Any:
    for start in range(0, len(x), step):
        model.partial_fit(x[start : start + step], **more)
    return model


@pytest.mark.filterwarnings("ignore:.*stopped at max_iter")
@pytest.mark.parametrize("shape", ["full", "diag", "tied", "spherical"])
def test_it_is_the_naive_stream(shape: str) -> None:
    x = blobs(90)
    hard = KernelKMeans(3, kernel="linear", random_state=0).fit(x[:40]).labels_
    labels = np.random.default_rng(2).integers(0, 3, 40)
    words = {"m": 1.7, "decay": 0.7, "max_iter": 3, "tol": 0.0, "warm_up": 0}
    model = stretched(3, covariance=shape, init=labels, **words)
    chunks = [x[:40], x[40:65], x[65:]]
    for chunk in chunks:
        model.partial_fit(chunk)
    T = naive.pooled(x[:40], np.ones(40), hard, shape)
    known = naive.gustafson_kessel_stream(chunks, np.eye(3)[labels], T, 1.7, 3, 0.7, shape)
    metrics = known["A"] if shape in ("full", "tied") else np.einsum("jaa->ja", known["A"])
    np.testing.assert_allclose(model.cluster_centers_, known["v"], rtol=1e-9)
    np.testing.assert_allclose(model.metrics_, metrics, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.mass_, known["N"], rtol=1e-9)
    np.testing.assert_allclose(model.objective_history_, known["history"], rtol=1e-9)


@pytest.mark.filterwarnings("ignore:.*stopped at max_iter")
@pytest.mark.parametrize("shape", ["full", "diag", "tied", "spherical"])
def test_mixtures_are_the_naive_stream(shape: str) -> None:
    x = blobs(90)
    hard = KernelKMeans(3, kernel="linear", random_state=0).fit(x[:40]).labels_
    labels = np.random.default_rng(2).integers(0, 3, 40)
    words = {"rule": "gaussian", "decay": 0.7, "max_iter": 3, "tol": 0.0, "warm_up": 0}
    model = stretched(3, covariance=shape, init=labels, **words)
    chunks = [x[:40], x[40:65], x[65:]]
    for chunk in chunks:
        model.partial_fit(chunk)
    T = naive.pooled(x[:40], np.ones(40), hard, shape)
    known = naive.mixture_stream(chunks, np.eye(3)[labels], T, 3, 0.7, shape)
    diagonals = np.einsum("jaa->ja", known["S"])
    expected = known["S"] if shape in ("full", "tied") else diagonals
    np.testing.assert_allclose(model.cluster_centers_, known["v"], rtol=1e-9)
    np.testing.assert_allclose(model.covariances_, expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.weights_, known["p"], rtol=1e-9)
    np.testing.assert_allclose(model.memberships_, known["u"], rtol=1e-7, atol=1e-9)
    assert (np.diff(model.objective_history_) < 0).all()


def test_a_mixture_in_one_chunk_is_that_of_all_rows(tmp_path: Path) -> None:
    x = blobs(300)
    same = {"init": x[:3], "search": None, "random_state": 0, "tol": 1e-8}
    batch = GaussianMixture(3, **same).fit(x)
    stream = stretched(3, rule="gaussian", warm_up=0, **same).fit(x)
    np.testing.assert_allclose(stream.memberships_, batch.memberships_, atol=1e-9)
    np.testing.assert_allclose(stream.objective_history_, batch.objective_history_[:-1])
    save(stream, tmp_path / "model")
    stream.partial_fit(x[:50])
    again = load(tmp_path / "model").partial_fit(x[:50])
    np.testing.assert_array_equal(again.memberships_, stream.memberships_)


@pytest.mark.parametrize("covariance", ["full", "diag", Covariance("full", volume="free")])
def test_one_chunk_is_the_batch_fit_from_the_same_start(covariance: Any) -> None:
    x = blobs(300)
    same = {"covariance": covariance, "init": x[:3], "search": None, "random_state": 0}
    batch = KernelKMeans(3, kernel="linear", **same).fit(x)
    stream = StreamingFuzzyCMeans(3, rule="hard", warm_up=0, **same).fit(x)
    np.testing.assert_array_equal(stream.labels_, batch.labels_)
    np.testing.assert_allclose(stream.metrics_, batch.metrics_, rtol=1e-9)
    if not isinstance(covariance, Covariance):
        soft = FuzzyCMeans(3, m=1.5, **same).fit(x)
        stream = StreamingFuzzyCMeans(3, m=1.5, warm_up=0, **same).fit(x)
        np.testing.assert_allclose(stream.memberships_, soft.memberships_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("words", [{"m": 1.5}, {"rule": "gaussian"}])
def test_labels_of_rows_are_kept_and_name_clusters(words: dict[str, Any]) -> None:
    """As in the batch fit of one chunk; further chunks keep the numbers."""
    x, kinds = blobs(300), np.arange(300) % 3
    told = np.where(np.arange(300) % 5 == 0, (kinds + 1) % 3, -1)
    same = {"init": x[[2, 0, 1]], "search": None, "random_state": 0}
    gaussian = "rule" in words
    batch = GaussianMixture(3, tol=1e-6, **same) if gaussian else None
    batch = batch or FuzzyCMeans(3, covariance="full", tol=1e-6, **same, **words)
    batch.fit(x[:200], known_labels=told[:200], label_strength=0.8)
    stream = stretched(3, warm_up=0, tol=1e-6, **same, **words)
    stream.partial_fit(x[:200], known_labels=told[:200], label_strength=0.8)
    np.testing.assert_allclose(stream.memberships_, batch.memberships_, atol=1e-8)
    np.testing.assert_allclose(stream.objective_history_, batch.objective_history_[:-1])
    stream.partial_fit(x[200:], known_labels=told[200:])
    known = told[200:] >= 0
    np.testing.assert_array_equal(stream.labels_[known], told[200:][known])
    assert (stream.labels_ == (kinds[200:] + 1) % 3).mean() > 0.9
    # what is known of rows is among the sums that travel
    assert stream.mass_.sum() == pytest.approx(300.0) if gaussian else True


@pytest.mark.parametrize(
    "words", [{}, {"rule": "hard"}, {"rule": "gaussian", "covariance": "diag"}]
)
def test_crossing_clusters(words: dict[str, Any]) -> None:
    x, kinds = cross(600)
    plain = fed(StreamingFuzzyCMeans(2, random_state=0), x, 200)
    assert adjusted_rand_score(kinds, plain.predict(x)) < 0.2
    assert adjusted_rand_score(kinds, fed(stretched(2, **words), x, 200).predict(x)) > 0.8


def test_old_directions_are_forgotten() -> None:
    """Clusters that turn by a right angle keep their numbers."""
    turning = [cross(200, seed, angle) for seed, angle in enumerate(np.linspace(0, np.pi / 2, 12))]
    first, last = turning[0], turning[-1]
    for decay, right in ((1.0, False), (0.3, True)):
        model = stretched(2, decay=decay).partial_fit(first[0])
        number = model.predict([[13.0, -5.0]])[0]
        for x, _ in turning[1:]:
            model.partial_fit(x)
        agreeing = np.mean((model.labels_ == number) == (last[1] == 0))
        assert (agreeing > 0.9) == right


def test_merged_streams_have_the_moments_of_both() -> None:
    x, kinds = cross(1200)
    one, other = (fed(stretched(2, rule="hard"), part, 250) for part in (x[:500], x[500:]))

    def moments(model: Any) -> np.ndarray:
        """About the origin, of all clusters together: no pairing decides these."""
        past, points = model._stream.past, model.cluster_centers_
        return past.scatter.values.sum(axis=0) + (past.mass[:, None] * points).T @ points

    def target(model: Any) -> np.ndarray:
        shrinkage = model._stream.past.scatter.step.shrinkage
        return shrinkage.columns.outwards(shrinkage.target)

    total = moments(one) + moments(other)
    mean = (5.0 * target(one) + 7.0 * target(other)) / 12.0
    one.merge(other)
    np.testing.assert_allclose(moments(one), total)
    np.testing.assert_allclose(target(one), mean)
    assert one.mass_.sum() == pytest.approx(1200)
    assert adjusted_rand_score(kinds, one.predict(x)) > 0.8


def test_streams_of_other_shapes_do_not_merge() -> None:
    x, _ = cross(120)
    full, diagonal = (stretched(2, m=1.5, covariance=name).fit(x) for name in ("full", "diag"))
    for other in (diagonal, StreamingFuzzyCMeans(2, m=1.5, random_state=0).fit(x)):
        with pytest.raises(ValueError, match="the other stream's covariance is"):
            full.merge(other)


def test_a_stream_goes_on_from_a_file(tmp_path: Path) -> None:
    x, _ = cross(300)
    words = {"rule": "hard", "decay": 0.9, "warm_up": 60}
    whole = fed(stretched(2, **words), x, 50)
    begun = fed(stretched(2, **words), x[:100], 50)
    save(begun, tmp_path / "begun.safetensors")
    ended = fed(load(tmp_path / "begun.safetensors"), x[100:], 50)
    for name in ("metrics_", "cluster_centers_", "mass_", "objective_history_"):
        np.testing.assert_array_equal(getattr(ended, name), getattr(whole, name))


def test_threads_and_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    x, _ = cross(400)
    limited(monkeypatch, block_rows=64, tasks=5)
    one, two, five = (
        stretched(2, rule="hard", chunk_size=200, n_jobs=jobs).fit(x) for jobs in (1, 2, 5)
    )
    np.testing.assert_array_equal(one.metrics_, two.metrics_)
    np.testing.assert_array_equal(one.metrics_, five.metrics_)
    weight = np.random.default_rng(1).integers(1, 4, 300)
    given = {"init": x[:2], "warm_up": 0, "search": None, "m": 1.5}
    weighted = stretched(2, **given).fit(x[:300], sample_weight=weight)
    copies = stretched(2, **given).fit(np.repeat(x[:300], weight, axis=0))
    np.testing.assert_allclose(weighted.metrics_, copies.metrics_, rtol=1e-6)


def test_single_precision() -> None:
    """Moments are about centres as they are rounded, those of the past too."""
    x, _ = cross(300)
    x = x.astype(np.float32)
    words = {"rule": "hard", "init": x[:2], "search": None}
    single, double = (fed(stretched(2, **words), rows, 100) for rows in (x, x.astype(float)))
    assert single.cluster_centers_.dtype == np.float32
    np.testing.assert_allclose(single.metrics_, double.metrics_, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"noise": "auto"}, "leave out covariance=, or noise="),
        ({"rule": "gaussian", "noise": "auto"}, "take noise=None, or GaussianMixture"),
        ({"rule": "gaussian", "covariance": None}, "Gaussians have covariances; take"),
        ({"kernel": "rbf"}, "covariances among rows as they are"),
        ({"landmarks": 30}, "not over landmarks; leave one out"),
        ({"covariance": Covariance(volume="free")}, "hard and entropy rules alone allow"),
    ],
)
def test_what_does_not_go_together(words: dict[str, Any], said: str) -> None:
    x, _ = cross(100)
    for take in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=said):
            getattr(stretched(2, **words), take)(x)


def test_columns_of_one_value_are_left_out_and_told() -> None:
    x, kinds = cross(300)
    with pytest.warns(DataWarning, match="same value in column 2"):
        model = stretched(2).partial_fit(np.c_[x, np.ones(300)])
    assert adjusted_rand_score(kinds, model.labels_) > 0.8
    model.partial_fit(np.c_[x, np.ones(300)])
