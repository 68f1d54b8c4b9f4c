"""Every space keeps the contract."""

from __future__ import annotations

from functools import partial

import numpy as np

import naive
from cmeans.arrays import host_float64, take
from cmeans.blocks import Block, Blocks
from cmeans.kernels import RBF, Linear, Polynomial, Precomputed
from cmeans.spaces import EuclideanSpace, ExactSpace, LandmarkSpace, Space, landmark_space
from contracts.arrays import DENSE
from contracts.space import N, SpaceContract, solver_tolerance

LANDMARKS = np.arange(0, N, 4)
RBF_LOOP = staticmethod(partial(naive.rbf, gamma=0.5))
POLYNOMIAL = Polynomial(degree=2, gamma=0.5, coef0=0.5)
POLYNOMIAL_LOOP = staticmethod(partial(naive.polynomial, gamma=0.5, coef0=0.5, degree=2))


class TestEuclidean(SpaceContract):
    kernel, loop = Linear(), staticmethod(naive.linear)

    def make(self, blocks: Blocks) -> Space:
        return EuclideanSpace(np.zeros(4))


class TestEuclideanAboutAPoint(SpaceContract):
    kernel, loop = Linear(), staticmethod(naive.linear)

    def make(self, blocks: Blocks) -> Space:
        return EuclideanSpace(host_float64(blocks.x).mean(axis=0))


class TestExact(SpaceContract):
    kernel, loop = RBF(0.5), RBF_LOOP

    def make(self, blocks: Blocks) -> Space:
        return ExactSpace(self.kernel, blocks, solver_tolerance(blocks))


class TestExactOfLowRank(SpaceContract):
    kernel, loop = POLYNOMIAL, POLYNOMIAL_LOOP

    def make(self, blocks: Blocks) -> Space:
        return ExactSpace(self.kernel, blocks, solver_tolerance(blocks))


class TestExactPrecomputed(SpaceContract):
    kernel, loop, forms = Precomputed(), RBF_LOOP, DENSE

    def make(self, blocks: Blocks) -> Space:
        return ExactSpace(self.kernel, blocks, solver_tolerance(blocks))


class TestLandmark(SpaceContract):
    kernel, loop, spanned_by = RBF(0.5), RBF_LOOP, LANDMARKS

    def make(self, blocks: Blocks) -> Space:
        return landmark_space(self.kernel, take(blocks.x, LANDMARKS), None, blocks.x.dtype)


class TestLandmarkCentred(SpaceContract):
    kernel, loop, spanned_by = POLYNOMIAL, POLYNOMIAL_LOOP, LANDMARKS

    def make(self, blocks: Blocks) -> Space:
        return landmark_space(self.kernel, take(blocks.x, LANDMARKS), None, blocks.x.dtype)


class TestLandmarkPrecomputed(SpaceContract):
    kernel, loop, forms, spanned_by = Precomputed(), RBF_LOOP, DENSE, LANDMARKS

    def basis(self, blocks: Blocks) -> Block:
        return blocks.take(LANDMARKS)

    def make(self, blocks: Blocks) -> Space:
        gram = host_float64(take(blocks.x, LANDMARKS))[:, LANDMARKS]
        return landmark_space(self.kernel, LANDMARKS, gram, blocks.x.dtype)


class TestGradient(SpaceContract):
    kernel, loop, spanned_by = RBF(0.5), RBF_LOOP, LANDMARKS

    def make(self, blocks: Blocks) -> Space:
        return landmark_space(self.kernel, take(blocks.x, LANDMARKS), None, blocks.x.dtype, factor=False)


class TestGradientCentred(SpaceContract):
    kernel, loop, spanned_by = POLYNOMIAL, POLYNOMIAL_LOOP, LANDMARKS

    def make(self, blocks: Blocks) -> Space:
        return landmark_space(self.kernel, take(blocks.x, LANDMARKS), None, blocks.x.dtype, factor=False)


class TestGradientTileByTile(SpaceContract):
    kernel, loop, spanned_by = RBF(0.5), RBF_LOOP, LANDMARKS

    def make(self, blocks: Blocks) -> Space:
        return LandmarkSpace(self.kernel, take(blocks.x, LANDMARKS), solver_tolerance=solver_tolerance(blocks))
