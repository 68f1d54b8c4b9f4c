"""The naive twin of clustering in chunks against clustering at once, points without kernels,
explicit feature maps and bookkeeping."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import naive
import naive_streams as streams

pytestmark = pytest.mark.slow

C, M = 3, 1.7
CENTRES = np.array([[0.0, 0.0], [3.0, 1.0], [0.5, 3.0]])
LINEAR = partial(naive.kernel_matrix, function=naive.linear)
RBF = partial(naive.kernel_matrix, function=partial(naive.rbf, gamma=0.3))
QUADRATIC = partial(
    naive.kernel_matrix, function=partial(naive.polynomial, gamma=1, coef0=1, degree=2)
)
ROWS = np.eye(C)  # coefficients of the first C rows as centres


def rows_of(n, scale=0.9, seed=7, apart=1.0):
    rng = np.random.default_rng(seed)
    return apart * CENTRES[np.arange(n) % C] + rng.normal(scale=scale, size=(n, 2))


def cut(X, *sizes):
    return np.split(X, np.cumsum(sizes)[:-1])


def first_rows(n):
    return np.hstack([ROWS, np.zeros((C, n - C))])


@pytest.fixture(scope="module")
def X():
    return rows_of(48)


@pytest.fixture(scope="module")
def weights():
    return np.random.default_rng(8).uniform(0.2, 3, size=48)


def features_of(X):
    """(x.y + 1)^2 in two dimensions is the inner product of six features."""
    x, y = X.T
    return np.column_stack(
        [np.ones(len(X)), np.sqrt(2) * x, np.sqrt(2) * y, x**2, y**2, np.sqrt(2) * x * y]
    )


# ---------------------------------------------------------------------------------------- one chunk


@pytest.mark.parametrize("m", [M, None])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_chunk_is_kernel_cmeans(X, weights, weighted, m):
    w = weights if weighted else None
    (chunk,) = streams.stkfcm(
        [X], RBF, C, m, first_rows(48), weights=[w] if weighted else None, n_iter=4, tol=0
    )
    K, start = RBF(X, X), naive.row_start_distances_exact(RBF(X, X), np.arange(C))
    rule, power = (
        (naive.hard_memberships, 1) if m is None else (lambda d2: naive.fuzzy_memberships(d2, m), m)
    )
    at_once = naive.cmeans(partial(naive.exact_distances, K), rule, start, 4, power, w)
    a_sweep_before = naive.cmeans(partial(naive.exact_distances, K), rule, start, 3, power, w)
    d2, u = streams.assign(X, X, chunk.coefficients, RBF, m)
    np.testing.assert_allclose(d2, at_once.d2, atol=1e-12)
    np.testing.assert_allclose(u, at_once.memberships, atol=1e-11)
    np.testing.assert_array_equal(u, chunk.memberships)
    assert chunk.objective == pytest.approx(at_once.objective, rel=1e-12)
    assert (chunk.meta_objective, chunk.kept.tolist()) == (0, [1, 1, 1])
    assert chunk.sweeps == 4 if m else chunk.sweeps <= 4  # hard memberships may stand still before
    made_of = (weights if weighted else np.ones(48)) @ a_sweep_before.memberships**power
    np.testing.assert_allclose(chunk.mass, made_of, rtol=1e-11)


@pytest.mark.parametrize("past", [False, True])
def test_the_end_is_where_no_centre_moves_by_tol_times_the_typical_distance(X, weights, past):
    """Typical over rows and meta-vectors; two sweeps' tolerances, to six digits."""
    F = features_of(X)
    meta = streams.Meta(
        *(
            (np.eye(C, 48)[::-1], np.array([30.0, 20.0, 10.0]))
            if past
            else (np.zeros((0, 48)), np.zeros(0))
        ),
        False,
    )
    points, w = np.vstack([F, meta.beta @ F]), np.concatenate([weights, meta.past])
    for sweep in (3, 6):
        before, after = (
            naive.fcm_points(points, F[:C], M, sweeps, w) for sweeps in (sweep - 1, sweep)
        )
        moved = ((after.centers - before.centers) ** 2).sum(axis=1).max()
        tol = np.sqrt(moved / (before.objective / w.sum()))
        for factor, sweeps in ((1 + 1e-6, sweep), (1 - 1e-6, sweep + 1)):
            assert (
                streams.fit(
                    QUADRATIC(X, X), weights, M, meta, first_rows(48), 300, factor * tol
                ).sweeps
                == sweeps
            )


def test_a_stopped_run_is_near_the_fixed_point(X):
    def distances(tol):
        chunks = cut(X, 24, 24)
        run = streams.stkfcm(chunks, RBF, C, M, first_rows(24), n_iter=2000, tol=tol)
        assert all(chunk.sweeps < 2000 for chunk in run)
        return streams.assign(X, chunks[1], run[1].coefficients, RBF, M)[0]

    np.testing.assert_allclose(distances(1e-6), distances(1e-9), atol=1e-5)


def test_hard_has_two_names(X):
    named, unnamed = (
        streams.stkfcm(cut(X, 20, 28), RBF, C, m, first_rows(20)) for m in ("hard", None)
    )
    for one, other in zip(named, unnamed, strict=True):
        np.testing.assert_array_equal(one.coefficients, other.coefficients)
        assert set(one.memberships.ravel()) == {0, 1}
    tied = np.array([[-1.0], [1.0], [0.0]])  # the last row is as far from either
    (chunk,) = streams.stkfcm([tied], LINEAR, 2, None, np.eye(2, 3), n_iter=1)
    np.testing.assert_allclose(chunk.coefficients, [[0.5, 0, 0.5], [0, 1, 0]])


def test_rows_and_meta_vectors_at_centres_are_shared_equally(X):
    q = np.vstack([first_rows(48)[:2], first_rows(48)[:1]])  # centres 0 and 2 are row 0
    K = RBF(X, X)
    np.testing.assert_array_equal(
        streams.memberships(streams.row_distances(K, K, np.diag(K), q), M)[:2],
        [[0.5, 0, 0.5], [0, 1, 0]],
    )
    ill = RBF(X / 10, X / 10)  # condition number beyond 1e16
    q = np.random.default_rng(0).normal(scale=1e4, size=(C, 48))
    np.testing.assert_array_equal(
        streams.memberships(streams.combination_distances(q, ill, q), M), np.eye(C)
    )


def test_what_cannot_be_is_refused(X):
    with pytest.raises(ValueError, match="empty"):
        streams.stkfcm([X], RBF, C, None, first_rows(48)[[0, 1, 1]])
    with pytest.raises(ValueError, match="start"):
        streams.stkfcm([X], RBF, 2, M, first_rows(48))
    with pytest.raises(ValueError, match="projection"):
        streams.stkfcm([X], RBF, C, M, first_rows(48), projection="l1")
    for unknown in ({"past_weight": "q"}, {"meta_membership": "fixed"}):
        with pytest.raises(KeyError):
            streams.stkfcm([X, X], RBF, C, M, first_rows(48), **unknown)
    with pytest.raises(ValueError, match="groups of 1"):
        streams.kernel_patches_tree([X, X], RBF, C, 2, M, [first_rows(48)] * 2, 1)


# --------------------------------------------------------------------------------------- projection


def test_meta_vectors_are_projections_in_an_explicit_feature_space(X):
    F = features_of(X)
    np.testing.assert_allclose(QUADRATIC(X, X), F @ F.T, rtol=1e-9)
    old, new = slice(0, 20), slice(20, 24)  # four of six dimensions
    q = np.random.default_rng(0).dirichlet(np.ones(20), C)
    beta = streams.project(QUADRATIC(X[new], X[new]), QUADRATIC(X[new], X[old]), q)
    span = np.linalg.qr(F[new].T)[0]
    np.testing.assert_allclose(beta @ F[new], q @ F[old] @ span @ span.T, atol=1e-9)
    kept = streams.squared_norms(QUADRATIC(X[new], X[new]), beta) / streams.squared_norms(
        QUADRATIC(X[old], X[old]), q
    )
    np.testing.assert_allclose(
        kept, ((q @ F[old] @ span) ** 2).sum(axis=1) / ((q @ F[old]) ** 2).sum(axis=1), rtol=1e-9
    )
    assert np.all(kept < 1)
    d2 = streams.combination_distances(beta, QUADRATIC(X[new], X[new]), beta[::-1])
    np.testing.assert_allclose(
        d2, (((beta @ F[new])[:, None] - (beta @ F[new])[::-1]) ** 2).sum(axis=2), atol=1e-8
    )


@pytest.mark.parametrize("copies", [1, 2])
def test_what_is_lost_has_nothing_of_the_chunk(X, copies):
    """phi(x_i).(v_k - a_k) = 0, which says so without an inverse; rows given twice change
    nothing."""
    old, new = cut(X, 20, 28)
    new = np.vstack([new] * copies)
    q = np.random.default_rng(1).normal(size=(C, 20))
    beta = streams.project(RBF(new, new), RBF(new, old), q)
    # root of what is cut off
    np.testing.assert_allclose(RBF(new, new) @ beta.T, RBF(new, old) @ q.T, atol=1e-5)
    once = streams.project(RBF(new[:28], new[:28]), RBF(new[:28], old), q)
    np.testing.assert_allclose(RBF(X, new) @ beta.T, RBF(X, new[:28]) @ once.T, atol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_chunk_that_spans_loses_nothing_and_any_one_hot_memberships_make_the_means_of_all_rows(
    weights, weighted
):
    X = np.random.default_rng(2).normal(loc=[1, 0, -1, 2], size=(48, 4))
    w = weights if weighted else np.ones(48)
    labels = np.random.default_rng(3).integers(C, size=48)
    chunks, q, mass = cut(np.arange(48), 10, 5, 13, 20), None, None
    for t, rows in enumerate(chunks):
        K = LINEAR(X[rows], X[rows])
        meta = streams.Meta(np.zeros((0, len(rows))), np.zeros(0), True)
        if t > 0:
            beta = streams.project(K, LINEAR(X[rows], X[chunks[t - 1]]), q)
            norms = streams.squared_norms(LINEAR(X[chunks[t - 1]], X[chunks[t - 1]]), q)
            np.testing.assert_allclose(streams.squared_norms(K, beta) / norms, 1, rtol=1e-9)
            meta = streams.Meta(beta, mass, True)
        q, mass = streams.meta_partition(w[rows], np.eye(C)[labels[rows]], M, meta, np.eye(C))
        seen = np.concatenate(chunks[: t + 1])
        means = [
            np.average(X[seen][labels[seen] == k], axis=0, weights=w[seen][labels[seen] == k])
            for k in range(C)
        ]
        np.testing.assert_allclose(q @ X[rows], means, atol=1e-11)
        np.testing.assert_allclose(
            mass, [w[seen][labels[seen] == k].sum() for k in range(C)], rtol=1e-12
        )


def test_carried_sums_are_the_sums_over_all_rows(X, weights):
    """Of any memberships, where chunks span the space and the past stays with its clusters."""
    u = np.random.default_rng(4).dirichlet(np.ones(C), 48)
    coefficients, mass = streams.stream_sums(
        [u[:20], u[20:]], M, [weights[:20], weights[20:]], decay=0.5
    )
    old, new = X[:20], X[20:]
    q, before = streams.meta_partition(
        weights[:20],
        u[:20],
        M,
        streams.Meta(np.zeros((0, 20)), np.zeros(0), True),
        np.zeros((0, C)),
    )
    meta = streams.Meta(streams.project(LINEAR(new, new), LINEAR(new, old), q), 0.5 * before, True)
    q, after = streams.meta_partition(weights[20:], u[20:], M, meta, np.eye(C))
    np.testing.assert_allclose(after, mass, rtol=1e-12)
    np.testing.assert_allclose(after[:, None] * (q @ new), coefficients @ X, atol=1e-10)
    faded = weights * np.repeat([0.5, 1], [20, 28])
    np.testing.assert_allclose(coefficients, (faded[:, None] * u**M).T, rtol=1e-12)
    np.testing.assert_allclose(mass, coefficients.sum(axis=1), rtol=1e-12)
    counts, _ = streams.stream_sums([u[:20], u[20:]], "hard")
    np.testing.assert_array_equal(counts, u.T)


# ------------------------------------------------------------------------------------------- stKFCM


def explicit_stream(chunks, weights, V, m, sweeps, *, frozen, past_weight, decay):
    """stKFCM on rows of features, without a kernel: meta-vectors are weighted rows. What a chunk's
    record says, in its order."""
    past, found = None, []
    for F, w in zip(chunks, weights, strict=True):
        kept, rows, n = np.ones(len(V)), F, len(F)
        if past is not None:
            span = np.linalg.qr(F.T)[0]
            A = V @ span @ span.T
            kept = (A**2).sum(axis=1) / (V**2).sum(axis=1)
            rows, w, V = np.vstack([F, A]), np.concatenate([w, decay * past]), A
        for sweep in range(sweeps + 1):
            d2 = naive.point_distances(rows, V)
            u = naive.fuzzy_memberships(d2, m)
            if frozen:
                u[n:] = np.eye(len(V))[: len(rows) - n]
            if sweep < sweeps:
                mass, counts = w @ u**m, w @ u
                V = (w[:, None] * u**m).T @ rows / mass[:, None]
        past = mass if past_weight == "u^m" else counts
        terms = w[:, None] * u**m * d2
        found.append((V, mass, past, kept, u[:n], terms[:n].sum(), terms[n:].sum()))
    return found


@pytest.mark.parametrize("meta_membership", ["update", "frozen"])
@pytest.mark.parametrize(("past_weight", "decay"), [("u^m", 1), ("u", 1), ("u^m", 0.6)])
def test_chunks_are_those_of_an_explicit_feature_space(
    X, weights, meta_membership, past_weight, decay
):
    sizes = 14, 5, 12, 3, 14  # of which two do not span the six features
    chunks, w = cut(X, *sizes), cut(weights, *sizes)
    how = {"past_weight": past_weight, "decay": decay}
    run = streams.stkfcm(
        chunks,
        QUADRATIC,
        C,
        M,
        first_rows(14),
        weights=w,
        meta_membership=meta_membership,
        n_iter=6,
        tol=0,
        **how,
    )
    F = [features_of(chunk) for chunk in chunks]
    explicit = explicit_stream(F, w, F[0][:C], M, 6, frozen=meta_membership == "frozen", **how)
    for chunk, features, expected in zip(run, F, explicit, strict=True):
        np.testing.assert_allclose(chunk.coefficients @ features, expected[0], atol=1e-7)
        for ours, theirs in zip(chunk[1:7], expected[1:], strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)
    assert [bool(np.all(chunk.kept > 1 - 1e-9)) for chunk in run] == [
        True,
        False,
        True,
        False,
        True,
    ]
    d2, _ = streams.assign(X, chunks[-1], run[-1].coefficients, QUADRATIC, M)
    np.testing.assert_allclose(
        d2, naive.point_distances(features_of(X), explicit[-1][0]), atol=1e-6
    )


@pytest.mark.parametrize("m", [M, None])
@pytest.mark.parametrize("meta_membership", ["update", "frozen"])
def test_objective_of_rows_and_meta_vectors_never_rises(X, weights, meta_membership, m):
    K = RBF(X[24:], X[24:])
    first = streams.fit(
        RBF(X[:24], X[:24]),
        weights[:24],
        m,
        streams.Meta(np.zeros((0, 24)), np.zeros(0), True),
        first_rows(24),
        5,
        0,
    )
    beta = streams.project(K, RBF(X[24:], X[:24]), first.coefficients)
    meta = streams.Meta(beta, first.mass, meta_membership == "frozen")
    ends = [streams.fit(K, weights[24:], m, meta, beta, n_iter, 0) for n_iter in range(1, 10)]
    total = [end.view.objective + end.view.meta_objective for end in ends]
    assert ends[0].view.meta_objective > 0
    assert np.all(np.diff(total) <= 1e-12 * total[0])
    d2 = streams.row_distances(K, K, np.diag(K), beta)
    # of the start, where a_k = v_k
    assert total[0] < naive.objective(
        d2, streams.memberships(d2, m), streams.power(m), weights[24:]
    )


@pytest.mark.parametrize("m", [M, None])
@pytest.mark.parametrize("meta_membership", ["update", "frozen"])
@pytest.mark.parametrize("decay", [1, 0.5])
def test_weight_is_conserved_if_memberships_are_summed(X, weights, m, meta_membership, decay):
    sizes, total = (14, 8, 12, 14), 0.0
    w = cut(weights, *sizes)
    how = {"weights": w, "meta_membership": meta_membership, "past_weight": "u", "decay": decay}
    for chunk, weight in zip(
        streams.stkfcm(cut(X, *sizes), RBF, C, m, first_rows(14), **how), w, strict=True
    ):
        total = decay * total + weight.sum()
        assert chunk.carried.sum() == pytest.approx(total)
        assert chunk.mass.sum() == pytest.approx(total) if m is None else chunk.mass.sum() < total


def test_a_weight_of_k_equals_k_copies(X):
    chunks, counts = (
        cut(X, 14, 20, 14),
        [np.arange(len(chunk)) % 3 + 1 for chunk in cut(X, 14, 20, 14)],
    )
    copied = [np.repeat(chunk, count, axis=0) for chunk, count in zip(chunks, counts, strict=True)]
    spread = np.repeat(first_rows(14) / counts[0], counts[0], axis=1)
    once = streams.stkfcm(
        chunks,
        RBF,
        C,
        M,
        first_rows(14),
        weights=[count.astype(float) for count in counts],
        n_iter=10,
        tol=0,
    )
    many = streams.stkfcm(copied, RBF, C, M, spread, n_iter=10, tol=0)
    for a, b in zip(once, many, strict=True):
        np.testing.assert_allclose(a.mass, b.mass, rtol=1e-6)
        np.testing.assert_allclose(a.kept, b.kept, rtol=1e-6)
        assert a.objective == pytest.approx(b.objective, rel=1e-6)


def test_order_of_the_rows_of_a_chunk_does_not_matter(X):
    order = np.random.default_rng(5).permutation(24)
    chunks = cut(X, 24, 24)
    once = streams.stkfcm(chunks, RBF, C, M, first_rows(24), n_iter=10, tol=0)
    again = streams.stkfcm(
        [chunks[0][order], chunks[1][order]], RBF, C, M, first_rows(24)[:, order], n_iter=10, tol=0
    )
    for a, b in zip(once, again, strict=True):
        np.testing.assert_allclose(a.memberships[order], b.memberships, atol=1e-7)
        np.testing.assert_allclose(a.mass, b.mass, rtol=1e-7)


def test_without_a_past_every_chunk_stands_alone(X):
    """decay = 0, but for the start."""
    chunks = cut(X, 24, 24)
    run = streams.stkfcm(chunks, LINEAR, C, M, first_rows(24), decay=0, n_iter=8, tol=0)
    alone = naive.fcm_points(chunks[1], run[0].coefficients @ chunks[0], M, 8)
    np.testing.assert_allclose(run[1].coefficients @ chunks[1], alone.centers, atol=1e-9)
    np.testing.assert_allclose(run[1].memberships, alone.memberships, atol=1e-9)


def test_masses_never_exceed_the_rows_and_the_printed_weights_explode():
    """15 chunks of 30 rows, RBF of width 1: K_t has next to no smallest eigenvalue, and the
    coefficients of projections either sign."""
    X = rows_of(450, scale=0.6, apart=0.5)
    kernel = partial(naive.kernel_matrix, function=partial(naive.rbf, gamma=0.5))
    how = {
        "chunks": cut(X, *[30] * 15),
        "kernel": kernel,
        "c": C,
        "m": M,
        "start": first_rows(30),
        "n_iter": 6,
    }
    for meta_membership in ("update", "frozen"):
        run = streams.stkfcm(**how, meta_membership=meta_membership)
        assert all(chunk.mass.sum() <= 30 * (t + 1) for t, chunk in enumerate(run))
        assert np.all(run[-1].kept <= 1 + 1e-6)
    printed = streams.stkfcm(**how, past_weight="|q|")
    assert printed[-1].carried.sum() > 1e6 * 450
    assert printed[-1].carried.sum() > 1e6 * printed[0].carried.sum()


@pytest.mark.parametrize("meta_membership", ["update", "frozen"])
@pytest.mark.parametrize("kernel", [LINEAR, RBF])
def test_hard_streams_find_separated_blobs(kernel, meta_membership):
    X = rows_of(60, scale=0.3, apart=4)
    sizes = 12, 18, 9, 21
    chunks, labels = cut(X, *sizes), cut(np.arange(60) % C, *sizes)
    run = streams.stkfcm(chunks, kernel, C, None, first_rows(12), meta_membership=meta_membership)
    for t, chunk in enumerate(run):
        np.testing.assert_array_equal(chunk.memberships.argmax(axis=1), labels[t])
        np.testing.assert_array_equal(chunk.mass, np.full(C, sum(sizes[: t + 1]) / 3))
    _, u = streams.assign(X, chunks[-1], run[-1].coefficients, kernel, None)
    np.testing.assert_array_equal(u.argmax(axis=1), np.arange(60) % C)
    if kernel is LINEAR:  # k-means of all rows
        np.testing.assert_allclose(
            run[-1].coefficients @ chunks[-1], naive.kmeans_points(X, X[:C], 5).centers, atol=1e-9
        )


# -------------------------------------------------------------------------- kernel patch clustering


@pytest.mark.parametrize("m", [M, None])
def test_one_point_is_a_medoid(X, weights, m):
    """The row with the smallest weighted sum of squared distances to all rows, the weights being
    those of the centre."""
    K = RBF(X, X)
    pairs = np.diag(K)[:, None] + np.diag(K) - 2 * K
    (record,) = streams.kernel_patches([X], RBF, C, 1, m, first_rows(48), weights=[weights])
    medoids = (pairs @ record.coefficients.T).argmin(axis=0)
    np.testing.assert_array_equal(record.numbers, np.sort(medoids))
    np.testing.assert_array_equal(record.points, X[record.numbers])
    np.testing.assert_array_equal(record.shares, record.numbers == medoids[:, None])
    np.testing.assert_allclose(record.weights, (weights @ record.memberships)[np.argsort(medoids)])


def test_the_first_patch_is_kernel_cmeans(X, weights):
    (record,) = streams.kernel_patches(
        [X], RBF, C, 4, M, first_rows(48), weights=[weights], n_iter=7, tol=0
    )
    start = naive.row_start_distances_exact(RBF(X, X), np.arange(C))
    rule = lambda d2: naive.fuzzy_memberships(d2, M)  # noqa: E731
    at_once = naive.cmeans(partial(naive.exact_distances, RBF(X, X)), rule, start, 7, M, weights)
    np.testing.assert_allclose(record.memberships, at_once.memberships, atol=1e-11)
    assert record.objective == pytest.approx(at_once.objective)
    closest = np.argsort(at_once.d2, axis=0, kind="stable")[:4].T
    np.testing.assert_array_equal(record.numbers, np.unique(closest))
    np.testing.assert_array_equal(
        record.shares, [np.isin(record.numbers, rows) / 4 for rows in closest]
    )
    np.testing.assert_allclose(record.weights, (weights @ at_once.memberships) @ record.shares)


@pytest.mark.parametrize(("n_points", "m"), [(1, M), (3, M), (30, M), (1, None), (3, None)])
def test_patches_conserve_weight(X, weights, n_points, m):
    sizes = 14, 8, 12, 14
    patches, w = cut(X, *sizes), cut(weights, *sizes)
    total = np.cumsum([part.sum() for part in w])
    records = streams.kernel_patches(patches, RBF, C, n_points, m, first_rows(14), weights=w)
    np.testing.assert_allclose([record.weights.sum() for record in records], total)
    for record, size in zip(records, sizes, strict=True):
        np.testing.assert_allclose(record.shares.sum(axis=1), 1)
        assert (record.shares > 0).any(axis=0).all()
        assert len(record.points) <= min(C * n_points, size + C * n_points)
    assert ((records[0].shares > 0).sum(axis=1) == min(n_points, 14)).all()
    starts = [first_rows(size) for size in sizes]
    for level in streams.kernel_patches_tree(patches, RBF, C, n_points, m, starts, 2, weights=w):
        assert sum(record.weights.sum() for record in level) == pytest.approx(total[-1])


def test_as_many_points_as_a_cluster_has_rows_lose_nothing():
    """Separated blobs, ten rows of each in a patch: the first centres are the means, the second
    those of all rows."""
    X = rows_of(60, scale=0.3, apart=4)
    records = streams.kernel_patches(cut(X, 30, 30), LINEAR, C, 10, None, first_rows(30))
    np.testing.assert_array_equal(records[0].numbers, np.arange(30))
    np.testing.assert_array_equal(records[0].shares.argmax(axis=0), np.arange(30) % C)
    np.testing.assert_allclose([record.weights for record in records], np.full((2, 30), [[1], [2]]))
    expected = naive.kmeans_points(X[:30], X[:C], 5).centers
    np.testing.assert_allclose(records[0].shares @ records[0].points, expected, atol=1e-12)
    B = np.vstack([X[30:], records[0].points])
    np.testing.assert_allclose(
        records[1].coefficients @ B, naive.kmeans_points(X, X[:C], 5).centers, atol=1e-12
    )


def test_a_row_close_to_several_centres_goes_on_once():
    """With all rows carried for every cluster the averages are one and the same, and a row weighs
    what all shares of it do."""
    X = rows_of(30, scale=0.3, apart=4)
    (record,) = streams.kernel_patches([X], RBF, C, 30, None, first_rows(30))
    np.testing.assert_array_equal(record.points, X)
    np.testing.assert_allclose(
        record.shares @ record.points, np.tile(X.mean(axis=0), (C, 1)), atol=1e-12
    )
    np.testing.assert_allclose(record.weights, 1)


def test_equal_rows_are_carried_once():
    X = rows_of(24)
    twice = np.vstack([X, X[::-1]])
    (once,) = streams.kernel_patches([X], RBF, C, 4, M, first_rows(24), n_iter=9, tol=0)
    (both,) = streams.kernel_patches([twice], RBF, C, 4, M, first_rows(48), n_iter=9, tol=0)
    np.testing.assert_array_equal(both.numbers, once.numbers)
    np.testing.assert_allclose(both.weights, 2 * once.weights)


def test_rows_without_weight_are_not_carried():
    X = rows_of(12)
    w = np.repeat([1.0, 0.0], [5, 7])
    (record,) = streams.kernel_patches([X], RBF, C, 8, M, first_rows(12), weights=[w])
    np.testing.assert_array_equal(record.numbers, np.arange(5))
    np.testing.assert_allclose(record.shares, 0.2)
    np.testing.assert_allclose(record.weights, np.full(5, 1.0))
    d2, w = np.array([2.0, 1.0, 0.0, 1.0, 1.0]), np.array([1, 1, 0, 1, 1])
    assert streams.closest_rows(X[:5], d2, w, 2) == [1, 3]  # ties to the lowest number
    assert streams.closest_rows(X[[0, 1, 2, 1, 3]], d2, w, 2) == [1, 4]
    assert streams.closest_rows(X[[0, 1, 2, 3, 2]], d2, w, 2) == [2, 1]  # an equal row has weight


@pytest.mark.parametrize("kernel", [LINEAR, RBF])
@pytest.mark.parametrize("n_points", [1, 3])
def test_patches_find_separated_blobs(kernel, n_points):
    X = rows_of(75, scale=0.3, apart=4)
    patches = cut(X, 12, 18, 9, 15, 21)
    last = streams.kernel_patches(patches, kernel, C, n_points, None, first_rows(12))[-1]
    starts = [first_rows(len(part)) for part in patches]
    levels = streams.kernel_patches_tree(patches, kernel, C, n_points, None, starts, 2)
    assert [len(level) for level in levels] == [5, 3, 2, 1]
    assert levels[1][2] is levels[0][4]  # a group of one
    for end in (last, levels[-1][0]):
        _, u = streams.assign(X, end.points, end.shares, kernel, None)
        np.testing.assert_array_equal(u.argmax(axis=1), np.arange(75) % C)
        np.testing.assert_allclose(end.weights, 25 / n_points)


def test_a_tree_of_one_patch_is_the_patch_and_one_merge_is_a_patch_of_carried_points(X, weights):
    (alone,) = streams.kernel_patches([X], RBF, C, 4, M, first_rows(48), weights=[weights])
    ((same,),) = streams.kernel_patches_tree(
        [X], RBF, C, 4, M, [first_rows(48)], 2, weights=[weights]
    )
    np.testing.assert_array_equal(alone.points, same.points)
    np.testing.assert_array_equal(alone.weights, same.weights)

    leaves, (top,) = streams.kernel_patches_tree(
        cut(X, 15, 18, 15), RBF, C, 4, M, [first_rows(n) for n in (15, 18, 15)], 5, n_iter=6, tol=0
    )
    pooled, w = (
        np.vstack([leaf.points for leaf in leaves]),
        np.concatenate([leaf.weights for leaf in leaves]),
    )
    averages = np.hstack([leaves[0].shares, np.zeros((C, len(pooled) - len(leaves[0].points)))])
    (expected,) = streams.kernel_patches(
        [pooled], RBF, C, 4, M, averages, weights=[w], n_iter=6, tol=0
    )
    np.testing.assert_array_equal(top.points, expected.points)
    np.testing.assert_allclose(top.weights, expected.weights)


def test_later_patches_start_at_the_averages_of_the_carried_points(X):
    first, second = streams.kernel_patches(
        cut(X, 24, 24), LINEAR, C, 4, M, first_rows(24), n_iter=1
    )
    averages = first.shares @ first.points
    B, w = np.vstack([X[24:], first.points]), np.concatenate([np.ones(24), first.weights])
    np.testing.assert_allclose(
        second.coefficients @ B, naive.fcm_points(B, averages, M, 1, w).centers, atol=1e-10
    )
