"""k-means||: first centres drawn among all rows, against a loop that uses the same draws."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from numpy.random import RandomState

import cmeans.sampling.kmeans_parallel
from cmeans import (
    FuzzyCMeans,
    KernelKMeans,
    PossibilisticCMeans,
    ProbabilisticKMeans,
    TwoStepKernelKMeans,
)
from cmeans.data.blocks import Blocks
from cmeans.data.limits import Limits
from cmeans.engines import ThreadEngine
from cmeans.kernels import RBF, CallableKernel, Laplacian, Linear, Polynomial, Precomputed
from cmeans.papers import GradientLandmarks
from cmeans.sampling.drawing import exponentials, new_key
from cmeans.sampling.kmeans_parallel import scalable_kmeans_plus_plus
from cmeans.sampling.pairwise import Metric
from cmeans.sampling.population import Population, population_of
from cmeans.spaces import LandmarkSpace, landmark_space
from contracts.arrays import DTYPES, FORMS, as_form, on_host
from limited import limited, within

pytestmark = pytest.mark.slow

N = 67
KERNELS = {
    "rbf": RBF(0.3),
    "linear": Linear(),
    "polynomial": Polynomial(gamma=0.5, degree=3, coef0=1.0),
    "laplacian": Laplacian(0.2),
}
SPACES = {
    "euclidean": {"kernel": "linear"},
    "exact": {"kernel": "rbf", "gamma": 0.3, "landmarks": None},
    "landmark": {"kernel": "rbf", "gamma": 0.3, "landmarks": 12},
    "gradient": {"kernel": "rbf", "gamma": 0.3, "landmarks": GradientLandmarks(12)},
    "polynomial": {"kernel": Polynomial(degree=2, gamma=0.5), "landmarks": 12},
}


LARGE = {"seeding_rows": 20, "cluster_rows": 1}


def lattice():
    return np.random.default_rng(0).integers(-16, 17, size=(N, 3)) / 8.0  # float32 holds them too


@pytest.fixture
def X():
    return lattice()


@pytest.fixture
def large(monkeypatch):
    """Inputs of more than 20 rows are large."""
    limited(monkeypatch, **LARGE)


def everybody(weights):
    rows = np.flatnonzero(weights > 0)
    return Population(rows, weights[rows], None, len(weights))


def seeds(metric, people, count, seed, n_threads=1):
    with ThreadEngine(n_threads).opened() as engine:
        return scalable_kmeans_plus_plus(metric, people, count, RandomState(seed), engine)


# ------------------------------------------------------------------------------- the same, in loops


def naive_draw(masses, u):
    """The first row up to which the masses add to more than a share u of their sum."""
    reached, goal = 0.0, u * sum(masses)
    for i, mass in enumerate(masses):
        reached += mass
        if reached > goal:
            return i
    raise AssertionError


def naive_kmeans_plus_plus(d2, weights, count, rng):
    tries = 2 + int(math.log(count))
    chosen = [naive_draw(weights, rng.uniform())]
    while len(chosen) < count:
        nearest = [min(d2[i, j] for j in chosen) for i in range(len(d2))]
        if not sum(weights * nearest) > 0:
            break
        drawn = [naive_draw(weights * nearest, u) for u in rng.uniform(size=tries)]
        sums = [
            sum(
                w * min(near, d2[i, j])
                for i, (w, near) in enumerate(zip(weights, nearest, strict=True))
            )
            for j in drawn
        ]
        chosen.append(drawn[int(np.argmin(sums))])
    return chosen


def naive_scalable(d2, weights, count, rng, rounds=5):
    """k-means|| from the squared distances of all rows (n, n)."""
    possible = [i for i in range(len(d2)) if weights[i] > 0]
    candidates = [possible[naive_draw([weights[i] for i in possible], rng.uniform())]]
    for _ in range(rounds):
        nearest = [min(d2[i, j] for j in candidates) for i in range(len(d2))]
        total = sum(weights[i] * nearest[i] for i in possible)
        keys = exponentials(new_key(rng), 0, len(d2))
        candidates += [i for i in possible if keys[i] < 2 * count * weights[i] * nearest[i] / total]
    share = np.zeros(len(candidates))
    for i in possible:
        share[int(np.argmin([d2[i, j] for j in candidates]))] += weights[i]
    chosen = naive_kmeans_plus_plus(d2[np.ix_(candidates, candidates)], share, count, rng)
    return [candidates[j] for j in chosen]


def distances(gram):
    d2 = np.diag(gram)[:, None] + np.diag(gram)[None, :] - 2.0 * gram
    return np.where(d2 > 1e-12, d2, 0.0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", KERNELS)
def test_against_loops(kernel, weighted):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 3))
    weights = rng.choice([0.0, 0.3, 1.0, 4.0], size=N) if weighted else np.ones(N)
    metric, d2 = (
        Metric(
            KERNELS[kernel], Blocks(X, weights, limits=Limits(block_rows=9, tasks=3, task_values=1))
        ),
        distances(KERNELS[kernel](X, X)),
    )
    for seed in range(5):
        found = seeds(metric, everybody(weights), 4, seed)
        assert found.tolist() == naive_scalable(d2, weights, 4, RandomState(seed))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_distances_among_a_sample(kernel, form, X):
    """Whichever side the kernel has prepared."""
    rows, columns = np.arange(1, N, 2), np.array([3, 0, 20])
    among = Metric(KERNELS[kernel], Blocks(as_form(X, form), np.ones(N))).among(rows)
    gram = KERNELS[kernel](X[rows], X[rows])
    np.testing.assert_allclose(
        among.squared_distances(columns), distances(gram)[:, columns], rtol=1e-9, atol=1e-10
    )


@pytest.mark.parametrize("form", ["numpy", "torch"])
def test_a_given_kernel_matrix_against_loops(form):
    X = np.random.default_rng(2).normal(size=(N, 3))
    gram, weights = RBF(0.3)(X, X), np.ones(N)
    x = as_form(gram, form)
    metric = Metric(Precomputed(), Blocks(x, weights, columns={"kxx": as_form(np.ones(N), form)}))
    for seed in range(5):
        assert seeds(metric, everybody(weights), 4, seed).tolist() == naive_scalable(
            distances(gram), weights, 4, RandomState(seed)
        )


def test_rows_known_by_their_landmarks_columns_against_loops():
    """Their distance is that of the projections and what both leave out."""
    X, listed = np.random.default_rng(3).normal(size=(N, 3)), np.arange(0, N, 5)
    gram = RBF(0.3)(X, X)
    columns = gram[:, listed]
    projected = columns @ np.linalg.solve(gram[np.ix_(listed, listed)], columns.T)
    left_out = 1.0 - np.diag(projected)
    d2 = distances(projected) + left_out[:, None] + left_out[None, :]
    np.fill_diagonal(d2, 0.0)
    space = landmark_space(Precomputed(), np.arange(len(listed)), columns[listed], np.float64)
    metric = Metric(Precomputed(), Blocks(columns, np.ones(N), columns={"kxx": np.ones(N)}), space)
    for seed in range(5):
        found = seeds(metric, everybody(np.ones(N)), 4, seed)
        assert found.tolist() == naive_scalable(d2, np.ones(N), 4, RandomState(seed))


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_row_is_nearest_to_itself_and_its_copies_at_zero(kernel, X):
    X = np.vstack([X, X[:9]]) + 1e3 * (kernel in ("rbf", "linear"))
    rows, blocks = np.array([70, 4, 11, 3]), Blocks(X, np.ones(len(X)))
    number, d2 = Metric(KERNELS[kernel], blocks).nearest_of(rows).nearest(blocks.cut(0, len(X)))
    assert number[rows].tolist() == [0, 1, 2, 3]
    assert (d2[[*rows, N + 4]] == 0).all()
    assert (np.delete(d2, [*rows, N + 4]) >= 0).all()


# ----------------------------------------------------------------- threads, memory, kinds of arrays


def test_threads_and_blocks_change_nothing():
    X = np.random.default_rng(4).normal(size=(3000, 4))
    metric, people = (
        Metric(RBF(0.2), Blocks(X, np.ones(len(X)))),
        population_of(Blocks(X, np.ones(len(X)))),
    )
    once = seeds(metric, people, 9, 0)
    for n_threads in (2, 5):
        np.testing.assert_array_equal(seeds(metric, people, 9, 0, n_threads), once)
    metric = replace(
        metric, blocks=replace(metric.blocks, limits=Limits(block_rows=97, tasks=5, task_values=1))
    )
    np.testing.assert_array_equal(seeds(metric, people, 9, 0, 2), once)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("space", SPACES)
def test_fits_have_the_same_bits_whatever_threads_and_memory(space, X):
    make = partial(
        FuzzyCMeans, 4, m=1.3, init="k-means||", n_init=2, random_state=0, tol=1e-2, **SPACES[space]
    )
    once = make(n_jobs=1).fit(X)
    for words in ({"n_jobs": 2}, {"n_jobs": 5}, {"engine": ThreadEngine(1, memory_budget="60MB")}):
        np.testing.assert_array_equal(make(**words).fit(X).memberships_, once.memberships_)


@cache
@within(**LARGE)
def two_sweeps(space, form="numpy", dtype="float64"):
    with pytest.warns(match="max_iter"):
        return KernelKMeans(
            4, init="k-means||", random_state=0, max_iter=2, tol=0, **SPACES[space]
        ).fit(as_form(lattice(), form, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("space", SPACES)
def test_every_kind_of_array(space, form, dtype):
    """Values that float32 holds give the same draws in it."""
    expected, model = two_sweeps(space), two_sweeps(space, form, dtype)
    assert model.objective_history_[0] == pytest.approx(
        expected.objective_history_[0], rel=1e-9 if dtype == "float64" else 1e-4
    )
    assert on_host(model.memberships_).dtype == dtype


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize(
    "make",
    [
        partial(FuzzyCMeans, m=1.2),
        partial(PossibilisticCMeans, pilot_m=1.2),
        partial(ProbabilisticKMeans, solver="lloyd"),
        partial(TwoStepKernelKMeans, landmarks=40),
        KernelKMeans,
    ],
)
def test_every_estimator_takes_it(make):
    X = np.repeat(np.arange(4.0), 20)[:, None] * [5.0, 3.0] + np.random.default_rng(5).normal(
        scale=0.1, size=(80, 2)
    )
    labels = (
        make(n_clusters=4, kernel="rbf", gamma=0.1, init="k-means||", random_state=0)
        .fit(X)
        .labels_.reshape(4, 20)
    )
    assert (labels == labels[:, :1]).all()
    assert len(set(labels[:, 0])) == 4


@pytest.mark.usefixtures("large")
def test_precomputed_rows(X):
    gram = RBF(0.3)(X, X)
    words = {"init": "k-means||", "random_state": 0}
    by_matrix = KernelKMeans(4, kernel="precomputed", landmarks=None, **words).fit(gram)
    listed = np.arange(0, N, 3)
    columns = {"landmarks": listed, "kernel": Precomputed(diagonal=np.ones(N))}
    by_columns = KernelKMeans(4, **columns, **words).fit(gram[:, listed])
    assert by_matrix.n_clusters_ == by_columns.n_clusters_ == 4


@pytest.mark.usefixtures("large")
def test_starts_share_the_rows_kept(monkeypatch):
    """Seeding asks the kernel about its candidates only, and no start represents a row a second
    time."""
    X = np.random.default_rng(6).normal(size=(3000, 4))
    seen, rows = [], LandmarkSpace.rows
    monkeypatch.setattr(
        LandmarkSpace,
        "rows",
        lambda self, block, room=None: seen.append(len(block.weight)) or rows(self, block, room),
    )
    # it looks at rows anew, in float64
    monkeypatch.setattr("cmeans.fitting.fitted_attributes.certify", lambda *_: None)
    KernelKMeans(3, landmarks=30, init="k-means||", n_init=3, random_state=0).fit(X)
    assert sum(seen) == len(X)


# ---------------------------------------------------------------------------------- weights, copies


def test_only_ratios_of_weights_count():
    rng = np.random.default_rng(7)
    X, weights = rng.normal(size=(300, 2)), rng.uniform(size=300)
    chosen = [
        seeds(Metric(Linear(), Blocks(X, t * weights)), everybody(t * weights), 6, 1).tolist()
        for t in (1.0, 2.0**-30, 2.0**20)
    ]
    assert chosen[0] == chosen[1] == chosen[2]


def test_rows_without_weight_are_never_chosen_and_change_nothing():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(200, 2))
    among, weights = (
        np.vstack([X, 100.0 + rng.normal(size=(50, 2))]),
        np.r_[np.ones(200), np.zeros(50)],
    )
    for seed in range(10):
        alone = seeds(Metric(Linear(), Blocks(X, np.ones(200))), everybody(np.ones(200)), 5, seed)
        np.testing.assert_array_equal(
            seeds(Metric(Linear(), Blocks(among, weights)), everybody(weights), 5, seed), alone
        )


def test_a_weight_of_k_is_drawn_as_often_as_any_of_k_copies():
    X, copies = np.random.default_rng(9).normal(size=(8, 2)), np.array([1, 1, 6, 1, 3, 1, 9, 2])
    repeated = np.repeat(np.arange(8), copies)
    weighted = Metric(Linear(), Blocks(X, copies.astype(float)))
    copied = Metric(Linear(), Blocks(X[repeated], np.ones(len(repeated))))
    counts = np.zeros((2, 8))
    for seed in range(200):
        counts[0, seeds(weighted, everybody(copies.astype(float)), 2, seed)] += 1
        counts[1, repeated[seeds(copied, everybody(np.ones(len(repeated))), 2, seed)]] += 1
    # two and a half deviations of the difference of the commonest row
    assert np.abs(counts[0] - counts[1]).max() < 200 * 0.125


@pytest.mark.parametrize("space", SPACES)
def test_small_inputs_are_seeded_as_k_means_plus_plus_does(space, X):
    make = partial(KernelKMeans, 5, random_state=3, **SPACES[space])
    np.testing.assert_array_equal(
        make(init="k-means||").fit(X).objective_history_,
        make(init="k-means++").fit(X).objective_history_,
    )


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("space", SPACES)
def test_fewer_distinct_rows_than_clusters(space):
    X = np.repeat(np.array([[0.0, 1.0], [2.0, 3.0], [5.0, 1.0]]), [900, 700, 800], axis=0)
    with pytest.warns(UserWarning, match="only 3 distinct rows"):
        model = KernelKMeans(5, init="k-means||", random_state=0, **SPACES[space]).fit(X)
    assert model.n_clusters_ == 3
    assert model.objective_ == pytest.approx(0.0, abs=1e-6)


def test_every_distinct_row_is_found_however_rare():
    X = np.vstack([np.zeros((3000, 2)), np.random.default_rng(10).normal(size=(11, 2))])
    metric, people = Metric(RBF(0.5), Blocks(X, np.ones(len(X)))), everybody(np.ones(len(X)))
    for seed in range(5):
        found = seeds(metric, people, 12, seed)
        assert len(np.unique(X[found], axis=0)) == 12


def test_rounds_go_on_where_five_do_not_find_enough():
    """Each round is blind to whatever is nearer than the farthest rows."""
    X = np.r_[np.zeros(500), 10.0 ** np.arange(1, 9)][:, None]
    metric, people = Metric(Linear(), Blocks(X, np.ones(len(X)))), everybody(np.ones(len(X)))
    for seed in range(5):
        assert len(np.unique(X[seeds(metric, people, 9, seed)])) == 9


# ------------------------------------------------------------------------------------------ quality


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.02)])
def test_every_heap_is_hit(kernel):
    rng = np.random.default_rng(11)
    corners = 10.0 * np.array([(i, j) for i in range(5) for j in range(4)])
    truth = rng.choice(20, size=4000, p=np.arange(1, 21) / 210)
    X = corners[truth] + rng.normal(scale=0.1, size=(4000, 2))
    metric, people = (
        Metric(kernel, Blocks(X, np.ones(len(X)))),
        population_of(Blocks(X, np.ones(len(X)))),
    )
    for seed in range(10):
        assert len(set(truth[seeds(metric, people, 20, seed)])) == 20


def test_the_passes_are_few(monkeypatch):
    X = np.random.default_rng(12).normal(size=(5000, 3))
    joined, join = [], cmeans.sampling.kmeans_parallel._Nearest.join
    monkeypatch.setattr(
        cmeans.sampling.kmeans_parallel._Nearest,
        "join",
        lambda self, rows: joined.append(len(rows)) or join(self, rows),
    )
    assert (
        len(
            seeds(
                Metric(Linear(), Blocks(X, np.ones(5000))),
                population_of(Blocks(X, np.ones(5000))),
                10,
                0,
            )
        )
        == 10
    )
    assert len(joined) == 6
    assert joined[0] == 1
    assert 10 <= np.mean(joined[1:]) <= 30  # 20 on average


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_kernel_that_gives_no_number_is_refused(bad, X):
    metric = Metric(
        CallableKernel(lambda a, b: np.where(a[:, :1] > 1.9, bad, a @ b.T)), Blocks(X, np.ones(N))
    )
    with pytest.raises(ValueError, match="finite"):
        seeds(metric, everybody(np.ones(N)), 3, 0)


def test_distances_whose_sum_overflows_are_refused():
    X = (
        1e153
        * np.random.default_rng(0).uniform(2, 8, size=(50, 1))
        * np.repeat([1, -1], 25)[:, None]
    )
    with pytest.raises(ValueError, match="finite"):
        seeds(Metric(Linear(), Blocks(X, np.ones(50))), everybody(np.ones(50)), 3, 0)
