"""The number of clusters: right where it is known, 1 where there are none, the same from a file and
by a kernel matrix."""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.pipeline import make_pipeline

import cmeans
from cmeans import AdaptivePossibilisticCMeans, Checkpoint, FuzzyCMeans, KernelKMeans, select
from cmeans.runtime.progress import listening
from cmeans.selection import evidence
from cmeans.selection.steps import SelectionSteps
from cmeans.solvers import checkpoints
from cmeans.validity import simplified_silhouette
from limited import limited, within

pytestmark = pytest.mark.slow

BLOBS, _ = make_blobs(300, centers=4, n_features=3, cluster_std=0.8, random_state=3)
PLAIN = KernelKMeans(kernel="linear", random_state=0)
DRAWS = evidence.MOST


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch):
    """Three draws without clusters of each shape, in place of ten, which is enough where clusters
    stand apart."""
    monkeypatch.setattr(evidence, "MOST", evidence.FEWEST)


@pytest.fixture
def all_draws(_few_draws, monkeypatch):
    """As many as there are for users, where the answer hangs on chance."""
    monkeypatch.setattr(evidence, "MOST", DRAWS)


@cache
@within()
def blobs_without_refits():
    return select(PLAIN, BLOBS, (4, 5, 6), n_bootstrap=0)


@cache
@within()
def blobs_with_two_refits():
    return select(PLAIN, BLOBS, (3, 4, 5), n_bootstrap=2, random_state=5)


def naive_silhouette(model, X, weights):
    total = 0.0
    for distances, weight in zip(model.transform(X), weights, strict=True):
        nearest, second = sorted(distances)[:2]
        total += weight * (second - nearest) / second
    return total / weights.sum()


@pytest.mark.parametrize(
    "estimator", [PLAIN, FuzzyCMeans(kernel="rbf", gamma=0.1, landmarks=40, random_state=0)]
)
def test_silhouette_against_a_loop(estimator):
    model = clone(estimator).set_params(n_clusters=3).fit(BLOBS)
    weights = np.random.default_rng(0).integers(0, 4, len(BLOBS)).astype(float)
    expected = naive_silhouette(model, BLOBS, weights)
    assert simplified_silhouette(model, BLOBS, sample_weight=weights) == pytest.approx(
        expected, rel=1e-12
    )
    copies = np.repeat(BLOBS, weights.astype(int), axis=0)
    assert simplified_silhouette(model, copies) == pytest.approx(expected, rel=1e-12)


def test_silhouette_of_points_at_centres_is_one():
    X = np.repeat([[0.0, 0.0], [3.0, 4.0]], 5, axis=0)
    assert (
        simplified_silhouette(clone(PLAIN).set_params(n_clusters=2, search=None).fit(X), X) == 1.0
    )


def test_silhouette_needs_two_clusters_and_a_model():
    one = clone(PLAIN).set_params(n_clusters=1).fit(BLOBS)
    with pytest.raises(ValueError, match=r"simplified_silhouette.*one cluster"):
        simplified_silhouette(one, BLOBS)
    with pytest.raises(ValueError, match=r"simplified_silhouette\(model=3\)"):
        simplified_silhouette(3, BLOBS)


@pytest.mark.parametrize(
    "estimator",
    [
        PLAIN,
        FuzzyCMeans(kernel="linear", random_state=0),
        KernelKMeans(kernel="rbf", gamma=0.02, landmarks=50, random_state=0),
    ],
    ids=["hard", "fuzzy", "rbf"],
)
def test_blobs(estimator):
    selection = select(estimator, BLOBS, range(3, 6), n_bootstrap=2)
    assert selection.n_clusters == 4
    assert selection.estimator.n_clusters == 4
    assert len(np.unique(selection.estimator.labels_)) == 4
    assert list(selection.table["n_clusters"]) == [3, 4, 5]
    assert "4 clusters" in selection.reason
    assert selection.reason in str(selection)
    assert estimator.n_clusters == 8  # as it was


@pytest.mark.usefixtures("all_draws")
@pytest.mark.parametrize("shape", ["normal", "uniform", "long"])
def test_one_cloud_is_one_cluster(shape):
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(200, 3)) if shape == "uniform" else rng.standard_normal((200, 3))
    selection = select(PLAIN, X * ([6, 1, 1] if shape == "long" else 1), range(2, 5), n_bootstrap=0)
    assert selection.n_clusters == 1
    assert selection.reason.startswith("No clusters")
    assert not selection.estimator.labels_.any()


def test_moons_in_their_graph():
    X, _ = make_moons(400, noise=0.05, random_state=0)
    graph = KernelKMeans(kernel="landmark_graph", landmarks=200, random_state=0)
    assert select(graph, X, range(2, 5), n_bootstrap=0).n_clusters == 2


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 200)) + 3 * rng.standard_normal((3, 200))[np.arange(60) % 3]
    assert select(PLAIN, X, (2, 3, 4), n_bootstrap=0).n_clusters == 3


def test_the_same_from_a_file_and_again(tmp_path):
    np.save(tmp_path / "rows.npy", BLOBS)
    first = blobs_with_two_refits()
    again = select(PLAIN, tmp_path / "rows.npy", (3, 4, 5), n_bootstrap=2, random_state=5)
    assert again.n_clusters == first.n_clusters
    np.testing.assert_array_equal(again.table["corrected"], first.table["corrected"])


def test_refits_agree_on_what_is_there():
    table = select(PLAIN, BLOBS, (4, 5, 6), n_bootstrap=8).table
    stability = dict(zip(table["n_clusters"], table["stability"], strict=True))
    assert stability[4] > 0.97
    assert max(stability[c] for c in (5, 6)) < 0.95
    assert (table["stability_error"] >= 0).all()
    without = blobs_without_refits().table
    assert "stability" not in without
    np.testing.assert_array_equal(without["corrected"], table["corrected"])


def test_stability_does_not_depend_on_the_unit_of_weight():
    tables = [
        select(PLAIN, BLOBS, (4,), sample_weight=np.full(300, w), n_bootstrap=3).table
        for w in (1.0, 1 / 300)
    ]
    np.testing.assert_allclose(tables[0]["stability"], tables[1]["stability"], rtol=1e-12)


def test_numbers_with_gaps():
    table = select(PLAIN, BLOBS, (2, 4, 7), n_bootstrap=0).table
    whole = select(PLAIN, BLOBS, range(2, 8), n_bootstrap=0).table
    np.testing.assert_allclose(table["chance"], whole["chance"][[0, 2, 5]], atol=0.02)


def test_the_same_on_dask(monkeypatch):
    pytest.importorskip("distributed")
    da = pytest.importorskip("dask.array")
    from distributed import Client, LocalCluster

    limited(monkeypatch, loaded_bytes=0)
    here = blobs_with_two_refits()
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster),
    ):
        there = select(
            PLAIN, da.from_array(BLOBS, chunks=(125, 3)), (3, 4, 5), n_bootstrap=2, random_state=5
        )
        weighted = {"sample_weight": da.from_array(np.full(len(BLOBS), 2.0), chunks=150)}
        twice = select(
            PLAIN,
            da.from_array(BLOBS, chunks=(125, 3)),
            (3, 4, 5),
            n_bootstrap=0,
            random_state=5,
            **weighted,
        )
        assert twice.n_clusters == 4
    assert there.n_clusters == here.n_clusters == 4
    for name in ("corrected", "stability"):
        np.testing.assert_array_equal(there.table[name], here.table[name])
    np.testing.assert_array_equal(there.estimator.labels_, here.estimator.labels_)


def test_many_rows_are_sampled():
    X, _ = make_blobs(20000, centers=3, n_features=2, cluster_std=0.5, random_state=2)
    selection = select(PLAIN, X, (2, 3, 4), n_bootstrap=0)
    assert selection.n_clusters == 3
    assert selection.estimator.labels_.shape == (20000,)


def test_a_kernel_matrix():
    X = BLOBS[:150]
    selection = select(
        KernelKMeans(kernel="precomputed", landmarks=None, random_state=0),
        X @ X.T,
        (3, 4, 5),
        n_bootstrap=0,
    )
    assert selection.n_clusters == select(PLAIN, X, (3, 4, 5), n_bootstrap=0).n_clusters == 4


def test_weights_count():
    """Rows of weight 0 are not there."""
    X = np.vstack([BLOBS, np.random.default_rng(0).normal(40, 1, (100, 3))])
    weight = np.repeat([1.0, 0.0], [300, 100])
    assert select(PLAIN, X, (2, 4, 5), sample_weight=weight, n_bootstrap=0).n_clusters == 4
    assert select(PLAIN, X, (2, 4, 5), n_bootstrap=0).n_clusters in (2, 5)


def test_a_grid_of_parameters():
    X, _ = make_blobs(300, centers=3, cluster_std=0.6, random_state=4)
    fuzzy = FuzzyCMeans(kernel="rbf", landmarks=40, random_state=0, m=1.5)
    selection = select(fuzzy, X, (2, 3, 4), param_grid={"gamma": [0.05, 500.0]}, n_bootstrap=2)
    assert selection.n_clusters == 3
    assert selection.params == {"gamma": 0.05}  # at 500 all rows are equally far
    assert selection.estimator.gamma == 0.05
    assert list(selection.table["gamma"]) == [0.05] * 3 + [500.0] * 3


@pytest.mark.parametrize("by", ["silhouette", "xie_beni", "stability"])
def test_other_evidence(by):
    assert (
        select(PLAIN, BLOBS, range(3, 6), by=by, n_bootstrap=5 * (by == "stability")).n_clusters
        == 4
    )


def test_starts_that_are_arrays_belong_to_no_trial():
    given = clone(PLAIN).set_params(init=BLOBS[:4], n_clusters=4)
    assert select(given, BLOBS, range(3, 6), n_bootstrap=0).n_clusters == 4


def test_few_rows_have_fewer_clusters():
    selection = select(PLAIN, BLOBS[:6], range(2, 30), n_bootstrap=0)
    assert selection.table["n_clusters"].max() == 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"n_clusters": [1, 2]}, "at least 2"),
        ({"n_clusters": []}, "at least 2"),
        ({"n_clusters": 3}, r"range\(2, 21\)"),
        ({"n_clusters": [400]}, "300 distinct rows"),
        ({"by": "luck"}, r"by='luck'"),
        ({"by": "stability", "n_bootstrap": 0}, "at least 2"),
        ({"n_bootstrap": 1}, "at least 2"),
        ({"n_bootstrap": -1}, "n_bootstrap=-1"),
        (
            {"estimator": 3},
            r"select\(estimator=int\): pass an estimator of this library, such as "
            r"FuzzyCMeans\(\)\.",
        ),
        (
            {"estimator": make_pipeline(PLAIN)},
            r"of a pipeline, select\(pipeline\[-1\], pipeline\[:-1\]\.transform\(X\)\)",
        ),
        (
            {"estimator": AdaptivePossibilisticCMeans(kernel="linear")},
            "finds the number of clusters itself",
        ),
        ({"estimator": KernelKMeans(kernel="precomputed_graph")}, "n_clusters_suggested_"),
        ({"X": [[1.0, np.nan], [0.0, 1.0]]}, "NaN"),
    ],
)
def test_bad_words(words, message):
    given = {"estimator": PLAIN, "X": BLOBS, "n_clusters": range(2, 5)} | words
    with pytest.raises(ValueError, match=message):
        select(**given)


@pytest.mark.minutes  # as the verdicts are
@pytest.mark.usefixtures("all_draws")
@pytest.mark.parametrize(
    ("name", "numbers"),
    [("s1", {15}), ("r15", {15}), ("wine", {3}), ("iris", {2, 3}), ("seeds", {2, 3})],
)
def test_real_sets(data_folder, name, numbers):
    X = np.load(data_folder / f"{name}.npz")["X"].astype(float)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert select(PLAIN, X, random_state=0).n_clusters in numbers


def test_no_fit_to_all_rows():
    chosen = select(PLAIN, BLOBS, range(3, 6), n_bootstrap=0, refit=False).estimator
    assert chosen.n_clusters == 4
    assert not hasattr(chosen, "labels_")


def test_it_is_public():
    assert isinstance(blobs_without_refits(), cmeans.Selection)


class KilledError(Exception):
    """What ends a selection in these tests."""


@pytest.mark.parametrize(
    "columns", [3, pytest.param(70, marks=pytest.mark.minutes)]
)  # rows without clusters are searched otherwise in many
def test_a_selection_that_is_broken_off_goes_on_to_the_same_table(columns, tmp_path, monkeypatch):
    """Wherever: at its first checkpoint, and later."""
    X = np.random.default_rng(0).normal(size=(60, columns)) + np.repeat(
        [[0.0], [4.0], [8.0]], 20, axis=0
    )
    words = {"n_clusters": [2, 3], "n_bootstrap": 2, "param_grid": {"n_init": [1, 2]}}
    whole, write, counts = select(PLAIN, X, **words), checkpoints.write_packed, [0]

    def written(*given):
        write(*given)
        counts[0] += 1
        if counts[0] == stop:
            raise KilledError

    def the_same(other):
        for name in whole.table:
            if name != "seconds":
                np.testing.assert_array_equal(other.table[name], whole.table[name])
        assert (other.reason, other.params) == (whole.reason, whole.params)

    stop, file = -1, tmp_path / "select.checkpoint"
    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "write_packed", written)
        the_same(select(PLAIN, X, **words, checkpoint=Checkpoint(tmp_path / "all", sweeps=1)))
    written_in_all = counts[0]
    for share in (0.0, 0.7):
        stop, counts[0] = max(1, int(share * written_in_all)), 0
        with monkeypatch.context() as patch:
            patch.setattr(checkpoints, "write_packed", written)
            with pytest.raises(KilledError):
                select(PLAIN, X, **words, checkpoint=Checkpoint(file, sweeps=1))
        the_same(select(PLAIN, X, **words, checkpoint=Checkpoint(file, resume=True)))
    with pytest.raises(ValueError, match="was begun with refits="):
        select(PLAIN, X, **{**words, "n_bootstrap": 3}, checkpoint=Checkpoint(file, resume=True))
    other, weight = X.copy(), np.ones(60)
    other[-1] += 1e-9
    weight[-1] = 2.0
    for rows, weights, word in (
        (other, None, "values"),
        (X[::-1], None, "values"),
        (X, weight, "weights"),
    ):
        with pytest.raises(ValueError, match=f"was begun with {word}="):
            select(
                PLAIN,
                rows,
                **words,
                sample_weight=weights,
                checkpoint=Checkpoint(file, resume=True),
            )


def test_a_step_that_is_not_made_again_leaves_the_draws_as_if_it_were(tmp_path):
    def steps(resume):
        kept = Checkpoint(tmp_path / "kept", resume=resume)
        log = checkpoints.CheckpointLog(kept, {}, np.random.RandomState(0))
        return SelectionSteps(log.rng, log), log

    def unmade():
        raise AssertionError("it is made again")

    first, log = steps(resume=False)
    numbers = first.once("one", lambda: first.rng.normal(size=3))  # which leaves half a pair
    log.write()
    again, _ = steps(resume=True)
    np.testing.assert_array_equal(again.once("one", unmade), numbers)
    np.testing.assert_array_equal(again.rng.normal(size=4), first.rng.normal(size=4))


def of_kinds(k):
    rng = np.random.default_rng(0)
    kinds, alike = rng.integers(k, size=600), rng.random((600, 5)) < 0.8
    answers = np.where(alike, kinds[:, None], rng.integers(3, size=(600, 5)))
    return np.eye(3)[answers].reshape(600, 15)


@pytest.mark.parametrize("k", [2, 3])
def test_tables_of_categories_have_clusters(k, all_draws):
    """The answer was 1: a cloud of their covariance has the clusters' directions too."""
    assert select(PLAIN, of_kinds(k), (2, 3, 4), n_bootstrap=0, refit=False).n_clusters == k


def skewed(kind):
    rng = np.random.default_rng(1)
    return {
        "exponential": rng.exponential(size=(400, 1)),
        "rounded": rng.gamma(2.0, size=(400, 2)).round(1),
        "zeros": np.where(rng.random((400, 3)) < 0.6, 0, rng.poisson(3, (400, 3)) + 1),
        "categories": (rng.random((400, 6)) < 0.4).astype(float),
    }[kind]


@pytest.mark.parametrize("kind", ["exponential", "rounded", "zeros", "categories"])
def test_columns_that_are_no_clouds_have_no_clusters(kind):
    assert select(PLAIN, skewed(kind), (2, 3, 4), n_bootstrap=0, refit=False).n_clusters == 1


def test_few_rows_in_their_graph():
    """There were as many landmarks as rows."""
    X, _ = make_blobs(90, centers=3, cluster_std=0.5, random_state=1)
    graph = KernelKMeans(kernel="landmark_graph", random_state=0)
    chosen = select(graph, X, (2, 3, 4, 20), n_bootstrap=0, refit=False)
    assert chosen.n_clusters in (2, 3)


def test_the_most_clusters_that_were_tried(monkeypatch):
    """Few numbers stand for those that are tried where none are given."""
    monkeypatch.setattr(sys.modules["cmeans.selection.select"], "NUMBERS", (10, 20))
    chosen = select(PLAIN, BLOBS, (2, 3, 4), n_bootstrap=0, refit=False)
    assert "No more than 4 were tried" in chosen.reason
    X = np.random.default_rng(0).normal(scale=0.02, size=(300, 2))
    X += 5.0 * np.array([[i, j] for i in range(5) for j in range(5)])[np.arange(300) % 25]
    with pytest.warns(UserWarning, match="20 clusters are the most that were tried"):
        select(clone(PLAIN).set_params(search=None), X, (10, 20), n_bootstrap=0, refit=False)


def test_rows_without_clusters_are_drawn_until_the_answer_does_not_hang_on_chance(monkeypatch):
    """And for some of the numbers of clusters, the first and the last among them."""
    made = []
    usual = evidence._in_a_row

    def noted(known, numbers, here, rng):
        made.append(list(numbers))
        return usual(known, numbers, here, rng)

    monkeypatch.setattr(evidence, "_in_a_row", noted)
    monkeypatch.setattr(evidence, "NULL_ROWS", 100)
    rows = np.random.default_rng(3).normal(size=(200, 2))
    apart = rows + 9.0 * np.eye(3)[np.arange(200) % 3, :2]
    table = select(PLAIN, apart, (2, 3, 4, 5, 6, 7), refit=False).table
    assert made == [[2, 3, 4, 6, 7]] * 2 * evidence.ENOUGH
    between = np.interp(np.log(5), np.log([4, 6]), table["chance"][[2, 4]])
    assert table["chance"][3] == pytest.approx(between)
    assert "stability" not in table
    assert evidence.spaced(list(range(2, 21))) == [2, 3, 4, 6, 8, 11, 15, 20]


def test_the_sample_that_numbers_are_judged_on():
    X, _ = make_blobs(4000, centers=3, random_state=0)
    seen = []

    def noted(estimator, numbers, drawn, *others):
        seen.append(len(drawn.weights))
        return usual(estimator, numbers, drawn, *others)

    usual = select.__globals__["evidence"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(select.__globals__, "evidence", noted)
        for size in ("auto", None, 200):
            assert select(PLAIN, X, (2, 3), sample_size=size, refit=False).n_clusters == 3
    assert seen == [evidence.ROWS, 4000, 200]
    with pytest.raises(ValueError, match="sample_size=0"):
        select(PLAIN, X, sample_size=0)


def test_progress_is_told_by_trials():
    told = []
    with listening(told.append):
        select(PLAIN, BLOBS, (3, 4), refit=False)
    assert {message.stage for message in told} == {"trial"}
    assert [message.run for message in told] == list(range(len(told)))
    assert told[0].n_runs == 2 + 2 * evidence.ENOUGH


@pytest.mark.parametrize("of", [cmeans.ConnectivityClustering, cmeans.ModularityClustering])
def test_estimators_of_graphs_find_the_number_themselves(of):
    with pytest.raises(ValueError, match="finds the number in one fit"):
        select(of(), BLOBS)
    with pytest.raises(ValueError, match="judged by the model itself"):
        cmeans.stability(of(), BLOBS)
