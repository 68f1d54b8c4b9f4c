"""What every space promises, over every kind of array. A new space passes with a class of ten
lines: see test_spaces.py."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest

import naive
from cmeans.data.arrays import as_like, namespace
from cmeans.data.blocks import Block, Blocks
from cmeans.data.limits import Limits
from cmeans.data.precision import resolution
from cmeans.kernels import Kernel, Precomputed
from cmeans.rules import Hard
from cmeans.spaces import ExactSpace, Rows, Space
from cmeans.spaces.centres import Centres
from cmeans.sweeps.generic import gather
from cmeans.sweeps.represented_rows import RepresentedRows
from contracts.arrays import DENSE, as_form, on_host

N, NEW, C = 31, 6, 3
RAGGED = Limits(block_rows=7, tasks=2, task_values=1, summed_values=0)
KINDS = (
    ("numpy", "float64"),
    ("numpy", "float32"),
    ("torch", "float32"),
    ("array_api_strict", "float64"),
    ("csr", "float32"),
    ("csr64", "float64"),
)
DENSE_KINDS = tuple(kind for kind in KINDS if kind[0] in DENSE)
# for a space whose twin meets all of them
FEW_KINDS = (("numpy", "float64"), ("torch", "float32"), ("csr", "float64"))
TOLERANCE = {"float64": 1e-9, "float32": 2e-4}  # of squared distances of about 1


@dataclass(frozen=True)
class Given:
    """Rows in some kind of array, and the truth about them in float64."""

    blocks: Blocks
    new: Block  # rows that the space has not seen
    A: np.ndarray  # (n, c) weights that make centres
    K: np.ndarray  # (n + new, n + new) by loops
    dtype: str

    def close(self, actual: Any, expected: np.ndarray) -> None:
        np.testing.assert_allclose(on_host(actual), expected, rtol=0, atol=TOLERANCE[self.dtype])


class SpaceContract(ABC):
    """A space over given rows, whose centres are projections onto the span of some of them."""

    kernel: ClassVar[Kernel]
    # the same kernel of two rows, from naive.py; values of about 1 on the rows below
    loop: ClassVar[Callable[..., float]]
    spanned_by: ClassVar[np.ndarray] = np.arange(N)  # numbers of the rows that span the space
    kinds: ClassVar[tuple[tuple[str, str], ...]] = KINDS  # of arrays

    @abstractmethod
    def make(self, blocks: Blocks) -> Space:
        """The space over these rows."""

    def width(self, space: Space) -> int:
        """The number of columns of rows and centres in the space."""
        return space.size

    def basis(self, blocks: Blocks) -> Block | None:
        """The rows of the basis, where the space cannot know them (precomputed kernels)."""
        return None

    # ---- what all tests start from

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "given" in metafunc.fixturenames:
            metafunc.parametrize("given", self.kinds, indirect=True, ids="-".join)

    @pytest.fixture
    def given(self, request: pytest.FixtureRequest) -> Given:
        form, dtype = request.param
        X, K = rows_and_kernel(type(self).loop)
        A = np.random.default_rng(5).uniform(0.1, 1, size=(N, C))
        if isinstance(self.kernel, Precomputed):
            rows, kxx = as_form(K[:, :N], form, dtype), as_form(np.diag(K), form, dtype)
            blocks = Blocks(rows[:N, :], np.ones(N), limits=RAGGED).with_columns(kxx=kxx[:N])
            return Given(blocks, Block(rows[N:, :], np.ones(NEW), 0, kxx[N:]), A, K, dtype)
        rows = as_form(X, form, dtype)
        blocks = Blocks(rows[:N, :], np.ones(N), limits=RAGGED)
        return Given(blocks, Block(rows[N:, :], np.ones(NEW), 0), A, K, dtype)

    def whole(self, blocks: Blocks) -> ExactSpace:
        """The whole feature space, which every other is a part of."""
        return ExactSpace(self.kernel, blocks, solver_tolerance(blocks))

    # ---- the promises

    def test_distances_to_weighted_means(self, given: Given) -> None:
        """v_j = the projection of sum_i A_ij phi(x_i) / sum_i A_ij, k(x, x) kept; from training
        rows and from any rows."""
        space = self.make(given.blocks)
        centres = made(space, given)
        expected = self._distances(given, self._of_means(given))
        given.close(distances(space, centres, given.blocks), expected[:N])
        given.close(distances(space, centres, given.blocks, training=False), expected[:N])
        new = space.rows(given.new)
        given.close(new.squared_distances(space.view(centres, new.kxx)), expected[N:])
        assert on_host(new.kxx).dtype == given.dtype

    def test_distances_to_embedded_rows(self, given: Given) -> None:
        space = self.make(given.blocks)
        numbers = np.array([3, 0, 20])
        expected = self._distances(given, self._of_rows(given, numbers))
        rows = given.blocks.take(numbers)
        for centres in (space.embed(rows, numbers), space.embed(rows)):
            assert space.is_orthonormal == (centres.duals is centres.coordinates)
            given.close(distances(space, centres, given.blocks), expected[:N])
        strangers = self._distances(given, self._of_rows(given, np.arange(N, N + NEW)))
        given.close(distances(space, space.embed(given.new), given.blocks), strangers[:N])

    def test_a_row_at_a_centre_is_at_no_distance(self, given: Given) -> None:
        space = self.make(given.blocks)
        numbers = self.spanned_by[:3]
        d2 = on_host(
            distances(space, space.embed(given.blocks.take(numbers), numbers), given.blocks)
        )
        assert (d2 >= 0).all()
        assert d2[numbers, [0, 1, 2]].max() <= (1e-14 if given.dtype == "float64" else 1e-5)

    def test_products_of_centres(self, given: Given) -> None:
        """Differences and distances of centres are those of the combinations of rows that they
        are."""
        space = self.make(given.blocks)
        centres, alphas = made(space, given), self._of_means(given)
        expected = np.array([[self._squared_norm(given, a - b) for b in alphas] for a in alphas])
        given.close(centres.squared_distances(), expected)
        given.close((centres[[0, 1]] - centres[[1, 2]]).squared_norms(), expected[[0, 1], [1, 2]])
        given.close(centres.inner(centres), centres.inner(centres).T)
        given.close(centres.squared_norms(), np.diag(centres.inner(centres)))
        assert space.coefficients(centres).shape == (C, self.width(space))

    def test_products_with_rows(self, given: Given) -> None:
        space = self.make(given.blocks)
        expected = self._of_means(given) @ given.K[self.spanned_by]
        given.close(space.inner_products(made(space, given), given.new), expected[:, N:])

    def test_norms_about_the_origin_of_feature_space(self, given: Given) -> None:
        """Those of the combinations of rows that the centres are, wherever the space's own origin
        lies."""
        space = self.make(given.blocks)
        expected = np.array([self._squared_norm(given, alpha) for alpha in self._of_means(given)])
        centres = made(space, given)
        for here, places in ((space, centres), space.portable(centres)):
            norms = here.norms(places)
            given.close(norms, expected)
            assert (norms >= 0).all()
            assert (type(norms), norms.dtype) == (np.ndarray, np.float64)

    def test_centres_as_rows_are_as_far_from_centres_as_these(self, given: Given) -> None:
        space = self.make(given.blocks)
        centres, alphas = made(space, given), self._of_means(given)
        expected = np.array(
            [[self._squared_norm(given, a - b) for b in alphas[:2]] for a in alphas]
        )
        for here, places in ((space, centres), space.portable(centres)):
            rows = here.as_rows(places)
            assert (type(rows.kxx), rows.kxx.dtype) == (np.ndarray, np.float64)
            d2 = rows.squared_distances(here.view(places[:2], rows.kxx))
            given.close(d2, expected)
            assert d2.dtype == np.float64
            given.close(rows.plain().squared_distances(here.view(places[:2], rows.kxx)), expected)

    def test_centres_as_rows_join_others_in_the_moments(self, given: Given) -> None:
        """The means of training rows and centres, and of centres alone, are those of the
        combinations that they are."""
        space = self.make(given.blocks)
        centres, alphas = made(space, given), self._of_means(given)
        W = np.random.default_rng(6).uniform(0.1, 20, size=(C, C))
        mass, combined = (
            given.A.sum(axis=0) + W.sum(axis=0),
            given.A.sum(axis=0)[:, None] * alphas + W.T @ alphas,
        )
        moment = moments(space, given)
        space.as_rows(centres).add_moment(W, moment)
        self._check_means(
            given, space, centres, space.centres(mass, moment), combined / mass[:, None]
        )
        if isinstance(self.kernel, Precomputed):
            return  # a portable space cannot make centres of a kernel that was given
        portable, carried = space.portable(centres)
        moment = np.zeros((C, portable.moment_width))
        portable.as_rows(carried).add_moment(W, moment)
        means = portable.centres(W.sum(axis=0), moment)
        self._check_means(given, portable, carried, means, W.T @ alphas / W.sum(axis=0)[:, None])

    def _check_means(
        self, given: Given, space: Space, centres: Centres, means: Centres, expected: np.ndarray
    ) -> None:
        rows = space.as_rows(means)
        away = np.array(
            [[self._squared_norm(given, a - b) for b in self._of_means(given)] for a in expected]
        )
        given.close(rows.squared_distances(space.view(centres, rows.kxx)), away)
        given.close(space.norms(means), np.array([self._squared_norm(given, a) for a in expected]))

    def test_projection_onto_itself_moves_nothing(self, given: Given) -> None:
        space = self.make(given.blocks)
        centres = made(space, given)
        again = space.project(centres, space, self.basis(given.blocks))
        given.close((again - centres).squared_norms(), np.zeros(C))
        given.close(
            distances(space, again, given.blocks), on_host(distances(space, centres, given.blocks))
        )

    def test_centres_are_projections_of_those_of_the_whole_space(self, given: Given) -> None:
        space, whole = self.make(given.blocks), self.whole(given.blocks)
        projected = space.project(made(whole, given), whole, self.basis(given.blocks))
        given.close((projected - made(space, given)).squared_norms(), np.zeros(C))

    def test_centres_keep_their_distances_in_the_whole_space(self, given: Given) -> None:
        space, whole = self.make(given.blocks), self.whole(given.blocks)
        centres = made(space, given)
        carried = whole.project(centres, space)
        given.close(
            distances(whole, carried, given.blocks),
            on_host(distances(space, centres, given.blocks)),
        )

    def test_a_portable_space_says_the_same(self, given: Given) -> None:
        """Also after a journey; and its centres come home."""
        space = self.make(given.blocks)
        centres = made(space, given)
        portable, carried = space.portable(centres)
        new = portable.rows(given.new)
        d2 = on_host(new.squared_distances(portable.view(carried, new.kxx)))
        given.close(d2, self._distances(given, self._of_means(given))[N:])
        if "array_api_strict" not in str(type(given.new.x)):  # whose arrays do not pickle
            travelled, stored = pickle.loads(pickle.dumps((portable, carried)))
            again = travelled.rows(given.new)
            np.testing.assert_array_equal(
                on_host(again.squared_distances(travelled.view(stored, again.kxx))), d2
            )
        home = space.project(carried, portable, self.basis(given.blocks))
        given.close((home - centres).squared_norms(), np.zeros(C))

    def test_moments_add_over_blocks_and_tasks(self, given: Given) -> None:
        space = self.make(given.blocks)
        u = as_like(given.A, given.blocks.x)

        def summed(blocks: Blocks) -> tuple[np.ndarray, np.ndarray, int]:
            rows = RepresentedRows(space, blocks, 0)
            parts = [gather(rows, Hard(), u, task) for task in range(rows.n_tasks)]
            total = sum(parts[1:], parts[0])
            return total.mass, total.moment, len(parts)

        mass, moment, tasks = summed(given.blocks)
        assert tasks > 1
        whole_mass, whole_moment, tasks = summed(
            replace(given.blocks, limits=Limits(block_rows=N, tasks=1))
        )
        assert tasks == 1
        given.close(mass, whole_mass)
        given.close(moment, whole_moment)
        assert moment.shape == (C, space.moment_width)
        assert moment.dtype == mass.dtype == np.float64

    def test_a_cluster_without_mass_is_some_finite_centre(self, given: Given) -> None:
        space = self.make(given.blocks)
        A = given.A * np.array([1, 0, 1])
        centres = made(space, given, A)
        assert np.isfinite(centres.coordinates).all()
        assert np.isfinite(centres.duals).all()
        given.close(
            centres[[0, 2]].squared_distances(), made(space, given)[[0, 2]].squared_distances()
        )

    def test_it_holds_no_state(self, given: Given) -> None:
        space = self.make(given.blocks)
        before = made(space, given)
        after = made(space, given)
        np.testing.assert_array_equal(before.coordinates, after.coordinates)
        with pytest.raises(FrozenInstanceError):
            space.kernel = self.kernel
        rows = space.training_rows(given.blocks.cut(0, 5))
        assert isinstance(rows, Rows)
        assert rows.plain().g.shape == (5, self.width(space))

    # ---- the truth, by loops

    def _of_means(self, given: Given) -> np.ndarray:
        """(c, basis) coefficients of the centres over the rows that span the space."""
        return np.array(
            [self._solve(given, given.K[self.spanned_by, :N] @ a / a.sum()) for a in given.A.T]
        )

    def _of_rows(self, given: Given, numbers: np.ndarray) -> np.ndarray:
        return np.array([self._solve(given, given.K[self.spanned_by, row]) for row in numbers])

    def _solve(self, given: Given, t: np.ndarray) -> np.ndarray:
        return naive.pseudo_solve(given.K[np.ix_(self.spanned_by, self.spanned_by)], t, 1e-11)

    def _squared_norm(self, given: Given, alpha: np.ndarray) -> float:
        return float(alpha @ given.K[np.ix_(self.spanned_by, self.spanned_by)] @ alpha)

    def _distances(self, given: Given, alphas: np.ndarray) -> np.ndarray:
        """(n + new, c)."""
        K = given.K
        return np.array(
            [
                [
                    K[i, i] - 2 * K[i, self.spanned_by] @ alpha + self._squared_norm(given, alpha)
                    for alpha in alphas
                ]
                for i in range(len(K))
            ]
        )


@cache
def rows_and_kernel(loop: Callable[..., float]) -> tuple[np.ndarray, np.ndarray]:
    """Rows (training and new), and the kernel among them all."""
    X = np.random.default_rng(4).normal(size=(N + NEW, 4))
    X[np.abs(X) < 0.3] = 0
    X = (X / 2).astype(np.float32).astype(np.float64)
    return X, naive.kernel_matrix(X, X, loop)


def solver_tolerance(blocks: Blocks) -> float:
    """What conjugate gradients can reach with kernel values of the rows' dtype."""
    return 3e-6 if resolution(blocks.x.dtype) > 1e-10 else 1e-12


def made(space: Space, given: Given, A: np.ndarray | None = None) -> Centres:
    """The centres that the weights make of the training rows, block by block."""
    A = given.A if A is None else A
    return space.centres(A.sum(axis=0), moments(space, given, A))


def moments(space: Space, given: Given, A: np.ndarray | None = None) -> np.ndarray:
    A = given.A if A is None else A
    moment: Any = None
    for block in all_blocks(space, given.blocks):
        rows = space.training_rows(block)
        if moment is None:
            xp = namespace(rows.kxx)
            moment = xp.zeros((C, space.moment_width), dtype=xp.float64)
        rows.add_moment(as_like(A[block.start : block.stop], rows.kxx), moment)
    return on_host(moment)


def distances(space: Space, centres: Centres, blocks: Blocks, *, training: bool = True) -> Any:
    """d2 of all rows, block by block, as rows the space was built on or as any rows."""
    parts = []
    for block in all_blocks(space, blocks):
        rows = space.training_rows(block) if training else space.rows(block)
        parts.append(rows.squared_distances(space.view(centres, rows.kxx)))
    return namespace(parts[0]).concat(parts)


def all_blocks(space: Space, blocks: Blocks) -> list[Block]:
    return [
        block
        for task in range(blocks.n_tasks(space.size))
        for block in blocks.task(task, space.size)
    ]
