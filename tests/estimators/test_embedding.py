"""The embedding in a landmark graph's eigenvectors, as a transformer."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import cmeans
import naive_graph
from cmeans import LandmarkGraph, Landmarks
from contracts.arrays import as_form, on_host
from file_formats import npy
from limited import limited

pytestmark = pytest.mark.slow

MOONS, HALF = make_moons(900, noise=0.06, random_state=0)


def expected_failures(estimator):
    """Checks with four different rows, of which no graph of five neighbours can be made."""
    four = ("check_sample_weights_shape", "check_sample_weights_not_overwritten")
    return dict.fromkeys(four, "four different rows") if estimator.n_neighbors > 3 else {}


@pytest.mark.filterwarnings(
    "ignore:.*parts that nothing joins:UserWarning", "ignore:.*of the graph are equal:UserWarning"
)
@parametrize_with_checks(
    [
        LandmarkGraph(),
        LandmarkGraph(2, n_neighbors=2),
        LandmarkGraph(3, n_neighbors=1, landmarks=Landmarks(method="uniform"), normalized=True),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("normalized", [False, True])
def test_features_are_the_eigenvectors_of_the_dense_graph(normalized):
    X, new = MOONS[:150], MOONS[150:200]
    w = np.random.default_rng(0).uniform(0.5, 3, size=150)
    model = LandmarkGraph(3, landmarks=X[::5], n_neighbors=4, width=0.4, normalized=normalized)
    fitted = model.fit_transform(X, sample_weight=w)
    z, other = (naive_graph.landmark_weights(rows, X[::5], 4, 0.4) for rows in (X, new))
    values, e, at_new = naive_graph.features(
        z, naive_graph.graph_weights(X, X[::5], 4, w), w, 3, other
    )
    if normalized:
        e, at_new = (rows / np.linalg.norm(rows, axis=1)[:, None] for rows in (e, at_new))
    np.testing.assert_allclose(model.eigenvalues_, values[: len(model.eigenvalues_)], atol=1e-12)
    signs = np.sign((fitted * e).sum(axis=0))
    np.testing.assert_allclose(fitted, e * signs, atol=1e-9)
    np.testing.assert_allclose(model.transform(new), at_new * signs, atol=1e-9)


def test_it_is_the_embedding_that_estimators_use():
    embedding = LandmarkGraph(2, landmarks=200, random_state=3).fit(MOONS)
    model = cmeans.KernelKMeans(2, kernel="landmark_graph", landmarks=200, random_state=3).fit(
        MOONS
    )
    assert embedding.kernel_ == model.kernel_
    assert embedding.n_clusters_suggested_ == model.n_clusters_suggested_
    np.testing.assert_array_equal(embedding.landmarks_, model.landmarks_)
    assert cmeans.KernelKMeans(2, kernel=embedding.kernel_, random_state=0).fit(
        MOONS
    ).objective_ == pytest.approx(model.objective_)


@pytest.mark.parametrize(
    ("form", "dtype"),
    [
        ("torch", "float64"),
        ("array_api_strict", "float64"),
        ("csr", "float64"),
        ("numpy", "float32"),
    ],
)
def test_rows_of_any_form(form, dtype):
    X = as_form(MOONS, form, dtype)
    model = LandmarkGraph(2, landmarks=MOONS[::9])
    at_once, later = model.fit_transform(X), model.transform(X)
    assert str(later.dtype).endswith(dtype)
    np.testing.assert_array_equal(on_host(at_once), on_host(later))
    plain = LandmarkGraph(2, landmarks=MOONS[::9]).fit_transform(MOONS)
    np.testing.assert_allclose(
        np.abs(on_host(later)), np.abs(plain), atol=1e-9 if dtype == "float64" else 1e-2
    )


def test_files_threads_and_parts_of_the_rows_change_no_bit(tmp_path, monkeypatch):
    limited(monkeypatch, loaded_bytes=0, canonical_rows=100)
    path = npy(tmp_path, MOONS)
    words = {"landmarks": 150, "random_state": 0}
    one = LandmarkGraph(3, **words, n_jobs=1).fit(MOONS)
    features = one.transform(MOONS)
    np.testing.assert_array_equal(
        LandmarkGraph(3, **words, n_jobs=2).fit_transform(MOONS), features
    )
    np.testing.assert_array_equal(LandmarkGraph(3, **words).fit_transform(path), features)
    np.testing.assert_array_equal(one.transform(path), features)
    np.testing.assert_array_equal(one.transform(MOONS[::7]), features[::7])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).transform(MOONS), features)


@pytest.mark.parametrize("landmarks", [MOONS[::9], Landmarks(method="k-means")])
def test_a_weight_counts_copies(landmarks):
    copies = np.random.default_rng(2).integers(0, 4, size=400)
    rows = np.repeat(np.arange(400), copies)
    weighted = LandmarkGraph(2, landmarks=landmarks, random_state=0).fit_transform(
        MOONS[:400], sample_weight=copies
    )
    repeated = LandmarkGraph(2, landmarks=landmarks, random_state=0).fit_transform(
        MOONS[:400][rows]
    )
    # whatever the axes of a tie
    np.testing.assert_allclose(weighted[rows] @ weighted[rows].T, repeated @ repeated.T, atol=1e-7)


def test_in_a_pipeline():
    pipeline = make_pipeline(
        LandmarkGraph(2, landmarks=300, random_state=0), KMeans(2, n_init=3, random_state=0)
    )
    assert adjusted_rand_score(HALF, pipeline.fit_predict(MOONS)) > 0.99
    assert pipeline[0].get_feature_names_out().tolist() == ["landmarkgraph0", "landmarkgraph1"]


@pytest.mark.parametrize("form", ["numpy", "csr"])
def test_it_is_saved_and_read(form, tmp_path):
    X = as_form(MOONS, form, "float32")
    model = LandmarkGraph(3, landmarks=MOONS[::9], width=0.3, falloff=2.0).fit(X)
    cmeans.save(model, tmp_path / "graph.safetensors", metadata={"of": "moons"})
    again = cmeans.load(tmp_path / "graph.safetensors")
    assert set(vars(again)) == set(vars(model))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.eigenvalues_, model.eigenvalues_)
    assert again.falloff == 2.0
    frame = pd.DataFrame(MOONS, columns=["east", "north"])
    cmeans.save(LandmarkGraph(2, landmarks=MOONS[::9]).fit(frame), tmp_path / "named.safetensors")
    assert cmeans.load(tmp_path / "named.safetensors").feature_names_in_.tolist() == [
        "east",
        "north",
    ]
    del again.landmarks_
    cmeans.save(again, tmp_path / "less.safetensors")
    with pytest.raises(ValueError, match=r"landmarks_'. missing"):
        cmeans.load(tmp_path / "less.safetensors")
    again.landmarks_, again.n_features_in_ = model.landmarks_, 3
    cmeans.save(again, tmp_path / "other.safetensors")
    with pytest.raises(ValueError, match="LandmarkGraphKernel is no graph of 3 features"):
        cmeans.load(tmp_path / "other.safetensors")


BAD = {
    "n_components": ({"n_components": 0}, "n_components must be a whole number of at least 1"),
    "n_landmarks": ({"landmarks": None}, r"landmarks=None\): the graph is made over landmarks"),
    "more landmarks than rows": ({"landmarks": 101}, "there are only n_samples=100 rows"),
    "landmarks": (
        {"landmarks": Landmarks(method="rpcholesky")},
        "a graph has landmarks before it is a kernel",
    ),
    "n_neighbors": ({"n_neighbors": 0}, r"LandmarkGraph\(n_neighbors=0\): give a whole number"),
    "width": ({"width": "mean"}, r"width='mean'\): give a positive number"),
    "normalized": ({"normalized": 2}, r"normalized=2\): give True or False"),
    "random_state": ({"random_state": "a"}, "random_state='a'"),
    "more neighbours than landmarks": (
        {"landmarks": 4},
        "n_components=8.: the graph joins .* Set landmarks to at least 5",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_parameters(name):
    words, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        LandmarkGraph(**words).fit(MOONS[:100])


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = LandmarkGraph(2, landmarks=MOONS[::9]).fit(MOONS)
    before = model.transform(MOONS)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full((50, 3), np.nan))
    np.testing.assert_array_equal(model.transform(MOONS), before)


def test_more_parts_than_components():
    far = np.concatenate([MOONS[:200] + 50 * part for part in range(4)])
    with pytest.warns(
        UserWarning,
        match=r"LandmarkGraph\(n_components=2\): the graph falls into .* parts that nothing joins",
    ):
        LandmarkGraph(2, landmarks=300, random_state=0).fit(far)
