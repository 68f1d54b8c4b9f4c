"""Rows that lie apart from all others: against loops, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest

from cmeans.data.blocks import Blocks
from cmeans.data.limits import Limits
from cmeans.kernels import RBF, Linear
from cmeans.sampling.pairwise import Metric
from cmeans.tuning.isolation import isolated_rows


def isolated(X, kernel=None, limits=None, weight=None):
    weight = np.ones(len(X)) if weight is None else weight
    blocks = Blocks(X, weight, **({} if limits is None else {"limits": limits}))
    return isolated_rows(Metric(kernel or Linear(), blocks), np.arange(len(X)), weight)


def naive_isolated(X):
    """Of the outermost tenth, by the median distance to every other or second row: their tenth
    neighbour that differs is more than three times as far as theirs are from these, by the median
    of the ten."""
    middle = [float(np.median([((row - other) ** 2).sum() for other in X[::2]])) for row in X]
    least = np.quantile(middle, 0.9)

    def neighbours(row):
        order = sorted(
            (float(np.linalg.norm(row - other)), j)
            for j, other in enumerate(X)
            if (row != other).any()
        )
        return [j for _, j in order[:10]], order[9][0]

    found = [neighbours(row) for row in X]
    far = [
        distance > 3 * np.sqrt(np.median([found[j][1] ** 2 for j in near]))
        for near, distance in found
    ]
    return [at >= least and one for at, one in zip(middle, far, strict=True)]


def rows(seed=0):
    """Two clusters, one much wider, and seven rows here and there."""
    rng = np.random.default_rng(seed)
    far = [
        [30.0, 0.0],
        [0.0, -20.0],
        [90.0, 90.0],
        [91.0, 90.0],
        [3.0, 3.0],
        [12.0, -7.0],
        [-5.0, 40.0],
    ]
    return np.vstack(
        [0.3 * rng.normal(size=(60, 2)), 3.0 * rng.normal(size=(40, 2)) + [15.0, 15.0], far]
    )


def test_they_are_those_of_the_loops():
    X = rows()
    found = isolated(X)
    assert found.tolist() == naive_isolated(X)
    assert found[-7:].sum() >= 4
    assert not found[:100].any()


def test_units_and_the_origin_do_not_matter():
    X = rows()
    np.testing.assert_array_equal(isolated(X * 1e6 + 1e5), isolated(X))
    assert not isolated(X, RBF(gamma=1e-6))[:100].any()


def test_rows_that_repeat_are_no_neighbours_of_themselves():
    X = np.repeat(rows(), 3, axis=0)
    assert isolated(X)[-21:].sum() >= 12
    assert not isolated(X)[:300].any()


def test_a_pile_of_equal_rows_is_a_cluster_of_its_own():
    """As copies or as one heavy row, whatever a weight of one stands for."""
    X, copies = np.random.default_rng(0).normal(size=(300, 2)), np.full((20, 2), 40.0)
    assert not isolated(np.vstack([X, copies])).any()
    assert isolated(np.vstack([X, copies[:3]]))[300:].all()
    for unit in (1.0, 1e-3):
        for weight, apart in ((20.0, False), (3.0, True)):
            assert (
                isolated(np.vstack([X, copies[:1]]), weight=unit * np.append(np.ones(300), weight))[
                    -1
                ]
                == apart
            )


def test_many_rows_are_compared_with_some_of_them():
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(size=(700, 3)), [[50.0, 0.0, 0.0], [0.0, 90.0, 0.0]]])
    found = isolated(X, limits=Limits(fixed_rows=150))
    assert found[-2:].all()
    assert found[:-2].mean() < 0.02


@pytest.mark.parametrize("n", [1, 5, 17])
def test_of_few_rows_none_lies_apart(n):
    X = np.random.default_rng(0).normal(size=(n, 2))
    X[-1] += 1e3
    assert not isolated(X).any()


def test_no_more_than_a_tenth_are_exceptions():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(90, 2)), 1e3 * rng.normal(size=(15, 2))])
    assert isolated(X).sum() <= 11
