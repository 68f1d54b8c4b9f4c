"""What rows may come as, and what comes back: dtypes, memory orders, sparse matrices, frames, other array libraries."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from cmeans import CMeans, FuzzyCMeans, KernelKMeans, PossibilisticCMeans, TwoStepKernelKMeans

ESTIMATORS = (KernelKMeans, TwoStepKernelKMeans, FuzzyCMeans, PossibilisticCMeans, CMeans)
SPACES = {
    "euclidean": {"kernel": "linear"},
    "exact": {"gamma": "median", "n_landmarks": None},
    "landmarks": {"gamma": "median", "n_landmarks": 20},
    "gradient": {"gamma": "median", "n_landmarks": 20, "landmark_solver": "gradient"},
    "polynomial": {"kernel": "polynomial", "degree": 2, "n_landmarks": 20},
    "laplacian": {"kernel": "laplacian", "gamma": 0.5, "n_landmarks": 20},
}
over_estimators = pytest.mark.parametrize("estimator", ESTIMATORS)
over_spaces = pytest.mark.parametrize("space", SPACES)


@pytest.fixture(scope="module")
def X():
    """Three blobs of 40, with many zeros so that CSR means something."""
    X, _ = make_blobs(120, centers=[[0, 0, 4, 0, 1], [4, 0, 0, 0, 1], [0, 3, 0, 3, 0]], cluster_std=0.5, random_state=0)
    return np.where(np.abs(X) < 0.3, 0.0, X)


def fitted(estimator, space, X, **words):
    return estimator(3, random_state=0, **{**SPACES[space], **words}).fit(X)


def same_result(model, other, rtol=1e-9, atol=1e-6):
    np.testing.assert_array_equal(np.asarray(model.labels_), np.asarray(other.labels_))
    np.testing.assert_allclose(np.asarray(model.memberships_), np.asarray(other.memberships_), atol=atol)
    assert model.objective_ == pytest.approx(other.objective_, rel=rtol)


# ------------------------------------------------------------------------------------------------------------- lists and dtypes


@over_estimators
@over_spaces
def test_lists(estimator, space, X):
    model, other = fitted(estimator, space, X.tolist()), fitted(estimator, space, X)
    same_result(model, other, rtol=0, atol=0)
    np.testing.assert_array_equal(model.predict(X.tolist()), other.predict(X))


@over_estimators
@over_spaces
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_float32_stays_float32(estimator, space, form, X):
    model = fitted(estimator, space, form(X.astype(np.float32)))
    rows = form(X[:7].astype(np.float32))
    arrays = [model.memberships_, model.transform(rows), model.memberships(rows), model.outlier_score(rows)]
    arrays += [model.cluster_centers_] if space == "euclidean" else [model.landmarks_]
    assert [a.dtype for a in arrays] == [np.float32] * len(arrays)
    assert isinstance(model.objective_, float)
    other = fitted(estimator, space, form(X))
    assert other.memberships_.dtype == np.float64
    same_result(model, other, rtol=1e-4, atol=5e-3)


@over_estimators
@pytest.mark.parametrize("space", ["euclidean", "landmarks"])
def test_a_model_in_float64_takes_float32_rows_and_the_other_way_round(estimator, space, X):
    small = X.astype(np.float32)
    wide, narrow = fitted(estimator, space, X), fitted(estimator, space, small)
    assert wide.transform(small).dtype == np.float32
    assert narrow.transform(X).dtype == np.float64
    np.testing.assert_array_equal(wide.predict(small), wide.labels_)
    np.testing.assert_array_equal(narrow.predict(X), narrow.labels_)


@over_estimators
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, np.bool_, np.float16, np.longdouble])
def test_other_numbers_become_float64(estimator, dtype, X):
    whole = np.abs(X > 1 if dtype is np.bool_ else X.round()).astype(dtype)
    model, other = fitted(estimator, "landmarks", whole), fitted(estimator, "landmarks", whole.astype(np.float64))
    assert model.memberships_.dtype == np.float64
    same_result(model, other, rtol=0, atol=0)


@over_estimators
@over_spaces
@pytest.mark.parametrize("order", ["fortran", "strided", "negative", "readonly"])
def test_memory_order_changes_nothing(estimator, space, order, X):
    if order == "fortran":
        Y = np.asfortranarray(X)
    elif order == "strided":
        Y = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    elif order == "negative":
        Y = np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    else:
        Y = X.copy()
        Y.flags.writeable = False
    before = Y.copy()
    same_result(fitted(estimator, space, Y), fitted(estimator, space, X))
    np.testing.assert_array_equal(Y, before)


# -------------------------------------------------------------------------------------------------------------- memory maps


@over_estimators
@over_spaces
def test_a_read_only_memory_map(estimator, space, X, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    model = fitted(estimator, space, mapped)
    same_result(model, fitted(estimator, space, X), rtol=0, atol=0)
    np.testing.assert_array_equal(model.predict(mapped), model.labels_)


@pytest.mark.parametrize("words", [{"kernel": "linear"}, {"landmarks": np.arange(0, 20_000, 1000), "gamma": 1e-3}])
def test_a_memory_map_is_not_copied(words, tmp_path):
    rows = np.random.default_rng(0).normal(size=(20_000, 250))
    np.save(tmp_path / "rows.npy", rows)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    model = KernelKMeans(2, init=np.array([0, 1]), max_iter=2, n_jobs=1, memory_budget="128MB", **words)
    tracemalloc.start()
    try:
        with pytest.warns(ConvergenceWarning):
            model.fit(mapped)
        model.predict(mapped)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert rows.nbytes == 40_000_000
    assert peak < 20_000_000


# -------------------------------------------------------------------------------------------------------------------- sparse


def csr(X, kind=sparse.csr_array, index=np.int32, dtype=np.float64):
    out = kind(X.astype(dtype))
    out.indices, out.indptr = out.indices.astype(index), out.indptr.astype(index)
    return out


@over_estimators
@over_spaces
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_csr_equals_dense(estimator, space, kind, index, X):
    rows = csr(X, kind, index)
    model, dense = fitted(estimator, space, rows), fitted(estimator, space, X)
    same_result(model, dense)
    np.testing.assert_allclose(model.transform(rows), dense.transform(X), atol=1e-6)
    assert isinstance(model.memberships_, np.ndarray)
    if space == "euclidean":
        np.testing.assert_allclose(model.cluster_centers_, dense.cluster_centers_, atol=1e-9)
    else:
        assert sparse.issparse(model.landmarks_)
        assert model.landmarks_.format == "csr"
        np.testing.assert_array_equal(model.landmarks_.toarray(), dense.landmarks_)


@over_estimators
@over_spaces
def test_dense_rows_on_a_model_of_sparse_ones_and_the_other_way_round(estimator, space, X):
    rows = csr(X)
    model, dense = fitted(estimator, space, rows), fitted(estimator, space, X)
    for one in (model, dense):
        np.testing.assert_array_equal(one.predict(X), one.labels_)
        np.testing.assert_array_equal(one.predict(rows), one.labels_)
        np.testing.assert_allclose(one.memberships(rows), one.memberships(X), atol=1e-6)
        np.testing.assert_allclose(one.transform(rows), one.transform(X), atol=1e-6)


@over_estimators
@pytest.mark.parametrize("space", ["euclidean", "exact", "landmarks"])
@pytest.mark.parametrize("kind", [sparse.csc_array, sparse.coo_matrix, sparse.lil_array])
def test_other_sparse_formats(estimator, space, kind, X):
    same_result(fitted(estimator, space, kind(X)), fitted(estimator, space, X))


@over_estimators
@pytest.mark.parametrize("space", ["euclidean", "exact", "landmarks"])
def test_untidy_csr_means_what_it_says_and_is_left_alone(estimator, space, X):
    """Entries out of order, in two parts, or stored though zero."""
    tidy = csr(X)
    entries = [(i, j, v) for i, row in enumerate(X) for j, v in enumerate(row)]  # zeros too
    entries = [e for i, j, v in entries for e in ((i, j, v / 2), (i, j, v / 2))]
    entries.sort(key=lambda e: (e[0], -e[1]))
    rows, columns, values = (np.array(part) for part in zip(*entries, strict=True))
    untidy = sparse.csr_array((values, columns, np.searchsorted(rows, np.arange(len(X) + 1))), shape=X.shape)
    before = untidy.copy()
    same_result(fitted(estimator, space, untidy), fitted(estimator, space, tidy))
    np.testing.assert_array_equal(untidy.indices, before.indices)
    np.testing.assert_array_equal(untidy.data, before.data)


@over_estimators
def test_sparse_landmarks_for_dense_rows_and_the_other_way_round(estimator, X):
    if estimator is TwoStepKernelKMeans:
        pytest.skip("its landmarks are rows of the sample")
    words = {"kernel": "rbf", "gamma": 0.1, "init": np.array([0, 1, 2])}
    given = estimator(3, landmarks=X[::10], **words).fit(X)
    same_result(estimator(3, landmarks=sparse.csr_array(X[::10]), **words).fit(X), given)
    for points in (X[::10], sparse.csr_array(X[::10])):
        model = estimator(3, landmarks=points, **words).fit(csr(X))
        same_result(model, given)
        assert sparse.issparse(model.landmarks_)


# -------------------------------------------------------------------------------------------------------------------- frames

NAMES = ["a", "b", "c", "d", "e"]
FRAMES = {"pandas": lambda X, names=NAMES: pd.DataFrame(X, columns=names), "polars": lambda X, names=NAMES: pl.DataFrame(X, schema=names)}
over_frames = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


@over_estimators
@over_frames
def test_frames(estimator, frame, X):
    model = fitted(estimator, "landmarks", frame(X))
    assert model.feature_names_in_.tolist() == NAMES
    assert model.n_features_in_ == 5
    same_result(model, fitted(estimator, "landmarks", X), rtol=0, atol=0)
    np.testing.assert_array_equal(model.predict(frame(X)), model.labels_)


@over_frames
@pytest.mark.parametrize("method", ["predict", "transform", "predict_proba", "memberships", "score", "outlier_score"])
def test_other_names_are_refused(frame, method, X):
    model = fitted(FuzzyCMeans, "landmarks", frame(X))
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*seen at fit time.*- e"):
        getattr(model, method)(frame(X, ["a", "b", "c", "d", "z"]))
    with pytest.raises(ValueError, match=r"(?s)feature names .*order"):
        getattr(model, method)(frame(X, NAMES[::-1]))


def test_names_on_one_side_only_are_warned_of(X):
    frame = FRAMES["pandas"](X)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        fitted(KernelKMeans, "landmarks", frame).predict(X)
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        fitted(KernelKMeans, "landmarks", X).predict(frame)


def test_a_refit_without_names_forgets_them(X):
    model = fitted(KernelKMeans, "landmarks", FRAMES["pandas"](X))
    assert not hasattr(model.fit(X), "feature_names_in_")


def test_a_frame_of_several_numeric_types(X):
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1].astype(np.float32), "c": X[:, 2].round().astype(int), "d": X[:, 3] > 1})
    expected = frame.astype(np.float64).to_numpy()
    same_result(fitted(FuzzyCMeans, "landmarks", frame), fitted(FuzzyCMeans, "landmarks", expected), rtol=0, atol=0)
    same_result(fitted(FuzzyCMeans, "landmarks", pl.from_pandas(frame)), fitted(FuzzyCMeans, "landmarks", expected), rtol=0, atol=0)


@over_estimators
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output(estimator, library, X):
    rows = FRAMES[library](X)
    model = estimator(3, gamma="median", random_state=0).set_output(transform=library).fit(rows)
    distances = model.transform(rows)
    columns = [f"{estimator.__name__.lower()}{j}" for j in range(3)]
    assert isinstance(distances, {"pandas": pd.DataFrame, "polars": pl.DataFrame}[library])
    assert list(distances.columns) == columns == model.get_feature_names_out().tolist()
    np.testing.assert_array_equal(distances.to_numpy(), model.set_output(transform="default").transform(rows))
    assert isinstance(model.predict(rows), np.ndarray)


def test_set_output_keeps_the_index(X):
    frame = FRAMES["pandas"](X).set_index(np.arange(len(X)) * 7 + 3)
    model = KernelKMeans(3, kernel="linear", random_state=0).set_output(transform="pandas").fit(frame)
    assert model.transform(frame).index.equals(frame.index)
    assert model.fit_transform(frame).index.equals(frame.index)
