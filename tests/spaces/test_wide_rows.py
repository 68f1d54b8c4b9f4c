"""Rows of many columns: sums and centres take no more than their own size."""

from __future__ import annotations

import tracemalloc

import numpy as np
from scipy import sparse

from cmeans.data.blocks import Block
from cmeans.kernels import Linear
from cmeans.spaces import EuclideanSpace, landmark_space
from cmeans.spaces.rows import ProductRows


def test_sums_of_sparse_rows_are_in_double() -> None:
    """Whatever the rows are in, and however many of them there are."""
    x = sparse.random_array((3_000, 40), density=0.2, rng=0, dtype=np.float32).tocsr()
    w = np.random.default_rng(0).random((3_000, 3)).astype(np.float32)
    total = np.ones((3, 40))
    ProductRows(x, np.zeros(3_000)).add_moment(w, total)
    in_double = w.astype(np.float64).T @ x.toarray().astype(np.float64)
    np.testing.assert_allclose(total, 1.0 + in_double, rtol=1e-13)


def test_centres_in_another_space_become_points_without_a_square_of_the_columns() -> None:
    d = 8_000
    landmarks = np.random.default_rng(0).normal(size=(5, d))
    origin = landmark_space(Linear(), landmarks, None, np.float64)
    rows = Block(landmarks[:2], np.ones(2), 0)
    tracemalloc.start()
    found = EuclideanSpace(np.zeros(d)).project(origin.embed(rows), origin)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(found.coordinates, landmarks[:2], atol=1e-10)
    assert peak < 8 * d**2 / 5
