"""Streams whose clusters come and go: cells, valleys, steps, and the estimator."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import cmeans
from cmeans import StreamingGaussianMixture, native
from cmeans.streaming.cells import Cells
from cmeans.streaming.living_clusters import LivingClusters, Shapes
from cmeans.streaming.metrics import metric_distances
from cmeans.streaming.steps import step_of
from cmeans.streaming.valleys import Cut

CENTRES = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0], [20.0, 0.0], [20.0, 10.0]])


def come_and_go(n=1600, seed=0):
    """Six clusters of which three or so are there at any time."""
    rng = np.random.default_rng(seed)
    now = np.linspace(0, 8, n, endpoint=False)
    y = np.array([rng.choice([j for j in range(6) if j <= t < j + 3]) for t in now])
    return CENTRES[y] + rng.normal(size=(n, 2)), y


def in_chunks(X, size, model=None):
    model, labels = model or StreamingGaussianMixture(), []
    for start in range(0, len(X), size):
        labels.append(model.partial_fit(X[start : start + size]).labels_)
    return model, np.concatenate(labels)


def both_ways(monkeypatch, make):
    """What native code makes, and what Python does."""
    fast = make()
    with monkeypatch.context() as patch:
        patch.setattr(native, "is_available", lambda: False)
        return fast, make()


@pytest.mark.parametrize("d", [1, 3])
class TestTwins:
    def test_cells(self, monkeypatch, d):
        x = np.random.default_rng(d).normal(size=(90, d))
        fast, slow = both_ways(
            monkeypatch, lambda: Cells.of_rows(x[:20]).with_more(Cells.of_rows(x[20:]), 16)
        )
        assert len(fast) == 16
        for one, other in zip(fast, slow, strict=True):
            np.testing.assert_array_equal(one, other)
        # nothing is lost: mass, mean, and scatter about it
        assert fast.mass == pytest.approx(90)
        np.testing.assert_allclose(fast.mean, x.mean(axis=0))
        between = (fast.w[:, None] * (fast.x - fast.mean) ** 2).sum()
        assert fast.s.sum() + between == pytest.approx(((x - x.mean(axis=0)) ** 2).sum())

    def test_cuts(self, monkeypatch, d):
        x = np.random.default_rng(d).normal(size=(90, d)) + 9 * (np.arange(90) % 2)[:, None]
        cells = Cells.of_rows(x).with_more(Cells.of_rows(x[:0]), 20)
        lower = np.tril(np.random.default_rng(1).normal(size=(d, d))) + 2 * np.eye(d)
        draws, w = np.random.default_rng(2).random((4, 2)), cells.w * (np.arange(20) > 2)
        for to_space, mass, plain in (
            (None, cells.w, 4),
            (lower, cells.w, 2),
            (np.diag(lower), w, 1),  # three cells are left out
        ):
            cut = Cut(cells, to_space, plain=True)
            fast, slow = both_ways(
                monkeypatch, lambda cut=cut, w=mass, p=plain: cut.by_two_means(w, draws, p)
            )
            np.testing.assert_array_equal(fast.side, slow.side)
            np.testing.assert_array_equal(fast.smaller, slow.smaller)
            # the logarithms of native code are its own
            np.testing.assert_allclose(fast.evidence, slow.evidence, rtol=1e-13)
            assert fast.evidence.max() > 20  # two heaps of 45

    def test_distances(self, monkeypatch, d):
        rng = np.random.default_rng(d)
        x, means = rng.normal(size=(70, d)), rng.normal(size=(3, d))
        factors = np.tril(rng.normal(size=(3, d, d)))
        fast, slow = both_ways(monkeypatch, lambda: metric_distances(x, means, factors))
        np.testing.assert_array_equal(fast, slow)
        e = x[:, None] - means
        wanted = (np.einsum("jkl,ijl->ijk", factors, e) ** 2).sum(axis=2)
        np.testing.assert_allclose(fast, wanted)
        np.testing.assert_array_equal(fast[5:7], metric_distances(x[5:7], means, factors))


@pytest.mark.parametrize("d", [2, 3, 70])
def test_a_step(monkeypatch, d):
    """Metrics, sums and moves in native code as in NumPy."""
    rng = np.random.default_rng(d)
    X = 6 * rng.normal(size=(3, d))[rng.integers(0, 3, 150)] + rng.normal(size=(150, d))
    heaps = [LivingClusters.of(Cells.of_rows(X[i::3]), i, 0, 0.3) for i in range(3)]
    far = LivingClusters.of(Cells.of_rows(X[:9] - 900), 3, 0, 0.1).changed(0, awake=0, silence=50.0)
    c = heaps[0] + heaps[1] + heaps[2] + far
    fast, slow = both_ways(monkeypatch, lambda: Shapes.of(c, 150))
    for one, other in zip(vars(fast).values(), vars(slow).values(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    rows = np.concatenate([X, X[:3] + 400])
    fast, slow = both_ways(monkeypatch, lambda: step_of(rows, slow, c, 153))
    assert fast.clusters.keys() == slow.clusters.keys()
    for one, other in zip(vars(fast).values(), vars(slow).values(), strict=True):
        if one is not fast.clusters:
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-9)
    for name, values in slow.clusters.items():
        np.testing.assert_allclose(fast.clusters[name], values, rtol=1e-10, atol=1e-9)
    assert set(fast.order[fast.ends[4] :].tolist()) == {150, 151, 152}  # outlying
    assert fast.came.sum() == pytest.approx(150)
    assert fast.clusters["silence"].tolist() == [0, 0, 0, 203]
    assert fast.clusters["rows"][3] == far.rows[0]  # it forgets nothing


def test_cells_are_joined_at_the_least_scatter():
    """As naive loops join them, wherever a row makes them too many."""
    x, left = np.random.default_rng(0).normal(size=(40, 2)), []
    for row in x:
        left.append((row, 1.0))
        if len(left) > 5:
            costs = {
                (i, j): a[1] * b[1] / (a[1] + b[1]) * ((a[0] - b[0]) ** 2).sum()
                for i, a in enumerate(left)
                for j, b in enumerate(left)
                if i < j
            }
            i, j = min(costs, key=costs.get)
            (xi, wi), (xj, wj) = left[i], left[j]
            left = [one for k, one in enumerate(left) if k not in (i, j)]
            left.append(((wi * xi + wj * xj) / (wi + wj), wi + wj))
    cells = Cells.of_rows(x[:0]).with_more(Cells.of_rows(x), 5)
    found = np.column_stack([cells.x, cells.w])
    wanted = np.array([[*row, w] for row, w in left])
    order, theirs = np.argsort(found[:, 0]), np.argsort(wanted[:, 0])
    np.testing.assert_allclose(found[order], wanted[theirs])


class TestComeAndGo:
    def test_labels_and_numbers(self):
        X, y = come_and_go()
        model, labels = in_chunks(X, 16)
        assert adjusted_rand_score(y[200:], labels[200:]) > 0.8
        assert model.cluster_numbers_.tolist() == [0, 1, 2, 3, 4, 5]
        assert model.n_clusters_ == np.count_nonzero(model.awake_) < 6
        _, later = in_chunks(X, 400)
        assert adjusted_rand_score(y[200:], later[200:]) > 0.98
        kinds = [event.kind for event in model.events_]
        assert kinds.count("opens") + kinds.count("splits") == 6
        assert kinds.count("sleeps") >= 3
        rows = [event.row for event in model.events_]
        assert rows == sorted(rows)

    def test_state_does_not_depend_on_chunks(self):
        X, _ = come_and_go(700)
        one, other = in_chunks(X, 7)[0], in_chunks(X, 700)[0]
        assert one.events_ == other.events_
        np.testing.assert_array_equal(one.memberships(X), other.memberships(X))
        np.testing.assert_array_equal(one.outlier_score(X), other.outlier_score(X))

    def test_a_cluster_wakes_with_its_number(self):
        rng = np.random.default_rng(0)
        y = np.repeat([0, 1, 0], [300, 700, 60])
        X = CENTRES[3 * y] + rng.normal(size=(1060, 2))
        model, labels = in_chunks(X, 50)
        assert [(e.kind, e.cluster) for e in model.events_[:4]] == [
            ("opens", 0),
            ("opens", 1),
            ("sleeps", 0),
            ("wakes", 0),
        ]
        assert np.mean(labels == y) > 0.99

    def test_a_drift_is_followed(self):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 3, 1500)
        way = np.linspace(0, 6, 1500)[:, None] * [1.0, 0.5]
        X = CENTRES[y] + way + rng.normal(size=(1500, 2))
        model, labels = in_chunks(X, 16)
        assert adjusted_rand_score(y[200:], labels[200:]) > 0.98
        assert model.n_clusters_ == 3

    def test_saved_and_resumed_to_the_same_bits(self, tmp_path):
        X, _ = come_and_go(800)
        whole, labels = in_chunks(X, 50)
        half, before = in_chunks(X[:450], 50)
        cmeans.save(half, tmp_path / "state.safetensors", rows=False)
        again, after = in_chunks(X[450:], 50, cmeans.load(tmp_path / "state.safetensors"))
        np.testing.assert_array_equal(np.concatenate([before, after]), labels)
        np.testing.assert_array_equal(again.memberships(X), whole.memberships(X))
        assert again.events_ == whole.events_
        assert again.n_samples_seen_ == 800

    def test_streams_add(self):
        X, y = come_and_go(1600)
        one, other = in_chunks(X[:900], 100)[0], in_chunks(X[700:], 100)[0]
        one.merge(other)
        assert len(one.cluster_numbers_) == 6
        assert one.n_samples_seen_ == 1800
        assert adjusted_rand_score(y, one.predict(X)) > 0.98


def _heaps(name, rng, n=4000):
    return {
        "normal": lambda: rng.normal(size=(n, 2)) @ [[1, 0.9], [0, 0.2]],
        "uniform": lambda: rng.random((n, 2)),
        "heavy tails": lambda: rng.standard_t(3, (n, 2)),
        "skewed": lambda: rng.lognormal(size=(n, 2)),
        "walk": lambda: np.cumsum(rng.normal(0, 0.03, (n, 2)), 0) + rng.normal(size=(n, 2)),
        "whole numbers": lambda: np.round(rng.normal(0, 3, (n, 2))),
        "counts": lambda: rng.poisson(3, (n, 2)).astype(float),
        "fives": lambda: np.round(rng.normal(40, 15, (n, 2)) / 5) * 5,
        "one place": lambda: np.ones((n, 2)),
    }[name]()


@pytest.mark.parametrize(
    "name",
    [
        "normal",
        "uniform",
        "heavy tails",
        "skewed",
        "walk",
        "whole numbers",
        "counts",
        "fives",
        "one place",
    ],
)
def test_one_heap_is_one_cluster(name):
    X = _heaps(name, np.random.default_rng(0))
    model, labels = in_chunks(X, 1000)
    assert set(labels.tolist()) == {0}
    assert model.n_clusters_ == 1


def test_units_do_not_matter():
    """Columns of very different deviations are in units of their own."""
    X, _ = come_and_go(600)
    _, labels = in_chunks(X, 100)
    _, others = in_chunks(X * [1.0, 2.0**20], 100)
    assert adjusted_rand_score(labels, others) > 0.98


class TestEstimator:
    def test_fit_is_predict(self):
        X, y = come_and_go(800)
        model = StreamingGaussianMixture(chunk_size=100).fit(X)
        np.testing.assert_array_equal(model.labels_, model.predict(X))
        u = model.memberships(X)
        np.testing.assert_allclose(u.sum(axis=1), 1)
        np.testing.assert_array_equal(model.cluster_numbers_[u.argmax(axis=1)], model.labels_)
        assert adjusted_rand_score(y, model.labels_) > 0.98
        assert model.transform(X).shape == u.shape
        assert np.isfinite(model.score(X))

    @pytest.mark.parametrize("d", [2, 70])
    def test_distances_are_those_of_means_and_covariances(self, d):
        rng = np.random.default_rng(0)
        scales = np.geomspace(1, 1e5, d)
        X = (rng.normal(size=(4000, d)) + 12 * (np.arange(4000) % 2)[:, None]) * scales
        model = StreamingGaussianMixture().fit(X)
        covariances = model.covariances_
        assert covariances.shape == (2, d, d) if d == 2 else (2, d)
        variances = np.diagonal(covariances, axis1=1, axis2=2) if d == 2 else covariances
        np.testing.assert_allclose(variances, np.tile(scales**2, (2, 1)), rtol=0.15)
        away = X[:5, None] - model.cluster_centers_
        if d == 2:
            d2 = np.einsum("bci,cij,bcj->bc", away, np.linalg.inv(covariances), away)
        else:
            d2 = (away**2 / covariances).sum(axis=2)
        np.testing.assert_allclose(model.transform(X[:5]), np.sqrt(d2), rtol=1e-6)

    def test_outlier_score_is_a_share(self):
        X = np.random.default_rng(0).normal(size=(3000, 2))
        model, _ = in_chunks(X, 500)
        score = model.outlier_score(X)
        assert np.mean(score > 0.9) == pytest.approx(0.1, abs=0.03)
        assert model.outlier_score([[50.0, 50.0]])[0] == pytest.approx(1)

    def test_few_rows(self):
        """There is one cluster before the first step."""
        model = StreamingGaussianMixture().partial_fit([[1.0, 2.0]])
        assert model.labels_.tolist() == [0]
        assert model.memberships([[1.0, 2.0]]).tolist() == [[1.0]]
        assert model.outlier_score([[5.0, 2.0]]).tolist() == [0.0]
        assert model.transform([[4.0, 6.0]]).tolist() == [[5.0]]
        assert model.covariances_.tolist() == [np.eye(2).tolist()]
        assert model.partial_fit(np.empty((0, 2))).labels_.shape == (0,)

    def test_refusals(self):
        X, _ = come_and_go(100)
        with pytest.raises(ValueError, match="chunk_size=0"):
            StreamingGaussianMixture(chunk_size=0).fit(X)
        model = StreamingGaussianMixture().partial_fit(X)
        before = model.memberships(X)
        with pytest.raises(ValueError, match="3 features"):
            model.partial_fit(np.ones((2, 3)))
        with pytest.raises(ValueError, match="NaN"):
            model.partial_fit([[np.nan, 1.0]])
        np.testing.assert_array_equal(model.memberships(X), before)
        other = StreamingGaussianMixture().partial_fit(np.ones((40, 3)))
        with pytest.raises(ValueError, match="only like streams add"):
            model.merge(other)
        with pytest.raises(ValueError, match="give another fitted"):
            model.merge(3)

    def test_files_and_sparse_rows(self, tmp_path):
        X, _ = come_and_go(300)
        np.save(tmp_path / "x.npy", X)
        wanted = StreamingGaussianMixture().fit(X).labels_
        from scipy import sparse

        for rows in (str(tmp_path / "x.npy"), sparse.csr_array(X)):
            np.testing.assert_array_equal(StreamingGaussianMixture().fit(rows).labels_, wanted)

    def test_many_columns(self):
        """Covariances beyond 64 columns are diagonal."""
        rng = np.random.default_rng(0)
        y = rng.integers(0, 3, 600)
        X = 12 * rng.normal(size=(3, 70))[y] / 8 + rng.normal(size=(600, 70))
        _, labels = in_chunks(X, 100)
        assert adjusted_rand_score(y[200:], labels[200:]) > 0.98
