"""Which rows become landmarks: randomly pivoted Cholesky against one-at-a-time loops, and how a
stream's landmarks grow."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

from cmeans import KernelKMeans, StreamingFuzzyCMeans
from cmeans.data.blocks import Block, Blocks
from cmeans.kernels import RBF, Linear, Polynomial
from cmeans.landmarks.rpcholesky import PROPOSALS
from cmeans.landmarks.select import rpcholesky
from cmeans.sampling.pairwise import MatrixAffinity
from cmeans.sampling.population import population_of
from cmeans.spaces import landmark_space
from cmeans.streaming import LandmarkCandidates, StreamSummary, first_landmarks, further_landmarks

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]

C = 3


def matrix(K):
    return MatrixAffinity(K, np.diag(K).copy(), np.arange(len(K)))


def rbf_rows(n=120, seed=0, gamma=0.5, d=2):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return RBF(gamma)(X, X)


def left(K, rows):
    """Residual kernel matrix once rows are taken, and its diagonal."""
    rest = (
        K
        - K[:, rows] @ np.linalg.pinv(K[np.ix_(rows, rows)], rcond=1e-11, hermitian=True) @ K[rows]
    )
    return rest, np.maximum(np.diag(rest), 0)


def one_at_a_time(K, weights, count, rng):
    """Randomly pivoted Cholesky as printed (Chen, Epperly, Tropp, Webber 2025, Algorithm 1), with
    weights."""
    rest, rows = K.copy(), []
    for _ in range(count):
        p = weights * np.maximum(np.diag(rest), 0)
        p[rows] = 0
        row = rng.choice(len(K), p=p / p.sum())
        rest = rest - np.outer(rest[:, row], rest[row]) / rest[row, row]
        rows.append(row)
    return rows


# ------------------------------------------------------------------------ randomly pivoted Cholesky


@pytest.mark.parametrize("seed", range(5))
def test_no_row_twice_and_none_without_weight_or_residual(seed):
    K, weights = rbf_rows(seed=seed), np.ones(120)
    weights[::3] = 0
    K[5], K[:, 5] = 0, 0  # a row that the kernel sees as nothing
    rows = rpcholesky(matrix(K), weights, 70, np.random.RandomState(seed))
    assert len(set(rows)) == len(rows) == 70
    assert (weights[rows] > 0).all()
    assert 5 not in rows
    assert rows.dtype == np.intp


@pytest.mark.parametrize("seed", range(5))
def test_of_equal_rows_one_is_taken(seed):
    X = np.random.default_rng(seed).normal(size=(20, 2))
    twice = np.vstack([X, X, X[:5]])
    K = RBF(3.0)(twice, twice)
    rows = rpcholesky(matrix(K), np.ones(45), 45, np.random.RandomState(seed))
    assert len(rows) == len({tuple(twice[row]) for row in rows}) == 20


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("kernel", "rank"), [(Linear(), 4), (Polynomial(degree=2, gamma=1.0, coef0=1.0), 15)]
)
def test_data_of_low_rank_take_as_many_rows_as_their_rank(kernel, rank, seed):
    """Where what rounding leaves is enough, as for all who call it."""
    X = np.random.default_rng(seed).normal(size=(150, 4))
    K = kernel(X, X)
    rows = rpcholesky(
        matrix(K), np.ones(150), 100, np.random.RandomState(seed), enough=1e-12 * np.diag(K).mean()
    )
    assert len(rows) == rank
    assert left(K, rows)[1].max() < 1e-9 * np.diag(K).max()


@pytest.mark.parametrize("enough", [1e-1, 1e-2, 1e-3])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_stops_where_the_mean_residual_is_enough(enough, weighted):
    K = rbf_rows(300)
    weights = np.random.default_rng(1).uniform(0.1, 5, size=300) if weighted else np.ones(300)
    rows = rpcholesky(matrix(K), weights, 200, np.random.RandomState(0), enough=enough)
    assert len(rows) < 200
    assert weights @ left(K, rows)[1] / weights.sum() <= enough * (1 + 1e-9)
    fewer = rpcholesky(matrix(K), weights, len(rows) // 4, np.random.RandomState(0), enough=enough)
    assert len(fewer) == len(rows) // 4  # not before
    assert weights @ left(K, fewer)[1] / weights.sum() > enough
    assert len(rpcholesky(matrix(K), weights, 10, np.random.RandomState(0), enough=1.0)) == 0
    assert len(rpcholesky(matrix(np.zeros((4, 4))), np.ones(4), 2, np.random.RandomState(0))) == 0


@pytest.mark.parametrize("seed", range(4))
def test_what_is_known_is_not_taken_again(seed):
    """Coordinates in the span of five rows: these are never drawn, and with fifteen features ten
    more are all that is missing."""
    X = np.random.default_rng(seed).normal(size=(80, 4))
    K, before = Polynomial(degree=2, gamma=1.0, coef0=1.0)(X, X), [3, 17, 22, 41, 60]
    known = np.linalg.solve(np.linalg.cholesky(K[np.ix_(before, before)]), K[before]).T
    rows = rpcholesky(matrix(K), np.ones(80), 40, np.random.RandomState(seed), known=known)
    assert len(rows) == 10
    assert not set(rows) & set(before)
    assert left(K, [*before, *rows])[1].max() < 1e-9 * np.diag(K).max()
    enough = left(K, before)[1].mean() * (1 + 1e-9)
    assert (
        len(
            rpcholesky(
                matrix(K), np.ones(80), 40, np.random.RandomState(seed), known=known, enough=enough
            )
        )
        == 0
    )


@pytest.mark.parametrize("known", [False, True])
def test_a_row_is_drawn_in_proportion_to_weight_and_residual(known):
    K, weights, before = (
        rbf_rows(12, seed=2),
        np.random.default_rng(3).uniform(0.2, 4, size=12),
        [1, 7],
    )
    coordinates = (
        np.linalg.solve(np.linalg.cholesky(K[np.ix_(before, before)]), K[before]).T
        if known
        else None
    )
    expected = weights * (left(K, before)[1] if known else np.diag(K))
    expected[before] *= not known
    rng, draws = np.random.RandomState(4), 3000
    rows = [rpcholesky(matrix(K), weights, 1, rng, known=coordinates)[0] for _ in range(draws)]
    counts, there = np.bincount(rows, minlength=12), expected > 1e-9
    assert (counts[~there] == 0).all()
    assert chisquare(counts[there], draws * expected[there] / expected.sum()).pvalue > 1e-3


def test_two_rows_are_drawn_as_if_one_after_the_other():
    """Every pair as often as one-at-a-time drawing would, by its exact chances."""
    K, weights, draws = rbf_rows(6, seed=5), np.array([5.0, 1, 2, 1, 3, 1]), 3000
    chances = {}
    for i in range(6):
        rest = weights * left(K, [i])[1]
        rest[i] = 0
        for j in set(range(6)) - {i}:
            pair = frozenset((i, j))
            chances[pair] = chances.get(pair, 0) + weights[i] / weights.sum() * rest[j] / rest.sum()
    rng = np.random.RandomState(6)
    counts = Counter(
        frozenset(rpcholesky(matrix(K), weights, 2, rng).tolist()) for _ in range(draws)
    )
    pairs = list(chances)
    assert (
        chisquare(
            [counts[pair] for pair in pairs], [draws * chances[pair] for pair in pairs]
        ).pvalue
        > 1e-3
    )


def test_a_block_of_proposals_draws_as_one_after_the_other_would():
    """Of two rows that are nearly one, the ten times heavier is taken ten times as often, however
    many rows are drawn at a time."""
    X = np.vstack(
        [[[0.0, 0.0], [1e-3, 0.0]], 10 + 10 * np.random.default_rng(0).normal(size=(11, 2))]
    )
    K, weights, draws = RBF(0.5)(X, X), np.r_[30.0, 3.0, np.ones(11)], 300
    rng, loops = np.random.RandomState(7), np.random.default_rng(8)
    lighter = sum(1 in rpcholesky(matrix(K), weights, 12, rng) for _ in range(draws))
    assert binomtest(lighter, draws, 1 / 11).pvalue > 1e-3
    assert (
        binomtest(
            sum(1 in one_at_a_time(K, weights, 12, loops) for _ in range(draws)), draws, 1 / 11
        ).pvalue
        > 1e-3
    )


@pytest.mark.parametrize("count", [8, 30, PROPOSALS + 20])
def test_many_draws_leave_as_much_as_one_at_a_time_drawing(count):
    K, weights = (
        rbf_rows(160, seed=9, gamma=2.0),
        np.random.default_rng(10).uniform(0.2, 3, size=160),
    )
    rng, loops = np.random.RandomState(11), np.random.default_rng(12)
    ours = [weights @ left(K, rpcholesky(matrix(K), weights, count, rng))[1] for _ in range(40)]
    theirs = [weights @ left(K, one_at_a_time(K, weights, count, loops))[1] for _ in range(40)]
    error = np.sqrt((np.var(ours) + np.var(theirs)) / 40)
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * error
    uniform = [weights @ left(K, loops.choice(160, count, replace=False))[1] for _ in range(40)]
    assert np.mean(ours) < np.mean(uniform)


# ------------------------------------------------------------------------------ landmarks that grow


def cloud(n, seed, centre=0.0, d=3):
    return centre + np.random.default_rng(seed).normal(size=(n, d))


def grown(chunks, limit=24, **words):
    """A model and how many landmarks it had after each chunk."""
    words = {"kernel": RBF(0.3), "m": 1.2, "landmarks": limit, "random_state": 0, **words}
    model = StreamingFuzzyCMeans(C, **words)
    counts, points, losses = [], [], []
    for chunk in chunks:
        model.partial_fit(chunk)
        counts.append(model.n_landmarks_)
        points.append(model.landmarks_)
        losses.append(model.projection_loss_)
    return model, counts, points, losses


@pytest.mark.filterwarnings("ignore:.*squared norm was lost:UserWarning")
@pytest.mark.parametrize("limit", [9, 24, 25])
def test_half_at_first_three_quarters_then_and_the_rest_for_strangers(limit):
    chunks = [cloud(80, seed) for seed in range(5)] + [
        cloud(80, 9, centre=6.0),
        cloud(80, 10, centre=-6.0),
        cloud(80, 11, centre=12.0),
    ]
    model, counts, points, losses = grown(chunks, limit)
    half, most = -(-limit // 2), -(-3 * limit // 4)
    assert counts[:5] == [half, most, most, most, most]
    assert most < counts[5] < counts[6] <= limit  # half of what is left at a time
    assert counts[5] == most + -(-(limit - most) // 2)
    assert counts == sorted(counts)
    assert counts[-1] <= limit
    for before, after in itertools.pairwise(points):
        np.testing.assert_array_equal(after[: len(before)], before)
    for number in range(1, len(chunks)):
        joined = {tuple(row) for row in points[number]} - {tuple(row) for row in points[number - 1]}
        assert joined <= {tuple(row) for row in chunks[number]}
        assert len(joined) == counts[number] - counts[number - 1]
        if joined:
            assert losses[number].max() > 0
        else:
            np.testing.assert_array_equal(losses[number], np.zeros(C))
        assert ((losses[number] >= 0) & (losses[number] <= 1)).all()
    assert model.dual_coef_.shape == (C, counts[-1])
    strangers = Block(cloud(50, 20, centre=6.0), np.ones(50), 0)
    blind, seeing = (
        landmark_space(RBF(0.3), points[number], None, np.float64).residuals(strangers).mean()
        for number in (4, 5)
    )
    assert blind > 0.99
    assert seeing < 0.85


@pytest.mark.filterwarnings(
    "ignore:.*squared norm was lost:UserWarning", "ignore:.*have come together:UserWarning"
)
def test_a_stream_never_has_more_landmarks_than_it_may():
    chunks = [cloud(30, seed, centre=5.0 * max(0, seed - 4)) for seed in range(30)]
    _, counts, _, _ = grown(chunks, 12)
    assert max(counts) == counts[-1] == 12
    model = StreamingFuzzyCMeans(
        C,
        kernel="rbf",
        gamma=0.3,
        m=1.2,
        landmarks=1,
        random_state=0,
        init=chunks[0][:C],
        rule="hard",
    )
    for chunk in chunks[:4]:
        assert model.partial_fit(chunk).n_landmarks_ == 1


def test_rows_that_are_represented_well_bring_none():
    """Features of low rank: what the first chunk spans is all there is."""
    X = cloud(200, 0)
    kernel = Polynomial(degree=2, gamma=1.0, coef0=1.0)
    model, counts, _, losses = grown(np.split(X, 5), 60, kernel=kernel, m=1.5)
    assert counts == [10] * 5  # two squares a feature, three products, three features, one constant
    np.testing.assert_array_equal(losses, np.zeros((5, C)))
    assert model.n_landmarks_ == 10


def test_automatic_numbers():
    """20 a cluster, but no fewer than 300: half of them at first."""
    model = StreamingFuzzyCMeans(
        C, kernel="rbf", gamma=5.0, m=1.2, random_state=0, rule="hard"
    ).partial_fit(cloud(400, 0))
    assert model.n_landmarks_ == 150
    assert (
        StreamingFuzzyCMeans(C, kernel="rbf", gamma=5.0, random_state=0, rule="hard")
        .partial_fit(cloud(40, 0))
        .n_landmarks_
        == 40
    )


def test_given_landmarks_stay_as_they_are():
    points = cloud(7, 1)
    chunks = [cloud(60, 2), cloud(60, 3, centre=6.0)]
    _, counts, kept, losses = grown(chunks, "auto", landmarks=points)
    assert counts == [7, 7]
    np.testing.assert_array_equal(kept[-1], points)
    np.testing.assert_array_equal(losses, np.zeros((2, C)))
    model = StreamingFuzzyCMeans(
        C, kernel="rbf", gamma=0.3, m=1.2, landmarks=np.arange(0, 60, 9), random_state=0
    ).partial_fit(chunks[0])
    np.testing.assert_array_equal(model.partial_fit(chunks[1]).landmarks_, chunks[0][::9])


@pytest.mark.parametrize("kernel", [RBF(0.3), Polynomial(degree=3, gamma=0.2, coef0=1.0)])
def test_earlier_centres_go_into_the_larger_space_whole(kernel):
    """What is not known of them is their part beyond the old landmarks; they are where they
    were."""
    before, after = Blocks(cloud(60, 0), np.ones(60)), Blocks(cloud(60, 1, centre=4.0), np.ones(60))
    rng, reserve = np.random.RandomState(0), LandmarkCandidates(16)
    former = first_landmarks(kernel, before, population_of(before), reserve, rng)
    assert len(former.points) == 8
    space, reserve = further_landmarks(former, after, population_of(after), reserve, rng)
    assert 8 < len(space.points) <= 12
    past = StreamSummary(
        former,
        former.embed(before.take(np.array([1, 5, 9]))),
        np.array([3.0, 2.0, 1.0]),
        np.ones(C),
        6.0,
    )
    moved, share = past.moved(space, space.project(past.centres, former))
    np.testing.assert_allclose(share, np.zeros(C), atol=1e-7)
    np.testing.assert_array_equal(moved.mass, past.mass)
    probe = Block(cloud(20, 2, centre=2.0), np.ones(20), 0)
    np.testing.assert_allclose(
        space.inner_products(moved.centres, probe),
        former.inner_products(past.centres, probe),
        atol=1e-7,
    )
    np.testing.assert_allclose(space.norms(moved.centres), former.norms(past.centres), rtol=1e-7)
    direct = landmark_space(kernel, space.points, None, np.float64)
    assert (direct.project(past.centres, former) - moved.centres).squared_norms().max() < 1e-20


@pytest.mark.filterwarnings("ignore:.*squared norm was lost:UserWarning")
def test_the_loss_of_landmarks_that_join_is_what_sums_before_could_not_know():
    """The share of the chunk's own centres, those of its rows alone, that lies outside the span of
    the landmarks before."""
    chunks = [cloud(80, 0), cloud(60, 1, centre=2.0)]
    model = StreamingFuzzyCMeans(
        C, kernel="rbf", gamma=0.1, m=1.2, landmarks=12, random_state=0, tol=1e-8
    ).partial_fit(chunks[0])
    before = model.landmarks_
    model.partial_fit(chunks[1])
    after = model.landmarks_
    assert len(before) < len(after)
    pull = (model.memberships_**1.2 / (model.memberships_**1.2).sum(axis=0)).T

    def squared_norms(landmarks):
        products = pull @ RBF(0.1)(chunks[1], landmarks)
        return np.einsum(
            "js,js->j", products, np.linalg.solve(RBF(0.1)(landmarks, landmarks), products.T).T
        )

    np.testing.assert_allclose(
        model.projection_loss_, 1 - squared_norms(before) / squared_norms(after), atol=1e-5
    )
    assert 0.01 < model.projection_loss_.min() < model.projection_loss_.max() < 0.99


def test_the_reserve_counts():
    reserve = LandmarkCandidates(20)
    assert reserve.room(10, 0.5) == 5
    assert reserve.room(10, 1e-5) == 0  # well represented
    assert reserve.seeing(14, 0.3) == reserve
    assert reserve.room(15, 0.5) == 0
    usual = reserve.seeing(15, 0.3)
    assert usual.usual == 0.3
    assert usual.seeing(15, 0.9) == usual
    assert [usual.room(15, residual) for residual in (0.3, 0.6, 0.61)] == [0, 0, 3]
    assert [usual.room(count, 1.0) for count in (18, 19, 20, 25)] == [1, 1, 0, 0]


@pytest.mark.parametrize("offset", [0.0, 10.0, 1000.0])
def test_drawing_ends_where_only_rounding_is_left(offset):
    """A polynomial of few features has a small rank, and values so large that its residuals never
    come to nothing."""
    X = np.random.default_rng(0).normal(size=(60, 3)) + offset
    gram = Polynomial(degree=2, gamma=1.0, coef0=1.0)(X, X)
    chosen = rpcholesky(
        MatrixAffinity(gram, np.diag(gram).copy(), np.arange(60)),
        np.ones(60),
        60,
        np.random.RandomState(0),
    )
    assert len(set(chosen.tolist())) == len(chosen)
    assert 4 <= len(chosen) < 60


@pytest.mark.parametrize("far", [0.0, 100.0])
def test_landmarks_of_the_linear_kernel_span_all_rows_with_the_origin_among_them(far):
    """Rows that span all about their mean may not do so about the origin: one more landmark is
    taken."""
    X = np.random.default_rng(0).normal(size=(20, 3)) + far
    X[0] = 0.0
    for seed in range(30):
        model = KernelKMeans(2, kernel="linear", landmarks=20, random_state=seed).fit(X)
        assert len(model.landmarks_) <= 4
        assert model.approximation_.residual < 1e-12
