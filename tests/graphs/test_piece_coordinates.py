"""The space of the longest steps in coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from cmeans import ConnectivityClustering, FuzzyCMeans, KernelKMeans
from cmeans.graphs.piece_coordinates import coordinates, depths_below_roots
from cmeans.graphs.piece_tree import piece_tree
from cmeans.graphs.spanning_tree import spanning_tree

RINGS = np.random.default_rng(0)
ANGLES = RINGS.uniform(0, 2 * np.pi, 120)
RADII = np.repeat([1.0, 3.0], 60) + RINGS.normal(0, 0.1, 120)
X = RADII[:, None] * np.c_[np.cos(ANGLES), np.sin(ANGLES)]


@pytest.mark.parametrize("z", [0.5, 1, 2, 3])
@pytest.mark.parametrize("whole", [False, True])
def test_squares_of_differences_are_powers_of_the_longest_step(z: float, whole: bool) -> None:
    points = np.unique(X.round(0) if whole else X, axis=0)  # with many equal joins, and with none
    found = spanning_tree(points, np.ones(len(points)))
    tree, every = (
        piece_tree(found.edges, found.lengths, np.ones(len(points))),
        np.arange(len(points)),
    )
    phi = coordinates(tree, every, z)
    np.testing.assert_array_equal(np.diff(phi.indptr), depths_below_roots(tree))
    away = phi.toarray()[:, None] - phi.toarray()
    np.testing.assert_allclose((away**2).sum(axis=-1), tree.distances(every) ** z, rtol=1e-12)


def test_a_chain_of_any_length() -> None:
    steps = np.arange(1.0, 2000.0)
    tree = piece_tree(np.c_[:1999, 1:2000], steps, np.ones(2000))
    phi = coordinates(tree, np.array([0, 7, 1999]), 1.0)
    assert np.diff(phi.indptr).tolist() == [1999, 1993, 1]
    away = phi.toarray()[:, None] - phi.toarray()
    expected = [[0, 7, 1999], [7, 0, 1999], [1999, 1999, 0]]
    np.testing.assert_allclose((away**2).sum(axis=-1), expected, rtol=1e-12)


@pytest.mark.parametrize("z", [1, 2])
def test_rules_of_all_estimators_work_in_the_space(z: float) -> None:
    """As with the matrix of the kernel, (H^z - d^z) / 2 with H the longest of all steps."""
    model = ConnectivityClustering(2, z=z).fit(X)
    phi = model.embed(X)
    d = model._tree.distances(model._point_of_row)[model._point_of_row]
    K = (d.max() ** z - d**z) / 2
    soft = FuzzyCMeans(2, kernel="linear", init=phi[model.exemplars_].toarray(), tol=1e-10).fit(phi)
    given = FuzzyCMeans(2, kernel="precomputed", landmarks=None, random_state=0, tol=1e-10).fit(K)
    u = given.memberships_[:, np.argsort(given.labels_[model.exemplars_])]
    np.testing.assert_allclose(soft.memberships_, u, atol=1e-6)
    hard = KernelKMeans(2, kernel="linear", random_state=0).fit(phi)
    assert len(set(zip(hard.labels_, model.labels_, strict=True))) == 2


def test_memberships_are_those_of_the_fuzzy_rule_at_the_centres() -> None:
    model = ConnectivityClustering(3, z=2).fit(X)
    phi = model.embed(X).toarray()
    d2 = ((phi[:, None] - phi[model.exemplars_]) ** 2).sum(axis=-1)
    np.testing.assert_allclose(model.transform(X), np.sqrt(d2), atol=1e-9)
    for row in range(0, 120, 7):
        expected = naive.fuzzy_memberships(d2[row : row + 1], 2.0)
        np.testing.assert_allclose(model.memberships_[row : row + 1], expected, atol=1e-9)


def test_new_rows_are_at_their_nearest() -> None:
    model = ConnectivityClustering(2).fit(X)
    np.testing.assert_array_equal((model.embed(X[:5] + 1e-9) != model.embed(X[:5])).data, [])
    few = ConnectivityClustering(2, landmarks=30, random_state=0).fit(X).embed(X)
    assert len(np.unique(few.toarray(), axis=0)) <= 30


def test_what_has_no_place_is_refused() -> None:
    apart = np.array([[0, 1, np.inf], [1, 0, np.inf], [np.inf, np.inf, 0]])
    model = ConnectivityClustering(metric="precomputed").fit(apart)
    with pytest.raises(ValueError, match="nothing connects 2 parts of X with others"):
        model.embed(apart)
