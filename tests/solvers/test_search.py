"""Search: better optima, never worse ones, the same for any number of threads and after any
interruption."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import cmeans
import naive
from cmeans import (
    Checkpoint,
    CMeans,
    FuzzyCMeans,
    KernelKMeans,
    PossibilisticCMeans,
    ProbabilisticKMeans,
    StreamingFuzzyCMeans,
    native,
)
from cmeans.kernels import Polynomial
from cmeans.rules import Entropy
from cmeans.runtime.progress import listening
from cmeans.solvers import search
from cmeans.spaces.centres import Centres
from contracts.arrays import cut_raggedly
from limited import limited, within

pytestmark = pytest.mark.slow

ESTIMATORS = {
    "hard": (KernelKMeans, {"kernel": "linear"}),
    "hard-rbf": (KernelKMeans, {"gamma": 0.01}),
    "fuzzy": (FuzzyCMeans, {"kernel": "linear", "m": 1.3}),
    "fuzzy-landmarks": (FuzzyCMeans, {"kernel": "rbf", "gamma": 0.01, "m": 1.2, "landmarks": 60}),
    "entropy": (CMeans, {"kernel": "linear", "rule": Entropy(0.5)}),
}
over_estimators = pytest.mark.parametrize("name", ESTIMATORS)


def grid(n=900, side=4, seed=0):
    """Blobs on a square grid, of which one start usually misses some."""
    rng = np.random.default_rng(seed)
    centres = 8.0 * np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2)
    return centres[np.arange(n) % len(centres)] + rng.normal(size=(n, 2))


X = grid()


def made(name, **words):
    estimator, own = ESTIMATORS[name]
    return estimator(16, **{"random_state": 0, "init": "random", **own, **words})


@over_estimators
def test_it_finds_what_starts_miss(name):
    """The best of 15 starts in nearly every case, and never worse than the one start it begins
    with."""
    best = made(name, n_init=15, search=None).fit(X).objective_
    plainly = [made(name, random_state=seed, search=None).fit(X).objective_ for seed in range(3)]
    for word in ("auto", "breathing"):
        found = 0
        for seed, plain in enumerate(plainly):
            searched = made(name, random_state=seed, search=word).fit(X).objective_
            assert searched <= plain
            found += searched - best <= 1e-3 * abs(best)
        assert found >= 2


def test_where_nothing_is_gained_the_plain_fit_stands_to_the_bit():
    rows = np.concatenate(
        [np.random.default_rng(0).normal(size=(50, 2)) + at for at in (0.0, 30.0)]
    )
    for estimator in (KernelKMeans, FuzzyCMeans):
        plain, searched = (
            estimator(2, kernel="linear", search=word, random_state=0).fit(rows)
            for word in (None, "auto")
        )
        np.testing.assert_array_equal(plain.cluster_centers_, searched.cluster_centers_)
        np.testing.assert_array_equal(plain.objective_history_, searched.objective_history_)
        assert plain.n_iter_ == searched.n_iter_
        assert plain.row_visits_ < searched.row_visits_


@pytest.mark.parametrize("name", ["hard", "fuzzy", "fuzzy-landmarks"])
def test_every_row_is_counted(name, monkeypatch):
    """Those of sweeps as they are told, and two further passes for each breath."""
    breaths, breathe = [], search._Search._breathe
    monkeypatch.setattr(
        search._Search,
        "_breathe",
        lambda self, now, rng: breaths.append(1) or breathe(self, now, rng),
    )
    swept = []
    with listening(
        lambda message: (
            swept.append(message.n_rows)
            if message.rows_done == message.n_rows and not message.objective
            else None
        )
    ):
        model = made(name, landmarks=20 if "landmarks" in name else "auto").fit(X)
    certificate = model.row_visits_ - sum(swept) - 2 * len(breaths) * len(X)
    assert breaths
    assert certificate in ((0, len(X)) if "landmarks" in name else (0,))
    assert len(model.objective_history_) == model.n_iter_ + 1
    assert model.objective_history_[-1] == model.objective_


@pytest.mark.parametrize("name", ["hard", "fuzzy", "fuzzy-landmarks"])
@pytest.mark.parametrize("word", ["auto", "breathing"])
def test_any_number_of_threads_gives_the_same_bits(name, word, monkeypatch):
    cut_raggedly(monkeypatch, block=101, tasks=7)
    one, *others = (made(name, search=word, n_jobs=jobs).fit(X) for jobs in (1, 2, 5))
    for other in others:
        np.testing.assert_array_equal(one.labels_, other.labels_)
        assert one.objective_ == other.objective_
        assert one.row_visits_ == other.row_visits_


@pytest.mark.parametrize("name", ["hard", "hard-rbf", "fuzzy"])
def test_weights_are_copies_in_any_order(name):
    rng = np.random.default_rng(1)
    rows, count = X[:300], rng.integers(0, 4, size=300)
    copies = rng.permutation(np.repeat(np.arange(300), count))
    once = made(name).fit(rows, sample_weight=count.astype(float))
    every = made(name).fit(rows[copies])
    np.testing.assert_array_equal(once.predict(rows), every.predict(rows))
    assert once.objective_ == pytest.approx(every.objective_, rel=1e-9)


@pytest.mark.parametrize("estimator", [KernelKMeans, FuzzyCMeans])
def test_large_inputs_are_searched_on_a_sample(estimator, monkeypatch):
    limited(monkeypatch, subsampled_above=8000)
    monkeypatch.setattr(search, "ROWS", 100)
    rows, sizes = grid(16_000), []
    with listening(
        lambda message: sizes.append(message.n_rows) if message.stage == "search" else None
    ):
        model = estimator(16, kernel="linear", init="random", random_state=1).fit(rows)
    assert set(sizes) == {4000}
    assert naive_objective(model, rows) < 1.01 * 2 * len(rows)  # two columns of variance one


def naive_objective(model, rows):
    return naive.point_distances(rows[::40], model.cluster_centers_).min(axis=1).sum() * 40


def test_samples_that_show_clusters_poorly_are_not_the_last_word(monkeypatch):
    limited(monkeypatch, subsampled_above=8000)
    rows, sizes = grid(9000), []
    with listening(
        lambda message: sizes.append(message.n_rows) if message.stage == "search" else None
    ):
        KernelKMeans(16, kernel="linear", random_state=0).fit(rows)
    assert set(sizes) == {2250, 9000}


def test_possibilistic_fits_search_in_their_pilot():
    stages = []
    with listening(lambda message: stages.append(message.stage)):
        PossibilisticCMeans(16, kernel="linear", init="random", random_state=0).fit(X)
    order = list(dict.fromkeys(stages))
    assert order.index("pilot") < order.index("search") < order.index("fit")


def test_a_start_that_is_given_is_followed():
    given = X[:256:16]  # all of one blob
    plain, auto = (
        KernelKMeans(16, kernel="linear", init=given, search=word).fit(X) for word in (None, "auto")
    )
    np.testing.assert_array_equal(plain.cluster_centers_, auto.cluster_centers_)
    assert plain.row_visits_ == auto.row_visits_
    asked = KernelKMeans(16, kernel="linear", init=given, search="breathing", random_state=0).fit(X)
    assert asked.objective_ < 0.9 * plain.objective_


@pytest.mark.parametrize("word", ["", "Breathing", 1, True, ["auto"]])
def test_unknown_words(word):
    with pytest.raises(ValueError, match=r"KernelKMeans\(search=.*unknown search"):
        KernelKMeans(3, search=word).fit(X)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("rows", [X[:1], X[:3], np.repeat(X[:2], 50, axis=0), np.zeros((9, 2))])
def test_few_rows(rows):
    for clusters in range(1, min(len(rows), 3) + 1):
        for word in ("auto", "breathing"):
            for estimator in (KernelKMeans, FuzzyCMeans):
                plain, searched = (
                    estimator(clusters, kernel="linear", random_state=0, search=s).fit(rows)
                    for s in (None, word)
                )
                assert searched.objective_ <= plain.objective_ + 1e-12


def test_of_two_neighbours_one_stays():
    """Two centres in one crowd are each of no use while the other is there."""
    centres = Centres.orthonormal(np.array([[0.0], [0.1], [5.0], [9.0], [9.1], [20.0]]))
    utility = np.array([1.0, 1.1, 30.0, 2.0, 2.1, 40.0])
    np.testing.assert_array_equal(search.kept_clusters(utility, centres, 2), [1, 2, 4, 5])
    assert len(search.kept_clusters(utility, centres, 5)) == 1


def test_of_two_nearest_neighbours_the_first_stays_whatever_rounding_says():
    line, utility = np.array([0.0, 1.0, 2.0, 3.0]), np.array([40.0, 1.0, 2.0, 30.0])
    for tilt in (0.0, 1e-15, -1e-15):
        centres = Centres.orthonormal((line + tilt * np.array([0.0, 1, 0, 0]))[:, None])
        np.testing.assert_array_equal(search.kept_clusters(utility, centres, 2), [0, 3])


class EndError(Exception):
    pass


@pytest.mark.parametrize("name", ["hard", "fuzzy"])
@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_search_goes_on_from_a_checkpoint(name, after, tmp_path, monkeypatch):
    whole = made(name).fit(X)
    file, count, breathe = tmp_path / "fit.checkpoint", [], search._Search._breathe

    def interrupted(self, now, rng):
        count.append(now.number)
        if len(count) > after:
            raise EndError
        return breathe(self, now, rng)

    with monkeypatch.context() as patch:
        patch.setattr(search._Search, "_breathe", interrupted)
        model = made(name, engine=cmeans.ThreadEngine(checkpoint=Checkpoint(file, minutes=None)))
        with pytest.raises(EndError):
            model.fit(X)
    seen = []
    monkeypatch.setattr(
        search._Search,
        "_breathe",
        lambda self, now, rng: seen.append(now.number) or breathe(self, now, rng),
    )
    resumed = made(name, engine=cmeans.ThreadEngine(checkpoint=Checkpoint(file, resume=True))).fit(
        X
    )
    assert seen[0] == after
    np.testing.assert_array_equal(resumed.cluster_centers_, whole.cluster_centers_)
    assert (resumed.objective_, resumed.row_visits_, resumed.n_iter_) == (
        whole.objective_,
        whole.row_visits_,
        whole.n_iter_,
    )


@pytest.mark.parametrize("name", ["hard", "fuzzy"])
def test_an_interrupt_leaves_the_plain_fit(name, monkeypatch):
    plain = made(name, search=None).fit(X)

    def interrupted(self, now, rng):
        raise KeyboardInterrupt

    monkeypatch.setattr(search._Search, "_breathe", interrupted)
    model = made(name)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    # clusters are numbered at the end of a fit
    by_first = [np.argsort(each.cluster_centers_[:, 0]) for each in (model, plain)]
    np.testing.assert_array_equal(
        model.cluster_centers_[by_first[0]], plain.cluster_centers_[by_first[1]]
    )
    assert not model.converged_
    assert len(model.predict(X)) == len(X)


def test_soft_fits_leave_optima_that_hard_sweeps_leave_at_once():
    """Unequal clouds: from the fuzzy optimum of this start hard sweeps alone lead on, and no breath
    betters them."""
    rng = np.random.default_rng(1)
    at = rng.normal(0, 6 / np.sqrt(12), (5, 6))
    rows = 1.6 * at[rng.choice(5, 2000, p=[0.5, 0.3, 0.12, 0.05, 0.03])] + rng.normal(
        size=(2000, 6)
    )
    words = {"kernel": "linear", "m": 1.35}
    best = FuzzyCMeans(5, n_init=20, search=None, random_state=0, **words).fit(rows).objective_
    plain = [
        FuzzyCMeans(5, search=None, random_state=seed, **words).fit(rows).objective_
        for seed in range(5)
    ]
    assert max(plain) > 1.01 * best
    for seed in range(5):
        assert FuzzyCMeans(5, random_state=seed, **words).fit(rows).objective_ <= 1.001 * best


STREAM = {"kernel": "linear", "m": 1.3, "init": "random", "n_init": 1, "chunk_size": 200}


@cache
@within()
def shuffled_and_streamed(rule, seed):
    """Rows in an order of chance, and the objective of a stream of them without a search."""
    rows = X[np.random.default_rng(0).permutation(len(X))]
    return rows, StreamingFuzzyCMeans(16, rule=rule, search=None, random_state=seed, **STREAM).fit(
        rows
    ).objective_


@pytest.mark.parametrize("word", ["auto", "breathing"])
@pytest.mark.parametrize("rule", ["fuzzy", "hard"])
def test_streams_search_on_their_first_rows(rule, word, tmp_path):
    """And reach on all rows what starts miss; a stream that is saved while its first rows are held
    goes on as it would have."""
    rows, words = shuffled_and_streamed(rule, 0)[0], {"rule": rule, **STREAM}
    least = 2 * len(rows) * 0.96  # two columns of variance one
    plain = [shuffled_and_streamed(rule, seed)[1] for seed in range(4)]
    found = [
        StreamingFuzzyCMeans(16, search=word, random_state=seed, **words).fit(rows).objective_
        for seed in range(4)
    ]
    assert np.mean(plain) > 1.5 * least
    assert np.sum(np.array(found) < 1.2 * least) >= 3
    whole, stream = (
        StreamingFuzzyCMeans(16, search=word, random_state=0, n_jobs=jobs, **words)
        for jobs in (1, 3)
    )
    for start in range(0, 900, 150):
        whole.partial_fit(rows[start : start + 150])
        stream.partial_fit(rows[start : start + 150])
        cmeans.save(stream, tmp_path / "stream")
        stream = cmeans.load(tmp_path / "stream")
    np.testing.assert_array_equal(whole.cluster_centers_, stream.cluster_centers_)
    assert whole.row_visits_ == stream.row_visits_


def test_k_means_of_partitions_searches_before_its_polish():
    def model(seed, **words):
        return ProbabilisticKMeans(
            16, solver="lloyd", kernel="linear", init="random", random_state=seed, **words
        ).fit(X)

    best = (
        KernelKMeans(16, kernel="linear", n_init=30, search=None, random_state=0).fit(X).objective_
    )
    plain, found = (
        [model(seed, search=None) for seed in range(3)],
        [model(seed, n_jobs=1 + seed % 3) for seed in range(3)],
    )
    assert sum(one.objective_ <= 1.001 * best for one in found) >= 2
    assert max(one.objective_ for one in plain) > 1.1 * best
    for one, other in zip(found, plain, strict=True):
        assert one.objective_ <= other.objective_ * (1 + 1e-9)
        assert one.row_visits_ > other.row_visits_
        assert one.objective_history_[-1] == one.objective_
    assert found[1].objective_ == model(1, n_jobs=1).objective_


@pytest.mark.parametrize("solver", ["fagp", "batched"])
def test_gradients_of_partitions_have_no_use_for_search(solver):
    words = {"solver": solver, "kernel": "linear", "random_state": 0}
    one, other = (
        ProbabilisticKMeans(4, search=word, **words).fit(X[:80]) for word in (None, "auto")
    )
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert one.row_visits_ == other.row_visits_


# Ruspini, Numerical methods for fuzzy clustering, Information Sciences 2, 1970: the 75 points of
# R's package "cluster".
RUSPINI = (
    "4,53 5,63 10,59 9,77 13,49 13,69 12,88 15,75 18,61 19,65 22,74 27,72 28,76 24,58 27,55 28,60 "
    "30,52 31,60 32,61 36,72 "
    "28,147 32,149 35,153 33,154 38,151 41,150 38,145 38,143 32,143 34,141 44,156 44,149 44,143 "
    "46,142 47,149 49,152 50,142 "
    "53,144 52,152 55,155 54,124 60,136 63,139 86,132 85,115 85,96 78,94 74,96 97,122 98,116 "
    "98,124 99,119 99,128 101,115 "
    "108,111 110,111 108,116 111,126 115,117 117,115 70,4 77,12 83,21 61,15 69,15 78,16 66,18 "
    "58,13 64,20 69,21 66,23 61,25 "
    "76,27 72,31 64,30 "
)
# of any partition
LEAST = {4: 12881.05, 5: 10126.72, 6: 8575.41, 7: 7126.20, 8: 6149.64, 9: 5181.65, 10: 4446.28}


@pytest.mark.skipif(
    not native.is_available(), reason="few rows are looked at one by one by native code alone"
)
@pytest.mark.parametrize("c", LEAST)
def test_few_rows_are_parted_as_well_as_can_be(c):
    rows = np.array([point.split(",") for point in RUSPINI.split()], float)
    assert rows.shape == (75, 2)
    for seed in range(5):
        model = KernelKMeans(c, kernel="linear", random_state=seed).fit(rows)
        assert model.objective_ == pytest.approx(LEAST[c], abs=0.01)
    twice = KernelKMeans(c, kernel="linear", random_state=0).fit(
        rows, sample_weight=np.full(75, 2.0)
    )
    assert twice.objective_ == pytest.approx(2 * LEAST[c], abs=0.02)
    # The kernel of inner products, exact on all rows, is the same geometry.
    same = KernelKMeans(
        c, kernel=Polynomial(degree=1, gamma=1.0, coef0=0), landmarks=None, random_state=0
    ).fit(rows)
    assert same.objective_ == pytest.approx(LEAST[c], abs=0.01)


@pytest.mark.parametrize(("n_clusters", "starts"), [(60, 9), (256, 2)])
def test_a_search_ends_within_its_row_visits(n_clusters, starts, monkeypatch):
    """Those of nine further starts, each drawn in the time of twenty sweeps, and of very many
    clusters of two, each in that of three: on rows in which there is always more to gain."""
    x, found = np.random.default_rng(0).uniform(size=(3000, 2)), []

    class Counting(search._Search):
        def run(self, centres):
            found.append((self, super().run(centres)))
            return found[-1][1]

    breaths, breathe = [0], search._Search._breathe

    def counted(self, now, rng):
        after = breathe(self, now, rng)
        breaths.append(after.row_visits - now.row_visits)
        return after

    monkeypatch.setattr(search._Search, "_breathe", counted)
    monkeypatch.setattr(search, "_Search", Counting)
    words = {"kernel": "linear", "random_state": 0}
    plain = cmeans.KernelKMeans(n_clusters, search=None, **words).fit(x)
    cmeans.KernelKMeans(n_clusters, search="auto", **words).fit(x)
    [(_, searched)] = found
    drawing = {9: 20, 2: 3}[starts]
    most = starts * (plain.row_visits_ + drawing * len(x))
    assert most * 0.9 <= searched.row_visits < most + max(breaths)
