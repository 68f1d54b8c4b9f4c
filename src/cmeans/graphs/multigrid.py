"""Leading eigenvectors of large sparse graphs: blocks of vectors, preconditioned by a hierarchy of
ever smaller graphs.

Knyazev 2001, "Toward the optimal preconditioned eigensolver", the solver (SciPy's)
Vanek, Mandel, Brezina 1996, "Algebraic multigrid by smoothed aggregation", the preconditioner
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, lobpcg

from ..data.arrays import Float64, IntArray
from ..data.csr import diagonal_csr

COARSEST = 600  # rows of the smallest graph, whose equations are solved
SHIFT = 1e-9  # added to the diagonal of the Laplacian, which is singular
DAMPING = 2.0 / 3.0  # of Jacobi's iteration
ROUNDS, ITERATIONS = 12, 10  # of the eigensolver, after each of which its vectors are looked at
# of eigenvectors that are found: this, or this share of 1 - eigenvalue
RESIDUAL, SHARE = 1e-8, 1e-6


def leading_eigenvectors(
    matrix: Any,  # (n, n) D^-1/2 W D^-1/2 of a graph, CSR
    root: Float64,  # (n,) D^1/2
    known: Float64,  # (n, p) its orthonormal eigenvectors of eigenvalue 1
    count: int,
    needed: int,
    rng: np.random.RandomState,
) -> tuple[Float64, Float64, bool]:
    """Return `count` eigenvalues, the largest after the known ones, and their eigenvectors (n,
    count), the largest first; and True if the first `needed` of them are found. The others, which
    help them to converge, are rough."""
    n = len(root)
    laplacian = (diagonal_csr(np.full(n, 1.0 + SHIFT)) - matrix).tocsr()
    hierarchy = Hierarchy.over(laplacian, root, rng)
    preconditioner = LinearOperator(
        (n, n), matvec=hierarchy.solve, matmat=hierarchy.solve, dtype=np.float64
    )
    vectors: Any = rng.uniform(-1.0, 1.0, (n, count))
    for _ in range(ROUNDS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of iterations that end before all vectors are found
            small, vectors = lobpcg(
                laplacian,
                vectors,
                M=preconditioner,
                Y=known,
                tol=RESIDUAL / 10,
                maxiter=ITERATIONS,
                largest=False,
            )
        order = np.argsort(small, kind="stable")
        small, vectors = small[order], vectors[:, order]
        first = vectors[:, :needed]
        residuals = np.sqrt(((laplacian @ first - first * small[:needed]) ** 2).sum(axis=0))
        if (residuals <= np.maximum(RESIDUAL, SHARE * small[:needed])).all():
            return 1.0 + SHIFT - small, vectors, True
    return 1.0 + SHIFT - small, vectors, False


@dataclass(frozen=True)
class Level:
    """One graph of a hierarchy, and the way to the next."""

    matrix: Any  # (n, n) Laplacian
    inverse: Float64  # (n, 1) of its diagonal, damped
    up: Any  # (n, m) from the next graph
    down: Any  # (m, n) to it


@dataclass(frozen=True)
class Hierarchy:
    """Graphs of aggregates of rows, of aggregates of these, ..., by which an equation with the
    first Laplacian is solved roughly."""

    levels: list[Level]
    factor: Any  # of the last Laplacian

    @classmethod
    def over(cls, matrix: Any, root: Float64, rng: np.random.RandomState) -> Hierarchy:
        """Build the hierarchy; `root` (n,) is what the Laplacian maps to zero."""
        levels: list[Level] = []
        while matrix.shape[0] > COARSEST:
            n, (m, aggregate) = matrix.shape[0], _aggregates(matrix, rng)
            if m > 0.9 * n:
                break
            norms = np.sqrt(np.bincount(aggregate, weights=root * root))
            rough = sparse.csr_array(
                (root / norms[aggregate], aggregate, np.arange(n + 1)), shape=(n, m)
            )
            inverse = DAMPING / matrix.diagonal()
            up = (rough - diagonal_csr(inverse) @ (matrix @ rough)).tocsr()
            down = up.T.tocsr()
            levels.append(Level(matrix, inverse[:, None], up, down))
            matrix, root = (down @ matrix @ up).tocsr(), norms
        return cls(levels, scipy.linalg.cho_factor(matrix.toarray()))

    def solve(self, b: Float64, level: int = 0) -> Float64:
        """Return x (n, k) of which the Laplacian is roughly b: two steps of Jacobi's iteration, the
        next level, and two steps."""
        if level == len(self.levels):
            solution: Float64 = scipy.linalg.cho_solve(self.factor, b)
            return solution
        here = self.levels[level]
        b = b.reshape(len(here.inverse), -1)
        x = here.inverse * b
        x += here.inverse * (b - here.matrix @ x)
        x += here.up @ self.solve(here.down @ (b - here.matrix @ x), level + 1)
        for _ in range(2):
            x += here.inverse * (b - here.matrix @ x)
        return x


def _aggregates(matrix: Any, rng: np.random.RandomState) -> tuple[int, IntArray]:
    """Return the number of aggregates and that of each row: rows are in one with the row they are
    most strongly joined to."""
    n = matrix.shape[0]
    rows, scale = np.repeat(np.arange(n), np.diff(matrix.indptr)), 1.0 / np.sqrt(matrix.diagonal())
    # so that few are equal
    strength = -matrix.data * scale[rows] * scale[matrix.indices] * rng.uniform(1.0, 1.1, len(rows))
    strength[rows == matrix.indices] = 0.0
    # no row is empty: it has a diagonal
    strongest = np.maximum.reduceat(strength, matrix.indptr[:-1])
    chosen = np.flatnonzero((strength == strongest[rows]) & (strength > 0))
    pairs = sparse.csr_array(
        (np.ones(len(chosen), np.int8), (rows[chosen], matrix.indices[chosen])), shape=(n, n)
    )
    m, aggregate = sparse.csgraph.connected_components(pairs, directed=False)
    return int(m), aggregate.astype(np.intp)
