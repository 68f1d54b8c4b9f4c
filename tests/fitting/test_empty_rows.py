"""Rows that say nothing: the others are clustered as if these were not there."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.neighbors import kneighbors_graph

import cmeans
from cmeans import CMeans, FuzzyCMeans, KernelKMeans, PossibilisticCMeans, Search, Sizes
from cmeans.kernels import LandmarkGraphKernel, Polynomial, Precomputed, PrecomputedGraphKernel
from limited import limited

C, N = 3, 120
EMPTY = np.array([0, 7, 8, 64, 119])
OTHERS = np.setdiff1d(np.arange(N), EMPTY)
BLOBS = make_blobs(
    N, 4, centers=[[6, 1, 0, 1], [0, 6, 1, 1], [1, 0, 6, -1]], cluster_std=0.8, random_state=1
)[0]
SPHERE: dict[str, Any] = {"kernel": "linear", "metric": "cosine"}
PARTIAL: dict[str, Any] = {"kernel": "linear", "missing": "partial"}
GRAPH: dict[str, Any] = {"kernel": "precomputed_graph"}
WHY = {
    "sphere": "only zeros, and so no direction",
    "partial": "no value at all, only NaN",
    "graph": "no edge to a row of positive weight",
}


def rows(kind: str) -> tuple[Any, Any]:
    """Rows of which some say nothing, and the others alone."""
    x = BLOBS.copy()
    if kind == "sphere":
        x[EMPTY] = 0.0
        return x, x[OTHERS]
    if kind == "partial":
        x[np.random.default_rng(0).random(x.shape) < 0.2] = np.nan
        x[:, 0] = BLOBS[:, 0]
        x[EMPTY] = np.nan
        return x, x[OTHERS]
    near = kneighbors_graph(BLOBS[OTHERS], 8, mode="connectivity")
    edges = np.zeros((N, N))
    edges[np.ix_(OTHERS, OTHERS)] = (near + near.T).toarray()
    return sparse.csr_array(edges), sparse.csr_array(edges[np.ix_(OTHERS, OTHERS)])


def quietly(answer: Any, *arguments: Any, **words: Any) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*in no cluster, with the label -1")
        return answer(*arguments, **words)


def told(count: int, kind: str, n: int = N) -> Any:
    return pytest.warns(
        UserWarning,
        match=rf"{count} of {n:,} rows of X have {WHY[kind]}, and are in no cluster, with the "
        r"label -1",
    )


CASES: list[tuple[str, Any, dict[str, Any]]] = [
    *(
        (kind, KernelKMeans, words)
        for kind, words in (("sphere", SPHERE), ("partial", PARTIAL), ("graph", GRAPH))
    ),
    *(
        (kind, FuzzyCMeans, words)
        for kind, words in (("sphere", SPHERE), ("partial", PARTIAL), ("graph", GRAPH))
    ),
    ("sphere", KernelKMeans, {"kernel": Polynomial(coef0=0), "metric": "cosine"}),
    ("sphere", KernelKMeans, {**SPHERE, "landmarks": 20}),
    ("sphere", KernelKMeans, {**SPHERE, "sizes": Sizes(least=0.3)}),
    ("sphere", FuzzyCMeans, {**SPHERE, "noise": "auto"}),
    ("sphere", FuzzyCMeans, {**SPHERE, "top_k": 2}),
    ("sphere", CMeans, {**SPHERE, "rule": "entropy"}),
    ("partial", FuzzyCMeans, {**PARTIAL, "noise": "auto"}),
    ("partial", PossibilisticCMeans, {**PARTIAL, "eta_scale": 0.3}),
    ("partial", KernelKMeans, {**PARTIAL, "sizes": Sizes(least=0.3, most=0.4)}),
    ("partial", KernelKMeans, {**PARTIAL, "search": Search(join_equal_rows=True)}),
    ("partial", FuzzyCMeans, {**PARTIAL, "top_k": 2}),
    ("graph", PossibilisticCMeans, {**GRAPH, "eta_scale": 0.3}),
    ("graph", FuzzyCMeans, {"kernel": PrecomputedGraphKernel(normalized=True)}),
]


@pytest.mark.parametrize(("kind", "cls", "words"), CASES)
def test_a_fit_is_that_of_the_other_rows(kind: str, cls: Any, words: dict[str, Any]) -> None:
    x, others = rows(kind)
    model = cls(C, random_state=0, **words)
    with told(len(EMPTY), kind):
        model.fit(x)
    alone = cls(C, random_state=0, **words).fit(others)
    assert model.labels_.shape == (N,)
    assert (model.labels_[EMPTY] == -1).all()
    np.testing.assert_array_equal(model.labels_[OTHERS], alone.labels_)
    u, its = (
        one.toarray() if sparse.issparse(one) else one
        for one in (model.memberships_, alone.memberships_)
    )
    assert not u[EMPTY].any()
    np.testing.assert_allclose(u[OTHERS], its, atol=1e-7)
    assert model.objective_ == pytest.approx(alone.objective_, rel=1e-9)
    if kind != "graph":  # of which all columns belong to rows
        np.testing.assert_array_equal(quietly(model.predict, x), quietly(alone.predict, x))
        np.testing.assert_allclose(
            quietly(model.transform, x), quietly(alone.transform, x), atol=1e-6
        )


@pytest.mark.parametrize(("kind", "cls", "words"), CASES)
def test_new_rows_are_told_apart_in_every_answer(
    kind: str, cls: Any, words: dict[str, Any], tmp_path: Path
) -> None:
    x, others = rows(kind)
    model = quietly(cls(C, random_state=0, **words).fit, x)
    columns = others if kind != "graph" else x[OTHERS]
    with told(len(EMPTY), kind):
        labels = model.predict(x)
    np.testing.assert_array_equal(
        np.flatnonzero(labels == -1)[np.isin(np.flatnonzero(labels == -1), EMPTY)], EMPTY
    )
    np.testing.assert_array_equal(labels[OTHERS], model.predict(columns))
    with told(len(EMPTY), kind):
        u = model.memberships(x)
    assert not u[EMPTY].any()
    np.testing.assert_array_equal(u[OTHERS], model.memberships(columns))
    for answer in (model.transform, model.outlier_score):
        with told(len(EMPTY), kind):
            distances = answer(x)
        assert np.isnan(distances[EMPTY]).all()
        np.testing.assert_array_equal(distances[OTHERS], answer(columns))
    weight = np.random.default_rng(2).uniform(0.5, 2.0, N)
    with told(len(EMPTY), kind):
        score = model.score(x, sample_weight=weight)
    assert score == pytest.approx(model.score(columns, sample_weight=weight[OTHERS]), rel=1e-12)
    with told(len(EMPTY), kind):
        counts = model.predict_to(x, tmp_path / "labels.npy")
    np.testing.assert_array_equal(
        np.load(tmp_path / "labels.npy"),
        quietly(lambda: model.memberships(x).argmax(axis=1)) * 0 + labels,
    )
    assert counts.sum() == (labels >= 0).sum()


@pytest.mark.parametrize(("kind", "cls", "words"), CASES[:6])
def test_who_wants_to_stop_turns_the_warning_into_an_error(
    kind: str, cls: Any, words: dict[str, Any]
) -> None:
    """A fit that stops there leaves the model as it was."""
    x, _ = rows(kind)
    model = quietly(cls(C, random_state=0, **words).fit, x)
    before = model.labels_
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=cmeans.DataWarning)
        for answer in (model.fit, model.predict, model.memberships, model.transform, model.score):
            with pytest.raises(
                cmeans.DataWarning, match=f"{len(EMPTY)} of .* rows of X have {WHY[kind]}"
            ):
                answer(x)
    assert model.labels_ is before


@pytest.mark.parametrize("kind", ["sphere", "partial"])
@pytest.mark.parametrize("form", ["float32", "csr", "list", "namespace"])
def test_rows_of_any_form(kind: str, form: str) -> None:
    strict = pytest.importorskip("array_api_strict")
    x, others = rows(kind)
    if (kind, form) == ("partial", "csr"):
        return  # what is missing in sparse rows is zero
    make = {
        "float32": lambda a: a.astype(np.float32),
        "csr": sparse.csr_array,
        "list": np.ndarray.tolist,
        "namespace": strict.asarray,
    }[form]
    words = SPHERE if kind == "sphere" else PARTIAL
    model = quietly(FuzzyCMeans(C, random_state=0, **words).fit, make(x))
    alone = FuzzyCMeans(C, random_state=0, **words).fit(make(others))
    np.testing.assert_array_equal(np.asarray(model.labels_)[OTHERS], np.asarray(alone.labels_))
    assert (np.asarray(model.labels_)[EMPTY] == -1).all()
    assert np.isnan(np.asarray(quietly(model.transform, make(x)))[EMPTY]).all()
    assert (np.asarray(quietly(model.predict, make(x)))[EMPTY] == -1).all()


@pytest.mark.parametrize("kind", ["sphere", "partial"])
def test_weights_known_labels_and_links(kind: str) -> None:
    x, others = rows(kind)
    words = {**(SPHERE if kind == "sphere" else PARTIAL), "random_state": 0}
    weight = np.random.default_rng(4).uniform(0.5, 3.0, N)
    model = quietly(FuzzyCMeans(C, **words).fit, x, sample_weight=weight)
    alone = FuzzyCMeans(C, **words).fit(others, sample_weight=weight[OTHERS])
    np.testing.assert_allclose(model.cluster_centers_, alone.cluster_centers_, atol=1e-9)
    assert model.objective_ == pytest.approx(alone.objective_, rel=1e-9)
    labels = np.full(N, -1)
    labels[[0, 1, 2, 3]] = [2, 0, 1, 2]
    known = quietly(FuzzyCMeans(C, **words).fit, x, known_labels=labels)
    assert known.labels_[0] == 2, "what is known of a row is known, whatever the row says"
    np.testing.assert_array_equal(known.memberships_[0], [0, 0, 1])
    alone = FuzzyCMeans(C, **words).fit(others, known_labels=labels[OTHERS])
    np.testing.assert_allclose(known.cluster_centers_, alone.cluster_centers_, atol=1e-9)
    linked = quietly(KernelKMeans(C, **words).fit, x, must_link=[[7, 1], [8, 64]])
    assert linked.labels_[7] == linked.labels_[1] >= 0, (
        "linked rows are one, of which the other speaks"
    )
    assert (linked.labels_[[0, 8, 64, 119]] == -1).all()


@pytest.mark.parametrize("kind", ["sphere", "partial"])
@pytest.mark.parametrize("ending", ["npy", "csv"])
def test_files(kind: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, _ = rows(kind)
    file = tmp_path / f"rows.{ending}"
    if ending == "npy":
        np.save(file, x)
    else:
        lines = [
            ",".join("" if np.isnan(value) else repr(float(value)) for value in row) for row in x
        ]
        file.write_text("\n".join(["a,b,c,d", *lines, ""]))
    words = {**(SPHERE if kind == "sphere" else PARTIAL), "random_state": 0}
    here = quietly(FuzzyCMeans(C, **words).fit, x)
    limited(monkeypatch, loaded_bytes=0, block_rows=16, least_task_rows=16)
    with told(len(EMPTY), kind):
        model = FuzzyCMeans(C, **words).fit(file)
    np.testing.assert_array_equal(model.labels_, here.labels_)
    np.testing.assert_allclose(model.cluster_centers_, here.cluster_centers_, atol=1e-9)
    np.testing.assert_array_equal(quietly(model.predict, file), here.labels_)
    with told(len(EMPTY), kind):
        FuzzyCMeans(C, **words).fit_predict_to(file, tmp_path / "labels.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), here.labels_)


def test_many_rows_joined_and_sampled() -> None:
    """Above 2,000 rows equal ones are joined, and sweeps begin with samples; the count is that of
    the given rows."""
    x = np.repeat(rows("sphere")[0], 40, axis=0)
    with told(40 * len(EMPTY), "sphere", len(x)):
        model = KernelKMeans(C, random_state=0, **SPHERE).fit(x)
    np.testing.assert_array_equal(np.flatnonzero(model.labels_ < 0) // 40, np.repeat(EMPTY, 40))
    rng = np.random.default_rng(0)
    many = np.concatenate(
        [BLOBS[rng.integers(N, size=30_000)] + rng.normal(size=(30_000, 4)), np.zeros((10, 4))]
    )
    with told(10, "sphere", len(many)):
        model = KernelKMeans(C, random_state=0, **SPHERE).fit(many)
    alone = KernelKMeans(C, random_state=0, **SPHERE).fit(many[:-10])
    np.testing.assert_allclose(model.cluster_centers_, alone.cluster_centers_, atol=1e-4)
    assert (model.labels_[-10:] == -1).all()


def test_kernel_values_of_length_zero() -> None:
    x = rows("sphere")[0]
    with told(len(EMPTY), "sphere"):
        model = KernelKMeans(C, kernel="precomputed", metric="cosine", random_state=0).fit(x @ x.T)
    alone = KernelKMeans(C, kernel="precomputed", metric="cosine", random_state=0).fit(
        x[OTHERS] @ x[OTHERS].T
    )
    assert isinstance(model.kernel_, Precomputed)
    np.testing.assert_array_equal(model.labels_[OTHERS], alone.labels_)


def test_a_new_row_near_landmarks_that_no_row_is_near() -> None:
    landmarks = np.concatenate([BLOBS[:20], 100.0 + np.eye(4)])
    words = {"kernel": LandmarkGraphKernel(n_neighbors=3), "landmarks": landmarks}
    model = KernelKMeans(C, random_state=0, **words).fit(BLOBS)
    new = np.concatenate([BLOBS[:3], [[101.0, 100.0, 100.0, 100.0]]])
    with pytest.warns(
        UserWarning,
        match="1 of 4 rows of X has no edge to a row of positive weight, and is in no cluster",
    ):
        np.testing.assert_array_equal(model.predict(new), [*model.labels_[:3], -1])


def test_where_the_graph_has_more_parts_than_features_rows_stay_in_clusters() -> None:
    """Rows of a part without features of its own have edges, and are at the origin, which is a
    place."""
    edges = np.zeros((20, 20))
    edges[:10, :10] = edges[10:, 10:] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        words = {"kernel": PrecomputedGraphKernel(n_components=1, refine=False)}
        model = KernelKMeans(2, random_state=0, **words).fit(edges)
    assert sorted(set(model.labels_.tolist())) == [0, 1]


def test_rows_that_are_all_empty_are_refused() -> None:
    for words, x in ((SPHERE, np.zeros((5, 2))), (GRAPH, np.zeros((5, 5)))):
        with pytest.raises(ValueError, match=r"KernelKMeans.*(only zeros|no edge)"):
            KernelKMeans(2, **words).fit(x)
    x = np.zeros((5, 2))
    x[0] = 1.0
    with pytest.raises(ValueError, match="every row of positive weight has only zeros"):
        KernelKMeans(1, **SPHERE).fit(x, sample_weight=[0, 1, 1, 1, 1])


@pytest.mark.parametrize("kind", ["sphere", "partial"])
def test_indices_and_inspection_look_at_the_others(kind: str) -> None:
    x, others = rows(kind)
    words = {**(SPHERE if kind == "sphere" else PARTIAL), "random_state": 0}
    model = quietly(FuzzyCMeans(C, **words).fit, x)
    for index in (cmeans.validity.xie_beni, cmeans.validity.simplified_silhouette):
        assert quietly(index, model, x) == pytest.approx(index(model, others), rel=1e-12)
    table, its = (
        cmeans.inspection.summary(model),
        cmeans.inspection.summary(FuzzyCMeans(C, **words).fit(others)),
    )
    for column in ("weight", "membership", "spread"):
        np.testing.assert_allclose(table[column], its[column], rtol=1e-9)


def test_select_looks_at_the_others() -> None:
    x, others = rows("sphere")
    words: dict[str, Any] = {"n_bootstrap": 2, "random_state": 0}
    found = quietly(cmeans.select, KernelKMeans(random_state=0, **SPHERE), x, range(2, 5), **words)
    alone = cmeans.select(KernelKMeans(random_state=0, **SPHERE), others, range(2, 5), **words)
    assert found.n_clusters == alone.n_clusters
    np.testing.assert_allclose(found.table["silhouette"], alone.table["silhouette"], rtol=1e-9)
    assert (found.estimator.labels_[EMPTY] == -1).all()
