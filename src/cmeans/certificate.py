"""How far a fit on landmarks is from the fit with the whole kernel matrix: what can be said after it, from its own sums."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from .arrays import Float64, host_float64, in_float64, rounding
from .blocks import Block, Blocks
from .chance import Population
from .kernels import Precomputed
from .rules import Rule
from .spaces import LandmarkSpace, gram_matrix
from .spectrum import leading_sum
from .statistics import Statistics
from .sweep import State

ALL_UP_TO = 5000  # rows up to which every residual is measured; beyond, those of the fixed sample, so that certificates compare
NORMAL = 2.576  # standard deviations on either side of a mean that hold 99%
INDEFINITE = 1e-6  # negative share of the largest eigenvalue from which on it is not rounding


@dataclass(frozen=True)
class Approximation:
    """What the landmarks leave out, and between which bounds the true cost of the returned partition lies.

    With K^ the kernel as the landmarks represent it, E = K - K^ is positive semidefinite, e_i = E_ii is what they leave out of row i,
    and for memberships u with weights w_ij = w_i u_ij^m

        J_K^(u) + sum_ij w_ij e_i  -  sum_ij w_ij e_i   <=   J_K(u)   <=   J_K^(u) + sum_ij w_ij e_i,

    the right-hand side being the objective of the fit at the means of u (Havens 2011, Chitta 2011 keep k(x, x) in it as well). Of two
    partitions the one may be better by at most ranking_error * cost[1] more, or less, than their objectives say: the sum of the
    n_clusters largest eigenvalues of E (Weyl; Ky Fan), estimated on at most 1,000 rows.

    Attributes
    ----------
    n_landmarks : how many there are.
    rank : directions kept of the landmarks' kernel matrix; None where it is not factored.
    residual : sum_i w_i e_i / sum_i w_i k(x_i, x_i), of the centred kernel where constants do not matter.
    residual_interval : its bounds at 99%, from a sample above 5,000 rows; both the same where every row was measured.
    cost : bounds of the objective of the returned memberships with the whole kernel, each cluster at its own mean.
    ranking_error : relative to cost[1]; None where the kernel between rows is not known.
    rows_measured : how many that was.
    """

    n_landmarks: int
    rank: int | None
    residual: float
    residual_interval: tuple[float, float]
    cost: tuple[float, float]
    ranking_error: float | None
    rows_measured: int

    def __str__(self) -> str:
        low, high = self.residual_interval
        kept = "" if self.rank is None or self.rank == self.n_landmarks else f" (rank {self.rank})"
        spread = "" if low == high else f" ({100 * low:.3g} to {100 * high:.3g}%)"
        ranks = "" if self.ranking_error is None else f"; costs of partitions compare to {100 * self.ranking_error:.2g}%"
        return (
            f"{self.n_landmarks} landmarks{kept} leave out {100 * self.residual:.3g}%{spread} of the kernel; "
            f"the true cost lies in [{self.cost[0]:.8g}, {self.cost[1]:.8g}]{ranks}"
        )


def certify(
    space: LandmarkSpace,
    blocks: Blocks,
    people: Population,
    rule: Rule,
    state: State,
    sums: Statistics,  # of a sweep from `state`
    sampled: Float64 | None,  # kernel matrix of people.fixed_sample, where it is known
) -> Approximation | None:
    """The certificate of a partition; None for kernels that are not positive semidefinite, of which none of this is true."""
    fixed, weights = people.fixed_sample
    everybody = len(people) <= ALL_UP_TO
    positions, weights = (np.arange(len(people)), people.weights) if everybody else (fixed, weights)
    rows, share, total = people.at(positions), weights / weights.sum(), float(blocks.weight.sum())
    block = blocks.take(rows)
    error, own, places = _residuals(space, block)
    if not _semidefinite(space, error, own, sampled):
        return None
    pull = _pull(space, block, rule, state)
    mean = _Mean(share, exact=len(rows) == len(people))
    moved = space.centres(sums.mass, sums.moment) - state.centres
    slack = rounding(blocks.x.dtype) * total * mean.of(_noisy(space, block, own))
    upper = sums.objective - float(sums.mass @ moved.squared_norms()) + slack
    lower = upper - 2.0 * slack - total * mean.interval(pull * error)[1]
    lower = max(lower, 0.0) if sums.penalty == 0.0 else lower
    size = mean.of(own) or 1.0
    low, high = mean.interval(error)
    ranking = None
    if sampled is not None and space.whitener is not None:
        seen = blocks.take(people.at(fixed)) if everybody else block
        left = _error_of_sample(space, seen, people, sampled, places[fixed] if everybody else places)
        leading, _ = leading_sum(left, len(state.centres), len(fixed) / len(people))
        ranking = total * leading / upper if upper > 0 else 0.0
    return Approximation(
        int(space.points.shape[0]),
        None if space.whitener is None else int(space.whitener.shape[1]),
        mean.of(error) / size,
        (low / size, high / size),
        (lower * blocks.unit, upper * blocks.unit),
        ranking,
        len(rows),
    )


@dataclass(frozen=True)
class _Mean:
    """The mean over all rows, from some of them."""

    share: Float64  # (p,) sums to one
    exact: bool  # these are all

    def of(self, values: Float64) -> float:
        return float(self.share @ values)

    def interval(self, values: Float64) -> tuple[float, float]:
        """Bounds of a mean of numbers that are not negative, at 99%."""
        mean = self.of(values)
        if self.exact:
            return mean, mean
        # The sample is drawn with multiplicities for weights: what counts is how many different rows it holds.
        half = NORMAL * math.sqrt(float(self.share @ (values - mean) ** 2) * float(self.share @ self.share))
        return max(mean - half, 0.0), mean + half


def _residuals(space: LandmarkSpace, block: Block) -> tuple[Float64, Float64, Float64]:
    """e_i = |phi(x_i) - its projection|^2 and |phi(x_i)|^2, (p,) each, about the space's own origin, and the projections (p, k)."""
    if not isinstance(space.kernel, Precomputed):  # in float64: e_i is what is left of two numbers that are nearly equal
        space = replace(space, points=in_float64(space.points))
        block = replace(block, x=in_float64(block.x))
    represented = space.rows(block).plain()
    own = host_float64(represented.kxx[:, None])[:, 0]
    projected = space.centres(np.ones(len(block.weight)), host_float64(represented.g))
    error = own - projected.squared_norms()
    return (np.maximum(error, 0.0) if space.kernel.positive_definite else error), own, projected.coordinates


def _pull(space: LandmarkSpace, block: Block, rule: Rule, state: State) -> Float64:
    """(p,) the weights by which rows take part in clusters, all together."""
    represented = space.rows(block).plain()
    d2 = represented.squared_distances(space.view(state.centres, represented.kxx))
    pull: Float64 = rule.weights(host_float64(rule.memberships(d2, state.scales))).sum(axis=1)
    return pull


def _noisy(space: LandmarkSpace, block: Block, own: Float64) -> Float64:
    """Of what size the numbers are (p,) that the sums of a sweep are made from, and how much more of their rounding shows."""
    if space.centring is None:
        return 2.0 * np.abs(own)
    raw = host_float64((space.kernel.diag(block.x) if block.kxx is None else block.kxx)[:, None])[:, 0]
    return 8.0 * np.abs(raw)


def _semidefinite(space: LandmarkSpace, error: Float64, own: Float64, sampled: Float64 | None) -> bool:
    if space.kernel.positive_definite:
        return True
    if (error < -INDEFINITE * np.abs(own).max()).any():
        return False
    if sampled is None:
        return True
    values = np.linalg.eigvalsh(sampled)
    return bool(values[0] >= -INDEFINITE * values[-1])


def _error_of_sample(space: LandmarkSpace, block: Block, people: Population, sampled: Float64, places: Float64) -> Float64:
    """E = K - K^ (p, p) among the rows of the fixed sample (the block), each weighted by the root of its share; `places` are their
    projections."""
    _, weights = people.fixed_sample
    if space.kernel.distances_ignore_shifts:  # what is known of the sample may be about another origin
        sampled = gram_matrix(space.kernel, block.x)
    z = places + space.origin
    root = np.sqrt(weights / weights.sum())
    error: Float64 = root[:, None] * (sampled - z @ z.T) * root[None, :]
    return error
