"""What rows may come as, and what comes back: dtypes, memory orders, sparse matrices, frames, other
array libraries."""

from __future__ import annotations

import copy
import io
import logging
import pickle
import tracemalloc
from functools import cache, partial

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import every_estimator
from cmeans import (
    AdaptivePossibilisticCMeans,
    CMeans,
    FuzzyCMeans,
    KernelKMeans,
    KernelPatchClustering,
    Landmarks,
    PossibilisticCMeans,
    Search,
    SequentialPossibilisticCMeans,
    StreamingFuzzyCMeans,
    ThreadEngine,
    TwoStepKernelKMeans,
)
from cmeans.data.blocks import Blocks
from cmeans.fitting.weights import read_weights
from cmeans.kernels import Polynomial, Precomputed
from cmeans.metrics import match_labels
from cmeans.papers import GradientLandmarks, StreamingKernelFCM
from cmeans.rules import Fuzzy
from cmeans.runtime.progress import listening
from cmeans.sampling.population import population_of, sample
from contracts.arrays import strict_array, torch_tensor
from every_estimator import CLASSES, told, without
from notebook import Notebook, with_callbacks
from sweep_choices import often, once, pairs

pytestmark = pytest.mark.slow

FINDING = tuple(CLASSES[name] for name in every_estimator.FINDING)
STREAMS = tuple(CLASSES[name] for name in every_estimator.STREAMS)  # in chunks of half the rows
EVERYBODY = tuple(CLASSES[name] for name in every_estimator.SWEPT)
# Those that take CSR rows and kernels.
OF_KERNELS = tuple(CLASSES[name] for name in every_estimator.NAMES)
# Those with sweeps over all rows that can be watched one by one, and spaces of all kinds.
ESTIMATORS = tuple(
    CLASSES[name]
    for name in without(every_estimator.SWEPT, *every_estimator.STREAMS, "ProbabilisticKMeans")
)
# And a run a start.
OF_A_RUN = tuple(one for one in ESTIMATORS if one in OF_KERNELS)
SPACES = {
    "euclidean": {"kernel": "linear"},
    "exact": {"kernel": "rbf", "gamma": "median", "landmarks": None},
    "landmarks": {"kernel": "rbf", "gamma": "median", "landmarks": 20},
    "gradient": {"kernel": "rbf", "gamma": "median", "landmarks": GradientLandmarks(20)},
    "polynomial": {"kernel": Polynomial(degree=2), "landmarks": 20},
    "laplacian": {"kernel": "laplacian", "gamma": 0.1, "landmarks": 20},
}
PROJECTED = {  # spaces that streams have chunk by chunk, those of the papers
    "exact": {"kernel": "rbf", "gamma": "median"},
    "gradient": {"kernel": "rbf", "gamma": "median", "projection": "gradient"},
}
MAIN_SPACES = ("euclidean", "exact", "landmarks")
over_estimators = pytest.mark.parametrize("estimator", ESTIMATORS)
over_runs = pytest.mark.parametrize("estimator", OF_A_RUN)
over_everybody = pytest.mark.parametrize("estimator", EVERYBODY)
over_spaces = pytest.mark.parametrize("space", SPACES)
over_main_spaces = pytest.mark.parametrize("space", MAIN_SPACES)


@cache
def blobs():
    """Three blobs of 40, with many zeros so that CSR means something."""
    X, _ = make_blobs(
        120,
        centers=[[0, 0, 4, 0, 1], [4, 0, 0, 0, 1], [0, 3, 0, 3, 0]],
        cluster_std=0.5,
        random_state=0,
    )
    return np.where(np.abs(X) < 0.3, 0.0, X)


@pytest.fixture
def X():
    return blobs()


def words_of(estimator, space, **words):
    # Rough kernels see wide clusters, and wide possibilistic ones fall together.
    # m: a smaller one makes much of rounding
    own = {"m": 2, "eta_scale": 0.2} if estimator is PossibilisticCMeans else {}
    if estimator in FINDING:
        # one scale, few trials
        short = (
            {"pilot_m": "auto", "alpha": 1}
            if estimator is AdaptivePossibilisticCMeans
            else {"patience": 1}
        )
        own = {"kernel": "rbf", "sparsity": 0, **short}
    if estimator in STREAMS:
        of_streams = {"n_init": 1, **PROJECTED.get(space, SPACES[space]), **words}
        if estimator is StreamingFuzzyCMeans:
            return {"random_state": 0, "chunk_size": 60, **of_streams}
        known = KernelPatchClustering().get_params()
        return {
            "random_state": 0,
            "patch_size": 60,
            "n_points": 4,
            **{word: value for word, value in of_streams.items() if word in known},
        }
    if "kernel" not in every_estimator.PARAMETERS.get(estimator.__name__, ("kernel",)):
        own = every_estimator.known(estimator, words)
        return {"random_state": 0, **own}  # of plain rows, whatever the space
    # its sample has no solver
    of_space = SPACES[
        "landmarks" if estimator is TwoStepKernelKMeans and space == "gradient" else space
    ]
    return {"random_state": 0, **own, **of_space, **words}


def fitted(estimator, space, X, sample_weight=None, **words):
    make = (
        StreamingKernelFCM
        if estimator is StreamingFuzzyCMeans and space in PROJECTED
        else estimator
    )
    return make(told(make, 3), **words_of(estimator, space, **words)).fit(
        X, sample_weight=sample_weight
    )


@cache
def plain(estimator, space, form=np.asarray):
    """The fit of the rows as they are, which many tests compare with and none may change."""
    return fitted(estimator, space, form(blobs()))


def same_result(model, other, rtol=1e-9, atol=1e-6):
    np.testing.assert_array_equal(np.asarray(model.labels_), np.asarray(other.labels_))
    np.testing.assert_allclose(
        np.asarray(model.memberships_), np.asarray(other.memberships_), atol=atol
    )
    assert model.objective_ == pytest.approx(other.objective_, rel=rtol)


# --------------------------------------------------------------------------------- lists and dtypes


@pytest.mark.parametrize(("estimator", "space"), once(EVERYBODY, MAIN_SPACES))
def test_lists_of_lists_are_arrays(estimator, space, X):
    model, other = fitted(estimator, space, X.tolist()), plain(estimator, space)
    same_result(model, other, rtol=0, atol=0)
    np.testing.assert_array_equal(model.predict(X.tolist()), other.predict(X))


@pytest.mark.parametrize(
    ("estimator", "space", "form"), often(2, OF_KERNELS, SPACES, [np.asarray, sparse.csr_array])
)
def test_float32_stays_float32(estimator, space, form, X):
    model = fitted(estimator, space, form(X.astype(np.float32)))
    rows = form(X[:7].astype(np.float32))
    arrays = [
        model.memberships_,
        model.transform(rows),
        model.memberships(rows),
        model.outlier_score(rows),
    ]
    arrays += [model.cluster_centers_ if hasattr(model, "cluster_centers_") else model.landmarks_]
    assert [a.dtype for a in arrays] == [np.float32] * len(arrays)
    assert isinstance(model.objective_, float)
    other = plain(estimator, space, form)
    assert other.memberships_.dtype == np.float64
    same_result(model, other, rtol=1e-4, atol=5e-3)


@over_everybody
@pytest.mark.parametrize("space", ["euclidean", "landmarks"])
def test_a_model_in_float64_takes_float32_rows_and_the_other_way_round(estimator, space, X):
    small = X.astype(np.float32)
    wide, narrow = plain(estimator, space), fitted(estimator, space, small)
    assert wide.transform(small).dtype == np.float32
    assert narrow.transform(X).dtype == np.float64
    np.testing.assert_array_equal(wide.predict(small), wide.labels_)
    np.testing.assert_array_equal(narrow.predict(X), narrow.labels_)


@pytest.mark.filterwarnings("ignore:.*narrower than the steps")  # of two values or few
@pytest.mark.parametrize(
    ("estimator", "dtype"), once(EVERYBODY, [np.int64, np.uint16, np.bool_, np.longdouble])
)
def test_other_numbers_become_float64(estimator, dtype, X):
    whole = np.abs(X > 1 if dtype is np.bool_ else X.round()).astype(dtype)
    model, other = (
        fitted(estimator, "landmarks", whole),
        fitted(estimator, "landmarks", whole.astype(np.float64)),
    )
    assert model.memberships_.dtype == np.float64
    same_result(model, other, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("estimator", "space", "order"),
    often(2, EVERYBODY, MAIN_SPACES, ["fortran", "strided", "negative", "readonly"]),
)
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
    same_result(fitted(estimator, space, Y), plain(estimator, space))
    np.testing.assert_array_equal(Y, before)


def moves_back(estimator, space, _):
    """Centres of patches are points in a kernel's space: nothing moves a linear one back."""
    return (estimator, space) != (KernelPatchClustering, "euclidean")


@pytest.mark.parametrize(
    ("estimator", "space", "offset"), pairs(EVERYBODY, MAIN_SPACES, [1e4, 1e9], allowed=moves_back)
)
def test_rows_far_from_the_origin(estimator, space, offset, X):
    """Time stamps have nine digits before those that matter."""
    width = {} if space == "euclidean" else {"gamma": 0.03}
    moved, here = (fitted(estimator, space, rows, **width) for rows in (X + offset, X))
    same_result(moved, here, rtol=1e-5, atol=1e-4)


# -------------------------------------------------------------------------------------- memory maps


@pytest.mark.parametrize(("estimator", "space"), once(EVERYBODY, MAIN_SPACES))
def test_a_read_only_memory_map(estimator, space, X, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    model = fitted(estimator, space, mapped)
    same_result(model, plain(estimator, space), rtol=0, atol=0)
    np.testing.assert_array_equal(model.predict(mapped), model.labels_)


@pytest.mark.filterwarnings("ignore:.*stopped at max_iter:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "words",
    [
        {"kernel": "linear"},
        {"kernel": "rbf", "landmarks": np.arange(0, 40_000, 2000), "gamma": 1e-3},
    ],
)
def test_a_memory_map_is_not_copied(words, tmp_path):
    rows = np.random.default_rng(0).normal(size=(40_000, 250))
    np.save(tmp_path / "rows.npy", rows)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    model = KernelKMeans(
        2,
        init=np.array([0, 1]),
        max_iter=2,
        engine=ThreadEngine(n_jobs=1, memory_budget="256MB"),
        **words,
    )
    # what is compiled is compiled now: the compiler's memory is not that of a fit
    model.fit(mapped)
    tracemalloc.start()
    try:
        model.fit(mapped)
        model.predict(mapped)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert rows.nbytes == 80_000_000
    assert peak < 40_000_000


def test_weights_that_nobody_gave_take_no_memory():
    """Nor does who may be drawn, where everybody may."""
    n, rows = 1_000_000, np.zeros((1_000_000, 1), np.float32)
    tracemalloc.start()
    try:
        blocks = Blocks(rows, *read_weights(None, n, "test")[:1])
        people = population_of(blocks)
        sample(people, 1000, np.random.RandomState(0))
        positions, _ = people.fixed_sample
        chosen = blocks.take(people.at(positions))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200_000
    np.testing.assert_array_equal(chosen.weight, 1.0)
    np.testing.assert_array_equal(people.rows[:3], [0, 1, 2])


# ------------------------------------------------------------------------------------------- sparse


def csr(X, kind=sparse.csr_array, index=np.int32, dtype=np.float64):
    out = kind(X.astype(dtype))
    out.indices, out.indptr = out.indices.astype(index), out.indptr.astype(index)
    return out


@pytest.mark.parametrize(
    ("estimator", "space", "kind", "index"),
    often(2, OF_KERNELS, SPACES, [sparse.csr_array, sparse.csr_matrix], [np.int32, np.int64]),
)
def test_csr_equals_dense(estimator, space, kind, index, X):
    rows = csr(X, kind, index)
    model, dense = fitted(estimator, space, rows), plain(estimator, space)
    same_result(model, dense)
    np.testing.assert_allclose(model.transform(rows), dense.transform(X), atol=1e-6)
    assert isinstance(model.memberships_, np.ndarray)
    if hasattr(dense, "cluster_centers_"):
        np.testing.assert_allclose(model.cluster_centers_, dense.cluster_centers_, atol=1e-9)
    else:
        assert sparse.issparse(model.landmarks_)
        assert model.landmarks_.format == "csr"
        # of a chunk in the order of its pivots, which a rounding may turn round
        points = model.landmarks_.toarray()
        assert {tuple(point) for point in points} == {tuple(point) for point in dense.landmarks_}
        if estimator not in STREAMS:
            np.testing.assert_array_equal(points, dense.landmarks_)


@pytest.mark.parametrize(("estimator", "space"), often(2, OF_KERNELS, SPACES))
def test_dense_rows_on_a_model_of_sparse_ones_and_the_other_way_round(estimator, space, X):
    rows = csr(X)
    model, dense = plain(estimator, space, sparse.csr_array), plain(estimator, space)
    for one in (model, dense):
        np.testing.assert_array_equal(one.predict(X), one.labels_)
        np.testing.assert_array_equal(one.predict(rows), one.labels_)
        np.testing.assert_allclose(one.memberships(rows), one.memberships(X), atol=1e-6)
        np.testing.assert_allclose(one.transform(rows), one.transform(X), atol=1e-6)


@pytest.mark.parametrize(
    ("estimator", "space", "kind"),
    once(OF_KERNELS, MAIN_SPACES, [sparse.csc_array, sparse.coo_matrix, sparse.lil_array]),
)
def test_other_sparse_formats(estimator, space, kind, X):
    same_result(fitted(estimator, space, kind(X)), plain(estimator, space))


@pytest.mark.parametrize(("estimator", "space"), once(OF_KERNELS, MAIN_SPACES))
def test_untidy_csr_means_what_it_says_and_is_left_alone(estimator, space, X):
    """Entries out of order, in two parts, or stored though zero."""
    entries = [(i, j, v) for i, row in enumerate(X) for j, v in enumerate(row)]  # zeros too
    entries = [e for i, j, v in entries for e in ((i, j, v / 2), (i, j, v / 2))]
    entries.sort(key=lambda e: (e[0], -e[1]))
    rows, columns, values = (np.array(part) for part in zip(*entries, strict=True))
    untidy = sparse.csr_array(
        (values, columns, np.searchsorted(rows, np.arange(len(X) + 1))), shape=X.shape
    )
    before = untidy.copy()
    same_result(fitted(estimator, space, untidy), plain(estimator, space, sparse.csr_array))
    np.testing.assert_array_equal(untidy.indices, before.indices)
    np.testing.assert_array_equal(untidy.data, before.data)


@over_runs
def test_sparse_landmarks_for_dense_rows_and_the_other_way_round(estimator, X):
    if estimator is TwoStepKernelKMeans:
        pytest.skip("its landmarks are rows of the sample")
    words = words_of(estimator, "euclidean", kernel="rbf", gamma=0.1)
    given = estimator(told(estimator, 3), landmarks=X[::10], **words).fit(X)
    same_result(
        estimator(told(estimator, 3), landmarks=sparse.csr_array(X[::10]), **words).fit(X), given
    )
    for points in (X[::10], sparse.csr_array(X[::10])):
        model = estimator(told(estimator, 3), landmarks=points, **words).fit(csr(X))
        same_result(model, given)
        assert sparse.issparse(model.landmarks_)


# ------------------------------------------------------------------------------------------- frames

NAMES = ["a", "b", "c", "d", "e"]
FRAMES = {
    "pandas": lambda X, names=NAMES: pd.DataFrame(X, columns=names),
    "polars": lambda X, names=NAMES: pl.DataFrame(X, schema=names),
}
over_frames = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


@over_everybody
@over_frames
def test_a_frame_is_its_values_with_names(estimator, frame, X):
    model = fitted(estimator, "landmarks", frame(X))
    assert model.feature_names_in_.tolist() == NAMES
    assert model.n_features_in_ == 5
    same_result(model, plain(estimator, "landmarks"), rtol=0, atol=0)
    np.testing.assert_array_equal(model.predict(frame(X)), model.labels_)


@over_frames
@pytest.mark.parametrize(
    "method", ["predict", "transform", "predict_proba", "memberships", "score", "outlier_score"]
)
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
    frame = pd.DataFrame(
        {
            "a": X[:, 0],
            "b": X[:, 1].astype(np.float32),
            "c": X[:, 2].round().astype(int),
            "d": X[:, 3] > 1,
        }
    )
    expected = frame.astype(np.float64).to_numpy()
    same_result(
        fitted(FuzzyCMeans, "landmarks", frame),
        fitted(FuzzyCMeans, "landmarks", expected),
        rtol=0,
        atol=0,
    )
    same_result(
        fitted(FuzzyCMeans, "landmarks", pl.from_pandas(frame)),
        fitted(FuzzyCMeans, "landmarks", expected),
        rtol=0,
        atol=0,
    )


@over_everybody
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output(estimator, library, X):
    rows = FRAMES[library](X)
    model = (
        estimator(told(estimator, 3), **words_of(estimator, "landmarks"))
        .set_output(transform=library)
        .fit(rows)
    )
    distances = model.transform(rows)
    columns = [f"{estimator.__name__.lower()}{j}" for j in range(3)]
    assert isinstance(distances, {"pandas": pd.DataFrame, "polars": pl.DataFrame}[library])
    assert list(distances.columns) == columns == model.get_feature_names_out().tolist()
    np.testing.assert_array_equal(
        distances.to_numpy(), model.set_output(transform="default").transform(rows)
    )
    assert isinstance(model.predict(rows), np.ndarray)


def test_set_output_keeps_the_index(X):
    frame = FRAMES["pandas"](X).set_index(np.arange(len(X)) * 7 + 3)
    model = (
        KernelKMeans(3, kernel="linear", random_state=0).set_output(transform="pandas").fit(frame)
    )
    assert model.transform(frame).index.equals(frame.index)
    assert model.fit_transform(frame).index.equals(frame.index)


# ---------------------------------------------------------------------------- other array libraries


LIBRARIES = (torch_tensor, strict_array)
over_libraries = pytest.mark.parametrize("array", LIBRARIES)


@pytest.mark.parametrize(("estimator", "space", "array"), often(2, EVERYBODY, SPACES, LIBRARIES))
def test_arrays_of_other_libraries(estimator, space, array, X):
    rows, own = array(X), plain(estimator, space)
    model = fitted(estimator, space, rows)
    assert model.objective_ == pytest.approx(own.objective_, rel=1e-9)
    assert model.converged_
    results = {
        "labels_": model.labels_,
        "memberships_": model.memberships_,
        "predict": model.predict(rows),
        "memberships": model.memberships(rows),
        "transform": model.transform(rows),
        "outlier_score": model.outlier_score(rows),
        "points": model.cluster_centers_
        if hasattr(model, "cluster_centers_")
        else model.landmarks_,
    }
    for name, values in results.items():
        assert type(values) is type(rows), name
        assert str(values.dtype).endswith(
            "int64" if name in ("labels_", "predict") else "float64"
        ), name
    assert isinstance(model.score(rows), float)
    assert isinstance(model.representatives(2), np.ndarray)
    np.testing.assert_array_equal(np.asarray(model.labels_), own.labels_)
    np.testing.assert_allclose(np.asarray(model.memberships_), own.memberships_, atol=1e-6)


@pytest.mark.parametrize(
    ("estimator", "space", "array"), often(2, EVERYBODY, MAIN_SPACES, LIBRARIES)
)
def test_float32_of_other_libraries_stays(estimator, space, array, X):
    rows = array(X, "float32")
    model = fitted(estimator, space, rows)
    for values in (model.memberships_, model.transform(rows), model.outlier_score(rows)):
        assert str(values.dtype).endswith("float32")
    same_result(model, plain(estimator, space), rtol=1e-4, atol=5e-3)


@over_libraries
def test_whole_numbers_of_other_libraries(array, X):
    model = fitted(FuzzyCMeans, "landmarks", array(X.round(), "int64"))
    assert str(model.memberships_.dtype).endswith("float64")
    same_result(model, fitted(FuzzyCMeans, "landmarks", X.round()))


@over_libraries
def test_weights_and_starts_of_other_libraries(array, X):
    weight = np.arange(len(X)) % 3 + 1.0
    start = np.full((len(X), 3), 0.2) + 0.4 * np.eye(3)[np.arange(len(X)) % 3]
    for init in (start, X[:3], X[:, 0].argsort()[:3]):
        own = fitted(FuzzyCMeans, "landmarks", X, weight, init=init)
        given = array(init, "int64") if init.ndim == 1 else array(init)
        same_result(fitted(FuzzyCMeans, "landmarks", array(X), array(weight), init=given), own)


@over_libraries
def test_host_rows_on_a_model_of_another_library(array, X):
    """Rows come back in their own library; those of another are an error that says so, or simply
    work."""
    model = fitted(FuzzyCMeans, "euclidean", array(X))
    np.testing.assert_allclose(model.memberships(X), np.asarray(model.memberships_), atol=1e-9)
    assert isinstance(model.predict(X), np.ndarray)


def test_tensors_that_require_gradients(X):
    torch = pytest.importorskip("torch")
    rows = torch.asarray(X, dtype=torch.float64).requires_grad_()
    model = fitted(FuzzyCMeans, "landmarks", rows)
    assert not model.memberships_.requires_grad
    same_result(model, fitted(FuzzyCMeans, "landmarks", X))


def test_a_precomputed_kernel_of_another_library(X):
    gram = rbf_kernel(X, gamma=0.03)
    for words in ({}, {"landmarks": 20}):
        own = KernelKMeans(3, kernel="precomputed", random_state=0, **words).fit(gram)
        model = KernelKMeans(3, kernel="precomputed", random_state=0, **words).fit(
            torch_tensor(gram)
        )
        same_result(model, own)
        np.testing.assert_array_equal(
            np.asarray(model.predict(torch_tensor(gram[:9]))), own.labels_[:9]
        )


@over_libraries
def test_errors_in_rows_of_other_libraries(array, X):
    model = fitted(FuzzyCMeans, "landmarks", array(X))
    broken = X.copy()
    broken[17, 3] = np.nan
    with pytest.raises(ValueError, match=r"NaN, first at row 17, column 3"):
        model.predict(array(broken))
    with pytest.raises(ValueError, match=r"4 features.*5 features"):
        model.predict(array(X[:, :4]))
    with pytest.raises(ValueError, match="2-D"):
        model.predict(array(X[0]))


def test_under_array_api_dispatch(X):
    """scikit-learn's own switch for such arrays changes nothing for ours."""
    rows = strict_array(X)
    expected = fitted(FuzzyCMeans, "landmarks", rows)
    try:
        with config_context(array_api_dispatch=True):
            model = fitted(FuzzyCMeans, "landmarks", rows)
            assert type(model.predict(rows)) is type(rows)
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"no dispatch here: {error}")
    same_result(model, expected)


# ------------------------------------------------------------------------------------------ weights


@pytest.mark.parametrize(
    ("estimator", "form"),
    once(
        EVERYBODY,
        [
            list,
            tuple,
            pd.Series,
            pl.Series,
            np.float32,
            np.asfortranarray,
            lambda w: pd.Series(w, index=w + 7),
        ],
    ),
)
def test_forms_of_sample_weight(estimator, form, X):
    weight = np.arange(len(X)) % 4 + 1.0
    own = fitted(estimator, "landmarks", X, weight)
    given = weight.astype(np.float32) if form is np.float32 else form(weight)
    same_result(fitted(estimator, "landmarks", X, given), own, rtol=0, atol=0)
    assert own.score(X, sample_weight=given) == own.score(X, sample_weight=weight)


@pytest.mark.parametrize(("estimator", "space"), once(EVERYBODY, MAIN_SPACES))
def test_score_and_fit_predict_take_weights(estimator, space, X):
    weight = np.arange(len(X)) % 4 + 1.0
    model = fitted(estimator, space, X, weight)
    known = model.lower_bound_ if model._has_likelihood else -model.objective_
    # rows of weight 2 are two of the same value, over whose steps the score of a mixture spreads
    close = 1e-3 if model._has_likelihood else 1e-9
    assert model.score(X, sample_weight=weight) == pytest.approx(known, rel=close)
    assert model._has_likelihood or model.score(X, sample_weight=weight) < model.score(X)
    np.testing.assert_array_equal(clone(model).fit_predict(X, sample_weight=weight), model.labels_)


def test_weights_travel_by_metadata_routing(X):
    weight = np.where(np.arange(len(X)) < 80, 1.0, 0.0)  # without the third blob
    with config_context(enable_metadata_routing=True):
        model = (
            KernelKMeans(2, kernel="linear", random_state=0)
            .set_fit_request(sample_weight=True)
            .set_score_request(sample_weight=True)
        )
        chain = Pipeline(
            [("scale", StandardScaler().set_fit_request(sample_weight=False)), ("cluster", model)]
        )
        chain.fit(X, sample_weight=weight)
        expected = KernelKMeans(2, kernel="linear", random_state=0).fit(
            chain[:-1].transform(X), sample_weight=weight
        )
        same_result(chain[-1], expected, rtol=0, atol=0)
        assert chain.score(X, sample_weight=weight) == pytest.approx(-expected.objective_)


# --------------------------------------------------------------------- scikit-learn's own machinery


@over_everybody
def test_in_a_pipeline(estimator, X):
    chain = make_pipeline(
        StandardScaler(), estimator(told(estimator, 3), **words_of(estimator, "landmarks"))
    ).fit(X)
    np.testing.assert_array_equal(chain.predict(X), chain[-1].labels_)
    assert chain.transform(X).shape == (len(X), 3)
    if not chain[-1]._has_likelihood:
        assert chain.score(X) == pytest.approx(-chain[-1].objective_)
    assert chain.get_feature_names_out().tolist() == [
        f"{estimator.__name__.lower()}{j}" for j in range(3)
    ]


@over_everybody
def test_clone_and_words(estimator, X):
    model = plain(estimator, "landmarks")
    twin = clone(model)
    assert not hasattr(twin, "labels_")
    assert twin.get_params() == model.get_params()
    same_result(twin.fit(X), model, rtol=0, atol=0)
    assert (
        model.get_params()
        == estimator(told(estimator, 3), **words_of(estimator, "landmarks")).get_params()
    )
    assert repr(model).startswith(estimator.__name__)


def test_grid_search(X):
    grid = {"m": [1.2, 1.5, 2.0], "gamma": [0.02, 0.04, "median"]}
    search = GridSearchCV(
        FuzzyCMeans(3, kernel="rbf", landmarks=20, random_state=0), grid, cv=3
    ).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert (search.cv_results_["mean_test_score"] < 0).all()
    assert search.best_estimator_.m_ == search.best_params_["m"]
    assert search.predict(X).shape == (120,)


def test_grid_search_over_a_precomputed_kernel(X):
    """scikit-learn cuts rows and columns of a pairwise input."""
    search = GridSearchCV(
        FuzzyCMeans(3, kernel="precomputed", random_state=0), {"m": [1.2, 1.5]}, cv=3
    )
    search.fit(rbf_kernel(X, gamma=0.03))
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(
    ("estimator", "space", "form"),
    often(2, OF_KERNELS, MAIN_SPACES, [np.asarray, sparse.csr_array]),
)
def test_pickle_and_joblib(estimator, space, form, X, tmp_path):
    model = plain(estimator, space, form)
    joblib.dump(model, tmp_path / "model.joblib")
    for again in (
        pickle.loads(pickle.dumps(model)),
        joblib.load(tmp_path / "model.joblib"),
        copy.deepcopy(model),
    ):
        np.testing.assert_array_equal(again.transform(form(X)), model.transform(form(X)))
        np.testing.assert_array_equal(again.memberships_, model.memberships_)
        assert again.get_params() == model.get_params()


def test_pickle_after_predicting_and_with_a_callable_kernel(X):
    model = KernelKMeans(3, kernel=partial(rbf_kernel, gamma=0.03), random_state=0).fit(X)
    model.predict(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.labels_)


# ------------------------------------------------------------------------------------ given kernels


@over_runs
@pytest.mark.parametrize("words", [{}, {"landmarks": 20}])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_square_precomputed_kernel(estimator, words, dtype, X):
    gram = (
        rbf_kernel(X, gamma=0.03)
        * (1 + np.arange(len(X)) / 99)[:, None]
        * (1 + np.arange(len(X)) / 99)
    ).astype(dtype)
    diag = np.diag(gram)
    model = estimator(
        told(estimator, 3),
        **{**words_of(estimator, "exact"), "kernel": "precomputed", "landmarks": None, **words},
    ).fit(gram)
    assert model.memberships_.dtype == dtype
    # the training matrix brings its diagonal
    np.testing.assert_array_equal(model.predict(gram), model.labels_)
    np.testing.assert_allclose(
        model.transform(gram[:9], diag=diag[:9]), model.transform(gram)[:9], rtol=1e-5
    )
    np.testing.assert_allclose(
        model.memberships(gram[:9], diag=diag[:9]), model.memberships_[:9], atol=1e-6
    )
    assert model.score(gram, diag=diag) == pytest.approx(-model.objective_, rel=1e-5)
    if estimator is not PossibilisticCMeans:
        # the nearest centre needs no k(x, x)
        np.testing.assert_array_equal(model.predict(gram[:9]), model.labels_[:9])
    with pytest.raises(ValueError, match=r"diag=\.\.\."):
        model.transform(gram[:9])


@over_runs
def test_only_the_landmarks_columns_of_a_kernel(estimator, X):
    if estimator is TwoStepKernelKMeans:
        pytest.skip("it needs the kernel among its sample only, which is a square matrix")
    gram, rows = rbf_kernel(X, gamma=0.03), np.arange(0, 120, 6)
    gram *= 2.0
    start = (
        {"tol": 1e-12}
        if estimator is SequentialPossibilisticCMeans
        else {"init": np.array([0, 1, 2])}
    )
    # "auto" would see other distances.
    given = (
        {"rule": Fuzzy(1.5)}
        if estimator is CMeans
        else {name: 1.5 for name in ("m", "pilot_m") if name in estimator().get_params()}
    )
    words = (
        words_of(
            estimator,
            "exact",
            kernel="precomputed",
            landmarks=Landmarks("auto", points=rows),
            **start,
        )
        | given
    )
    whole = estimator(told(estimator, 3), **words).fit(gram)
    for diag in (2.0, np.full(120, 2.0), [2.0] * 120):
        own = {"kernel": Precomputed(diagonal=diag), "gamma": "scale"}
        model = estimator(told(estimator, 3), **words | own).fit(gram[:, rows])
        same_result(model, whole)
        np.testing.assert_allclose(
            model.transform(gram[:9, rows], diag=2.0), whole.transform(gram[:9]), rtol=1e-9
        )
        np.testing.assert_array_equal(model.predict(gram[:, rows]), model.labels_)
    assert model.n_features_in_ == 20


def test_the_diagonal_travels_by_metadata_routing(X):
    gram = (
        rbf_kernel(X, gamma=0.03)
        * (1 + np.arange(len(X)) / 99)[:, None]
        * (1 + np.arange(len(X)) / 99)
    )
    with config_context(enable_metadata_routing=True):
        model = KernelKMeans(3, kernel="precomputed", random_state=0).set_score_request(diag=True)
        chain = Pipeline([("cluster", model)]).fit(gram)
        assert chain.score(gram[:9], diag=np.diag(gram)[:9]) < 0


# ---------------------------------------------------------------------------- who watches: progress


@over_runs
@over_main_spaces
def test_progress_tells_of_every_sweep_of_every_stage(estimator, space, X):
    if estimator is SequentialPossibilisticCMeans:
        pytest.skip("it has no starts; its trials are heard of below")
    heard, plain = [], {"search": None} if "search" in estimator().get_params() else {}
    with listening(heard.append):
        model = fitted(estimator, space, X, n_init=2, **plain)
    stages = list(dict.fromkeys(at.stage for at in heard))
    piloted = estimator in (PossibilisticCMeans, AdaptivePossibilisticCMeans)
    assert stages == (["pilot", "fit", "assign"] if piloted else ["fit", "assign"])
    assert all(0 < at.rows_done <= at.n_rows for at in heard)
    ends = [at for at in heard if at.objective is not None]
    assert all(at.rows_done == at.n_rows and at.movement >= 0 for at in ends)
    runs = {}
    for at in ends:
        runs.setdefault((at.stage, at.run), []).append(at)
    assert [(stage, run) for stage, run in runs if stage == stages[0]] == [
        (stages[0], 0),
        (stages[0], 1),
    ]
    for (stage, _), messages in runs.items():
        assert [at.sweep for at in messages] == list(range(1, len(messages) + 1))
        assert {at.max_sweeps for at in messages} == {
            30 if estimator is AdaptivePossibilisticCMeans and stage == "pilot" else 300
        }
        assert {at.n_runs for at in messages} == {2 if stage == stages[0] else 1}
    lengths = [len(messages) for (stage, _), messages in runs.items() if stage == "fit"]
    assert model.n_iter_ in lengths
    last = [at for at in heard if at.stage == "assign"]
    assert last[-1].rows_done == last[-1].n_rows == 120


def test_progress_of_trials(X):
    """Each of them has sweeps of its own; the last that found a cluster is the one told of."""
    heard = []
    with listening(heard.append):
        model = fitted(SequentialPossibilisticCMeans, "euclidean", X)
    ends = [at for at in heard if at.objective is not None]
    sweeps = np.array([at.sweep for at in ends])
    first = np.flatnonzero(sweeps == 1)
    lengths = np.diff(np.append(first, len(sweeps)))
    assert len(lengths) >= 2
    np.testing.assert_array_equal(
        sweeps, np.concatenate([np.arange(length) + 1 for length in lengths])
    )
    assert model.n_iter_ in lengths
    assert heard[-1].stage == "assign"


def test_progress_of_many_groups_of_rows():
    heard = []
    X = np.random.default_rng(0).normal(size=(200_000, 2))
    with listening(heard.append):
        model = KernelKMeans(2, kernel="linear", init=X[:2], tol=1e-2).fit(X)
    first = [
        at.rows_done for at in heard if at.sweep == 1 and at.stage == "fit" and at.objective is None
    ]
    assert len(first) > 10
    assert first == sorted(set(first))
    assert first[-1] == 200_000
    fit = [at for at in heard if at.stage == "fit"]
    assert [at.sweep for at in fit] == sorted(at.sweep for at in fit)
    assert max(at.sweep for at in fit) == model.n_iter_
    assert [at.objective for at in fit if at.objective is not None] == pytest.approx(
        model.objective_history_[:-1]
    )


def test_listeners_hear_only_their_own_block(X):
    outer, inner = [], []
    with listening(outer.append):
        with listening(inner.append):
            fitted(KernelKMeans, "euclidean", X)
        count = len(inner)
        fitted(KernelKMeans, "euclidean", X)
    fitted(KernelKMeans, "euclidean", X)
    assert len(inner) == count > 0
    assert len(outer) == 2 * count


def test_a_listener_that_fails_ends_the_fit_and_is_forgotten(X):
    def fail(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(fail):
        fitted(FuzzyCMeans, "landmarks", X)
    fitted(FuzzyCMeans, "landmarks", X)


# ----------------------------------------------------------------------------- who watches: verbose


@over_everybody
def test_verbose_logs_and_prints_nothing(estimator, X, logged, capsys):
    model = fitted(estimator, "landmarks", X, verbose=1)
    brief = len(logged.records)
    fitted(estimator, "landmarks", X, verbose=2)
    assert {record.name for record in logged.records} == {"cmeans"}
    assert {record.levelno for record in logged.records} == {logging.INFO}
    assert all(estimator.__name__ in message for message in logged.messages)
    assert 1 <= brief < len(logged.records) - brief
    assert f"{model.objective_:.8g}" in logged.messages[brief - 1]
    assert capsys.readouterr().out == ""


def test_silence_without_verbose(X, logged, capfd):
    logging.getLogger("cmeans").setLevel(logging.DEBUG)
    fitted(FuzzyCMeans, "landmarks", X)
    assert not logged.records
    assert capfd.readouterr() == ("", "")


def test_verbose_lines_come_once_where_logging_is_set_up(X, capfd, monkeypatch):
    heard = io.StringIO()
    handler = logging.StreamHandler(heard)
    handler.setFormatter(logging.Formatter("%(name)s %(message)s"))
    monkeypatch.setattr(logging.root, "handlers", [handler])
    fitted(FuzzyCMeans, "landmarks", X, verbose=1)
    StreamingFuzzyCMeans(2, random_state=0, verbose=1).partial_fit(X)
    lines = [line for line in heard.getvalue().splitlines() if line.startswith("cmeans ")]
    assert len(lines) == len(set(lines)) == 2
    assert capfd.readouterr() == ("", "")


def test_verbose_reaches_stderr_in_a_plain_script(monkeypatch, capsys):
    """No logging set up: the lines appear, on stderr, and the logger is left as it was."""
    monkeypatch.setattr(logging.root, "handlers", [])
    X = np.random.default_rng(0).normal(size=(50, 2))
    for _ in range(2):
        FuzzyCMeans(2, kernel="linear", random_state=0, verbose=1).fit(X)
    log = logging.getLogger("cmeans")
    assert not log.handlers
    assert log.level == logging.NOTSET
    said = capsys.readouterr()
    assert said.out == ""
    assert "converged" in said.err
    # twice the same lines, none doubled
    assert said.err.count("FuzzyCMeans") == 2 * len(set(said.err.splitlines()))


# ----------------------------------------------------------- who watches: callbacks of scikit-learn


@with_callbacks
@over_runs
@over_main_spaces
def test_a_callback_hears_every_sweep(estimator, space, X):
    notebook, weight, words = Notebook(), np.ones(len(X)), words_of(estimator, space)
    if "search" in estimator().get_params():
        # Else the history has the mixtures that were swept from, a callback what came of them.
        words = {**words, "search": Search(acceleration=None)}
    model = (
        estimator(told(estimator, 3), **words).set_callbacks(notebook).fit(X, sample_weight=weight)
    )
    # whose trials that found nothing are heard of too
    if estimator is not SequentialPossibilisticCMeans:
        assert len(notebook.sweeps) == model.n_iter_
    assert notebook.begun == notebook.ended == len(notebook.sweeps) + 1
    assert all(
        rows is X and metadata["sample_weight"] is weight for rows, metadata in notebook.shown
    )
    # numbered at the end
    np.testing.assert_array_equal(
        match_labels(notebook.sweeps[-1].predict(X), model.labels_), model.labels_
    )
    scores = [stage.score(X) for stage in notebook.sweeps]
    assert scores[-1] == pytest.approx(model.score(X), rel=1e-9)
    # whose sweeps see a sample only, or come in several trials
    if estimator not in (TwoStepKernelKMeans, SequentialPossibilisticCMeans):
        np.testing.assert_allclose(-np.array(scores), model.objective_history_[1:], rtol=1e-7)
    assert estimator(told(estimator, 3), **words).fit(X).objective_ == model.objective_


@with_callbacks
# so early
@pytest.mark.filterwarnings(
    "ignore:.*centres coincide:UserWarning", "ignore:.*have collapsed:UserWarning"
)
@pytest.mark.parametrize(("estimator", "space", "last"), pairs(ESTIMATORS, MAIN_SPACES, [1, 2]))
def test_a_callback_ends_a_fit(estimator, space, last):
    """Stopped by a wish, not for want of sweeps: no warning."""
    noise = np.random.default_rng(0).normal(size=(120, 5))
    # on 20 rows two sweeps are enough
    sample = {"kernel": "rbf", "landmarks": 100} if estimator is TwoStepKernelKMeans else {}
    model = (
        estimator(told(estimator, 3), **words_of(estimator, space, tol=0.0, **sample))
        .set_callbacks(Notebook(last))
        .fit(noise)
    )
    assert model.n_iter_ == last
    assert not model.converged_
    assert "callback" in model.stop_reason_
    assert len(model.objective_history_) == last + 1
    np.testing.assert_array_equal(model.predict(noise), model.labels_)


@with_callbacks
def test_one_of_several_callbacks_may_end_a_fit(X):
    quiet, impatient = Notebook(), Notebook(2)
    model = FuzzyCMeans(3, random_state=0).set_callbacks(quiet, impatient).fit(X)
    assert model.n_iter_ == len(quiet.sweeps) == 2


@with_callbacks
def test_callbacks_and_several_starts(X):
    notebook = Notebook()
    model = (
        KernelKMeans(3, kernel="linear", n_init=4, random_state=0).set_callbacks(notebook).fit(X)
    )
    assert len(notebook.sweeps) >= model.n_iter_ + 3
    same_result(
        model, KernelKMeans(3, kernel="linear", n_init=4, random_state=0).fit(X), rtol=0, atol=0
    )


@with_callbacks
@pytest.mark.filterwarnings("ignore:.*stopped at max_iter:sklearn.exceptions.ConvergenceWarning")
def test_several_starts_may_sweep_more_often_than_one(X):
    notebook = Notebook()
    KernelKMeans(3, kernel="linear", n_init=4, max_iter=2, tol=0, random_state=0).set_callbacks(
        notebook
    ).fit(X)
    assert len(notebook.sweeps) > 2


@with_callbacks
def test_a_callback_that_has_heard_enough_wants_no_further_start(X):
    notebook = Notebook(last=1)
    model = (
        KernelKMeans(3, kernel="linear", n_init=4, tol=0, random_state=0)
        .set_callbacks(notebook)
        .fit(X)
    )
    assert len(notebook.sweeps) == model.n_iter_ == 1


@with_callbacks
def test_a_progress_bar_does_not_write_to_our_tests(X, capfd):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    plain = fitted(FuzzyCMeans, "landmarks", X)
    model = FuzzyCMeans(3, **words_of(FuzzyCMeans, "landmarks")).set_callbacks(ProgressBar()).fit(X)
    same_result(model, plain, rtol=0, atol=0)
    assert "FuzzyCMeans" in capfd.readouterr().out  # rich's own drawing; ours would be a second


@with_callbacks
@over_runs
def test_a_scoring_monitor(estimator, X):
    """It wants a truth to score against, which fit passes on though it does not use it."""
    from sklearn.callback import ScoringMonitor

    truth = np.repeat([0, 1, 2], 40)
    monitor = ScoringMonitor(scoring="adjusted_rand_score")
    model = (
        estimator(told(estimator, 3), **words_of(estimator, "landmarks"))
        .set_callbacks(monitor)
        .fit(X, truth)
    )
    scores = [
        entry["adjusted_rand_score"]
        for entry in monitor.get_logs().data
        if entry["task_name"] == "sweep"
    ]
    if estimator is not SequentialPossibilisticCMeans:
        assert len(scores) == model.n_iter_
    assert scores[-1] == pytest.approx(adjusted_rand_score(truth, model.labels_))


@with_callbacks
def test_callbacks_of_a_pipeline_and_of_a_search_reach_us(X, capfd):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    bar = ProgressBar(max_propagation_depth=None)
    chain = (
        make_pipeline(StandardScaler(), FuzzyCMeans(3, random_state=0)).set_callbacks(bar).fit(X)
    )
    search = (
        GridSearchCV(FuzzyCMeans(3, random_state=0), {"m": [1.2, 1.5]}, cv=2)
        .set_callbacks(ProgressBar())
        .fit(X)
    )
    assert capfd.readouterr().out.count("FuzzyCMeans") >= 2
    assert chain[-1].converged_
    assert search.best_estimator_.converged_
