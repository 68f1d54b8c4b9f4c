"""Fits that are told of the clusters of rows: known labels, and rows that must share a cluster."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cmeans
import naive
from cmeans import CMeans, FuzzyCMeans, KernelKMeans, PossibilisticCMeans, Search
from cmeans.data.blocks import Blocks
from cmeans.fitting.stages.linked import loaded_rows
from cmeans.papers import GradientLandmarks
from cmeans.rules import Entropy
from every_estimator import EVERY_NAME, build, without
from limited import limited
from naive_told import partially_supervised_memberships, told_cmeans
from stored_rows import Kept
from sweep_choices import often, pairs

pytestmark = pytest.mark.slow

N, C = 60, 3
MAKES: dict[str, Any] = {
    "hard": KernelKMeans,
    "fuzzy": lambda c, **words: FuzzyCMeans(c, m=1.5, **words),
    "possibilistic": lambda c, **words: PossibilisticCMeans(c, pilot_m=1.4, eta_scale=0.1, **words),
    "entropy": lambda c, **words: CMeans(c, rule=Entropy(T=0.05), **words),
}
SPACES: dict[str, dict[str, Any]] = {
    "linear": {"kernel": "linear"},
    "landmarks": {"kernel": "rbf", "gamma": 0.1, "landmarks": 12},
    "exact": {"kernel": "rbf", "gamma": 0.1, "landmarks": None},
    "gradient": {"kernel": "rbf", "gamma": 0.1, "landmarks": GradientLandmarks(12)},
}


def blobs(n: int = N, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(
        n, centers=[[0, 0, 0], [4, 0, 1], [0, 4, 0]], cluster_std=0.9, random_state=seed
    )


def told_of(
    y: np.ndarray, share: float = 0.2, seed: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Known labels that are not the numbers clusters would have by themselves, strengths, and pairs
    of rows of one class."""
    rng = np.random.default_rng(seed)
    known = np.where(rng.random(len(y)) < share, (y + 1) % C, -1)
    linked = np.array(
        [
            rng.choice(np.flatnonzero(y == label), 2, replace=False)
            for label in rng.integers(0, C, 8)
        ]
    )
    return known, rng.uniform(0.2, 1, len(y)), linked


def groups_of(linked: np.ndarray, n: int) -> np.ndarray:
    return sparse.csgraph.connected_components(
        sparse.coo_array((np.ones(len(linked)), linked.T), shape=(n, n)), directed=False
    )[1]


def shared(
    known: np.ndarray, strength: np.ndarray, groups: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What is known of a group through one of its rows, of all of them."""
    label, share = known.copy(), np.where(known >= 0, strength, 0.0)
    for group in np.unique(groups):
        rows = groups == group
        label[rows], share[rows] = known[rows].max(), share[rows].max()
    return label, share


# ----------------------------------------------------------------------------------- the naive twin


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize("space", ["linear", "exact"])
@pytest.mark.parametrize("m", [1.0, 2.0, 1.7])
@pytest.mark.parametrize("linking", [False, True])
def test_against_the_naive_loop(space: str, m: float, linking: bool) -> None:
    X, y = blobs()
    known, strength, linked = told_of(y)
    linked = (
        linked[[(known[a] < 0 or known[b] < 0) and a != b for a, b in linked]]
        if linking
        else linked[:0]
    )
    groups = groups_of(linked, N)
    label, share = shared(known, strength, groups)
    weights, start = np.random.default_rng(3).uniform(0.2, 3, N), np.array([0, 20, 40])
    K = naive.kernel_matrix(
        X, X, (lambda a, b: naive.rbf(a, b, 0.1)) if space == "exact" else naive.linear
    )
    twin = told_cmeans(K, start, m, 6, weights, label, share, groups)
    words = {**SPACES[space], "init": start, "max_iter": 6, "tol": 0}
    model = (
        KernelKMeans(C, **words)
        if m == 1
        else FuzzyCMeans(C, m=m, search=Search(acceleration=None), **words)
    )
    told = {
        "known_labels": known,
        "label_strength": strength,
        "must_link": linked if linking else None,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # hard fits may end before
        model.fit(X, sample_weight=weights, **told)
    np.testing.assert_allclose(model.memberships_, twin.memberships, atol=1e-9)
    np.testing.assert_allclose(
        model.objective_history_[:-1], twin.history[: len(model.objective_history_) - 1], rtol=1e-9
    )
    assert model.objective_ == pytest.approx(twin.objective, rel=1e-9)
    np.testing.assert_array_equal(model.labels_[groups < N], twin.labels)


def test_partial_supervision_as_pedrycz_and_waletzky_print_it() -> None:
    """For m = 2 and every alpha; their weights of the centres, u^2 + alpha (u - f)^2, are ours."""
    X, y = blobs()
    known = told_of(y)[0]
    for alpha in (0.5, 3.0):
        s = alpha / (1 + alpha)
        model = FuzzyCMeans(C, m=2.0, tol=1e-10, random_state=0).fit(
            X, known_labels=known, label_strength=s
        )
        d2 = naive.point_distances(X, model.cluster_centers_)
        u = partially_supervised_memberships(d2, known, alpha)
        np.testing.assert_allclose(model.memberships_, u, atol=1e-9)
        f = (known[:, None] == np.arange(C)).astype(float)
        w = np.where(known[:, None] >= 0, u**2 + alpha * (u - f) ** 2, u**2)
        np.testing.assert_allclose(
            model.cluster_centers_, w.T @ X / w.sum(axis=0)[:, None], atol=1e-6
        )
        assert model.objective_ == pytest.approx((w * d2).sum(), rel=1e-9)


# -------------------------------------------------------------------------- what is told is kept to


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize(("make", "space"), often(2, MAKES, SPACES))
def test_known_rows_keep_their_labels_and_clusters_their_numbers(make: str, space: str) -> None:
    X, y = blobs()
    known = told_of(y)[0]
    model = MAKES[make](C, random_state=0, **SPACES[space]).fit(X, known_labels=known)
    rows = known >= 0
    np.testing.assert_array_equal(model.labels_[rows], known[rows])
    np.testing.assert_array_equal(model.memberships_[rows], np.eye(C)[known[rows]])
    assert adjusted_rand_score(model.labels_, y) > 0.7
    assert np.mean(model.labels_ == (y + 1) % C) > 0.85
    assert (np.diff(model.objective_history_) <= 1e-9 * abs(model.objective_history_[0])).all()


@pytest.mark.usefixtures("sweeps")
@pytest.mark.parametrize(("make", "space", "labelled"), often(2, MAKES, SPACES, [False, True]))
def test_linked_rows_share_their_label(make: str, space: str, labelled: bool) -> None:
    X, _ = blobs()
    linked = np.array([[i, i + 7] for i in range(0, 12, 3)])  # of all classes
    told = {"known_labels": np.where(np.arange(N) == 3, 2, -1)} if labelled else {}
    model = MAKES[make](C, random_state=0, **SPACES[space]).fit(X, must_link=linked, **told)
    np.testing.assert_array_equal(model.labels_[linked[:, 0]], model.labels_[linked[:, 1]])
    np.testing.assert_array_equal(
        model.memberships_[linked[:, 0]], model.memberships_[linked[:, 1]]
    )
    if labelled:
        assert model.labels_[3] == model.labels_[10] == 2


def test_groups_are_pairs_by_another_name() -> None:
    X, y = blobs()
    linked = told_of(y)[2]
    groups = groups_of(linked, N)
    counts = np.bincount(groups)
    named = np.where(counts[groups] > 1, groups + 5, -1)
    models = [
        FuzzyCMeans(C, random_state=0).fit(X, must_link=given)
        for given in (linked, linked[:, ::-1].tolist(), groups, named)
    ]
    for other in models[1:]:
        np.testing.assert_array_equal(models[0].memberships_, other.memberships_)


@pytest.mark.parametrize("make", MAKES)
def test_nothing_told_changes_nothing(make: str) -> None:
    X, _ = blobs()
    plain = MAKES[make](C, random_state=0).fit(X)
    nothing = (
        {"known_labels": np.full(N, -1)},
        {"known_labels": np.zeros(N, int), "label_strength": 0},
        {"must_link": np.empty((0, 2), int)},
        {"must_link": np.arange(N)},
        {"must_link": np.full(N, -1)},
    )
    for told in nothing:
        np.testing.assert_array_equal(
            MAKES[make](C, random_state=0).fit(X, **told).memberships_, plain.memberships_
        )


@pytest.mark.parametrize("power", [-200, 100])
def test_weights_far_from_one(power: int) -> None:
    X, y = blobs()
    known, strength, _ = told_of(y)
    weight = np.random.default_rng(0).uniform(0.5, 2, N)
    plain, far = (
        FuzzyCMeans(C, m=1.5, random_state=0).fit(
            X, sample_weight=w, known_labels=known, label_strength=strength
        )
        for w in (weight, np.ldexp(weight, power))
    )
    assert far.objective_ == pytest.approx(np.ldexp(plain.objective_, power), rel=1e-9)
    np.testing.assert_array_equal(far.labels_, plain.labels_)


def test_all_labels_known_gives_their_means() -> None:
    X, y = blobs()
    model = KernelKMeans(C, kernel="linear").fit(X, known_labels=y)
    np.testing.assert_allclose(
        model.cluster_centers_, [X[y == j].mean(axis=0) for j in range(C)], atol=1e-12
    )
    np.testing.assert_array_equal(model.labels_, y)
    assert model.objective_ == pytest.approx(
        ((X - model.cluster_centers_[y]) ** 2).sum(), rel=1e-12
    )


@pytest.mark.parametrize(
    "init", ["k-means++", "k-means||", "max-min", "random", "random-partition"]
)
def test_clusters_of_which_no_row_is_known_begin_away_from_the_others(init: str) -> None:
    X, y = make_blobs(
        300, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], cluster_std=0.8, random_state=0
    )
    known = np.full(300, -1)
    known[np.flatnonzero(y == 2)[:3]], known[np.flatnonzero(y == 0)[:3]] = 1, 3
    model = FuzzyCMeans(4, m=1.5, init=init, n_init=5, random_state=0).fit(X, known_labels=known)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert (model.labels_[y == 2] == 1).all()
    assert (model.labels_[y == 0] == 3).all()


@pytest.mark.parametrize("linking", [False, True])
@pytest.mark.parametrize("make", ["hard", "fuzzy"])
def test_a_weight_of_k_is_k_copies(make: str, linking: bool) -> None:
    X, y = blobs()
    known, strength, linked = told_of(y)
    groups = groups_of(linked, N)
    label, share = shared(known, strength, groups) if linking else (known, strength)
    if linking:
        label = np.where(np.isin(groups, groups[linked.ravel()]), -1, known)
    copies = np.random.default_rng(0).integers(1, 4, N)
    start, rows = X[[0, 20, 40]], np.repeat(np.arange(N), copies)
    group = np.where(np.isin(groups, groups[linked.ravel()]), groups, -1)
    told = [
        {
            "known_labels": label[r],
            "label_strength": share[r],
            "must_link": group[r] if linking else None,
        }
        for r in (slice(None), rows)
    ]
    model = MAKES[make](C, init=start, kernel="linear").fit(X, sample_weight=copies, **told[0])
    other = MAKES[make](C, init=start, kernel="linear").fit(X[rows], **told[1])
    assert model.objective_ == pytest.approx(other.objective_, rel=1e-9)
    np.testing.assert_array_equal(model.labels_[rows], other.labels_)


# -------------------------------------------------------------- wherever the rows are, however many


@pytest.mark.parametrize(
    ("make", "strength"), pairs(["hard", "fuzzy", "possibilistic"], [None, 0.6])
)
def test_equal_rows_are_joined_where_all_that_is_known_of_them_is(make: str, strength: Any) -> None:
    X, y = blobs(900)
    X = np.round(X)
    known = told_of(y)[0]
    words = {
        "init": np.array([[0, 4, 0], [0, 0, 0], [4, 0, 1.0]]),
        "tol": 1e-10,
        "kernel": "linear",
    }
    model, plain = (
        MAKES[make](C, search=Search(join_equal_rows=join), **words).fit(
            X, known_labels=known, label_strength=strength
        )
        for join in (True, False)
    )
    assert model.row_visits_ < plain.row_visits_
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_allclose(model.memberships_, plain.memberships_, atol=1e-8)


@pytest.mark.parametrize(("make", "space"), often(1, MAKES, ["linear", "landmarks"]))
def test_rows_in_files(
    make: str, space: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(
        monkeypatch,
        loaded_bytes=0,
        canonical_rows=100,
        fixed_rows=50,
        block_rows=64,
        task_values=1,
        tasks=7,
    )
    X, y = blobs(500)
    known, strength, _ = told_of(y)
    words = {**SPACES[space], "random_state": 0}
    if space == "landmarks":
        words["landmarks"] = X[:12]
    here, there = (
        MAKES[make](C, **words).fit(x, known_labels=known, label_strength=strength)
        for x in (X, Kept(X))
    )
    np.testing.assert_array_equal(here.labels_, there.labels_)
    assert here.objective_ == there.objective_


def test_csr_rows_and_arrays_of_other_libraries() -> None:
    X, y = blobs()
    known, strength, linked = told_of(y)
    linked = linked[[known[a] < 0 or known[b] < 0 or known[a] == known[b] for a, b in linked]]
    torch = pytest.importorskip("torch")
    words = {"init": X[[0, 20, 40]], "kernel": "linear"}
    for told in (
        {"known_labels": known, "label_strength": strength},
        {"must_link": linked},
        {"known_labels": known, "must_link": linked},
    ):
        dense = KernelKMeans(C, **words).fit(X, **told)
        for x in (sparse.csr_matrix(X), torch.asarray(X)):
            model = KernelKMeans(C, **words).fit(x, **told)
            np.testing.assert_array_equal(np.asarray(model.labels_), dense.labels_)
            np.testing.assert_allclose(
                np.asarray(model.memberships_), dense.memberships_, atol=1e-9
            )
            assert model.objective_ == pytest.approx(dense.objective_, rel=1e-9)


def test_float32() -> None:
    X, y = blobs()
    known, strength, linked = told_of(y, share=0.1)
    for told in ({"known_labels": known, "label_strength": strength}, {"must_link": linked}):
        one, two = (
            FuzzyCMeans(C, m=1.8, random_state=0).fit(X.astype(dtype), **told)
            for dtype in (np.float32, np.float64)
        )
        assert one.memberships_.dtype == np.float32
        np.testing.assert_allclose(one.memberships_, two.memberships_, atol=1e-4)


def test_samples_that_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """lead where sweeps over all rows lead."""
    limited(monkeypatch, subsampled_above=900)
    X, y = blobs(6000)
    known = told_of(y, share=0.05)[0]
    linked = np.array([[i, i + 1] for i in range(0, 5999, 2) if y[i] == y[i + 1]])
    for told in ({"known_labels": known}, {"must_link": linked}):
        model, plain = (
            FuzzyCMeans(
                C, m=1.8, random_state=0, search=Search(None, progressive=how), tol=1e-8
            ).fit(X, **told)
            for how in (True, False)
        )
        assert model.row_visits_ != plain.row_visits_
        assert model.objective_ == pytest.approx(plain.objective_, rel=1e-9)


def test_the_same_bits_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch, block_rows=64, task_values=1, tasks=9)
    X, y = blobs(2500)
    known, strength, linked = told_of(y)
    linked = linked[[known[a] < 0 and known[b] < 0 for a, b in linked]]
    told = {"known_labels": known, "label_strength": strength, "must_link": linked}
    one, *others = (
        FuzzyCMeans(C, random_state=0, n_jobs=jobs).fit(X, **told) for jobs in (1, 2, 5)
    )
    for other in others:
        np.testing.assert_array_equal(one.memberships_, other.memberships_)


def test_results_are_written_with_what_is_known(tmp_path: Path) -> None:
    X, y = blobs()
    known = told_of(y)[0]
    model = FuzzyCMeans(C, random_state=0)
    model.fit_predict_to(X, tmp_path / "labels.npy", known_labels=known)
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy")[known >= 0], known[known >= 0])


def test_a_model_saved_predicts_as_before(tmp_path: Path) -> None:
    X, y = blobs()
    model = FuzzyCMeans(C, random_state=0).fit(X, known_labels=told_of(y)[0])
    cmeans.save(model, tmp_path / "m.safetensors")
    again = cmeans.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_checkpoint_of_other_labels_is_not_gone_on_with(tmp_path: Path) -> None:
    X, y = blobs()
    known = told_of(y)[0]
    model = KernelKMeans(
        C, kernel="linear", engine=cmeans.ThreadEngine(checkpoint=tmp_path / "c"), random_state=0
    ).fit(X, known_labels=known)
    again = KernelKMeans(
        C,
        kernel="linear",
        engine=cmeans.ThreadEngine(checkpoint=cmeans.Checkpoint(tmp_path / "c", resume=True)),
        random_state=0,
    )
    np.testing.assert_array_equal(again.fit(X, known_labels=known).labels_, model.labels_)
    for told in ({"known_labels": np.where(known == 2, 1, known)}, {"must_link": [[0, 1]]}):
        with pytest.raises(
            ValueError, match=r"checkpoint: .* was begun with (linked rows|known labels)="
        ):
            again.fit(X, **told)


def test_labels_are_routed_through_a_pipeline() -> None:
    X, y = blobs()
    known = told_of(y)[0]
    with sklearn.config_context(enable_metadata_routing=True):
        model = FuzzyCMeans(C, random_state=0).set_fit_request(known_labels=True)
        pipe = make_pipeline(StandardScaler(), model).fit(X, known_labels=known)
    np.testing.assert_array_equal(pipe[-1].labels_[known >= 0], known[known >= 0])
    np.testing.assert_array_equal(
        FuzzyCMeans(C, random_state=0).fit_predict(X, known_labels=known)[known >= 0],
        known[known >= 0],
    )


# ---------------------------------------------------------------------------------- what is refused

GOOD = np.where(np.arange(N) < 10, 1, -1)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (
            {"known_labels": GOOD[:-1]},
            rf"known_labels has shape \({N - 1},\); one entry for each of the {N} rows",
        ),
        ({"known_labels": GOOD[:, None]}, "known_labels has shape"),
        (
            {"known_labels": np.where(GOOD > 0, 3, -1)},
            r"known_labels\[0\] is 3; labels are 0 \.\.\. 2, or -1",
        ),
        ({"known_labels": GOOD - 1}, r"known_labels\[10\] is -2"),
        (
            {"known_labels": np.where(GOOD > 0, 0.5, -1)},
            r"known_labels\[0\] is 0.5; give whole numbers, -1 where",
        ),
        (
            {"known_labels": np.where(GOOD > 0, 1.0, np.nan)},
            r"known_labels\[10\] is nan; give whole numbers, -1 where",
        ),
        ({"known_labels": np.where(GOOD > 0, "a", "")}, "LabelEncoder"),
        ({"known_labels": GOOD > 0}, "known_labels are bool"),
        ({"known_labels": np.ma.masked_less(GOOD, 0)}, "known_labels has masked entries"),
        ({"known_labels": 1}, "known_labels has shape"),
        ({"label_strength": 0.5}, "label_strength is given without known_labels"),
        ({"known_labels": GOOD, "label_strength": 1.5}, r"label_strength=1.5\): it is a share"),
        (
            {"known_labels": GOOD, "label_strength": -0.5},
            "label_strength must be a number of at least 0",
        ),
        ({"known_labels": GOOD, "label_strength": "full"}, "label_strength must be a number"),
        ({"known_labels": GOOD, "label_strength": np.full(N, 2.0)}, r"label_strength\[0\] is 2"),
        (
            {"known_labels": GOOD, "label_strength": np.full(N, np.nan)},
            r"label_strength\[0\] is nan",
        ),
        ({"known_labels": GOOD, "label_strength": np.ones(3)}, r"label_strength has shape \(3,\)"),
        ({"must_link": [[0, N]]}, f"must_link names row {N}, which does not exist"),
        ({"must_link": [[0, -1]]}, "must_link names row -1"),
        ({"must_link": [[0, 1, 2]]}, r"must_link has shape \(1, 3\)"),
        ({"must_link": [0, 1]}, r"must_link has shape \(2,\)"),
        ({"must_link": [[0.0, 1.0]]}, "must_link are float64"),
        ({"must_link": [[0, 1], [2]]}, "must_link"),
        ({"must_link": np.full(N, -2)}, "must_link holds the group -2"),
        ({"must_link": "all"}, "must_link has shape"),
        (
            {"must_link": [[0, 20]], "known_labels": np.arange(N) % 3},
            "must_link joins rows 0 and 20, whose known_labels are 0 and 2",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(told: dict[str, Any], message: str) -> None:
    model = FuzzyCMeans(C, random_state=0)
    with pytest.raises(ValueError, match=rf"FuzzyCMeans.*{message}"):
        model.fit(blobs()[0], **told)
    assert not hasattr(model, "labels_")


def test_more_clusters_than_there_are_places_to_begin() -> None:
    X = np.repeat([[0.0], [5.0]], 10, axis=0)
    known = np.full(20, -1)
    known[0] = 1
    with pytest.raises(
        ValueError,
        match="rows of 1 clusters are known, and only 1 distinct rows lie away from their means",
    ):
        KernelKMeans(4, kernel="linear").fit(X, known_labels=known)


@pytest.mark.parametrize("told", [{"known_labels": GOOD}, {"must_link": [[0, 1]]}], ids=str)
@pytest.mark.parametrize(
    "name",
    without(
        EVERY_NAME,
        "KernelKMeans",
        "FuzzyCMeans",
        "PossibilisticCMeans",
        "CMeans",
        "GaussianMixture",
        "StreamingFuzzyCMeans",
    ),
)
def test_other_estimators_refuse_it(name: str, told: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError), match=next(iter(told))):
        build(name).fit(blobs()[0], **told)


def test_linked_rows_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are read into memory, where that is allowed, and results are those of the array."""
    limited(monkeypatch, loaded_bytes=0, canonical_rows=10)
    X, y = blobs()
    np.save(tmp_path / "rows.npy", X)
    known, strength, linked = told_of(y)
    linked = linked[[known[a] < 0 and known[b] < 0 for a, b in linked]]
    for words in ({"kernel": "linear"}, {"kernel": "rbf", "landmarks": 30}):
        for told in (
            {"must_link": linked},
            {"must_link": linked, "known_labels": known, "label_strength": strength},
        ):
            inside, stored = (
                FuzzyCMeans(C, random_state=0, **words).fit(rows, **told)
                for rows in (X, tmp_path / "rows.npy")
            )
            np.testing.assert_array_equal(stored.memberships_, inside.memberships_)
            assert (stored.labels_[linked[:, 0]] == stored.labels_[linked[:, 1]]).all()
            counts = FuzzyCMeans(C, random_state=0, **words).fit_predict_to(
                tmp_path / "rows.npy", tmp_path / "out.npy", **told
            )
            np.testing.assert_array_equal(counts, np.bincount(inside.labels_, minlength=C))


def test_breathing_and_rows_on_other_machines_are_refused() -> None:
    with pytest.raises(ValueError, match=r'search="breathing".*cannot come and go'):
        FuzzyCMeans(C, search="breathing").fit(blobs()[0], known_labels=GOOD)
    far = Kept(blobs()[0])
    far.elsewhere = True
    with pytest.raises(ValueError, match="must_link needs rows in memory; load far away"):
        loaded_rows(Blocks(far, np.ones(len(far))), None, "FuzzyCMeans")
