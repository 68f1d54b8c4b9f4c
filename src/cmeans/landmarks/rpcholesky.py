"""Partial Cholesky factors of a kernel matrix of which only the chosen columns are computed."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Float64, IntArray
from ..data.blocks import spans
from ..data.precision import binary_exponent, rounding
from ..engines import Engine
from ..engines.threads import ThreadEngine
from ..sampling.pairwise import Affinity
from ..spaces.whiteners import inverse_transposed

PROPOSALS = 64  # columns proposed at a time
NOTHING = 1e-8  # share of its residual before the block below which a column adds only rounding
LEADING = 0.1  # the same, below which a column is left to later blocks
CHUNK = 2048  # rows of the factor that are computed together, in the cache
# rows whose kernel values are computed together, for which native code reads the other rows once
GROUP = 32
ONE_THREAD = ThreadEngine(1)


class PartialCholesky:
    """K = F F^T + E among p rows, F (p, k) growing by chosen columns; `residual` is the diagonal of
    E, never negative."""

    def __init__(
        self, affinity: Affinity, known: Float64 | None = None, engine: Engine = ONE_THREAD
    ) -> None:
        self._affinity = affinity
        self._engine = engine
        self._parts = [] if known is None else [np.ascontiguousarray(known.T)]  # (k, p) each
        diag = affinity.diag()
        self._least = rounding(np.float64) * np.maximum(diag, 0.0)
        self.chosen: list[int] = []
        self.residual = diag
        self._lower_residual(0.0 if known is None else np.einsum("ij,ij->i", known, known))

    def factor(self, rows: IntArray | slice = slice(None), since: int = 0) -> Float64:
        """Rows of F, from column `since` on."""
        return np.concatenate([part[:, rows] for part in self._parts])[since:].T

    def drawn(self, weights: Float64, count: int, rng: np.random.RandomState) -> int:
        """Add up to `count` rows drawn in proportion to weight times residual; return the number of
        accepted proposals.

        A block of rows is proposed at once, and each is accepted with the share of its residual
        that those accepted before it have left (accelerated randomly pivoted Cholesky: Epperly,
        Tropp, Webber 2024).
        """
        proposed = self._proposals(weights, count, rng)
        shares = [max(rng.uniform() if i else 0.0, NOTHING) for i in range(len(proposed))]
        return self._add(proposed, np.array(shares) * self.residual[proposed])

    def draw_up_to(
        self, count: int, weights: Float64, rng: np.random.RandomState, goal: float = 0.0
    ) -> None:
        """Draw rows until there are `count`, or the weighted sum of residuals falls to `goal`."""
        while len(self.chosen) < count and float(weights @ self.residual) > goal:
            self.drawn(weights, count - len(self.chosen), rng)

    def settled(self, weights: Float64, count: int, rng: np.random.RandomState) -> int:
        """Add up to `count` rows drawn in proportion to weight times residual, except those that
        lost most of it within the block."""
        proposed = np.unique(self._proposals(weights, count, rng))
        proposed = proposed[np.argsort(-self.residual[proposed], kind="stable")]
        return self._add(proposed, LEADING * self.residual[proposed])

    def given(self, rows: IntArray) -> int:
        """Add the given rows, except those that the others represent already."""
        return self._add(rows, NOTHING * self.residual[rows])

    def _proposals(self, weights: Float64, count: int, rng: np.random.RandomState) -> IntArray:
        mass = np.cumsum(weights * self.residual)
        draws = np.searchsorted(
            mass, rng.uniform(size=min(PROPOSALS, count)) * mass[-1], side="right"
        )
        drawn: IntArray = np.minimum(draws, np.searchsorted(mass, mass[-1]))
        return drawn

    def _add(self, proposed: IntArray, least: Float64) -> int:
        """Add those of the proposed rows, one after the other, whose residual is still above
        `least`; return their number."""
        known = [part[:, proposed].T for part in self._parts]
        gram = self._affinity.among(proposed) - sum(rows @ rows.T for rows in known)
        kept, factor = _pivots(gram, np.maximum(least, self._least[proposed]))
        if not len(kept):  # the residuals of these rows are rounding
            self.residual[proposed] = 0.0
            return 0
        self._append(
            self._columns(proposed[kept]),
            [rows[kept] for rows in known],
            inverse_transposed(factor).T,
        )
        self.residual[proposed[kept]] = 0.0
        self.chosen.extend(proposed[kept].tolist())
        return len(kept)

    def _columns(self, rows: IntArray) -> Float64:
        """Kernel values (b, p) of the given rows with all rows."""
        groups = [rows[start:stop] for start, stop in spans(len(rows), GROUP)]
        parts = list(
            self._engine.run(lambda group: self._affinity.between(groups[group]), len(groups))
        )
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def _append(self, columns: Float64, known: list[Float64], inverse: Float64) -> None:
        """Add columns of the kernel (b, p) to the factor: what it leaves of them times the inverse
        of their own factor (b, b)."""
        new, squares = np.empty(columns.shape), np.empty(columns.shape[1])
        chunks = list(spans(columns.shape[1], CHUNK))

        def fill(chunk: int) -> None:
            here = slice(*chunks[chunk])
            left = columns[:, here].copy()
            for rows, part in zip(known, self._parts, strict=True):
                left -= rows @ part[:, here]
            np.matmul(inverse, left, out=new[:, here])
            squares[here] = np.einsum("ij,ij->j", new[:, here], new[:, here])

        for _ in self._engine.run(fill, len(chunks)):
            pass
        self._lower_residual(squares)
        self._parts.append(new)

    def _lower_residual(self, squares: Float64 | float) -> None:
        residual = self.residual - squares
        self.residual = np.where(residual > self._least, residual, 0.0)


def _pivots(
    gram: Float64,  # (b, b) residual kernel among the proposed rows, which may repeat
    least: Float64,  # (b,)
) -> tuple[IntArray, Float64]:
    """Return the rows whose residual, after those before them, is above `least`, and the triangular
    factor of the kernel among them."""
    half = -binary_exponent(np.diag(gram)) // 2  # entries are multiplied with each other
    gram, least = np.ldexp(gram, 2 * half), np.ldexp(least, 2 * half)
    left, factor, kept = np.diag(gram).copy(), np.empty(gram.shape), list[int]()
    for i in range(len(gram)):
        if left[i] > least[i]:
            k = len(kept)
            factor[k] = (gram[i] - factor[:k, i] @ factor[:k]) / np.sqrt(left[i])
            left -= factor[k] ** 2
            kept.append(i)
    return np.array(kept, dtype=np.intp), np.ldexp(np.tril(factor[: len(kept), kept].T), -half)
