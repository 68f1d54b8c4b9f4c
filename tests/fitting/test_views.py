"""Numbers that lie in memory in another way than plain arrays give the results of plain copies, to
the bit: columns of record arrays, and views that are packed, misaligned, turned round, in other
bytes or of no stride at all, wherever an array is taken.

`native/test_machines.py` runs these tests again with native code that checks every address it
reads.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from scipy import sparse

import every_estimator
from cmeans import (
    FuzzyCMeans,
    KernelKMeans,
    LandmarkGraph,
    TwoStepKernelKMeans,
    metrics,
    select,
    stability,
    validity,
)
from cmeans.inspection import SilhouetteDisplay, explain, representatives, summary
from cmeans.kernels import RBF, Gower, HistogramIntersection, Laplacian, Polynomial, Precomputed
from sweep_choices import often

pytestmark = pytest.mark.slow  # eight views of everything


def packed(x):
    """A field beside another, without padding: rows begin within numbers."""
    records = np.zeros(len(x), [("name", "S3"), ("x", x.dtype, x.shape[1:])])
    records["x"] = x
    return records["x"]


def misaligned(x):
    return np.frombuffer(b"\0" + x.tobytes(), x.dtype, offset=1).reshape(x.shape)


def turned(x):
    return np.ascontiguousarray(x[::-1])[::-1]


def mirrored(x):
    return np.ascontiguousarray(x[..., ::-1])[..., ::-1]


def between_others(x):
    return (
        np.repeat(np.repeat(x, 2, axis=0), 3, axis=-1)[::2, ..., ::3]
        if x.ndim > 1
        else np.repeat(x, 3)[::3]
    )


def big_endian(x):
    return x.astype(x.dtype.newbyteorder(">"))


VIEWS = {
    "packed": packed,
    "packed, turned": lambda x: packed(turned(x))[::-1][::-1],
    "misaligned": misaligned,
    "turned": turned,
    "mirrored": mirrored,
    "between others": between_others,
    "big-endian": big_endian,
    "columns first": np.asfortranarray,
}

N = 90
RNG = np.random.default_rng(0)
LABELS = np.arange(N) % 3
X = RNG.normal(size=(N, 3)) + 4 * np.eye(3)[LABELS]
WEIGHT = RNG.integers(1, 4, N).astype(float)
ASKED = [
    "predict",
    "memberships",
    "predict_proba",
    "transform",
    "score",
    "outlier_score",
    "typicality",
    "representatives",
]
FITTED = [
    "labels_",
    "memberships_",
    "cluster_centers_",
    "objective_",
    "eta_",
    "embedding_",
    "landmarks_",
]


def flat(value):
    """The arrays and numbers that a result is made of, in turn."""
    if isinstance(value, dict):
        return [part for one in value.values() for part in flat(one)]
    if hasattr(value, "keys"):
        return [part for name in value for part in flat(value[name])]
    if isinstance(value, (list, tuple)):
        return [part for one in value for part in flat(one)]
    return [value.toarray() if sparse.issparse(value) else np.asarray(value)]


def same(one, other, name=""):
    """Two results are equal to the bit."""
    one, other = flat(one), flat(other)
    assert len(one) == len(other)
    for ours, theirs in zip(one, other, strict=True):
        assert ours.dtype == theirs.dtype, name
        np.testing.assert_array_equal(ours, theirs, err_msg=name)


def same_of_all_views(all_of):
    """What is made of views of arrays is what is made of plain copies; `all_of` takes a function
    that lays an array in memory."""
    plain = all_of(np.array)
    for name, view in VIEWS.items():
        same(all_of(view), plain, name)


def told(model, rows, **words):
    """All that a fitted model says of itself and of rows."""
    kept = [getattr(model, name) for name in FITTED if hasattr(model, name)]
    asked = [getattr(model, name) for name in ASKED if hasattr(model, name)]
    return kept + [
        method(rows, **words) for method in asked if method.__name__ != "representatives"
    ]


@pytest.mark.parametrize(("name", "view"), often(2, every_estimator.NAMES, VIEWS))
def test_estimators(name, view):
    x = X.astype(np.float32) if name < "L" else X  # of either type some

    def all_of(form):
        model = every_estimator.build(name).fit(form(x), sample_weight=form(WEIGHT))
        return [*told(model, form(x)), model.score(form(x), sample_weight=form(WEIGHT))]

    same(all_of(VIEWS[view]), all_of(np.array))


@pytest.mark.parametrize("columns", [1, 3, 80])
def test_sweeps_of_few_and_many_columns(columns, sweeps):
    """With the search for nearest centres, and where a row is a single number."""
    x = np.repeat(X, 27, axis=1)[:, :columns] + RNG.normal(size=(N, columns))

    def all_of(form):
        models = (
            KernelKMeans(3, kernel="linear", random_state=0),
            FuzzyCMeans(3, m=1.5, top_k=2, random_state=0),
        )
        return [told(model.fit(form(x)), form(x)) for model in models]

    same_of_all_views(all_of)


@pytest.mark.parametrize(
    "kernel",
    ["rbf", "laplacian", "polynomial", "landmark_graph", "histogram_intersection", "cosine"],
)
def test_kernels_and_landmarks(kernel):
    x = np.abs(X)

    def all_of(form):
        model = FuzzyCMeans(
            3, kernel=kernel, landmarks=form(x[:20]), init=form(x[:3]), random_state=0
        ).fit(form(x))
        return told(model, form(x))

    same_of_all_views(all_of)


def test_kernel_values():
    x = np.abs(X)
    for view in VIEWS.values():
        for kernel in (
            RBF(0.1),
            Laplacian(0.1),
            Polynomial(),
            HistogramIntersection(),
            Gower.of(view(x)),
        ):
            # products of BLAS: to rounding
            np.testing.assert_allclose(kernel(view(x), view(x[:9])), kernel(x, x[:9]), rtol=1e-13)


@pytest.mark.parametrize(
    "init",
    [X[:3], LABELS, np.eye(3)[LABELS], np.arange(3)],
    ids=["points", "labels", "memberships", "rows"],
)
def test_starts_and_what_is_told_of_rows(init):
    known, strength = np.where(np.arange(N) < 20, LABELS, -1), np.linspace(0.2, 1, N)
    pairs = np.array([[0, 3], [30, 33], [40, 43]])

    def all_of(form):
        model = FuzzyCMeans(3, init=form(init))
        words = {
            "known_labels": form(known),
            "label_strength": form(strength),
            "must_link": form(pairs),
        }
        return told(model.fit(form(X), sample_weight=form(WEIGHT), **words), form(X))

    same_of_all_views(all_of)


def test_kernel_matrices_and_their_diagonal():
    K, rows = RBF(0.1)(X, X), np.arange(0, N, 5)

    def all_of(form):
        whole = KernelKMeans(3, kernel="precomputed", random_state=0).fit(form(K))
        few = KernelKMeans(
            3, kernel=Precomputed(diagonal=form(np.ones(N))), landmarks=form(rows), random_state=0
        ).fit(form(K[:, rows]))
        return told(whole, form(K), diag=form(np.ones(N))) + told(
            few, form(K[:, rows]), diag=form(np.ones(N))
        )

    same_of_all_views(all_of)


@pytest.mark.parametrize("name", every_estimator.STREAMS)
def test_streams(name):
    def all_of(form):
        model = every_estimator.build(name)
        for part in range(0, N, 30):
            here = slice(part, part + 30)
            model.partial_fit(form(X[here]), sample_weight=form(WEIGHT[here]))
        return told(model, form(X))

    same_of_all_views(all_of)


def test_measures():
    model = FuzzyCMeans(3, random_state=0).fit(X)
    u = model.memberships_

    def all_of(form):
        x, labels, noisy, weight = (
            form(X),
            form(LABELS),
            form(np.where(LABELS == 2, -1, LABELS)),
            form(WEIGHT),
        )
        return [
            validity.indices(model, x, sample_weight=weight),
            validity.partition_coefficient(form(u), sample_weight=weight),
            validity.partition_entropy(form(u), sample_weight=weight),
            metrics.rand_measure(labels, noisy, nearest=labels),
            metrics.success_rate(labels, noisy, noise="cluster"),
            metrics.purity(labels, noisy),
            metrics.relative_purity(labels, noisy, labels),
            metrics.generalized_rand_measure(labels, form(u)),
            metrics.generalized_rand_measure(form(u), form(u)),
            metrics.match_labels(labels, noisy, sample_weight=weight),
            metrics.error_reduction(form(np.array([9.0, 4.0, 3.0]))),
        ]

    same_of_all_views(all_of)


def test_inspection():
    pytest.importorskip("matplotlib")
    model = KernelKMeans(3, kernel="linear", random_state=0).fit(X)

    def all_of(form):
        x, weight = form(X), form(WEIGHT)
        found = explain(model, x, sample_weight=weight)
        drawn = SilhouetteDisplay.from_predictions(form(WEIGHT / 4), form(LABELS)).silhouettes
        return [
            summary(model, x, sample_weight=weight),
            representatives(model, x),
            found.columns,
            found.rules,
            drawn,
        ]

    same_of_all_views(all_of)


def test_choices():
    model = KernelKMeans(3, kernel="linear", random_state=0).fit(X)

    def all_of(form):
        x, weight = form(X), form(WEIGHT)
        chosen = select(
            KernelKMeans(kernel="linear", random_state=0),
            x,
            n_clusters=[2, 3],
            n_bootstrap=2,
            sample_weight=weight,
        )
        steady = stability(model, x, n_bootstrap=2, sample_weight=weight, random_state=0)
        return [
            chosen.n_clusters,
            chosen.table["silhouette"],
            chosen.table["objective"],
            steady.clusters,
        ]

    plain = all_of(np.array)
    for name in ("packed", "big-endian"):
        same(all_of(VIEWS[name]), plain, name)


def test_files_of_labels(tmp_path):
    model = FuzzyCMeans(3, random_state=0).fit(X)

    def all_of(form):
        model.predict_to(form(X), tmp_path / "labels.npy", memberships=False)
        return np.load(tmp_path / "labels.npy")

    same_of_all_views(all_of)


def test_graphs_and_two_steps():
    def all_of(form):
        graph = LandmarkGraph(3, landmarks=20, random_state=0)
        embedded = graph.fit_transform(form(X))
        steps = TwoStepKernelKMeans(
            3, kernel="rbf", gamma=0.1, landmarks=form(np.arange(20)), random_state=0
        ).fit(form(X))
        return [embedded, graph.transform(form(X)), told(steps, form(X))]

    same_of_all_views(all_of)


@pytest.mark.parametrize("part", ["data", "indices", "indptr"])
def test_parts_of_sparse_rows(part):
    rows = sparse.csr_array(np.where(X > 1, X, 0.0))

    def all_of(form):
        given = rows.copy()
        setattr(given, part, form(getattr(rows, part)))
        models = (
            FuzzyCMeans(3, m=1.5, random_state=0),
            KernelKMeans(3, kernel="rbf", gamma=0.1, landmarks=range(0, N, 5), random_state=0),
        )
        return [told(model.fit(given), given)[:-1] for model in models]

    same_of_all_views(all_of)


def test_sparse_rows_whose_columns_come_in_any_order():
    rows = sparse.csr_array(np.where(X > 1, X, 0.0) @ np.ones((3, 1)) * np.arange(1.0, 13.0))
    mixed = rows.copy()
    for start, stop in zip(rows.indptr, rows.indptr[1:], strict=False):
        order = start + RNG.permutation(stop - start)
        mixed.indices[start:stop], mixed.data[start:stop] = rows.indices[order], rows.data[order]
    mixed.has_sorted_indices = False
    before = mixed.indices.copy()
    one, other = (FuzzyCMeans(3, m=1.5, random_state=0).fit(given) for given in (rows, mixed))
    same(told(one, rows), told(other, mixed))
    np.testing.assert_array_equal(mixed.indices, before)


def test_one_number_for_all(tmp_path):
    """Arrays of no stride: a column, weights, known labels, kernel values; and rows of a series
    that overlap."""
    column = np.broadcast_to(X[:, :1], X.shape)
    same(
        told(FuzzyCMeans(3, random_state=0).fit(column), column),
        told(FuzzyCMeans(3, random_state=0).fit(column.copy()), column.copy()),
    )
    ones = np.broadcast_to(2.0, N), np.broadcast_to(-1, N), np.broadcast_to(0.5, N)

    def all_of(form):
        weight, known, strength = map(form, ones)
        model = FuzzyCMeans(3, random_state=0).fit(
            X, sample_weight=weight, known_labels=known, label_strength=strength
        )
        return [*told(model, X), model.score(X, sample_weight=weight)]

    same(all_of(np.asarray), all_of(np.array))
    alike = np.broadcast_to(X[:1], X.shape)
    np.testing.assert_array_equal(
        KernelKMeans(1, kernel="linear").fit(alike).cluster_centers_, X[:1]
    )
    windows = sliding_window_view(np.sin(np.arange(200.0)), 5)
    one, other = (
        KernelKMeans(3, kernel="linear", random_state=0).fit(rows)
        for rows in (windows, windows.copy())
    )
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_allclose(one.objective_, other.objective_, rtol=1e-12)


def test_columns_of_records():
    """Those of a data frame, and of a file that `genfromtxt` has read."""
    frame = pd.DataFrame({"id": np.arange(N, dtype=np.int32), "x": X[:, 0], "y": X[:, 1]})
    records = frame.to_records(index=False)
    read = np.genfromtxt(
        [f"{row.id} {float(row.x)!r} {float(row.y)!r}" for row in records],
        dtype=[("id", "i4"), ("x", "f8"), ("y", "f8")],
    )
    plain = KernelKMeans(3, kernel="linear", random_state=0).fit(X[:, :1])
    for given in (records["x"][:, None], records["x"].reshape(-1, 1)):
        same(
            told(KernelKMeans(3, kernel="linear", random_state=0).fit(given), given),
            told(plain, X[:, :1]),
        )
    two = np.ndarray((N, 2), np.float64, records, offset=4, strides=(records.strides[0], 8))
    np.testing.assert_array_equal(two, X[:, :2])
    both = KernelKMeans(3, kernel="linear", random_state=0).fit(two)
    same(
        told(both, two),
        told(KernelKMeans(3, kernel="linear", random_state=0).fit(X[:, :2]), X[:, :2]),
    )
    assert read["x"].strides == (20,)
    np.testing.assert_array_equal(plain.predict(read["x"][:, None]), plain.labels_)


@pytest.mark.parametrize("name", VIEWS)
def test_maps_of_files(name, tmp_path):
    """Which stay on the disk, however they lie there."""
    x = VIEWS[name](X)
    ends = [(n - 1) * stride for n, stride in zip(x.shape, x.strides, strict=True)]
    before, behind = (
        -sum(min(end, 0) for end in ends),
        sum(max(end, 0) for end in ends) + x.itemsize,
    )
    stored = np.memmap(tmp_path / "rows", np.uint8, "w+", shape=before + behind)
    mapped = np.ndarray(x.shape, x.dtype, stored, before, x.strides).view(np.memmap)
    mapped[...] = X
    one, other = (
        KernelKMeans(3, kernel="linear", random_state=0).fit(rows) for rows in (mapped, X)
    )
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_allclose(one.objective_, other.objective_, rtol=1e-12)
