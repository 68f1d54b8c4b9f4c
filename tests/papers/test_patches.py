"""Kernel patch clustering against the naive twin, patch by patch and level by level, and what it
promises of weights and points."""

from __future__ import annotations

import warnings
from functools import cache, partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import blob_streams
import naive
import naive_streams
from blob_streams import C, cut, first_rows, in_order, kernels
from cmeans import FuzzyCMeans, KernelKMeans, KernelPatchClustering, ThreadEngine
from cmeans.papers import StreamingKernelFCM
from sweep_choices import pairs

pytestmark = pytest.mark.slow

SIZES = (15, 9, 14, 11)
KERNELS = kernels(0.3)
blobs = partial(blob_streams.blobs, seed=7, scale=0.6)
MS = (1.3, 1.7, "hard")
over_kernels = pytest.mark.parametrize("kernel", KERNELS)
over_m = pytest.mark.parametrize("m", MS)


@cache
def rows(kernel: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows of three blobs, some of them twice, and weights."""
    X = blobs(sum(SIZES))
    X[[10, 30, 33]] = X[[4, 12, 33 - 6]]
    return X[:, : KERNELS[kernel][2]], np.random.default_rng(9).uniform(0.2, 3, size=len(X))


def patches(m, n_points, **words):
    rule = {"rule": "hard"} if m == "hard" else {"m": m}
    return KernelPatchClustering(C, n_points=n_points, **{**rule, "random_state": 0, **words})


def assert_carries(model, record, kernel):
    """The same points with the same shares, weights and predictions."""
    np.testing.assert_array_equal(model.landmarks_, record.points)
    np.testing.assert_allclose(model.dual_coef_, record.shares, atol=1e-12)
    np.testing.assert_allclose(model.mass_ @ model.dual_coef_, record.weights, rtol=1e-8)
    strangers = np.random.default_rng(8).normal(scale=2, size=(17, KERNELS[kernel][2]))
    d2, _ = naive_streams.assign(strangers, record.points, record.shares, KERNELS[kernel][1], None)
    np.testing.assert_allclose(model.transform(strangers) ** 2, d2, atol=1e-9)


# Patches of a dozen rows, all of which may stand for every cluster, have centres that are nearly
# one.
few = pytest.mark.filterwarnings(
    "ignore:.*centres coincide:UserWarning", "ignore:.*have collapsed:UserWarning"
)


# --------------------------------------------------------------------------------- against the twin


@few
@pytest.mark.usefixtures("plain_loop")
@pytest.mark.parametrize(
    ("kernel", "m", "n_points", "weighted"), pairs(KERNELS, MS, [1, 4, 6], [False, True])
)
def test_a_chain_is_the_twins(kernel, m, n_points, weighted):
    (X, weights), (own, K, _) = rows(kernel), KERNELS[kernel]
    w = cut(weights, SIZES) if weighted else None
    records = naive_streams.kernel_patches(
        cut(X, SIZES), K, C, n_points, m, first_rows(SIZES[0]), weights=w, tol=1e-9
    )
    model = patches(m, n_points, init=X[:C], tol=1e-9, **own)
    total = 0.0
    for t, (patch, record) in enumerate(zip(cut(X, SIZES), records, strict=True)):
        model.partial_fit(patch, sample_weight=None if w is None else w[t])
        assert_carries(model, record, kernel)
        total += len(patch) if w is None else w[t].sum()
        assert model.mass_.sum() == pytest.approx(total, rel=1e-10)
        # where rounding decides whether a centre stood still
        assert abs(model.n_iter_ - record.sweeps) <= 1
        d2, u = naive_streams.assign(patch, record.points, record.shares, K, m)
        np.testing.assert_allclose(model.memberships_, u, atol=1e-7)
        objective = naive.objective(d2, u, naive_streams.power(m), None if w is None else w[t])
        assert model.objective_ == pytest.approx(objective, rel=1e-8)
        np.testing.assert_array_equal(model.projection_loss_, np.zeros(C))


@few
@over_kernels
@over_m
@pytest.mark.parametrize("n_points", [1, 4])
def test_fit_is_the_same_chain(kernel, m, n_points):
    (X, weights), (own, K, _) = rows(kernel), KERNELS[kernel]
    sizes = (12, 12, 12, 13)  # as even as can be
    records = naive_streams.kernel_patches(
        cut(X, sizes), K, C, n_points, m, first_rows(12), weights=cut(weights, sizes), tol=1e-9
    )
    model = patches(m, n_points, init=X[:C], tol=1e-9, patch_size=13, **own).fit(
        X, sample_weight=weights
    )
    assert_carries(model, records[-1], kernel)
    _, u = naive_streams.assign(X, records[-1].points, records[-1].shares, K, m)
    np.testing.assert_allclose(model.memberships_, u, atol=1e-7)
    assert (model.n_chunks_, model.n_samples_seen_) == (4, 49)
    assert model.mass_.sum() == pytest.approx(weights.sum())


def tree_sizes(n, step):
    return np.diff(np.linspace(0, n, -(-n // step) + 1).astype(int))


@few
@pytest.mark.parametrize(
    ("kernel", "m", "shape"),
    pairs(
        ["rbf", "polynomial"],
        MS,
        [(13, 1, 4), (25, 4, 2), (13, 4, 2), (10, 3, 2), (10, 1, 3), (49, 4, 2)],
    ),
)
def test_a_tree_is_the_twins(kernel, m, shape):
    """As many carried points go together as make a patch, but those of two at least; a last group
    of one goes up as it is."""
    step, n_points, group = shape
    (X, weights), (own, K, _) = rows(kernel), KERNELS[kernel]
    sizes = tree_sizes(49, step)
    starts = [first_rows(size) for size in sizes]
    levels = naive_streams.kernel_patches_tree(
        cut(X, sizes), K, C, n_points, m, starts, group, weights=cut(weights, sizes), tol=1e-9
    )
    for level in levels[:-1]:
        assert group == max(2, step // max(len(record.points) for record in level))
    model = patches(
        m, n_points, init=np.arange(C), tol=1e-9, patch_size=step, merge="tree", **own
    ).fit(X, sample_weight=weights)
    assert_carries(model, levels[-1][0], kernel)
    assert model.mass_.sum() == pytest.approx(weights.sum())
    assert (model.n_chunks_, model.n_samples_seen_) == (len(sizes), 49)


# ------------------------------------------------------------------------------- points and weights


def test_one_point_is_the_medoid_of_its_cluster():
    X, w = blobs(60), np.random.default_rng(1).uniform(0.2, 3, size=60)
    model = patches("hard", 1, gamma=0.3, init=X[:C]).fit(X, sample_weight=w)
    K = naive.kernel_matrix(X, X, partial(naive.rbf, gamma=0.3))
    exact = KernelKMeans(C, gamma=0.3, init=X[:C], landmarks=None).fit(X, sample_weight=w)
    for j in range(C):
        own = w * (exact.labels_ == j)
        medoid = X[((2 - 2 * K) @ own).argmin()]
        np.testing.assert_array_equal(model.landmarks_[model.dual_coef_[j] == 1], [medoid])
    np.testing.assert_allclose(model.mass_, np.bincount(exact.labels_, weights=w))


@pytest.mark.parametrize("merge", ["chain", "tree"])
@pytest.mark.parametrize("n_points", [1, 5])
@pytest.mark.parametrize("m", ["auto", "hard"])
def test_points_are_rows_and_shares_are_even(merge, n_points, m):
    X = blobs(400)
    model = patches(m, n_points, merge=merge, patch_size=60, gamma=0.3).fit(X)
    everybody = {tuple(row) for row in X}
    assert {tuple(row) for row in model.landmarks_} <= everybody
    assert len(model.landmarks_) == len({tuple(row) for row in model.landmarks_}) <= C * n_points
    assert set(model.dual_coef_.ravel()) <= {0.0, 1 / n_points}
    np.testing.assert_allclose(model.dual_coef_.sum(axis=1), 1)
    assert model.mass_.sum() == pytest.approx(400)
    assert adjusted_rand_score(np.arange(400) % C, model.labels_) > 0.9
    assert model.converged_


def test_more_points_than_rows_are_all_rows():
    X = blobs(6)
    # all clusters are the mean of all rows
    with pytest.warns(UserWarning, match="coincide|collapsed"):
        model = patches(1.3, 50, gamma=0.3).partial_fit(X)
    assert {tuple(row) for row in model.landmarks_} == {tuple(row) for row in X}
    np.testing.assert_allclose(model.dual_coef_, 1 / 6)


@pytest.mark.parametrize("merge", ["chain", "tree"])
def test_rows_without_weight_change_nothing(merge):
    X, strangers = blobs(60), blobs(60, seed=1, scale=3)
    # its points and those below all make one patch
    alone = patches(1.3, 2, gamma=0.3, merge=merge, patch_size=20).fit(X)
    mixed = np.hstack([X.reshape(3, 20, 4), strangers.reshape(3, 20, 4)]).reshape(120, 4)
    w = np.tile(np.repeat([1.0, 0.0], 20), 3)
    beside = patches(1.3, 2, gamma=0.3, merge=merge, patch_size=40).fit(mixed, sample_weight=w)
    np.testing.assert_array_equal(beside.landmarks_, alone.landmarks_)
    np.testing.assert_allclose(beside.mass_, alone.mass_, rtol=1e-10)
    np.testing.assert_allclose(beside.transform(X), alone.transform(X), atol=1e-9)


@pytest.mark.parametrize("merge", ["chain", "tree"])
def test_weights_are_copies(merge):
    X, counts = blobs(60), np.arange(60) % 3 + 1
    once = patches(1.3, 3, gamma=0.3, merge=merge, patch_size=60).fit(X, sample_weight=counts)
    many = patches(1.3, 3, gamma=0.3, merge=merge, patch_size=200).fit(np.repeat(X, counts, axis=0))
    assert {tuple(row) for row in once.landmarks_} == {tuple(row) for row in many.landmarks_}
    np.testing.assert_allclose(once.mass_, many.mass_, rtol=1e-9)
    np.testing.assert_allclose(once.transform(X), many.transform(X), atol=1e-9)


def test_one_patch_and_all_points_of_a_cluster_are_kernel_k_means():
    X = blobs(60, scale=0.2)
    model = patches("hard", 20, gamma=0.3, init=X[:C]).fit(X)
    exact = KernelKMeans(C, gamma=0.3, landmarks=None, init=X[:C]).fit(X)
    np.testing.assert_array_equal(model.labels_, exact.labels_)
    np.testing.assert_allclose(model.transform(X), exact.transform(X), atol=1e-7)
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-9)


def test_streams_come_nearer_to_all_rows_than_patches():
    """Why it says that it is here for comparison: a mean of few rows is not the mean."""
    X = blobs(900, scale=1.0)
    words = {"kernel": "rbf", "gamma": 0.1, "m": 1.2, "random_state": 0}
    best = FuzzyCMeans(C, landmarks=None, **words).fit(X).objective_
    stream = StreamingKernelFCM(C, method="projection", chunk_size=150, **words).fit(X).objective_
    patch = KernelPatchClustering(C, patch_size=150, n_points=3, **words).fit(X).objective_
    assert best <= stream * (1 + 1e-9)
    assert stream < patch


# ------------------------------------------------------------------------------------- what it says


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("merge", ["chain", "tree"])
def test_every_form_and_dtype_gives_the_patches_of_dense_float64(form, dtype, merge):
    X = np.where(np.abs(blobs(120)) < 0.3, 0, blobs(120))
    model = patches(1.3, 4, gamma=0.3, merge=merge, patch_size=40).fit(form(X.astype(dtype)))
    exact = patches(1.3, 4, gamma=0.3, merge=merge, patch_size=40).fit(X)
    assert model.memberships_.dtype == model.landmarks_.dtype == dtype
    assert sparse.issparse(model.landmarks_) == sparse.issparse(form(X))
    # starts with equal ends may lead by a rounding
    order, expected = in_order(model), exact.memberships_[:, in_order(exact)]
    np.testing.assert_allclose(
        model.memberships_[:, order], expected, atol=1e-8 if dtype is np.float64 else 5e-3
    )
    assert model.objective_ == pytest.approx(
        exact.objective_, rel=1e-8 if dtype is np.float64 else 1e-3
    )


@few
def test_clusters_that_fall_together_do_not_wander_by_rounding():
    """What float32 rounds off the distances of carried rows, which weigh ever more, is no reason to
    move: under a wide kernel centres used to sweep hundreds of times, and to part."""
    rng, n = np.random.default_rng(0), 3000
    groups, kinds = (
        np.eye(4)[rng.choice(4, n, p=[0.45, 0.43, 0.06, 0.06])],
        np.eye(12)[rng.integers(12, size=n)],
    )
    X = np.hstack([rng.normal(0.5, 0.05, size=(n, 6)), groups, kinds]).astype(np.float32)
    words = {"kernel": "rbf", "gamma": 0.5, "m": 1.7, "random_state": 0}
    narrow, wide = KernelPatchClustering(7, **words), KernelPatchClustering(7, **words)
    for patch in np.split(X, 10):
        narrow.partial_fit(patch)
        wide.partial_fit(patch.astype(np.float64))
        assert narrow.n_iter_ <= wide.n_iter_ + 1
    np.testing.assert_allclose(narrow.mass_, wide.mass_, rtol=1e-3)
    assert narrow.landmarks_.dtype == np.float32


@pytest.mark.parametrize("merge", ["chain", "tree"])
def test_threads_change_no_bit_and_a_seed_gives_the_same_again(merge):
    X = blobs(300)
    words = {"merge": merge, "patch_size": 40, "kernel": "rbf", "gamma": 0.3}
    models = [patches(1.3, 4, n_jobs=n_jobs, **words).fit(X) for n_jobs in (1, 2, 3)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.landmarks_, models[0].landmarks_)
        np.testing.assert_array_equal(model.memberships_, models[0].memberships_)
        np.testing.assert_array_equal(model.mass_, models[0].mass_)
    again = patches(1.3, 4, **words).fit(X)
    np.testing.assert_array_equal(again.memberships_, models[0].memberships_)


def test_a_fit_is_its_patches_one_by_one():
    X = blobs(300)
    whole, parts = patches("auto", 4, patch_size=60).fit(X), patches("auto", 4)
    for patch in np.split(X, 5):
        parts.partial_fit(patch)
    np.testing.assert_array_equal(whole.landmarks_, parts.landmarks_)
    np.testing.assert_array_equal(whole.mass_, parts.mass_)
    np.testing.assert_array_equal(whole.labels_, parts.predict(X))
    np.testing.assert_array_equal(whole.memberships_, parts.memberships(X))
    assert (whole.m_, whole.gamma_) == (parts.m_, parts.gamma_)
    assert whole.row_visits_ == parts.row_visits_ + 300 - 60


@few
@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("merge", ["chain", "tree"])
def test_fallen_centres_are_complained_of(fitted, merge):
    """Beyond m* every patch falls together; what the advice looks at are its own rows. Patch by
    patch the first lies apart, and the order of the rows may be why the second does not."""
    X = blobs(60)
    model = patches(30.0, 5, gamma=0.3, patch_size=15, merge=merge)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if fitted:
            model.fit(X)
        else:
            for patch in np.split(X, 4):
                model.partial_fit(patch)
    said = [str(one.message) for one in caught]
    assert 1 <= len(said) <= (1 if fitted else 4)
    told = ("the clusters have collapsed", 'take m="auto"') if fitted else ("come together", "soft")
    assert all(one.startswith("KernelPatchClustering: ") for one in said)
    assert all(word in one for one in said for word in told)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ({"n_points": 0}, "n_points=0"),
        ({"n_points": 2.5}, "n_points"),
        ({"patch_size": 2}, r"patch_size=2.*n_clusters=3"),
        ({"patch_size": 0}, "patch_size=0"),
        ({"merge": "forest"}, r"merge='forest'.*chain.*tree"),
        ({"rule": "soft"}, r"rule='soft'.*fuzzy.*hard"),
        ({"kernel": "precomputed"}, "precomputed"),
        ({"n_clusters": 70}, "n_clusters=70"),
        ({"init": "no such"}, r"init='no such'.*k-means\+\+"),
        ({"engine": ThreadEngine(memory_budget=1000)}, "memory_budget=1000"),
    ],
)
@pytest.mark.parametrize("merge", ["chain", "tree"])
def test_bad_words(words, named, merge):
    model = KernelPatchClustering(
        **{"n_clusters": C, "merge": merge, "random_state": 0, "patch_size": 80, **words}
    )
    with pytest.raises(ValueError, match=rf"KernelPatchClustering.*{named}"):
        model.fit(blobs(60))
    assert not hasattr(model, "mass_")


def test_enough_rows_to_start_with_are_in_the_first_patch():
    """Patches are as even as can be, but the first needs a row for every cluster."""
    X = np.arange(10.0)[:, None]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*centres coincide", UserWarning)
        model = KernelPatchClustering(
            8, patch_size=8, n_points=1, gamma=0.5, m=1.1, random_state=0
        ).fit(X)
    assert len(model.mass_) == 8
