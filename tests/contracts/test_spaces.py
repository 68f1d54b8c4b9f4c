"""Every space keeps the contract."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import naive
import naive_graph
from cmeans.data.arrays import host_float64, take
from cmeans.data.blocks import Block, Blocks
from cmeans.engines import ThreadEngine
from cmeans.graphs.landmark_graph import Sought, landmark_graph
from cmeans.kernels import (
    RBF,
    Cosine,
    LandmarkGraphKernel,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from cmeans.spaces import (
    EuclideanSpace,
    ExactSpace,
    FeatureSpace,
    IncompleteSpace,
    LandmarkSpace,
    PartialSpace,
    Space,
    landmark_space,
    spanning_space,
)
from contracts.arrays import FORMS, as_form
from contracts.space import (
    DENSE_KINDS,
    FEW_KINDS,
    N,
    SpaceContract,
    rows_and_kernel,
    solver_tolerance,
)

pytestmark = pytest.mark.slow

LANDMARKS = np.arange(0, N, 4)
RBF_LOOP = staticmethod(partial(naive.rbf, gamma=0.5))
POLYNOMIAL = Polynomial(degree=2, gamma=0.5, coef0=0.5)
POLYNOMIAL_LOOP = staticmethod(partial(naive.polynomial, gamma=0.5, coef0=0.5, degree=2))


class TestEuclidean(SpaceContract):
    kernel, loop = Linear(), staticmethod(naive.linear)
    kinds = FEW_KINDS

    def make(self, blocks: Blocks) -> Space:
        return EuclideanSpace(np.zeros(4))


class TestEuclideanAboutAPoint(SpaceContract):
    kernel, loop = Linear(), staticmethod(naive.linear)

    def make(self, blocks: Blocks) -> Space:
        return EuclideanSpace(host_float64(blocks.x).mean(axis=0))


class TestPartial(SpaceContract):
    """Of rows without missing values; of others: tests/fitting/test_missing.py."""

    kernel, loop = Linear(), staticmethod(naive.linear)
    kinds = DENSE_KINDS

    def make(self, blocks: Blocks) -> Space:
        return PartialSpace(host_float64(blocks.x).mean(axis=0))


class TestPartialInScale(TestPartial):
    def make(self, blocks: Blocks) -> Space:
        return super().make(blocks).in_scale()


class TestIncomplete(TestPartial):
    """As above; of others: tests/estimators/test_mixtures_of_incomplete_rows.py."""

    def make(self, blocks: Blocks) -> Space:
        x = host_float64(blocks.x)
        return IncompleteSpace(x.mean(axis=0), x.std(axis=0))

    def width(self, space: Space) -> int:
        return space.moment_width  # its size is that of covariances of what a row lacks


class TestExact(SpaceContract):
    kernel, loop = RBF(0.5), RBF_LOOP

    def make(self, blocks: Blocks) -> Space:
        return ExactSpace(self.kernel, blocks, solver_tolerance(blocks))


class TestExactOfLowRank(SpaceContract):
    kernel, loop = POLYNOMIAL, POLYNOMIAL_LOOP
    kinds = FEW_KINDS

    def make(self, blocks: Blocks) -> Space:
        return ExactSpace(self.kernel, blocks, solver_tolerance(blocks))


class TestExactPrecomputed(SpaceContract):
    kernel, loop, kinds = Precomputed(), RBF_LOOP, DENSE_KINDS

    def make(self, blocks: Blocks) -> Space:
        return ExactSpace(self.kernel, blocks, solver_tolerance(blocks))


class TestLandmark(SpaceContract):
    kernel, loop, spanned_by = RBF(0.5), RBF_LOOP, LANDMARKS
    kinds = FEW_KINDS

    def make(self, blocks: Blocks) -> Space:
        return landmark_space(self.kernel, take(blocks.x, LANDMARKS), None, blocks.x.dtype)


class TestLandmarkCentred(SpaceContract):
    kernel, loop, spanned_by = POLYNOMIAL, POLYNOMIAL_LOOP, LANDMARKS

    def make(self, blocks: Blocks) -> Space:
        return landmark_space(self.kernel, take(blocks.x, LANDMARKS), None, blocks.x.dtype)


class TestLandmarkPrecomputed(SpaceContract):
    kernel, loop, kinds, spanned_by = Precomputed(), RBF_LOOP, DENSE_KINDS, LANDMARKS

    def basis(self, blocks: Blocks) -> Block:
        return blocks.take(LANDMARKS)

    def make(self, blocks: Blocks) -> Space:
        gram = host_float64(take(blocks.x, LANDMARKS))[:, LANDMARKS]
        return landmark_space(self.kernel, LANDMARKS, gram, blocks.x.dtype)


class TestGradient(SpaceContract):
    kernel, loop, spanned_by = RBF(0.5), RBF_LOOP, LANDMARKS
    kinds = FEW_KINDS

    def make(self, blocks: Blocks) -> Space:
        return landmark_space(
            self.kernel, take(blocks.x, LANDMARKS), None, blocks.x.dtype, factor=False
        )


class TestGradientCentred(SpaceContract):
    kernel, loop, spanned_by = POLYNOMIAL, POLYNOMIAL_LOOP, LANDMARKS

    def make(self, blocks: Blocks) -> Space:
        return landmark_space(
            self.kernel, take(blocks.x, LANDMARKS), None, blocks.x.dtype, factor=False
        )


class TestGradientTileByTile(SpaceContract):
    kernel, loop, spanned_by = RBF(0.5), RBF_LOOP, LANDMARKS
    kinds = FEW_KINDS

    def make(self, blocks: Blocks) -> Space:
        return LandmarkSpace(
            self.kernel, take(blocks.x, LANDMARKS), solver_tolerance=solver_tolerance(blocks)
        )


class TestSpanning(SpaceContract):
    kernel, loop = RBF(0.5), RBF_LOOP
    kinds = FEW_KINDS

    def make(self, blocks: Blocks) -> Space:
        return spanning_space(self.kernel, blocks.x, blocks.x.dtype)


class TestSpanningCentred(SpaceContract):
    kernel, loop = POLYNOMIAL, POLYNOMIAL_LOOP
    kinds = FEW_KINDS

    def make(self, blocks: Blocks) -> Space:
        return spanning_space(self.kernel, blocks.x, blocks.x.dtype)


GRAPH_ROWS = rows_and_kernel(naive.linear)[0][:N]
GRAPH_LANDMARKS = GRAPH_ROWS[::3] + 0.01
with ThreadEngine(1).opened() as _engine:
    GRAPH, GRAPH_FEATURES = landmark_graph(
        GRAPH_LANDMARKS,
        LandmarkGraphKernel(n_neighbors=4, width=1.5, n_components=3),
        Sought(2, "clusters", "Test"),
        Blocks(GRAPH_ROWS, np.ones(N)),
        _engine,
    )


def graph_product(x: np.ndarray, y: np.ndarray) -> float:
    z, other = naive_graph.landmark_weights(np.array([x, y]), GRAPH_LANDMARKS, 4, 1.5)
    return float((z @ GRAPH.axes) @ (other @ GRAPH.axes))


class TestFeature(SpaceContract):
    kernel, loop = GRAPH, staticmethod(graph_product)

    def make(self, blocks: Blocks) -> Space:
        return FeatureSpace(self.kernel)


class TestKnownFeatures(TestFeature):
    """Features of training rows that were found with the graph."""

    def make(self, blocks: Blocks) -> Space:
        return FeatureSpace(self.kernel, GRAPH_FEATURES)


# ------------------------------------------------------------------------ coordinates and residuals


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("kernel", "loop"), [(RBF(0.5), RBF_LOOP), (POLYNOMIAL, POLYNOMIAL_LOOP)])
def test_coordinates_and_residuals_of_rows(kernel, loop, form):
    """Products of coordinates are those of the projections, about the origin of feature space; the
    residual is the rest of k(x, x)."""
    X, K = rows_and_kernel(loop.__func__)
    x = as_form(X, form)
    space = landmark_space(kernel, take(x, LANDMARKS), None, x.dtype)
    rows = Block(x, np.ones(len(X)), 0)
    z = space.coordinates(rows)
    alphas = np.array(
        [
            naive.pseudo_solve(K[np.ix_(LANDMARKS, LANDMARKS)], K[LANDMARKS, i], 1e-11)
            for i in range(len(X))
        ]
    )
    projected = alphas @ K[LANDMARKS]
    np.testing.assert_allclose(z @ z.T, projected, atol=1e-9)
    np.testing.assert_allclose(space.residuals(rows), np.diag(K) - np.diag(projected), atol=1e-9)
    assert (space.residuals(rows) >= 0).all()
    assert space.residuals(rows)[LANDMARKS].max() < 1e-9
    np.testing.assert_allclose(z - space.origin, space.embed(rows).coordinates, atol=1e-12)
    mean = K[np.ix_(LANDMARKS, LANDMARKS)].mean() if kernel.constant_part else 0.0
    assert space.origin @ space.origin == pytest.approx(mean, abs=1e-9)


# ----------------------------------------------------------------------------- the span of all rows


def rank_deficient(kind: str) -> np.ndarray:
    X = np.random.default_rng(1).normal(size=(50, 4))
    if kind == "copies":
        return np.vstack([X[:20], X[:20], X[:10]])
    return X @ np.diag([1, 1, 0, 0]) if kind == "plane" else X


KERNELS = {  # and the rank of its feature space on the rows above
    "rbf": (RBF(0.5), {"all": 50, "copies": 20, "plane": 50}),
    "wide rbf": (RBF(1e-3), {}),
    "linear": (Linear(), {"all": 4, "copies": 4, "plane": 2}),
    "linear, far away": (Linear(), {"all": 4, "copies": 4, "plane": 3}),
    "polynomial": (POLYNOMIAL, {"all": 15, "copies": 15, "plane": 6}),
    "polynomial, far away": (POLYNOMIAL, {"all": 15, "copies": 15, "plane": 6}),
}


@pytest.mark.parametrize("kind", ["all", "copies", "plane"])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_span_of_all_rows(name, kind, dtype):
    kernel, ranks = KERNELS[name]
    X = (rank_deficient(kind) + (10 if "far" in name else 0)).astype(dtype)
    space = spanning_space(kernel, X, X.dtype)
    size = np.abs(kernel.diag(X.astype(np.float64))).max()
    rows = Block(X.astype(np.float64), np.ones(len(X)), 0)
    assert space.residuals(rows).max() < (1e-9 if dtype is np.float64 else 2e-4) * size
    W = space.whitener
    np.testing.assert_allclose(W.T @ space._basis_gram @ W, np.eye(W.shape[1]), atol=1e-3)
    n, k = len(space.points), W.shape[1]
    assert k <= space.size <= len(X) + kernel.constant_part
    assert {tuple(row) for row in space.points} <= {tuple(row) for row in X}
    if kind in ranks and dtype is np.float64:
        assert k == ranks[kind]
        assert n <= k + kernel.constant_part
    elif name == "wide rbf":
        assert k < len(X)


@pytest.mark.parametrize("kernel", [RBF(0.5), POLYNOMIAL])
def test_the_span_of_a_single_row(kernel):
    X = np.array([[1.0, 2.0]])
    space = spanning_space(kernel, X, X.dtype)
    rows = Block(X, np.ones(1), 0)
    assert space.residuals(rows)[0] < 1e-9
    assert (space.coordinates(rows) ** 2).sum() == pytest.approx(kernel.diag(X)[0])


def test_an_indefinite_kernel_keeps_all_rows_and_its_positive_part():
    kernel, X = Sigmoid(gamma=0.5, coef0=-1.0), rank_deficient("all")
    K = kernel(X, X)
    values = np.linalg.eigvalsh(K)
    assert values[0] < -0.1
    space = spanning_space(kernel, X, X.dtype)
    np.testing.assert_array_equal(space.points, X)
    W = space.whitener
    np.testing.assert_allclose(W.T @ K @ W, np.eye(W.shape[1]), atol=1e-3)
    assert W.shape[1] == (values > 1e-11 * values[-1]).sum()


@pytest.mark.parametrize("kernel", [Linear(), Cosine(), Polynomial(degree=2, gamma=1.0, coef0=0.0)])
def test_rows_that_are_nothing_to_the_kernel(kernel):
    X = np.zeros((5, 3))
    space = spanning_space(kernel, X, X.dtype)
    rows = Block(X, np.ones(5), 0)
    assert space.residuals(rows).max() == 0
    centres = space.embed(rows)
    assert np.isfinite(centres.coordinates).all()
    np.testing.assert_array_equal(space.norms(centres), np.zeros(5))
    np.testing.assert_array_equal(
        space.centres(np.ones(2), np.zeros((2, space.moment_width))).squared_norms(), [0, 0]
    )
