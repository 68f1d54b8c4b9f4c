"""Fits whose equal rows are joined: the objective, labels and memberships of all rows that sweeps
over all of them give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import cmeans
import naive
from cmeans import Search
from cmeans.data.blocks import Blocks
from cmeans.data.limits import Limits
from cmeans.fitting.stages.joined import joined_if_worth_it, joined_rows
from cmeans.rules import Entropy
from limited import limited
from stored_rows import Kept
from sweep_choices import often

pytestmark = pytest.mark.slow

C = 3
MAKES: dict[str, Any] = {
    "hard": lambda **words: cmeans.KernelKMeans(C, **words),
    "fuzzy": lambda **words: cmeans.FuzzyCMeans(C, m=1.7, **words),
    "possibilistic": lambda **words: cmeans.PossibilisticCMeans(
        C, pilot_m=1.7, eta_scale=0.3, **words
    ),
    "entropy": lambda **words: cmeans.CMeans(C, rule=Entropy(T=0.1), **words),
}
POINTS = np.array([[1.0, 1.0, 2.0], [9.0, 1.0, 2.0], [1.0, 8.0, 7.0]])
SPACES: dict[str, dict[str, Any]] = {
    "linear": {"kernel": "linear"},
    "landmarks": {
        "kernel": "rbf",
        "gamma": 0.02,
        "landmarks": np.concatenate([POINTS - 1, POINTS, POINTS + 1]),
    },
    "exact": {"kernel": "rbf", "gamma": 0.02, "landmarks": None},
}


def counts(n: int = 900, seed: int = 0) -> np.ndarray:
    """Small whole numbers, of which many rows are equal."""
    rng = np.random.default_rng(seed)
    return np.round(POINTS[rng.integers(C, size=n)] + 0.6 * rng.normal(size=(n, 3)))


def both(
    make: str, X: Any, weight: Any = None, search: Search | None = None, **words: Any
) -> tuple[Any, Any]:
    return tuple(
        MAKES[make](
            search=(search or Search()).set_params(join_equal_rows=join), random_state=0, **words
        ).fit(X, sample_weight=weight)
        for join in (True, False)
    )


# -------------------------------------------------------------------------------- the distinct rows


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_matrix, Kept], ids=["array", "csr", "stored"]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("at_once", [37, 10_000])
def test_distinct_rows_are_those_of_a_dictionary(form: Any, dtype: Any, at_once: int) -> None:
    x = counts().astype(dtype) - 3
    x[::7] *= -1  # with zeros of both signs
    weight = np.random.default_rng(1).integers(0, 5, len(x)).astype(float)
    found: dict[tuple[float, ...], list[int]] = {}
    for number, row in enumerate(x + 0):
        found.setdefault(tuple(row), []).append(number)
    joined = joined_rows(Blocks(form(x), weight, limits=Limits(rows_at_once=at_once)))
    distinct = joined.blocks.x.toarray() if sparse.issparse(joined.blocks.x) else joined.blocks.x
    assert sorted(map(tuple, distinct)) == sorted(found)
    assert distinct.dtype == dtype
    for row, total, first in zip(
        distinct, joined.blocks.weight, joined.blocks.columns["number"], strict=True
    ):
        assert (first, total) == (found[tuple(row)][0], weight[found[tuple(row)]].sum())
    np.testing.assert_array_equal(distinct[joined.member], x)


def test_sparse_rows_whose_keys_collide_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """CSR rows are compared by one number each, and then by themselves."""
    x = sparse.csr_array(counts())
    blocks = Blocks(x, np.ones(x.shape[0]))
    told = joined_rows(blocks)
    monkeypatch.setattr(
        "cmeans.fitting.stages.joined._projections", lambda x: np.zeros((x.shape[0], 1))
    )
    again = joined_rows(blocks)
    for joined in (told, again):
        assert joined.blocks.n_rows == len(np.unique(counts(), axis=0))
        assert (joined.blocks.x[joined.member] != x).nnz == 0


def test_more_distinct_rows_than_wanted_are_not_joined() -> None:
    x = np.arange(20_000.0)[:, None] // 2
    blocks = Blocks(x, np.ones(len(x)))
    assert joined_rows(blocks, 9_999) is None
    joined = joined_rows(blocks, 10_000)  # in a table that has grown
    np.testing.assert_array_equal(joined.blocks.columns["number"], np.arange(0, 20_000, 2))


def test_auto_joins_where_a_sample_says_so() -> None:
    rng = np.random.default_rng(0)
    normal, grid = rng.normal(size=(5_000, 2)), rng.integers(0, 10, size=(5_000, 2)).astype(float)
    one = np.ones(5_000)
    assert joined_if_worth_it(Blocks(normal, one)) is None
    # few rows: nothing is gained
    assert joined_if_worth_it(Blocks(grid[:1_999], one[:1_999])) is None
    assert joined_if_worth_it(Blocks(grid, one)).blocks.n_rows == 100
    # many equal rows, and many distinct ones
    mostly_zero = np.where(rng.random(5_000)[:, None] < 0.3, 0.0, normal)
    assert joined_if_worth_it(Blocks(mostly_zero, one)) is None


# ----------------------------------------------------------------------------------------- the fits


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize(
    ("make", "space", "weighted", "dtype"),
    often(2, MAKES, SPACES, [False, True], [np.float64, np.float32]),
)
def test_the_same_fit_of_fewer_rows(make: str, space: str, weighted: bool, dtype: Any) -> None:
    X = counts(500).astype(dtype)
    weight = np.random.default_rng(2).uniform(0, 3, len(X)) if weighted else None
    plain_sweeps = {} if make == "hard" else {"search": Search(acceleration=None)}
    model, plain = both(make, X, weight, init=POINTS, tol=1e-9, **plain_sweeps, **SPACES[space])
    close = 1e-9 if dtype == np.float64 else 1e-4
    assert model.objective_ == pytest.approx(plain.objective_, rel=close)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_allclose(model.memberships_, plain.memberships_, atol=10 * close)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.memberships_.dtype == dtype
    # rounding decides how many sweeps float32 takes
    assert model.row_visits_ / model.n_iter_ < plain.row_visits_ / plain.n_iter_ / 3
    assert X[model.representatives(2)].shape == (C, 2, 3)


@pytest.mark.usefixtures("sweeps")
def test_against_the_naive_loop() -> None:
    X = counts(300)
    weight = np.random.default_rng(3).uniform(0.1, 3, len(X))
    model = cmeans.FuzzyCMeans(
        C,
        m=2.0,
        init=POINTS,
        max_iter=7,
        tol=0,
        search=Search(acceleration=None, join_equal_rows=True),
    )
    with pytest.warns(ConvergenceWarning):
        model.fit(X, sample_weight=weight)
    twin = naive.fcm_points(X, POINTS, 2.0, 7, weight)
    assert model.objective_ == pytest.approx(twin.objective, rel=1e-9)
    np.testing.assert_allclose(model.memberships_, twin.memberships, atol=1e-9)


def test_row_numbers_are_those_of_the_rows_that_were_given() -> None:
    X = counts()
    model = cmeans.KernelKMeans(
        C, landmarks=20, random_state=0, search=Search(join_equal_rows=True)
    ).fit(X)
    np.testing.assert_array_equal(X[model.landmark_indices_], model.landmarks_)
    exact = cmeans.KernelKMeans(
        C, landmarks=None, random_state=0, search=Search(join_equal_rows=True)
    ).fit(X)
    np.testing.assert_array_equal(X[exact.landmark_indices_], exact.landmarks_)
    assert exact.n_landmarks_ is None
    assert len(np.unique(exact.landmarks_, axis=0)) == len(exact.landmarks_)


@pytest.mark.parametrize("make", MAKES)
def test_copies_in_any_order_are_weights(make: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also above the number of rows up to which rows are drawn in a canonical order, as long as
    there are fewer distinct ones."""
    limited(monkeypatch, canonical_rows=300, fixed_rows=100)
    X = counts()
    distinct, copies = np.unique(X, axis=0, return_counts=True)
    assert len(distinct) < 300
    model = MAKES[make](random_state=1).fit(X)
    weighted = MAKES[make](random_state=1).fit(distinct, sample_weight=copies)
    assert model.objective_ == pytest.approx(weighted.objective_, rel=1e-9)
    np.testing.assert_array_equal(model.labels_, weighted.predict(X))


@pytest.mark.parametrize("join", ["auto", True])
def test_rows_in_files(join: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, loaded_bytes=0, canonical_rows=300, fixed_rows=100, rows_at_once=70)
    X = counts()
    words: dict[str, Any] = {"init": POINTS, "search": Search(join_equal_rows=join)}
    there, here = (MAKES["fuzzy"](**words).fit(x) for x in (Kept(X), X))
    assert there.row_visits_ == here.row_visits_ < 10 * len(X)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    assert there.labels_.dtype == np.int8
    assert not hasattr(there, "memberships_")
    read = []
    model = MAKES["fuzzy"](**words)
    model.fit_predict_to(Kept(X, lambda *span: read.append(span)), tmp_path / "u.parquet")
    # for the samples and once for all rows, none for the results
    assert sum(stop - start for start, stop in read) < 3 * len(X)
    table = pytest.importorskip("pyarrow.parquet").read_table(tmp_path / "u.parquet")
    np.testing.assert_array_equal(table["label"], here.labels_)
    np.testing.assert_array_equal(
        np.column_stack([table[f"u{j}"] for j in range(C)]), here.memberships_
    )


def test_the_same_bits_for_any_number_of_threads() -> None:
    X = np.random.default_rng(0).integers(0, 20, size=(12_000, 3)).astype(float)
    one, *others = (
        MAKES["fuzzy"](random_state=0, n_jobs=jobs, search=Search(join_equal_rows=True)).fit(X)
        for jobs in (1, 2, 5)
    )
    for other in others:
        np.testing.assert_array_equal(one.cluster_centers_, other.cluster_centers_)
        np.testing.assert_array_equal(one.memberships_, other.memberships_)


def test_saved_and_loaded(tmp_path: Path) -> None:
    X = counts()
    model = MAKES["hard"](search=Search(join_equal_rows=True), random_state=0).fit(X)
    cmeans.save(model, tmp_path / "m.safetensors")
    again = cmeans.load(tmp_path / "m.safetensors")
    assert again.search == Search(join_equal_rows=True)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


# ---------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("word", ["yes", "True", 2, None, 0.5, [True], np.array(["auto"]), {}])
def test_words_that_are_no_answer(word: Any) -> None:
    with pytest.raises(
        ValueError, match=r'Search\(join_equal_rows=.*\): give "auto", True or False\.'
    ):
        cmeans.KernelKMeans(C, search=Search(join_equal_rows=word)).fit(counts(50))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"init": np.arange(C)}, "init speaks of single rows"),
        ({"init": np.arange(900) % C}, "init speaks of single rows"),
        ({"init": np.eye(C)[np.arange(900) % C]}, "init speaks of single rows"),
        ({"landmarks": np.arange(10)}, "landmarks holds numbers of rows"),
        ({"landmarks": 800}, "landmarks=800 are more than the .* distinct rows"),
    ],
    ids=["rows", "labels", "memberships", "landmark rows", "too many landmarks"],
)
def test_parameters_about_single_rows(words: dict[str, Any], message: str) -> None:
    """are refused with True, and leave rows as they are with "auto"."""
    call = r"KernelKMeans\(search=Search\(join_equal_rows=True\)(, (init|landmarks)=\.\.\.)?\)"
    with pytest.raises(ValueError, match=rf'{call}: {message}.*take join_equal_rows="auto"'):
        cmeans.KernelKMeans(C, search=Search(join_equal_rows=True), **words).fit(counts())
    assert len(cmeans.KernelKMeans(C, random_state=0, **words).fit(counts()).labels_) == 900


def test_kernel_values_are_refused() -> None:
    gram = counts(50) @ counts(50).T
    with pytest.raises(ValueError, match="kernel values or affinities stand for all rows"):
        cmeans.KernelKMeans(C, kernel="precomputed", search=Search(join_equal_rows=True)).fit(gram)
