"""The noise cluster: against loops and R's formula, its distance from the data, and all that a
model with one says of rows."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.sparse
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

import naive
from blob_streams import stream as stream_of
from cmeans import CMeans, FuzzyCMeans, Search, StreamingFuzzyCMeans, load, save
from cmeans.rules import Fuzzy, NoiseFuzzy
from cmeans.solvers.noise import automatic_distance, cluster_width, distance_of_share
from limited import limited

pytestmark = pytest.mark.slow

MIDDLES = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [6.0, 6.0]])
START = np.array([0, 1, 2, 3])
LINEAR, EXACT = {"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.2, "landmarks": None}
quiet = pytest.mark.filterwarnings("ignore:.*stopped at max_iter")


def mixture(share, seed=0, n=400):
    """Rows of four round clusters, a share of noise in a square around them, and which rows are no
    noise."""
    rng = np.random.default_rng(seed)
    count = n - round(share * n)
    rows = MIDDLES[np.arange(count) % 4] + rng.normal(size=(count, 2))
    return np.concatenate([rows, rng.uniform(-10, 16, size=(n - count, 2))]), np.arange(n) < count


X, CLEAN = mixture(0.3)
W = np.random.default_rng(3).integers(1, 4, size=len(X)).astype(float)


@pytest.fixture(params=["native", "generic"])
def kind(request, monkeypatch):
    if request.param == "generic":
        monkeypatch.setattr("cmeans.native.is_available", lambda: False)
    return request.param


# ---- the rule


@quiet
@pytest.mark.parametrize("m", [2.0, 1.3])
@pytest.mark.parametrize("weights", [None, W[:80]], ids=["plain", "weighted"])
@pytest.mark.parametrize("words", [LINEAR, EXACT], ids=["linear", "exact"])
def test_fits_are_naive(kind, words, weights, m):
    rows, rule = X[:80], NoiseFuzzy(m, delta=3.0 if words is LINEAR else 0.5)
    gram = rows @ rows.T if words is LINEAR else rbf_kernel(rows, gamma=0.2)
    expected = naive.cmeans(
        lambda A: naive.exact_distances(gram, A),
        lambda d2: naive.noise_memberships(d2, m, rule.delta),
        naive.row_start_distances_exact(gram, START),
        7,
        m,
        weights,
    )
    words = {**words, "init": START, "max_iter": 7, "tol": 0.0, "search": Search(acceleration=None)}
    model = CMeans(4, rule=rule, **words).fit(rows, sample_weight=weights)
    np.testing.assert_allclose(model.memberships_, expected.memberships, rtol=0, atol=1e-9)
    objective = expected.objective + naive.noise_penalty(
        expected.memberships, m, rule.delta, weights
    )
    assert model.objective_ == pytest.approx(objective, rel=1e-9)


def test_memberships_and_centres_are_those_of_fclust(kind):
    """R's FKM.noise:  u = d^(-1/(m-1)) / (sum d^(-1/(m-1)) + delta^(-1/(m-1))),  centres the means
    with weights u^m, delta given."""
    m, delta = 1.7, 4.0
    model = CMeans(4, rule=NoiseFuzzy(m, delta=delta), init=MIDDLES, tol=1e-10, max_iter=1000).fit(
        X
    )
    d2 = ((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    p = 1 / (m - 1)
    u = d2**-p / ((d2**-p).sum(axis=1, keepdims=True) + delta**-p)
    np.testing.assert_allclose(model.memberships_, u, rtol=1e-9)
    np.testing.assert_allclose(
        (u**m).T @ X / (u**m).sum(axis=0)[:, None], model.cluster_centers_, atol=1e-6
    )
    np.testing.assert_array_equal(
        model.labels_, np.where(d2.min(axis=1) > delta, -1, d2.argmin(axis=1))
    )
    assert (np.diff(model.objective_history_) <= 1e-12 * model.objective_).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_as_far_as_noise_belong_to_a_cluster(kind, dtype):
    """Ties go to the lowest number, and noise is the last."""
    rows = np.array([[0, 2], [0, 3], [0, 5], [9, 9], [0, 0]], dtype)
    model = CMeans(2, rule=NoiseFuzzy(2.0, delta=4.0), init=rows[[4, 3]], max_iter=1, tol=1e9).fit(
        rows
    )
    centres = model._state.centres.coordinates
    model._state = type(model._state)(
        type(model._state.centres).orthonormal(
            centres * 0 + model._space.at(rows[[4, 3]]).coordinates
        )
    )
    assert model.predict(rows).tolist() == [0, -1, -1, 1, 0]
    assert model.memberships(rows)[[3, 4]].tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("delta", [1e-300, 1e300])
@quiet
def test_distances_beyond_the_rows_numbers(kind, delta, dtype):
    """Noise that is nowhere leaves fuzzy c-means; noise that is everywhere leaves no row but those
    at centres."""
    words = {"init": START, "max_iter": 3, "tol": 0.0, "search": Search(acceleration=None)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = CMeans(4, rule=NoiseFuzzy(2.0, delta=delta), **words).fit(X.astype(dtype))
    assert np.isfinite(model.memberships_).all()
    assert (model.labels_ < 0).sum() == (0 if delta > 1 else len(X) - 4)
    if delta > 1:
        fuzzy = CMeans(4, rule=Fuzzy(2.0), **words).fit(X.astype(dtype))
        np.testing.assert_allclose(
            model.memberships_, fuzzy.memberships_, atol=1e-5 if dtype == np.float32 else 1e-12
        )


@pytest.mark.parametrize("delta", [0, -1.0, np.nan, np.inf, "near", True])
def test_a_distance_that_is_none(delta):
    with pytest.raises(
        ValueError, match=r"NoiseFuzzy\(delta=.*delta must be a number greater than 0"
    ):
        NoiseFuzzy(2.0, delta=delta)


# ---- its distance


@pytest.mark.parametrize("weights", [np.ones(len(X)), W], ids=["plain", "weighted"])
def test_distances_are_naive(weights):
    all_d2 = naive.point_distances(X, MIDDLES)
    d2, labels = all_d2.min(axis=1), all_d2.argmin(axis=1)
    for share in (0.001, 0.1, 0.3, 0.5, 0.999):
        delta = distance_of_share(d2, weights, share)
        assert delta == naive.weighted_quantile(d2, weights, 1 - share)
        assert weights[d2 > delta].sum() <= share * weights.sum()
        assert weights[d2 >= delta].sum() > share * weights.sum()
    delta = automatic_distance(d2, weights, labels)
    assert delta == pytest.approx(naive.automatic_noise_distance(d2, weights, labels), rel=1e-12)
    copies = weights.astype(int)
    assert (
        automatic_distance(np.repeat(d2, copies), np.ones(copies.sum()), np.repeat(labels, copies))
        == delta
    )
    assert automatic_distance(4 * d2, weights, labels) == pytest.approx(4 * delta, rel=1e-12)


@pytest.mark.parametrize(
    ("d", "least", "most"),
    [(1, 0.03, 0.08), (2, 0.03, 0.05), (5, 0.004, 0.015), (10, 0.001, 0.006), (50, 0.0, 1e-3)],
)
def test_the_automatic_distance_leaves_gaussian_rows_in(d, least, most):
    d2 = np.random.default_rng(0).chisquare(d, size=200_000)
    assert least <= (d2 > cluster_width(d2, np.ones(len(d2)))).mean() <= most


def test_the_automatic_distance_covers_most_clusters():
    """Of any widths; one of noise rows alone, or of a few rows, has no say."""
    d2 = np.random.default_rng(0).chisquare(2, size=4000)
    labels = np.arange(4000) % 4
    plain = automatic_distance(d2, np.ones(4000), labels)
    tight = automatic_distance(np.where(labels == 0, 1e-3, 1.0) * d2, np.ones(4000), labels)
    assert 0.003 < (d2 > plain).mean() < 0.008
    assert plain / 1.2 < tight < 1.2 * plain
    assert (
        automatic_distance(np.where(labels == 0, 1e3, 1.0) * d2, np.ones(4000), labels)
        < 1.2 * plain
    )


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_one_column(share):
    """Squared distances in one dimension crowd at zero: 18, 25 and 37% were called noise once."""
    left, precision = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        count = 1000 - round(share * 1000)
        rows = np.concatenate(
            [
                rng.choice([0.0, 10.0, 25.0], count) + rng.normal(size=count),
                rng.uniform(-10, 35, 1000 - count),
            ]
        )[:, None]
        labels = FuzzyCMeans(3, noise="auto", random_state=seed).fit(rows).labels_
        left.append((labels < 0).mean())
        precision.append((labels[count:] < 0).sum() / max((labels < 0).sum(), 1))
    assert np.mean(left) < share + 0.03
    assert share == 0 or np.mean(precision) > 0.6


GRID = 8.0 * np.array([[i, j] for i in range(3) for j in range(2)])  # 8 spreads apart


def six(sizes, seed):
    """Six round clusters, the small ones at random places of a grid, and which row is of which."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(rng.permutation(6), sizes)
    return GRID[truth] + rng.normal(size=(len(truth), 2)), truth


@pytest.mark.parametrize("noise", ["auto", 0.02])
@pytest.mark.parametrize(
    "sizes", [[200] * 6, [600, 300, 150, 75, 50, 25]], ids=["equal", "different"]
)
def test_clusters_that_lie_alone_are_not_noise(sizes, noise):
    """A cluster of 25 rows among 1,200 was given up for half of one of 600."""
    for seed in range(4):
        rows, truth = six(sizes, seed)
        labels = FuzzyCMeans(6, noise=noise, random_state=seed).fit(rows).labels_
        kept = labels >= 0
        assert adjusted_rand_score(truth[kept], labels[kept]) == 1.0
        assert np.unique(truth[kept]).size == 6
        assert (~kept).mean() < 0.01 if noise == "auto" else abs((~kept).mean() - 0.02) < 0.002


def wide_and_narrow(d):
    """Three clusters of deviation 0.5 and one of 2.5, and which row is of which."""
    rng, truth = np.random.default_rng(d), np.repeat(range(4), [600, 600, 600, 200])
    centres = 8.0 * np.array([[0, 0], [1, 0], [0, 1], [1.4, 1.4]])
    centres = np.pad(centres, [(0, 0), (0, d - 2)])
    return centres[truth] + rng.normal(size=(2000, d)) * np.array([0.5, 0.5, 0.5, 2.5])[
        truth, None
    ], truth


@pytest.mark.parametrize("d", [2, 6])
def test_a_wide_cluster_is_no_noise(d):
    """All of its rows were."""
    rows, truth = wide_and_narrow(d)
    model = FuzzyCMeans(4, noise="auto", random_state=0).fit(rows)
    assert max((model.labels_[truth == k] < 0).mean() for k in range(4)) < 0.1
    assert "noise begins beyond a cluster of" in model.stop_reason_
    told = FuzzyCMeans(4, noise=0.1, random_state=0).fit(rows)
    assert "noise form a cluster of their own" in told.stop_reason_


def test_a_third_of_a_cluster_is_no_noise_where_the_rest_lies_as_its_own_width_says():
    """Four in ten of its rows were."""
    rng, truth = np.random.default_rng(0), np.repeat(range(4), [300, 300, 300, 100])
    centres = 9.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    rows = centres[truth] + rng.normal(size=(1000, 2)) * np.where(truth == 3, 1.1, 0.5)[:, None]
    model = FuzzyCMeans(4, noise="auto", random_state=0).fit(rows)
    assert max((model.labels_[truth == k] < 0).mean() for k in range(4)) < 0.05
    assert "noise begins beyond a cluster of 10%" in model.stop_reason_


def test_noise_that_is_spread_is_no_cluster():
    """Though a centre too many lies among it in the fit without noise."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([six([150] * 6, 0)[0], rng.uniform(-10, 26, (150, 2))])
    model = FuzzyCMeans(7, noise="auto", random_state=0).fit(rows)
    assert (model.labels_[900:] < 0).mean() > 0.7
    assert (model.labels_[:900] < 0).mean() < 0.03
    assert "cluster of" not in model.stop_reason_


@pytest.mark.parametrize("noise", ["auto", 0.02])
@pytest.mark.parametrize("size", [60, 120])
def test_stray_rows_keep_no_centre(size, noise):
    """Far out, where each costs more than any row of a cluster, though the fit that goes first has
    given them centres."""
    for seed in range(4):
        rows, truth = six([size] * 6, seed)
        labels = (
            FuzzyCMeans(6, noise=noise, random_state=seed)
            .fit(np.concatenate([rows, [[100.0, 200.0], [-80.0, 90.0]]]))
            .labels_
        )
        kept = labels[:-2] >= 0
        assert labels[-2:].tolist() == [-1, -1]
        assert adjusted_rand_score(truth[kept], labels[:-2][kept]) == 1.0
        assert (~kept).mean() < (0.04 if noise == "auto" else 0.02)


def test_landmark_graphs():
    """Parts of a graph may differ in spread a thousandfold: half of the rows were called noise
    once."""
    left = [
        (
            FuzzyCMeans(10, kernel="landmark_graph", noise="auto", random_state=seed)
            .fit(load_digits().data / 16)
            .labels_
            < 0
        ).mean()
        for seed in range(3)
    ]
    assert max(left) < 0.45
    assert np.mean(left) < 0.35


@pytest.mark.parametrize("noise", [0.1, "auto"])
def test_rows_that_are_all_at_centres(noise):
    """No distance is no distance to divide by."""
    model = FuzzyCMeans(4, noise=noise, random_state=0).fit(np.repeat(MIDDLES, 20, axis=0))
    assert model.noise_distance_ > 0
    assert (model.labels_ >= 0).all()
    np.testing.assert_array_equal(model.noise_membership_, 0)
    few = FuzzyCMeans(4, noise=noise, random_state=0).fit(
        np.concatenate([np.repeat(MIDDLES, 20, axis=0), [[50.0, 50.0]]])
    )
    assert few.labels_[-1] == -1 or noise == "auto"
    assert (few.labels_[:-1] >= 0).sum() >= 60


@pytest.mark.parametrize(
    "share", [0.3, *(pytest.param(share, marks=pytest.mark.minutes) for share in (0.1, 0.5))]
)
def test_centres_are_nearer_the_true_ones(share):
    """Than those of the fit without noise, in all of 5 draws; a given share is kept, and most rows
    called noise are noise."""
    precision, recall = {"share": [], "auto": []}, {"share": [], "auto": []}
    for seed in range(5):
        rows, clean = mixture(share, seed, n=1000)
        plain = FuzzyCMeans(4, random_state=seed).fit(rows)
        for name, noise in (("share", share), ("auto", "auto")):
            model = FuzzyCMeans(4, m=plain.m_, noise=noise, random_state=seed).fit(rows)
            assert away(model) < away(plain)
            history = model.objective_history_
            assert (np.diff(history) <= 1e-10 * history[0]).all()
            left = model.labels_ < 0
            assert abs(left.mean() - share) < (0.03 if name == "share" else 0.15)
            precision[name].append((left & ~clean).sum() / left.sum())
            recall[name].append((left & ~clean).sum() / (~clean).sum())
    assert min(np.mean(precision["share"]), np.mean(recall["share"])) > 0.75
    assert min(np.mean(precision["auto"]), np.mean(recall["auto"])) > 0.7


def test_a_share_is_kept_where_distances_crowd():
    """Directions of many topics in many columns: of a tenth, 7% were called noise once, as the
    distance went to and fro between two."""
    rng = np.random.default_rng(0)
    topics = rng.normal(size=(40, 100))
    sizes = rng.dirichlet(np.ones(40))
    rows = topics[rng.choice(40, size=1500, p=sizes)] + rng.normal(size=(1500, 100)) * rng.uniform(
        0.8, 2.0, size=(1500, 1)
    )
    for clusters in 10, 30:
        model = FuzzyCMeans(
            clusters, m=1.04, kernel="linear", metric="cosine", noise=0.1, random_state=0
        ).fit(rows)
        assert abs((model.labels_ < 0).mean() - 0.1) <= 0.005


def away(model):
    """Mean distance of the centres from the true ones."""
    distances = np.sqrt(naive.point_distances(MIDDLES, model.cluster_centers_))
    return distances[linear_sum_assignment(distances)].mean()


# ---- fits and models


def noisy(noise=0.3, **words):
    return FuzzyCMeans(4, **{"noise": noise, "random_state": 0, **words})


@pytest.mark.parametrize("noise", [0.3, "auto"])
@pytest.mark.parametrize(
    "words",
    [{}, {"kernel": "rbf", "gamma": 0.2, "landmarks": 60}, EXACT, {"kernel": "landmark_graph"}],
    ids=str,
)
def test_what_a_model_says_of_rows(words, noise, tmp_path):
    model = noisy(noise, **words).fit(X)
    u, lack = model.memberships_, model.noise_membership_
    assert u.shape == (len(X), 4)
    np.testing.assert_allclose(u.sum(axis=1) + lack, 1, atol=1e-12)
    np.testing.assert_array_equal(
        model.labels_, np.where(lack > u.max(axis=1), -1, u.argmax(axis=1))
    )
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.predict_proba(X), u)
    np.testing.assert_array_equal(model.outlier_score(X), lack)
    assert model.rule_ == NoiseFuzzy(model.m_, share=noise, delta=model.noise_distance_)
    if noise == 0.3:
        assert abs((model.labels_ < 0).mean() - 0.3) < 0.03
    save(model, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.noise_membership_, lack)
    np.testing.assert_array_equal(again.predict(X), model.labels_)
    assert again.noise_distance_ == model.noise_distance_


@quiet
def test_weights_are_copies():
    once, copies = noisy().fit(X, sample_weight=W), noisy().fit(np.repeat(X, W.astype(int), axis=0))
    assert once.noise_distance_ == pytest.approx(copies.noise_distance_, rel=1e-9)
    np.testing.assert_allclose(once.cluster_centers_, copies.cluster_centers_, atol=1e-7)
    assert abs(W[once.labels_ < 0].sum() / W.sum() - 0.3) < 0.02


def test_any_number_of_threads_gives_the_same_bits(monkeypatch):
    limited(monkeypatch, block_rows=64, narrow_block_rows=64, tasks=5, task_values=1)
    fits = [noisy(kernel="rbf", landmarks=40, n_jobs=count).fit(X) for count in (1, 2, 5)]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.memberships_, fits[0].memberships_)
        assert other.noise_distance_ == fits[0].noise_distance_


def test_rows_of_other_types():
    model = noisy().fit(X)
    small = noisy().fit(X.astype(np.float32))
    assert small.noise_membership_.dtype == np.float32
    assert (small.labels_ == model.labels_).mean() > 0.99
    sparse = noisy().fit(scipy.sparse.csr_array(X))
    assert adjusted_rand_score(sparse.labels_, model.labels_) > 0.99
    kernel = X @ X.T
    precomputed = noisy(kernel="precomputed").fit(kernel)
    assert adjusted_rand_score(precomputed.labels_, model.labels_) > 0.9
    with pytest.raises(ValueError, match=r"pass diag="):
        precomputed.predict(kernel[:3])
    np.testing.assert_array_equal(
        precomputed.predict(kernel, diag=np.diag(kernel)), precomputed.labels_
    )


def test_rows_on_the_disk(tmp_path, monkeypatch):
    limited(monkeypatch, loaded_bytes=0)
    rows, _ = mixture(0.3, n=2400)  # more than are read into memory whatever their bytes
    np.save(tmp_path / "rows.npy", rows)
    model = noisy(0.2)
    counts = model.fit_predict_to(tmp_path / "rows.npy", tmp_path / "labels.parquet")
    assert not hasattr(model, "noise_membership_")
    inside = noisy(0.2).fit(rows)
    assert model.noise_distance_ == pytest.approx(inside.noise_distance_, rel=1e-12)
    table = pq.read_table(tmp_path / "labels.parquet")
    np.testing.assert_array_equal(table["label"].to_numpy(), inside.labels_)
    assert counts.sum() == (inside.labels_ >= 0).sum()
    written = np.column_stack([table[f"u{j}"].to_numpy() for j in range(4)])
    np.testing.assert_allclose(1 - written.sum(axis=1), inside.noise_membership_, atol=1e-9)
    assert (
        model.predict_to(tmp_path / "rows.npy", tmp_path / "again.npy").tolist() == counts.tolist()
    )


def test_rows_of_dask(monkeypatch):
    da, distributed = pytest.importorskip("dask.array"), pytest.importorskip("distributed")
    limited(monkeypatch, loaded_bytes=0)
    rows, _ = mixture(0.3, n=2400)
    words = {"noise": 0.2, "kernel": "rbf", "gamma": 0.2, "landmarks": rows[::61], "init": MIDDLES}
    whole, parts = noisy(**words).fit(rows), da.from_array(rows, chunks=(900, 2))
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", processes=False
    )
    with cluster, distributed.Client(cluster):
        model = noisy(**words).fit(parts)
        labels = np.asarray(model.labels_)
        scores = model.outlier_score(parts).compute()
        shares = model.predict_proba(parts).compute().sum(axis=1)
    assert model.noise_distance_ == pytest.approx(whole.noise_distance_, rel=1e-9)
    np.testing.assert_array_equal(labels, whole.labels_)
    np.testing.assert_allclose(scores, whole.noise_membership_, atol=1e-9)
    np.testing.assert_allclose(shares + scores, 1, atol=1e-9)


def test_many_rows_settle_on_a_sample(monkeypatch):
    limited(monkeypatch, subsampled_above=1000, last_sample_rows=600)
    rows, _ = mixture(0.3, n=4000)
    model = noisy(0.3).fit(rows)
    assert away(model) < 0.1 < away(FuzzyCMeans(4, random_state=0).fit(rows))
    assert abs((model.labels_ < 0).mean() - 0.3) < 0.02


@pytest.mark.parametrize("search", ["auto", "breathing"])
def test_search_finds_what_a_poor_start_missed(search):
    """In noise, rows that start a cluster are drawn by what they cost, which is never more than
    noise costs."""
    rng = np.random.default_rng(1)
    middles = 8.0 * np.array([[i, j] for i in range(3) for j in range(3)])
    rows = np.concatenate(
        [
            np.repeat(middles, 40, axis=0) + rng.normal(size=(360, 2)),
            rng.uniform(-8, 24, size=(240, 2)),
        ]
    )
    found = [
        FuzzyCMeans(9, noise=0.35, search=search, random_state=seed).fit(rows) for seed in range(5)
    ]
    near = [
        np.sqrt(naive.point_distances(middles, model.cluster_centers_)).min(axis=1).max() < 2
        for model in found
    ]
    assert sum(near) >= 4
    assert all(model.converged_ for model in found)


def test_m_is_that_of_a_fit_without_noise():
    assert noisy().fit(X).m_ == FuzzyCMeans(4, random_state=0).fit(X).m_
    assert noisy(m=1.4).fit(X).m_ == 1.4


def test_a_fit_of_one_cluster():
    model = FuzzyCMeans(1, noise=0.3, random_state=0).fit(X[(np.arange(len(X)) % 4 == 0) | ~CLEAN])
    assert np.abs(model.cluster_centers_).max() < 1
    assert (model.labels_ < 0).any()


@pytest.mark.parametrize("method", ["landmarks", "projection"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_streams(kernel, method, tmp_path):
    rows, clean = mixture(0.3, n=2000)
    order = np.random.default_rng(0).permutation(len(rows))
    rows, clean = rows[order], clean[order]
    words = {
        "kernel": kernel,
        "method": method,
        "random_state": 0,
        "gamma": 0.1,
        "landmarks": 100 if kernel == "rbf" else "auto",
    }
    words = {name: value for name, value in words.items() if kernel == "rbf" or name != "gamma"}
    stream = stream_of(4, noise=0.3, **words)
    for start in range(0, 2000, 400):
        stream = stream.partial_fit(rows[start : start + 400])
    assert stream.noise_membership_.shape == (400,)
    np.testing.assert_allclose(
        stream.memberships_.sum(axis=1) + stream.noise_membership_, 1, atol=1e-9
    )
    left = stream.predict(rows) < 0
    assert abs(left.mean() - 0.3) < 0.05
    assert (left & ~clean).sum() / left.sum() > 0.75
    save(stream, tmp_path / "stream.safetensors")
    again = load(tmp_path / "stream.safetensors").partial_fit(rows[:300])
    np.testing.assert_array_equal(again.labels_, stream.partial_fit(rows[:300]).labels_)
    if kernel == "linear":
        assert away(stream) < 0.2


def test_streams_keep_clusters_that_lie_alone():
    """Of the first 600 rows such a cluster has a dozen."""
    rows, truth = six([600, 300, 150, 75, 50, 25], 1)
    order = np.random.default_rng(1).permutation(len(rows))
    stream = StreamingFuzzyCMeans(6, noise="auto", random_state=0)
    for part in np.split(rows[order], 2):
        stream.partial_fit(part)
    labels = stream.predict(rows)
    kept = labels >= 0
    assert adjusted_rand_score(truth[kept], labels[kept]) == 1.0
    assert np.unique(truth[kept]).size == 6
    assert (~kept).mean() < 0.02


@pytest.mark.parametrize("decay", [1.0, 0.5])
@pytest.mark.parametrize("meta", ["frozen", "update"])
def test_the_objective_of_a_stream_holds_what_noise_has_cost(meta, decay):
    """In past chunks too: it begins with what these cost in the end, and what the new rows do at
    the same centres."""
    rows, _ = mixture(0.3, n=2000)
    rows = rows[np.random.default_rng(0).permutation(len(rows))]
    words = {
        "m": 1.5,
        "noise": 0.3,
        "tol": 1e-9,
        "max_iter": 1000,
        "warm_up": 0,
        "decay": decay,
        "random_state": 0,
    }
    stream = stream_of(4, meta_membership=meta, **words).partial_fit(rows[:1200])
    past, delta = stream.objective_, stream.noise_distance_
    assert stream.objective_history_[-1] == pytest.approx(past, rel=1e-6)
    d2 = naive.point_distances(rows[1200:], stream.cluster_centers_)
    u = naive.noise_memberships(d2, 1.5, delta)
    assert naive.noise_penalty(u, 1.5, delta) > 0.2 * naive.objective(d2, u, 1.5)
    history = stream.partial_fit(rows[1200:]).objective_history_
    assert history[0] == pytest.approx(
        decay * past + naive.objective(d2, u, 1.5) + naive.noise_penalty(u, 1.5, delta), rel=1e-6
    )
    assert (np.diff(history) <= 1e-12 * history[0]).all()


def test_streams_merge():
    rows, _ = mixture(0.3, n=2000)
    rows = rows[np.random.default_rng(0).permutation(len(rows))]
    one, other = (
        StreamingFuzzyCMeans(4, m=1.5, noise=0.3, random_state=0).fit(part)
        for part in (rows[:1200], rows[1200:])
    )
    deltas = one.noise_distance_, other.noise_distance_
    assert deltas[0] != deltas[1]
    merged = one.merge(other)
    assert merged.noise_distance_ == pytest.approx(0.6 * deltas[0] + 0.4 * deltas[1], rel=1e-9)
    assert not hasattr(merged, "noise_membership_")
    assert abs((merged.predict(rows) < 0).mean() - 0.3) < 0.05
    assert away(merged) < 0.2
    with pytest.raises(ValueError, match="rule"):
        merged.merge(StreamingFuzzyCMeans(4, m=1.5, random_state=0).fit(rows))


# ---- what is refused


@pytest.mark.parametrize(
    "noise",
    [
        0,
        0.0,
        -0.1,
        1,
        1.0,
        1.5,
        np.nan,
        np.inf,
        "some",
        "",
        True,
        False,
        [0.1],
        np.array([0.1, 0.2]),
        {},
        b"auto",
    ],
)
@pytest.mark.parametrize("estimator", [FuzzyCMeans, StreamingFuzzyCMeans])
def test_a_share_that_is_none(estimator, noise):
    with pytest.raises(
        ValueError,
        match=rf"{estimator.__name__}\(noise=.*(must be \"auto\", None or a number|must be less "
        r"than 1)",
    ):
        estimator(3, noise=noise).fit(X)


def test_hard_streams_have_no_noise():
    with pytest.raises(
        ValueError,
        match=r"StreamingFuzzyCMeans\(noise=0.1\): there is no hard rule with noise; take "
        r'rule="fuzzy"',
    ):
        StreamingFuzzyCMeans(3, rule="hard", noise=0.1).fit(X)


def test_attributes_of_noise_go_with_a_fit_without():
    model = noisy().fit(X)
    assert {"noise_distance_", "noise_membership_"} <= set(vars(model))
    model.set_params(noise=None).fit(X)
    assert not {"noise_distance_", "noise_membership_"} & set(vars(model))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
