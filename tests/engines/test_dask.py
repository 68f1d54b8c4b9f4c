"""Fits and predictions on Dask collections: what the same rows in memory would say, whoever holds
them and whatever happens to them."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import threading
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import cmeans
from cmeans import Search, Sizes
from cmeans.runtime.progress import listening
from every_estimator import EVERY_NAME, FINDING, build, without
from every_estimator import NAMES as KERNELS
from limited import limited
from sweep_choices import once, pairs

pytest.importorskip("dask", reason="Dask is not installed: pip install cmeans[dask]")
distributed = pytest.importorskip(
    "distributed", reason="Dask's workers are not installed: pip install cmeans[dask]"
)
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe", reason="dask[dataframe] is not installed")
pd = pytest.importorskip("pandas")

from cmeans.engines.dask.holder import DaskHolder  # noqa: E402
from cmeans.engines.dask.tasks import Opaque, answered  # noqa: E402
from cmeans.engines.parts.beside import folded  # noqa: E402
from cmeans.engines.parts.partitions import HeldPartitions  # noqa: E402

pytestmark = pytest.mark.slow

CHUNKS = (1100, 900, 50, 1200)
N, D, C = sum(CHUNKS), 5, 3
rng = np.random.default_rng(7)
MIDDLES = np.array([[0.0, 0, 0, 0, 0], [9, 0, 3, 0, 0], [0, 9, 0, -3, 0]])
X = MIDDLES[rng.integers(0, C, N)] + rng.normal(size=(N, D))
WEIGHT = rng.integers(0, 4, N).astype(float)
LANDMARKS = X[::150]
START = MIDDLES + 1.0
SPACES = {
    "linear": {"kernel": "linear"},
    "landmarks": {"kernel": "rbf", "landmarks": LANDMARKS, "gamma": 0.05},
}
FOUR = ["CMeans", "FuzzyCMeans", "KernelKMeans", "PossibilisticCMeans"]


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch):
    """Collections of a few MB would be read and clustered here."""
    limited(monkeypatch, loaded_bytes=0)


def local(workers, **words):
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        dashboard_address=":0",
        **{"processes": False, **words},
    )


@pytest.fixture(scope="module")
def workers(request):
    """A client of so many workers, which fits without an engine take."""
    with local(request.param) as cluster, distributed.Client(cluster):
        yield request.param


@pytest.fixture(scope="module")
def client():
    with local(2) as cluster, distributed.Client(cluster) as client:
        yield client


def rows(x=X):
    return da.from_array(x, chunks=(CHUNKS, (2, D - 2)))


def model(name, **words):
    return getattr(cmeans, name)(**{"n_clusters": C, "random_state": 0, "init": START, **words})


# ---------------------------------------------------------------------------- the same as in memory


@pytest.mark.parametrize(
    ("workers", "name", "space"),
    sorted(pairs([1, 2, 4], FOUR, SPACES), key=lambda choice: choice[0]),
    indirect=["workers"],
)
def test_the_same_start_ends_at_the_same_clusters(workers, name, space):
    words = SPACES[space] | ({"eta_scale": 0.2} if name == "PossibilisticCMeans" else {})
    weight = WEIGHT if workers == 2 else None
    here, there = (
        model(name, **words).fit(X, sample_weight=weight),
        model(name, **words).fit(rows(), sample_weight=weight),
    )
    assert abs(there.objective_ / here.objective_ - 1) < 1e-9
    assert there.n_iter_ == here.n_iter_
    assert there.labels_.dtype == np.int8  # few bytes came
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_array_equal(there.predict(rows()).compute(), there.labels_)


@pytest.mark.parametrize("name", ["KernelKMeans", "FuzzyCMeans"])
@pytest.mark.parametrize("space", SPACES)
def test_sizes_between_bounds_are_those_of_rows_in_memory(client, name, space):
    """Hard ones too, whose rows at borders come from their partitions and are moved there."""
    values = np.round(X)  # so that many rows tie
    words = SPACES[space] | {"sizes": Sizes(least=N // 3 - 1, most=N // 3 + 1)}
    here, there = (model(name, tol=1e-2, **words).fit(x) for x in (values, rows(values)))
    assert abs(there.objective_ / here.objective_ - 1) < 1e-9
    np.testing.assert_allclose(there.prices_, here.prices_, rtol=0, atol=1e-6)
    if name == "KernelKMeans":
        sizes = np.bincount(there.labels_)
        assert sizes.min() >= N // 3 - 1
        assert sizes.max() <= N // 3 + 1


@pytest.mark.parametrize(
    "init", ["k-means++", "k-means||", "random", "random-partition", "max-min"]
)
def test_drawn_starts(client, init):
    words = {"init": init, "kernel": "rbf", "landmarks": 30, "tol": 1e-2}
    words["n_init"] = 2 if init == "random" else 1
    here, there = (
        model("FuzzyCMeans", **words).fit(X),
        model("FuzzyCMeans", engine=cmeans.DaskEngine(client), **words).fit(rows()),
    )
    np.testing.assert_array_equal(there.landmark_indices_, here.landmark_indices_)
    assert there.gamma_ == pytest.approx(here.gamma_, rel=1e-12)
    assert abs(there.objective_ / here.objective_ - 1) < 1e-9
    np.testing.assert_array_equal(there.labels_, here.labels_)


def test_a_start_from_labels_travels_with_the_rows(client):
    labels = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    here, there = (model("KernelKMeans", init=labels, kernel="linear").fit(x) for x in (X, rows()))
    np.testing.assert_array_equal(there.labels_, here.labels_)


REST = {
    "AdaptivePossibilisticCMeans": {"kernel": "linear"},
    "SequentialPossibilisticCMeans": {"kernel": "linear", "tol": 1e-2},
    "ProbabilisticKMeans": {"kernel": "rbf", "landmarks": LANDMARKS, "gamma": 0.05},
    "StreamingFuzzyCMeans": {"kernel": "rbf", "gamma": 0.05, "chunk_size": 700},
    "KernelPatchClustering": {"kernel": "rbf", "gamma": 0.05, "patch_size": 300},
}


@pytest.mark.parametrize("name", without(EVERY_NAME, *FOUR))
def test_the_rest_of_the_family_finds_the_same(client, name):
    words = REST.get(name, {"kernel": "rbf", "gamma": 0.05} if name in KERNELS else {})
    few = da.from_array(X[:900], chunks=((600, 250, 50), (2, D - 2)))
    here, there = (
        build(name, n_clusters=4 if name in FINDING else C, **words).fit(x) for x in (X[:900], few)
    )
    assert there.n_clusters_ == here.n_clusters_
    assert np.mean(there.labels_ == here.labels_) > 0.999


def test_hard_clusters_over_many_landmarks(client):
    """Sweeps that keep bounds of distances: one of them serves all partitions of a worker, and must
    not mix up their rows."""
    words = {"kernel": "rbf", "landmarks": np.arange(140), "gamma": 0.05, "init": [1, 5, 9]}
    here, there = (model("KernelKMeans", **words).fit(x) for x in (X, rows()))
    np.testing.assert_allclose(there.objective_history_, here.objective_history_, rtol=1e-9)
    np.testing.assert_array_equal(there.labels_, here.labels_)


def test_equal_rows_are_joined_here_where_that_is_asked_for(client):
    whole = np.round(X)
    words = {"search": Search(join_equal_rows=True), "kernel": "linear"}
    there, here = (
        model("FuzzyCMeans", **words).fit(x, sample_weight=WEIGHT) for x in (rows(whole), whole)
    )
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_array_equal(there.cluster_centers_, here.cluster_centers_)
    assert there.row_visits_ == here.row_visits_


@pytest.mark.parametrize(("name", "space"), once(FOUR, SPACES))
def test_known_labels_of_rows_on_workers(client, name, space):
    nearest = ((X[:, None] - MIDDLES) ** 2).sum(axis=2).argmin(axis=1)
    known, strength = np.where(rng.random(N) < 0.1, nearest, -1), rng.random(N)
    there, here = (
        model(name, **SPACES[space]).fit(
            x, sample_weight=WEIGHT, known_labels=known, label_strength=strength
        )
        for x in (rows(), X)
    )
    np.testing.assert_array_equal(there.labels_, here.labels_)
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-9)
    sure = model(name, **SPACES[space]).fit(rows(), known_labels=da.from_array(known, chunks=1000))
    np.testing.assert_array_equal(sure.labels_[known >= 0], known[known >= 0])
    with pytest.raises(ValueError, match="must_link needs rows in memory; load a Dask array"):
        model(name, **SPACES[space]).fit(rows(), must_link=[[0, 1]])


def test_progressive_samples_come_here(client, monkeypatch):
    limited(monkeypatch, subsampled_above=1000)
    words = {
        "init": "k-means++",
        "kernel": "rbf",
        "landmarks": 30,
        "search": Search(progressive=True),
    }
    here, there = (model("FuzzyCMeans", **words).fit(x) for x in (X, rows()))
    assert abs(there.objective_ / here.objective_ - 1) < 1e-9


def test_float32_stays(client):
    there = model("FuzzyCMeans", kernel="linear").fit(rows(X.astype(np.float32)))
    assert there.cluster_centers_.dtype == np.float32
    assert (
        model("FuzzyCMeans", kernel="linear")
        .fit(rows(X.round().astype(np.int32)))
        .cluster_centers_.dtype
        == np.float64
    )


def test_sizes_nobody_knows_and_partitions_without_rows(client):
    some = rows()[rows()[:, 0] > -1]
    assert np.isnan(some.shape[0])
    cut = da.concatenate([some, rows()[:0], rows()[rows()[:, 0] > 1e9]])
    here, there = (
        model("FuzzyCMeans", kernel="linear").fit(X[X[:, 0] > -1]),
        model("FuzzyCMeans", kernel="linear").fit(cut),
    )
    np.testing.assert_array_equal(there.labels_, here.labels_)
    assert there.predict(cut).compute().shape == here.labels_.shape


def test_weights_of_dask(client):
    weight = da.from_array(WEIGHT, chunks=(CHUNKS,))
    here, there = (
        model("FuzzyCMeans", kernel="linear").fit(X, sample_weight=w) for w in (WEIGHT, weight)
    )
    far = model("FuzzyCMeans", kernel="linear").fit(rows(), sample_weight=weight)
    assert here.objective_ == there.objective_
    assert abs(far.objective_ / here.objective_ - 1) < 1e-9


def test_the_same_bits_whatever_the_number_of_workers():
    fits, found = list(product(["KernelKMeans", "FuzzyCMeans"], SPACES)), {}
    for number in (1, 3):
        with local(number) as cluster, distributed.Client(cluster) as one:
            engine = cmeans.DaskEngine(one, memory_per_worker=None if number == 1 else 100_000)
            for name, space in fits:
                fitted = model(name, **SPACES[space], engine=engine).fit(
                    rows(), sample_weight=WEIGHT
                )
                fitted.labels_ = np.asarray(fitted.labels_)  # they go with the cluster
                found[name, space, number] = fitted
    for name, space in fits:
        one, other = (found[name, space, number] for number in (1, 3))
        np.testing.assert_array_equal(other.objective_history_, one.objective_history_)
        np.testing.assert_array_equal(other.labels_, one.labels_)
        np.testing.assert_array_equal(
            other._state.centres.coordinates, one._state.centres.coordinates
        )


# ------------------------------------------------------------------------------------- what travels


@pytest.mark.parametrize("made", [cmeans.CMeans, cmeans.papers.PrintedCMeans])
def test_a_sweep_sends_a_worker_no_more_than_centres_and_scales(client, monkeypatch, made):
    sent = []
    start = DaskHolder.started

    def watch(holder, tasks, *more):
        sent.append(tasks)
        return start(holder, tasks, *more)

    monkeypatch.setattr(DaskHolder, "started", watch)
    landmarks = X[::20]
    words = {
        "rule": "fuzzy",
        "kernel": "rbf",
        "landmarks": landmarks,
        "gamma": 0.05,
        "max_iter": 5,
        "tol": 0.0,
    }
    with pytest.warns(ConvergenceWarning):
        made(C, random_state=0, init=START, **words).fit(rows())

    def is_sweep(task):
        """True where workers have the rows in their space, and nothing is written beside them."""
        if task[0] is not answered or task[1].value.reads:
            return False
        return task[1].value.asked.arguments[0].function is folded

    sweeps = [tasks for tasks in sent if all(map(is_sweep, tasks.values()))]
    assert len(sweeps) >= 5
    for tasks in sweeps:
        assert len(tasks) == 2  # one for each worker, which adds its sums itself
        for _, work, numbers, parts, slots, store in tasks.values():
            assert len(pickle.dumps(work)) <= 3 * C * len(landmarks) * 8
            assert parts is None
            assert isinstance(store, distributed.Future)
            assert len(pickle.dumps(slots)) < 500
            assert all(isinstance(slot, Opaque) for slot in slots)
            assert 0 < len(numbers) < len(CHUNKS)


FEW_COME = {
    "seeds": (
        "KernelKMeans",
        {"init": "k-means||", "kernel": "linear", "search": Search(progressive=False)},
    ),
    "labels": (
        "KernelKMeans",
        {"init": "random-partition", "kernel": "linear", "search": Search(progressive=False)},
    ),
    "search": (
        "FuzzyCMeans",
        {"init": "random", "kernel": "rbf", "landmarks": 30, "search": "breathing"},
    ),
    "samples": ("FuzzyCMeans", {"init": "k-means++", "kernel": "linear"}),
    "scales": ("PossibilisticCMeans", {"init": "k-means++", "kernel": "linear"}),
    "graph": ("KernelKMeans", {"init": "k-means++", "kernel": "landmark_graph", "landmarks": 40}),
    "far rows": (
        "SequentialPossibilisticCMeans",
        {"kernel": "linear", "tol": 1e-2, "scaling": "range"},
    ),
    "two steps": ("TwoStepKernelKMeans", {"init": "k-means++", "kernel": "rbf", "landmarks": 100}),
    "gradients": ("ProbabilisticKMeans", {"kernel": "linear", "quantile": 0.9}),
    "single moves": (
        "ProbabilisticKMeans",
        {"kernel": "linear", "solver": "lloyd", "init": "random", "max_iter": 1},
    ),
}


@pytest.mark.parametrize("case", FEW_COME)
@pytest.mark.filterwarnings("ignore:.*max_iter")
def test_nothing_of_the_size_of_the_rows_comes_here(client, monkeypatch, case):
    """Neither rows nor numbers by row: of 20,000 rows a few samples, and 60 kB at a time."""
    limited(
        monkeypatch,
        seeding_rows=200,
        cluster_rows=1,
        fixed_rows=100,
        certified_rows=100,
        adaptive_rows=300,
    )
    limited(monkeypatch, subsampled_above=1000, partition_rows=600, rows_at_once=3000)
    rows_of, answers, bring, results = [], [], HeldPartitions._brought, DaskHolder.gathered

    def brought(self, wanted, parts):
        pieces = bring(self, wanted, parts)
        rows_of.append(sum(map(len, pieces)))
        return pieces

    def came(self, tasks, wanted):
        found = results(self, tasks, wanted)
        answers.append(len(pickle.dumps(found)))
        return found

    monkeypatch.setattr(HeldPartitions, "_brought", brought)
    monkeypatch.setattr(DaskHolder, "gathered", came)
    name, words = FEW_COME[case]
    many = np.concatenate([X + 0.01 * number for number in range(4)])
    words = (
        {"random_state": 0, **words}
        if name in FINDING
        else {"n_clusters": C, "random_state": 0, **words}
    )
    fitted = getattr(cmeans, name)(**words).fit(da.from_array(many, chunks=(5000, D)))
    assert sum(rows_of) <= 6000  # in all samples together
    assert max(answers) < 60_000
    assert isinstance(fitted.labels_, da.Array)


GRADIENTS = {
    "drawn": {},
    "cut short": {"max_iter": 4},
    "nothing leads down at first": {"init": np.full((N, C), 1.0 / C)},
    "an empty cluster": {"init": np.eye(C)[np.arange(N) % (C - 1)]},
    "k-means": {"solver": "lloyd", "init": "random"},
    "not yet": {"solver": "lloyd", "init": "random", "max_iter": 1},
}


@pytest.mark.parametrize(("case", "weighted"), once(GRADIENTS, [True, False]))
@pytest.mark.filterwarnings("ignore:.*max_iter")
def test_gradients_and_single_moves_beside_the_rows(client, case, weighted):
    words = {
        "n_clusters": C,
        "kernel": "rbf",
        "landmarks": LANDMARKS,
        "gamma": 0.05,
        "quantile": 0.6,
        "random_state": 0,
        **GRADIENTS[case],
    }
    weights = (WEIGHT, da.from_array(WEIGHT, chunks=700)) if weighted else (None, None)
    here, there = (
        cmeans.ProbabilisticKMeans(**words).fit(x, sample_weight=w)
        for x, w in zip((X, rows()), weights, strict=True)
    )
    assert isinstance(there.labels_, da.Array)
    np.testing.assert_allclose(there.objective_history_, here.objective_history_, rtol=1e-9)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    assert there.row_visits_ == here.row_visits_


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_gradients_on_workers_go_on_from_a_checkpoint(client, tmp_path, share):
    """From P, and from the partition that it has become."""
    words, heard, file = (
        {"n_clusters": C, "kernel": "linear", "quantile": 0.9, "random_state": 0},
        [],
        tmp_path / "fit.checkpoint",
    )
    with listening(heard.append):
        whole = cmeans.ProbabilisticKMeans(**words).fit(rows())
    left = [int(share * len(heard)) - 1]

    def stop(progress):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt

    with listening(stop), pytest.raises(KeyboardInterrupt):
        cmeans.ProbabilisticKMeans(
            **words, engine=cmeans.DaskEngine(checkpoint=cmeans.Checkpoint(file, sweeps=1))
        ).fit(rows())
    again = cmeans.ProbabilisticKMeans(
        **words, engine=cmeans.DaskEngine(checkpoint=cmeans.Checkpoint(file, resume=True))
    ).fit(rows())
    np.testing.assert_array_equal(again.objective_history_, whole.objective_history_)
    np.testing.assert_array_equal(again.labels_, whole.labels_)


STARTS = ["k-means++", "k-means||", "random", "random-partition", "max-min"]
TOLD = [("sample_weight", "known_labels", "label_strength"), ("sample_weight",), ("known_labels",)]


@pytest.mark.parametrize(
    ("init", "told"),
    [
        pytest.param(*case, marks=() if turn < len(TOLD) else pytest.mark.minutes)
        for turn, case in enumerate(once(STARTS, TOLD))
    ],
)
def test_weights_and_known_labels_of_dask_stay_there(client, monkeypatch, init, told):
    """Those of the rows that are drawn alone come, and the clusters are those of the same numbers
    given as arrays."""
    limited(
        monkeypatch,
        canonical_rows=100,
        seeding_rows=200,
        cluster_rows=1,
        fixed_rows=100,
        certified_rows=100,
        subsampled_above=1000,
    )
    limited(monkeypatch, rows_at_once=1500, partition_rows=600)
    came, bring, words = [], HeldPartitions._brought, {"kernel": "linear", "init": init}

    def brought(self, wanted, parts):
        pieces = bring(self, wanted, parts)
        came.append(sum(map(len, pieces)))
        return pieces

    monkeypatch.setattr(HeldPartitions, "_brought", brought)
    nearest = ((X[:, None] - MIDDLES) ** 2).sum(axis=2).argmin(axis=1)
    known, strength = np.where(np.arange(N) % 7 == 0, nearest, -1), (np.arange(N) % 5) / 4.0
    everything = {"known_labels": known, "label_strength": strength, "sample_weight": WEIGHT}
    here = {name: everything[name] for name in told}
    there = {name: da.from_array(value, chunks=(N // 3,)) for name, value in here.items()}
    far, near = (model("KernelKMeans", **words).fit(rows(), **given) for given in (there, here))
    assert isinstance(far.labels_, da.Array)
    assert sum(came) <= 5000
    assert far.objective_ == pytest.approx(near.objective_, rel=1e-6)
    if "known_labels" in told:
        np.testing.assert_array_equal(far.labels_, near.labels_)


WEIGHED = {
    "sizes": ("KernelKMeans", {"init": START, "sizes": Sizes(least=0.2)}),
    "noise": ("FuzzyCMeans", {"init": START, "noise": 0.05}),
    "gradients": ("ProbabilisticKMeans", {"quantile": 0.5}),
}


@pytest.mark.parametrize("case", WEIGHED)
def test_few_weights_of_dask_are_asked_for(client, monkeypatch, case):
    from cmeans.engines.parts.columns import Column

    limited(
        monkeypatch,
        canonical_rows=100,
        seeding_rows=200,
        cluster_rows=1,
        fixed_rows=100,
        certified_rows=100,
        partition_rows=1000,
    )
    asked, bring = [], Column.__getitem__

    def some(self, which):
        asked.append(bring(self, which))
        return asked[-1]

    monkeypatch.setattr(Column, "__getitem__", some)
    name, words = WEIGHED[case]
    words = {"n_clusters": C, "kernel": "linear", "random_state": 0, **words}
    weights = WEIGHT, da.from_array(WEIGHT, chunks=700)
    here, there = (
        getattr(cmeans, name)(**words).fit(x, sample_weight=w)
        for x, w in zip((X, rows()), weights, strict=True)
    )
    assert sum(map(len, asked)) < 1500
    # whose distance a sample tells
    assert there.objective_ == pytest.approx(here.objective_, rel=0.05 if case == "noise" else 1e-6)


def test_wrong_weights_and_labels_of_dask_are_named(client):
    def given(*wrong):
        values = np.ones(N)
        values[2500] = wrong[0]
        return da.from_array(values, chunks=(700,))

    fit = model("KernelKMeans", kernel="linear").fit
    for words, message in (
        (
            {"sample_weight": given(-1.0)},
            r"sample_weight\[2500\] is -1; weights must not be negative",
        ),
        ({"sample_weight": given(np.inf)}, r"sample_weight\[2500\] is inf; weights must be finite"),
        (
            {"sample_weight": given(1.0)[1:]},
            r"sample_weight has shape \(3249,\); one entry for each of the 3250 rows",
        ),
        ({"sample_weight": 0 * given(1.0)}, "every sample weight is zero"),
        ({"known_labels": given(7.0)}, r"known_labels\[2500\] is 7; labels are 0 \.\.\. 2"),
        ({"known_labels": given(0.5)}, r"known_labels\[2500\] is 0.5; give whole numbers"),
        (
            {"known_labels": given(1.0), "label_strength": given(1.5)},
            r"label_strength\[2500\] is 1.5; it is a share",
        ),
    ):
        with pytest.raises(ValueError, match="KernelKMeans.*" + message):
            fit(rows(), **words)


def test_draws_in_proportion_to_weights_that_are_elsewhere(client):
    from cmeans.sampling.drawing import weights_at
    from cmeans.sampling.population import Population, draw, sample

    weight = np.where(np.arange(N) % 3 == 1, 0.0, 1.0 + np.arange(N) % 4)
    held = cmeans.DaskEngine(client).held(rows(), "Owner")
    column = held.partitions.column(
        da.from_array(weight, chunks=(999,)), lambda part, _: part, "weights", "Owner"
    )
    points = np.random.default_rng(0).uniform(size=300) * weight.sum()
    np.testing.assert_array_equal(weights_at(column).hit(points), weights_at(weight).hit(points))
    np.testing.assert_array_equal(column[np.array([3249, 0, 1100])], weight[[3249, 0, 1100]])
    there, seed = Population(None, column, None, N), np.random.RandomState(0)
    times = sum(
        np.bincount(rows, counts, N)
        for rows, counts in (sample(there, 500, seed) for _ in range(20))
    )
    expected = 20 * 500 * np.bincount(np.arange(N) % 12, weight) / weight.sum()
    np.testing.assert_allclose(np.bincount(np.arange(N) % 12, times), expected, rtol=0.1)
    chosen = np.concatenate([draw(there, 50, seed) for _ in range(40)])
    assert len(np.unique(chosen[:50])) == 50
    np.testing.assert_allclose(
        np.bincount(np.arange(N)[chosen] % 12, minlength=12) / 2000, expected / 10_000, atol=0.04
    )
    few = held.partitions.column(
        da.from_array(np.where(np.arange(N) < 7, 1.0, 0.0), chunks=(999,)),
        lambda part, _: part,
        "weights",
        "Owner",
    )
    np.testing.assert_array_equal(
        np.sort(draw(Population(None, few, None, N), 50, seed)), np.arange(7)
    )


def test_draws_among_all_rows_are_those_in_memory(client, monkeypatch):
    """Keyed by row number, whoever holds the rows."""
    limited(monkeypatch, seeding_rows=500, cluster_rows=1, rows_at_once=1500)
    for init, method in (
        ("k-means||", "auto"),
        ("random-partition", "auto"),
        ("random", "breathing"),
    ):
        words = {"init": init, "search": Search(method, progressive=False)}
        here, there = (model("KernelKMeans", kernel="linear", **words).fit(x) for x in (X, rows()))
        np.testing.assert_array_equal(there.labels_, here.labels_)
        np.testing.assert_allclose(there.objective_history_, here.objective_history_, rtol=1e-9)


def test_a_checkpoint_of_other_rows_or_weights_is_refused(client, tmp_path):
    kept = cmeans.Checkpoint(tmp_path / "kept")
    fit = model("KernelKMeans", kernel="linear", engine=cmeans.DaskEngine(client, checkpoint=kept))
    weight = da.from_array(WEIGHT, chunks=700)
    fit.fit(rows(), sample_weight=weight)
    fit.set_params(engine=cmeans.DaskEngine(client, checkpoint=kept.set_params(resume=True)))
    fit.fit(rows().rechunk((800, D)), sample_weight=WEIGHT)  # the same, otherwise divided
    changed = X.copy()
    changed[3000:] += 50
    with pytest.raises(ValueError, match="was begun with values="):
        fit.fit(da.from_array(changed, chunks=(1000, D)), sample_weight=weight)
    with pytest.raises(ValueError, match="was begun with weights="):
        fit.fit(rows(), sample_weight=weight + 1)
    with pytest.raises(ValueError, match="was begun with weights="):
        fit.fit(rows(), sample_weight=da.from_array(WEIGHT[::-1].copy(), chunks=700))


def test_a_checkpoint_of_other_known_labels_is_refused(client, tmp_path):
    """Two that change places, which sums do not show; the same are known again, wherever they
    are."""
    known, kept = np.arange(N) % 3, cmeans.Checkpoint(tmp_path / "kept")
    fit = model("KernelKMeans", kernel="linear", engine=cmeans.DaskEngine(client, checkpoint=kept))
    fit.fit(rows(), known_labels=da.from_array(known, chunks=700))
    fit.set_params(engine=cmeans.DaskEngine(client, checkpoint=kept.set_params(resume=True)))
    fit.fit(rows(), known_labels=known)
    known[[1000, 3002]] = known[[3002, 1000]]
    assert known[1000] != known[3002]
    with pytest.raises(ValueError, match="was begun with known labels="):
        fit.fit(rows(), known_labels=da.from_array(known, chunks=700))


def test_only_the_rows_that_are_asked_for_come(client):
    far = cmeans.DaskEngine(client).held(rows(), "Owner")
    which = np.array([3249, 0, 1100, 1099, 0, 2000, 2777])
    np.testing.assert_array_equal(far.take(which), X[which])
    np.testing.assert_array_equal(far.part(1000, 3000).take(which[1:3]), X[1000:3000][which[1:3]])
    for start, stop in ((0, N), (0, 1), (1099, 1101), (1900, 2401), (N - 1, N)):
        np.testing.assert_array_equal(far.read(start, stop), X[start:stop])
    assert far.memory(2) >= 3 * max(CHUNKS) * D * 8


# ------------------------------------------------------------------------------- frames and answers

NAMES = list("abcde")


def frame(x=X, names=NAMES):
    return dd.from_pandas(pd.DataFrame(x, columns=names), npartitions=4, sort=False)


def test_frames_are_arrays_with_names(client):
    here, there = (
        model("FuzzyCMeans", kernel="linear").fit(X),
        model("FuzzyCMeans", kernel="linear").fit(frame()),
    )
    assert there.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_array_equal(there.predict(frame()).compute(), here.labels_)
    with pytest.raises(ValueError, match=r"columns of the Dask data frame are \['b', 'a'"):
        there.predict(frame(names=["b", "a", "c", "d", "e"]))
    with pytest.raises(ValueError, match="4 features, but FuzzyCMeans is expecting 5"):
        there.predict(rows()[:, :4])


@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")  # of Dask before 2025
def test_answers_wait_until_they_are_asked_for(client):
    fitted = model("FuzzyCMeans", **SPACES["landmarks"]).fit(X)
    asked = {
        name: getattr(fitted, name)
        for name in ("predict", "predict_proba", "memberships", "transform", "outlier_score")
    }
    for name, question in asked.items():
        answer, known = question(rows()), question(X)
        assert isinstance(answer, da.Array), name
        assert answer.chunks[0] == CHUNKS
        assert answer.dtype == known.dtype
        assert answer.shape == known.shape
        np.testing.assert_allclose(
            answer.compute(scheduler="synchronous"), known, rtol=1e-12, atol=1e-12
        )
    assert abs(fitted.score(rows()) / fitted.score(X) - 1) < 1e-12
    single = fitted.transform(rows(X.astype(np.float32)))
    assert single.dtype == single.compute().dtype == np.float32


def test_a_model_travels_without_its_rows(client):
    fitted = model("FuzzyCMeans", kernel="linear").fit(np.tile(X, (20, 1)))
    answer = fitted.predict(rows())
    assert len(pickle.dumps(dict(answer.dask))) < X.nbytes + 100_000


# ------------------------------------------------------------------------------------------- faults


def bad(row, column, value):
    x = X.copy()
    x[row, column] = value
    return rows(x)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            lambda: bad(2150, 3, np.nan),
            r"contains NaN, first in partition 3 at its row 100 \(row 2150 of all\), column 3",
        ),
        (lambda: bad(5, 0, -np.inf), "contains infinity, first in partition 0 at its row 5"),
        (lambda: rows()[:, 0], "expected a 2-D array"),
        (lambda: rows().astype(complex), "dtype complex128; real numbers"),
        (lambda: rows()[:0], "without rows"),
        (
            lambda: frame().assign(word="x", when=pd.Timestamp("2020-01-01")),
            r"not numbers: 'word' \(.*\), 'when' \(datetime64",
        ),
        (lambda: frame()["a"], "Dask series"),
        (
            lambda: da.from_delayed(__import__("dask").delayed(X), (N, np.nan), float),
            "number of features must be known",
        ),
        (lambda: __import__("dask").delayed(X), r"Delayed\w* of Dask"),
    ],
)
def test_bad_input(client, given, message):
    with pytest.raises(ValueError, match=message) as told:
        model("FuzzyCMeans", kernel="linear").fit(given())
    assert "FuzzyCMeans" in str(told.value)


def test_what_needs_rows_in_memory_says_so(client):
    with pytest.raises(ValueError, match="the exact kernel needs all 3,250 rows"):
        model("FuzzyCMeans", landmarks=None).fit(rows())
    with pytest.raises(ValueError, match="kernel values must be in memory"):
        model("FuzzyCMeans", kernel="precomputed").fit(rows())


def test_without_a_client(monkeypatch):
    monkeypatch.setattr("cmeans.engines.dask.engine.default_client", lambda: None)
    with pytest.raises(
        ValueError, match=r"no Dask client is there; start one .* or pass the array"
    ):
        model("FuzzyCMeans").fit(rows())


@pytest.mark.parametrize("engine", ["dask", 3])
def test_engines_that_are_none(engine):
    with pytest.raises(
        ValueError, match=r"FuzzyCMeans\(engine=.*give an engine, such as cmeans.ThreadEngine"
    ):
        model("FuzzyCMeans", engine=engine).fit(X)
    with pytest.raises(ValueError, match=r"DaskEngine\(client="):
        cmeans.DaskEngine(engine)
    for kind in (cmeans.DaskEngine, cmeans.SparkEngine, cmeans.RayEngine):
        for words in ({"memory_per_worker": -1}, {"memory_budget": "much"}):
            with pytest.raises(ValueError, match=rf"{kind.__name__}\({next(iter(words))}="):
                kind(**words)


def test_errors_of_workers_come_in_their_own_words(client):
    def kernel(a, b):
        if len(a) == 50:  # a partition of its own
            raise ArithmeticError("this partition is odd")
        return np.exp(-0.05 * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))

    with pytest.raises(ArithmeticError, match="this partition is odd"):
        model("FuzzyCMeans", kernel=kernel, landmarks=LANDMARKS).fit(rows())
    with pytest.raises(ValueError, match=r"FuzzyCMeans: .*not finite"):
        model(
            "FuzzyCMeans",
            kernel=lambda a, b: a @ b.T * (np.nan if len(a) == 50 else 1.0),
            landmarks=LANDMARKS,
        ).fit(rows())
    assert model("FuzzyCMeans", kernel="linear").fit(rows()).converged_


def test_an_interrupt_leaves_the_cluster_usable(client):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    bell = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))

    def third_sweep(progress):  # before, a finaliser of Dask's own may be what is interrupted
        if progress.sweep == 3 and bell.ident is None:
            bell.start()

    with listening(third_sweep), pytest.raises(KeyboardInterrupt):
        model(
            "FuzzyCMeans",
            **SPACES["landmarks"],
            tol=0.0,
            max_iter=3000,
            search=Search(acceleration=None),
        ).fit(rows())
    again = model("FuzzyCMeans", kernel="linear").fit(rows())
    assert again.converged_
    distributed.wait(client.persist(again.labels_))  # which are made after the fit
    assert not any(client.processing().values())


class Finalised:
    """Ctrl-C while it is let go of."""

    def __del__(self):
        raise KeyboardInterrupt


def test_an_interrupt_of_a_finaliser_counts(client):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    held = [Finalised()]

    def let_go(progress):
        held.clear()

    with listening(let_go), pytest.raises(KeyboardInterrupt):
        model(
            "FuzzyCMeans",
            **SPACES["landmarks"],
            tol=0.0,
            max_iter=1000,
            search=Search(acceleration=None),
        ).fit(rows())
    assert model("FuzzyCMeans", kernel="linear").fit(rows()).converged_


def test_a_worker_that_joins_is_welcome():
    with local(1) as cluster, distributed.Client(cluster) as client:
        before = model("FuzzyCMeans", **SPACES["landmarks"]).fit(rows())

        def join(progress):
            if progress.sweep == 2 and progress.objective is not None:
                cluster.scale(2)
                client.wait_for_workers(2)

        with listening(join):
            after = model("FuzzyCMeans", **SPACES["landmarks"]).fit(rows())
        np.testing.assert_array_equal(after.objective_history_, before.objective_history_)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        pytest.param("FuzzyCMeans", {"init": START}, marks=pytest.mark.minutes),
        ("ProbabilisticKMeans", {"quantile": 0.9}),  # which keeps memberships beside the rows
    ],
)
def test_a_worker_that_dies_takes_nothing_along(name, words):
    """One of two processes is killed after the second sweep, and a nanny starts another."""
    collection = (
        da.random.RandomState(3).normal(size=(N, D), chunks=(500, D))
        + da.from_array(MIDDLES)[da.arange(N, chunks=500) % C]
    )
    killed = []
    with (
        local(2, processes=True, memory_limit="1GiB", silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        words = {**words, **SPACES["landmarks"], "engine": cmeans.DaskEngine(client)}
        estimator = getattr(cmeans, name)(n_clusters=C, random_state=0, **words)
        before = clone(estimator).fit(collection)

        def kill(progress):
            if progress.sweep == 2 and progress.objective is not None and not killed:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        with listening(kill):
            after = clone(estimator).fit(collection)
        np.testing.assert_array_equal(after.objective_history_, before.objective_history_)
        np.testing.assert_array_equal(after.labels_, before.labels_)
    assert killed


# ------------------------------------------------------------------------------------------- copies


def test_copies_of_an_estimator_with_an_engine(client, tmp_path):
    made = model(
        "FuzzyCMeans", kernel="linear", engine=cmeans.DaskEngine(client, memory_per_worker=10**8)
    )
    for other in (clone(made), copy.deepcopy(made)):
        assert other.engine.client is client
        np.testing.assert_array_equal(other.fit(rows()).labels_, made.fit(rows()).labels_)
    again = pickle.loads(pickle.dumps(made))
    assert again.engine.client is None
    assert again.engine.memory_per_worker == 10**8
    cmeans.save(made, tmp_path / "model")
    stored = cmeans.load(tmp_path / "model")
    assert stored.engine is None
    np.testing.assert_array_equal(stored.predict(X), made.labels_)


@pytest.mark.parametrize("name", ["KernelKMeans", "PossibilisticCMeans"])
@pytest.mark.parametrize("form", ["array", "frame"])
def test_missing_values(client, name, form):
    holes = np.where(np.random.default_rng(1).random(X.shape) < 0.3, np.nan, X)
    holes[np.isnan(holes).all(axis=1), 0] = 1.0
    there = (
        rows(holes) if form == "array" else dd.from_dask_array(rows(holes), columns=list("abcde"))
    )
    fit = model(name, kernel="linear", missing="partial").fit(there)
    here = model(name, kernel="linear", missing="partial").fit(holes)
    np.testing.assert_array_equal(fit.labels_, here.labels_)
    np.testing.assert_array_equal(fit.n_missing_, np.isnan(holes).sum(axis=0))
    assert fit.objective_ == pytest.approx(here.objective_, rel=1e-9)
    np.testing.assert_allclose(fit.transform(there).compute(), here.transform(holes), atol=1e-9)
    with pytest.raises(
        ValueError,
        match=r'contains NaN, first in partition 0 .* or take kernel="linear" and '
        r'missing="partial"',
    ):
        model(name, kernel="linear").fit(there)
    holes[[3, 1500]] = np.nan
    others, words = np.delete(holes, [3, 1500], axis=0), {"kernel": "linear", "missing": "partial"}
    with pytest.warns(UserWarning, match=f"2 of {len(X):,} rows of X have no value at all"):
        fit = model(name, **words).fit(rows(holes))
    labels = np.asarray(fit.labels_)
    np.testing.assert_array_equal(np.flatnonzero(labels < 0), [3, 1500])
    here = model(name, **words).fit(others)
    np.testing.assert_allclose(fit.cluster_centers_, here.cluster_centers_, atol=1e-6)
    np.testing.assert_array_equal(fit.predict(rows(holes)).compute(), labels)
    assert np.isnan(fit.transform(rows(holes)).compute()[[3, 1500]]).all()
    with pytest.warns(UserWarning, match="2 of .* rows of X have no value at all"):
        assert fit.score(rows(holes)) == pytest.approx(here.score(others), rel=1e-6)


def test_memberships_in_the_nearest_clusters(client):
    words = {"m": 1.5, "top_k": 2, "init": X[:4].copy()}
    here, spread = cmeans.FuzzyCMeans(4, **words).fit(X), cmeans.FuzzyCMeans(4, **words).fit(rows())
    np.testing.assert_array_equal(np.asarray(spread.labels_), here.labels_)
    top = here.memberships_top_k(rows())
    np.testing.assert_array_equal(np.asarray(top.clusters), here.memberships_top_k_.clusters)
    np.testing.assert_array_equal(np.asarray(top.values), here.memberships_top_k_.values)
    np.testing.assert_allclose(
        np.asarray(spread.memberships(rows())), here.memberships_.toarray(), atol=1e-9
    )
