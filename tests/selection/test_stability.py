"""Agreement with refits: near 1 for clusters that are there, low for those that are cut; the same
wherever rows lie."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import poisson
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

import cmeans
from cmeans import FuzzyCMeans, KernelKMeans, PossibilisticCMeans, StreamingFuzzyCMeans, stability
from cmeans.metrics import match_labels
from cmeans.selection import bootstrap
from cmeans.selection.bootstrap import bootstrap_weights
from limited import limited

pytestmark = pytest.mark.slow

MIDDLES = np.array([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 9.0, 0.0], [0.0, 0.0, 9.0]])
BLOBS, TRUTH = make_blobs(400, centers=MIDDLES, cluster_std=0.8, random_state=3)
FIELDS = ("overall", "error", "clusters", "clusters_error", "rows")


def plain(c, **words):
    return KernelKMeans(c, **{"kernel": "linear", "random_state": 0, **words})


def same(one, other):
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


# -------------------------------------------------------------------------------- bootstrap weights


def test_weights_depend_on_a_rows_number_alone():
    whole = bootstrap_weights(np.ones(1003), 7, 2)
    bounds = ((0, 5), (5, 6), (6, 702), (702, 1003))
    pieces = [bootstrap._drawn(np.ones(stop - start), 7, 2, start) for start, stop in bounds]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
    for seed, replicate in ((8, 2), (7, 3)):
        assert (bootstrap_weights(np.ones(1003), seed, replicate) != whole).mean() > 0.3
    mixed = bootstrap_weights(np.where(np.arange(1003) % 3 == 0, 2.5, 1.0), 7, 2)
    np.testing.assert_array_equal(mixed[np.arange(1003) % 3 != 0], whole[np.arange(1003) % 3 != 0])


@pytest.mark.parametrize("mean", [0.0, 0.3, 1.0, 4.0])
def test_weights_are_poisson(mean):
    drawn = bootstrap_weights(np.full(40_000, mean), 1, 0)
    share = np.array([(drawn == count).mean() for count in range(12)])
    np.testing.assert_allclose(share, poisson.pmf(np.arange(12), mean), atol=0.01)


# ---------------------------------------------------------------------------------------- agreement


def naive_stability(model, X, n_bootstrap, seed, weight):
    """Pair by pair and cluster by cluster, from the labels of the refits."""
    reference = model.predict(X)
    overall, clusters, rows = [], [], np.zeros(len(X))
    for replicate in range(n_bootstrap):
        drawn = bootstrap_weights(weight, seed, replicate)
        other = plain(model.n_clusters, random_state=seed + replicate).fit(X, sample_weight=drawn)
        labels = match_labels(other.labels_, reference, sample_weight=weight)
        rows += labels == reference
        line = []
        for j in range(model.n_clusters):
            ours, theirs = reference == j, labels == j
            line.append(weight[ours & theirs].sum() / weight[ours | theirs].sum())
        clusters.append(line)
        copies = np.repeat(np.arange(len(X)), weight.astype(int))
        a, b = reference[copies], labels[copies]
        together = [(a[i] == a[k], b[i] == b[k]) for i in range(len(a)) for k in range(i)]
        both, first, second = (
            sum(map(test, together)) for test in (all, lambda pair: pair[0], lambda pair: pair[1])
        )
        chance = first * second / len(together)
        overall.append((both - chance) / ((first + second) / 2 - chance))
    return np.mean(overall), np.mean(clusters, axis=0), rows / n_bootstrap


def test_against_loops():
    X = BLOBS[:60]
    weight = np.random.default_rng(0).integers(1, 3, 60).astype(float)
    model = plain(5).fit(X, sample_weight=weight)
    found = stability(model, X, n_bootstrap=3, sample_weight=weight, random_state=11)
    seed = int(np.random.RandomState(11).randint(2**31))
    overall, clusters, rows = naive_stability(model, X, 3, seed, weight)
    assert found.overall == pytest.approx(overall, rel=1e-12)
    np.testing.assert_allclose(found.clusters, clusters, rtol=1e-12)
    np.testing.assert_array_equal(found.rows, rows)
    assert found.n_bootstrap == 3


@pytest.mark.parametrize(
    "model",
    [
        plain(4),
        KernelKMeans(4, kernel="rbf", gamma=0.02, landmarks=30, random_state=0),
        KernelKMeans(4, kernel="rbf", gamma=0.02, landmarks=None, random_state=0),
        FuzzyCMeans(4, random_state=0),
        PossibilisticCMeans(4, random_state=0),
        StreamingFuzzyCMeans(4, random_state=0),
        KernelKMeans(4, kernel="landmark_graph", landmarks=60, random_state=0),
    ],
    ids=["plain", "landmarks", "exact", "fuzzy", "possibilistic", "stream", "graph"],
)
def test_true_clusters_come_again(model):
    found = stability(model.fit(BLOBS), BLOBS, n_bootstrap=5)
    assert found.overall > 0.97
    assert found.clusters.min() > 0.95
    assert found.rows.shape == (400,)
    assert found.rows.mean() > 0.97
    assert "\n      3  " in str(found)
    assert "<tr><td>3</td>" in found._repr_html_()


def test_a_cluster_that_is_cut_does_not():
    found = stability(plain(5).fit(BLOBS), BLOBS)
    split = np.sort(found.clusters)
    assert split[0] < 0.6
    assert split[-1] > 0.95  # some are whole
    assert found.overall < 0.95
    assert found.rows.min() < 0.7


def test_clusters_that_are_joined_do_not():
    """Of four equally distant clouds each sample joins another two."""
    found = stability(plain(3).fit(BLOBS), BLOBS)
    assert found.overall < 0.8


def test_a_given_start_is_no_proof():
    """Refits that all began where the model did would all end there."""
    started = plain(5, init=np.vstack([MIDDLES, [[9.0, 1.0, 0.0]]])).fit(BLOBS)
    assert stability(started, BLOBS).clusters.min() < 0.6


def test_a_kernel_matrix():
    model = KernelKMeans(4, kernel="precomputed", landmarks=None, random_state=0).fit(
        BLOBS @ BLOBS.T
    )
    assert stability(model, BLOBS @ BLOBS.T, n_bootstrap=3).overall > 0.97


def test_rows_of_no_weight_count_for_nothing():
    X = np.vstack([BLOBS, np.random.default_rng(0).normal(40, 1, (50, 3))])
    weight = np.repeat([1.0, 0.0], [400, 50])
    with_them = stability(
        plain(5).fit(X, sample_weight=weight), X, sample_weight=weight, n_bootstrap=4
    )
    without = stability(plain(5).fit(BLOBS), BLOBS, n_bootstrap=4)
    np.testing.assert_allclose(with_them.clusters, without.clusters, rtol=1e-12)
    assert with_them.overall == pytest.approx(without.overall, rel=1e-12)


def test_the_same_again_with_any_threads_and_from_files(tmp_path, monkeypatch):
    limited(monkeypatch, loaded_bytes=0, canonical_rows=0)
    np.save(tmp_path / "rows.npy", BLOBS)
    model = plain(5).fit(BLOBS)
    first = stability(model, BLOBS, n_bootstrap=4, random_state=5)
    same(stability(model, BLOBS, n_bootstrap=4, random_state=5), first)
    same(stability(plain(5, n_jobs=2).fit(BLOBS), BLOBS, n_bootstrap=4, random_state=5), first)
    same(stability(model, tmp_path / "rows.npy", n_bootstrap=4, random_state=5), first)
    assert stability(model, BLOBS, n_bootstrap=4, random_state=6).overall != first.overall


def test_weights_that_files_bring(tmp_path, monkeypatch):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    limited(monkeypatch, loaded_bytes=0, canonical_rows=0)
    weight = np.random.default_rng(0).integers(1, 4, 400).astype(float)
    pq.write_table(
        pa.table({"a": BLOBS[:, 0], "b": BLOBS[:, 1], "c": BLOBS[:, 2], "w": weight}),
        tmp_path / "rows.parquet",
    )
    rows = cmeans.open_blocks(tmp_path / "rows.parquet", columns=["a", "b", "c"], weight="w")
    here = stability(
        plain(5).fit(BLOBS, sample_weight=weight), BLOBS, sample_weight=weight, n_bootstrap=3
    )
    same(stability(plain(5).fit(rows), rows, n_bootstrap=3), here)


def test_the_same_on_dask(monkeypatch):
    pytest.importorskip("distributed")
    da = pytest.importorskip("dask.array")
    from distributed import Client, LocalCluster

    limited(monkeypatch, loaded_bytes=0, canonical_rows=0)
    model, quick = plain(4).fit(BLOBS), plain(4, search=None).fit(BLOBS)
    here = stability(model, BLOBS, n_bootstrap=2)
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster),
    ):
        rows, weight = (
            da.from_array(BLOBS, chunks=(150, 3)),
            np.where(np.arange(len(BLOBS)) % 3 == 0, 2.0, 1.0),
        )
        there = stability(model, rows, n_bootstrap=2)
        assert isinstance(there.rows, da.Array)  # nothing by row came
        same(there, here)
        weighted = stability(
            quick, rows, n_bootstrap=3, sample_weight=da.from_array(weight, chunks=110)
        )
        same(weighted, stability(quick, BLOBS, n_bootstrap=3, sample_weight=weight))
        same(stability(quick, rows, n_bootstrap=3, sample_weight=weight), weighted)


def test_the_model_stays_as_it_is():
    model = plain(4).fit(BLOBS)
    before = dict(vars(model))
    stability(model, BLOBS, n_bootstrap=2)
    assert vars(model) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"model": KMeans(3)}, r"stability\(model=KMeans"),
        ({"n_bootstrap": 1}, "n_bootstrap=1"),
        ({"sample_weight": np.full(400, 1e-3)}, "give weights that count copies"),
        ({"sample_weight": np.ones(3)}, r"stability: sample_weight has shape \(3,\)"),
        ({"X": BLOBS[:, :2]}, "features"),
    ],
)
def test_bad_words(words, message):
    with pytest.raises(ValueError, match=message):
        stability(**{"model": plain(4).fit(BLOBS), "X": BLOBS, **words})


def test_it_needs_a_fit():
    with pytest.raises(NotFittedError):
        stability(plain(4), BLOBS)
