"""The search through groups of centres finds what the search through all of them finds, to the
bit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cmeans import KernelKMeans, native
from cmeans.data.blocks import Blocks
from cmeans.spaces import EuclideanSpace
from cmeans.sweeps import nearest, nearest_of_many, search_costs
from cmeans.sweeps.centre_groups import CentreGroups
from cmeans.sweeps.nearest_of_many import NearestSearch, ProbedSearch
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State
from contracts.arrays import DTYPES

pytestmark = pytest.mark.skipif(not native.is_available(), reason="there is no native code")
N, C = 300, 150


def grouped_always(monkeypatch, way: str) -> None:
    """Search through groups however few centres there are, by bounds along directions or by
    products of all columns."""
    monkeypatch.setattr(nearest, "LEAST_WORK", 1)
    monkeypatch.setattr(nearest, "WORK_A_DIRECTION", 0)
    for name in ("LEAST_GROUPED", "LEAST_BOUNDED", "ROWS_OF_PRODUCTS", "ROWS_OF_BOUNDS", "JUDGING"):
        monkeypatch.setattr(search_costs, name, 0)
    monkeypatch.setattr(search_costs, "GAIN", np.inf)
    by_bounds = -np.inf if way == "bounds" else np.inf
    monkeypatch.setattr(search_costs, "OF_A_GROUPED_BOUND", by_bounds)


def rows_and_centres(kind: str, dtype: str, columns: int = 70) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    means = rng.normal(size=(40, columns)) * (5 if kind == "clusters" else 0)
    x = means[np.arange(N) % 40] + rng.normal(size=(N, columns))
    if kind == "repeated":
        x = np.round(x[:, :1]) * np.ones(columns) + 7.0
    v = x[rng.permutation(N)[:C]] + (0.1 * rng.normal(size=(C, columns)) if kind == "flat" else 0)
    v[C // 2 :: 7] = v[0]  # several centres in one place: the first of them is meant
    return x.astype(dtype), v.astype(dtype)


def found(x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    space = EuclideanSpace.about(x, np.ones(len(x)))
    rows = RepresentedRows(space, Blocks(x, np.ones(len(x))), 0, training=False)
    search, state = NearestSearch(x.dtype), State(space.at(v.astype(np.float64)))
    parts = [search(rows, state, task) for task in range(rows.n_tasks)]
    labels, d2 = map(np.concatenate, zip(*parts, strict=True))
    return labels, d2


@pytest.mark.parametrize("way", ["bounds", "products"])
@pytest.mark.parametrize("kind", ["flat", "clusters", "repeated"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_groups_change_no_bit(dtype, kind, way, monkeypatch):
    x, v = rows_and_centres(kind, dtype)
    labels, d2 = found(x, v)
    grouped_always(monkeypatch, way)
    made = []
    make = nearest_of_many._grouped
    monkeypatch.setattr(nearest_of_many, "_grouped", lambda *a: made.append(a[4]) or make(*a))
    in_groups = found(x, v)
    assert [one is None for one in made] == [way == "products"]
    assert np.array_equal(labels, in_groups[0])
    assert np.array_equal(d2, in_groups[1])
    by_differences = ((x[:, None].astype(float) - v.astype(float)) ** 2).sum(axis=2)
    size = (x.astype(float) ** 2).sum(axis=1) + (v.astype(float) ** 2).sum(axis=1).max()
    tied = size * (1e-4 if dtype == "float32" else 1e-12)
    own = by_differences[np.arange(len(x)), labels]
    assert (own <= by_differences.min(axis=1) + tied).all()


@pytest.mark.parametrize("probes", [1, 2, 3])
def test_probes_look_through_the_groups_of_the_nearest_middles(probes):
    x, v = rows_and_centres("flat", "float64")
    space = EuclideanSpace.about(x, np.ones(len(x)))
    rows = RepresentedRows(space, Blocks(x, np.ones(len(x))), 0)
    state = State(space.at(v))
    search = ProbedSearch(np.dtype("float64"), probes)
    near = np.concatenate([search(rows, state, here) for here in rows.native_task(0)])
    groups = CentreGroups.of(state.centres.coordinates, nearest_of_many.PROBED_MEMBERS)
    assert len(groups) > 3
    moved = x - x.mean(axis=0)
    apart = ((moved[:, None] - groups.middles) ** 2).sum(axis=2)
    probed = np.argsort(apart, axis=1)[:, :probes]
    d2 = ((x[:, None] - v) ** 2).sum(axis=2)
    among = np.where((groups.group[None, :, None] == probed[:, None]).any(axis=2), d2, np.inf)
    least = among.min(axis=1)
    far = least > nearest_of_many.FAR * least.mean()
    assert probes > 2 or far.any()
    assert np.array_equal(near, np.where(far[:, None], d2, among).argmin(axis=1))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_predict_in_groups(metric, monkeypatch):
    x, v = rows_and_centres("clusters", "float64")
    model = KernelKMeans(C, kernel="linear", metric=metric, init=v, max_iter=1, search=None)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model.fit(x)
    labels, objective = model.predict(x), model.score(x)
    grouped_always(monkeypatch, "bounds")
    for n_jobs in (1, 2):
        model.set_params(n_jobs=n_jobs)
        assert np.array_equal(model.predict(x), labels)
        assert model.score(x) == pytest.approx(objective, rel=1e-12)


def test_rows_that_groups_cannot_help_are_searched_as_before(monkeypatch):
    x, v = rows_and_centres("flat", "float32")
    grouped_always(monkeypatch, "products")
    monkeypatch.setattr(search_costs, "GAIN", 0.0)
    monkeypatch.setattr(nearest_of_many, "_grouped", None)  # which would be called
    assert found(x, v)[0].shape == (N,)


def test_every_centre_is_in_one_group_within_its_radius():
    values = np.random.default_rng(0).normal(size=(500, 6))
    groups = CentreGroups.of(values)
    number, first = groups.places(32)
    assert np.array_equal(np.sort(number[number >= 0]), np.arange(500))
    for g in range(len(groups)):
        members = number[first[g] * 32 : first[g + 1] * 32]
        members = members[members >= 0]
        assert len(members) > 0
        assert (groups.group[members] == g).all()
        apart = np.sqrt(((values[members] - groups.middles[g]) ** 2).sum(axis=1))
        assert (apart <= groups.radius[g]).all()
