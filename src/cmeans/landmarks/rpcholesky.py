"""Partial Cholesky factors of a kernel matrix of which only the chosen columns are computed."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ..data.arrays import Float64, IntArray, binary_exponent, rounding
from ..sampling.pairwise import Affinity

PROPOSALS = 64  # columns proposed at a time
NOTHING = 1e-8  # share of its residual before the block below which a column adds only rounding
LEADING = 0.1  # the same, below which a column is left to later blocks


class PartialCholesky:
    """K = F F^T + E among p rows, F (p, k) growing by chosen columns; `residual` is the diagonal of E, never negative."""

    def __init__(self, affinity: Affinity, known: Float64 | None = None) -> None:
        self._affinity = affinity
        self._parts = [] if known is None else [known]
        diag = affinity.diag()
        self._least = rounding(np.float64) * np.maximum(diag, 0.0)
        self.chosen: list[int] = []
        self.residual = diag
        self._lower_residual(0.0 if known is None else np.einsum("ij,ij->i", known, known))

    def factor(self, rows: IntArray | slice = slice(None), since: int = 0) -> Float64:
        """Rows of F, from column `since` on."""
        return np.concatenate([part[rows] for part in self._parts], axis=1)[:, since:]

    def drawn(self, weights: Float64, count: int, rng: np.random.RandomState) -> int:
        """Add up to `count` rows drawn in proportion to weight times residual; return the number of accepted proposals.

        A block of rows is proposed at once, and each is accepted with the share of its residual that those accepted before it have
        left (accelerated randomly pivoted Cholesky: Epperly, Tropp, Webber 2024).
        """
        proposed = self._proposals(weights, count, rng)
        shares = [max(rng.uniform() if i else 0.0, NOTHING) for i in range(len(proposed))]
        return self._add(proposed, np.array(shares) * self.residual[proposed])

    def draw_up_to(self, count: int, weights: Float64, rng: np.random.RandomState, goal: float = 0.0) -> None:
        """Draw rows until there are `count`, or the weighted sum of residuals falls to `goal`."""
        while len(self.chosen) < count and float(weights @ self.residual) > goal:
            self.drawn(weights, count - len(self.chosen), rng)

    def settled(self, weights: Float64, count: int, rng: np.random.RandomState) -> int:
        """Add up to `count` rows drawn in proportion to weight times residual, except those that lost most of it within the block."""
        proposed = np.unique(self._proposals(weights, count, rng))
        proposed = proposed[np.argsort(-self.residual[proposed], kind="stable")]
        return self._add(proposed, LEADING * self.residual[proposed])

    def given(self, rows: IntArray) -> int:
        """Add the given rows, except those that the others represent already."""
        return self._add(rows, NOTHING * self.residual[rows])

    def _proposals(self, weights: Float64, count: int, rng: np.random.RandomState) -> IntArray:
        mass = np.cumsum(weights * self.residual)
        draws = np.searchsorted(mass, rng.uniform(size=min(PROPOSALS, count)) * mass[-1], side="right")
        drawn: IntArray = np.minimum(draws, np.searchsorted(mass, mass[-1]))
        return drawn

    def _add(self, proposed: IntArray, least: Float64) -> int:
        """Add those of the proposed rows, one after the other, whose residual is still above `least`; return their number."""
        columns = self._affinity.between(proposed)
        for part in self._parts:
            columns = columns - part @ part[proposed].T
        kept = _pivots(columns[proposed], np.maximum(least, self._least[proposed]))
        if not len(kept):  # the residuals of these rows are rounding
            self.residual[proposed] = 0.0
            return 0
        factor = np.linalg.cholesky(columns[proposed[kept]][:, kept])
        new = scipy.linalg.solve_triangular(factor, columns[:, kept].T, lower=True).T
        self._lower_residual(np.einsum("ij,ij->i", new, new))
        self.residual[proposed[kept]] = 0.0
        self._parts.append(new)
        self.chosen.extend(proposed[kept].tolist())
        return len(kept)

    def _lower_residual(self, squares: Float64 | float) -> None:
        residual = self.residual - squares
        self.residual = np.where(residual > self._least, residual, 0.0)


def _pivots(
    gram: Float64,  # (b, b) residual kernel among the proposed rows, which may repeat
    least: Float64,  # (b,)
) -> IntArray:
    """Return the rows whose residual, after those before them, is above `least`."""
    scale = -binary_exponent(np.diag(gram))  # entries are multiplied with each other
    gram, least = np.ldexp(gram, scale), np.ldexp(least, scale)
    kept: list[int] = []
    for i in range(len(gram)):
        if gram[i, i] > least[i]:
            kept.append(i)
            gram -= np.outer(gram[:, i], gram[i]) / gram[i, i]
    return np.array(kept, dtype=np.intp)
