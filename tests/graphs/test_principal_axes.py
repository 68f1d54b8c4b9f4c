"""Principal axes by passes are those of all rows at once."""

from __future__ import annotations

import numpy as np
import pytest

from cmeans.data.blocks import Blocks
from cmeans.data.limits import Limits
from cmeans.engines import ThreadEngine
from cmeans.graphs.piece_points import GivenPoints
from cmeans.graphs.principal_axes import last_eigenvectors, principal_axes, reduced_rows


@pytest.mark.parametrize("by_direction", [False, True])
def test_axes_are_those_of_all_rows(by_direction: bool) -> None:
    rng = np.random.default_rng(0)
    X = (1e3 + rng.normal(size=(500, 12)) * np.arange(1, 13)).astype(np.float32)
    X[7] = 0
    weight = rng.integers(0, 3, 500).astype(float)
    points = GivenPoints(np.empty((0, 0)), have_unit_length=by_direction)
    x = X.astype(float)
    if by_direction:
        x /= np.maximum(np.linalg.norm(x, axis=1), 1)[:, None]
        weight[7] = 0
    mean = np.average(x, axis=0, weights=weight)
    axes = np.linalg.eigh(np.cov(x.T, fweights=weight.astype(int), bias=True))[1][:, -3:]
    weight[7] += 2 * by_direction  # a row without a direction counts nothing
    blocks = Blocks(X, weight, limits=Limits(block_rows=64, tasks=3))
    found = principal_axes(blocks, points, 3, ThreadEngine(n_jobs=2))
    np.testing.assert_allclose(found[0], mean, rtol=1e-10)
    np.testing.assert_allclose(np.abs(found[1].T @ axes), np.eye(3), atol=1e-6)
    again = principal_axes(blocks, points, 3, ThreadEngine(n_jobs=1))
    np.testing.assert_array_equal(found[1], again[1])
    reduced = reduced_rows(blocks, points, *found, ThreadEngine())
    np.testing.assert_allclose(reduced.rows, (x - mean) @ found[1], atol=1e-6)
    assert reduced.are_nodes.sum() == 500 - by_direction
    assert len(np.unique(reduced.keys)) == 500


@pytest.mark.parametrize("most", [2, 40])
def test_the_last_eigenvectors_alone_are_those_among_all(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.random.default_rng(1).normal(size=(60, 30))
    products = x.T @ x
    values, vectors = np.linalg.eigh(products)
    for wide in (1, 512):
        monkeypatch.setattr("cmeans.graphs.principal_axes.WIDE", wide)
        found, axes = last_eigenvectors(products, most)
        np.testing.assert_allclose(found, values[-most:])
        np.testing.assert_allclose(np.abs((axes * vectors[:, -most:]).sum(axis=0)), 1.0)
