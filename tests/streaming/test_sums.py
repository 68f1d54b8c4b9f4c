"""What a stream carries: sums that add as if all rows were there, their way into other spaces, and
two streams made one."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import blob_streams
import naive
import naive_streams
from blob_streams import BLOBS, C, cut, with_gamma
from blob_streams import stream as stream_of
from cmeans import FuzzyCMeans, KernelPatchClustering
from cmeans.data.blocks import Block, Blocks
from cmeans.engines import ThreadEngine
from cmeans.kernels import RBF, Linear, Polynomial
from cmeans.papers.meta_vectors import MetaVectors
from cmeans.papers.projection import chunk_space, projected
from cmeans.rules import Fuzzy, Hard
from cmeans.spaces import EuclideanSpace, ExactSpace, landmark_space, spanning_space
from cmeans.spaces.centres import Centres
from cmeans.streaming import SettledSums, StreamSummary
from cmeans.sweeps.problem import Problem
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State

# which it may take all the same
pytestmark = pytest.mark.filterwarnings("ignore:.*kernel=.linear. needs no .*landmarks")

M = 1.7
blobs = partial(blob_streams.blobs, scale=0.7)
SIZES = (20, 9, 14, 17)
KERNELS = {
    "rbf": (RBF(0.5), partial(naive.rbf, gamma=0.5)),
    "polynomial": (
        Polynomial(degree=2, gamma=1.0, coef0=1.0),
        partial(naive.polynomial, gamma=1, coef0=1, degree=2),
    ),
    "linear": (Linear(), naive.linear),
}
SPACES = {
    "euclidean": ("linear", lambda _, blocks: EuclideanSpace(blocks.x.mean(axis=0))),
    "landmarks": (
        "rbf",
        lambda kernel, blocks: landmark_space(kernel, blocks.x[::6], None, np.float64),
    ),
    "landmarks, centred": (
        "polynomial",
        lambda kernel, blocks: landmark_space(kernel, blocks.x[::6], None, np.float64),
    ),
    "gradient": (
        "rbf",
        lambda kernel, blocks: landmark_space(
            kernel, blocks.x[::6], None, np.float64, factor=False
        ),
    ),
    "exact": ("rbf", lambda kernel, blocks: ExactSpace(kernel, blocks)),
    "spanning": ("polynomial", lambda kernel, blocks: spanning_space(kernel, blocks.x, np.float64)),
}
over_spaces = pytest.mark.parametrize("space_name", SPACES)


def given(n, seed=1):
    """Memberships and weights that no rule has made."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(C), size=n), rng.uniform(0.2, 3, size=n)


def settled(space, blocks, u, rule):
    """The past that given memberships of rows make, and their sums."""
    with ThreadEngine(1).opened() as engine:
        sums = Problem(RepresentedRows(space, blocks, 0), rule, engine).sums_of(u)
    centres = space.centres(sums.mass, sums.moment)
    pull = blocks.weight[:, None] * u ** (1 if isinstance(rule, Hard) else M)
    return StreamSummary(
        space,
        centres,
        sums.mass,
        (pull * distances(space, centres, blocks)).sum(axis=0),
        sums.weight,
    ), sums


def distances(space, centres, blocks):
    rows = space.rows(Block(blocks.x, blocks.weight, 0))
    return rows.squared_distances(space.view(centres, rows.kxx))


# ------------------------------------------------------------------------ past and present rows add


@over_spaces
@pytest.mark.parametrize("rule", [Fuzzy(M), Hard()])
def test_settled_sums_and_a_chunks_are_those_of_all_rows(space_name, rule):
    """For given memberships, to 1e-10: mass, moment and spread at any centres."""
    kernel_name, make = SPACES[space_name]
    X = blobs(60)
    u, w = given(60)
    u = u if isinstance(rule, Fuzzy) else np.eye(C)[np.arange(60) % C]
    space = make(KERNELS[kernel_name][0], Blocks(X, w))
    everything, total = settled(space, Blocks(X, w), u, rule)
    if space_name == "exact":  # which knows its rows by their numbers
        parts = [settled(space, Blocks(X, np.where(np.arange(60) < 40, w, 0)), u, rule)]
        parts += [settled(space, Blocks(X, np.where(np.arange(60) < 40, 0, w)), u, rule)]
    else:
        parts = [
            settled(space, Blocks(X[rows], w[rows]), u[rows], rule)
            for rows in (slice(0, 40), slice(40, 60))
        ]
    (past, _), (_, present) = parts
    elsewhere = space.embed(Block(X[[5, 7, 11]], np.ones(C), 0))
    carried = SettledSums(past)
    for state in (State(elsewhere), State(everything.centres)):
        sums = present + carried(state)
        np.testing.assert_allclose(sums.mass, total.mass, rtol=1e-10)
        np.testing.assert_allclose(
            sums.moment, total.moment, rtol=1e-10, atol=1e-10 * np.abs(total.moment).max()
        )
        assert sums.weight == pytest.approx(total.weight, rel=1e-12)
        pull = w[:, None] * u ** (M if isinstance(rule, Fuzzy) else 1)
        first = np.arange(60)[:, None] < 40
        expected = (pull * first * distances(space, state.centres, Blocks(X, w))).sum(axis=0)
        np.testing.assert_allclose(carried(state).spread, expected, rtol=1e-9)
    together = space.centres(sums.mass, sums.moment)
    assert (together - everything.centres).squared_norms().max() < 1e-18
    np.testing.assert_array_equal(carried(state).mass, past.mass)


@over_spaces
def test_pasts_add_as_their_rows_do(space_name):
    kernel_name, make = SPACES[space_name]
    X = blobs(60)
    u, w = given(60)
    space = make(KERNELS[kernel_name][0], Blocks(X, w))
    everything, _ = settled(space, Blocks(X, w), u, Fuzzy(M))
    halves = (np.where(np.arange(60) < 35, w, 0), np.where(np.arange(60) < 35, 0, w))
    one, other = (settled(space, Blocks(X, half), u, Fuzzy(M))[0] for half in halves)
    both = one + other
    np.testing.assert_allclose(both.mass, everything.mass, rtol=1e-12)
    np.testing.assert_allclose(both.spread, everything.spread, rtol=1e-9)
    assert (both.centres - everything.centres).squared_norms().max() < 1e-18
    assert both.weight == pytest.approx(w.sum())
    faded = (one * 0.25 + one * 0.75)[np.array([2, 0, 1])]
    np.testing.assert_allclose(faded.mass, one.mass[[2, 0, 1]])
    np.testing.assert_allclose(faded.spread, one.spread[[2, 0, 1]])
    assert (faded.centres - one.centres[[2, 0, 1]]).squared_norms().max() < 1e-20
    lighter = one.weighing(np.array([1.0, 2.0, 0.0]))
    np.testing.assert_allclose(lighter.spread, one.spread / one.mass * [1, 2, 0])
    np.testing.assert_array_equal(lighter.mass, [1, 2, 0])


@over_spaces
def test_meta_vectors_are_weighted_rows(space_name):
    """At any centres: memberships by the rule, as a naive loop over distances has them, and the
    spread within each on top."""
    kernel_name, make = SPACES[space_name]
    X = blobs(60)
    u, w = given(60)
    space = make(KERNELS[kernel_name][0], Blocks(X, w))
    past, _ = settled(space, Blocks(X, w), u, Fuzzy(M))
    places = space.embed(Block(X[[5, 7, 12]], np.ones(C), 0))
    d2 = np.array(
        [[(past.centres[[j]] - places[[k]]).squared_norms()[0] for k in range(C)] for j in range(C)]
    )
    meta = naive.fuzzy_memberships(d2, M)
    carried = MetaVectors(past, Fuzzy(M))
    sums = carried(State(places))
    np.testing.assert_allclose(sums.mass, past.mass @ meta**M, rtol=1e-8)
    assert sums.objective == pytest.approx(
        naive.objective(d2, meta, M, past.mass) + past.spread.sum(), rel=1e-8
    )
    np.testing.assert_allclose(carried.belonging(State(places)), past.mass @ meta, rtol=1e-8)
    assert sums.weight == past.weight
    means = space.centres(sums.mass, sums.moment)
    pull = (past.mass[:, None] * meta**M).T
    expected = Centres(pull @ past.centres.coordinates, pull @ past.centres.duals)
    expected = Centres(
        expected.coordinates / pull.sum(axis=1)[:, None], expected.duals / pull.sum(axis=1)[:, None]
    )
    assert (means - expected).squared_norms().max() < 1e-16


@pytest.mark.parametrize("kernel_name", KERNELS)
@pytest.mark.parametrize("projection", ["cholesky", "gradient"])
@pytest.mark.parametrize("decay", [1.0, 0.7])
def test_projected_sums_miss_those_of_all_rows_by_what_was_lost(kernel_name, projection, decay):
    """For given memberships W_t |v - v'| <= sum_s W_s |lost in s|, the norms of what projections
    cut off: nothing else goes astray.

    v' are the centres of the stream, v those of all rows, W_s what the past weighed when it was
    projected into chunk s.
    """
    kernel, function = KERNELS[kernel_name]
    X = blobs(60)
    u, w = given(60)
    K = naive.kernel_matrix(X, X, function)
    starts, bound, past = np.cumsum((0, *SIZES)), np.zeros(C), None
    for t, (chunk, rows) in enumerate(zip(cut(X, SIZES), cut(np.arange(60), SIZES), strict=True)):
        blocks = Blocks(chunk, w[rows])
        space = chunk_space(kernel, blocks, projection)
        present, _ = settled(space, blocks, u[rows], Fuzzy(M))
        if past is not None:
            past = past * decay
            moved, share = past.moved(space, projected(past, space, blocks, projection))
            lost = past.space.norms(past.centres) - space.norms(moved.centres)
            np.testing.assert_allclose(share, lost / past.space.norms(past.centres), atol=1e-9)
            np.testing.assert_allclose(
                moved.spread, past.spread + past.mass * np.maximum(lost, 0), rtol=1e-9
            )
            bound = decay * bound + past.mass * np.sqrt(np.maximum(lost, 0))
            past = moved + present
        else:
            past = present
        coefficients, mass = naive_streams.stream_sums(
            [u[r] for r in cut(np.arange(60), SIZES)[: t + 1]], M, cut(w, SIZES)[: t + 1], decay
        )
        np.testing.assert_allclose(past.mass, mass, rtol=1e-10)
        seen, q = slice(0, starts[t + 1]), coefficients / mass[:, None]
        products = np.einsum("js,sj->j", q, K[seen, rows] @ space_products(past, chunk).T)
        missed = (
            np.einsum("js,st,jt->j", q, K[seen, seen], q)
            - 2 * products
            + past.space.norms(past.centres)
        )
        assert (np.sqrt(np.maximum(missed, 0)) * mass <= bound + 1e-6 * mass).all()
        if t == 1:  # of one loss there is no more to say
            np.testing.assert_allclose(
                np.sqrt(np.maximum(missed, 0)) * mass, bound, rtol=1e-6, atol=1e-6 * mass.max()
            )
    if kernel_name == "linear":
        assert missed.max() < 1e-10
    else:
        assert missed.min() > 1e-6


def space_products(past, chunk):
    """Coefficients (c, n) of the centres over the rows of their chunk."""
    portable = past.portable()
    a, points = portable.space.raw_coefficients(portable.centres), portable.space.points
    where = [int(np.flatnonzero((chunk == point).all(axis=1))[0]) for point in points]
    out = np.zeros((C, len(chunk)))
    out[:, where] = a
    return out


@pytest.mark.filterwarnings("ignore:.*stopped at max_iter:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.usefixtures("plain_loop")  # the sums are those of the last sweep, wherever it started
@pytest.mark.parametrize("decay", [1.0, 0.6])
@pytest.mark.parametrize(
    "space", [{"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.25, "landmarks": blobs(60)[::4]}]
)
def test_what_is_kept_is_about_the_last_means(space, decay):
    """After any number of sweeps: mass, spread and means are those of the memberships that made the
    means, and nothing else."""
    X, w = blobs(60), given(60)[1]
    memberships, models = (
        [],
        [stream_of(C, m=M, decay=decay, init=X[:C], tol=0.0, **space) for _ in range(2)],
    )
    for rows in (slice(0, 25), slice(25, 60)):
        one_before, model = models
        one_before.set_params(max_iter=3).partial_fit(X[rows], sample_weight=w[rows])
        model.set_params(max_iter=4).partial_fit(X[rows], sample_weight=w[rows])
        memberships.append(one_before.memberships_)
        models[0]._stream = model._stream  # the next chunk goes on from the same state
    pull = (w * np.repeat([decay, 1.0], [25, 35]))[:, None] * np.vstack(memberships) ** M
    past = model._stream.past
    np.testing.assert_allclose(past.mass, pull.sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(past.spread, (pull * model.transform(X) ** 2).sum(axis=0), rtol=1e-8)
    assert past.weight == pytest.approx(decay * w[:25].sum() + w[25:].sum())
    if space["kernel"] == "linear":
        np.testing.assert_allclose(
            model.cluster_centers_, pull.T @ X / pull.sum(axis=0)[:, None], atol=1e-10
        )


# --------------------------------------------------------------------------------- two streams, one


def stream(**words):
    words = {"kernel": "rbf", "m": 1.3, "random_state": 0, **words}
    return stream_of(C, **(words if words["kernel"] == "linear" else with_gamma(0.25, words)))


def expected_sum(one, other, K, pairs):
    """Masses, and the centres' products with rows, of two models whose clusters go together as
    `pairs` says."""
    mass = one.mass_ + other.mass_[pairs]
    products = lambda model, rows: model.dual_coef_ @ K(model.landmarks_, rows)  # noqa: E731
    share = (one.mass_ / mass)[:, None]
    return (
        mass,
        lambda rows: share * products(one, rows) + (1 - share) * products(other, rows)[pairs],
    )


def paired(one, other, rows):
    """Which cluster of the other is which, by labels of rows in blobs far apart."""
    return np.array(
        [
            np.bincount(other.predict(rows)[one.predict(rows) == j], minlength=C).argmax()
            for j in range(C)
        ]
    )


MERGED = {
    "landmarks": ({"kernel": "rbf", "landmarks": blobs(12, seed=5)}, None),
    "landmarks, polynomial": (
        {"kernel": KERNELS["polynomial"][0], "landmarks": blobs(20, seed=5)},
        "polynomial",
    ),
    "hard": ({"kernel": "rbf", "landmarks": blobs(12, seed=5), "rule": "hard"}, None),
    "projection": ({"method": "projection"}, None),
    "gradient": ({"method": "projection", "projection": "gradient"}, None),
    "projection, polynomial": (
        {"kernel": KERNELS["polynomial"][0], "method": "projection"},
        "polynomial",
    ),
    "projection, linear": ({"kernel": "linear", "method": "projection", "landmarks": 5}, "linear"),
}
over_merged = pytest.mark.parametrize("name", MERGED)
RBF_LOOP = partial(naive.rbf, gamma=0.25)


@over_merged
def test_merged_streams_have_the_sums_of_both(name):
    """Their clusters numbered differently; nothing is lost on the way."""
    words, function = MERGED[name]
    K = partial(
        naive.kernel_matrix, function=RBF_LOOP if function is None else KERNELS[function][1]
    )
    X, probe = blobs(90, scale=0.4), blobs(10, seed=3)
    one = stream(**words, init=X[:C]).partial_fit(X[:20]).partial_fit(X[20:45])
    other = stream(**words, init=X[[47, 45, 46]]).partial_fit(X[45:70]).partial_fit(X[70:])
    pairs = paired(one, other, X)
    assert sorted(pairs) == [0, 1, 2]
    assert pairs.tolist() != [0, 1, 2]
    mass, products = expected_sum(one, other, K, pairs)
    expected, before = products(probe), other.mass_.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        merged = one.merge(other)
    assert merged is one
    np.testing.assert_allclose(one.mass_, mass, rtol=1e-10)
    np.testing.assert_allclose(
        one.dual_coef_ @ K(one.landmarks_, probe), expected, rtol=1e-7, atol=1e-7
    )
    assert (one.n_samples_seen_, one.n_chunks_) == (90, 4)
    np.testing.assert_array_equal(other.mass_, before)
    np.testing.assert_array_equal(one.predict(X), np.argsort(pairs)[other.predict(X)])
    assert one.partial_fit(X[:20]).n_samples_seen_ == 110
    assert one.mass_.sum() > mass.sum()


def test_merged_streams_are_one_stream_with_the_same_memberships():
    """Hard and far apart, so that both see the same clusters: sums of halves are those of the
    whole, to 1e-10."""
    X, w = 3 * blobs(80, scale=0.2), given(80)[1]
    words = {"kernel": "rbf", "landmarks": X[::7], "rule": "hard", "init": X[:C]}
    whole, one = (stream(**words).partial_fit(X[:40], sample_weight=w[:40]) for _ in range(2))
    whole.partial_fit(X[40:], sample_weight=w[40:])
    one.merge(
        stream(**{**words, "init": X[[40, 41, 42]][[1, 2, 0]]}).partial_fit(
            X[40:], sample_weight=w[40:]
        )
    )
    np.testing.assert_allclose(one.mass_, whole.mass_, rtol=1e-10)
    np.testing.assert_allclose(one.transform(X), whole.transform(X), atol=1e-8)


def test_merged_linear_streams_have_the_means_of_all_rows():
    X = 3 * blobs(80, scale=0.2)
    models = [
        stream(kernel="linear", rule="hard", init=part[:C]).partial_fit(part)
        for part in (X[:20], X[20:50], X[50:])
    ]
    merged = models[0].merge(models[1]).merge(models[2])
    order = np.argsort(merged.predict(BLOBS * 3))
    np.testing.assert_allclose(
        merged.cluster_centers_, [X[j::C].mean(axis=0) for j in order], atol=1e-12
    )
    np.testing.assert_allclose(merged.mass_, [len(X[j::C]) for j in order])


def test_other_landmarks_make_a_union_and_a_warning():
    X, K = blobs(90, scale=0.4), partial(naive.kernel_matrix, function=RBF_LOOP)
    shared, probe = blobs(4, seed=5), blobs(10, seed=3)
    first, second = np.vstack([shared, blobs(6, seed=6)]), np.vstack([blobs(7, seed=7), shared])
    one, other = (
        stream(landmarks=first, init=X[:C]).fit(X[:45]),
        stream(landmarks=second, init=X[45:48]).fit(X[45:]),
    )
    mass, products = expected_sum(one, other, K, paired(one, other, X))
    expected = products(probe)
    with pytest.warns(
        UserWarning, match=r"merge: .*different landmarks.*all 17 of them.*landmarks=points"
    ):
        one.merge(other)
    assert {tuple(row) for row in one.landmarks_} == {
        tuple(row) for row in np.vstack([first, second])
    }
    assert one.n_landmarks_ == len(one.landmarks_) == 17
    np.testing.assert_allclose(one.mass_, mass, rtol=1e-10)
    # spans grow: nothing is lost
    np.testing.assert_allclose(one.dual_coef_ @ K(one.landmarks_, probe), expected, atol=1e-7)
    assert one.partial_fit(X[:9]).n_landmarks_ == 17


def test_weights_of_other_sizes_merge():
    """Weights far from 1 are kept in another unit."""
    X = blobs(60, scale=0.4)
    words = {"kernel": "rbf", "landmarks": X[::5], "rule": "hard", "init": X[:C]}
    light, heavy = (
        stream(**words).fit(X),
        stream(**words).fit(X, sample_weight=np.full(60, 2.0**40)),
    )
    mass = light.mass_ * (1 + 2.0**40)
    np.testing.assert_allclose(light.merge(heavy).mass_, mass, rtol=1e-12)
    again = stream(**words).fit(X)
    np.testing.assert_allclose(heavy.merge(again).mass_, mass, rtol=1e-12)


def test_what_was_said_of_the_last_rows_is_gone():
    X = blobs(60, scale=0.4)
    one, other = (stream(landmarks=X[::5], init=X[:C]).fit(X) for _ in range(2))
    one.merge(other)
    for name in ("labels_", "memberships_"):
        assert not hasattr(one, name)
    assert one.predict(X).shape == (60,)
    np.testing.assert_array_equal(one.projection_loss_, np.zeros(C))
    np.testing.assert_allclose(one.transform(X), other.transform(X), atol=1e-9)


def columns(X, names):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(X, columns=list(names))


@pytest.mark.parametrize(
    ("words", "rows", "named"),
    [
        (
            {"kernel": "rbf", "gamma": 0.5},
            lambda X: X,
            r"kernel is RBF\(gamma=0.5\), this one's RBF\(gamma=0.25\)",
        ),
        ({"kernel": "linear"}, lambda X: X, "kernel"),
        ({"m": 1.5}, lambda X: X, r"rule is Fuzzy\(m=1.5"),
        ({"rule": "hard"}, lambda X: X, r"rule is Hard\(\)"),
        ({}, lambda X: X[:, :3], "features is 3, this one's 4"),
        ({"n_clusters": 2, "init": "k-means++"}, lambda X: X, "clusters is 2, this one's 3"),
        ({}, lambda X: columns(X, "badc"), "feature"),
    ],
)
def test_streams_of_another_kind_are_refused(words, rows, named):
    X = blobs(60, scale=0.4)
    first = columns(X, "abcd") if named == "feature" else X
    own = {"init": "k-means++", "kernel": "rbf", "landmarks": 8}
    one, other = stream(**own).fit(first), stream(**own).set_params(**words).fit(rows(X))
    before, mass = vars(one).copy(), one.mass_.copy()
    with pytest.raises(ValueError, match=rf"StreamingFuzzyCMeans\.merge: .*{named}"):
        one.merge(other)
    assert vars(one) == before
    np.testing.assert_array_equal(one.mass_, mass)


def test_linear_streams_in_different_spaces_are_refused():
    X = blobs(60, scale=0.4)
    plain, dual = stream(kernel="linear").fit(X), stream(kernel="linear", landmarks=X[:5]).fit(X)
    for one, other in ((plain, dual), (dual, plain)):
        with pytest.raises(ValueError, match="space is"):
            one.merge(other)


@pytest.mark.parametrize(
    "other", [None, 3, KernelPatchClustering(C, random_state=0), FuzzyCMeans(C, random_state=0)]
)
def test_what_is_no_stream_is_refused(other):
    X = blobs(60, scale=0.4)
    other = other.fit(X) if hasattr(other, "fit") else other
    with pytest.raises(
        ValueError, match=r"StreamingFuzzyCMeans\.merge.*another fitted StreamingFuzzyCMeans"
    ):
        stream(landmarks=8).fit(X).merge(other)


def test_unfitted_streams_are_refused():
    fitted = stream(landmarks=8).fit(blobs(60, scale=0.4))
    for one, other in ((fitted, stream()), (stream(), fitted)):
        with pytest.raises(NotFittedError, match="not fitted"):
            one.merge(other)
