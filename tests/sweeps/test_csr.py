"""CSR rows are swept by what they store: as the same dense rows are, and in the memory of their
numbers."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from cmeans import FuzzyCMeans, KernelKMeans, LandmarkGraph, PossibilisticCMeans
from cmeans.data.blocks import Blocks, rows_between
from cmeans.kernels.nearest_points import NearestPoints
from cmeans.rules import Fuzzy, Hard, NoiseFuzzy, Possibilistic, Truncated
from cmeans.spaces import EuclideanSpace
from cmeans.spaces.centres import Centres
from cmeans.sweeps import choice, generic, generic_measures
from cmeans.sweeps.passes import OwnLabels
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State

RULES = (
    Hard(),
    Fuzzy(2.0),
    Fuzzy(1.4),
    NoiseFuzzy(2.0, delta=1.5),
    Possibilistic(2.0),
    Truncated(Fuzzy(2.0), 2),
)
WIDE = 100_000


def texts(n: int, d: int, stored: int, seed: int = 0) -> sparse.csr_array:
    """Rows of a few positive numbers, many in the first columns; the last row is empty."""
    rng = np.random.default_rng(seed)
    columns = np.minimum((d * rng.random((n, stored)) ** 3).astype(int), d - 1)
    rows = np.repeat(np.arange(n), stored)
    x = sparse.csr_array((rng.random(n * stored), (rows, columns.ravel())), shape=(n, d))
    x.data[x.indptr[-2] :] = 0.0
    x.eliminate_zeros()
    return x


def table(x, dtype) -> RepresentedRows:
    weight = np.random.default_rng(1).random(x.shape[0])
    return RepresentedRows(EuclideanSpace(np.zeros(x.shape[1])), Blocks(x.astype(dtype), weight), 0)


def state_of(x, c: int, rule) -> State:
    centres = Centres.orthonormal(x[: 2 * c : 2].toarray() + 0.01)
    return State(centres, np.linspace(0.5, 1.5, c) if isinstance(rule, Possibilistic) else None)


def totals(rows, function, *words):
    parts = [function(rows, *words, task) for task in range(rows.n_tasks)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("c", [3, 9, 41])
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_sweeps_are_those_of_dense_rows(rule, c, dtype):
    x = texts(150, 400, 20)
    rows, dense = table(x, dtype), table(x.toarray(), dtype)
    state = state_of(x, c, rule)
    function = choice.sweep_for(rows, rule, c)
    assert function is not generic.sweep
    ours = totals(rows, function, rule, state).settled
    theirs = totals(dense, generic.sweep, rule, state)
    close = {"rtol": 1e-9, "atol": 1e-9} if dtype == np.float64 else {"rtol": 2e-3, "atol": 1e-4}
    for name in ("mass", "moment", "spread"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), **close)


def test_sums_of_each_clusters_own_rows():
    x = texts(150, 400, 20)
    rule, state = Fuzzy(2.0), state_of(x, 9, Fuzzy(2.0))
    found = []
    for rows, function in (
        (table(x, float), choice.sweep_for(table(x, float), rule, 9)),
        (table(x.toarray(), float), generic.sweep),
    ):
        labels = rows.beside(OwnLabels).labels
        sums = function(rows, rule, state, 0, labels)
        found.append((labels, sums.hard.mass, sums.hard.moment))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_other_passes_are_those_of_dense_rows():
    x, c = texts(150, 400, 20), 9
    rows, dense = table(x, float), table(x.toarray(), float)
    state, rule = state_of(x, c, Hard()), Hard()
    assert rows.n_tasks == 1
    found = choice.nearest_for(rows, rule, c)(rows, state, 0)
    for one, other in zip(found, generic_measures.nearest_rows(dense, state, 0), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        choice.measure_for(rows, rows.space, rule, c)(rows, rows.space, state, 0),
        generic_measures.distances(dense, dense.space, state, 0),
        rtol=1e-9,
    )
    ours = choice.costs_for(rows, rule, c)(rows, rule, state, 0)
    theirs = generic_measures.cluster_costs(dense, rule, state, 0)
    np.testing.assert_allclose(ours.error, theirs.error, rtol=1e-9)
    np.testing.assert_allclose(ours.utility, theirs.utility, rtol=1e-9)


def test_columns_in_any_order_and_twice():
    """They are the same rows."""
    x = texts(40, 30, 6)
    order = np.lexsort([-x.indices, np.repeat(np.arange(40), np.diff(x.indptr))])
    backwards = sparse.csr_array((x.data[order], x.indices[order], x.indptr), shape=x.shape)
    twice = sparse.csr_array(
        (np.repeat(x.data / 2, 2), np.repeat(x.indices, 2), 2 * x.indptr), shape=x.shape
    )
    fits = [
        KernelKMeans(3, kernel="linear", random_state=0).fit(rows) for rows in (x, backwards, twice)
    ]
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)
    np.testing.assert_array_equal(fits[0].labels_, fits[2].labels_)
    np.testing.assert_allclose(fits[0].objective_, fits[2].objective_, rtol=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_threads_change_no_bit():
    x = texts(6000, 300, 30)
    assert Blocks(x, np.ones(6000)).n_tasks(30, 300) > 2
    for model in (
        KernelKMeans(8, kernel="linear", random_state=0, max_iter=5),
        KernelKMeans(8, kernel="linear", metric="cosine", random_state=0, max_iter=5),
        FuzzyCMeans(8, m=1.2, random_state=0, max_iter=5, tol=1e-9),
    ):
        one, two = (model.set_params(n_jobs=n).fit(x).cluster_centers_.copy() for n in (1, 2))
        np.testing.assert_array_equal(one, two)


def test_wide_rows_make_few_tasks():
    """A task sums into dense moments, whatever its rows store."""
    x = texts(5000, WIDE, 30)
    rows = RepresentedRows(EuclideanSpace(np.zeros(WIDE)), Blocks(x, np.ones(5000)), 0)
    assert rows.n_tasks == 1
    assert rows.width <= 30


def test_parts_of_csr_are_views():
    x = texts(100, 50, 5)
    part = rows_between(x, 20, 120)
    assert part.shape == (80, 50)
    assert np.shares_memory(part.data, x.data)
    np.testing.assert_array_equal(part.toarray(), x.toarray()[20:])


def test_nearest_of_csr_points():
    x, points = texts(60, 200, 10), texts(20, 200, 10, seed=3)
    for rows in (x, x.toarray()):
        numbers, d2 = NearestPoints(points, 3)(rows)
        wanted, dense_d2 = NearestPoints(points.toarray(), 3)(rows)
        np.testing.assert_array_equal(numbers, wanted)
        np.testing.assert_allclose(d2, dense_d2, atol=1e-12)


def test_few_wide_rows_are_compared_by_their_products():
    x = texts(20, 500, 8)
    rows = Blocks(x, np.ones(20)).cut(0, 20)
    seen = EuclideanSpace(np.zeros(500)).compared(rows)
    np.testing.assert_allclose(seen.inner(seen), (x @ x.T).toarray())
    assert seen.coordinates.shape == (20, 20)


MODELS = (
    KernelKMeans(3, kernel="linear", random_state=0),
    KernelKMeans(3, kernel="linear", metric="cosine", random_state=0),
    KernelKMeans(3, kernel="landmark_graph", random_state=0),
    KernelKMeans(3, kernel="rbf", landmarks=30, random_state=0),
    FuzzyCMeans(3, m=1.05, random_state=0),
    PossibilisticCMeans(3, random_state=0),
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_fits_take_the_memory_of_what_is_stored(model):
    """All rows, dense, would take 240 MB."""
    x = texts(300, WIDE, 60)
    tracemalloc.start()
    try:
        model.fit(x)
        model.predict(x[:50])
        model.transform(x[:50])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < (120e6 if isinstance(model, PossibilisticCMeans) else 100e6)


def test_landmarks_of_csr_rows_are_csr():
    x = texts(300, 2000, 20)
    graph = LandmarkGraph(4, landmarks=50, random_state=0).fit(x)
    assert sparse.issparse(graph.landmarks_)
    assert graph.landmarks_.nnz <= x.nnz
    dense = graph.transform(x.toarray())
    np.testing.assert_allclose(np.abs(graph.transform(x)), np.abs(dense), atol=1e-8)
