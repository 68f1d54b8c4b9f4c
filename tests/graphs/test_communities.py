"""Communities of graphs: their objective, the best of few nodes, native code and Python."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from cmeans import native
from cmeans.engines import ThreadEngine
from cmeans.graphs import community_moves
from cmeans.graphs.affinities import affinities, counted, scales
from cmeans.graphs.communities import communities, settled
from cmeans.graphs.community_graph import CommunityGraph, canonical_order, compact, rounded
from cmeans.graphs.community_levels import CommunitySearch, adjusted_rand
from cmeans.graphs.community_number import with_number
from cmeans.graphs.community_seams import seams
from cmeans.graphs.edges import EDGES, ScaledEdges, neighbour_graph
from cmeans.graphs.nearest_neighbours import nearest_neighbours
from cmeans.graphs.piece_layers import cluster_tree


def drawn(n: int, seed: int, density: float = 0.5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    return upper + upper.T


def planted(n: int = 300, groups: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng, y = np.random.default_rng(seed), np.arange(n) % groups
    chance = np.where(y[:, None] == y, 0.3, 0.01)
    upper = np.triu((rng.random((n, n)) < chance) * (1 + 0.1 * rng.random((n, n))), 1)
    return upper + upper.T, y


def graph_of(A: np.ndarray) -> CommunityGraph:
    return CommunityGraph.of(sparse.csr_array(A))


def searched(A: np.ndarray, most: int = 20_000) -> CommunitySearch:
    return CommunitySearch.of(graph_of(A), np.ones(len(A)), most, ThreadEngine())


def partitions(n: int) -> np.ndarray:
    found = [[0]]
    for _ in range(1, n):
        found = [[*one, j] for one in found for j in range(max(one) + 2)]
    return np.array(found)


def naive_modularity(A: np.ndarray, labels: np.ndarray, resolution: float) -> float:
    """Newman and Girvan 2004, pair by pair."""
    degree, total = A.sum(axis=1), A.sum()
    pairs = [(i, j) for i in range(len(A)) for j in range(len(A)) if labels[i] == labels[j]]
    return sum(A[i, j] - resolution * degree[i] * degree[j] / total for i, j in pairs) / total


@pytest.mark.parametrize("resolution", [0.5, 1.0, 2.0])
def test_modularity_is_that_of_all_pairs(resolution: float) -> None:
    A, labels = drawn(40, 0), np.arange(40) % 5
    expected = naive_modularity(A, labels, resolution)
    assert graph_of(A).modularity(labels, resolution) == pytest.approx(expected, abs=1e-12)


def test_modularity_is_that_of_networkx() -> None:
    networkx = pytest.importorskip("networkx")
    A, labels = drawn(40, 0), np.arange(40) % 5
    groups = [set(np.flatnonzero(labels == j).tolist()) for j in range(5)]
    expected = networkx.community.modularity(networkx.from_numpy_array(A), groups, resolution=1.5)
    assert graph_of(A).modularity(labels, 1.5) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds", [range(25), pytest.param(range(25, 200), marks=pytest.mark.minutes)], ids=str
)
def test_the_best_of_all_partitions_of_nine_nodes(seeds: range) -> None:
    every = partitions(9)
    together = (every[:, :, None] == every[:, None, :]).reshape(len(every), 81)
    together = together.astype(np.float32)
    for seed in seeds:
        A = drawn(9, seed)
        if not A.any(axis=1).all():
            continue
        degree = A.sum(axis=1)
        B = (A - np.outer(degree, degree) / degree.sum()) / degree.sum()
        best = every[np.argmax(together @ B.ravel().astype(np.float32))]
        found = searched(A).at(1.0).labels
        graph = graph_of(A)
        assert graph.modularity(found, 1.0) >= graph.modularity(best, 1.0) - 1e-12, seed


def test_karate_has_its_known_optimum() -> None:
    networkx = pytest.importorskip("networkx")
    A = networkx.to_numpy_array(networkx.karate_club_graph(), weight=None)
    found = searched(A).at(1.0).labels
    # Brandes et al. 2008: .4198, four communities
    assert graph_of(A).modularity(found, 1.0) == pytest.approx(0.4197896, abs=1e-6)
    assert found.max() + 1 == 4


@pytest.mark.parametrize("resolution", [0.3, 1.0, 3.0])
def test_communities_are_connected_and_no_node_gains_by_leaving(resolution: float) -> None:
    A = drawn(120, 3, 0.06)
    A[A.sum(axis=1) == 0, 0] = 0.1
    A = np.maximum(A, A.T)
    graph = graph_of(A)
    labels = settled(graph, resolution, communities(graph, resolution))
    np.testing.assert_array_equal(graph.connected_parts(labels), labels)
    degree = A.sum(axis=1)
    one = np.eye(labels.max() + 1)[labels]
    total = degree @ one - one * degree[:, None]
    gain = A @ one - resolution * degree[:, None] * total / degree.sum()
    own = gain[np.arange(len(A)), labels]
    assert (own >= np.maximum(gain.max(axis=1), 0) - 1e-9 * degree).all()


@pytest.mark.skipif(not native.is_available(), reason="compares native code with Python")
@pytest.mark.parametrize("seed", range(5))
def test_python_makes_what_native_code_makes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    A = drawn(80, seed, 0.1) + np.diag(np.random.default_rng(seed).random(80))
    graph, order = (
        CommunityGraph.of(sparse.csr_array(A), np.arange(80) < 3 * seed),
        np.random.default_rng(seed).permutation(80),
    )
    pull, member = 1.0 / graph.total, np.arange(80) // 7

    def made() -> list[np.ndarray]:
        label = community_moves.moved(graph, pull, np.arange(80), order)
        part = community_moves.refined(graph, pull, label, order)
        group = community_moves.joined(graph, member)
        whole = communities(graph, 1.0, draw=(seed,))
        return [label, part, group.start, group.end, group.weight, group.held, whole]

    fast = made()
    monkeypatch.setattr(community_moves.native, "is_available", lambda: False)
    for one, other in zip(fast, made(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_groups_of_nodes_keep_the_modularity() -> None:
    A, y = planted(60)
    graph, member = graph_of(A), np.arange(60) % 12
    group = community_moves.joined(graph, member)
    np.testing.assert_allclose(
        group.matrix.toarray(), np.eye(12)[member].T @ A @ np.eye(12)[member]
    )
    assert group.modularity(np.arange(12) % 6, 1.0) == pytest.approx(graph.modularity(y, 1.0))


def test_the_order_of_nodes_is_forgotten() -> None:
    A, _ = planted(100)
    moved = np.random.default_rng(0).permutation(100)
    one, other = graph_of(A), graph_of(A[moved][:, moved])
    np.testing.assert_array_equal(moved[canonical_order(other)], canonical_order(one))


def test_cells_come_to_the_same_communities() -> None:
    rng, y = np.random.default_rng(0), np.arange(3000) % 3
    X = rng.normal(size=(3000, 2)) + 9 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    near = nearest_neighbours(X, 15)
    A, _ = neighbour_graph(near.distances, near.numbers, np.ones(3000), 15, ScaledEdges)
    graph = CommunityGraph.of(rounded(A))
    search = CommunitySearch.of(graph, np.ones(3000), 100, ThreadEngine())
    assert 100 < search.coarse.n_nodes < 1500
    assert search.sizes.sum() == 3000
    assert search.coarse.total == pytest.approx(graph.total, rel=1e-12)
    assert adjusted_rand(search.at(0.05).labels, y, np.ones(3000)) > 0.999


@pytest.mark.parametrize("wanted", [1, 2, 5, 6, 7, 30])
def test_a_wanted_number(wanted: int) -> None:
    A, y = planted(120)
    found = with_number(searched(A), wanted)
    assert found is not None
    assert len(np.unique(found.labels)) == wanted
    if wanted == 6:
        assert adjusted_rand(found.labels, y, np.ones(120)) > 0.95
    apart = sparse.block_diag([sparse.coo_array(drawn(10, seed)) for seed in range(3)]).toarray()
    assert with_number(searched(apart), 2) is None


def test_weights_are_rounded_to_twenty_digits() -> None:
    A = sparse.csr_array(drawn(30, 1) * 1e-3)
    noisy = A.copy()
    noisy.data *= 1 + 1e-12 * np.random.default_rng(0).random(A.nnz)
    np.testing.assert_array_equal(rounded(A).data, rounded(noisy).data)
    np.testing.assert_allclose(rounded(A).data, A.data, rtol=2.0**-20)


def test_adjusted_rand_of_nodes_is_that_of_their_rows() -> None:
    rng = np.random.default_rng(0)
    a, b, sizes = rng.integers(0, 4, 50), rng.integers(0, 3, 50), rng.integers(1, 5, 50)
    expected = adjusted_rand_score(np.repeat(a, sizes), np.repeat(b, sizes))
    assert adjusted_rand(a, b, sizes.astype(float)) == pytest.approx(expected, abs=1e-12)
    assert adjusted_rand(a, compact(a), sizes.astype(float)) == 1
    # of nodes whose sizes are no numbers of rows: huge, where one more is nothing, or shares
    of_rows = adjusted_rand(a, b, np.ones(50))
    for unit in (1e30, 1e100, 1e300):
        assert adjusted_rand(a, b, sizes * unit) == pytest.approx(expected, abs=0.02)
        assert adjusted_rand(a, b, np.ones(50) / unit) == pytest.approx(of_rows, rel=1e-12)


def test_affinities_by_the_scales_of_both_ends() -> None:
    d = np.array([0.0, 2.0, 2.0, 2.0, 2.0, 1e9])
    own = np.array([0.0, 2.0, 0.0, 4.0, 0.0, 1.0])
    others = np.array([0.0, 4.0, 2.0, 0.0, 0.0, 1.0])
    expected = np.exp([0.0, -0.5, -1.0, -0.25, -1.0, -np.inf])
    expected[-1] = 2.0**-20
    np.testing.assert_allclose(affinities(d, own, others), expected, rtol=1e-15)


def test_neighbours_are_counted_by_weight() -> None:
    weights, copies = np.array([[2.0, 3.0, 4.0], [0.5, 0.5, 0.5]]), np.array([1.0, 0.0])
    np.testing.assert_array_equal(counted(weights, copies, 5), [[2, 2, 0], [0.5, 0.5, 0.5]])
    distances = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(scales(distances, weights, copies), [3, 3])
    np.testing.assert_array_equal(scales(distances, weights, np.array([4.0, 7.0])), [2, 0])


def test_an_edge_stays_if_either_end_lists_the_other() -> None:
    distances, numbers = np.array([[1.0], [1.0], [3.0]]), np.array([[1], [0], [1]])
    A, edges = neighbour_graph(distances, numbers, np.ones(3), 1, ScaledEdges)
    np.testing.assert_array_equal(edges.widths, [1, 1, 3])
    a, b = np.exp(-1), np.exp(-3)
    np.testing.assert_allclose(A.toarray(), [[0, a, 0], [a, 0, b], [0, b, 0]])
    # three copies of a row have edges among themselves alone
    A, _ = neighbour_graph(distances, numbers, np.array([3.0, 1.0, 1.0]), 1, ScaledEdges)
    np.testing.assert_allclose(A.toarray(), [[3, 1 * np.exp(-1), 0], [np.exp(-1), 0, b], [0, b, 0]])


def naive_cuts(A: np.ndarray) -> tuple[float, float]:
    """The cut into halves of equal degrees along the Fiedler vector, and the best conductance."""
    degree = A.sum(axis=1)
    scaled = A / np.sqrt(np.outer(degree, degree))
    order = np.argsort(np.linalg.eigh(scaled)[1][:, -2] / np.sqrt(degree))
    side = [order[:k] for k in range(1, len(A))]
    volume = np.array([degree[some].sum() for some in side])
    cut = np.array([A[some].sum() - A[np.ix_(some, some)].sum() for some in side])
    half = np.flatnonzero(volume <= degree.sum() / 2)[-1]
    return cut[half], (cut / np.minimum(volume, degree.sum() - volume)).min()


@pytest.mark.parametrize("n", [120, 630])  # communities of few nodes and of many
def test_seams_are_boundaries_beside_halves(n: int) -> None:
    A = planted(n, 3)[0]
    y = np.arange(n) % 3
    found = seams(graph_of(A), y, ThreadEngine())
    cuts = np.array([naive_cuts(A[np.ix_(y == j, y == j)]) for j in range(3)])
    ratios, around = np.zeros((3, 3)), np.zeros(3)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        between = A[np.ix_(y == i, y == j)].sum()
        ratios[i, j] = ratios[j, i] = 2 * between / (cuts[i, 0] + cuts[j, 0])
        around += between * np.isin(np.arange(3), (i, j))
    assert found.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    near = 1e-9 if n == 120 else 0.02
    np.testing.assert_allclose(found.ratios, ratios[[0, 0, 1], [1, 2, 2]], rtol=near)
    strength = np.bincount(y, A.sum(axis=1))
    share, around = strength / strength.sum(), around / strength
    assert found.largest == pytest.approx(share @ ratios.max(axis=1), rel=near)
    apart = np.log((cuts[:, 1] + 0.01) / (around + 0.01))
    assert found.apart == pytest.approx(share @ apart, rel=near)
    assert not found.are_doubtful
    halves = seams(graph_of(A), y * 2 + np.arange(n) // 3 % 2, ThreadEngine())
    assert halves.are_doubtful
    assert sorted(halves.doubtful.tolist()) == [[0, 1], [2, 3], [4, 5]]


def test_single_nodes_have_no_halves() -> None:
    found = seams(graph_of(1.0 - np.eye(2)), np.arange(2), ThreadEngine())
    assert found.ratios.tolist() == [100.0]
    assert found.are_doubtful


def test_clusters_of_layers_that_are_not_nested_are_where_most_rows_are() -> None:
    fine, coarse = np.array([0, 0, 0, 1, 1, 2, -1]), np.array([0, 0, 1, 1, 1, -1, 0])
    assert cluster_tree([fine, coarse]) == {
        (1, 0): [(0, 0)],
        (1, 1): [(0, 1)],
        (2, 0): [(0, 2), (1, 0), (1, 1)],
    }


@pytest.mark.parametrize("edges", ["equal", "shared"])
def test_edges_of_neighbours_by_loops(edges: str) -> None:
    X, k = np.random.default_rng(0).normal(size=(60, 3)), 5
    near = nearest_neighbours(X, k)
    lists = [{i, *near.numbers[i].tolist()} for i in range(60)]
    expected = np.zeros((60, 60))
    for i, own in enumerate(lists):
        for j in own - {i}:
            share = len(own & lists[j]) / len(own | lists[j])
            expected[i, j] = expected[j, i] = share if edges == "shared" else 1.0
    A, _ = neighbour_graph(near.distances, near.numbers, np.ones(60), k, EDGES[edges])
    np.testing.assert_allclose(A.toarray(), expected, rtol=1e-14)
