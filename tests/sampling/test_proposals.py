"""Rows proposed as the next centre: distances and potentials, native and without native code,
against loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from cmeans import native
from cmeans.engines import ThreadEngine
from cmeans.kernels import RBF, Laplacian, Linear, Polynomial
from cmeans.sampling import kmeanspp
from cmeans.sampling.kmeanspp import drawn_in_rounds, kmeans_plus_plus, lowered, max_min
from cmeans.sampling.pairwise import KernelAffinity, MatrixAffinity

KERNELS = {
    "linear": Linear(),
    "rbf": RBF(0.1),
    "polynomial": Polynomial(3, 0.5, 1.0),
    "laplacian": Laplacian(0.3),
}


@pytest.fixture(autouse=True)
def as_in_a_fit():
    with ThreadEngine(1).opened():
        yield


def affinity(kernel, x, form):
    if form == "matrix":
        return MatrixAffinity(kernel(x, x), np.asarray(kernel.diag(x)), np.arange(len(x)))
    return KernelAffinity(kernel, sparse.csr_array(x) if form == "csr" else x)


def one_by_one(kernel, x, row, nearest, weights):
    """min(nearest_i, |phi(x_i) - phi(x_row)|^2) and the weighted sum, one row after the other."""
    after = []
    for i in range(len(x)):
        values = [float(kernel(x[[a]], x[[b]])[0, 0]) for a, b in ((i, i), (row, row), (i, row))]
        after.append(min(nearest[i], values[0] + values[1] - 2.0 * values[2]))
    return np.array(after), sum(w * a for w, a in zip(weights, after, strict=True))


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("form", ["rows", "csr", "matrix"])
@pytest.mark.parametrize("name", KERNELS)
def test_distances_and_potentials_are_those_of_the_formula(name, form, compiled, monkeypatch):
    if compiled and not native.is_available():
        pytest.skip("there is no native code")
    monkeypatch.setattr(native, "is_available", lambda: compiled)
    rng = np.random.default_rng(0)
    x, kernel = rng.uniform(size=(37, 5)) * (rng.uniform(size=(37, 5)) < 0.7), KERNELS[name]
    x[20] = x[3]  # a proposed row and its copy
    weights, nearest = rng.uniform(0.5, 3.0, size=37), rng.uniform(0.0, 2.0, size=37)
    proposed = np.array([3, 36, 3, 0])
    after, potentials = lowered(affinity(kernel, x, form), proposed, nearest, weights)
    for t, row in enumerate(proposed):
        wanted, potential = one_by_one(kernel, x, row, nearest, weights)
        np.testing.assert_allclose(after[t], wanted, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(potentials[t], potential, rtol=1e-12)
    assert after[0, 3] == after[0, 20] == 0.0
    assert potentials[0] == potentials[2]


@pytest.mark.skipif(not native.is_available(), reason="there is no native code")
@pytest.mark.parametrize("method", [kmeans_plus_plus, max_min])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n", [9, 100, 1003])
def test_native_code_takes_the_same_rows(n, name, method, monkeypatch):
    rng = np.random.default_rng(n)
    x, weights = rng.normal(size=(n, 4)), rng.uniform(0.1, 2.0, size=n)
    taken = []
    for compiled in (True, False):
        monkeypatch.setattr(native, "is_available", lambda compiled=compiled: compiled)
        taken.append(
            method(
                affinity(KERNELS[name], x, "rows"), weights, min(n, 20), np.random.RandomState(3)
            )
        )
    np.testing.assert_array_equal(*taken)
    assert len(set(taken[0].tolist())) == min(n, 20)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("method", [kmeans_plus_plus, max_min])
def test_rounding_does_not_choose_among_rows_that_are_equally_good(method, compiled, monkeypatch):
    """On a grid many candidates lower the potential by the same, and many rows are equally far: the
    first of them is taken, whatever the last digits of products say."""
    if compiled and not native.is_available():
        pytest.skip("there is no native code")
    monkeypatch.setattr(native, "is_available", lambda: compiled)
    x = np.stack(np.meshgrid(*[np.arange(6.0) - 2.5] * 2), axis=-1).reshape(-1, 2)
    gram, kxx, rng = x @ x.T, (x * x).sum(axis=1), np.random.default_rng(0)

    def taken(gram, seed):
        return method(
            MatrixAffinity(gram, kxx, np.arange(36)), np.ones(36), 8, np.random.RandomState(seed)
        ).tolist()

    for seed in range(20):
        assert taken(gram * (1.0 + 2.0**-52 * rng.integers(-4, 5, size=gram.shape)), seed) == taken(
            gram, seed
        )


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_a_distance_that_is_not_finite_is_refused(bad, compiled, monkeypatch):
    if compiled and not native.is_available():
        pytest.skip("there is no native code")
    monkeypatch.setattr(native, "is_available", lambda: compiled)
    gram = np.eye(11)
    gram[10, 2] = gram[2, 10] = bad
    with pytest.raises(ValueError, match="not finite"):
        lowered(
            MatrixAffinity(gram, np.ones(11), np.arange(11)),
            np.array([2]),
            np.full(11, np.inf),
            np.ones(11),
        )


@pytest.mark.parametrize("compiled", [True, False])
def test_draws_in_rounds_are_far_apart_and_end_where_no_row_differs(compiled, monkeypatch):
    """A row of each of forty heaps far apart; of 30 different rows no more than these."""
    if compiled and not native.is_available():
        pytest.skip("there is no native code")
    monkeypatch.setattr(native, "is_available", lambda: compiled)
    rng = np.random.default_rng(6)
    heaps = np.repeat(1000.0 * rng.normal(size=(40, 3)), 10, axis=0) + rng.normal(size=(400, 3))
    for seed in range(5):
        drawn = drawn_in_rounds(
            KernelAffinity(Linear(), heaps), np.ones(400), 40, np.random.RandomState(seed)
        )
        assert len(np.unique(drawn // 10)) >= 39
    few = np.tile(rng.normal(size=(30, 3)), (5, 1))
    drawn = drawn_in_rounds(
        KernelAffinity(Linear(), few), np.ones(150), 99, np.random.RandomState(0)
    )
    assert sorted(drawn % 30) == list(range(30))


@pytest.mark.skipif(not native.is_available(), reason="there is no native code")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_native_code_takes_the_rows_that_loops_take(dtype, monkeypatch):
    rng = np.random.default_rng(3)
    after, nearest = rng.uniform(size=(11, 37)).astype(dtype), rng.uniform(size=37).astype(dtype)
    draws, least = rng.integers(37, size=11), rng.uniform(size=11) * 0.8
    given = after, nearest, rng.uniform(0.5, 2.0, size=37), draws, least, 1e-6
    rows, left = kmeanspp._taken(*given)
    monkeypatch.setattr(native, "is_available", lambda: False)
    by_loops, left_by_loops = kmeanspp._taken(*given)
    assert 0 < len(rows) < 4
    assert np.array_equal(rows, by_loops)
    assert np.array_equal(left, left_by_loops)
