"""Errors and utilities of clusters, generic and native, against loops."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import naive
from cmeans.data.blocks import Blocks
from cmeans.data.limits import Limits
from cmeans.engines import ThreadEngine
from cmeans.kernels import RBF
from cmeans.papers import PrintedFuzzy
from cmeans.rules import Fuzzy, Hard, NoiseFuzzy
from cmeans.spaces import EuclideanSpace, ExactSpace, landmark_space
from cmeans.spaces.centres import Centres
from cmeans.sweeps import nearest
from cmeans.sweeps.passes import CostPass, NearestRowsPass
from cmeans.sweeps.represented_rows import RepresentedRows
from cmeans.sweeps.state import State
from contracts.arrays import DTYPES, as_form

pytestmark = pytest.mark.slow

RULES = {
    "hard": (Hard(), 1.0),
    "fuzzy-1.05": (Fuzzy(1.05), 1.05),
    "fuzzy-1.3": (Fuzzy(1.3), 1.3),
    "fuzzy-2": (Fuzzy(2.0), 2.0),
}
NOISE = {f"noise-{m:g}": NoiseFuzzy(m, delta=3.0) for m in (1.05, 1.3, 2.0)}
RAGGED = Limits(block_rows=50, narrow_block_rows=50, tasks=7, task_values=1)
over_rules = pytest.mark.parametrize("rule", RULES)


@pytest.fixture(params=["native", "generic"])
def kind(request, monkeypatch):
    if request.param == "generic":
        monkeypatch.setattr("cmeans.native.is_available", lambda: False)
    return request.param


def given(n=170, d=3, c=7, seed=0):
    """Rows, centres (some of them rows, two of them equal), weights (some of them zero)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32).astype(float)
    V = np.concatenate([X[:2], rng.normal(size=(c - 3, d)).astype(np.float32), X[:1]]).astype(float)
    weight = rng.uniform(0.2, 3, size=n)
    weight[3::7] = 0
    return X, V, weight


@cache
def naive_costs(m, n=170, d=3, c=7, noise=()):
    """Errors and utilities of given rows' clusters, and of noise at given squared distances."""
    X, V, weight = given(n, d, max(c, 4))
    d2 = np.column_stack([naive.point_distances(X, V[:c]), *(np.full(n, delta) for delta in noise)])
    return naive.cluster_costs(d2, weight, m)


def folded(rows, rule, state, threads=1):
    with ThreadEngine(threads).opened() as engine:
        return engine.fold(rows, CostPass(rule, state))


@cache
def wide():
    """Rows, centres and weights, and the distances."""
    X, V, weight = given(170, 133, 70)
    return X, V, weight, naive.point_distances(X, V)


@pytest.mark.parametrize("dtype", DTYPES)
def test_costs_of_many_clusters_without_most_distances(dtype, monkeypatch):
    monkeypatch.setattr(nearest, "LEAST_WORK", 0)
    X, V, weight, d2 = wide()
    rows = RepresentedRows(
        EuclideanSpace(np.zeros(133)), Blocks(X.astype(dtype), weight, limits=RAGGED), 0
    )
    costs = folded(rows, Hard(), State(Centres.orthonormal(V)))
    least, second = np.sort(d2, axis=1)[:, :2].T
    own = np.eye(70)[d2.argmin(axis=1)]
    atol = (1e-3 if dtype == "float32" else 1e-10) * (weight @ least)
    np.testing.assert_allclose(costs.error, own.T @ (weight * least), atol=atol)
    np.testing.assert_allclose(costs.utility, own.T @ (weight * (second - least)), atol=atol)


@over_rules
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "d", "c"), [(170, 3, 7), (70, 45, 20), (70, 133, 5), (5, 2, 4)])
def test_costs(kind, rule, dtype, n, d, c):
    X, V, weight = given(n, d, c)
    own, m = RULES[rule]
    rows = RepresentedRows(
        EuclideanSpace(np.zeros(d)), Blocks(X.astype(dtype), weight, limits=RAGGED), 0
    )
    costs = folded(rows, own, State(Centres.orthonormal(V)))
    errors, utilities = naive_costs(m, n, d, c)
    tolerance = (1e-3 if dtype == "float32" else 1e-10) * errors.sum()
    found = costs.error
    if m == 1:  # rounding of a matrix product says to which of two equal centres a row is nearer
        found, errors = (
            np.append(error[:-1], 0.0) + np.append(error[-1], np.zeros(c - 1))
            for error in (found, errors)
        )
    np.testing.assert_allclose(found, errors, rtol=0, atol=tolerance)
    np.testing.assert_allclose(costs.utility, utilities, rtol=0, atol=tolerance)
    assert costs.utility[[0, -1]] == pytest.approx(
        [0, 0] if m == 1 else utilities[[0, -1]], abs=tolerance
    )


@pytest.mark.parametrize("rule", NOISE)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "d", "c"), [(170, 3, 7), (70, 45, 20), (50, 2, 1)])
def test_costs_beside_a_noise_cluster(kind, rule, dtype, n, d, c):
    """As beside a cluster that stays where it is: noise is one more column of distances, which has
    no error and never goes."""
    X, V, weight = given(n, d, max(c, 4))
    V, own = V[:c], NOISE[rule]
    rows = RepresentedRows(
        EuclideanSpace(np.zeros(d)), Blocks(X.astype(dtype), weight, limits=RAGGED), 0
    )
    costs = folded(rows, own, State(Centres.orthonormal(V)))
    errors, utilities = naive_costs(own.m, n, d, c, noise=(own.delta,))
    tolerance = (1e-3 if dtype == "float32" else 1e-10) * errors.sum()
    np.testing.assert_allclose(costs.error, errors[:-1], rtol=0, atol=tolerance)
    np.testing.assert_allclose(costs.utility, utilities[:-1], rtol=0, atol=tolerance)


@over_rules
@pytest.mark.parametrize("space", ["landmarks", "exact"])
def test_costs_in_kernel_space(kind, rule, space):
    """With what the landmarks leave out of a row, which counts in every distance."""
    X, _, weight = given()
    own, m = RULES[rule]
    blocks = Blocks(X, weight, limits=RAGGED)
    there = (
        landmark_space(RBF(0.3), X[:30], None, X.dtype)
        if space == "landmarks"
        else ExactSpace(RBF(0.3), blocks)
    )
    chosen = np.array([5, 40, 60, 100, 150])
    state = State(there.embed(blocks.take(chosen), chosen))
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    if space == "landmarks":
        one_hot = np.eye(len(X))[:, chosen]
        Ks, alphas = (
            K[:, :30],
            [naive.pseudo_solve(K[:30, :30], K[:30] @ a, 1e-12) for a in one_hot.T],
        )
        d2 = np.column_stack([a @ K[:30, :30] @ a + 1 - 2 * Ks @ a for a in alphas])
    else:
        d2 = naive.exact_distances(K, np.eye(len(X))[:, chosen])
    costs = folded(RepresentedRows(there, blocks, 10**9), own, state)
    errors, utilities = naive.cluster_costs(np.where(d2 < 1e-12, 0.0, d2), weight, m)
    np.testing.assert_allclose(costs.error, errors, atol=1e-7 * errors.sum())
    np.testing.assert_allclose(costs.utility, utilities, atol=1e-7 * errors.sum())


@over_rules
@pytest.mark.parametrize("form", ["array_api_strict", "torch"])
def test_costs_of_other_arrays(rule, form):
    X, V, weight = given()
    own, m = RULES[rule]
    rows = RepresentedRows(
        EuclideanSpace(np.zeros(3)), Blocks(as_form(X, form), weight, limits=RAGGED), 0
    )
    costs = folded(rows, own, State(Centres.orthonormal(V)))
    errors, utilities = naive_costs(m)
    np.testing.assert_allclose(costs.error, errors, atol=1e-10 * errors.sum())
    np.testing.assert_allclose(costs.utility, utilities, atol=1e-10 * errors.sum())


@over_rules
@pytest.mark.parametrize("threads", [2, 5])
def test_any_number_of_threads_gives_the_same_bits(kind, rule, threads):
    X, V, weight = given()
    rows = RepresentedRows(EuclideanSpace(np.zeros(3)), Blocks(X, weight, limits=RAGGED), 0)
    one, more = (
        folded(rows, RULES[rule][0], State(Centres.orthonormal(V)), count) for count in (1, threads)
    )
    np.testing.assert_array_equal(one.error, more.error)
    np.testing.assert_array_equal(one.utility, more.utility)


def test_weights_are_copies(kind):
    X, V, _ = given()
    count = np.arange(len(X)) % 4
    space, state = EuclideanSpace(np.zeros(3)), State(Centres.orthonormal(V))
    for rule, _ in RULES.values():
        once = folded(
            RepresentedRows(space, Blocks(X, count.astype(float), limits=RAGGED), 0), rule, state
        )
        copies = np.repeat(X, count, axis=0)
        every = folded(
            RepresentedRows(space, Blocks(copies, np.ones(len(copies)), limits=RAGGED), 0),
            rule,
            state,
        )
        np.testing.assert_allclose(once.error, every.error, rtol=1e-11)
        np.testing.assert_allclose(once.utility, every.utility, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("dtype", DTYPES)
def test_nearest_rows(kind, dtype):
    X, V, weight = given(d=45)
    rows = RepresentedRows(
        EuclideanSpace(np.zeros(45)), Blocks(X.astype(dtype), weight, limits=RAGGED), 0
    )
    with ThreadEngine(2).opened() as engine:
        parts = list(engine.map(rows, NearestRowsPass(Hard(), State(Centres.orthonormal(V)))))
    labels, distances = (np.concatenate(part) for part in zip(*parts, strict=True))
    d2 = naive.point_distances(X, V)
    tolerance = 1e-4 if dtype == "float32" else 1e-11
    # two centres are the same
    np.testing.assert_allclose(d2[np.arange(len(X)), labels], d2.min(axis=1), atol=tolerance)
    np.testing.assert_allclose(distances, d2.min(axis=1), atol=tolerance)


def test_rules_without_a_formula_say_so():
    assert not PrintedFuzzy(2.0).has_removal_costs
    assert Fuzzy(2.0).has_removal_costs
