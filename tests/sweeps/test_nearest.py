"""The search for the nearest of many centres leaves most distances out and finds the nearest all
the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cmeans import KernelKMeans, load, save
from cmeans.data.outputs import RowOutputs
from cmeans.engines import ThreadEngine
from cmeans.kernels import RBF
from cmeans.rules import Hard
from cmeans.spaces import EuclideanSpace, landmark_space
from cmeans.spaces.centres import Centres
from cmeans.sweeps import nearest
from cmeans.sweeps.bounded import BoundedSweep
from cmeans.sweeps.nearest_of_many import NearestAssign, NearestSearch
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State
from contracts.arrays import DTYPES
from euclidean_rows import euclidean_rows

pytestmark = pytest.mark.slow

# of |x|^2 + |v|^2: distances that differ by less may be taken for each other
TIED = {"float32": 1e-4, "float64": 1e-12}


def mixture(n: int, d: int, noise: float, seed: int = 0) -> np.ndarray:
    """Rows that differ along some directions more than along others, which are no axes."""
    rng = np.random.default_rng(seed)
    means, turned = rng.normal(size=(50, 12)), np.linalg.qr(rng.normal(size=(d, 12)))[0]
    return (
        means[np.arange(n) % 50] + 0.5 * rng.normal(size=(n, 12))
    ) @ turned.T + noise * rng.normal(size=(n, d))


def flat(n: int, d: int) -> np.ndarray:
    """No direction says more than another, so that no distance can be left out."""
    return np.random.default_rng(1).normal(size=(n, d))


def heaps(n: int, d: int) -> np.ndarray:
    """Rows that repeat, far from the origin and nearly on a line."""
    rng = np.random.default_rng(2)
    return (
        np.round(rng.normal(size=(40, 1)) * rng.normal(size=(1, d)), 1)[np.arange(n) % 40] + 300.0
    )


ROWS: dict[str, Callable[[], np.ndarray]] = {
    "narrow noise": lambda: mixture(900, 150, 0.02),
    "wide noise": lambda: mixture(900, 133, 0.6),
    "flat": lambda: flat(500, 130),
    "heaps": lambda: heaps(700, 140),
}


def brute_force(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Squared distances (n, c) by differences, in float64."""
    return np.array([((v - row) ** 2).sum(axis=1) for row in x])


def near_rows(x: np.ndarray, c: int) -> np.ndarray:
    """Means of a few rows each, and some of these twice."""
    rng = np.random.default_rng(c)
    v = np.array([x[rng.integers(0, len(x), size=3)].mean(axis=0) for _ in range(c)])
    v[c // 2 :: 7] = v[0]
    return v


def check(labels: np.ndarray, d2: np.ndarray, size: np.ndarray, dtype: str) -> None:
    """Labels are those of the smallest distance, or of one that rounding cannot tell from it."""
    own = d2[np.arange(len(d2)), labels]
    assert (own <= d2.min(axis=1) + TIED[dtype] * size).all()
    clear = np.sort(d2, axis=1)
    clear = clear[:, 1] - clear[:, 0] > TIED[dtype] * size
    assert (labels[clear] == d2.argmin(axis=1)[clear]).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("c", [3, 47, 48, 100, 333])
@pytest.mark.parametrize("name", ROWS)
def test_labels_are_those_of_brute_force(name, c, dtype, monkeypatch):
    """With directions and without, alone and in sweeps after one another: the same labels and
    distances to the last bit."""
    x = ROWS[name]().astype(dtype)
    v = near_rows(x.astype(float), c)
    found = []
    for least, training in ((0, True), (0, False), (2**62, True)):
        monkeypatch.setattr(nearest, "LEAST_WORK", least)
        given = euclidean_rows(x, None, 10**9)
        # of others no coordinates are kept
        rows = RepresentedRows(given.space, given.blocks, 10**9, training=training)
        state = State(rows.space.at(v))
        monkeypatch.setattr(nearest, "WORK_A_DIRECTION", 0)
        assert (nearest.direction_count(rows.space, len(x), c, once=not training) > 0) is (
            least == 0 and c >= nearest.LEAST_CLUSTERS
        )
        search = NearestSearch(x.dtype)
        found += [
            tuple(
                map(
                    np.concatenate,
                    zip(*(search(rows, state, task) for task in range(rows.n_tasks)), strict=True),
                )
            )
            for _ in range(2)
        ]
    for labels, d2 in found[1:]:
        np.testing.assert_array_equal(labels, found[0][0])
        np.testing.assert_array_equal(d2, found[0][1])
    labels, d2 = found[0]
    centred, shift = x.astype(float), rows.space.shift
    size = ((centred - shift) ** 2).sum(axis=1) + ((v - shift) ** 2).sum(axis=1).max()
    everything = brute_force(centred, v)
    check(labels, everything, size, dtype)
    np.testing.assert_allclose(d2, everything.min(axis=1), atol=TIED[dtype] * size.max())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ROWS)
def test_sweeps_after_one_another(name, dtype, monkeypatch):
    """Former labels and bounds of distances leave out more, and change nothing: masses and moments
    are those of brute force."""
    monkeypatch.setattr(nearest, "LEAST_WORK", 0)
    x, rng = ROWS[name]().astype(dtype), np.random.default_rng(0)
    weight = rng.integers(0, 4, size=len(x)).astype(float)
    rows = euclidean_rows(x, weight, 10**9)
    sweep, v = BoundedSweep(Hard(), x.dtype), near_rows(x.astype(float), 60)
    for _ in range(6):
        state = State(rows.space.at(v))
        parts = [sweep(rows, Hard(), state, task) for task in range(rows.n_tasks)]
        sums = sum(parts[1:], parts[0]).settled
        out = RowOutputs.empty(len(x), 60, x[:0, 0])
        for task in range(rows.n_tasks):
            NearestAssign(x.dtype)(rows, rows.space, Hard(), state, task, out)
        own = out.labels[:, None] == np.arange(60)
        np.testing.assert_array_equal(sums.mass, own.T @ weight)
        np.testing.assert_array_equal(out.memberships, own)
        moment = own.T @ (weight[:, None] * (x.astype(float) - rows.space.shift))
        np.testing.assert_allclose(sums.moment, moment, atol=1e-3 if dtype == "float32" else 1e-9)
        v = (
            v
            + np.where(
                own.any(axis=0)[:, None],
                rows.space.as_points(rows.space.centres(sums.mass, sums.moment)) - v,
                0.0,
            )
            * 0.7
        )


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_sum_of_all_distances(dtype):
    """It needs no distance but the sums of the rows and of the centres."""
    x = ROWS["narrow noise"]().astype(dtype)
    rows = euclidean_rows(x, np.random.default_rng(0).uniform(0.5, 2, size=len(x)), 10**9)
    v, out = near_rows(x.astype(float), 20), RowOutputs.empty(len(x), 0, x[:0, 0])
    state, assign = State(rows.space.at(v)), NearestAssign(x.dtype)
    parts = [assign(rows, rows.space, Hard(), state, task, out) for task in range(rows.n_tasks)]
    sums, d2 = sum(parts[1:], parts[0]), brute_force(x.astype(float), v)
    accuracy = 1e-5 if dtype == "float32" else 1e-12
    assert sums.total_distance == pytest.approx(rows.blocks.weight @ d2.sum(axis=1), rel=accuracy)
    assert sums.objective == pytest.approx(rows.blocks.weight @ d2.min(axis=1), rel=accuracy)
    np.testing.assert_allclose(
        sums.mass, np.bincount(out.labels, weights=rows.blocks.weight, minlength=20)
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_in_a_kernels_space(dtype, monkeypatch):
    """Directions there are combinations of the landmarks; what these leave out of a row is part of
    its rest."""
    monkeypatch.setattr(nearest, "LEAST_WORK", 0)
    x = mixture(700, 20, 0.1).astype(dtype)
    space = landmark_space(RBF(0.05), x[::5], None, x.dtype)
    rows = RepresentedRows(space, euclidean_rows(x, None, 0).blocks, 10**9)
    state = State(
        Centres.stack([space.embed(rows.blocks.cut(3 * j, 3 * j + 1)) for j in range(70)])
    )
    assert rows.beside(nearest.Directions).most(nearest.direction_count(space, 700, 70)) is not None
    search = NearestSearch(x.dtype)
    labels = np.concatenate([search(rows, state, task)[0] for task in range(rows.n_tasks)])
    whitened = space.embed(rows.blocks.cut(0, 700)).coordinates
    d2 = brute_force(whitened, state.centres.coordinates)  # less what is the same for all centres
    check(labels, d2, np.full(700, 100.0 if dtype == "float32" else 1e4), dtype)


@pytest.mark.parametrize("kernel", ["precomputed", RBF(gamma=0.05)])
def test_new_rows_of_a_space_of_kernel_values(kernel, monkeypatch):
    """Which has no axes along which rows could differ most."""
    monkeypatch.setattr(nearest, "LEAST_WORK", 0)
    monkeypatch.setattr(nearest, "WORK_A_DIRECTION", 0)
    rbf, x = RBF(gamma=0.05), mixture(500, 12, 0.1)
    seen = rbf(x, x[:200]) if kernel == "precomputed" else x
    fitted, new = seen[:200], seen[200:]
    model = KernelKMeans(60, kernel=kernel, landmarks=None, random_state=0).fit(fitted)
    shares = np.eye(model.n_clusters_)[model.labels_]
    shares /= shares.sum(axis=0)
    norms = np.einsum("ij,ik,kj->j", shares, rbf(x[:200], x[:200]), shares)
    nearest_ones = (norms - 2 * rbf(x[200:], x[:200]) @ shares).argmin(axis=1)
    given = {"diag": np.ones(300)} if kernel == "precomputed" else {}
    np.testing.assert_array_equal(model.predict(new, **given), nearest_ones)


@pytest.mark.parametrize(
    ("n", "c", "columns", "kept", "once"),
    [
        (2_000, 100, 768, 0, 0),
        (20_000, 100, 768, 64, 0),
        (2_000, 1024, 768, 64, 0),
        (20_000, 1024, 768, 64, 64),
        (20_000, 1024, 128, 16, 16),
    ],
)
def test_one_pass_must_make_up_for_its_directions(n, c, columns, kept, once):
    space = EuclideanSpace(np.zeros(columns))
    assert nearest.direction_count(space, n, c) == kept
    assert nearest.direction_count(space, n, c, once=True) == once


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rows_that_are_no_numbers_are_reported(bad, monkeypatch):
    """They end no search early, and no fit well."""
    monkeypatch.setattr(nearest, "LEAST_WORK", 0)
    x = mixture(300, 150, 0.1)
    rows = euclidean_rows(x.copy(), None, 10**9)
    rows.blocks.x[7, 3] = bad
    state = State(rows.space.at(near_rows(x, 50)))
    sweep = BoundedSweep(Hard(), x.dtype)
    with ThreadEngine(1).opened():  # without NumPy's own warnings
        parts = [sweep(rows, Hard(), state, task) for task in range(rows.n_tasks)]
        assert not sum(parts[1:], parts[0]).settled.is_finite()


def test_any_number_of_threads_and_the_memberships(tmp_path, monkeypatch):
    """The same bits; memberships, which labels tell, when they are asked for, of saved models
    too."""
    monkeypatch.setattr(nearest, "LEAST_WORK", 0)
    monkeypatch.setattr(nearest, "WORK_A_DIRECTION", 0)  # in what a model predicts too
    x = mixture(3000, 150, 0.1).astype(np.float32)
    models = [
        KernelKMeans(60, kernel="linear", init=np.arange(60), max_iter=8, tol=0, n_jobs=jobs).fit(x)
        for jobs in (1, 2, 5)
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.cluster_centers_, models[0].cluster_centers_)
        assert model.objective_history_.tolist() == models[0].objective_history_.tolist()
    model = models[0]
    np.testing.assert_array_equal(model.predict(x), model.labels_)
    assert "memberships_" not in vars(model)
    save(model, tmp_path / "model.safetensors")
    for one in (model, load(tmp_path / "model.safetensors")):
        assert one.memberships_.dtype == np.float32
        np.testing.assert_array_equal(one.memberships_.argmax(axis=1), model.labels_)
        np.testing.assert_array_equal(one.memberships_.sum(axis=1), np.ones(3000))
    np.testing.assert_array_equal(model.memberships(x), model.memberships_)
    assert model.score(x) == pytest.approx(-model.objective_)
    with pytest.raises(AttributeError, match="memberships_"):
        _ = KernelKMeans(3).memberships_
