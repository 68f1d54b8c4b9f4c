"""Streams against the naive twin chunk by chunk, against clustering at once, and against loops in a
landmark space."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest

import blob_streams
import naive
import naive_streams
from blob_streams import C, cut, first_rows, kernels, stream, with_gamma
from cmeans import FuzzyCMeans, KernelKMeans
from cmeans.data.blocks import Blocks
from cmeans.kernels import Polynomial
from cmeans.papers.projection import PROJECTIONS, chunk_space, projected
from sweep_choices import pairs

# Eight sweeps from anywhere seldom end a run, and chunks of a few rows are meant to lose much.
pytestmark = [
    pytest.mark.slow,
    # which it may take all the same
    pytest.mark.filterwarnings("ignore:.*kernel=.linear. needs no .*landmarks"),
    pytest.mark.usefixtures("plain_loop"),
    pytest.mark.filterwarnings(
        "ignore:.*stopped at max_iter:sklearn.exceptions.ConvergenceWarning"
    ),
    pytest.mark.filterwarnings("ignore:.*squared norm was lost:UserWarning"),
]

SIZES = (18, 7, 15, 2, 16)
KERNELS = kernels(0.25, landmarks=5)
blobs = partial(blob_streams.blobs, scale=0.7)
over_kernels = pytest.mark.parametrize("kernel", KERNELS)
META = ("update", "frozen")
MS = (1.2, 1.7, 2.0, "hard")


@cache
def rows(kernel: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows of three blobs, and weights."""
    return blobs(sum(SIZES), seed=7)[:, : KERNELS[kernel][2]], np.random.default_rng(9).uniform(
        0.2, 3, size=sum(SIZES)
    )


def probes(kernel):
    return np.random.default_rng(8).normal(scale=2, size=(23, KERNELS[kernel][2]))


def words_of(m, **words):
    return {"rule": "hard", **words} if m == "hard" else {"m": m, **words}


@cache
def naive_run(
    kernel: str,
    m: float | str,
    weighted: bool,
    n_iter: int,
    tol: float,
    how: tuple[tuple[str, object], ...],
):
    X, weights = rows(kernel)
    w = cut(weights, SIZES) if weighted else None
    return naive_streams.stkfcm(
        cut(X, SIZES),
        KERNELS[kernel][1],
        C,
        m,
        first_rows(SIZES[0]),
        weights=w,
        n_iter=n_iter,
        tol=tol,
        **dict(how),
    )


def compare(
    kernel, m, *, weighted=False, projection="cholesky", n_iter=8, tol=0.0, atol=1e-9, **how
):
    """Every chunk's record. Solving with K_t costs as many digits as its condition number has, 1e3
    to 1e5 here; conjugate gradients, which end at 1e-12 of the right-hand side, a few more."""
    X, weights = rows(kernel)
    expected = naive_run(kernel, m, weighted, n_iter, tol, tuple(sorted(how.items())))
    words = {
        **KERNELS[kernel][0],
        "method": "projection",
        "projection": projection,
        "init": X[:C],
        "max_iter": n_iter,
        "tol": tol,
    }
    model = stream(C, **words_of(m, **words, **how))
    K, strangers = KERNELS[kernel][1], probes(kernel)
    for t, (chunk, w, record) in enumerate(
        zip(cut(X, SIZES), cut(weights, SIZES), expected, strict=True)
    ):
        model.partial_fit(chunk, sample_weight=w if weighted else None)
        np.testing.assert_allclose(model.memberships_, record.memberships, atol=atol)
        _, u = naive_streams.assign(strangers, chunk, record.coefficients, K, m)
        np.testing.assert_allclose(model.memberships(strangers), u, atol=atol)
        products = record.coefficients @ K(chunk, strangers)
        np.testing.assert_allclose(
            model.dual_coef_ @ K(model.landmarks_, strangers),
            products,
            rtol=10 * atol,
            atol=10 * atol,
        )
        np.testing.assert_allclose(model.mass_, record.carried, rtol=10 * atol)
        np.testing.assert_allclose(1 - model.projection_loss_, record.kept, atol=10 * atol)
        objective = (np.ones(len(chunk)) if not weighted else w) @ (
            record.memberships ** naive_streams.power(m) * model.transform(chunk) ** 2
        ).sum(axis=1)
        assert model.objective_ == pytest.approx(record.objective, rel=10 * atol)
        assert model.objective_ == pytest.approx(objective, rel=10 * atol)
        assert (model.n_chunks_, model.n_samples_seen_) == (t + 1, sum(SIZES[: t + 1]))
    return expected


def test_the_spectra_here_stay_above_every_cut():
    """Else two cuts of the same matrix would be compared, not two programs: in a direction that one
    of them drops, centres may be long."""
    for kernel, (_, K, _) in KERNELS.items():
        for chunk in cut(rows(kernel)[0], SIZES):
            values = np.linalg.eigvalsh(K(chunk, chunk))
            kept = values[values > 1e-11 * values[-1]]
            assert kept[0] > 1e-6 * kept[-1]
            assert len(kept) == min(len(chunk), {"rbf": 99, "linear": 4, "polynomial": 6}[kernel])


# ------------------------------------------------------------------------- chunk by chunk, the twin


@pytest.mark.parametrize(("kernel", "m", "meta_membership"), pairs(KERNELS, MS, META))
def test_chunks_are_those_of_the_twin(kernel, m, meta_membership):
    expected = compare(kernel, m, meta_membership=meta_membership)
    kept = np.array([record.kept for record in expected])
    assert (kept[1:].min(axis=1) < 0.99).any()  # two rows do not span what came before them
    assert kept.max() <= 1 + 1e-9


@pytest.mark.parametrize(
    ("kernel", "m", "meta_membership", "decay"), pairs(KERNELS, [1.7, "hard"], META, [1.0, 0.7])
)
def test_weights_and_decay_are_those_of_the_twin(kernel, m, meta_membership, decay):
    compare(kernel, m, meta_membership=meta_membership, weighted=True, decay=decay)


@pytest.mark.parametrize(("kernel", "m", "meta_membership"), pairs(KERNELS, [1.7, "hard"], META))
def test_past_weights_are_those_of_the_twin(kernel, m, meta_membership):
    """To the end: the twin sums the memberships that made the last centres, we those that these
    centres give."""
    words = {"meta_membership": meta_membership, "past_weight": "u", "weighted": True, "decay": 0.7}
    compare(kernel, m, **words, n_iter=400, tol=1e-10, atol=1e-8)


@pytest.mark.parametrize(("kernel", "m", "meta_membership"), pairs(KERNELS, [1.7, "hard"], META))
def test_the_gradient_form_is_the_twin_too(kernel, m, meta_membership):
    compare(kernel, m, meta_membership=meta_membership, projection="gradient", decay=0.7, atol=1e-8)


# ---------------------------------------------------------------------------------- ways to project


def taught(chunks, weights=None, **words):
    model = stream(
        C,
        **with_gamma(
            0.25,
            {"method": "projection", "kernel": "rbf", "m": 1.7, "max_iter": 8, "tol": 0.0, **words},
        ),
    )
    for t, chunk in enumerate(chunks):
        model.partial_fit(chunk, sample_weight=None if weights is None else weights[t])
    return model


@pytest.mark.parametrize(
    "words",
    [{"projection": way} for way in PROJECTIONS]
    + [{"method": "landmarks", "kernel": "rbf", "landmarks": 8}],
)
def test_rows_without_weight_change_nothing(words):
    """Neither what centres are nor what a chunk spans."""
    X, _ = rows("rbf")
    strangers = np.random.default_rng(1).normal(scale=2, size=(5 * len(SIZES), 4))
    chunks, others = cut(X, SIZES), np.split(strangers, len(SIZES))
    words = {"init": X[:C], "random_state": 0, **words}
    alone = taught(chunks, **words)
    mixed = [np.vstack([chunk, other]) for chunk, other in zip(chunks, others, strict=True)]
    beside = taught(mixed, [np.repeat([1.0, 0.0], [len(chunk), 5]) for chunk in chunks], **words)
    np.testing.assert_allclose(beside.projection_loss_, alone.projection_loss_, atol=1e-9)
    np.testing.assert_allclose(
        beside.memberships(strangers), alone.memberships(strangers), atol=1e-9
    )
    np.testing.assert_allclose(beside.mass_, alone.mass_, rtol=1e-9)
    assert beside.objective_ == pytest.approx(alone.objective_, rel=1e-9)


@over_kernels
def test_l1_takes_some_of_the_rows_and_loses_little_more(kernel):
    """Projected centres, before the sweeps mix them with all of the chunk's rows."""
    (before, X), (words, K, d) = (blobs(25, seed=1), blobs(120, seed=2)), KERNELS[kernel]
    past = taught([before[:, :d]], **words, init=before[:C, :d])._stream.past
    chunk = Blocks(X[:, :d], np.ones(len(X)))
    space = chunk_space(past.space.kernel, chunk, "l1")
    nearest, lost = past.moved(space, projected(past, space, chunk, "cholesky"))
    few, more = past.moved(space, projected(past, space, chunk, "l1"))
    assert (more >= lost - 1e-12).all()
    assert (more < lost + 0.03).all()
    missed = (few.centres - nearest.centres).squared_norms()
    assert (missed < 0.005 * space.norms(nearest.centres)).all()
    assert space.norms(few.centres) == pytest.approx(
        np.einsum("js,st,jt->j", *around(space, few.centres, K)), rel=1e-6
    )
    if kernel == "rbf":  # of which all rows are pivots, so that coefficients are unique
        assert space.size == 120
        assert ((np.abs(space.raw_coefficients(few.centres)) > 1e-9).sum(axis=1) < 70).all()
        assert ((np.abs(space.raw_coefficients(nearest.centres)) > 1e-9).sum(axis=1) == 120).all()


def around(space, centres, K):
    a = space.raw_coefficients(centres)
    return a, K(space.points, space.points), a


@pytest.mark.parametrize("rule", ["fuzzy", "hard"])
@pytest.mark.parametrize("meta_membership", META)
def test_l1_ends_near_the_others(rule, meta_membership):
    chunks = np.split(blobs(200, seed=3), 4)
    words = {
        "rule": rule,
        "meta_membership": meta_membership,
        "init": chunks[0][:C],
        "max_iter": 50,
        "tol": 1e-6,
    }
    few, exact = (taught(chunks, projection=way, **words) for way in ("l1", "cholesky"))
    assert (few.projection_loss_ >= exact.projection_loss_ - 1e-3).all()
    np.testing.assert_allclose(few.memberships_, exact.memberships_, atol=0.03)
    np.testing.assert_allclose(few.mass_, exact.mass_, rtol=0.02)
    assert few.objective_ == pytest.approx(exact.objective_, rel=1e-2)


# --------------------------------------------------------------------------- one chunk, all at once


@pytest.mark.parametrize(
    ("kernel", "m", "weighted", "words"),
    pairs(
        KERNELS,
        MS,
        [False, True],
        [{}, {"projection": "gradient"}, {"projection": "l1"}, {"meta_membership": "frozen"}],
    ),
)
def test_one_chunk_of_all_rows_is_exact(kernel, m, weighted, words):
    """There is nothing to project, and the span of all rows holds all centres."""
    (X, w), (own, _, _) = rows(kernel), KERNELS[kernel]
    w = w if weighted else None
    stopping = {"init": X[:C], "max_iter": 12, "tol": 0.0}
    model = stream(C, **words_of(m, method="projection", **own, **stopping, **words)).fit(
        X, sample_weight=w
    )
    rule = (
        KernelKMeans(C, **own, **stopping)
        if m == "hard"
        else FuzzyCMeans(C, m=m, **own, **stopping)
    )
    exact = rule.set_params(landmarks=None).fit(X, sample_weight=w)
    np.testing.assert_allclose(model.memberships_, exact.memberships_, atol=1e-7)
    np.testing.assert_array_equal(model.labels_, exact.labels_)
    np.testing.assert_allclose(
        model.transform(probes(kernel)), exact.transform(probes(kernel)), atol=1e-6
    )
    # sweeps alone
    np.testing.assert_allclose(model.objective_history_, exact.objective_history_[:-1], rtol=1e-9)
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-9)
    assert model.n_iter_ == exact.n_iter_
    np.testing.assert_array_equal(model.projection_loss_, np.zeros(C))


@pytest.mark.parametrize(
    "words",
    [
        {"kernel": "rbf", "gamma": 0.25},
        {"kernel": Polynomial(degree=2, gamma=1.0, coef0=1.0)},
        {"kernel": "linear"},
    ],
)
@pytest.mark.parametrize("rule", ["fuzzy", "hard"])
def test_one_chunk_on_given_landmarks_is_a_fit_on_them(words, rule):
    X, w = rows("rbf")
    words = {**words, "landmarks": X[::3], "init": X[:C], "tol": 1e-6}
    model = stream(C, rule=rule, m=1.2, **words).fit(X, sample_weight=w)
    at_once = (KernelKMeans(C, **words) if rule == "hard" else FuzzyCMeans(C, m=1.2, **words)).fit(
        X, sample_weight=w
    )
    np.testing.assert_array_equal(model.memberships_, at_once.memberships_)
    np.testing.assert_array_equal(model.objective_history_, at_once.objective_history_[:-1])
    np.testing.assert_array_equal(model.landmarks_, at_once.landmarks_)
    assert (model.n_iter_, model.converged_, model.stop_reason_) == (
        at_once.n_iter_,
        at_once.converged_,
        at_once.stop_reason_,
    )


@pytest.mark.parametrize("rule", ["fuzzy", "hard"])
def test_one_chunk_of_plain_rows_is_a_fit_of_them(rule):
    X, w = rows("rbf")
    words = {"kernel": "linear", "init": X[:C]}
    at_once = (KernelKMeans(C, **words) if rule == "hard" else FuzzyCMeans(C, m=1.7, **words)).fit(
        X, sample_weight=w
    )
    for method in ("landmarks", "projection"):
        model = stream(C, rule=rule, m=1.7, method=method, **words).fit(X, sample_weight=w)
        np.testing.assert_array_equal(model.memberships_, at_once.memberships_)
        np.testing.assert_array_equal(model.cluster_centers_, at_once.cluster_centers_)
        assert model.objective_ == at_once.objective_


# ----------------------------------------------------------------- a landmark space, by plain loops


def landmark_loop(chunks, weights, K, landmarks, m, decay, n_iter):
    """Frozen sums in coordinates z = L^-1 k(x, landmarks), with the residual k(x, x) - |z|^2 in
    every distance: one record a chunk."""
    L = np.linalg.cholesky(K(landmarks, landmarks))
    mass, sums, V, found = np.zeros(C), np.zeros((C, len(landmarks))), None, []
    for X, w in zip(chunks, weights, strict=True):
        Z = np.linalg.solve(L, K(landmarks, X)).T
        residual = np.array([K(row[None], row[None])[0, 0] for row in X]) - (Z**2).sum(axis=1)
        V = Z[:C] if V is None else V
        mass, sums = decay * mass, decay * sums
        for _ in range(n_iter):
            u = naive_streams.memberships(naive.point_distances(Z, V) + residual[:, None], m)
            pull = w[:, None] * u ** naive_streams.power(m)
            total = mass + pull.sum(axis=0)
            V = (sums + pull.T @ Z) / total[:, None]
        mass, sums = total, sums + pull.T @ Z
        d2 = naive.point_distances(Z, V) + residual[:, None]
        u = naive_streams.memberships(d2, m)
        found.append((V, mass, u, naive.objective(d2, u, naive_streams.power(m), w)))
    return found


@pytest.mark.parametrize(("kernel", "m", "decay"), pairs(["rbf", "polynomial"], MS, [1.0, 0.7]))
def test_given_landmarks_are_the_loop_in_their_space(kernel, m, decay):
    (X, weights), (own, K, _) = rows(kernel), KERNELS[kernel]
    landmarks = X[::8] if kernel == "rbf" else X[:6]
    words = {
        "landmarks": landmarks,
        "init": X[:C],
        "max_iter": 8,
        "tol": 0.0,
        "decay": decay,
        **own,
    }
    model = stream(C, **words_of(m, **words))
    expected = landmark_loop(cut(X, SIZES), cut(weights, SIZES), K, landmarks, m, decay, 8)
    for chunk, w, (V, mass, u, objective) in zip(
        cut(X, SIZES), cut(weights, SIZES), expected, strict=True
    ):
        model.partial_fit(chunk, sample_weight=w)
        np.testing.assert_allclose(model.memberships_, u, atol=1e-8)
        np.testing.assert_allclose(model.mass_, mass, rtol=1e-8)
        assert model.objective_ == pytest.approx(objective, rel=1e-8)
        products = K(landmarks, landmarks) @ model.dual_coef_.T
        np.testing.assert_allclose(
            products, np.linalg.cholesky(K(landmarks, landmarks)) @ V.T, rtol=1e-7, atol=1e-7
        )
        np.testing.assert_array_equal(model.projection_loss_, np.zeros(C))
        np.testing.assert_array_equal(model.landmarks_, landmarks)


@pytest.mark.parametrize("kernel", ["linear", "polynomial"])
@pytest.mark.parametrize("m", [1.7, "hard"])
@pytest.mark.parametrize("decay", [1.0, 0.7])
@pytest.mark.parametrize("meta_membership", ["update", "frozen"])
def test_both_methods_are_one_where_every_chunk_spans_everything(kernel, m, decay, meta_membership):
    X, weights = rows(kernel)
    own, sizes = KERNELS[kernel][0], (18, 12, 10, 18)
    words = words_of(
        m, init=X[:C], max_iter=8, tol=0.0, decay=decay, meta_membership=meta_membership
    )
    by_landmarks = stream(C, **{**own, "landmarks": X[:6]}, **words)
    by_projection = stream(C, method="projection", **own, **words)
    for chunk, w in zip(cut(X, sizes), cut(weights, sizes), strict=True):
        by_landmarks.partial_fit(chunk, sample_weight=w)
        by_projection.partial_fit(chunk, sample_weight=w)
        np.testing.assert_allclose(by_projection.projection_loss_, np.zeros(C), atol=1e-9)
        np.testing.assert_allclose(by_projection.memberships_, by_landmarks.memberships_, atol=1e-8)
        np.testing.assert_allclose(by_projection.mass_, by_landmarks.mass_, rtol=1e-8)
        assert by_projection.objective_ == pytest.approx(by_landmarks.objective_, rel=1e-8)


@pytest.mark.parametrize("m", [1.7, "hard"])
@pytest.mark.parametrize("meta_membership", ["update", "frozen"])
def test_the_linear_kernel_is_its_own_feature_space(m, meta_membership):
    """Single-pass c-means of plain rows, in whichever words."""
    (X, weights), sizes = rows("linear"), (18, 12, 10, 18)
    words = words_of(
        m, kernel="linear", init=X[:C], max_iter=8, tol=0.0, meta_membership=meta_membership
    )
    models = [
        stream(C, method="landmarks", **words),
        stream(C, method="projection", **words),
        stream(C, method="projection", landmarks=5, **words),
        stream(C, landmarks=X[:6], **words),
    ]
    for chunk, w in zip(cut(X, sizes), cut(weights, sizes), strict=True):
        for model in models:
            model.partial_fit(chunk, sample_weight=w)
            np.testing.assert_allclose(model.memberships_, models[0].memberships_, atol=1e-8)
            np.testing.assert_allclose(model.mass_, models[0].mass_, rtol=1e-8)
    np.testing.assert_allclose(
        models[2].dual_coef_ @ models[2].landmarks_, models[0].cluster_centers_, atol=1e-8
    )
    np.testing.assert_array_equal(models[1].cluster_centers_, models[0].cluster_centers_)
